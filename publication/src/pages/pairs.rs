//! What the ratio next to a published row is over: the version that the document compares with, and
//! not the one of today that is the baseline of the run.

use super::page::Page;
use crate::published::PublishedRow;
use bookend_results::measurement::CellId;
use bookend_results::suite::Case;

/// The cell that `cell`, a re-run of the row, is compared with. `None`: the run's own baseline.
pub(super) fn reference(page: &Page<'_>, row: &PublishedRow, cell: &CellId) -> Option<CellId> {
    let baseline = &page.record.facts.plan.baseline()?.name;
    let printed = row.cell.as_ref()?;
    let reference = in_the_document(page, baseline, printed.case)?;
    if reference.subject == *baseline {
        return None;
    }
    // A subject that brings a client is compared through its own, as printed.
    let is_as_printed = cell.instrument == printed.instrument;
    let instrument = if is_as_printed { &reference.instrument } else { &cell.instrument };
    Some(CellId { instrument: instrument.clone(), ..reference.clone() })
}

/// The baseline as the document has it in a case, or the only version of it there: of `rust-tonic`
/// `rust-tonic/0.11`, of `java-grpc/virtual` `java-grpc/virtual-jdk21`.
fn in_the_document<'a>(page: &'a Page<'_>, baseline: &str, case: Case) -> Option<&'a CellId> {
    let rows = page.published.iter().flat_map(|published| &published.rows);
    let of_case = rows.filter_map(|row| row.cell.as_ref()).filter(|cell| cell.case == case);
    let versions: Vec<&CellId> =
        of_case.filter(|cell| cell.subject.starts_with(baseline)).collect();
    let exact = versions.iter().find(|cell| cell.subject == baseline);
    let is_one = versions.iter().all(|cell| cell.subject == versions[0].subject);
    exact.or_else(|| versions.first().filter(|_| is_one)).copied()
}
