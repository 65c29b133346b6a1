//! Latencies that a window cannot know: those of the calls in flight when it ends.
//!
//! A call counts in the window in which it ends. As long as a call that is cut off at the end is
//! matched by one that was in flight at the start, nothing is lost; that holds for calls no longer
//! than the warm-up. Longer ones are missing, and a percentile that they could move is a lower
//! bound.

use crate::measurement::Measurement;
use bookend_contract::in_flight::InFlightAtEnd;

/// Calls in flight that are older than a percentile are known to lie beyond it. From this share of
/// the calls that are counted there, it is known to be too low.
const OLDER_SHARE: f64 = 0.1;

/// Up to this percentile, a mean is as good as its percentiles are.
const MEAN_PERCENT: f64 = 90.0;

/// What the ends of one or more windows of a cell cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutOff {
    /// Calls that ended OK in the windows.
    pub counted: f64,
    /// Calls in flight when the windows ended.
    pub calls: f64,
    /// How long these had been in flight. `None`: the caller did not say.
    pub ages: Option<Ages>,
    /// Length of the shortest warm-up before them, nanoseconds. `None`: not known.
    pub warmup_ns: Option<f64>,
}

/// How long calls had been in flight, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ages {
    /// On average.
    pub mean_ns: f64,
    /// The oldest.
    pub max_ns: f64,
}

impl CutOff {
    /// What the end of a window cut off that ended by time.
    pub fn of(window: &Measurement) -> Self {
        let ages = |in_flight: InFlightAtEnd| Ages {
            mean_ns: in_flight.age_mean_ns as f64,
            max_ns: in_flight.age_max_ns as f64,
        };
        Self {
            counted: window.counts.ok as f64,
            calls: window.counts.in_flight() as f64,
            ages: window.counts.in_flight_at_end.map(ages),
            warmup_ns: window.asked.map(|asked| asked.warmup_ms as f64 * 1e6),
        }
    }

    /// Both together: what the windows of several rounds cut off.
    pub fn and(self, other: Self) -> Self {
        let calls = self.calls + other.calls;
        let ages = self.ages.zip(other.ages).map(|(own, others)| Ages {
            mean_ns: (own.mean_ns * self.calls + others.mean_ns * other.calls) / calls.max(1.0),
            max_ns: own.max_ns.max(others.max_ns),
        });
        let warmup_ns = self.warmup_ns.zip(other.warmup_ns).map(|(own, others)| own.min(others));
        Self { counted: self.counted + other.counted, calls, ages, warmup_ns }
    }

    /// Whether the calls in flight could move this percentile of the others, which is `value_ns`:
    /// they are more than lie beyond it, or a good part of those, and older than it already.
    /// `longest_ns` is the longest latency that was counted.
    pub fn reaches(&self, percent: f64, value_ns: f64, longest_ns: f64) -> bool {
        let (share, beyond) = (self.share(), 1.0 - percent / 100.0);
        let are_older = self.ages.is_some_and(|ages| ages.mean_ns > value_ns);
        let could_move = share > beyond || (are_older && share > OLDER_SHARE * beyond);
        could_move && !self.is_balanced(longest_ns)
    }

    /// Whether the calls in flight could move the mean.
    pub fn reaches_mean(&self, mean_ns: f64, longest_ns: f64) -> bool {
        self.reaches(MEAN_PERCENT, mean_ns, longest_ns)
    }

    /// Whether a call in flight is known to take longer than the longest that was counted.
    pub fn reaches_longest(&self, longest_ns: f64) -> bool {
        self.ages.is_some_and(|ages| ages.max_ns > longest_ns)
    }

    /// Calls in flight as a share of all that ended or were in flight.
    fn share(&self) -> f64 {
        if self.calls > 0.0 { self.calls / (self.counted + self.calls) } else { 0.0 }
    }

    /// Whether no call is known to take longer than the warm-up: then as many calls began before
    /// the window and ended in it as began in it and were cut off.
    fn is_balanced(&self, longest_ns: f64) -> bool {
        self.ages
            .zip(self.warmup_ns)
            .is_some_and(|(ages, warmup_ns)| ages.max_ns.max(longest_ns) <= warmup_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn ages(mean_ms: f64, max_ms: f64) -> Option<Ages> {
        Some(Ages { mean_ns: mean_ms * MS, max_ns: max_ms * MS })
    }

    /// A window of ten mean latencies of 100 ms, on a hundred streams.
    fn ten_latencies() -> CutOff {
        CutOff { counted: 1000.0, calls: 100.0, ages: None, warmup_ns: None }
    }

    #[test]
    fn a_percentile_beyond_which_fewer_calls_lie_than_were_cut_off_is_a_lower_bound() {
        let cut_off = ten_latencies();
        let reaches = |percent| cut_off.reaches(percent, 100.0 * MS, 900.0 * MS);
        assert_eq!([50.0, 90.0, 95.0, 99.0].map(reaches), [false, false, true, true]);
        assert!(!cut_off.reaches_mean(100.0 * MS, 900.0 * MS));
        let none = CutOff { calls: 0.0, ..cut_off };
        assert!(!none.reaches(99.9, 100.0 * MS, 900.0 * MS));
    }

    #[test]
    fn calls_that_are_older_than_a_percentile_already_count_against_it() {
        let young = CutOff { ages: ages(50.0, 800.0), ..ten_latencies() };
        let old = CutOff { ages: ages(300.0, 800.0), ..ten_latencies() };
        let reaches = |cut_off: CutOff| cut_off.reaches(90.0, 250.0 * MS, 900.0 * MS);
        assert!(reaches(old) && !reaches(young));
        // A few that hang move nothing, and are known to be longer than the longest.
        let few = CutOff { calls: 2.0, ages: ages(950.0, 1000.0), ..ten_latencies() };
        assert!(!reaches(few) && few.reaches_longest(900.0 * MS));
        assert!(!young.reaches_longest(900.0 * MS));
    }

    #[test]
    fn calls_no_longer_than_the_warm_up_are_matched_by_those_it_left() {
        let warm =
            CutOff { ages: ages(50.0, 190.0), warmup_ns: Some(200.0 * MS), ..ten_latencies() };
        assert!(!warm.reaches(99.0, 180.0 * MS, 195.0 * MS));
        assert!(warm.reaches(99.0, 180.0 * MS, 201.0 * MS), "a longer call was counted");
        let older = CutOff { ages: ages(50.0, 201.0), ..warm };
        assert!(older.reaches(99.0, 180.0 * MS, 195.0 * MS), "an older one was cut off");
        let cold = CutOff { warmup_ns: Some(0.0), ..warm };
        assert!(cold.reaches(99.0, 180.0 * MS, 195.0 * MS));
    }

    #[test]
    fn several_windows_know_what_the_least_of_them_knows() {
        let one =
            CutOff { ages: ages(50.0, 190.0), warmup_ns: Some(200.0 * MS), ..ten_latencies() };
        let other = CutOff { ages: ages(80.0, 170.0), warmup_ns: Some(90.0 * MS), ..one };
        let both = one.and(CutOff { calls: 200.0, ..other });
        assert_eq!((both.counted, both.calls), (2000.0, 300.0));
        assert_eq!(both.ages, ages(70.0, 190.0));
        assert_eq!(both.warmup_ns, Some(90.0 * MS));
        assert_eq!(one.and(ten_latencies()).ages, None);
    }
}
