//! What a request costs the instrument that makes it, for runs with several instruments.

use super::Table;
use super::shape::{figure, figure_interval, ratio_interval};
use crate::layout::{Layout, column};
use crate::metric;
use crate::text::{cpu_text, rate_text};

/// What a request costs each instrument. `None` if there is only one.
pub fn instrument_table(table: &Table) -> Option<String> {
    if !table.several_instruments {
        return None;
    }
    let mut layout = Layout::new(&[
        column("name", 18),
        column("req/instrument-CPU-s", 20),
        column("95 % interval", 15),
        column("ratio i", 7),
        column("95 % interval", 14),
        column("busy", 8),
    ]);
    let cost = &metric::REQUESTS_PER_CLIENT_CPU_SECOND;
    for case in table.cases() {
        layout.heading(format!("--C={} {}", case.connections, table.streams(case)));
        for cell in table.of_case(case) {
            if let Some(summary) = cell.summary() {
                let against_first = &summary.ratios.instrument_cost_ratio;
                layout.fields(vec![
                    table.row_name(cell),
                    figure(summary, cost, rate_text),
                    figure_interval(summary, cost, rate_text),
                    against_first.to_string(),
                    ratio_interval(against_first),
                    figure(summary, &metric::GENERATOR_BUSY_SHARE, cpu_text),
                ]);
            }
        }
    }
    Some(layout.to_string())
}
