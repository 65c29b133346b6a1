//! What is recorded of a run: latencies, failures, calls a target, intervals.

pub(crate) mod measurements;
pub(crate) mod peer_table;
mod recorder;
mod setup;
pub(crate) mod timeline;

pub use recorder::*;
pub use setup::SetupLatencies;
pub(crate) use setup::SetupTimes;
