//! What the clients of others say of the same cells, compared with ours.

use super::figures::Cells;
use bookend_contract::verdict::Verdict;
use bookend_report::markdown;
use bookend_results::failed_share::FailedShare;
use bookend_results::metric::{Metric, REQUESTS_PER_SECOND};
use bookend_results::suite::TestedEnd;
use bookend_results::table::{Cell, Summary};
use bookend_results::text::{rate_text, significant_text};

/// How the names of our own clients begin.
const OURS: &str = "bookend-";

/// Bare sockets that check nothing are no opinion.
const FLOOR: &str = "rust-floor";

const HEADINGS: [&str; 7] =
    ["server", "case", "client", "calls a second", "by ours", "over ours", "limits"];

/// A line for each cell of a server that was also measured through a client of others. Empty
/// without such a cell.
pub(super) fn table(cells: &Cells<'_>) -> String {
    let rows: Vec<Vec<String>> =
        cells.table.cells.iter().filter_map(|cell| row(cells, cell)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings: Vec<&str> =
        HEADINGS.into_iter().chain(cells.table.has_failed_calls().then_some("failed")).collect();
    markdown::table(&headings, 3, &rows)
}

fn row(cells: &Cells<'_>, theirs: &Cell) -> Option<Vec<String>> {
    if [OURS, FLOOR].iter().any(|name| theirs.id.instrument.starts_with(name)) {
        return None;
    }
    let is_same = |cell: &&Cell| {
        let is_ours = cell.id.instrument.starts_with(OURS);
        is_ours && cell.id.subject == theirs.id.subject && cell.id.case == theirs.id.case
    };
    let (ours, summary) =
        cells.table.cells.iter().filter(is_same).find_map(|cell| Some((cell, cell.summary()?)))?;
    let of_theirs = theirs.summary().filter(|summary| summary.side == TestedEnd::Server)?;
    let rate = |summary: &Summary| summary.value(&REQUESTS_PER_SECOND).map(rate_text);
    let (ratio, interval) =
        cells.estimate(&Metric::Listed(&REQUESTS_PER_SECOND), theirs, Some(ours))?;
    let in_brackets =
        interval.map_or(String::new(), |ends| format!(" ({})", ends.text(significant_text)));
    let shares = [theirs, ours].map(Cell::failed_share);
    let failed = FailedShare::larger(shares[0], shares[1]);
    let mut fields = vec![
        FailedShare::marked(failed, &theirs.id.subject),
        theirs.id.case.to_string(),
        theirs.id.instrument.clone(),
        rate(of_theirs)?,
        rate(summary)?,
        format!("{}{in_brackets}", significant_text(ratio)),
        limits(of_theirs.verdict, summary.verdict),
    ];
    let field = FailedShare::field_of_ratio(shares[0], shares[1]);
    fields.extend(cells.table.has_failed_calls().then_some(field));
    Some(fields)
}

/// What limited their row, and ours where that is something else.
fn limits(theirs: Verdict, ours: Verdict) -> String {
    if theirs == ours { theirs.to_string() } else { format!("{theirs}, ours {ours}") }
}
