//! What its connections cost a subject: over transports other than plain text TCP, and with one
//! connection for each call instead of lasting ones.

use super::columns::ratio_interval;
use super::{Cell, Rank, Summary, Table};
use crate::layout::{Layout, column};
use crate::ratio::{ComparedPair, RatioOutcome};

/// Compares each cell with the same subject on plainer connections. `None`: no cell has such a
/// counterpart.
pub fn connection_table(table: &Table) -> Option<String> {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("over", 7),
        column("CPU/request", 11),
        column("95 % interval", 14),
        column("req/s", 7),
        column("95 % interval", 14),
    ]);
    let mut is_empty = true;
    let mut heading = None;
    let ranked = |cell: &&Cell| cell.rank != Rank::Calibration;
    for cell in table.cells.iter().filter(ranked) {
        let comparisons = cell.summary().map(comparisons).unwrap_or_default();
        for (over, compared) in comparisons {
            if heading != Some(cell.case) {
                let connections = cell.case.connections;
                let streams = table.streams(cell.case);
                layout.heading(format!("--C={connections} {streams}:"));
                heading = Some(cell.case);
            }
            layout.fields(fields(table.row_name(cell), over, &compared));
            is_empty = false;
        }
    }
    (!is_empty).then(|| layout.to_string())
}

fn comparisons(summary: &Summary) -> Vec<(&'static str, ComparedPair)> {
    let all = [("h2c", summary.ratios.over_h2c), ("lasting", summary.ratios.over_lasting)];
    let made = |compared: &ComparedPair| compared.cost != RatioOutcome::NotCompared;
    let made = all.into_iter().filter(|(_, compared)| made(compared));
    made.collect()
}

fn fields(name: String, over: &str, compared: &ComparedPair) -> Vec<String> {
    let cost = compared.cost.reciprocal();
    vec![
        name,
        over.to_owned(),
        cost.to_string(),
        ratio_interval(&cost),
        compared.rate.to_string(),
        ratio_interval(&compared.rate),
    ]
}
