//! Tables that are made for a test.

use bookend_publication::document::{Conditions, Document, PrintedRow};
use bookend_publication::published::Place;
use bookend_results::audit::Span;
use bookend_results::measurement::CellId;

pub const MS: f64 = 1e6;
pub const SECOND: f64 = 1e9;

/// A row of a table, with figures that are known exactly.
pub fn row(subject: &str, figures: &[(&str, f64)]) -> PrintedRow {
    let figures =
        figures.iter().map(|(name, value)| ((*name).to_owned(), Span::exact(*value))).collect();
    PrintedRow {
        place: Place { table: "table".into(), subject: subject.into(), label: "row".into() },
        figures,
        ..PrintedRow::default()
    }
}

/// The same row, measured in another table.
pub fn again(table: &str, row: PrintedRow) -> PrintedRow {
    PrintedRow { place: Place { table: table.into(), ..row.place }, ..row }
}

/// The same row under another label.
pub fn labelled(label: &str, row: PrintedRow) -> PrintedRow {
    PrintedRow { place: Place { label: label.into(), ..row.place }, ..row }
}

/// The same row, with a figure of which this much is known.
pub fn between(name: &str, (low, high): (f64, f64), mut row: PrintedRow) -> PrintedRow {
    row.figures.insert(name.into(), Span { low, value: low, high });
    row
}

/// The same row, which our cell of this case repeats.
pub fn repeated(case: &str, row: PrintedRow) -> PrintedRow {
    let subject = row.place.subject.clone();
    let case = case.parse().expect("a case");
    PrintedRow { cell: Some(CellId { subject, case, instrument: "own".into() }), ..row }
}

/// A document of these rows.
pub fn document(conditions: Conditions, rows: impl IntoIterator<Item = PrintedRow>) -> Document {
    Document { conditions, rows: rows.into_iter().collect() }
}
