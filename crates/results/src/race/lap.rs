//! One lap, as it was measured.

pub use bookend_contract::laps::RatedCalls;

use serde::{Deserialize, Serialize};

/// The laps of a block.
pub const BLOCK_LAPS: usize = 4;

/// Four laps: ABBA or BAAB; with one server, AAAA.
pub type Block = [RaceLap; BLOCK_LAPS];

/// A block for each cell.
pub type RaceRound = Vec<Block>;

/// A span of a race in which one server was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceLap {
    /// Which of the two servers.
    pub server: usize,
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// From its start to the end of its last call, nanoseconds.
    pub length_ns: u64,
    /// CPU time of the server's processes from before the lap until after it, nanoseconds.
    pub cpu_ns: u64,
    /// When calls were made, where that was by a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatedCalls>,
}

impl RaceLap {
    /// Calls answered OK a second of the server's CPU time.
    pub fn calls_per_cpu_second(&self) -> f64 {
        self.ok as f64 * 1e9 / self.cpu_ns as f64
    }

    /// Calls answered OK a second.
    pub fn calls_per_second(&self) -> f64 {
        self.ok as f64 * 1e9 / self.length_ns as f64
    }
}
