//! Pieces of Markdown.

/// A table with a heading; the first `left` columns stand on the left, figures on the right.
pub(super) fn table(headings: &[String], left: usize, rows: &[Vec<String>]) -> String {
    let rule = (0..headings.len()).map(|index| if index < left { "---" } else { "---:" });
    let mut text = line(headings.iter().map(|heading| escaped(heading)));
    text.push_str(&line(rule.map(str::to_owned)));
    for row in rows {
        text.push_str(&line(row.iter().map(|field| escaped(field))));
    }
    text
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.collect();
    format!("| {} |\n", fields.join(" | "))
}

/// A bar would begin the next column.
fn escaped(field: &str) -> String {
    field.replace('|', "\\|")
}

/// A section with its heading; nothing where the body is empty.
pub(super) fn section(title: &str, body: &str) -> String {
    match body.trim_end() {
        "" => String::new(),
        body => format!("\n## {title}\n\n{body}\n"),
    }
}

/// A block that shows its text as it is, whatever characters it has.
pub(super) fn fenced(text: &str) -> String {
    let ticks = text.lines().map(|line| line.chars().take_while(|&c| c == '`').count());
    let fence = "`".repeat(ticks.max().unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

/// A line each.
pub(super) fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
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
