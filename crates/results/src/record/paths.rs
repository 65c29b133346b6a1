//! Removes the machine's folders from texts: they reveal who worked where, and are useless to
//! others.

/// Folders that are the same on every machine, so that paths in them are meaningful.
const SHARED: [&str; 7] = ["bin", "dev", "etc", "lib", "proc", "sys", "usr"];

/// Shortens every absolute path in a text to its last component, except system paths.
pub(super) fn without_folders(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        let (before, from) = rest.split_at(start);
        clean.push_str(before);
        let end = from.find(ends_a_path).unwrap_or(from.len());
        let (path, after) = from.split_at(end);
        let is_address = clean.ends_with(':') && path.starts_with("//");
        let begins =
            !is_address && !clean.ends_with(|c: char| c.is_alphanumeric() || "_-.~}/".contains(c));
        clean.push_str(if begins { last_part(path) } else { path });
        rest = after;
    }
    clean + rest
}

fn ends_a_path(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`,;:()[]{}<>|".contains(c)
}

fn last_part(path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    match parts.next() {
        Some(first) if !SHARED.contains(&first) => parts.next_back().unwrap_or(first),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_machine_are_cut_and_names_stay() {
        let known = [
            ("bookend run a --store /srv/me/b.db --quick", "bookend run a --store b.db --quick"),
            ("cannot open \"/srv/me/x/y.toml\": no", "cannot open \"y.toml\": no"),
            ("--store=/srv/me/b.db", "--store=b.db"),
            ("a.jar:/srv/me/b.jar", "a.jar:b.jar"),
            ("file:/srv/me/c: not found", "file:c: not found"),
            ("/srv", "srv"),
        ];
        for (text, expected) in known {
            assert_eq!(without_folders(text), expected);
        }
    }

    #[test]
    fn what_is_no_folder_of_a_machine_stays() {
        for text in [
            "rust-bookend/epoll at helloworld.Greeter/SayHello",
            "75 req/s, 3 / 4",
            "../../proto/echo.proto and ./target/x",
            "install https://example.org/a/b",
            "/proc/self/stat and /usr/bin/java",
        ] {
            assert_eq!(without_folders(text), text);
        }
    }
}
