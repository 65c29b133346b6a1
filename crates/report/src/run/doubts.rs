//! What speaks against the answer of a run: whose rates are lower bounds, what failed, and what to
//! doubt.

use super::report::Report;
use crate::first_few::first_few;
use crate::tables::marks_of;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::quoted::one_line;
use bookend_results::suite::Extent;
use bookend_results::table::{Cell, CellResult, Table, is_lower_bound};
use std::cmp::Reverse;

/// What is quoted of a reason is cut here: it may be as long as its writer liked.
const REASON_CHARS: usize = 120;

/// What a note begins with that says that the subjects do not answer alike.
const REPLIES_DIFFER: &str = "replies to the same call differ";

fn place(table: &Table, cell: &Cell) -> String {
    if table.several_instruments {
        format!("{} via {}", cell.case, cell.id.instrument)
    } else {
        cell.case.to_string()
    }
}

/// Rates that the other end held down.
pub(super) fn bounds_line(table: &Table) -> Option<String> {
    let places: Vec<String> = table
        .cells
        .iter()
        .filter(|cell| cell.summary().is_some_and(is_lower_bound))
        .map(|cell| format!("{} at {}", cell.id.subject, place(table, cell)))
        .collect();
    (!places.is_empty()).then(|| {
        let places = first_few(&places);
        format!("Rates with >= are lower bounds, because the other end was the limit: {places}.")
    })
}

/// Calls that failed, and rows without figures.
pub(super) fn failures_line(table: &Table) -> Option<String> {
    let mut failed: Vec<(FailedShare, String)> = table
        .cells
        .iter()
        .filter_map(|cell| {
            let (share, subject) = (cell.failed_share()?, &cell.id.subject);
            Some((share, format!("{share} of {subject} at {}", place(table, cell))))
        })
        .collect();
    // Only the first few are named: they must not hide a larger share.
    failed.sort_by(|(a, _), (b, _)| b.share().total_cmp(&a.share()));
    let failed: Vec<String> = failed.into_iter().map(|(_, text)| text).collect();
    let why_unmeasured = |cell: &Cell| match &cell.result {
        CellResult::NotMeasured { why, reason } => {
            let reason: String = one_line(reason).chars().take(REASON_CHARS).collect();
            Some(format!("{} ({why}: {reason})", cell.id.subject))
        }
        CellResult::Measured(_) => None,
    };
    let unmeasured = each_once(table.cells.iter().filter_map(why_unmeasured));
    let mut clauses = Vec::new();
    if !failed.is_empty() {
        clauses.push(format!("Calls failed: {}.", first_few(&failed)));
    }
    if !unmeasured.is_empty() {
        clauses.push(format!("Not measured: {}.", first_few(&unmeasured)));
    }
    (!clauses.is_empty()).then(|| clauses.join(" "))
}

/// What speaks against the run.
pub(super) fn doubts_line(report: &Report<'_>, table: &Table) -> Option<String> {
    let mut doubts = Vec::from_iter(scope_doubt(report).map(str::to_owned));
    let odd = report.notes().into_iter().find(|note| note.starts_with(REPLIES_DIFFER));
    doubts.extend(odd.map(one_line));
    let of_cell = |cell: &Cell| each_once(marks_of(cell).iter().map(|mark| kind(mark)));
    let measured = table.cells.iter().filter(|cell| cell.summary().is_some());
    let mut by_kind = grouped(measured.flat_map(of_cell).map(|kind| (kind, ())));
    by_kind.sort_by_key(|(_, rows)| Reverse(rows.len()));
    let kinds: Vec<String> =
        by_kind.iter().map(|(kind, rows)| format!("{kind} ({} rows)", rows.len())).collect();
    if !kinds.is_empty() {
        doubts.push(format!("marks: {}", first_few(&kinds)));
    }
    (!doubts.is_empty()).then(|| format!("Doubt it for this: {}.", doubts.join("; ")))
}

/// That too little was measured to be quoted, as a sentence.
pub(super) fn scope_line(report: &Report<'_>) -> Option<String> {
    let doubt = scope_doubt(report)?;
    let (first, rest) = doubt.split_at(1);
    Some(format!("{}{rest}.", first.to_uppercase()))
}

fn scope_doubt(report: &Report<'_>) -> Option<&'static str> {
    let is_quick = report.run.new.plan.extent == Extent::Quick;
    let less = "the run did less than its suite, and is not to be quoted";
    match is_quick {
        true => Some("a quick run is a first look, not a result to be quoted"),
        false => (!report.is_quotable()).then_some(less),
    }
}

/// A mark without its figures: what all marks of its kind begin with.
pub(super) fn kind(mark: &str) -> String {
    let is_figure = |letter: char| letter.is_ascii_digit() || ":(".contains(letter);
    let words = mark.split(is_figure).next().unwrap_or_default().trim().trim_end_matches(" up to");
    if words.is_empty() { "failed calls".to_owned() } else { one_line(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_one_kind_are_told_once() {
        assert_eq!(kind("steal up to 3.1 % (2 of 7 rounds)"), "steal");
        assert_eq!(kind("foreign process on CPU 0 (29 %)"), "foreign process on CPU");
        assert_eq!(kind("cut off: 10 calls were in flight"), "cut off");
        assert_eq!(kind("12 calls ended with Unavailable"), "failed calls");
    }
}
