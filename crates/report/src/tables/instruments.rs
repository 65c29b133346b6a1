//! What a request costs the instrument that makes it, for runs with several instruments.

use super::columns::{INSTRUMENTS, fields, named};
use crate::text_table::TextTable;
use bookend_results::table::Table;

/// What a request costs each instrument. `None` if there is only one.
pub fn instrument_table(table: &Table) -> Option<String> {
    if !table.several_instruments {
        return None;
    }
    let mut layout = TextTable::new(&named(table, &INSTRUMENTS));
    for case in table.cases() {
        layout.heading(format!("--C={} {}", case.connections, table.streams(case)));
        for cell in table.of_case(case) {
            if let Some(summary) = cell.summary() {
                let name = table.row_name(cell);
                layout.fields(fields(name, &INSTRUMENTS, table, (cell, summary)));
            }
        }
    }
    Some(layout.to_string())
}
