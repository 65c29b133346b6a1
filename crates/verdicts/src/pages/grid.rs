//! The look of grpc_bench: lines of dashes with the cases and ratios written into them. Unpublished
//! measurements follow the published ones, under the same case.

use super::figures::Cells;
use super::page::Page;
use super::presentation::ResultTable;
use super::rows::{Line, OURS, figures, lines};
use crate::published::PublishedRow;
use bookend_results::layout::{Layout, column};
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank};

/// The widths of the original: of the name, and the least for any figure.
const NAME_WIDTH: usize = 18;

pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let mut columns = vec![column("name", NAME_WIDTH)];
    let headings = table.columns.iter().map(|column| column.heading.clone());
    columns.extend(headings.map(|heading| column(heading, 0)));
    columns.extend(OURS.map(|heading| column(heading, 0)));
    let mut layout = Layout::new(&columns);
    let rows: Vec<&PublishedRow> = page.rows_of(table).collect();
    let mut connections = None;
    for group in rows.chunk_by(|a, b| a.label == b.label) {
        let case = case_of(group);
        if let Some(case) = case.filter(|case| connections != Some(case.connections)) {
            layout.heading(format!("--C={}:", case.connections));
            connections = Some(case.connections);
        }
        layout.heading_pair(&short_label(group, case), &ratios(cells, group));
        for row in group {
            add_published(&mut layout, row, lines(cells, table, row));
        }
        if let Some(case) = case {
            add_others(&mut layout, cells, table, group, case);
        }
    }
    layout.to_string()
}

fn case_of(group: &[&PublishedRow]) -> Option<Case> {
    let cell = group.iter().find_map(|row| row.cell.as_ref())?;
    Some(cell.case)
}

fn short_label(group: &[&PublishedRow], case: Option<Case>) -> String {
    let label = group.first().map_or("", |row| row.label.as_str());
    match case {
        Some(case) => format!("----S={}", case.concurrency),
        None => format!("----{label}"),
    }
}

/// The ratio as printed, and that of our measurements of the same two.
fn ratios(cells: &Cells<'_>, group: &[&PublishedRow]) -> String {
    let printed = group.iter().find_map(|row| row.printed.get("cost_ratio"));
    let printed = printed.map_or_else(String::new, |printed| format!("{printed}--"));
    let own = group.iter().find_map(|row| {
        let cell = cells.find(row.cell.as_ref()?)?;
        Some(cell.summary()?.ratios.cost_ratio.ratio()?.median)
    });
    let own = own.map_or_else(String::new, |ratio| format!("re-run-^{ratio:.1}"));
    format!("{printed}{own}")
}

fn add_published(layout: &mut Layout, row: &PublishedRow, lines: Vec<Line>) {
    for (index, line) in lines.into_iter().enumerate() {
        let name = match index {
            0 => row.subject.clone(),
            _ => format!("  {}", line.whose),
        };
        add(layout, name, line.figures);
    }
}

/// All other subjects that were measured under the case.
fn add_others(
    layout: &mut Layout,
    cells: &Cells<'_>,
    table: &ResultTable,
    group: &[&PublishedRow],
    case: Case,
) {
    let published = group.iter().find_map(|row| row.cell.as_ref());
    let main = published.map(|cell| &cell.instrument);
    for cell in others(cells, table, group, case) {
        let name = if main.is_some_and(|main| *main == cell.id.instrument) {
            cell.id.subject.clone()
        } else {
            format!("{} with {}", cell.id.subject, cell.id.instrument)
        };
        add(layout, name, figures(cells, &table.columns, cell));
    }
}

fn others<'a>(
    cells: &'a Cells<'_>,
    table: &'a ResultTable,
    group: &'a [&PublishedRow],
    case: Case,
) -> impl Iterator<Item = &'a Cell> {
    let is_below = move |cell: &Cell| {
        let of_row = |row: &&PublishedRow| super::rows::cells_below(cells, table, row);
        let mut below = group.iter().flat_map(of_row);
        below.any(|(_, id)| id == cell.id)
    };
    cells.table.of_case(case).filter(move |cell| cell.rank != Rank::Calibration && !is_below(cell))
}

fn add(layout: &mut Layout, name: String, figures: Result<super::rows::Figures, String>) {
    match figures {
        Ok(figures) => {
            let name = vec![name];
            layout.fields([name, figures.published, figures.ours].concat());
        }
        Err(word) => layout.across(name, word),
    }
}

/// Whether the grid of `table` shows the cell, published or not.
pub(super) fn shows(page: &Page<'_>, table: &ResultTable, cell: &Cell) -> bool {
    let mut rows = page.rows_of(table);
    let is_its_case = |row: &PublishedRow| {
        let own = row.cell.as_ref();
        own.is_some_and(|own| own.case == cell.id.case)
    };
    cell.rank != Rank::Calibration && rows.any(is_its_case)
}
