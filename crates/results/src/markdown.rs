//! Pieces of Markdown, for the page of a run and the pages of suites.

/// A table with a heading; the first `left` columns stand on the left, figures on the right.
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
    let fields: Vec<String> = fields.collect();
    format!("| {} |\n", fields.join(" | "))
}

/// A bar would begin the next column.
fn escaped(field: &str) -> String {
    field.replace('|', "\\|")
}

/// A section with its heading.
pub fn section(title: &str, body: &str) -> String {
    format!("## {title}\n\n{body}\n")
}

/// A block that shows its text as it is, whatever characters it has.
pub fn code_block(text: &str) -> String {
    code_block_in("", text)
}

/// The same for a text in that language.
pub fn code_block_in(language: &str, text: &str) -> String {
    let ticks = text.lines().map(|line| line.chars().take_while(|&c| c == '`').count());
    let fence = "`".repeat(ticks.max().unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{text}{fence}\n")
}

/// A line each.
pub fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// An item each.
pub fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}
