//! What a server said at its end, written into its rows.

use super::call_counts::{CallCounts, CountMismatch};
use super::server::ServerEnd;
use bookend_results::measurement::{Outcome, Row};

/// Writes into `rows`, which are all of one server, what it said at its end. Calls that are in
/// none of them, of the probe and of windows that were measured again, stand in the first.
pub fn close(rows: &mut [&mut Row], end: &ServerEnd, counts: &CallCounts) {
    let mut in_rows = CallCounts::default();
    for row in rows.iter() {
        in_rows.add_row(row);
    }
    let mut elsewhere = counts.beyond(&in_rows, end.served);
    for row in rows {
        row.served = end.served;
        row.probe_calls = std::mem::take(&mut elsewhere);
        row.server_notes.clone_from(&end.notes);
        if let Some(backend) = &end.backend {
            row.backend_served = backend.served;
            row.backend_notes.clone_from(&backend.notes);
        }
        close_row(row, end);
    }
}

fn close_row(row: &mut Row, end: &ServerEnd) {
    let Some(window) = row.outcome.window_mut() else {
        return;
    };
    window.marks.extend(end.marks.iter().cloned());
    let small = end.mismatches.iter().filter(|found| !found.is_grave());
    window.marks.extend(small.map(CountMismatch::to_string));
    if let Outcome::Measured(_) = &row.outcome
        && let Some(grave) = end.mismatches.iter().find(|found| found.is_grave())
    {
        row.outcome.fail(grave);
    }
}

/// Marks the `rows` of a server that ended by itself before it could say how much it served.
pub fn close_uncounted(rows: &mut [&mut Row], how: &Outcome) {
    let Outcome::Failed { error, .. } = how else {
        return;
    };
    for row in rows {
        if let Some(window) = row.outcome.window_mut() {
            let mark = format!("calls could not be counted: later in the round {error}");
            window.marks.push(mark);
        }
    }
}
