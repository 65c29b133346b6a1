//! Sums up the rows of all rounds in the tables that people read.

mod cell_marks;
mod connections;
mod cpu_account;
mod instruments;
mod limit;
mod shape;
mod summary;

pub use cell_marks::rules_of;
pub use connections::connection_table;
pub use cpu_account::CpuAccount;
pub use instruments::instrument_table;
pub use shape::{
    cost_table, cpu_account_table, marks, published_table, resource_table, skipped_lines,
    spinning_lines,
};
pub use summary::{Figure, Summary};

use crate::measurement::{CellId, Measurement, Outcome, Row};
use crate::ratio::{ComparedPair, instrument_ratio};
use crate::round::RoundFigures;
use crate::suite::{Case, Plan, PlannedSubject};
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
    /// How its rounds ended.
    pub rounds: RoundCounts,
    /// Its figures, or the reason why there are none.
    pub result: CellResult,
}

/// A subject's place in the table.
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

/// The words for a cell without figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NotMeasured {
    /// The subject reported that it does not support this.
    Unsupported,
    /// Something went wrong.
    Failed,
    /// It could not be built or is not installed.
    Missing,
    /// The run ended before its turn.
    Unreached,
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Missing => "missing",
            Self::Unreached => "not reached",
        })
    }
}

impl Table {
    /// Sums up the measured rows of `plan`.
    pub fn new(plan: &Plan, rows: &[Row]) -> Self {
        let mut cells: Vec<Cell> = Vec::new();
        for planned in plan.cells() {
            let subject = &plan.subjects[planned.subject];
            let rank = match (subject.calibration, subject.baseline) {
                (true, _) => Rank::Calibration,
                (false, true) => Rank::Baseline,
                (false, false) => Rank::Ranked,
            };
            let own: Vec<&Row> = rows.iter().filter(|row| row.cell == planned.id).collect();
            cells.push(Cell {
                case: planned.case,
                rank,
                rounds: round_counts(plan, &own),
                result: cell_result(plan, planned.case, &own, rows),
                id: planned.id,
            });
        }
        add_ratios(plan, rows, &mut cells);
        add_connection_ratios(rows, &mut cells);
        add_instrument_ratios(rows, &mut cells);
        Self { cells, several_instruments: plan.instruments().len() > 1, skips: BTreeMap::new() }
    }

    /// As above, with the features that servers were found to lack.
    pub fn with_skips(mut self, skips: BTreeMap<String, Vec<String>>) -> Self {
        self.skips = skips;
        self
    }

    /// The cells of one case, in the order of the plan.
    pub fn of_case(&self, case: Case) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| cell.case == case)
    }

    /// The cases in the order of the plan.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for cell in &self.cells {
            if !cases.contains(&cell.case) {
                cases.push(cell.case);
            }
        }
        cases
    }

    /// A case without its connections; with its transport where the table has several.
    pub fn streams(&self, case: Case) -> String {
        let is_other = |cell: &Cell| cell.case.transport != Transport::H2c;
        if self.cells.iter().any(is_other) { case.streams_and_transport() } else { case.streams() }
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

    /// The name of a row in this table: the subject, and the instrument where there are several.
    pub fn row_name(&self, cell: &Cell) -> String {
        if self.several_instruments {
            format!("{} via {}", cell.id.subject, cell.id.instrument)
        } else {
            cell.id.subject.clone()
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

fn cell_result(plan: &Plan, case: Case, own: &[&Row], all: &[Row]) -> CellResult {
    match Summary::new(plan, case, own, all) {
        Some(summary) => CellResult::Measured(Box::new(summary)),
        None => not_measured(own),
    }
}

fn not_measured(rows: &[&Row]) -> CellResult {
    let said = rows.iter().find_map(|row| match &row.outcome {
        Outcome::Measured(_) => None,
        Outcome::Unsupported { reason } => Some((NotMeasured::Unsupported, reason.clone())),
        Outcome::Failed { error, window } => {
            let spent = window.as_deref().map(spent_in).unwrap_or_default();
            Some((NotMeasured::Failed, format!("{error}{spent}")))
        }
        Outcome::Missing { reason } => Some((NotMeasured::Missing, reason.clone())),
    });
    let (why, reason) = said.unwrap_or_else(|| {
        let reason = "the run ended before its turn".to_owned();
        (NotMeasured::Unreached, reason)
    });
    CellResult::NotMeasured { why, reason }
}

/// Figures of a window that failed, as a clause that follows its error.
fn spent_in(window: &Measurement) -> String {
    let figures = RoundFigures::from(window);
    format!(
        "; in {:.2} s the server used {} of a CPU, its caller {}, peak memory {}",
        window.window_seconds,
        cpu_text(figures.server_cpu),
        cpu_text(figures.generator_cpu),
        memory_text(window.memory_peak_bytes as f64)
    )
}

/// The cell of the baseline to compare with: the one with the same instrument or, where a subject
/// brings its own client, the one with the baseline's client of that name.
fn counterpart(cell: &CellId, baseline: &PlannedSubject) -> CellId {
    let (folder, _) = baseline.folder_and_variant();
    let own = cell.subject.split('/').next().unwrap_or(&cell.subject);
    let client = cell.instrument.split_once('/');
    let instrument = match client {
        Some((brings, variant)) if brings == own => format!("{folder}/{variant}"),
        _ => cell.instrument.clone(),
    };
    CellId { subject: baseline.name.clone(), case: cell.case, instrument }
}

/// Compares each subject with the baseline of the same case, round by round.
fn add_ratios(plan: &Plan, rows: &[Row], cells: &mut [Cell]) {
    let Some(baseline) = plan.baseline() else {
        return;
    };
    for cell in cells {
        let other = counterpart(&cell.id, baseline);
        let CellResult::Measured(summary) = &mut cell.result else {
            continue;
        };
        if cell.id.subject != baseline.name {
            let against = ComparedPair::of(&cell.id, &other, rows);
            summary.ratios.cost_ratio = against.cost;
            summary.ratios.rate_ratio = against.rate;
        }
    }
}

/// Compares each subject with itself on plainer connections, where the plan has such cells.
fn add_connection_ratios(rows: &[Row], cells: &mut [Cell]) {
    let planned: Vec<CellId> = cells.iter().map(|cell| cell.id.clone()).collect();
    for cell in cells {
        let against = |case: Case| {
            let other = CellId { case, ..cell.id.clone() };
            let is_there = other != cell.id && planned.contains(&other);
            is_there.then(|| ComparedPair::of(&cell.id, &other, rows))
        };
        let over_h2c = against(cell.case.over(Transport::H2c));
        let over_lasting = against(cell.case.lasting());
        if let CellResult::Measured(summary) = &mut cell.result {
            let ratios = &mut summary.ratios;
            ratios.over_h2c = over_h2c.unwrap_or(ratios.over_h2c);
            ratios.over_lasting = over_lasting.unwrap_or(ratios.over_lasting);
        }
    }
}

/// Compares each instrument with the first that measured the same subject and case, round by round.
fn add_instrument_ratios(rows: &[Row], cells: &mut [Cell]) {
    let measured: Vec<CellId> =
        cells.iter().filter(|cell| cell.summary().is_some()).map(|cell| cell.id.clone()).collect();
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
