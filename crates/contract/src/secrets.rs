//! Secrets among names and values, metadata, variables and command lines: a report shows how long
//! they are and no more. What is taken for one is decided here alone, by its name, and rather too
//! often than too seldom.

use serde_json::Value;
use std::borrow::Cow;
use std::mem;

/// A name with one of these in it has a secret for a value.
const SECRET: [&str; 12] = [
    "authorization",
    "authentication",
    "bearer",
    "cookie",
    "credential",
    "jwt",
    "key",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "token",
];

/// Words with one of those in them that say nothing of secrets.
const ORDINARY: [&str; 11] = [
    "donkey", "hockey", "jockey", "keyboard", "keyframe", "keynote", "keyspace", "keyword",
    "monkey", "turkey", "whiskey",
];

/// Words of HTTP's schemes of authentication, behind which the secret stands.
const SCHEMES: [&str; 4] = ["basic", "bearer", "digest", "token"];

/// Whether a value of that name is a secret: `authorization`, `x-api-key`, `accessToken`.
pub fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let lower = letters.collect::<String>().to_lowercase();
    let rest = ORDINARY.iter().fold(lower, |rest, word| rest.replace(word, ""));
    rest.ends_with("auth") || SECRET.iter().any(|part| rest.contains(part))
}

/// What is shown in the place of a secret.
pub fn masked(value: &str) -> String {
    format!("masked ({} bytes)", value.len())
}

/// The value as it is shown beside that name.
pub fn shown<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) { masked(value).into() } else { value.into() }
}

/// The words of a command of ours, as they are shown. The request message is the user's own, so
/// `--data` is left alone, and our flags are no secrets: `--key` has a file.
pub fn in_words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Vec<String> {
    let mut is_data = false;
    let shown = |word: W| {
        let word = word.as_ref();
        let is_long = word.starts_with("--");
        let has_data = word.starts_with("--data=") || !is_long && word.starts_with("-d");
        if mem::replace(&mut is_data, matches!(word, "-d" | "--data")) || has_data {
            return word.to_owned();
        }
        let flag = word.find('=').filter(|_| is_long).map_or(0, |place| place + 1);
        let (flag, value) = word.split_at(flag);
        format!("{flag}{}", in_text(value))
    };
    words.into_iter().map(shown).collect()
}

/// A line of ours about words of the user's, as it is shown: without who stands before a host, and
/// without what stands behind `Bearer`.
pub fn in_message(line: &str) -> String {
    const SCHEME: &str = "Bearer ";
    let addresses =
        replaced(line, "//", |address| user_of_address(address).map_or(0, |(user, _)| user.len()));
    replaced(&addresses, SCHEME, |behind| behind.find([' ', '"', '\'']).unwrap_or(behind.len()))
}

/// The text with what stands behind each `mark` masked, as many bytes as `length` says of the rest.
fn replaced(text: &str, mark: &str, length: impl Fn(&str) -> usize) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(mark) {
        let (before, behind) = rest.split_at(place + mark.len());
        let (secret, behind) = behind.split_at(length(behind));
        shown.push_str(before);
        if !secret.is_empty() {
            shown.push_str(&masked(secret));
        }
        rest = behind;
    }
    shown + rest
}

/// A command line of the shell as it is shown: variables (`TOKEN=...`), flags (`--token ...`),
/// headers, JSON, and users in the addresses of the web.
pub fn in_command(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut hides_next = false;
    let mut rest = line;
    while !rest.is_empty() {
        let (between, behind) =
            rest.split_at(rest.find(|c| !is_separator(c)).unwrap_or(rest.len()));
        let (word, behind) = behind.split_at(word_length(behind));
        shown.push_str(between);
        rest = behind;
        let is_behind_flag = mem::take(&mut hides_next) && between.chars().all(char::is_whitespace);
        let is_flag = word.starts_with("--");
        if is_behind_flag && !is_flag && !is_scheme(word) && !word.is_empty() {
            shown.push_str(&masked(unquoted(word)));
            continue;
        }
        hides_next = announces(word) || is_behind_flag && is_scheme(word);
        shown.push_str(&in_word(word));
    }
    shown
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || ";|&()<>".contains(letter)
}

/// How long the word at the beginning is, as the shell reads it.
fn word_length(text: &str) -> usize {
    let mut quote = None;
    let mut is_escaped = false;
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            _ if mem::take(&mut is_escaped) => {}
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, _) if is_separator(letter) => return place,
            _ => {}
        }
    }
    text.len()
}

/// Whether a secret is the word behind this one.
fn announces(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let is_flag = name.len() < word.len() && !word.contains('=');
    let is_header = word.ends_with(':');
    (is_flag || is_header) && is_secret(name) || word == "Bearer"
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn unquoted(word: &str) -> &str {
    word.trim().trim_matches(['\'', '"'])
}

/// A word of the shell. One in quotation marks with spaces in it is a text of its own.
fn in_word(word: &str) -> String {
    let quote = word.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let inner = quote.and_then(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    match (quote, inner) {
        (Some(quote), Some(inner)) => format!("{quote}{}{quote}", in_text(inner)),
        _ => in_json(word).unwrap_or_else(|| in_pairs(word)),
    }
}

/// A text that stands for itself: JSON, a variable, a header, or another command line.
fn in_text(text: &str) -> String {
    if let Some(json) = in_json(text) {
        return json;
    }
    let (name, value) = text.split_at(text.find(['=', ':']).unwrap_or(0));
    let separator = ["=", ": "].into_iter().find(|separator| value.starts_with(*separator));
    match separator.map(|separator| (separator, &value[separator.len()..])) {
        Some((separator, value))
            if !name.contains(is_separator) && !value.is_empty() && is_secret(name) =>
        {
            format!("{name}{separator}{}", masked(value))
        }
        _ if text.contains(is_separator) => in_command(text),
        _ => in_pairs(text),
    }
}

/// What ends in an object of JSON, if there is a secret in that.
fn in_json(text: &str) -> Option<String> {
    let (before, object) = text.split_at(text.find('{')?);
    let (object, quote) = match serde_json::from_str::<Value>(object) {
        Ok(object) => (object, ""),
        Err(_) => {
            let quote =
                object.get(object.len() - 1..).filter(|last| matches!(*last, "'" | "\""))?;
            (serde_json::from_str(object.strip_suffix(quote)?).ok()?, quote)
        }
    };
    let shown = in_value(&object);
    (shown != object).then(|| format!("{}{shown}{quote}", in_pairs(before)))
}

/// A value of JSON as it is shown: every field of a secret's name has its length alone.
pub fn in_value(value: &Value) -> Value {
    let field = |(name, value): (&String, &Value)| {
        let shown = match value {
            Value::String(text) if is_secret(name) => masked(text).into(),
            other if is_secret(name) => masked(&other.to_string()).into(),
            other => in_value(other),
        };
        (name.clone(), shown)
    };
    match value {
        Value::Object(fields) => Value::Object(fields.iter().map(field).collect()),
        Value::Array(list) => list.iter().map(in_value).collect(),
        other => other.clone(),
    }
}

/// Names and values in a word: `a=TOKEN=...`, `"token":"...`, `https://user:...@host`.
fn in_pairs(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(place) = rest.find(['=', ':']) {
        let (before, behind) = rest.split_at(place);
        let (separator, value) = behind.split_at(1);
        shown.push_str(before);
        shown.push_str(separator);
        rest = value;
        if names_secret(before, separator, value) {
            let quote = value.chars().last().filter(|last| matches!(last, '\'' | '"'));
            shown.push_str(&masked(unquoted(value)));
            shown.extend(quote.filter(|quote| word.starts_with(*quote)));
            return shown;
        }
        if let Some((user, behind)) = value.strip_prefix("//").and_then(user_of_address) {
            shown.push_str("//");
            shown.push_str(&masked(user));
            rest = behind;
        }
    }
    shown + rest
}

/// Whether the value is that of a secret, and neither a port nor the place of one.
fn names_secret(before: &str, separator: &str, value: &str) -> bool {
    let is_quoted = before.ends_with(['\'', '"']);
    let before = before.trim_end_matches(['\'', '"', ' ']);
    let is_part = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let name = before.rsplit(|letter| !is_part(letter)).next().unwrap_or_default();
    let digits = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_port = digits.len() < value.len() && !digits.starts_with(is_part);
    let is_place = is_port || value.starts_with(['{', '/', '[']);
    let is_value = separator == "=" || is_quoted || !is_place;
    is_value && !unquoted(value).is_empty() && is_secret(name)
}

/// Who stands before the host of an address such as `user:password@host/path`, and what is behind
/// that.
fn user_of_address(address: &str) -> Option<(&str, &str)> {
    let is_end = |letter: char| letter.is_whitespace() || "/?#'\"".contains(letter);
    let end = address.find(is_end).unwrap_or(address.len());
    let place = address[..end].rfind('@').filter(|place| *place > 0)?;
    Some(address.split_at(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_name_in_every_spelling() {
        for name in [
            "authorization",
            "Authorization",
            "proxy-authorization",
            "cookie",
            "Set-Cookie",
            "x-api-key",
            "apikey",
            "API_KEY",
            "accessToken",
            "x-csrf-token",
            "TOKEN",
            "db_password",
            "passwd",
            "client.secret",
            "aws-credentials",
            "x-auth",
            "session-token-bin",
            "keys",
            "monkey-key",
            "pass-word",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["", "tenant", "x-request-id", "monkey", "keyword", "authority", "PORT"] {
            assert!(!is_secret(name), "{name}");
        }
        assert_eq!(shown("x-api-key", "Bearer abc"), "masked (10 bytes)");
        assert_eq!(shown("tenant", "blue"), "blue");
    }

    #[test]
    fn a_command_line_shows_what_it_starts_and_none_of_its_secrets() {
        for (line, shown) in [
            ("TOKEN=abc ./server --port {port}", "TOKEN=masked (3 bytes) ./server --port {port}"),
            ("old=API_KEY=abc ./a", "old=API_KEY=masked (3 bytes) ./a"),
            ("export DB_PASSWORD='it'\\''s a'; ./a", "export DB_PASSWORD=masked (9 bytes); ./a"),
            ("./a --token abc -v", "./a --token masked (3 bytes) -v"),
            ("./a --api-key='a b' x", "./a --api-key=masked (3 bytes) x"),
            ("./a --token\n b", "./a --token\n masked (1 bytes)"),
            ("./a --with-token --port 5", "./a --with-token --port 5"),
            ("./a --token; b", "./a --token; b"),
            ("./a -H 'authorization: Bearer abc'", "./a -H 'authorization: masked (10 bytes)'"),
            ("./a authorization: Bearer abc", "./a authorization: Bearer masked (3 bytes)"),
            ("sh -c 'cd a && TOKEN=x ./b'", "sh -c 'cd a && TOKEN=masked (1 bytes) ./b'"),
            ("./a \"--token=x y\"", "./a \"--token=masked (3 bytes)\""),
            ("DB=https://me:pw@host/a ./b", "DB=https://masked (5 bytes)@host/a ./b"),
            ("./a -m '{\"token\": \"x\"}'", "./a -m '{\"token\":\"masked (1 bytes)\"}'"),
            ("./a -m {\"token\":\"x", "./a -m {\"token\":masked (1 bytes)"),
        ] {
            assert_eq!(in_command(line), shown);
        }
    }

    #[test]
    fn what_has_no_secret_stays_as_it_was() {
        for line in [
            "",
            " ",
            "cd old && LOG=off ./server --port {port} >&2 || exit; # it's",
            "token-service:50051",
            "secret.internal:{port}/a",
            "a=http://host:1/x?y=@z",
            "'",
            "-H 'tenant: blue'",
            "--token",
            "key=",
            "\\",
            "x='{\"a\": [1, {\"b\": null}]}'",
            "{",
            "\u{fc}={\u{fc}",
            "tokens:/a",
        ] {
            assert_eq!(in_command(line), line);
            assert_eq!(in_words([line]), [line]);
        }
    }

    #[test]
    fn a_line_about_words_of_the_users_has_none_of_their_secrets() {
        for (text, shown) in [
            ("no call to https://me:pw@a:1, b", "no call to https://masked (5 bytes)@a:1, b"),
            ("\"http://a\", //me@b", "\"http://a\", //masked (2 bytes)@b"),
            ("dns:///a:1 and me@b // x@", "dns:///a:1 and me@b // x@"),
            ("target \"Bearer abc}\" is none", "target \"Bearer masked (4 bytes)\" is none"),
            ("a Bearer  b", "a Bearer  b"),
            ("//", "//"),
        ] {
            assert_eq!(in_message(text), shown);
        }
    }

    #[test]
    fn our_own_words_keep_the_message_and_the_names_of_files() {
        let words = [
            "load",
            "-d",
            "{\"token\":\"a\"}",
            "--data={\"token\":\"a\"}",
            "-d{\"token\":\"a\"}",
            "--key",
            "server.pem",
            "--key=server.pem",
            "-m",
            "{\"Cookie\":\"abc\",\"x\":\"1\"}",
            "--metadata={\"a\":{\"token\":[1]}}",
            "--env",
            "TOKEN=a b",
            "--env=TOKEN=ab",
            "old=./a --token x",
            "-m{\"token\":\"a",
        ];
        let shown = [
            "load",
            "-d",
            "{\"token\":\"a\"}",
            "--data={\"token\":\"a\"}",
            "-d{\"token\":\"a\"}",
            "--key",
            "server.pem",
            "--key=server.pem",
            "-m",
            "{\"Cookie\":\"masked (3 bytes)\",\"x\":\"1\"}",
            "--metadata={\"a\":{\"token\":\"masked (3 bytes)\"}}",
            "--env",
            "TOKEN=masked (3 bytes)",
            "--env=TOKEN=masked (2 bytes)",
            "old=./a --token masked (1 bytes)",
            "-m{\"token\":masked (1 bytes)",
        ];
        assert_eq!(in_words(words), shown);
    }
}
