//! What is recorded of an open loop besides: when calls should have been made, and which were not.

use super::latencies::Latencies;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a call that is due cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No connection is open.
    NoConnection,
    /// Every connection has as many streams as its server allows.
    StreamLimit,
    /// As many calls are in flight as may be.
    InFlightLimit,
    /// The generator did not come to it: it is slower than the schedule.
    Generator,
}

impl Obstacle {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::NoConnection, Self::StreamLimit, Self::InFlightLimit, Self::Generator];
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoConnection => "no connection",
            Self::StreamLimit => "stream limit",
            Self::InFlightLimit => "in-flight limit",
            Self::Generator => "generator",
        })
    }
}

/// The calls of an open loop, of one phase.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OpenLoopCalls {
    /// Latencies of the OK calls from when they were due.
    pub from_intended: Latencies,
    /// How much later than they were due calls were made that found room at once: the generator's
    /// own lag.
    pub lag: Latencies,
    /// Calls that were made.
    pub made: u64,
    /// How many of those had to wait for room.
    pub waited: u64,
    /// Calls that were due and never made, by [`Obstacle::ALL`].
    not_made: [u64; Obstacle::ALL.len()],
}

impl OpenLoopCalls {
    /// A call that was due at `intended_ns` is made at `start_ns`.
    pub(crate) fn record_made(&mut self, intended_ns: u64, start_ns: u64, has_waited: bool) {
        self.made += 1;
        if has_waited {
            self.waited += 1;
        } else {
            self.lag.record(start_ns.saturating_sub(intended_ns));
        }
    }

    /// `calls` calls that were due are never made.
    pub(crate) fn record_not_made(&mut self, calls: u64, obstacle: Obstacle) {
        self.not_made[obstacle as usize] += calls;
    }

    /// Calls that were due.
    pub fn due(&self) -> u64 {
        self.made + self.not_made.iter().sum::<u64>()
    }

    /// Calls that were due and never made, by what kept them from it; without those that kept none.
    pub fn not_made(&self) -> impl Iterator<Item = (Obstacle, u64)> {
        Obstacle::ALL.into_iter().zip(self.not_made).filter(|(_, calls)| *calls > 0)
    }

    /// What was recorded after `before`, which is a part of it.
    pub(super) fn since(&self, before: &Self) -> Self {
        let mut not_made = self.not_made;
        not_made.iter_mut().zip(before.not_made).for_each(|(own, before)| *own -= before);
        Self {
            from_intended: self.from_intended.since(&before.from_intended),
            lag: self.lag.since(&before.lag),
            made: self.made - before.made,
            waited: self.waited - before.waited,
            not_made,
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.from_intended.merge(&other.from_intended);
        self.lag.merge(&other.lag);
        self.made += other.made;
        self.waited += other.waited;
        for (own, others) in self.not_made.iter_mut().zip(other.not_made) {
            *own += others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_waited_for_room_says_nothing_about_the_generator() {
        let mut calls = OpenLoopCalls::default();
        calls.record_made(100, 105, false);
        calls.record_made(110, 9_000, true);
        calls.record_not_made(3, Obstacle::StreamLimit);
        let mut sum = OpenLoopCalls::default();
        sum.merge(&calls);
        sum.record_not_made(1, Obstacle::Generator);
        assert_eq!((sum.made, sum.waited, sum.due()), (2, 1, 6));
        assert_eq!((sum.lag.histogram.len(), sum.lag.max_ns), (1, 5));
        let not_made: Vec<_> = sum.not_made().collect();
        assert_eq!(not_made, [(Obstacle::StreamLimit, 3), (Obstacle::Generator, 1)]);
    }
}
