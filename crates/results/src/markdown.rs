//! Building blocks of Markdown, for the pages of runs and of suites.

use crate::layout::{clipped, one_line};
use std::fmt;

/// A table with a heading. The first `left` columns are aligned left; the others hold figures and
/// are aligned right.
pub fn table(headings: &[String], left: usize, rows: &[Vec<String>]) -> String {
    let rule = (0..headings.len()).map(|index| if index < left { "---" } else { "---:" });
    let mut text = line(headings.iter().map(|heading| escaped(heading)));
    text.push_str(&line(rule.map(str::to_owned)));
    for row in rows {
        text.push_str(&line(row.iter().map(|field| escaped(field))));
    }
    text
}

fn line(fields: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", fields.collect::<Vec<_>>().join(" | "))
}

/// Escapes the bar, which would begin the next column.
fn escaped(field: &str) -> String {
    field.replace('|', "\\|")
}

/// The words of others as words: one line, in which no markup of a page begins.
pub fn words(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// What a program or a person wrote, as one line that opens no element and no link.
pub fn plain(text: &str) -> String {
    words(&clipped(text)).replace("](", "]\\(")
}

/// A section with its heading.
pub fn section(title: &str, body: &str) -> String {
    format!("## {title}\n\n{body}\n")
}

/// A block that shows its text verbatim, whatever characters it contains.
pub fn code_block(text: &str) -> String {
    code_block_in("", text)
}

/// As above, for a text in that language.
pub fn code_block_in(language: &str, text: &str) -> String {
    let ticks = text.lines().map(|line| line.chars().take_while(|&c| c == '`').count());
    let fence = "`".repeat(ticks.max().unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{text}{fence}\n")
}

/// One line for each text.
pub fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One list item for each text.
pub fn list(items: &[impl fmt::Display]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}
