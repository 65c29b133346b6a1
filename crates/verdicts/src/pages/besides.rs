//! Measurements that are in no published table: our own subjects, other variants, other
//! instruments, calibration.

use super::figures::Cells;
use super::grid;
use super::page::Page;
use super::presentation::{Look, ResultColumn};
use super::rows::{NONE, OURS, cells_below, figures};
use bookend_results::markdown;
use bookend_results::table::Cell;

/// The table of all cells that no other table shows. Empty if there are none.
pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>) -> String {
    let own: Vec<&Cell> =
        cells.table.cells.iter().filter(|cell| !is_shown(page, cells, cell)).collect();
    if own.is_empty() {
        return String::new();
    }
    let columns = columns(page);
    let keys = ["subject", "case", "with"].map(str::to_owned);
    let mut headings = keys.to_vec();
    headings.extend(columns.iter().map(|column| column.heading.clone()));
    headings.extend(OURS.map(str::to_owned));
    let row = |cell: &Cell| {
        let id = &cell.id;
        let mut fields = vec![id.subject.clone(), id.case.to_string(), id.instrument.clone()];
        match figures(cells, &columns, cell) {
            Ok(figures) => fields.extend([figures.published, figures.ours].concat()),
            Err(word) => fields.push(word),
        }
        fields.resize(headings.len(), NONE.to_owned());
        fields
    };
    let rows: Vec<Vec<String>> = own.into_iter().map(row).collect();
    markdown::table(&headings, keys.len(), &rows)
}

/// The columns of the first table for which we have a figure.
fn columns(page: &Page<'_>) -> Vec<ResultColumn> {
    let first = page.presentation.tables.first();
    let columns = first.map_or(&[][..], |table| &table.columns);
    let own = columns.iter().filter(|column| column.metric.is_some());
    own.cloned().collect()
}

fn is_shown(page: &Page<'_>, cells: &Cells<'_>, cell: &Cell) -> bool {
    page.presentation.tables.iter().any(|table| {
        if table.look == Look::Grid && grid::shows(page, table, cell) {
            return true;
        }
        let mut rows = page.rows_of(table);
        rows.any(|row| {
            let below = cells_below(cells, table, row);
            below.iter().any(|(_, id)| *id == cell.id)
        })
    })
}
