//! Measurements that are in no published table: our own subjects, other variants, other
//! instruments, calibration.

use super::figures::Cells;
use super::grid;
use super::page::Page;
use super::presentation::{Look, ResultColumn};
use super::rows::{cells_below, fields, markdown_table};
use bookend_results::table::Cell;

/// The table of all cells that no other table shows. Empty without any.
pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let own: Vec<&Cell> =
        cells.table.cells.iter().filter(|cell| !is_shown(page, cells, cell)).collect();
    if own.is_empty() {
        return String::new();
    }
    let columns = columns(page);
    let line = |cell: &Cell| {
        let id = &cell.id;
        let subject = format!("{}{}", cell.marked_subject(), cell.other_run());
        let names = vec![subject, id.case.to_string(), id.instrument.clone()];
        (names, fields(cells, &columns, cell))
    };
    markdown_table(&["subject", "case", "with"], cells, &columns, own.into_iter().map(line))
}

/// The columns of the first table for which we have a figure.
fn columns(page: &Page<'_>) -> Vec<ResultColumn> {
    page.presentation
        .tables
        .first()
        .into_iter()
        .flat_map(|table| &table.columns)
        .filter(|column| column.metric.is_some())
        .cloned()
        .collect()
}

fn is_shown(page: &Page<'_>, cells: &Cells<'_>, cell: &Cell) -> bool {
    page.presentation.tables.iter().any(|table| {
        if table.look == Look::Grid && grid::shows(page, table, cell) {
            return true;
        }
        page.rows_of(table)
            .flat_map(|row| cells_below(cells, table, row))
            .any(|(_, id)| id == cell.id)
    })
}
