//! How text becomes a part of a page: by way of `html!`, which escapes it. A string of markup is
//! escaped only if whoever writes it thinks of that.

use crate::offence::{Offence, by_line};
use crate::rust_source::RustSource;

/// Whether pages are made in the file.
pub fn makes_pages(path: &str) -> bool {
    path.starts_with("crates/report/src/") || path.starts_with("publication/src/")
}

/// Where elements stand in strings: what pages are made of, pictures, and Markdown, which has no
/// other way to fold a part.
const ELEMENTS: [&str; 3] =
    ["crates/report/src/html.rs", "crates/report/src/chart/", "crates/report/src/markdown.rs"];

/// Where strings are markup as they are: those of this program, and a finished picture.
const UNESCAPED: [&str; 2] = ["crates/report/src/html.rs", "crates/report/src/picture.rs"];

/// Elements that are written as strings.
pub fn elements_in_strings(path: &str, text: &str) -> Vec<Offence> {
    if ELEMENTS.iter().any(|own| path.starts_with(own)) {
        return Vec::new();
    }
    by_line(path, &RustSource::parse(text).literals(), |line| {
        let has_tag = line.split('<').skip(1).any(begins_tag);
        has_tag.then(|| "an element in a string: html! writes it, and escapes".to_owned())
    })
}

/// Whether the text after a `<` is that of a tag, and not a width as in `{name:<width$}` or a
/// type's name.
fn begins_tag(rest: &str) -> bool {
    let name = rest.strip_prefix('/').unwrap_or(rest);
    let behind = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && (behind.is_empty() || behind.starts_with([' ', '>', '/', '{', '\\', '"']))
}

/// Text that becomes a part of a page without being escaped.
pub fn unescaped(path: &str, text: &str) -> Vec<Offence> {
    if UNESCAPED.contains(&path) {
        return Vec::new();
    }
    by_line(path, &RustSource::parse(text).code(), |line| {
        line.contains("PreEscaped")
            .then(|| "PreEscaped: html! takes text, and escapes it".to_owned())
    })
}

#[test]
fn what_can_forget_to_escape_is_found() {
    for element in ["<p>{}</p>", "<td>{field}", "</b>", "a<a href={address}>", "<div\\"] {
        let code = format!("let page = format!(\"{element}\");");
        assert_eq!(elements_in_strings("crates/report/src/page.rs", &code).len(), 1, "{element}");
        assert_eq!(elements_in_strings("crates/report/src/chart/lines.rs", &code), []);
    }
    for code in
        ["if a <b && c > d {}", "\"1 < 2 {a:<b$} {c:<d_e$} <f::G<T> as H>\"", "// <p>", "a::<b>()"]
    {
        assert_eq!(elements_in_strings("crates/report/src/page.rs", code), [], "{code}");
    }
    assert_eq!(unescaped("crates/report/src/page.rs", "html! { (PreEscaped(name)) }").len(), 1);
    assert!(makes_pages("publication/src/site/front.rs") && !makes_pages("crates/cli/src/ui.rs"));
}
