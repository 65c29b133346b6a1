//! The marks of a run, summed up a cell.

use super::figures::Cells;
use super::page::Page;
use bookend_report::markdown;
use bookend_report::tables::{marks_of, skipped_lines, window_lines};
use bookend_results::grouping::grouped;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::quoted::one_line;
use bookend_results::record::rows_of_cell;
use bookend_results::table::{Cell, CellResult, rules_of};
use std::collections::BTreeMap;

/// What is said of every row is said once.
const MANY_ROWS: usize = 4;

/// One line for each cell with marks, then what several have in common, the windows that were
/// chosen, and what each server leaves out. Empty if there is nothing.
pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let measured: Vec<&Cell> =
        cells.table.cells.iter().filter(|cell| cell.summary().is_some()).collect();
    let common = common(&measured);
    let by_subject = grouped(measured.iter().map(|cell| (cell.id.subject.as_str(), *cell)));
    let of_subject: BTreeMap<&str, Vec<String>> =
        by_subject.into_iter().map(|(subject, own)| (subject, self::common(&own))).collect();
    let said = |cell: &Cell, mark: &String| {
        let own = of_subject.get(cell.id.subject.as_str());
        common.contains(mark) || own.is_some_and(|own| own.contains(mark))
    };
    let rows: Vec<Vec<String>> = cells
        .table
        .cells
        .iter()
        .filter_map(|cell| {
            let mut marks = marks_of(cell);
            marks.retain(|mark| !said(cell, mark));
            let (case, name) = (cell.id.case.to_string(), cells.table.row_name(cell));
            let row = || vec![case, name, disturbed(page, cell), one_line(&marks.join("; "))];
            (!marks.is_empty()).then(row)
        })
        .collect();
    let headings = ["case", "subject", "rounds marked", "why"].map(str::to_owned);
    let table = if rows.is_empty() { String::new() } else { markdown::table(&headings, 4, &rows) };
    let everywhere = common.iter().map(|mark| one_line(&format!("every measured row: {mark}")));
    let own =
        of_subject.iter().flat_map(|(subject, own)| own.iter().map(move |mark| (subject, mark)));
    let own = own.filter(|(_, mark)| !common.contains(mark));
    let own = own.map(|(subject, mark)| one_line(&format!("every row of {subject}: {mark}")));
    let windows = window_lines(&page.record.facts.plan, &cells.table);
    let lines = [everywhere.chain(own).collect(), windows, skipped_lines(&cells.table)].concat();
    let list: String =
        lines.iter().map(|line| markdown::wrapped(&format!("- {line}"), "  ")).collect();
    if lines.is_empty() { table } else { format!("{table}\n{list}") }
}

/// The marks that all of these measured rows have, if there are several.
fn common(measured: &[&Cell]) -> Vec<String> {
    let each: Vec<Vec<String>> = measured.iter().map(|cell| marks_of(cell)).collect();
    match each.split_first() {
        Some((first, others)) if others.len() + 1 >= MANY_ROWS => {
            let is_common = |mark: &&String| others.iter().all(|marks| marks.contains(mark));
            first.iter().filter(is_common).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// `7 of 10`: rounds in which something speaks against the figures.
fn disturbed(page: &Page<'_>, cell: &Cell) -> String {
    if matches!(cell.result, CellResult::NotMeasured { .. }) {
        return "not measured".to_owned();
    }
    let plan = &page.record.facts.plan;
    let rows: Vec<&Row> = rows_of_cell(plan, &page.record.rows, &cell.id)
        .filter(|row| matches!(row.outcome, Outcome::Measured(_)))
        .collect();
    let marked = rows.iter().filter(|row| !rules_of(plan, row).is_empty()).count();
    format!("{marked} of {}", rows.len())
}
