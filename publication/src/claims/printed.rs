//! From the published tables of a suite's folder to the document that the audit reads.

use super::error::ClaimsError;
use crate::document::{Conditions, Document, PrintedBucket, PrintedRow};
use crate::published::{PublishedColumn, PublishedRow, PublishedTable};
use bookend_results::audit::{Rounding, Span};
use bookend_results::metric::Unit;
use std::path::Path;

/// The figures of a histogram's line.
const UPPER_BOUND: &str = "upper_bound";
const COUNT: &str = "count";

/// Every `published*.csv` of a folder; `names` are the files in it.
pub(super) fn tables(folder: &Path, names: &[String]) -> Result<Vec<PublishedTable>, ClaimsError> {
    let is_published = |name: &&String| name.starts_with("published") && name.ends_with(".csv");
    let read = |name: &String| {
        let file = folder.join(name);
        PublishedTable::read(&file).map_err(|error| ClaimsError::Published(file, Box::new(error)))
    };
    names.iter().filter(is_published).map(read).collect()
}

/// The rows of all tables; the lines of a histogram are added to the row that they belong to.
pub(super) fn document(tables: &[PublishedTable], conditions: Conditions) -> Document {
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for table in tables {
        let is_histogram = table.columns.iter().any(|one| one.name == UPPER_BOUND);
        let rounding = conditions.latency_rounding;
        let printed = table.rows.iter().map(|row| printed(table, row, rounding));
        if is_histogram { lines.extend(printed) } else { rows.extend(printed) }
    }
    for row in &mut rows {
        row.histogram = histogram(row, &lines);
    }
    Document { rows, conditions }
}

fn printed(table: &PublishedTable, row: &PublishedRow, latency: Rounding) -> PrintedRow {
    let figures = table
        .columns
        .iter()
        .filter_map(|column| {
            let span = span(table, column, row, latency)?;
            Some((column.name.clone(), span))
        })
        .collect();
    PrintedRow { place: row.place.clone(), cell: row.cell.clone(), figures, histogram: Vec::new() }
}

/// The range that the printed digits leave open for latencies and rates; counts are exact.
fn span(
    table: &PublishedTable,
    column: &PublishedColumn,
    row: &PublishedRow,
    latency: Rounding,
) -> Option<Span> {
    let value = row.value(&column.name)?;
    let text = row.printed.get(&column.name)?;
    let is_count = column.unit == Unit::Number && text.chars().all(|c| c.is_ascii_digit());
    if is_count {
        return Some(Span::exact(value));
    }
    let rounding = match column.unit {
        Unit::Nanoseconds => latency,
        _ => Rounding::Nearest,
    };
    Span::printed(text, value, smallest_unit(table, &column.name), rounding)
}

/// The value of a printed 1 in the column's finest unit: a bare zero does not show its unit.
fn smallest_unit(table: &PublishedTable, column: &str) -> f64 {
    table
        .rows
        .iter()
        .filter_map(|row| {
            let text = row.printed.get(column)?;
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
            let number: f64 = text[..end.unwrap_or(text.len())].parse().ok()?;
            (number > 0.0).then_some(row.value(column)? / number)
        })
        .fold(f64::INFINITY, f64::min)
}

fn histogram(row: &PrintedRow, lines: &[PrintedRow]) -> Vec<PrintedBucket> {
    let own = |line: &&PrintedRow| line.place.is_same_run(&row.place);
    let bucket = |line: &PrintedRow| {
        Some(PrintedBucket {
            upper_ns: line.figure(UPPER_BOUND)?,
            count: line.figure(COUNT)?.value,
        })
    };
    // Only a row of calls can have a histogram.
    match row.figure("ok") {
        Some(_) => lines.iter().filter(own).filter_map(bucket).collect(),
        None => Vec::new(),
    }
}
