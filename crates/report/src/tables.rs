//! The tables of a run, each with the columns that it prints and the lines below them.

mod brief;
mod brief_layout;
mod columns;
mod connections;
mod instruments;
mod shape;
mod sheet;

pub(crate) use brief::{brief_calibration, brief_legend, brief_table, brief_words};
pub use connections::connection_table;
pub use instruments::instrument_table;
pub(crate) use shape::is_everywhere;
pub use shape::{
    calibration_lines, cost_table, cpu_account_table, marks, marks_of, published_table,
    resource_table, skipped_lines, spinning_lines, window_lines,
};
pub use sheet::{SheetRow, TableSheet, sheets};
