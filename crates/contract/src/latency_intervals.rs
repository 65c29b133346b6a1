//! How latencies went over the window of a load test.

use serde::{Deserialize, Serialize};

/// Latencies of the OK calls of a window, in intervals of equal width from its start on. Each call
/// is in the interval in which it ended; in an open loop its latency counts from when it was due.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyIntervals {
    /// Width of each, milliseconds.
    pub interval_ms: u64,
    /// Half of the calls of each took no longer, nanoseconds. `None`: no call ended OK in it.
    pub p50_ns: Vec<Option<u64>>,
    /// 99 percent of the calls of each took no longer, nanoseconds.
    pub p99_ns: Vec<Option<u64>>,
}
