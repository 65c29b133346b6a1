//! The marks of a run: a line for each mark of a case, with the rows that have it.

use super::alike::{Apart, together};
use super::figures::Cells;
use super::page::Page;
use bookend_report::markdown;
use bookend_report::tables::{marks_of, skipped_lines, window_lines};
use bookend_results::grouping::grouped;
use bookend_results::quoted::one_line;
use bookend_results::suite::Case;
use bookend_results::table::Cell;
use std::collections::BTreeMap;

/// What is said of every row is said once.
const MANY_ROWS: usize = 4;

/// The lines, then what all rows or all of a subject have in common, the windows that were chosen,
/// and what each server leaves out. Empty if there is nothing.
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
    let mut marks = Vec::new();
    for cell in &cells.table.cells {
        let name = cells.table.row_name(cell);
        for mark in marks_of(cell).iter().filter(|mark| !said(cell, mark)) {
            let Apart { words, numbers } = Apart::of(&one_line(mark));
            marks.push(((cell.id.case, words), (name.clone(), numbers)));
        }
    }
    let rows: Vec<Vec<String>> = grouped(marks).into_iter().map(row).collect();
    let headings = ["case", "mark", "rows"].map(str::to_owned);
    let table = if rows.is_empty() { String::new() } else { markdown::table(&headings, 3, &rows) };
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

/// A mark of a case in its words, with the names and the numbers of the cells that have it.
type Alike = ((Case, Vec<String>), Vec<(String, Vec<String>)>);

fn row(((case, words), cells): Alike) -> Vec<String> {
    let (names, numbers): (Vec<String>, Vec<Vec<String>>) = cells.into_iter().unzip();
    vec![case.to_string(), together(&words, &numbers), by_instrument(&names)]
}

/// Names of rows, those through one instrument together.
fn by_instrument(names: &[String]) -> String {
    let pairs = names.iter().map(|name| match name.split_once(" via ") {
        Some((subject, via)) => (format!(" via {via}"), subject),
        None => (String::new(), name.as_str()),
    });
    let groups = grouped(pairs).into_iter();
    let texts: Vec<String> =
        groups.map(|(via, subjects)| format!("{}{via}", subjects.join(", "))).collect();
    texts.join("; ")
}
