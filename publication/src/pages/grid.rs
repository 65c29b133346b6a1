//! The look of grpc_bench: lines of dashes with the cases and ratios written into them. Unpublished
//! measurements follow the published ones, under the same case.

use super::figures::Cells;
use super::page::Page;
use super::presentation::ResultTable;
use super::rows::{Fields, cells_below, fields, headings, lines};
use crate::published::PublishedRow;
use bookend_report::text_table::{TextTable, column};
use bookend_results::failed_share::FailedShare;
use bookend_results::measurement::CellId;
use bookend_results::metric::{Metric, REQUESTS_PER_CPU_SECOND};
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank};

/// The widths of the original: of the name, and the least for any figure.
const NAME_WIDTH: usize = 18;

pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let mut columns = vec![column("name", NAME_WIDTH)];
    columns.extend(headings(cells, &table.columns).into_iter().map(|heading| column(heading, 0)));
    let mut grid = TextTable::new(&columns);
    let rows: Vec<&PublishedRow> = page.rows_of(table).collect();
    let mut connections = None;
    for group in rows.chunk_by(|a, b| a.place.label == b.place.label) {
        let case = case_of(group);
        if let Some(case) = case.filter(|case| connections != Some(case.connections)) {
            grid.heading(format!("--C={}:", case.connections));
            connections = Some(case.connections);
        }
        grid.heading_pair(&short_label(group, case), &ratios(cells, group));
        for row in group {
            for (index, line) in lines(page, cells, table, row).into_iter().enumerate() {
                let name = match index {
                    0 => row.place.subject.clone(),
                    _ => format!("  {}", line.whose),
                };
                add(&mut grid, name, line.fields);
            }
        }
        if let Some(case) = case {
            add_others(&mut grid, cells, table, group, case);
        }
    }
    grid.to_string()
}

fn case_of(group: &[&PublishedRow]) -> Option<Case> {
    group.iter().find_map(|row| Some(row.cell.as_ref()?.case))
}

fn short_label(group: &[&PublishedRow], case: Option<Case>) -> String {
    match (case, group) {
        (Some(case), _) => format!("----S={}", case.concurrency),
        (None, [row, ..]) => format!("----{}", row.place.label),
        (None, []) => "----".to_owned(),
    }
}

/// The ratio as printed, and that of our measurements of the same two.
fn ratios(cells: &Cells<'_>, group: &[&PublishedRow]) -> String {
    let printed = group
        .iter()
        .find_map(|row| row.printed.get("cost_ratio"))
        .map_or_else(String::new, |printed| format!("{printed}--"));
    let own = own_ratio(cells, group);
    let own = own.map_or_else(String::new, |(ratio, [one, other])| {
        let failed = match FailedShare::larger(one, other) {
            Some(_) => format!("-{}-failed", FailedShare::field_of_ratio(one, other)),
            None => String::new(),
        };
        format!("re-run-^{ratio:.1}{failed}")
    });
    format!("{printed}{own}")
}

/// The requests per CPU-second of the row with a printed ratio over those of the other row, and
/// the failed calls of both.
fn own_ratio(
    cells: &Cells<'_>,
    group: &[&PublishedRow],
) -> Option<(f64, [Option<FailedShare>; 2])> {
    let is_compared = |row: &&&PublishedRow| row.printed.contains_key("cost_ratio");
    let compared = group.iter().find(is_compared)?;
    let other = group.iter().find(|row| !is_compared(row))?;
    let measured = |row: &PublishedRow| cells.find(row.cell.as_ref()?);
    let metric = Metric::Listed(&REQUESTS_PER_CPU_SECOND);
    let (own, other) = (measured(compared)?, measured(other)?);
    let (ratio, _) = cells.estimate(&metric, own, Some(other))?;
    Some((ratio, [own, other].map(Cell::failed_share)))
}

/// All other subjects that were measured under the case.
fn add_others(
    grid: &mut TextTable,
    cells: &Cells<'_>,
    table: &ResultTable,
    group: &[&PublishedRow],
    case: Case,
) {
    let below: Vec<CellId> =
        group.iter().flat_map(|row| cells_below(cells, table, row)).map(|(_, id)| id).collect();
    let main = group.iter().find_map(|row| row.cell.as_ref()).map(|cell| &cell.instrument);
    let is_other = |cell: &&Cell| cell.rank != Rank::Calibration && !below.contains(&cell.id);
    for cell in cells.table.of_case(case).filter(is_other) {
        let id = &cell.id;
        let name = if main == Some(&id.instrument) {
            cell.marked_subject()
        } else {
            format!("{} with {}", cell.marked_subject(), id.instrument)
        };
        add(grid, name + cell.other_run(), fields(cells, &table.columns, cell));
    }
}

fn add(grid: &mut TextTable, name: String, fields: Fields) {
    match fields {
        Ok(fields) => grid.fields([vec![name], fields].concat()),
        Err(word) => grid.across(name, word),
    }
}

/// Whether the grid of `table` shows the cell, published or not.
pub(super) fn shows(page: &Page<'_>, table: &ResultTable, cell: &Cell) -> bool {
    let mut cells = page.rows_of(table).filter_map(|row| row.cell.as_ref());
    cell.rank != Rank::Calibration && cells.any(|own| own.case == cell.id.case)
}
