//! Rules on columns that do not hold what their headings say.

use crate::document::{Document, PrintedRow};
use bookend_results::audit::{Checked, Span};
use bookend_results::text::precise_latency_text;

/// Percentiles from this one on differ from each other, from the mean and from the slowest.
const HIGH_PERCENTILE: f64 = 75.0;

/// A figure that is known worse than this share of it can be the same by chance.
const KNOWN_TO: f64 = 0.02;

/// Two columns do not agree by chance in this number of rows.
const ROWS_MIN: usize = 3;

/// Compares the columns of latencies in all rows of the table.
pub(super) fn same_figure_twice(row: &PrintedRow, document: &Document) -> Checked {
    let names = latency_columns(row);
    let rows: Vec<&PrintedRow> =
        document.rows.iter().filter(|other| other.place.table == row.place.table).collect();
    if rows.len() < ROWS_MIN || names.len() < 2 {
        return None;
    }
    let mut pairs = names
        .iter()
        .enumerate()
        .flat_map(|(at, first)| names[at + 1..].iter().map(move |two| (first, two)));
    let Some((first, second)) =
        pairs.find(|(first, second)| rows.iter().all(|row| is_same(row, first, second)))
    else {
        return Some(Ok(()));
    };
    let value = row.figure(first)?.value;
    Some(Err(format!(
        "{first} and {second} are the same figure in all {} rows, here {}: one of them is in both \
         columns",
        rows.len(),
        precise_latency_text(value)
    )))
}

/// Mean, high percentiles and slowest of a row.
fn latency_columns(row: &PrintedRow) -> Vec<String> {
    let is_high = |name: &str| {
        let percent: f64 = name.strip_prefix("latency_p")?.replace('_', ".").parse().ok()?;
        Some(percent >= HIGH_PERCENTILE)
    };
    row.figures
        .keys()
        .filter(|name| {
            let is_other = matches!(name.as_str(), "latency_mean" | "latency_max");
            is_other || is_high(name).unwrap_or(false)
        })
        .cloned()
        .collect()
}

fn is_same(row: &PrintedRow, first: &str, second: &str) -> bool {
    let figures = row.figure(first).zip(row.figure(second));
    let is_known = |figure: Span| figure.high - figure.low <= KNOWN_TO * figure.value;
    figures.is_some_and(|(a, b)| a.value == b.value && is_known(a) && is_known(b))
}

/// Compares latencies with what their tool can tell apart.
pub(super) fn below_resolution(row: &PrintedRow, document: &Document) -> Checked {
    let resolution_ns = document.conditions.latency_resolution_seconds.unwrap_or(0.0) * 1e9;
    let mut latencies =
        row.figures.iter().filter(|(name, _)| name.starts_with("latency_")).peekable();
    latencies.peek()?;
    let coarse = latencies.find(|(_, figure)| figure.value == 0.0 || figure.high < resolution_ns);
    let Some((name, figure)) = coarse else {
        return Some(Ok(()));
    };
    Some(Err(if figure.value == 0.0 {
        format!("{name} is printed as zero: the unit is too coarse for it")
    } else {
        let [figure, resolution] = [figure.value, resolution_ns].map(precise_latency_text);
        format!("{name} is {figure}, and its tool waits in steps of {resolution}")
    }))
}
