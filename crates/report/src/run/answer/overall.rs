//! One ratio for many cases: in each round the geometric mean over the cases, so that the rounds
//! give it an interval as they give one to each case.

use bookend_results::grouping::{each_once, grouped};
use bookend_results::measurement::{CellId, Row};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::round::MeasuredRound;
use bookend_results::statistics::{Ratio, paired_ratio};
use bookend_results::suite::{Case, Plan};
use bookend_results::table::{Cell, Rank, Table, counterpart, instrument_group};
use std::collections::{BTreeMap, BTreeSet};

/// Who has fewer of the cases than this share of the most is not compared with the others: figures
/// over other cases are other figures.
const CASES_SHARE_MIN: f64 = 0.75;

/// A subject's ratio to the baseline over several cases.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overall {
    /// The subject.
    pub(super) subject: String,
    /// Its cells, each with that of the baseline.
    pub(super) cells: Vec<(CellId, CellId)>,
    /// The ratio of the geometric means.
    pub(super) ratio: Ratio,
    /// The least ratio of a case.
    pub(super) least: f64,
    /// The largest.
    pub(super) most: f64,
}

/// Instruments by which subjects can be compared: one, or those that subjects bring themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    key: String,
    /// The instruments, in the order of the plan.
    pub(super) instruments: Vec<String>,
}

/// All ratios to the baseline.
pub(super) struct Overalls<'a> {
    baseline: String,
    groups: Vec<Group>,
    cells: Vec<Compared<'a>>,
    costs: BTreeMap<(u32, &'a CellId), f64>,
}

/// A cell that has a ratio to the baseline.
struct Compared<'a> {
    cell: &'a Cell,
    with: CellId,
    key: String,
    ratio: f64,
}

impl<'a> Overalls<'a> {
    /// Of a run.
    pub(super) fn of(plan: &Plan, table: &'a Table, rows: &'a [Row]) -> Self {
        let baseline = plan.baseline();
        let name = baseline.map_or(String::new(), |baseline| baseline.name.clone());
        let cells: Vec<Compared<'a>> = table
            .cells
            .iter()
            .filter(|cell| cell.rank == Rank::Ranked)
            .filter_map(|cell| {
                let ratio = cell.summary()?.ratios.cost_ratio.ratio()?.median;
                let (with, key) =
                    (counterpart(&cell.id, baseline?), instrument_group(&cell.id, &name));
                Some(Compared { cell, with, key, ratio })
            })
            .collect();
        let keys = cells.iter().map(|one| (one.key.clone(), one.cell.id.instrument.clone()));
        let groups = grouped(keys)
            .into_iter()
            .map(|(key, names)| Group { key, instruments: each_once(names) })
            .collect();
        Self { baseline: name, groups, cells, costs: costs(rows) }
    }

    /// The subject that ratios compare with.
    pub(super) fn baseline(&self) -> &str {
        &self.baseline
    }

    /// All groups, in the order of the plan.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group with the most cells; of several the first.
    pub(super) fn main(&self) -> Option<&Group> {
        let count = |group: &Group| self.cells.iter().filter(|one| one.key == group.key).count();
        // The last of equal ones would be taken.
        self.groups.iter().rev().max_by_key(|group| count(group))
    }

    /// The subjects of a group over the cases that all of them have, the cheapest first. A subject
    /// with few of the cases is left out, and one with cells of another run than the others'.
    pub(super) fn standings(&self, group: &Group) -> Vec<Overall> {
        let own = self.cells.iter().filter(|one| one.key == group.key);
        let by_subject = grouped(own.map(|one| (&one.cell.id.subject, one)));
        let most = by_subject.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let enough = (most as f64 * CASES_SHARE_MIN).ceil() as usize;
        let is_of_one_run = |cells: &[&Compared<'_>]| cells.iter().all(|one| one.cell.run == 0);
        let compared: Vec<(&String, Vec<&Compared<'a>>)> = by_subject
            .into_iter()
            .filter(|(_, cells)| cells.len() >= enough && is_of_one_run(cells))
            .collect();
        let shared = compared
            .iter()
            .map(|(_, cells)| cells.iter().map(|one| one.cell.case).collect::<BTreeSet<Case>>())
            .reduce(|all, own| all.intersection(&own).copied().collect())
            .unwrap_or_default();
        let mut standings: Vec<Overall> = compared
            .iter()
            .filter_map(|(subject, cells)| {
                let own: Vec<_> =
                    cells.iter().filter(|one| shared.contains(&one.cell.case)).copied().collect();
                self.overall(subject, &own)
            })
            .collect();
        standings.sort_by(|a, b| b.ratio.median.total_cmp(&a.ratio.median));
        standings
    }

    /// One over the other, over the same cases.
    pub(super) fn between(&self, one: &Overall, other: &Overall) -> Option<Ratio> {
        let pairs: Vec<_> = one
            .cells
            .iter()
            .filter_map(|(cell, _)| {
                let of_case = other.cells.iter().find(|(theirs, _)| theirs.case == cell.case)?;
                Some((cell.clone(), of_case.0.clone()))
            })
            .collect();
        self.ratio(&pairs)
    }

    fn overall(&self, subject: &str, cells: &[&Compared<'a>]) -> Option<Overall> {
        let pairs: Vec<(CellId, CellId)> =
            cells.iter().map(|one| (one.cell.id.clone(), one.with.clone())).collect();
        let ratios = || cells.iter().map(|one| one.ratio);
        Some(Overall {
            subject: subject.to_owned(),
            ratio: self.ratio(&pairs)?,
            cells: pairs,
            least: ratios().fold(f64::INFINITY, f64::min),
            most: ratios().fold(0.0, f64::max),
        })
    }

    /// The geometric mean over the pairs, of each round that has all of them.
    fn ratio(&self, pairs: &[(CellId, CellId)]) -> Option<Ratio> {
        let (first, _) = pairs.first()?;
        let rounds = self.costs.keys().filter(|(_, cell)| *cell == first).map(|(round, _)| *round);
        let of_round = |round: u32| {
            let logs = pairs
                .iter()
                .map(|(own, other)| {
                    let cost = |cell| self.costs.get(&(round, cell));
                    Some((cost(own)? / cost(other)?).ln())
                })
                .collect::<Option<Vec<f64>>>()?;
            Some(((logs.iter().sum::<f64>() / logs.len() as f64).exp(), 1.0))
        };
        paired_ratio(&rounds.filter_map(of_round).collect::<Vec<_>>()).ok()
    }
}

/// Requests per CPU-second by round and cell.
fn costs(rows: &[Row]) -> BTreeMap<(u32, &CellId), f64> {
    rows.iter()
        .filter_map(|row| {
            let cost = REQUESTS_PER_CPU_SECOND.of_round(&MeasuredRound::of(row, None)?)?;
            (cost.is_finite() && cost > 0.0).then_some(((row.round, &row.cell), cost))
        })
        .collect()
}
