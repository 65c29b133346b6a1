//! What a request costs the instrument that makes it: the question where there are several.

use super::shape::{figure, figure_interval, ratio_interval};
use super::{Cell, CellResult, Table};
use crate::layout::{Layout, column};
use crate::measurement::{CellId, Row};
use crate::metric;
use crate::ratio::RatioOutcome;
use crate::round::{RoundFigures, paired_figures, ratio_of};
use crate::statistics::NoRatio;
use crate::text::{cpu_text, rate_text};

/// Each instrument against the first that measured the same subject and case, round by round.
pub(super) fn compare_instruments(rows: &[Row], cells: &mut [Cell]) {
    let measured: Vec<CellId> = cells
        .iter()
        .filter(|cell| cell.summary().is_some())
        .map(|cell| cell.id.clone())
        .collect();
    for cell in cells {
        let same = |id: &&CellId| id.subject == cell.id.subject && id.case == cell.id.case;
        let first = measured.iter().find(same);
        let CellResult::Measured(summary) = &mut cell.result else {
            continue;
        };
        if let Some(first) = first.filter(|first| **first != cell.id) {
            summary.ratios.instrument_cost_ratio = instrument_ratio(&cell.id, first, rows);
        }
    }
}

fn instrument_ratio(own: &CellId, other: &CellId, rows: &[Row]) -> RatioOutcome {
    let both = paired_figures((own, rows), (other, rows));
    let spins = |figures: &RoundFigures| figures.spinning.generator;
    if both.iter().any(|(a, b)| spins(a) || spins(b)) {
        return Err(NoRatio::Spinning).into();
    }
    ratio_of(&both, RoundFigures::requests_per_client_cpu_second).into()
}

/// What a request costs each instrument. Nothing where there is one only.
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
