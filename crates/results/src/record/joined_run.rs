//! What a record says of a run whose rows were put into it later.

use bookend_contract::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// A later run of some subjects, measured with the suite's control rows: the baseline and the
/// calibration. Its rounds follow those of the record, so its rows are paired with one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinedRun {
    /// The subjects of the record whose rows are of this run.
    pub subjects: Vec<String>,
    /// The cases that it measured; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// The number of its first round in the record.
    pub first_round: u32,
    /// The command that made it.
    pub command: String,
    /// When it started.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Option<Timestamp>,
    /// Seed of the order of cells.
    pub seed: u64,
    /// How far its control rows differ from the record's, a sentence.
    pub control: String,
}

impl JoinedRun {
    /// What a reader must know of it, a sentence.
    pub fn note(&self) -> String {
        let at = if self.cases.is_empty() { "" } else { " at " };
        format!(
            "measured anew: {}{at}{} in a run begun {} (`{}`), with whose control rows their ratios are \
             paired; {}",
            self.subjects.join(", "),
            self.cases.join(", "),
            self.started,
            self.command,
            self.control
        )
    }
}
