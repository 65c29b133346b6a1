//! What is recorded of the calls of an interval besides their number, for a run that other machines
//! make too: the seconds that all of them have told make a whole result, should one be lost.

use super::errors::ErrorCounts;
use super::latencies::Latencies;
use super::open_loop::OpenLoopCalls;
use super::stream_messages::StreamMessages;
use serde::{Deserialize, Serialize};

/// All that is recorded of the calls of a part of the window. Sums and counts are exact, extremes
/// are known to three digits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IntervalDetails {
    /// Calls that failed.
    pub errors: ErrorCounts,
    /// Latencies of the OK calls from when they were made.
    pub from_start: Latencies,
    /// When calls should have been made, in an open loop.
    pub open_loop: Option<OpenLoopCalls>,
    /// The messages of streaming calls.
    pub streams: Option<StreamMessages>,
}

impl IntervalDetails {
    /// What was recorded after `before`, which is a part of it.
    pub(super) fn since(&self, before: &Self) -> Self {
        let (open_loop, streams) = (before.open_loop.as_ref(), before.streams.as_ref());
        Self {
            errors: self.errors.since(&before.errors),
            from_start: self.from_start.since(&before.from_start),
            open_loop: self.open_loop.as_ref().map(|calls| match open_loop {
                Some(before) => calls.since(before),
                None => calls.clone(),
            }),
            streams: self.streams.as_ref().map(|messages| match streams {
                Some(before) => messages.since(before),
                None => messages.clone(),
            }),
        }
    }

    /// Adds those of another worker or of another interval.
    pub fn merge(&mut self, other: &Self) {
        self.errors.merge(other.errors.clone());
        self.from_start.merge(&other.from_start);
        if let Some(calls) = &other.open_loop {
            self.open_loop.get_or_insert_default().merge(calls);
        }
        if let Some(messages) = &other.streams {
            self.streams.get_or_insert_default().merge(messages);
        }
    }
}
