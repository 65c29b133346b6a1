//! How the pages of suites handle pieces of Markdown.

use bookend_report::markdown;

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
    let [is, should] = [is, should].map(|text| text.split('\n').collect::<Vec<_>>());
    let differing = (0..is.len().max(should.len())).find(|&at| is.get(at) != should.get(at))?;
    let shown = |lines: &[&str]| lines.get(differing).copied().unwrap_or("(the end)").to_owned();
    Some((differing + 1, shown(&is), shown(&should)))
}
