//! What its connections cost a subject: over transports other than plain text TCP, and with one
//! connection for each call instead of lasting ones.

use super::columns::ratio_interval;
use crate::text_table::{TextTable, column};
use bookend_contract::transport::Transport;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::grouped;
use bookend_results::measurement::CellId;
use bookend_results::ratio::{ComparedPair, RatioOutcome};
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank, Table};

/// Compares each cell with the same subject on plainer connections. `None`: no cell has such a
/// counterpart.
pub fn connection_table(table: &Table) -> Option<String> {
    let mut columns = vec![
        column("name", 18),
        column("over", 7),
        column("CPU/request", 11),
        column("95 % interval", 14),
        column("req/s", 7),
        column("95 % interval", 14),
    ];
    columns.extend(table.has_failed_calls().then(|| column("failed", 6)));
    let mut layout = TextTable::new(&columns);
    let lines = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration).flat_map(|cell| {
        let ratios = cell.summary().map(|summary| summary.ratios).unwrap_or_default();
        let compared = [
            ("h2c", ratios.over_h2c, cell.case.over(Transport::H2c)),
            ("lasting", ratios.over_lasting, cell.case.lasting()),
        ];
        compared
            .into_iter()
            .filter(|(_, pair, _)| pair.cost != RatioOutcome::NotCompared)
            .map(|(over, pair, case)| (cell.case, fields(table, cell, (over, case), &pair)))
    });
    let cases = grouped(lines);
    for (case, lines) in &cases {
        layout.heading(format!("--C={} {}:", case.connections, table.streams(*case)));
        lines.iter().for_each(|fields| layout.fields(fields.clone()));
    }
    (!cases.is_empty()).then(|| layout.to_string())
}

fn fields(
    table: &Table,
    cell: &Cell,
    (over, case): (&str, Case),
    compared: &ComparedPair,
) -> Vec<String> {
    let cost = compared.cost.reciprocal();
    let other = table.failed_share_of(&CellId { case, ..cell.id.clone() });
    let failed = FailedShare::field_of_ratio(cell.failed_share(), other);
    let mut fields = vec![
        table.row_name(cell),
        over.to_owned(),
        cost.to_string(),
        ratio_interval(&cost),
        compared.rate.to_string(),
        ratio_interval(&compared.rate),
    ];
    fields.extend(table.has_failed_calls().then_some(failed));
    fields
}
