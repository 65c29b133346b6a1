//! Pieces of the pages about claims.

use std::fmt::Write;

/// Lines of prose are broken before this.
const WIDTH: usize = 112;

pub(super) fn table(headings: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule = "---|".repeat(headings.split('|').count());
    let mut text = format!("| {headings} |\n|{rule}\n");
    for row in rows {
        let fields: Vec<String> = row.iter().map(|field| field.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", fields.join(" | ")));
    }
    text
}

/// A part that is folded away.
pub(super) fn details(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{}\n\n</details>\n", body.trim_end())
}

/// Prose in lines of readable length; `indent` begins every line but the first.
pub(super) fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        let added = word.chars().count() + 1;
        if length > 0 && length + added > WIDTH {
            // Writing to a text does not fail.
            let _ = write!(lines, "\n{indent}");
            length = indent.len();
        } else if length > 0 {
            lines.push(' ');
        }
        lines.push_str(word);
        length += added;
    }
    lines + "\n"
}

/// The anchor of a heading in links.
pub(super) fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    lower
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = wrapped(&"word ".repeat(50), "  ");
        assert!(text.lines().all(|line| line.len() <= WIDTH + 2), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert_eq!(text.split_whitespace().count(), 50);
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
    }
}
