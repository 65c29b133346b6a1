//! What one worker has measured.

use crate::record::peer_table::PeerTable;
use crate::record::timeline::Timeline;
use crate::record::{Recorder, count_text};
use crate::worker::load_connection::{LateWarmupCalls, LoadConnection};
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
    pub(crate) timeline: Timeline,
    /// Calls that ended after it.
    pub drained: Recorder,
    /// Calls of the warm-up that ended in a window that is measured by number.
    pub stragglers: LateWarmupCalls,
    /// Calls that had neither been answered nor failed when the worker ended.
    pub unfinished: u64,
    /// Start of the window, nanoseconds of the drivers' clock.
    pub window_start_ns: u64,
    /// End of the window.
    pub window_end_ns: u64,
    /// What the driver did in the window.
    pub driver: IoStatistics,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// Where they were made to.
    pub(crate) peers: PeerTable,
    /// Why a connection could not be made or was of no use, the first time that happened.
    pub first_failure: Option<String>,
    /// Connections that the server ended with GOAWAY, by its code and debug data.
    pub goaways: BTreeMap<String, u64>,
    /// The smallest limit of streams of a server that kept calls from being made.
    pub streams_allowed: Option<u32>,
    /// Addresses of this machine that connections came from, where its first one was out of ports.
    pub sources_used: u32,
    /// Whether the run ended before its time.
    pub cancelled: bool,
}

impl WorkerMeasurements {
    /// Calls that failed where failures are not told apart. Nobody knows which of them the server
    /// has answered.
    pub(crate) fn failed_outside_window(&self) -> u64 {
        self.warmup.errors.total() + self.drained.errors.total() + self.stragglers.failed
    }

    /// What a connection that has ended tells of its server.
    pub(crate) fn note_end_of(&mut self, link: &LoadConnection) {
        if let Some(farewell) = &link.farewell {
            self.note_goaway(farewell.text.clone());
        }
        self.streams_allowed = smaller(self.streams_allowed, link.streams_allowed);
    }

    /// A server has ended a connection with GOAWAY.
    pub(crate) fn note_goaway(&mut self, text: String) {
        count_text(&mut self.goaways, text, 1);
    }

    /// A connection could not be made or was of no use.
    pub(crate) fn note_failure(&mut self, text: &str) {
        self.first_failure.get_or_insert_with(|| text.to_owned());
    }
}

/// The smaller of two limits, either of which may not be there.
pub(crate) fn smaller(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}
