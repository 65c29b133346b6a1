//! What one worker has measured.

use super::errors::count_text;
use super::in_flight_ages::InFlightAges;
use super::peer_table::PeerTable;
use super::recorder::Recorder;
use super::timeline::Timeline;
use bookend_io::IoStatistics;
use std::collections::BTreeMap;

/// What one worker has measured.
#[derive(Clone, Debug, Default)]
pub struct WorkerMeasurements {
    /// Calls that ended in the window.
    pub window: Recorder,
    /// Calls that ended before it.
    pub warmup: Recorder,
    /// Calls that ended OK in each interval of warm-up and window, whenever they were made.
    pub timeline: Timeline,
    /// Calls that ended after the window.
    pub drained: Recorder,
    /// Calls of the warm-up that ended in a window that is measured by number.
    pub late_warmup: LateWarmupCalls,
    /// Calls that had neither been answered nor failed when the worker ended.
    pub unanswered: InFlightAges,
    /// Calls in flight when the window ended.
    pub in_flight_at_end: InFlightAges,
    /// How long after the start of the run the worker began, nanoseconds.
    pub start_late_ns: u64,
    /// Start of the window, nanoseconds of the drivers' clock.
    pub window_start_ns: u64,
    /// End of the window.
    pub window_end_ns: u64,
    /// What the driver did in the window.
    pub driver: IoStatistics,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// The addresses they were made to.
    pub peers: PeerTable,
    /// Why a connection could not be made or was of no use, the first time that happened.
    pub first_failure: Option<String>,
    /// Why a template gave nothing that can be sent, which has ended the run.
    pub template_failure: Option<String>,
    /// Connections that the server ended with GOAWAY, by its code and debug data.
    pub goaways: BTreeMap<String, u64>,
    /// The smallest limit of streams of a server that kept calls from being made.
    pub streams_allowed: Option<u32>,
    /// Connections that were replaced because more calls were given up on them than a server lets
    /// be reset.
    pub connections_given_up: u64,
    /// Addresses of this machine that connections came from, where its first one was out of ports.
    pub sources_used: u32,
    /// Whether the run ended before its time.
    pub cancelled: bool,
}

/// Calls of the warm-up that ended where they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateWarmupCalls {
    /// Those that ended OK.
    pub ok: u64,
    /// Those that failed.
    pub failed: u64,
}

impl WorkerMeasurements {
    /// Calls that failed outside the window. It is unknown which of them the server has answered.
    pub(crate) fn failed_outside_window(&self) -> u64 {
        self.warmup.errors.total() + self.drained.errors.total() + self.late_warmup.failed
    }

    /// A server's limit of streams has kept a call from being made.
    pub(crate) fn note_stream_limit(&mut self, streams: Option<u32>) {
        self.streams_allowed = smaller(self.streams_allowed, streams);
    }

    /// A server has ended a connection with GOAWAY.
    pub(crate) fn note_goaway(&mut self, text: &str) {
        count_text(&mut self.goaways, text.to_owned(), 1);
    }

    /// A connection could not be made or was of no use.
    pub(crate) fn note_failure(&mut self, text: &str) {
        self.first_failure.get_or_insert_with(|| text.to_owned());
    }
}

/// The smaller of two limits, where there are any.
pub(crate) fn smaller(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}
