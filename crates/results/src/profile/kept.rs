//! A profile as it is kept.

use super::estimate::CostRatio;
use super::split::Split;
use crate::suite::Case;
use serde::{Deserialize, Serialize};

/// The version of [`Profile`] as it is kept. Raised when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// What was recorded of one run.
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
    /// What made the load.
    pub instrument: String,
    /// Programming language of the subject; empty where the subject is not here.
    pub language: String,
    /// Whether others are compared with it.
    pub is_baseline: bool,
    /// What came of it.
    pub outcome: ProfileOutcome,
}

/// What came of recording one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ProfileOutcome {
    /// There are samples.
    Recorded(Box<Samples>),
    /// There are none; the row says why.
    NotRecorded {
        /// `failed: ...`, `missing: ...`, `unsupported: ...`.
        reason: String,
    },
}

/// The samples of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The event that was sampled: `cycles`, `cpu-clock`; with `:u`, in user mode only.
    pub event: String,
    /// Length of the window, seconds.
    pub window_seconds: f64,
    /// Calls answered OK in it, with the profiler attached.
    pub ok: u64,
    /// How they divide.
    pub split: Split,
    /// Calls per CPU-second over those of the baseline, from shared work; `None` for the baseline
    /// itself, for subjects of another language and where there are too few samples to tell.
    pub cost_ratio: Option<CostRatio>,
    /// The flame graph, a file of the same folder.
    pub flame_graph: String,
    /// Its stacks, a file of the same folder.
    pub stacks: String,
    /// What limits what the samples tell, a sentence each.
    pub notes: Vec<String>,
}

impl Profile {
    /// The samples of a cell, where there are any. Without an instrument: of the first.
    pub fn samples_of(
        &self,
        subject: &str,
        case: Case,
        instrument: Option<&str>,
    ) -> Option<&Samples> {
        let mut cells = self.cells.iter();
        let own = cells.find(|one| {
            let is_meant = instrument.is_none_or(|instrument| one.instrument == instrument);
            one.subject == subject && one.case == case && is_meant
        });
        own?.samples()
    }
}

impl Profiled {
    /// The samples, where there are any.
    pub fn samples(&self) -> Option<&Samples> {
        match &self.outcome {
            ProfileOutcome::Recorded(samples) => Some(samples),
            ProfileOutcome::NotRecorded { .. } => None,
        }
    }
}

impl Profile {
    /// Compares each with the baseline of the same case and instrument. Only within a language is
    /// shared work the same work.
    pub fn add_cost_ratios(&mut self) {
        let baselines: Vec<Profiled> =
            self.cells.iter().filter(|cell| cell.is_baseline).cloned().collect();
        for cell in self.cells.iter_mut().filter(|cell| !cell.is_baseline) {
            let comparable = |other: &&Profiled| {
                other.case == cell.case
                    && other.instrument == cell.instrument
                    && other.language == cell.language
            };
            let baseline = baselines.iter().find(comparable).and_then(Profiled::samples);
            if let (Some(baseline), ProfileOutcome::Recorded(own)) = (baseline, &mut cell.outcome) {
                own.cost_ratio = CostRatio::of(&own.split, &baseline.split);
            }
        }
    }
}
