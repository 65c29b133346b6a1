//! Sums up the rows of all rounds, cell by cell: the values of the tables that people read.

mod cell_marks;
mod cpu_account;
mod found;
mod joined;
mod limit;
mod summary;

pub use cell_marks::rules_of;
pub use cpu_account::CpuAccount;
pub use found::{ACK_WAITS, CLOSES_ON_CUT, CUT, WAITS_ON_ACK};
pub use summary::{Figure, Summary, is_lower_bound};

use crate::compare::ratio_of;
use crate::failed_share::FailedShare;
use crate::grouping::each_once;
use crate::measurement::{CellId, Measurement, NotMeasured, Outcome, Row};
use crate::metric::{REQUESTS_PER_CLIENT_CPU_SECOND, REQUESTS_PER_CPU_SECOND, REQUESTS_PER_SECOND};
use crate::quoted::clipped;
use crate::ratio::{ComparedPair, Ratios};
use crate::record::{first_run, run_of};
use crate::suite::{Case, Plan, PlannedCell, PlannedSubject};
use crate::text::{cpu_text, memory_text};
use bookend_contract::transport::Transport;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The cells of a run, summed up over its rounds, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Every planned cell, measured or not: no row is dropped.
    pub cells: Vec<Cell>,
    /// Whether more than one instrument made load; if so, rows name theirs.
    pub several_instruments: bool,
    /// The features of HTTP/2 and gRPC that each checked server lacks, by subject. Servers that
    /// were never checked are not in it.
    pub skips: BTreeMap<String, Vec<String>>,
}

/// One cell over all rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The cell's key.
    pub id: CellId,
    /// Its case.
    pub case: Case,
    /// Its place among the subjects.
    pub rank: Rank,
    /// The run that its rows are of: 0, but in records that were joined from several.
    #[serde(skip_serializing_if = "is_zero")]
    pub run: u32,
    /// How its rounds ended.
    pub rounds: RoundCounts,
    /// Its figures, or the reason for their absence.
    pub result: CellResult,
}

/// A subject's place in the table. `Display` prints the word that exports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// A subject that is compared with the baseline.
    Ranked,
    /// The subject that ratios compare with.
    Baseline,
    /// A line below the table.
    Calibration,
}

/// How the rounds of a cell ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundCounts {
    /// Planned rounds.
    pub planned: u32,
    /// Measured rounds, from which the figures come.
    pub measured: u32,
    /// Rounds in which something went wrong.
    pub failed: u32,
}

/// The result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellResult {
    /// At least one round was measured.
    Measured(Box<Summary>),
    /// No round was measured.
    NotMeasured {
        /// The word for it.
        why: NotMeasured,
        /// One line from the first round that ended this way.
        reason: String,
    },
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Table {
    /// Sums up the measured rows of `plan`.
    pub fn new(plan: &Plan, rows: &[Row]) -> Self {
        let planned = plan.cells();
        let summed_up = |cell: &PlannedCell| {
            let is_own = |row: &&Row| row.cell == cell.id;
            let rows = first_run(plan, rows, |run| run.iter().any(|row| is_own(&row)));
            let own: Vec<&Row> = rows.iter().filter(is_own).collect();
            let ratios = || ratios(plan, rows, &planned, &cell.id);
            let summary = Summary::new(plan, cell.case, &own, rows, ratios);
            let result = match summary {
                Some(summary) => CellResult::Measured(Box::new(summary)),
                None => not_measured(&own),
            };
            let rank = rank(&plan.subjects[cell.subject]);
            let rounds = round_counts(plan, &own);
            let run = rows.first().map_or(0, |row| run_of(plan, row));
            Cell { case: cell.case, rank, run, rounds, result, id: cell.id.clone() }
        };
        let cells = planned.iter().map(summed_up).collect();
        // An instrument of the plan may measure none of its cases.
        let several_instruments =
            each_once(planned.iter().map(|cell| &cell.id.instrument)).len() > 1;
        Self { cells, several_instruments, skips: BTreeMap::new() }
    }

    /// The cells of one case, in the order of the plan.
    pub fn of_case(&self, case: Case) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| cell.case == case)
    }

    /// The cases in the order of the plan.
    pub fn cases(&self) -> Vec<Case> {
        each_once(self.cells.iter().map(|cell| cell.case))
    }

    /// A case without its connections; with its transport where the table has several.
    pub fn streams(&self, case: Case) -> String {
        let is_other = |cell: &Cell| cell.case.transport != Transport::H2c;
        case.streams(self.cells.iter().any(is_other))
    }

    /// Whether some planned cell has no figures or has fewer rounds than planned.
    pub fn is_partial(&self) -> bool {
        let complete = |cell: &Cell| cell.rounds.measured == cell.rounds.planned;
        !self.cells.iter().all(complete)
    }

    /// Whether no cell at all has figures.
    pub fn is_empty(&self) -> bool {
        !self.cells.iter().any(|cell| cell.summary().is_some())
    }

    /// Whether a call of any cell failed.
    pub fn has_failed_calls(&self) -> bool {
        self.cells.iter().any(|cell| cell.failed_share().is_some())
    }

    /// The share of failed calls of the cell with that key. `None`: none failed, or there is no
    /// such cell.
    pub fn failed_share_of(&self, id: &CellId) -> Option<FailedShare> {
        self.cells.iter().find(|cell| cell.id == *id)?.failed_share()
    }

    /// The name of a row in this table: the subject, and the instrument where there are several,
    /// behind a sign where calls failed.
    pub fn row_name(&self, cell: &Cell) -> String {
        let (subject, other_run) = (cell.marked_subject(), cell.other_run());
        if self.several_instruments {
            format!("{subject} via {}{other_run}", cell.id.instrument)
        } else {
            format!("{subject}{other_run}")
        }
    }
}

impl Cell {
    /// The figures, if there are any.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.result {
            CellResult::Measured(summary) => Some(summary),
            CellResult::NotMeasured { .. } => None,
        }
    }

    /// The share of its calls that failed. `None`: none did, or it was not measured.
    pub fn failed_share(&self) -> Option<FailedShare> {
        self.summary()?.failed_share()
    }

    /// Its subject, behind a sign where calls failed.
    pub fn marked_subject(&self) -> String {
        FailedShare::marked(self.failed_share(), &self.id.subject)
    }
}

fn is_zero(run: &u32) -> bool {
    *run == 0
}

fn rank(subject: &PlannedSubject) -> Rank {
    match (subject.calibration, subject.baseline) {
        (true, _) => Rank::Calibration,
        (false, true) => Rank::Baseline,
        (false, false) => Rank::Ranked,
    }
}

fn round_counts(plan: &Plan, rows: &[&Row]) -> RoundCounts {
    let count = |is: fn(&Outcome) -> bool| {
        let matching = rows.iter().filter(|row| is(&row.outcome)).count();
        u32::try_from(matching).unwrap_or(u32::MAX)
    };
    RoundCounts {
        planned: plan.rounds,
        measured: count(|outcome| matches!(outcome, Outcome::Measured(_))),
        failed: count(|outcome| matches!(outcome, Outcome::Failed { .. })),
    }
}

fn not_measured(rows: &[&Row]) -> CellResult {
    let said = rows.iter().find_map(|row| {
        let (why, reason) = row.outcome.unmeasured()?;
        let spent = row.outcome.window().map(spent_in).unwrap_or_default();
        Some((why, format!("{}{spent}", clipped(reason))))
    });
    let unreached = || (NotMeasured::Unreached, "the run ended before its turn".to_owned());
    let (why, reason) = said.unwrap_or_else(unreached);
    CellResult::NotMeasured { why, reason }
}

/// Figures of a window that failed, as a clause that follows its error.
fn spent_in(window: &Measurement) -> String {
    format!(
        "; in {:.2} s the server used {} of a CPU, its caller {}, peak memory {}",
        window.window_seconds,
        cpu_text(window.server_cpu()),
        cpu_text(window.generator_cpu()),
        memory_text(window.ends.tested().memory_peak_bytes.unwrap_or_default() as f64)
    )
}

/// The load generator whose variants differ in the protocol that they speak, and in nothing else.
const EITHER_PROTOCOL: &str = "bookend-load";

/// The cell of the baseline to compare with: the one with the same instrument or, where a subject
/// brings its own client, the one with the baseline's client of that name. Where the two speak
/// different protocols, it is the same load generator in the baseline's protocol.
pub fn counterpart(cell: &CellId, baseline: &PlannedSubject) -> CellId {
    let (folder, _) = baseline.folder_and_variant();
    let own = cell.subject.split('/').next().unwrap_or(&cell.subject);
    let client = cell.instrument.split_once('/');
    let instrument = match client {
        Some((brings, variant)) if brings == own => format!("{folder}/{variant}"),
        Some((EITHER_PROTOCOL, _)) if !baseline.instruments.contains(&cell.instrument) => {
            EITHER_PROTOCOL.to_owned()
        }
        _ => cell.instrument.clone(),
    };
    CellId { subject: baseline.name.clone(), case: cell.case, instrument }
}

/// Cells that were measured in comparable ways have the same: the instrument's name, or, for
/// clients that subjects bring themselves because nobody else's can be used for them, that of the
/// variant.
pub fn instrument_group(id: &CellId, baseline: &str) -> String {
    let folder = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let own = [folder(&id.subject), folder(baseline)];
    match id.instrument.split_once('/') {
        Some((brings, variant)) if own.iter().any(|name| name == brings) => format!("/{variant}"),
        _ => id.instrument.clone(),
    }
}

/// The ratios of a measured cell to others, round by round: to the baseline of the same case, to
/// the same subject on plainer connections where the plan has such a cell, and to the first
/// instrument that measured the same subject and case.
fn ratios(plan: &Plan, rows: &[Row], planned: &[PlannedCell], own: &CellId) -> Ratios {
    let ratio = |metric, other: &CellId| ratio_of(metric, (own, rows), (other, rows)).into();
    let compared = |other: &CellId| ComparedPair {
        cost: ratio(&REQUESTS_PER_CPU_SECOND, other),
        rate: ratio(&REQUESTS_PER_SECOND, other),
    };
    let plainer = |case: Case| {
        let other = CellId { case, ..own.clone() };
        let is_planned = other != *own && planned.iter().any(|cell| cell.id == other);
        if is_planned { compared(&other) } else { ComparedPair::default() }
    };
    let over_baseline = plan
        .baseline()
        .filter(|baseline| baseline.name != own.subject)
        .map(|baseline| compared(&counterpart(own, baseline)))
        .unwrap_or_default();
    let alike = |id: &&CellId| id.subject == own.subject && id.case == own.case;
    let has_figures = |id: &&CellId| {
        rows.iter().any(|row| row.cell == **id && row.outcome.unmeasured().is_none())
    };
    let mut others = planned.iter().map(|cell| &cell.id).filter(alike);
    let first = others.find(has_figures).filter(|first| *first != own);
    let instrument = first.map(|first| ratio(&REQUESTS_PER_CLIENT_CPU_SECOND, first));
    Ratios {
        cost_ratio: over_baseline.cost,
        rate_ratio: over_baseline.rate,
        over_h2c: plainer(own.case.over(Transport::H2c)),
        over_lasting: plainer(own.case.lasting()),
        instrument_cost_ratio: instrument.unwrap_or_default(),
    }
}
