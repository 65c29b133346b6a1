//! How the pages of suites handle pieces of Markdown.

use bookend_results::markdown;

/// A section with its heading; nothing if the body is empty.
pub(super) fn section(title: &str, body: &str) -> String {
    match body.trim_end() {
        "" => String::new(),
        body => format!("\n{}", markdown::section(title, body)),
    }
}

/// A fenced block that shows its text unchanged, without blank lines at its end.
pub(super) fn fenced(text: &str) -> String {
    markdown::code_block_in("text", &format!("{}\n", text.trim_end()))
}

/// The number of the first line, counted from 1, in which two texts differ, with both lines.
/// `None`: they are equal.
pub fn first_difference(is: &str, should: &str) -> Option<(usize, String, String)> {
    if is == should {
        return None;
    }
    let (mut left, mut right) = (is.split('\n'), should.split('\n'));
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let shown = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Some((number, shown(a), shown(b)));
            }
        }
    }
    None
}
