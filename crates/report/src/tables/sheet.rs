//! The tables of a run for pages: the columns of the printed ones, field by field.

use super::columns::{
    COST, CPU_ACCOUNT, CellColumn, INSTRUMENTS, PUBLISHED, RESOURCES, fields, shown,
};
use bookend_results::suite::Case;
use bookend_results::table::{Cell, CellResult, Rank, Table};

/// A table of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSheet {
    /// Its heading.
    pub title: &'static str,
    /// The headings of its columns; the first two are those of the case and of the name.
    pub headings: Vec<String>,
    /// Its rows, in the order of the plan.
    pub rows: Vec<SheetRow>,
}

/// A row of a [`TableSheet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetRow {
    /// The case.
    pub case: Case,
    /// The subject, with its instrument where there are several.
    pub name: String,
    /// Its figures, or why it has no figures.
    pub fields: Result<Vec<String>, String>,
}

/// The tables that people read. Calibration has no row in them, because it is not compared.
pub fn sheets(table: &Table) -> Vec<TableSheet> {
    let mut sheets = vec![
        sheet(table, "Results", &PUBLISHED),
        sheet(table, "What a request costs", &COST),
        sheet(table, "Latency and memory", &RESOURCES),
        sheet(table, "Where the machine's CPU went", &CPU_ACCOUNT),
    ];
    if table.several_instruments {
        sheets.push(sheet(table, "What a request costs the instrument", &INSTRUMENTS));
    }
    sheets
}

fn sheet(table: &Table, title: &'static str, columns: &[CellColumn]) -> TableSheet {
    let own = shown(table, columns).map(|(heading, ..)| (*heading).to_owned());
    let headings = ["case", "name"].map(str::to_owned).into_iter().chain(own).collect();
    let row = |cell: &Cell| SheetRow {
        case: cell.case,
        name: table.row_name(cell),
        fields: match &cell.result {
            CellResult::Measured(summary) => {
                Ok(fields(String::new(), columns, table, (cell, summary)).split_off(1))
            }
            CellResult::NotMeasured { why, reason } => Err(format!("{why}: {reason}")),
        },
    };
    let ranked = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration);
    let rows = ranked.map(row).collect();
    TableSheet { title, headings, rows }
}
