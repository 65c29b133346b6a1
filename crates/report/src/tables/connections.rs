//! What its connections cost a subject: over transports other than plain text TCP, and with one
//! connection for each call instead of lasting ones.

use super::columns::ratio_interval;
use crate::text_table::{TextTable, column};
use bookend_results::grouping::grouped;
use bookend_results::ratio::{ComparedPair, RatioOutcome};
use bookend_results::table::{Rank, Table};

/// Compares each cell with the same subject on plainer connections. `None`: no cell has such a
/// counterpart.
pub fn connection_table(table: &Table) -> Option<String> {
    let mut layout = TextTable::new(&[
        column("name", 18),
        column("over", 7),
        column("CPU/request", 11),
        column("95 % interval", 14),
        column("req/s", 7),
        column("95 % interval", 14),
    ]);
    let lines = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration).flat_map(|cell| {
        let ratios = cell.summary().map(|summary| summary.ratios).unwrap_or_default();
        let compared = [("h2c", ratios.over_h2c), ("lasting", ratios.over_lasting)];
        compared
            .into_iter()
            .filter(|(_, pair)| pair.cost != RatioOutcome::NotCompared)
            .map(|(over, pair)| (cell.case, fields(table.row_name(cell), over, &pair)))
    });
    let cases = grouped(lines);
    for (case, lines) in &cases {
        layout.heading(format!("--C={} {}:", case.connections, table.streams(*case)));
        lines.iter().for_each(|fields| layout.fields(fields.clone()));
    }
    (!cases.is_empty()).then(|| layout.to_string())
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
