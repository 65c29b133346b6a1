//! How the pages of suites handle pieces of Markdown.

use bookend_report::markdown;

/// The width of prose in the pages.
const PROSE_WIDTH: usize = 110;

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

/// A part that a reader opens; nothing if the body is empty.
pub(super) fn folded(title: &str, body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        _ => format!(
            "\n<details>\n<summary>{title}</summary>\n\n{}\n\n</details>\n",
            body.trim_matches('\n')
        ),
    }
}

/// Prose in lines of at most [`PROSE_WIDTH`] letters, with a line end.
pub(super) fn wrapped(prose: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in prose.split_whitespace() {
        let wide = word.chars().count();
        if width > 0 && width + 1 + wide > PROSE_WIDTH {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += wide;
    }
    text.push('\n');
    text
}

/// The number of the first line, counted from 1, in which two texts differ, with both lines.
/// `None`: they are equal.
pub fn first_difference(is: &str, should: &str) -> Option<(usize, String, String)> {
    let [is, should] = [is, should].map(|text| text.split('\n').collect::<Vec<_>>());
    let differing = (0..is.len().max(should.len())).find(|&at| is.get(at) != should.get(at))?;
    let shown = |lines: &[&str]| lines.get(differing).copied().unwrap_or("(the end)").to_owned();
    Some((differing + 1, shown(&is), shown(&should)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_narrow_and_loses_no_word() {
        let prose = "some words of different length ".repeat(20);
        let text = wrapped(&prose);
        assert!(text.lines().all(|line| line.chars().count() <= PROSE_WIDTH), "{text}");
        assert!(text.split_whitespace().eq(prose.split_whitespace()));
    }

    #[test]
    fn what_is_empty_is_not_folded() {
        assert_eq!(folded("Notes", "\n"), "");
        let folded = folded("Notes", "one\n");
        assert_eq!(folded, "\n<details>\n<summary>Notes</summary>\n\none\n\n</details>\n");
    }
}
