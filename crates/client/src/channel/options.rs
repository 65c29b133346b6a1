//! What a channel may do, and how long it waits.

use crate::options::Options;
use bookend_wire::keepalive::{CLIENT_TIME_MIN_NS, TIMEOUT_NS};
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
    /// Whether a server that says nothing while calls wait for it is asked for a sign of life.
    pub keepalive: Option<Keepalive>,
}

/// When a silent server is asked for a sign of life by PING, and given up.
///
/// Only while calls wait for their answers: servers take PINGs without them for an attack. Those of
/// grpc-go and grpc-java allow one in five minutes unless their owner says otherwise, and close
/// the connection at the third that comes sooner; a channel that is told so (`too_many_pings`)
/// asks half as often from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    time: Duration,
    timeout: Duration,
}

impl Keepalive {
    /// Asks when nothing has come for `time`, or up to half as much more; less than 10 s count as
    /// 10 s, as in grpc-go. The connection is given up when nothing comes for 20 s after that.
    pub fn after(time: Duration) -> Self {
        Self {
            time: time.max(Duration::from_nanos(CLIENT_TIME_MIN_NS)),
            timeout: Duration::from_nanos(TIMEOUT_NS),
        }
    }

    /// The same with another time for the answer.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub(crate) fn in_ns(self) -> bookend_wire::Keepalive {
        bookend_wire::Keepalive {
            time_ns: nanoseconds(self.time),
            timeout_ns: nanoseconds(self.timeout),
        }
    }
}

impl Default for ChannelOptions {
    /// Back-off from 100 ms to 10 s, 1,048,576 calls, no keepalive, and the defaults of
    /// [`Options`].
    fn default() -> Self {
        Self {
            connection: Options::default(),
            back_off_min: BACK_OFF_MIN,
            back_off_max: BACK_OFF_MAX,
            max_unanswered_calls: MAX_UNANSWERED_CALLS,
            keepalive: None,
        }
    }
}

/// Nanoseconds, as far as they can be added to any clock's reading.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    const MAX_NS: u64 = u64::MAX / 2;
    u64::try_from(time.as_nanos()).map_or(MAX_NS, |time_ns| time_ns.min(MAX_NS))
}
