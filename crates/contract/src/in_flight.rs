//! What was in flight when a window ended: calls whose latency the window cut off.

use crate::count;
use serde::{Deserialize, Serialize};

/// Calls in flight at the end of a window, and how long they had been until then. Each of them
/// takes at least its age, and no latency of the window is one of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlightAtEnd {
    /// Calls that were made and had not ended.
    #[serde(deserialize_with = "count::deserialize")]
    pub calls: u64,
    /// Their mean age, nanoseconds.
    pub age_mean_ns: u64,
    /// The age of the oldest, nanoseconds.
    pub age_max_ns: u64,
}
