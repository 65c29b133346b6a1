//! Tables in text: those of runs look like the published ones, with rules of dashes into which
//! headings are written; others are plain columns.

use bookend_contract::printable;
use bookend_results::quoted::one_line;
use std::borrow::Cow;
use std::fmt;

/// A column's heading and its minimum width, characters.
pub type Column = (Cow<'static, str>, usize);

/// Makes a column with that heading and minimum width.
pub fn column(title: impl Into<Cow<'static, str>>, width: usize) -> Column {
    (title.into(), width)
}

/// A column is no wider, whatever is in it: formatting panics at widths beyond 65,535.
const WIDTH_MAX: usize = 1_000;

enum Line {
    /// Written into a rule.
    Heading(String),
    /// One field for each column.
    Fields(Vec<String>),
    /// A name, and a text across all other columns.
    Across(String, String),
}

/// A table whose first column is aligned left and whose others are aligned right.
pub struct TextTable {
    columns: Vec<Column>,
    lines: Vec<Line>,
}

/// Where the second part of a heading begins: after the longest published `S=100000`.
const SECOND_PART: usize = 15;

impl TextTable {
    /// A table with those columns.
    pub fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), lines: Vec::new() }
    }

    /// A rule of dashes with a heading in it.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Heading(shown(&text.into())));
    }

    /// A heading with a second part at a fixed position.
    pub fn heading_pair(&mut self, first: &str, second: &str) {
        self.heading(format!("{first:-<SECOND_PART$}{second}"));
    }

    /// A row with one field for each column.
    pub fn fields(&mut self, fields: Vec<String>) {
        self.lines.push(Line::Fields(fields.iter().map(|field| shown(field)).collect()));
    }

    /// A row that has a text instead of fields.
    pub fn across(&mut self, name: String, text: String) {
        self.lines.push(Line::Across(shown(&name), one_line(&text)));
    }

    fn widths(&self) -> Vec<usize> {
        self.columns
            .iter()
            .enumerate()
            .map(|(i, (title, width))| self.widest_field(i).max(*width).max(title.chars().count()))
            .map(|width| width.min(WIDTH_MAX))
            .collect()
    }

    /// Of a column, in letters.
    fn widest_field(&self, column: usize) -> usize {
        self.lines
            .iter()
            .filter_map(|line| match line {
                Line::Fields(fields) => fields.get(column),
                Line::Across(name, _) if column == 0 => Some(name),
                _ => None,
            })
            .map(|field| field.chars().count())
            .max()
            .unwrap_or(0)
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let total = widths.iter().map(|width| width + 3).sum::<usize>() + 1;
        let titles: Vec<&str> = self.columns.iter().map(|(title, _)| title.as_ref()).collect();
        writeln!(f, "{:-<total$}", "")?;
        write_fields(f, &widths, &titles)?;
        for line in &self.lines {
            match line {
                Line::Heading(text) => writeln!(f, "{text:-<total$}")?,
                Line::Fields(fields) => {
                    let texts: Vec<&str> = fields.iter().map(String::as_str).collect();
                    write_fields(f, &widths, &texts)?;
                }
                Line::Across(name, text) => {
                    let rest = total.saturating_sub(widths[0] + 7);
                    writeln!(f, "| {name:<0$} | {1:<rest$} |", widths[0], shortened(text, rest))?;
                }
            }
        }
        writeln!(f, "{:-<total$}", "")
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, widths: &[usize], fields: &[&str]) -> fmt::Result {
    for (i, width) in widths.iter().enumerate() {
        let field = fields.get(i).copied().unwrap_or_default();
        if i == 0 {
            write!(f, "| {field:<width$} |")?;
        } else {
            write!(f, " {field:>width$} |")?;
        }
    }
    writeln!(f)
}

/// Where a column's words begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    /// At its left.
    Left,
    /// At its right, as figures do.
    Right,
}

/// A table without rules: columns as wide as what is in them, two blanks apart.
#[derive(Clone, Debug)]
pub struct PlainTable {
    sides: Vec<Aligned>,
    /// The headings, then the rows.
    lines: Vec<Vec<String>>,
}

impl PlainTable {
    /// A table with those headings.
    pub fn new(columns: &[(&str, Aligned)]) -> Self {
        let headings = columns.iter().map(|(title, _)| shown(title)).collect();
        Self { sides: columns.iter().map(|(_, side)| *side).collect(), lines: vec![headings] }
    }

    /// A row with one field for each column.
    pub fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        self.lines.push(fields.into_iter().map(|field| shown(&field)).collect());
    }
}

impl fmt::Display for PlainTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let fields = self.lines.iter().filter_map(|line| line.get(column));
            fields.map(|field| field.chars().count()).max().unwrap_or(0).min(WIDTH_MAX)
        };
        let widths: Vec<usize> = (0..self.sides.len()).map(width).collect();
        for line in &self.lines {
            let padded = line.iter().zip(&widths).zip(&self.sides);
            let fields: Vec<String> = padded
                .map(|((field, width), side)| match side {
                    Aligned::Left => format!("{field:<width$}"),
                    Aligned::Right => format!("{field:>width$}"),
                })
                .collect();
            writeln!(f, "{}", fields.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A name or a field of others, which has as many characters as before.
fn shown(text: &str) -> String {
    printable::line(text).into_owned()
}

/// Shortens text that does not fit; reports print the whole text below the table.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the widest rows of the published table of pajamax and tonic.
    const PUBLISHED: &str = include_str!("../tests/table_snapshots/layout.txt");

    fn published() -> TextTable {
        TextTable::new(&[
            column("name", 18),
            column("req/s", 6),
            column("avg. cpu", 8),
            column("avg. latency", 12),
            column("90 % in", 9),
            column("95 % in", 9),
            column("99 % in", 9),
            column("avg. memory", 12),
        ])
    }

    fn fields(line: &str) -> Vec<String> {
        line.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn the_published_table_can_be_printed_to_the_last_dash() {
        let mut table = published();
        table.heading("--C=1:");
        table.heading_pair("----S=1", "^2.9");
        table.fields(fields(
            "rust_pajamax, 8487, 14.25%, 0.10 ms, 0.13 ms, 0.14 ms, 0.17 ms, 496.0 MiB",
        ));
        table.fields(fields(
            "rust_tonic_mt, 7282, 35.97%, 0.12 ms, 0.15 ms, 0.16 ms, 0.19 ms, 1.07 MiB",
        ));
        table.heading("--C=100:");
        table.heading_pair("----S=100000", "^11.0");
        table.fields(fields(
            "rust_tonic_mt, 39148, 84.15%, 2.20 s, 5.42 s, 7.15 s, 12.25 s, 465.75 MiB",
        ));
        assert_eq!(table.to_string(), PUBLISHED);
    }

    #[test]
    fn what_a_process_said_cannot_break_the_table() {
        let mut table = published();
        table.heading("--a\n--b:");
        table.fields(vec!["a\nforged |".to_owned(), "\u{202e}1".to_owned()]);
        table.across("b\r\u{2028}".to_owned(), "c\nd".to_owned());
        let printed = table.to_string();
        assert_eq!(printed.lines().count(), 6, "{printed}");
        assert!(!printed.contains(['\u{202e}', '\r', '\u{2028}']), "{printed}");
    }

    #[test]
    fn a_field_that_is_too_wide_widens_its_column_everywhere() {
        let mut table = published();
        table.fields(fields("a-subject-with-a-long-name, >= 1234567"));
        table.across("b".to_owned(), "failed: ".repeat(30));
        let printed = table.to_string();
        let widths: Vec<usize> = printed.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|&width| width == widths[0] && width > 108), "{printed}");
        assert!(printed.contains("... |"), "{printed}");
    }

    #[test]
    fn a_plain_table_is_as_wide_as_what_is_in_it() {
        let mut table = PlainTable::new(&[("name", Aligned::Left), ("calls/s", Aligned::Right)]);
        table.row(["a name that\nis long".to_owned(), "7".to_owned()]);
        let expected = "name                 calls/s\na name that is long        7\n";
        assert_eq!(table.to_string(), expected);
    }
}
