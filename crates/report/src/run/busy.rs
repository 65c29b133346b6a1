//! What was odd about rows: that the machine was busy, in one sentence for all of them, and every
//! other mark once a kind.

use super::doubts::kind;
use crate::first_few::first_few;
use crate::tables::{is_everywhere, marks_of};
use bookend_results::grouping::{each_once, grouped};
use bookend_results::mark::Mark;
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::quoted::one_line;
use bookend_results::table::{CLOSES_ON_CUT, Cell, Table, WAITS_ON_ACK};
use bookend_results::text::percent_text;

/// Kinds of marks that others say: [`busy_line`], the words in the row, and the column of failed
/// calls. The last is about memory, which a first look does not show.
const SAID_OTHERWISE: [&str; 6] = [
    "steal",
    "foreign process on CPU",
    WAITS_ON_ACK,
    CLOSES_ON_CUT,
    "failed calls",
    "memory is from rss",
];

/// That others used the CPUs that were measured on, with the worst figure of each kind.
pub(super) fn busy_line(rows: &[Row]) -> Option<String> {
    let windows: Vec<&Measurement> = rows
        .iter()
        .filter_map(|row| match &row.outcome {
            Outcome::Measured(window) => Some(window.as_ref()),
            _ => None,
        })
        .collect();
    let worst = |is: fn(&Mark) -> bool| {
        let marks = windows.iter().flat_map(|window| &window.marks);
        marks.filter(|mark| is(mark)).filter_map(Mark::share).reduce(f64::max).map(percent_text)
    };
    let others = worst(|mark| matches!(mark, Mark::ForeignProcess { .. }));
    let others = others.map(|share| format!("other processes used up to {share} of a CPU"));
    let steal = worst(|mark| matches!(mark, Mark::Steal { .. }));
    let steal = steal.map(|share| format!("the hypervisor took up to {share} of the CPU time"));
    let what: Vec<String> = others.into_iter().chain(steal).collect();
    let is_busy = |window: &&&Measurement| {
        let is_it = |mark: &Mark| matches!(mark, Mark::Steal { .. } | Mark::ForeignProcess { .. });
        window.marks.iter().any(is_it)
    };
    let (busy, all) = (windows.iter().filter(is_busy).count(), windows.len());
    (!what.is_empty()).then(|| {
        format!(
            "This machine was busy, so run it again when it is idle: {}, in {busy} of {all} windows.",
            what.join(" and ")
        )
    })
}

/// The other marks, a line for each kind, with the rows that have it.
pub(super) fn mark_lines(table: &Table) -> Vec<String> {
    let measured = table.cells.iter().filter(|cell| cell.summary().is_some());
    let of_cell = |cell: &Cell| {
        let place = format!("{} {}", cell.case, table.row_name(cell));
        let marks = marks_of(cell).into_iter().map(|mark| (kind(&mark), mark));
        let shown = marks.filter(|(kind, _)| !SAID_OTHERWISE.contains(&kind.as_str()));
        shown.map(|(kind, mark)| (kind, (place.clone(), mark))).collect::<Vec<_>>()
    };
    let line = |(kind, rows): (String, Vec<(String, String)>)| {
        let places = each_once(rows.iter().map(|(place, _)| place.clone()));
        let line = match rows.as_slice() {
            [(place, mark)] => format!("{mark}: {place}"),
            _ if is_everywhere(table, places.len()) => format!("{kind}: every row"),
            _ => format!("{kind}: {}", first_few(&places)),
        };
        one_line(&line)
    };
    grouped(measured.flat_map(of_cell)).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sentence_says_of_all_rows_has_no_line_of_its_own() {
        let share = 0.29;
        let busy = [Mark::Steal { share }, Mark::ForeignProcess { cpus: vec![0, 1], share }];
        let failed = Mark::CallsFailed { share };
        for mark in busy.iter().chain([&failed]) {
            for clause in [mark.to_string(), format!("{} (2 of 7 rounds)", mark.as_worst())] {
                assert!(SAID_OTHERWISE.contains(&kind(&clause).as_str()), "{clause}");
            }
        }
        assert!(!SAID_OTHERWISE.contains(&kind("rounds disagree: 5 server-bound").as_str()));
    }
}
