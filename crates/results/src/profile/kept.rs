//! A profile in its stored form.

use super::estimate::CostRatio;
use super::split::Split;
use crate::suite::Case;
use serde::{Deserialize, Serialize};

/// The version of a stored [`Profile`]. Raised when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The recordings of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Name of the suite.
    pub suite: String,
    /// Samples a second of CPU time.
    pub frequency_hz: u32,
    /// Every recorded cell, in the order of the table: no row is dropped.
    pub cells: Vec<Profiled>,
}

/// One recorded cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// Name of the subject with its variant.
    pub subject: String,
    /// The case.
    pub case: Case,
    /// The instrument that made the load.
    pub instrument: String,
    /// Programming language of the subject; empty where the subject is missing.
    pub language: String,
    /// Whether it is the baseline that others are compared with.
    pub is_baseline: bool,
    /// The result of the recording.
    pub outcome: ProfileOutcome,
}

/// The result of recording one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ProfileOutcome {
    /// The recording has samples.
    Recorded(Box<Samples>),
    /// There are no samples; the row gives the reason.
    NotRecorded {
        /// `failed: ...`, `missing: ...`, `unsupported: ...`.
        reason: String,
    },
}

/// The samples of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The event that was sampled: `cycles`, `cpu-clock`; with `:u`, only in user mode.
    pub event: String,
    /// Length of the window, seconds.
    pub window_seconds: f64,
    /// Calls answered OK in the window, with the profiler attached.
    pub ok: u64,
    /// How the samples divide over the layers.
    pub split: Split,
    /// Calls per CPU-second over those of the baseline, from shared work. `None` for the baseline
    /// itself, for subjects in another language, and where there are too few samples.
    pub cost_ratio: Option<CostRatio>,
    /// The flame graph, a file in the same folder.
    pub flame_graph: String,
    /// Its stacks, a file in the same folder.
    pub stacks: String,
    /// Limits of what the samples show, a sentence each.
    pub notes: Vec<String>,
}

impl Profile {
    /// The samples of a cell, if there are any. Without an instrument: those of the first one.
    pub fn samples_of(
        &self,
        subject: &str,
        case: Case,
        instrument: Option<&str>,
    ) -> Option<&Samples> {
        self.cells
            .iter()
            .find(|one| {
                let is_meant = instrument.is_none_or(|instrument| one.instrument == instrument);
                one.subject == subject && one.case == case && is_meant
            })?
            .samples()
    }

    /// Compares each subject with its baseline.
    pub fn add_cost_ratios(&mut self) {
        let baselines: Vec<Profiled> =
            self.cells.iter().filter(|cell| cell.is_baseline).cloned().collect();
        for cell in &mut self.cells {
            let baseline = baselines
                .iter()
                .find(|baseline| cell.is_compared_with(baseline))
                .and_then(Profiled::samples);
            if let (Some(baseline), ProfileOutcome::Recorded(own)) = (baseline, &mut cell.outcome) {
                own.cost_ratio = CostRatio::of(&own.split, &baseline.split);
            }
        }
    }
}

impl Profiled {
    /// The samples, if there are any.
    pub fn samples(&self) -> Option<&Samples> {
        match &self.outcome {
            ProfileOutcome::Recorded(samples) => Some(samples),
            ProfileOutcome::NotRecorded { .. } => None,
        }
    }

    /// Whether the baseline is that of this cell: of the same case and instrument. Shared work is
    /// the same only within a language.
    pub fn is_compared_with(&self, baseline: &Profiled) -> bool {
        !self.is_baseline
            && self.case == baseline.case
            && self.instrument == baseline.instrument
            && self.language == baseline.language
    }
}
