//! What processes noted beside their figures: connections, threads, collections of garbage.
//!
//! A caller notes things of one cell. A server notes them of its life, which is one cell where it
//! was started for it (a client under test, a fixed number of calls) and else all cells of a
//! round.

use super::{Page, text};
use crate::measurement::Row;
use crate::statistics::median;
use crate::suite::Side;
use crate::table::significant_text;
use std::collections::BTreeMap;

/// Whose note it is, of what, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: String,
    case: String,
    with: String,
    note: String,
}

const ALL_CASES: &str = "all of a round";

/// A line a note: its median over the rounds and the largest. Empty when nothing was noted.
pub(super) fn table(page: &Page<'_>) -> String {
    let mut notes: BTreeMap<Key, BTreeMap<u32, f64>> = BTreeMap::new();
    for row in &page.record.rows {
        for (key, value) in of_row(row) {
            notes.entry(key).or_default().insert(row.round, value);
        }
    }
    let rows: Vec<Vec<String>> = notes
        .iter()
        .map(|(key, values)| line(key, values))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["who", "case", "with", "note", "median", "largest", "rounds"];
    text::table(&headings.map(str::to_owned), 4, &rows)
}

fn line(key: &Key, values: &BTreeMap<u32, f64>) -> Vec<String> {
    let values: Vec<f64> = values.values().copied().collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    vec![
        key.process.clone(),
        key.case.clone(),
        key.with.clone(),
        key.note.clone(),
        number(median(&values).unwrap_or(largest)),
        number(largest),
        values.len().to_string(),
    ]
}

/// Counts as they are, fractions with three digits.
fn number(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => significant_text(value),
    }
}

fn of_row(row: &Row) -> Vec<(Key, f64)> {
    let Some(measurement) = row.outcome.window() else {
        return Vec::new();
    };
    let cell = &row.cell;
    let (server, caller) = match measurement.side {
        Side::Server => (&cell.subject, &cell.instrument),
        Side::Client => (&cell.instrument, &cell.subject),
    };
    let at_its_end = |process: &String, with: &str| match row.has_own_server {
        true => (process.clone(), cell.case.clone(), with.to_owned()),
        false => (process.clone(), ALL_CASES.to_owned(), String::new()),
    };
    let backend = format!("backend of {server}");
    let all = [
        (
            (caller.clone(), cell.case.clone(), server.clone()),
            &measurement.notes,
        ),
        (at_its_end(server, caller), &row.server_notes),
        (at_its_end(&backend, caller), &row.backend_notes),
    ];
    let keyed = all.into_iter().flat_map(|((process, case, with), notes)| {
        notes.iter().map(move |(note, value)| {
            let key = Key {
                process: process.clone(),
                case: case.clone(),
                with: with.clone(),
                note: note.clone(),
            };
            (key, *value)
        })
    });
    keyed.collect()
}
