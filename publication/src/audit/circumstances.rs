//! Rules on how a document was measured, as it says itself or as is known from its tools.

use crate::document::{Document, PrintedRow};
use bookend_results::audit::{Checked, Span};
use bookend_results::text::significant_text;

/// A ratio of programs that were not measured by turns.
pub(super) fn order_fixed(row: &PrintedRow, document: &Document) -> Checked {
    let ratio = printed_ratio(row)?;
    unless(document.conditions.interleaved?, || {
        format!(
            "a ratio of {} between programs that were measured one after the other: whatever \
             changed meanwhile is in it",
            significant_text(ratio.value)
        )
    })
}

/// The highest of several runs.
pub(super) fn best_of_runs(row: &PrintedRow, document: &Document) -> Checked {
    row.figure("requests_per_second")?;
    let runs = document.conditions.best_of?;
    unless(runs < 2, || {
        format!("the best of {runs} runs: the rest of them, and how far they differ, is left out")
    })
}

/// Repetitions in one process.
pub(super) fn one_start(row: &PrintedRow, document: &Document) -> Checked {
    row.figure("requests_per_second").or_else(|| printed_ratio(row))?;
    unless(document.conditions.starts? > 1, || {
        "all of it is of one start of the programs: other starts differ by more than its \
         repetitions do"
            .to_owned()
    })
}

/// Ends that were not kept apart.
pub(super) fn ends_share_cpus(row: &PrintedRow, document: &Document) -> Checked {
    row.server_cpu().or_else(|| printed_ratio(row))?;
    unless(document.conditions.pinned?, || {
        "neither end had CPUs of its own: where the kernel put them is in the figure".to_owned()
    })
}

/// Latencies of a schedule that leave out how late it was.
pub(super) fn waiting_omitted(row: &PrintedRow, document: &Document) -> Checked {
    let asked = row.figure("rate_asked")?;
    unless(document.conditions.waiting_counted?, || {
        format!(
            "calls were due at {} a second, and each latency counts from when its call was sent: \
             what it waited before is left out",
            significant_text(asked.value)
        )
    })
}

fn printed_ratio(row: &PrintedRow) -> Option<Span> {
    row.figure("cost_ratio").or_else(|| row.figure("rate_ratio"))
}

fn unless(is_sound: bool, evidence: impl FnOnce() -> String) -> Checked {
    Some(if is_sound { Ok(()) } else { Err(evidence()) })
}
