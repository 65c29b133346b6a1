//! One ranking of the subjects of a run, by the CPU time that a request costs them.
//!
//! In each round the geometric mean over the cases is taken, so that the rounds give a ratio over
//! many cases an interval as they give one to each case. All figures of a ranking are over the same
//! cases, those that every ranked subject has. So that nobody is first for having skipped a hard
//! case, a subject that lacks cases stands behind those that lack fewer, as in a race one that did
//! not finish. A subject that lacks too many is not ranked: too few cases would be left.

use crate::failed_share::FailedShare;
use crate::grouping::{each_once, grouped};
use crate::measurement::{CellId, Row};
use crate::metric::REQUESTS_PER_CPU_SECOND;
use crate::record::run_of;
use crate::round::MeasuredRound;
use crate::statistics::{Interval, Ratio, median, paired_ratio};
use crate::suite::{Case, Plan};
use crate::table::{Cell, Rank, Table, counterpart, instrument_group};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A ranking is over at least this share of the cases of the subject that has the most of them.
const CASES_SHARE_MIN: f64 = 0.75;

/// The rankings of a run, one for each group of instruments.
pub struct Rankings<'a> {
    baseline: String,
    groups: Vec<InstrumentGroup>,
    /// All cells but calibration lines, each with the key of its group.
    cells: Vec<(String, &'a Cell)>,
    /// Those that have a ratio to the baseline.
    compared: Vec<Compared<'a>>,
    costs: BTreeMap<(u32, &'a CellId), f64>,
}

/// Instruments by which subjects can be compared: one, or those that subjects bring themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrumentGroup {
    key: String,
    /// The instruments, in the order of the plan.
    pub instruments: Vec<String>,
}

/// The subjects of one group of instruments.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The cases that all figures are over.
    pub cases: BTreeSet<Case>,
    /// How many cases there are in which a subject has a figure.
    pub known_cases: usize,
    /// Those that are compared, the baseline among them: whoever lacks the fewest cases first, and
    /// of those the cheapest.
    pub subjects: Vec<RankedSubject>,
    /// Those that are not, in the order of the plan.
    pub unranked: Vec<UnrankedSubject>,
}

/// A subject that is not ranked: it has too few of the cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrankedSubject {
    /// The subject.
    pub name: String,
    /// Whether some of its cases were measured in a run that was joined to a record. Figures of
    /// different runs are not ranked.
    pub is_joined: bool,
}

/// A subject over the cases of its ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedSubject {
    /// The subject.
    pub name: String,
    /// Whether it is the one that ratios compare with.
    pub is_baseline: bool,
    /// Requests per CPU-second over those of the baseline: the geometric mean over the cases. Of
    /// the baseline, 1.
    pub ratio: Ratio,
    /// The least ratio of a case.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// CPU time a request, nanoseconds: the geometric mean over the cases in the median round.
    pub cost_ns: f64,
    /// The cases in which another subject has a figure, and it has none.
    pub missing: Vec<Case>,
    /// The case of the ranking in which the largest share of its calls failed. `None`: none did.
    pub failed: Option<(FailedShare, Case)>,
    cells: Vec<CellId>,
}

/// A cell that has a ratio to the baseline.
struct Compared<'a> {
    cell: &'a Cell,
    with: CellId,
    key: String,
    ratio: f64,
}

/// The cells of a subject.
type Entrant<'r, 'a> = (&'a String, Vec<&'r Compared<'a>>);

impl Ranking {
    /// Those that are compared with the baseline.
    pub fn others(&self) -> impl Iterator<Item = &RankedSubject> {
        self.subjects.iter().filter(|one| !one.is_baseline)
    }

    /// The subject that they are compared with.
    pub fn baseline(&self) -> &RankedSubject {
        self.subjects.iter().find(|one| one.is_baseline).expect("a ranking has it")
    }

    /// Whether a subject behind this one, because it lacks more cases, is cheaper in the others.
    pub fn is_undercut(&self, one: &RankedSubject) -> bool {
        let undercuts = |other: &RankedSubject| {
            other.missing.len() > one.missing.len() && other.cost_ns < one.cost_ns
        };
        self.subjects.iter().any(undercuts)
    }
}

impl<'a> Rankings<'a> {
    /// Of a run.
    pub fn of(plan: &Plan, table: &'a Table, rows: &'a [Row]) -> Self {
        let baseline = plan.baseline();
        let name = baseline.map_or(String::new(), |baseline| baseline.name.clone());
        let keyed = |cell: &'a Cell| (instrument_group(&cell.id, &name), cell);
        let ranked = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration);
        let cells: Vec<(String, &Cell)> = ranked.map(keyed).collect();
        let compared: Vec<Compared<'a>> = cells
            .iter()
            .filter(|(_, cell)| cell.run == 0)
            .filter_map(|(key, cell)| {
                let ratio = cell.summary()?.ratios.cost_ratio.ratio()?.median;
                let with = counterpart(&cell.id, baseline?);
                Some(Compared { cell, with, key: key.clone(), ratio })
            })
            .collect();
        let instruments = |key: &String| {
            let own = cells.iter().filter(|(its, _)| its == key);
            each_once(own.map(|(_, cell)| cell.id.instrument.clone()))
        };
        let groups = each_once(compared.iter().map(|one| one.key.clone()))
            .into_iter()
            .map(|key| InstrumentGroup { instruments: instruments(&key), key })
            .collect();
        Self { baseline: name, groups, cells, compared, costs: costs(plan, rows) }
    }

    /// The subject that ratios compare with.
    pub fn baseline(&self) -> &str {
        &self.baseline
    }

    /// All groups in which something is compared, in the order of the plan.
    pub fn groups(&self) -> &[InstrumentGroup] {
        &self.groups
    }

    /// The group with the most compared cells; of several the first.
    pub fn main(&self) -> Option<&InstrumentGroup> {
        let count = |group: &InstrumentGroup| self.of_group(group).count();
        // The last of equal ones would be taken.
        self.groups.iter().rev().max_by_key(|group| count(group))
    }

    /// The ranking of a group. `None`: nobody's cases were measured in rounds with the baseline's.
    pub fn ranking(&self, group: &InstrumentGroup) -> Option<Ranking> {
        let (entrants, cases) = self.entrants(group);
        let known = self.known_cases(group);
        let mut subjects: Vec<RankedSubject> = entrants
            .iter()
            .filter_map(|(name, cells)| {
                let ratios = || cells.iter().map(|one| one.ratio);
                let range = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
                let [own, with] = both_cells(cells);
                let ratio = self.ratio(&own, &with)?;
                Some(self.subject(name, own, (ratio, range), &known))
            })
            .collect();
        let pairs = subjects.first()?.ratio.pairs;
        let [_, cells] = both_cells(&entrants.first()?.1);
        let one = Interval { low: 1.0, high: 1.0 };
        let ratio = Ratio { median: 1.0, interval: Some(one), pairs };
        subjects.push(self.subject(&self.baseline, cells, (ratio, (1.0, 1.0)), &known));
        subjects.sort_by(|a, b| {
            let lacking = a.missing.len().cmp(&b.missing.len());
            lacking.then(a.cost_ns.total_cmp(&b.cost_ns))
        });
        let own = self.cells.iter().filter(|(key, _)| *key == group.key);
        let unranked = grouped(own.map(|(_, cell)| (&cell.id.subject, cell.run)))
            .into_iter()
            .filter(|(name, _)| subjects.iter().all(|one| one.name != **name))
            .map(|(name, runs)| UnrankedSubject {
                name: name.clone(),
                is_joined: runs.iter().any(|run| *run > 0),
            })
            .collect();
        Some(Ranking { cases, known_cases: known.len(), subjects, unranked })
    }

    /// A subject's cell in a case, by the instruments of a group. `None`: it was not planned.
    pub fn cell(&self, group: &InstrumentGroup, name: &str, case: Case) -> Option<&'a Cell> {
        let is_it = |cell: &Cell| cell.case == case && cell.id.subject == name;
        let own = self.cells.iter().filter(|(key, _)| *key == group.key);
        own.map(|(_, cell)| *cell).find(|cell| is_it(cell))
    }

    /// Requests per CPU-second of one over those of another of the same ranking.
    pub fn between(&self, one: &RankedSubject, other: &RankedSubject) -> Option<Ratio> {
        self.ratio(&one.cells, &other.cells)
    }

    fn of_group(&self, group: &InstrumentGroup) -> impl Iterator<Item = &Compared<'a>> {
        self.compared.iter().filter(|one| one.key == group.key)
    }

    /// The subjects that are compared, and over which cases: those with the most cases first, then
    /// in the order of the plan, as long as enough cases are left that all have.
    fn entrants(&self, group: &InstrumentGroup) -> (Vec<Entrant<'_, 'a>>, BTreeSet<Case>) {
        let mut all = grouped(self.of_group(group).map(|one| (&one.cell.id.subject, one)));
        let place = |name: &str| self.cells.iter().position(|(_, cell)| cell.id.subject == name);
        all.sort_by_key(|(name, cells)| (Reverse(cells.len()), place(name)));
        let most = all.first().map_or(0, |(_, cells)| cells.len());
        let enough = (most as f64 * CASES_SHARE_MIN).ceil() as usize;
        let (mut entrants, mut shared) = (Vec::new(), None);
        for (name, cells) in all {
            let own: BTreeSet<Case> = cells.iter().map(|one| one.cell.case).collect();
            let common = shared.as_ref().map_or(own.clone(), |shared| &own & shared);
            let mut left = cells.clone();
            left.retain(|one| common.contains(&one.cell.case));
            let [own, with] = both_cells(&left);
            if common.len() >= enough && self.ratio(&own, &with).is_some() {
                entrants.push((name, cells));
                shared = Some(common);
            }
        }
        let shared = shared.unwrap_or_default();
        for (_, cells) in &mut entrants {
            cells.retain(|one| shared.contains(&one.cell.case));
        }
        (entrants, shared)
    }

    /// The cases of a group in which somebody has a figure, and who that is.
    fn known_cases(&self, group: &InstrumentGroup) -> Vec<(Case, Vec<&str>)> {
        let counterparts: BTreeSet<&CellId> = self.of_group(group).map(|one| &one.with).collect();
        let is_of =
            |key: &String, cell: &Cell| *key == group.key || counterparts.contains(&cell.id);
        let own = self.cells.iter().filter(|(key, cell)| is_of(key, cell));
        let known = own.filter(|(_, cell)| has_figure(cell));
        grouped(known.map(|(_, cell)| (cell.case, cell.id.subject.as_str())))
    }

    fn subject(
        &self,
        name: &str,
        cells: Vec<CellId>,
        (ratio, (least, most)): (Ratio, (f64, f64)),
        known: &[(Case, Vec<&str>)],
    ) -> RankedSubject {
        let rounds = cells.iter().take(1).flat_map(|cell| self.rounds(cell));
        let rates: Vec<f64> = rounds.filter_map(|round| self.mean(round, &cells)).collect();
        let lacks = |(_, who): &&(Case, Vec<&str>)| !who.contains(&name);
        RankedSubject {
            name: name.to_owned(),
            is_baseline: name == self.baseline,
            ratio,
            least,
            most,
            cost_ns: 1e9 / median(&rates).unwrap_or(f64::NAN),
            missing: known.iter().filter(lacks).map(|(case, _)| *case).collect(),
            failed: self.failed_most(&cells),
            cells,
        }
    }

    /// The largest share of failed calls of these cells, and where that is.
    fn failed_most(&self, cells: &[CellId]) -> Option<(FailedShare, Case)> {
        let own = self.cells.iter().map(|(_, cell)| *cell).filter(|cell| cells.contains(&cell.id));
        own.filter_map(|cell| Some((cell.failed_share()?, cell.case)))
            .reduce(|most, one| if one.0 > most.0 { one } else { most })
    }

    /// Of the geometric means over cells of the same cases, from the rounds that have all of them.
    fn ratio(&self, own: &[CellId], other: &[CellId]) -> Option<Ratio> {
        let of_round = |round| Some((self.mean(round, own)?, self.mean(round, other)?));
        let pairs: Vec<_> = self.rounds(own.first()?).filter_map(of_round).collect();
        paired_ratio(&pairs).ok()
    }

    /// The rounds that have a figure of a cell.
    fn rounds(&self, cell: &CellId) -> impl Iterator<Item = u32> {
        self.costs.keys().filter(move |(_, own)| *own == cell).map(|(round, _)| *round)
    }

    /// The geometric mean of the requests per CPU-second of cells in a round, if all have one.
    fn mean(&self, round: u32, cells: &[CellId]) -> Option<f64> {
        let logs = cells.iter().map(|cell| Some(self.costs.get(&(round, cell))?.ln()));
        Some((logs.sum::<Option<f64>>()? / cells.len() as f64).exp())
    }
}

/// The cells of a subject, and those of the baseline.
fn both_cells(compared: &[&Compared<'_>]) -> [Vec<CellId>; 2] {
    let of = |cell: fn(&Compared<'_>) -> CellId| compared.iter().map(|one| cell(one)).collect();
    [of(|one| one.cell.id.clone()), of(|one| one.with.clone())]
}

fn has_figure(cell: &Cell) -> bool {
    let rate = cell.summary().and_then(|summary| summary.value(&REQUESTS_PER_CPU_SECOND));
    cell.run == 0 && rate.is_some_and(|rate| rate > 0.0)
}

/// Requests per CPU-second by round and cell, in the record's own run.
fn costs<'a>(plan: &Plan, rows: &'a [Row]) -> BTreeMap<(u32, &'a CellId), f64> {
    rows.iter()
        .filter(|row| run_of(plan, row) == 0)
        .filter_map(|row| {
            let cost = REQUESTS_PER_CPU_SECOND.of_round(&MeasuredRound::of(row, None)?)?;
            (cost.is_finite() && cost > 0.0).then_some(((row.round, &row.cell), cost))
        })
        .collect()
}
