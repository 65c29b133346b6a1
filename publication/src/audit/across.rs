//! Rules that compare one printed row with others of its document.

use crate::document::{Document, PrintedRow};
use bookend_results::audit::{Checked, Span, count};
use bookend_results::text::{memory_text, significant_text};

/// Memory does not shrink this far when there is more to do: a program's own text and stacks alone
/// are within this factor.
const MEMORY_FALL: f64 = 32.0;

/// How near a figure divided by 1024 must come to a neighbour to fit it.
const MEMORY_FIT: f64 = 4.0;

const KIBIBYTES: f64 = 1024.0;

/// Compares the printed ratio of requests per CPU-second with the ratio of this row and the one
/// next to it.
pub(super) fn ratio_differs(row: &PrintedRow, document: &Document) -> Checked {
    let printed = row.figure("cost_ratio")?;
    let beside = |other: &&PrintedRow| {
        let (own, other) = (&row.place, &other.place);
        own.table == other.table && own.label == other.label && own.subject != other.subject
    };
    let baseline = document.rows.iter().find(beside)?;
    let own = row.requests_per_cpu_second()?;
    let ratio = own.over(baseline.requests_per_cpu_second()?)?;
    if ratio.overlaps(printed) {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "printed {}, its own figures give {:.2}, and {:.2} to {:.2} with every digit that they \
         may have lost",
        printed.value, ratio.value, ratio.low, ratio.high
    )))
}

/// Compares the memory with that of the same subject when it has at least as much to do.
pub(super) fn kib_printed_as_mib(row: &PrintedRow, document: &Document) -> Checked {
    let memory = row.figure("memory_mean")?;
    let busier = |other: &&PrintedRow| {
        let more = |name: &str| Some(other.figure(name)?.value >= row.figure(name)?.value);
        other.place.subject == row.place.subject
            && other.place != row.place
            && more("connections").unwrap_or(true)
            && more("concurrency").unwrap_or(false)
    };
    let (other, least) = document
        .rows
        .iter()
        .filter(busier)
        .filter_map(|other| Some((other, other.figure("memory_mean")?)))
        .min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let rescaled = memory.value / KIBIBYTES;
    let fits = rescaled / least.value < MEMORY_FIT && least.value / rescaled < MEMORY_FIT;
    if memory.low <= least.high * MEMORY_FALL || !fits {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "{} with less to do than {}, where it is {}; over 1024 it is {}",
        memory_text(memory.value),
        other.place.label,
        memory_text(least.value),
        memory_text(rescaled)
    )))
}

/// Compares the share of the clients' time that the clock covers with that of another subject under
/// the same case.
pub(super) fn clocks_differ(row: &PrintedRow, document: &Document) -> Checked {
    let own = covered(row)?;
    let same_case = |other: &&PrintedRow| {
        other.case() == row.case() && other.place.subject != row.place.subject
    };
    let mut others = document
        .rows
        .iter()
        .filter(same_case)
        .filter_map(|other| Some((other, covered(other)?)))
        .peekable();
    others.peek()?;
    let Some((other, theirs)) = others.find(|(_, theirs)| own.high < theirs.low) else {
        return Some(Ok(()));
    };
    let clients = row.streams()?;
    let of_clients = |share: Span| count(share.times(Span::exact(clients)));
    Some(Err(format!(
        "rate times mean latency accounts for {} of {} clients, with {} for {}: this clock leaves \
         out a part of the call that the other counts",
        of_clients(own),
        significant_text(clients),
        other.place.subject,
        of_clients(theirs)
    )))
}

fn covered(row: &PrintedRow) -> Option<Span> {
    let is_per_call = row.case()?.connection_per_call;
    let streams = row.streams().filter(|_| is_per_call)?;
    row.calls_in_flight()?.over(Span::exact(streams))
}
