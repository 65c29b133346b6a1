//! What a channel may do, and how long it waits.

use crate::options::Options;
use std::time::Duration;

/// The first wait before a connection that failed is made again: long enough that a dead server
/// costs nothing, short enough that one that restarts is missed by nobody.
const BACK_OFF_MIN: Duration = Duration::from_millis(100);
/// The longest such wait: each failure doubles it. A server that comes back is found within it.
const BACK_OFF_MAX: Duration = Duration::from_secs(10);
/// Calls without an answer that a channel holds. As many as a trusted server lets one connection
/// have in flight (2^20), at some 300 bytes each.
const MAX_UNANSWERED_CALLS: usize = 1 << 20;

/// How a [`crate::Channel`] connects, and what it takes.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// How each connection is made.
    pub connection: Options,
    /// The first wait before a connection that failed is made again. It and those after it are
    /// drawn from within 20 % of their length.
    pub back_off_min: Duration,
    /// The longest such wait: each failure doubles it.
    pub back_off_max: Duration,
    /// Calls without an answer, waiting or in flight; a further one is answered at once with
    /// `RESOURCE_EXHAUSTED`.
    pub max_unanswered_calls: usize,
}

impl Default for ChannelOptions {
    /// Back-off from 100 ms to 10 s, 1,048,576 calls, and the defaults of [`Options`].
    fn default() -> Self {
        Self {
            connection: Options::default(),
            back_off_min: BACK_OFF_MIN,
            back_off_max: BACK_OFF_MAX,
            max_unanswered_calls: MAX_UNANSWERED_CALLS,
        }
    }
}

/// Nanoseconds, as far as they can be added to any clock's reading.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    const MAX_NS: u64 = u64::MAX / 2;
    u64::try_from(time.as_nanos()).map_or(MAX_NS, |time_ns| time_ns.min(MAX_NS))
}
