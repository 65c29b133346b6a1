//! Where the CPU time of a server went: a profiler's samples, split over the layers of the server.
//!
//! A profile is recorded in a separate pass after the measured rounds, and no figure of the other
//! tables comes from it. The pass yields counts by layer and a second estimate of the cost ratio.

mod estimate;
mod files;
mod kept;
mod layer;
mod rules;
mod sample_notes;
mod split;

pub use estimate::CostRatio;
pub use files::{JSON_FILE, SPLIT_FILE, read, write};
pub use kept::{Profile, ProfileOutcome, Profiled, SCHEMA_VERSION, Samples};
pub use layer::Layer;
pub use rules::{Classification, Classifier, RuleError, RuleErrorKind, Rules, Stack, split};
pub use sample_notes::{RecordedWindow, sample_notes};
pub use split::{SAMPLES_MIN, Split};
