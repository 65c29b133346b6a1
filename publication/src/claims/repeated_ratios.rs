//! Suites without claims that were run twice: whether a second run says of each ratio that it is
//! above one, or below, or open.

use super::agreement::{Agreement, begun};
use bookend_report::markdown::wrapped;
use bookend_report::run::ratio_with_interval;
use bookend_results::record::Record;
use bookend_results::statistics::Ratio;
use bookend_results::table::{Cell, CellResult, Table};
use std::cmp::Ordering;

/// A suite that no claim is about, with the records of its two runs.
#[derive(Clone, Debug)]
pub struct SuiteRunTwice {
    pub(super) suite: String,
    pub(super) first: Record,
    pub(super) again: Record,
}

/// A ratio that either run decided.
struct RatioOfRuns {
    name: String,
    runs: [Ratio; 2],
}

impl SuiteRunTwice {
    /// Its line in the table of suites.
    pub(super) fn row(&self) -> Vec<String> {
        let all: Vec<Agreement> = self.ratios().iter().map(RatioOfRuns::agreement).collect();
        let count = |kind| all.iter().filter(|one| **one == kind).count().to_string();
        let name = format!("[{0}](../../suites/{0}/RESULTS.md)", self.suite);
        let fixed = [name, begun(&self.first), begun(&self.again), all.len().to_string()];
        fixed.into_iter().chain(Agreement::ALL.map(count)).collect()
    }

    /// The ratios of which the two runs say different things, a line each.
    pub(super) fn section(&self) -> String {
        let ratios = self.ratios();
        let differing = ratios.iter().filter(|one| one.agreement() != Agreement::Same);
        let lines: String = differing
            .map(|one| {
                let [first, again] = one.runs.map(|ratio| ratio_with_interval(&ratio));
                wrapped(&format!("- **{}**: {first}; again {again}.", one.name), "  ")
            })
            .collect();
        let all_same = || "Every ratio is on the same side of 1.\n".to_owned();
        let lines = if lines.is_empty() { all_same() } else { lines };
        format!("\n## {}\n\n{lines}", self.suite)
    }

    fn ratios(&self) -> Vec<RatioOfRuns> {
        let [first, again] =
            [&self.first, &self.again].map(|run| Table::new(&run.facts.plan, &run.rows));
        let pairs = first
            .cells
            .iter()
            .filter_map(|cell| Some((cell, again.cells.iter().find(|other| other.id == cell.id)?)));
        let ratios = pairs.flat_map(|(cell, other)| {
            let name = format!("{}, {}", cell.case, first.row_name(cell));
            ratios_of(cell).into_iter().zip(ratios_of(other)).filter_map(move |both| {
                let runs = [both.0?, both.1?];
                Some(RatioOfRuns { name: name.clone(), runs })
            })
        });
        ratios.filter(|one| one.runs.iter().any(|ratio| side(ratio).is_some())).collect()
    }
}

/// Requests per CPU-second over those of the baseline, and of the instrument over those of the
/// first one.
fn ratios_of(cell: &Cell) -> [Option<Ratio>; 2] {
    match &cell.result {
        CellResult::Measured(summary) => {
            let ratios = &summary.ratios;
            [ratios.cost_ratio, ratios.instrument_cost_ratio].map(|one| one.ratio().copied())
        }
        _ => [None; 2],
    }
}

/// On which side of 1 its interval lies. `None`: it contains 1, or there is no interval.
fn side(ratio: &Ratio) -> Option<Ordering> {
    ratio.sign().is_empty().then(|| ratio.median.total_cmp(&1.0))
}

impl RatioOfRuns {
    fn agreement(&self) -> Agreement {
        match self.runs.each_ref().map(side) {
            [first, again] if first == again => Agreement::Same,
            [Some(_), Some(_)] => Agreement::Opposite,
            _ => Agreement::OpenInOne,
        }
    }
}
