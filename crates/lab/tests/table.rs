//! Tables from invented rows, compared with what they must look like to the last dash.

mod table_rows;

use bookend_lab::export::Report;
use bookend_lab::measurement::{Outcome, Row};
use bookend_lab::table::{
    CellResult, NotMeasured, Table, cost_table, ledger_table, marks, published_table,
    resource_table,
};
use table_rows::{case, cell, measurement, plan, row, rows, run};

fn table(rows: &[Row]) -> Table {
    Table::new(&plan(), rows)
}

fn snapshot(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn the_published_shape() {
    snapshot(&published_table(&table(&rows(&plan()))), "");
}

#[test]
fn the_costs() {
    snapshot(&cost_table(&table(&rows(&plan()))), "");
}

#[test]
fn latency_and_memory() {
    snapshot(&resource_table(&table(&rows(&plan()))), "");
}

#[test]
fn the_ledger() {
    snapshot(&ledger_table(&table(&rows(&plan()))), "");
}

#[test]
fn text() {
    let run = run();
    let rows = rows(&run.new.plan);
    println!("{}", Report::new(&run, &rows).text());
    println!("{}", Report::new(&run, &rows).markdown());
    println!("{}", Report::new(&run, &rows).csv());
}
