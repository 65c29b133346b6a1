//! The calls of a window, by how and when they ended.

use crate::audit::CallCounts;
use bookend_contract::count;
use bookend_contract::in_flight::InFlightAtEnd;
use bookend_contract::report::Extension;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Calls of a window, and of the time before and after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowCounts {
    /// Calls answered OK in the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub ok: u64,
    /// Failed calls of the window by gRPC code name.
    #[serde(deserialize_with = "count::deserialize_map")]
    pub errors: BTreeMap<String, u64>,
    /// Calls answered before the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub warmup: u64,
    /// Calls answered after the window while draining.
    #[serde(default, deserialize_with = "count::deserialize")]
    pub drained: u64,
    /// Calls that were neither answered nor failed when the run ended, after the window and its
    /// draining.
    #[serde(deserialize_with = "count::deserialize")]
    pub unfinished: u64,
    /// Calls in flight when the window ended, however they ended later. `None`: the caller did not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_end: Option<InFlightAtEnd>,
}

impl WindowCounts {
    /// Calls of the window that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Calls in flight when the window ended: as the caller says, else those that it answered later
    /// or never.
    pub fn in_flight(&self) -> u64 {
        match self.in_flight_at_end {
            Some(in_flight) => in_flight.calls,
            None => self.drained + self.unfinished,
        }
    }

    /// The calls of the window and of its warm-up, as far as the server must or may have answered
    /// them.
    pub fn call_counts(&self) -> CallCounts {
        CallCounts {
            answered: self.warmup + self.ok + self.drained,
            ok: self.ok,
            uncertain: self.failed() + self.unfinished,
            is_open: false,
        }
    }
}

impl From<&Extension> for WindowCounts {
    fn from(own: &Extension) -> Self {
        Self {
            ok: own.ok,
            errors: own.errors.clone(),
            warmup: own.warmup,
            drained: own.drained,
            unfinished: own.unfinished,
            in_flight_at_end: own.in_flight_at_end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_and_unfinished_calls_may_have_been_answered_or_not() {
        let counts = WindowCounts {
            ok: 900,
            warmup: 90,
            drained: 10,
            errors: [("UNAVAILABLE".to_owned(), 5)].into(),
            unfinished: 3,
            in_flight_at_end: None,
        }
        .call_counts();
        assert_eq!((counts.answered, counts.ok), (1000, 900));
        assert_eq!((counts.uncertain, counts.is_open), (8, false));
    }
}
