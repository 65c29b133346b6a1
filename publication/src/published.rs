//! A published table as data: `published.csv` in a suite's folder (docs/measure/results.md).
//!
//! One format for all suites. Each figure is stored twice: as it was printed, and as a number in
//! the base unit that its column names. Nothing is corrected: the audit reports what cannot be
//! true.

use bookend_results::declaration::unnamed_text;
use bookend_results::measurement::CellId;
use bookend_results::metric::Unit;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use thiserror::Error;

/// The columns that every published table begins with: the place of a row, and which of our cells
/// measures the same.
pub const KEY_COLUMNS: [&str; 6] =
    ["table", "subject", "label", "our_subject", "our_case", "our_instrument"];

/// A published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// Its columns of figures, in the order of the file.
    pub columns: Vec<PublishedColumn>,
    /// Its rows, in the printed order.
    pub rows: Vec<PublishedRow>,
}

/// A column of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedColumn {
    /// Its name: `latency_mean`. If our measurements have the same, it has our name.
    pub name: String,
    /// The unit of its numbers.
    pub unit: Unit,
}

/// The place of a row: table, subject and case, all as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which table of the document.
    pub table: String,
    /// The subject's name as printed.
    pub subject: String,
    /// What distinguishes the row from the subject's other rows.
    pub label: String,
}

impl Place {
    /// Whether both are of one subject under one label, in whatever table.
    pub(crate) fn is_same_run(&self, other: &Self) -> bool {
        self.subject == other.subject && self.label == other.label
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} ({})", self.subject, self.label, self.table)
    }
}

/// A row of a published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// Its place in the document.
    pub place: Place,
    /// Which of our cells measures the same. `None` if no cell can.
    pub cell: Option<CellId>,
    /// Its figures by column, in the column's unit.
    pub values: BTreeMap<String, f64>,
    /// Its figures by column, as printed.
    pub printed: BTreeMap<String, String>,
}

impl PublishedTable {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is not a published table.
    pub fn read(file: &Path) -> Result<Self, PublishedError> {
        let text = unnamed_text(file);
        Self::parse(&text.map_err(|error| PublishedError::Unreadable(error.to_string()))?)
    }

    /// Reads the text of a file: a heading with the [`KEY_COLUMNS`] and two columns for each
    /// figure, `NAME,NAME [UNIT]`; then rows without quotes.
    ///
    /// # Errors
    /// The error names the first column or line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, PublishedError> {
        let mut lines = text.lines().enumerate();
        let columns = columns(lines.next().map_or("", |(_, heading)| heading))?;
        let row = |(index, line)| row(&columns, line).ok_or(PublishedError::Line(index + 1));
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Self { columns, rows })
    }

    /// The rows of one table of the document.
    pub fn of_table<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a PublishedRow> {
        self.rows.iter().filter(move |row| row.place.table == table)
    }
}

impl PublishedRow {
    /// A figure in the unit of its column.
    pub fn value(&self, column: &str) -> Option<f64> {
        self.values.get(column).copied()
    }
}

fn columns(heading: &str) -> Result<Vec<PublishedColumn>, PublishedError> {
    let titles: Vec<&str> = heading.split(',').collect();
    let Some((keys, figures)) = titles.split_at_checked(KEY_COLUMNS.len()) else {
        return Err(PublishedError::Heading);
    };
    if keys != KEY_COLUMNS || figures.len() % 2 != 0 {
        return Err(PublishedError::Heading);
    }
    figures
        .chunks(2)
        .map(|pair| column(pair[0], pair[1]).ok_or(PublishedError::Column(pair[1].to_owned())))
        .collect()
}

/// `latency_mean` and `latency_mean [ns]`.
fn column(printed: &str, number: &str) -> Option<PublishedColumn> {
    let unit = number.strip_prefix(printed)?.strip_prefix(" [")?.strip_suffix(']')?;
    Some(PublishedColumn {
        name: printed.to_owned(),
        unit: Unit::ALL.into_iter().find(|one| one.symbol() == unit)?,
    })
}

fn row(columns: &[PublishedColumn], line: &str) -> Option<PublishedRow> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != KEY_COLUMNS.len() + 2 * columns.len() {
        return None;
    }
    let (keys, figures) = fields.split_at(KEY_COLUMNS.len());
    let mut row = PublishedRow {
        place: Place {
            table: keys[0].to_owned(),
            subject: keys[1].to_owned(),
            label: keys[2].to_owned(),
        },
        cell: cell(&keys[3..])?,
        values: BTreeMap::new(),
        printed: BTreeMap::new(),
    };
    for (column, figure) in columns.iter().zip(figures.chunks(2)) {
        match (figure[0], figure[1]) {
            ("", "") => continue,
            ("", _) => return None,
            (printed, number) => {
                let number = number.parse().ok().filter(|number: &f64| number.is_finite())?;
                row.values.insert(column.name.clone(), number);
                row.printed.insert(column.name.clone(), printed.to_owned());
            }
        }
    }
    Some(row)
}

/// The cell, if all three names are given; no cell, if none is.
fn cell(keys: &[&str]) -> Option<Option<CellId>> {
    match keys {
        ["", "", ""] => Some(None),
        [subject, case, instrument] if keys.iter().all(|key| !key.is_empty()) => {
            Some(Some(CellId {
                subject: (*subject).to_owned(),
                case: case.parse().ok()?,
                instrument: (*instrument).to_owned(),
            }))
        }
        _ => None,
    }
}

/// Why a published table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PublishedError {
    /// The file cannot be read.
    #[error("cannot be read: {_0}")]
    Unreadable(String),
    /// The first line does not begin with the [`KEY_COLUMNS`], or is not continued by pairs.
    #[error("the first line must be {}, then two columns a figure", KEY_COLUMNS.join(","))]
    Heading,
    /// The second column of a pair does not repeat the first with a unit.
    #[error(
        "the column `{_0}` must repeat the one before it with a unit: {}",
        Unit::ALL.map(|unit| format!("NAME [{}]", unit.symbol())).join(", ")
    )]
    Column(String),
    /// The line with that number, counted from 1, is not a row.
    #[error(
        "line {_0} is not a row: a field a column, a number next to each printed figure, our cell whole \
         or not at all"
    )]
    Line(usize),
}
