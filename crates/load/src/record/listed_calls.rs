//! Calls one by one, for the formats that list them: those of all workers.

use super::call_log::{CallLog, LoggedCall, failure_of};
use bookend_contract::timestamp::TimestampNs;
use bookend_wire::grpc::Code;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// One call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedCall<'a> {
    /// When it ended.
    pub end: TimestampNs,
    /// Its latency, nanoseconds.
    pub latency_ns: u64,
    /// Why it failed, as grpc-go prints it, if it did. Long texts are shortened.
    pub failure: Option<(Code, &'a str)>,
}

impl<'a> ListedCall<'a> {
    /// Why it failed; empty where it did not.
    pub fn error(&self) -> &'a str {
        self.failure.map_or("", |(_, error)| error)
    }

    /// The name of its status code in Go.
    pub fn status(&self) -> &'static str {
        self.failure.map_or("OK", |(code, _)| code.name_in_go())
    }
}

/// The first calls of a window, up to a number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ListedCalls {
    wall_clock_ahead_ns: i64,
    calls_max: usize,
    /// What each worker has logged, by when the calls ended.
    logs: Vec<CallLog>,
}

impl ListedCalls {
    /// No calls yet. `wall_clock_ahead_ns`: what the wall clock (nanoseconds since 1970) is ahead
    /// of the clock by which calls are logged.
    pub fn new(wall_clock_ahead_ns: i64) -> Self {
        Self { wall_clock_ahead_ns, ..Self::default() }
    }

    /// Adds what a worker has logged.
    pub fn add(&mut self, mut log: CallLog) {
        self.calls_max = self.calls_max.max(log.calls_max);
        log.calls.sort_by_key(|call| call.end_ns);
        self.logs.push(log);
    }

    /// Adds the calls of another generator, which have times of the same clock.
    pub fn merge(&mut self, mut other: Self) {
        self.calls_max = self.calls_max.max(other.calls_max);
        self.logs.append(&mut other.logs);
    }

    /// Gives the calls times of another clock, which is ahead of theirs by `ahead_ns`, and behind
    /// the wall clock by `wall_clock_ahead_ns`.
    pub fn move_by(&mut self, ahead_ns: i64, wall_clock_ahead_ns: i64) {
        self.wall_clock_ahead_ns = wall_clock_ahead_ns;
        let calls = self.logs.iter_mut().flat_map(|log| &mut log.calls);
        calls.for_each(|call| call.end_ns = call.end_ns.saturating_add_signed(ahead_ns));
    }

    /// The calls in the order in which they ended. The logs are merged on the way: a list of its
    /// own would take as much memory again.
    pub fn in_order(&self) -> impl Iterator<Item = ListedCall<'_>> {
        let failures: Vec<_> = self.logs.iter().map(CallLog::failures).collect();
        let mut rests: Vec<&[LoggedCall]> = self.logs.iter().map(|log| &*log.calls).collect();
        // When the next call of each log ended. Of those at one time, that of the first log leads.
        let mut ends: BinaryHeap<Reverse<(u64, usize)>> = rests
            .iter()
            .enumerate()
            .filter_map(|(log, calls)| Some(Reverse((calls.first()?.end_ns, log))))
            .collect();
        let next = move || {
            let mut earliest = ends.peek_mut()?;
            let log = earliest.0.1;
            let (call, rest) = rests[log].split_first()?;
            rests[log] = rest;
            match rest.first() {
                Some(following) => earliest.0.0 = following.end_ns,
                None => {
                    PeekMut::pop(earliest);
                }
            }
            Some(self.listed(*call, &failures[log]))
        };
        std::iter::from_fn(next).take(self.calls_max)
    }

    fn listed<'a>(&self, call: LoggedCall, failures: &[(Code, &'a str)]) -> ListedCall<'a> {
        let end_ns = i128::from(call.end_ns) + i128::from(self.wall_clock_ahead_ns);
        ListedCall {
            end: TimestampNs(end_ns.max(0) as u64),
            latency_ns: call.latency_ns(),
            failure: failure_of(call, failures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_first_calls_of_all_workers_are_listed_in_their_order() {
        let mut first = CallLog::new(4, Arc::default());
        first.ok(10, 1);
        first.failed(30, 2, Code::NotFound, "no");
        let mut second = CallLog::new(4, Arc::default());
        second.failed(20, 3, Code::Internal, "broken");
        second.ok(30, 4);
        second.ok(50, 5);
        second.ok(60, 6);
        let mut calls = ListedCalls::new(-15);
        [first, CallLog::new(4, Arc::default()), second].into_iter().for_each(|log| calls.add(log));
        let listed = |end_ns, latency_ns, failure| ListedCall {
            end: TimestampNs(end_ns),
            latency_ns,
            failure,
        };
        let expected = [
            listed(0, 1, None),
            listed(5, 3, Some((Code::Internal, "broken"))),
            listed(15, 2, Some((Code::NotFound, "no"))),
            listed(15, 4, None),
        ];
        assert_eq!(calls.in_order().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn calls_that_one_worker_logged_out_of_order_are_listed_in_order() {
        let mut log = CallLog::new(100, Arc::default());
        (0..100).rev().for_each(|end_ns| log.ok(end_ns / 2, end_ns));
        let mut calls = ListedCalls::default();
        calls.add(log);
        let ends: Vec<_> = calls.in_order().map(|call| (call.end.0, call.latency_ns)).collect();
        // Of two at one time, the one that was logged first.
        assert_eq!(ends[..3], [(0, 1), (0, 0), (1, 3)]);
        assert!(ends.is_sorted_by_key(|(end_ns, _)| *end_ns) && ends.len() == 100);
    }
}
