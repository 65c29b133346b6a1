//! What a server said at its end, written into its rows.

use super::server::ServerEnd;
use bookend_results::audit::{CallCounts, CountMismatch};
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};

/// Writes into `rows`, which are all of one server, what it said at its end. Calls that are in
/// none of them, of the probe and of windows that were measured again, stand in the first.
pub fn close(rows: &mut [&mut Row], end: &ServerEnd, counts: &CallCounts) {
    let mut in_rows = CallCounts::default();
    for window in rows.iter().filter_map(|row| row.outcome.window()) {
        in_rows += window.call_counts();
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
    let is_large = |mismatch: &&CountMismatch| mismatch.exceeds_tolerance();
    let small = end.mismatches.iter().filter(|found| !is_large(found));
    window.marks.extend(small.copied().map(Mark::CountsDiffer));
    if let Outcome::Measured(_) = &row.outcome
        && let Some(large) = end.mismatches.iter().find(is_large)
    {
        row.outcome.fail(Mark::CountsDiffer(*large));
    }
}

/// Marks the `rows` of a server that ended by itself before it could say how much it served.
pub fn close_uncounted(rows: &mut [&mut Row], how: &Outcome) {
    let Outcome::Failed { error, .. } = how else {
        return;
    };
    for row in rows {
        if let Some(window) = row.outcome.window_mut() {
            let error = error.clone();
            window.marks.push(Mark::Died { error });
        }
    }
}
