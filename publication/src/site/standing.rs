//! How the systems of a suite stand: what a request costs each, over what it costs the cheapest.

use bookend_results::grouping::{each_once, grouped};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::suite::{Case, Plan};
use bookend_results::table::{Cell, Rank, Table, instrument_group};
use std::collections::BTreeMap;

/// A case without a figure counts as so many times the cost of the dearest that has one.
pub(super) const PENALTY: f64 = 2.0;

/// Who has fewer of the cases than this share is not ranked: most of the mean would be penalties.
const CASES_SHARE_MIN: f64 = 0.75;

/// The systems of a suite, the cheapest first.
pub(super) struct SuiteStanding {
    /// The instruments through which they are compared.
    pub(super) instruments: Vec<String>,
    /// The cases.
    pub(super) cases: Vec<Case>,
    /// Those that were measured in enough of the cases.
    pub(super) systems: Vec<SystemStanding>,
    /// Those that were not, by name.
    pub(super) left_out: Vec<String>,
    /// Those with cells of another run than the others'.
    pub(super) of_other_runs: Vec<String>,
}

/// A system.
pub(super) struct SystemStanding {
    /// The subject.
    pub(super) name: String,
    /// CPU time a request over that of the cheapest of each case: the geometric mean.
    pub(super) over_best: f64,
    /// CPU time a request, nanoseconds: the geometric mean over the cases that have a figure.
    pub(super) cost_ns: f64,
    /// The cases that count with the penalty, each with the word for it.
    pub(super) missing: Vec<String>,
}

impl SuiteStanding {
    /// Of the instruments with the most cells. `None`: nobody's cost is known.
    pub(super) fn of(plan: &Plan, table: &Table) -> Option<Self> {
        let baseline = plan.baseline().map_or("", |baseline| baseline.name.as_str());
        let ranked = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration);
        let groups = grouped(ranked.map(|cell| (instrument_group(&cell.id, baseline), cell)));
        let measured = |cells: &[&Cell]| cells.iter().filter_map(|cell| cost_of(cell)).count();
        // Of equal ones the first.
        let (_, cells) = groups.into_iter().rev().max_by_key(|(_, cells)| measured(cells))?;
        let instruments = each_once(cells.iter().map(|cell| cell.id.instrument.clone()));
        let cases =
            each_once(cells.iter().filter(|cell| cost_of(cell).is_some()).map(|cell| cell.case));
        let by_system = grouped(cells.into_iter().map(|cell| (cell.id.subject.clone(), cell)));
        let is_other = |cell: &&Cell| cell.run > 0;
        let (of_other_runs, by_system): (Vec<_>, Vec<_>) =
            by_system.into_iter().partition(|(_, cells)| cells.iter().any(is_other));
        let has_enough = |cells: &[&Cell]| {
            let planned = cells.iter().filter(|cell| cases.contains(&cell.case)).count();
            planned as f64 >= CASES_SHARE_MIN * cases.len() as f64
        };
        let (ranked, others): (Vec<_>, Vec<_>) =
            by_system.into_iter().partition(|(_, cells)| has_enough(cells));
        let ranges = ranges(ranked.iter().flat_map(|(_, cells)| cells));
        let mut systems: Vec<SystemStanding> = ranked
            .into_iter()
            .filter_map(|(name, cells)| SystemStanding::of(name, &cells, &cases, &ranges))
            .collect();
        systems.sort_by(|a, b| a.over_best.total_cmp(&b.over_best));
        let names = |systems: Vec<(String, Vec<&Cell>)>| {
            systems.into_iter().map(|(name, _)| name).collect()
        };
        let (left_out, of_other_runs) = (names(others), names(of_other_runs));
        let standing = Self { instruments, cases, systems, left_out, of_other_runs };
        (!standing.systems.is_empty()).then_some(standing)
    }
}

impl SystemStanding {
    fn of(
        name: String,
        cells: &[&Cell],
        cases: &[Case],
        ranges: &BTreeMap<Case, (f64, f64)>,
    ) -> Option<Self> {
        let (mut logs, mut costs, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for case in cases {
            let (least, most) = ranges.get(case)?;
            let cell = cells.iter().find(|cell| cell.case == *case);
            match cell.and_then(|cell| cost_of(cell)) {
                Some(cost) => {
                    logs.push((cost / least).ln());
                    costs.push(cost.ln());
                }
                None => {
                    logs.push((PENALTY * most / least).ln());
                    missing.push(format!("{case} ({})", word(cell)));
                }
            }
        }
        let mean = |logs: &[f64]| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let (over_best, cost_ns) = (mean(&logs), mean(&costs));
        (!costs.is_empty()).then_some(Self { name, over_best, cost_ns, missing })
    }
}

fn word(cell: Option<&&Cell>) -> String {
    use bookend_results::table::CellResult::{Measured, NotMeasured};
    match cell.map(|cell| &cell.result) {
        None => "not planned".to_owned(),
        Some(Measured(_)) => "spins".to_owned(),
        Some(NotMeasured { why, .. }) => why.to_string(),
    }
}

/// CPU time a request, nanoseconds, in the first of several runs.
fn cost_of(cell: &Cell) -> Option<f64> {
    let rate = cell.summary()?.value(&REQUESTS_PER_CPU_SECOND)?;
    (rate > 0.0 && cell.run == 0).then(|| 1e9 / rate)
}

/// The least and the largest cost in each case.
fn ranges<'a>(cells: impl Iterator<Item = &'a &'a Cell>) -> BTreeMap<Case, (f64, f64)> {
    let mut ranges = BTreeMap::new();
    for cell in cells {
        if let Some(cost) = cost_of(cell) {
            let (least, most) = ranges.entry(cell.case).or_insert((cost, cost));
            *least = cost.min(*least);
            *most = cost.max(*most);
        }
    }
    ranges
}
