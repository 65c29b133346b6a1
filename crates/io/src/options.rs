//! Options of a driver.

use crate::names::named;

/// How a driver waits for its sockets and timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// The thread sleeps in the kernel until something happens.
    #[default]
    Sleep,
    /// The thread polls without sleeping: latencies do not contain its wake-ups, and its CPU usage
    /// means nothing any more (its busy time still does).
    Spin,
}

named!(Wait { Sleep = "sleep", Spin = "spin" });

/// How long a connection may take to be made: long enough for three SYN retransmissions
/// (1 + 2 + 4 seconds, RFC 6298), short enough that a dead target is named within a run.
pub const CONNECT_TIMEOUT_NS: u64 = 10_000_000_000;

/// Unwritten output beyond which a connection is not read any more. As large as the kernel's usual
/// send buffer grows under load, so that only a peer that does not read ever meets it. All others
/// are read at once, as RFC 9113, section 5.2.2 demands; that such a peer is not, 10.5 advises.
pub const BACKLOG_LIMIT_BYTES: usize = 1 << 20;

/// How long a stopping driver goes on reading, writing and waiting for answers of other threads, as
/// long as its shard has any outstanding. The lab kills a process two seconds
/// after asking it to end; half of that leaves time to report.
pub const DRAIN_NS: u64 = 1_000_000_000;

/// How long a driver still writes once its drain time has passed: by then shards send a few frames
/// a connection, which a peer that reads at all takes in a round trip. With the default drain time
/// it is less than the two seconds of the lab.
pub const FINAL_FLUSH_NS: u64 = 250_000_000;

/// Options of a driver. Start from the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoOptions {
    /// How to wait.
    pub wait: Wait,
    /// How long a connection may take to be made, nanoseconds.
    pub connect_timeout_ns: u64,
    /// Unwritten output beyond which a connection is not read any more, bytes.
    pub backlog_limit_bytes: usize,
    /// How long to go on after a stop while the shard awaits something, nanoseconds.
    pub drain_ns: u64,
    /// Whether to count [`crate::IoStatistics::busy_ns`]: two readings of the clock a turn, which a
    /// server that does not report its busy time can save.
    pub counts_busy_time: bool,
}

impl Default for IoOptions {
    fn default() -> Self {
        Self {
            wait: Wait::Sleep,
            connect_timeout_ns: CONNECT_TIMEOUT_NS,
            backlog_limit_bytes: BACKLOG_LIMIT_BYTES,
            drain_ns: DRAIN_NS,
            counts_busy_time: true,
        }
    }
}
