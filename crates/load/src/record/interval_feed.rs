//! What calls do in the window while it goes on, interval by interval: workers add to it, the run
//! takes it.

use super::interval_details::IntervalDetails;
use super::latencies::Latencies;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What all workers did in one interval of the window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunInterval {
    /// Since the window began, nanoseconds.
    pub start_ns: u64,
    /// Since the window began, nanoseconds.
    pub end_ns: u64,
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Messages of streaming calls, in both directions.
    pub messages: u64,
    /// Calls in flight when it ended.
    pub in_flight: u64,
    /// Latencies of its OK calls, nanoseconds; in an open loop from when they were due.
    #[serde(skip)]
    pub latencies: Latencies,
    /// All that was recorded, where that is wanted.
    pub details: Option<Box<IntervalDetails>>,
}

impl RunInterval {
    /// Adds the same interval of another generator, or the interval that follows. Intervals that
    /// are added have all that was recorded.
    pub fn merge(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.ok += other.ok;
        self.failed += other.failed;
        self.messages += other.messages;
        self.in_flight += other.in_flight;
        let details = self.details.get_or_insert_default();
        if let Some(others) = &other.details {
            details.merge(others);
        }
    }

    /// The same with its latencies, which do not go from process to process twice.
    pub fn with_latencies(mut self) -> Self {
        if let Some(details) = &self.details {
            let of_due = details.open_loop.as_ref().map(|calls| &calls.from_intended);
            self.latencies = of_due.unwrap_or(&details.from_start).clone();
        }
        self
    }
}

/// What a worker has counted in the window so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub ok: u64,
    pub failed: u64,
    pub messages: u64,
    pub latencies: Option<Histogram<u64>>,
    pub details: Option<Box<IntervalDetails>>,
}

/// Collects the intervals of all workers.
#[derive(Debug)]
pub(crate) struct IntervalFeed {
    /// Length of an interval, nanoseconds.
    pub length_ns: u64,
    /// Whether workers add all that they have recorded.
    pub has_details: bool,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    sum: RunInterval,
    /// By worker.
    in_flight: Vec<u64>,
}

impl IntervalFeed {
    /// A feed of intervals of that length, with all that was recorded if `has_details`.
    pub fn new(length_ns: u64, has_details: bool) -> Self {
        Self { length_ns, has_details, pending: Mutex::default() }
    }

    /// A worker had counted `before` when it last added something, and now `counted`.
    pub fn add(&self, worker: u32, before: &Counted, counted: &Counted, in_flight: u64) {
        let mut pending = self.pending();
        let sum = &mut pending.sum;
        sum.ok += counted.ok - before.ok;
        sum.failed += counted.failed - before.failed;
        sum.messages += counted.messages - before.messages;
        if let Some(latencies) = &counted.latencies {
            let mut new = latencies.clone();
            if let Some(before) = &before.latencies {
                // What was recorded is never taken back.
                let _ = new.subtract(before);
            }
            sum.latencies.add_histogram(&new);
        }
        if let Some(details) = &counted.details {
            let new = match &before.details {
                Some(before) => details.since(before),
                None => (**details).clone(),
            };
            sum.details.get_or_insert_default().merge(&new);
        }
        let worker = worker as usize;
        if pending.in_flight.len() <= worker {
            pending.in_flight.resize(worker + 1, 0);
        }
        pending.in_flight[worker] = in_flight;
    }

    /// What has been added since the last time.
    pub fn take(&self) -> RunInterval {
        let mut pending = self.pending();
        let in_flight = pending.in_flight.iter().sum();
        RunInterval { in_flight, ..std::mem::take(&mut pending.sum) }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(latencies_ns: &[u64]) -> Counted {
        let mut latencies = Latencies::default();
        latencies_ns.iter().for_each(|latency_ns| latencies.record(*latency_ns));
        let ok = latencies_ns.len() as u64;
        Counted { ok, latencies: Some(latencies.histogram), ..Counted::default() }
    }

    #[test]
    fn an_interval_has_what_came_since_the_last_one() {
        let feed = IntervalFeed::new(1_000, false);
        feed.add(0, &Counted::default(), &counted(&[10, 20]), 3);
        feed.add(1, &Counted::default(), &counted(&[30]), 4);
        let first = feed.take();
        assert_eq!((first.ok, first.in_flight, first.latencies.max_ns), (3, 7, 30));
        feed.add(0, &counted(&[10, 20]), &counted(&[10, 20, 50]), 2);
        let second = feed.take();
        assert_eq!((second.ok, second.in_flight), (1, 6), "the other worker has added nothing");
        assert_eq!((second.latencies.min_ns, second.latencies.max_ns), (50, 50));
        assert_eq!(feed.take().ok, 0);
    }
}
