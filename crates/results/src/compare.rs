//! Compares two results: paired by round and case, with intervals by which a gate is judged.

use crate::failed_share::FailedShare;
use crate::gate::{known_inverse, known_ratio};
use crate::measurement::{CellId, Measurement, Row};
use crate::metric::{MetricDefinition, REQUESTS_PER_CLIENT_CPU_SECOND, REQUESTS_PER_CPU_SECOND};
use crate::round::{MeasuredRound, MeasuredRounds};
use crate::statistics::{NoRatio, Ratio, paired_ratio};
use crate::store::RunId;
use crate::suite::Case;
use bookend_contract::gate::{Gate, JudgedGate};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What the user names as one side of a comparison. `FromStr` reads `12` (a run), `rust-tonic`
/// (that subject in the latest run) and `12:rust-tonic` (that subject in that run).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideName {
    /// The run. `None`: the latest.
    pub run: Option<RunId>,
    /// The subject. `None`: every subject of the run, each against its namesake.
    pub subject: Option<String>,
}

impl FromStr for SideName {
    type Err = SideError;

    fn from_str(text: &str) -> Result<Self, SideError> {
        let malformed = || SideError(text.to_owned());
        let (run, subject) = match text.split_once(':') {
            Some((run, subject)) => (Some(run), Some(subject)),
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => (Some(text), None),
            None => (None, Some(text)),
        };
        if subject == Some("") {
            return Err(malformed());
        }
        let run =
            run.map(|digits| digits.parse().map(RunId).map_err(|_| malformed())).transpose()?;
        Ok(Self { run, subject: subject.map(str::to_owned) })
    }
}

/// A side that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no result: write a run as 12, a subject of the latest run as rust-tonic, or both \
     as 12:rust-tonic"
)]
pub struct SideError(String);

/// One side of a comparison: the rows of a run, of one subject or of all.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSide<'a> {
    /// The run that the rows are from.
    pub run: RunId,
    /// The run's rows.
    pub rows: &'a [Row],
    /// Only this subject's rows. `None`: every subject's.
    pub subject: Option<&'a str>,
}

/// A compared pair of cells. A cell that only one side has is listed too, without a ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedCell {
    /// The case.
    pub case: Case,
    /// The instrument that made the load.
    pub instrument: String,
    /// Subject of the first side.
    pub a: String,
    /// Subject of the second side.
    pub b: String,
    /// A over B.
    pub ratio: Result<Ratio, NoRatio>,
    /// The share of failed calls in the cell of A, and in that of B. `None`: no call failed.
    pub failed: [Option<FailedShare>; 2],
}

/// The comparison of two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The metric that was compared.
    pub metric: &'static MetricDefinition,
    /// Pairs of cells, by case, in the order of the first side.
    pub cells: Vec<ComparedCell>,
    /// Whether both sides were measured in the same run. If not, whatever changed between the two
    /// runs is part of the ratio.
    pub interleaved: bool,
}

/// Why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The two sides are the same.
    #[error("both sides are the same result")]
    SameSide,
    /// Only one of the two sides names a subject.
    #[error(
        "one side is a subject and the other a whole run: name the subject on both sides, as \
         11:rust-tonic 12:rust-tonic, or on neither"
    )]
    SubjectAgainstRun,
    /// The two sides have no case and instrument in common.
    #[error("the two results have no case and instrument in common")]
    NothingInCommon,
}

/// Compares A with B in each case and instrument, round by round.
///
/// # Errors
/// When the sides are the same, when only one names a subject, or when they have nothing in common.
pub fn compare(
    a: &ComparedSide<'_>,
    b: &ComparedSide<'_>,
    metric: &'static MetricDefinition,
) -> Result<Comparison, CompareError> {
    if a.run == b.run && a.subject == b.subject {
        return Err(CompareError::SameSide);
    }
    if a.subject.is_some() != b.subject.is_some() {
        return Err(CompareError::SubjectAgainstRun);
    }
    let pairs = pairs_of_cells(a, b);
    let both = |(a_cell, b_cell): &(CellId, CellId)| a.has(a_cell) && b.has(b_cell);
    if !pairs.iter().any(both) {
        return Err(CompareError::NothingInCommon);
    }
    let ratio = |a_cell: &CellId, b_cell: &CellId| {
        let ratio = ratio_of(metric, (a_cell, a.rows), (b_cell, b.rows))?;
        // A build that breaks in most rounds must not pass on the strength of the others.
        let has_failed = a.has_failed(a_cell) || b.has_failed(b_cell);
        if has_failed { Err(NoRatio::NotPositive) } else { Ok(ratio) }
    };
    let cells = pairs
        .into_iter()
        .map(|(a_cell, b_cell)| ComparedCell {
            ratio: ratio(&a_cell, &b_cell),
            failed: [a.failed_share(&a_cell), b.failed_share(&b_cell)],
            case: a_cell.case,
            instrument: a_cell.instrument,
            a: a_cell.subject,
            b: b_cell.subject,
        })
        .collect();
    Ok(Comparison { metric, cells, interleaved: a.run == b.run })
}

impl Comparison {
    /// Judges each cell by its ratio of A to B, or of B to A where the gate names the subject of B.
    /// A cell without a ratio decides nothing: a build must not pass because a subject failed.
    pub fn judge(&self, gate: &Gate) -> Vec<JudgedGate> {
        let known = |cell: &ComparedCell| {
            let ratio = cell.ratio.map_err(|why| format!("no ratio: {why}"))?;
            match gate.condition.figure == cell.b && cell.a != cell.b {
                true => known_inverse(ratio.median, ratio.interval),
                false => known_ratio(ratio.median, ratio.interval),
            }
        };
        let judge = |cell: &ComparedCell| {
            let mut judged = gate.judge(known(cell));
            judged.measured += &format!(" at {}, {}", cell.case, cell.name());
            judged.measured += &cell.failed_clause();
            judged
        };
        self.cells.iter().map(judge).collect()
    }
}

impl ComparedCell {
    /// What follows its ratio where that many calls failed: `, while 26.4 % of rust-tonic's calls
    /// failed`.
    pub fn failed_clause(&self) -> String {
        let [a, b] = self.failed;
        let (of_a, of_b) = match self.a == self.b {
            true => ("A".to_owned(), "B".to_owned()),
            false => (self.a.clone(), self.b.clone()),
        };
        FailedShare::clause([(a, of_a), (b, of_b)])
    }

    /// What is compared, and through what: `rust-tonic / rust-pajamax via ghz`.
    pub fn name(&self) -> String {
        let Self { a, b, instrument, .. } = self;
        let subjects = if a == b { a.clone() } else { format!("{a} / {b}") };
        format!("{subjects} via {instrument}")
    }
}

impl ComparedSide<'_> {
    fn has(&self, cell: &CellId) -> bool {
        self.rows.iter().any(|row| row.cell == *cell)
    }

    fn failed_share(&self, cell: &CellId) -> Option<FailedShare> {
        let own = self.rows.iter().filter(|row| row.cell == *cell);
        FailedShare::of_rounds(&MeasuredRounds::of(own, None))
    }

    fn has_failed(&self, cell: &CellId) -> bool {
        self.rows.iter().any(|row| row.cell == *cell && row.outcome.has_failed())
    }

    /// Its cells as if they were of that subject, if one is named.
    fn cells_as(&self, subject: Option<&str>) -> impl Iterator<Item = CellId> {
        let selected = |row: &&Row| self.subject.is_none_or(|name| row.cell.subject == name);
        self.rows.iter().filter(selected).map(move |row| renamed(&row.cell, subject))
    }
}

fn renamed(cell: &CellId, subject: Option<&str>) -> CellId {
    CellId { subject: subject.unwrap_or(&cell.subject).to_owned(), ..cell.clone() }
}

/// The ratio of a metric in two cells, from the rounds that measured both.
///
/// # Errors
/// When the rounds yield no ratio, when an end spins in one cell and sleeps in the other, when the
/// metric divides by the CPU time of an end that spins, or when a window cut off what it measures.
pub fn ratio_of(
    metric: &MetricDefinition,
    own: (&CellId, &[Row]),
    other: (&CellId, &[Row]),
) -> Result<Ratio, NoRatio> {
    let others = rounds_of(other);
    let pairs: Vec<_> = rounds_of(own)
        .into_iter()
        .filter_map(|(number, round)| Some((round, others.get(&number)?)))
        .collect();
    let spins = |window: &Measurement| {
        (*metric == REQUESTS_PER_CPU_SECOND && window.tested_end_spins())
            || (*metric == REQUESTS_PER_CLIENT_CPU_SECOND && window.spinning.generator)
    };
    let differ = |own: &Measurement, other: &Measurement| own.spinning != other.spinning;
    let is_spoilt = pairs
        .iter()
        .map(|(own, other)| (own.window, other.window))
        .any(|(own, other)| differ(own, other) || spins(own) || spins(other));
    if is_spoilt {
        return Err(NoRatio::Spinning);
    }
    let is_cut_off = |round: &MeasuredRound<'_>| metric.is_cut_off_in(round);
    if pairs.iter().any(|(own, other)| is_cut_off(own) || is_cut_off(other)) {
        return Err(NoRatio::CutOff);
    }
    let figure = |round: &MeasuredRound<'_>| metric.of_round(round).unwrap_or(f64::NAN);
    let figures: Vec<_> = pairs.iter().map(|(own, other)| (figure(own), figure(other))).collect();
    paired_ratio(&figures)
}

fn rounds_of<'a>((cell, rows): (&CellId, &'a [Row])) -> BTreeMap<u32, MeasuredRound<'a>> {
    rows.iter()
        .filter(|row| row.cell == *cell)
        .filter_map(|row| Some((row.round, MeasuredRound::of(row, None)?)))
        .collect()
}

/// Sorts cases by their numbers, then by their words.
fn case_order(case: Case) -> (u32, u32, String) {
    (case.connections, case.concurrency, case.streams(false))
}

/// Every cell of A with its partner in B, and every cell of B that has no partner in A.
fn pairs_of_cells(a: &ComparedSide<'_>, b: &ComparedSide<'_>) -> Vec<(CellId, CellId)> {
    let own: BTreeSet<_> = a
        .cells_as(a.subject)
        .chain(b.cells_as(a.subject))
        .map(|cell| (case_order(cell.case), cell))
        .collect();
    let partner = |cell: &CellId| renamed(cell, b.subject);
    own.into_iter().map(|(_, cell)| (cell.clone(), partner(&cell))).collect()
}
