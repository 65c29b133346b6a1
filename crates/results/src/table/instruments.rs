//! What a request costs the instrument that makes it: the question where there are several.

use super::layout::{Layout, column};
use super::round::{Round, RoundFigures, paired_figures, ratio_of};
use super::shape::{interval, or_none, ratio, ratio_interval};
use super::{Cell, CellResult, RatioOutcome, Table, rate_text, significant_text};
use crate::measurement::{CellId, Row};
use crate::statistics::{Interval, NoRatio, geometric_mean_interval, median};
use serde::Serialize;

/// What a cell's requests cost its instrument.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstrumentCost {
    /// Answered calls per CPU-second of the instrument: median of the rounds. `None` where a round
    /// has no CPU time.
    pub requests_per_cpu_second: Option<f64>,
    /// 95 % interval of the rounds' geometric mean.
    pub interval: Option<Interval>,
    /// The same over that of the first instrument that measured this subject and case.
    pub ratio: RatioOutcome,
}

impl InstrumentCost {
    pub(super) fn new(rounds: &[Round<'_>]) -> Self {
        let costs: Vec<f64> = rounds.iter().map(|round| cost(&round.figures)).collect();
        Self {
            requests_per_cpu_second: median(&costs),
            interval: geometric_mean_interval(&costs),
            ratio: RatioOutcome::NotCompared,
        }
    }

    fn compare(&mut self, own: &CellId, other: &CellId, rows: &[Row]) {
        let both = paired_figures((own, rows), (other, rows));
        let spins = |figures: &RoundFigures| figures.spinning.generator;
        self.ratio = RatioOutcome::new(match both.iter().any(|(a, b)| spins(a) || spins(b)) {
            true => Err(NoRatio::Spinning),
            false => ratio_of(&both, cost),
        });
    }
}

/// Not finite where the instrument spins: its CPU time says nothing.
fn cost(figures: &RoundFigures) -> f64 {
    match figures.spinning.generator {
        true => f64::NAN,
        false => figures.requests_per_second / figures.generator_cpu,
    }
}

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
            summary.instrument_cost.compare(&cell.id, first, rows);
        }
    }
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
    for case in table.cases() {
        layout.heading(format!("--C={} {}", case.connections, table.streams(case)));
        for cell in table.of_case(case) {
            if let Some(summary) = cell.summary() {
                let cost = &summary.instrument_cost;
                layout.fields(vec![
                    table.row_name(cell),
                    or_none(cost.requests_per_cpu_second.map(rate_text)),
                    interval(cost.interval, rate_text),
                    ratio(&cost.ratio),
                    interval(ratio_interval(&cost.ratio), significant_text),
                    super::cpu_text(summary.generator_busy),
                ]);
            }
        }
    }
    Some(layout.to_string())
}
