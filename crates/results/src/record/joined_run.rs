//! Records that were joined from several runs. They are read, and none is made any more.
//!
//! A later run measured some subjects anew, and the baseline and the calibration with them. Its
//! rows took the place of the subjects' old ones. Every figure is of rows of one run.

use crate::measurement::{CellId, Row};
use crate::suite::Plan;
use bookend_contract::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// A later run of some subjects, whose rows stand in the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinedRun {
    /// The subjects of the record whose rows are of this run.
    pub subjects: Vec<String>,
    /// The cases that it measured; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// The command that made it.
    pub command: String,
    /// When it started.
    pub started: Timestamp,
}

impl JoinedRun {
    /// What a reader must know of it, a sentence.
    pub fn note(&self) -> String {
        let at = if self.cases.is_empty() { "" } else { " at " };
        format!(
            "measured anew: {}{at}{} in a run begun {} (`{}`), with whose control rows their ratios are \
             paired",
            self.subjects.join(", "),
            self.cases.join(", "),
            self.started,
            self.command,
        )
    }
}

/// The run that a row is of. The record's own is 0, and has the rounds of the plan; each later run
/// has as many more.
pub fn run_of(plan: &Plan, row: &Row) -> u32 {
    row.round / plan.rounds.max(1)
}

/// The rows of the first run that is meant; empty if none is. Rows are in the order of rounds.
pub fn first_run<'a>(plan: &Plan, rows: &'a [Row], is_meant: impl Fn(&[Row]) -> bool) -> &'a [Row] {
    rows.chunk_by(|one, next| run_of(plan, one) == run_of(plan, next))
        .find(|run| is_meant(run))
        .unwrap_or_default()
}

/// The rows of a cell. Those of the first run that has any: later ones measured it for the ratios
/// of others.
pub fn rows_of_cell<'a>(
    plan: &Plan,
    rows: &'a [Row],
    cell: &CellId,
) -> impl Iterator<Item = &'a Row> {
    first_run(plan, rows, |run| run.iter().any(|row| row.cell == *cell))
        .iter()
        .filter(move |row| row.cell == *cell)
}
