//! What the clock of another machine says, and how well that is known.
//!
//! A round trip takes some time, and the other clock is read somewhere in it: in the middle, give
//! or take half of the time. Of many round trips the shortest says most. (This is how NTP knows a
//! clock: RFC 5905, section 8.)

use serde::{Deserialize, Serialize};

/// Round trips that are made to know a clock.
pub const ROUND_TRIPS: u32 = 32;

/// Two clocks drift apart by no more than this share of the time: the crystals of computers are
/// ten times better.
const DRIFT_MAX: f64 = 500e-6;

/// What another machine's monotonic clock is ahead of this one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Nanoseconds; negative where it is behind.
    pub ahead_ns: i64,
    /// The shortest round trip, nanoseconds. The offset is known to half of it.
    pub round_trip_min_ns: u64,
    /// The median of the round trips, nanoseconds.
    pub round_trip_median_ns: u64,
    /// When the shortest one ended, nanoseconds of this clock.
    pub at_ns: u64,
}

impl ClockOffset {
    /// How far the offset may be wrong, nanoseconds.
    pub fn error_max_ns(&self) -> u64 {
        self.round_trip_min_ns.div_ceil(2)
    }

    /// What the other clock says when this one says `own_ns`.
    pub fn of_other(&self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.ahead_ns)
    }

    /// What this clock says when the other says `others_ns`.
    pub fn of_own(&self, others_ns: u64) -> u64 {
        others_ns.saturating_add_signed(self.ahead_ns.saturating_neg())
    }

    /// By how much a clock has jumped between this and `later`, beyond what both may be wrong and
    /// clocks drift, nanoseconds; `None` where it has not.
    pub fn jump_ns(&self, later: &ClockOffset) -> Option<u64> {
        let moved_ns = later.ahead_ns.abs_diff(self.ahead_ns);
        let elapsed_ns = later.at_ns.saturating_sub(self.at_ns);
        let drift_ns = (elapsed_ns as f64 * DRIFT_MAX) as u64;
        let explained_ns = self.error_max_ns() + later.error_max_ns() + drift_ns;
        (moved_ns > explained_ns).then_some(moved_ns)
    }
}

/// Round trips to another machine, one after another.
#[derive(Clone, Debug, Default)]
pub struct ClockProbe {
    number: u32,
    sent_ns: u64,
    round_trips_ns: Vec<u64>,
    best: Option<(u64, i64, u64)>,
}

impl ClockProbe {
    /// The number of the next round trip, which begins now.
    pub fn send(&mut self, now_ns: u64) -> u32 {
        self.number += 1;
        self.sent_ns = now_ns;
        self.number
    }

    /// The answer to round trip `number` has come: `clock_ns` is what the other clock said. An
    /// answer to another one is passed over.
    pub fn receive(&mut self, number: u32, clock_ns: u64, now_ns: u64) {
        if number != self.number {
            return;
        }
        let round_trip_ns = now_ns.saturating_sub(self.sent_ns);
        self.round_trips_ns.push(round_trip_ns);
        let middle_ns = self.sent_ns + round_trip_ns / 2;
        let ahead_ns = (i128::from(clock_ns) - i128::from(middle_ns)) as i64;
        if self.best.is_none_or(|(best_ns, _, _)| round_trip_ns < best_ns) {
            self.best = Some((round_trip_ns, ahead_ns, now_ns));
        }
    }

    /// The offset, once enough round trips were made.
    pub fn offset(&self) -> Option<ClockOffset> {
        let (round_trip_min_ns, ahead_ns, at_ns) = self.best?;
        if self.round_trips_ns.len() < ROUND_TRIPS as usize {
            return None;
        }
        let mut sorted_ns = self.round_trips_ns.clone();
        sorted_ns.sort_unstable();
        let round_trip_median_ns = sorted_ns[sorted_ns.len() / 2];
        Some(ClockOffset { ahead_ns, round_trip_min_ns, round_trip_median_ns, at_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The offset of a clock that is an hour ahead, whose round trips take these times there and
    /// back.
    fn offset_of(ways_ms: impl Iterator<Item = (u64, u64)>) -> ClockOffset {
        const AHEAD_NS: u64 = 3_600_000 * MS;
        let (mut probe, mut now_ns) = (ClockProbe::default(), 0);
        for (there_ms, back_ms) in ways_ms {
            let number = probe.send(now_ns);
            let clock_ns = now_ns + there_ms * MS + AHEAD_NS;
            now_ns += (there_ms + back_ms) * MS;
            probe.receive(number, clock_ns, now_ns);
        }
        let offset = probe.offset().expect("enough round trips");
        let wrong_ns = offset.ahead_ns.abs_diff(AHEAD_NS as i64);
        assert!(wrong_ns <= offset.error_max_ns(), "{offset:?}");
        offset
    }

    #[test]
    fn the_shortest_round_trip_says_most() {
        let ways = (0..ROUND_TRIPS as u64).map(|number| (5 + number % 7, 90 - number));
        let offset = offset_of(ways.chain([(2, 4), (50, 50)]));
        assert_eq!(offset.round_trip_min_ns, 6 * MS);
        assert_eq!(offset.error_max_ns(), 3 * MS);
        assert_eq!(offset.of_own(offset.of_other(77)), 77);
    }

    #[test]
    fn a_way_that_is_slow_in_one_direction_is_within_the_bound() {
        offset_of((0..ROUND_TRIPS as u64).map(|number| (20 + number, 0)));
    }

    #[test]
    fn few_round_trips_say_nothing_and_late_answers_are_passed_over() {
        let mut probe = ClockProbe::default();
        for now_ns in 0..u64::from(ROUND_TRIPS) {
            let number = probe.send(now_ns);
            probe.receive(number - 1, 5, now_ns);
            assert_eq!(probe.offset(), None);
        }
    }

    #[test]
    fn a_clock_that_drifts_has_not_jumped() {
        let first =
            ClockOffset { ahead_ns: 0, round_trip_min_ns: MS, round_trip_median_ns: MS, at_ns: 0 };
        let after_an_hour = |ahead_ns| ClockOffset { ahead_ns, at_ns: 3_600_000 * MS, ..first };
        assert_eq!(first.jump_ns(&after_an_hour(180 * MS as i64)), None);
        let jump_ns = 2_000 * MS;
        assert_eq!(first.jump_ns(&after_an_hour(-(jump_ns as i64))), Some(jump_ns));
    }
}
