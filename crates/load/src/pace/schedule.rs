//! How many calls a second an open loop makes, moment by moment.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The rate over time: parts that follow each other, in each of which the rate changes evenly from
/// one value to another. The last part never ends.
///
/// Its integral says how many calls are due until a moment; where each of them is due is the
/// inverse of that. So every shape of load is the same few lines of arithmetic, and no error adds
/// up from call to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSchedule {
    parts: Vec<Part>,
}

/// A time in which the rate changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    start_s: f64,
    /// Infinite for the last part.
    #[serde(with = "finite_or_null")]
    length_s: f64,
    /// Calls a second where it begins.
    from: f64,
    /// Calls a second where it ends.
    to: f64,
    /// Calls that are due before it begins.
    calls_before: f64,
}

/// JSON has no infinity.
mod finite_or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(length_s: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*length_s).filter(|length_s| length_s.is_finite()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

impl RateSchedule {
    /// The same rate all the time, in calls a second.
    pub fn constant(rate: f64) -> Self {
        Self::new([], rate)
    }

    /// Parts of a length each, with the rate where each begins and ends, and then a rate for ever.
    pub fn new(parts: impl IntoIterator<Item = (Duration, f64, f64)>, then: f64) -> Self {
        let mut schedule = Self { parts: Vec::new() };
        for (length, from, to) in parts {
            if !length.is_zero() {
                schedule.push(length.as_secs_f64(), from, to);
            }
        }
        schedule.push(f64::INFINITY, then, then);
        schedule
    }

    fn push(&mut self, length_s: f64, from: f64, to: f64) {
        let (start_s, calls_before) =
            self.parts.last().map_or((0.0, 0.0), |last| (last.end_s(), last.calls_behind()));
        self.parts.push(Part { start_s, length_s, from, to, calls_before });
    }

    /// The same, after its first rate was held for `by`.
    pub fn delayed(&self, by: Duration) -> Self {
        let first = self.parts.first().map_or(0.0, |part| part.from);
        let mut delayed = Self { parts: Vec::new() };
        if !by.is_zero() {
            delayed.push(by.as_secs_f64(), first, first);
        }
        for part in &self.parts {
            delayed.push(part.length_s, part.from, part.to);
        }
        delayed
    }

    /// Calls a second at that moment, in seconds since the start.
    pub fn rate_at(&self, time_s: f64) -> f64 {
        let behind = |part: &&Part| time_s < part.end_s();
        self.parts.iter().find(behind).map_or(0.0, |part| part.rate_at(time_s))
    }

    /// Calls that are due until that moment, in seconds since the start.
    pub fn calls_until(&self, time_s: f64) -> f64 {
        self.parts
            .iter()
            .rev()
            .find(|part| part.start_s <= time_s)
            .map_or(0.0, |part| part.calls_before + part.calls_within(time_s - part.start_s))
    }

    /// The highest rate, calls a second.
    pub fn rate_max(&self) -> f64 {
        self.parts.iter().map(|part| part.from.max(part.to)).fold(0.0, f64::max)
    }

    /// When `calls` calls are due, in seconds since the start. `None`: the schedule never has that
    /// number. `part` is where to begin to look, and becomes where it was found: times are asked
    /// for in their order.
    pub(super) fn time_of(&self, calls: f64, part: &mut usize) -> Option<f64> {
        while let Some(current) = self.parts.get(*part) {
            let within = calls - current.calls_before;
            if within <= current.calls_in_all() && current.to.max(current.from) > 0.0 {
                return Some(current.start_s + current.time_within(within));
            }
            if *part + 1 == self.parts.len() {
                return None;
            }
            *part += 1;
        }
        None
    }
}

impl Part {
    fn end_s(&self) -> f64 {
        self.start_s + self.length_s
    }

    fn calls_behind(&self) -> f64 {
        self.calls_before + self.calls_in_all()
    }

    fn calls_in_all(&self) -> f64 {
        if self.from == 0.0 && self.to == 0.0 {
            return 0.0;
        }
        (self.from + self.to) / 2.0 * self.length_s
    }

    /// How much the rate grows in a second.
    fn slope(&self) -> f64 {
        if self.length_s.is_finite() { (self.to - self.from) / self.length_s } else { 0.0 }
    }

    fn rate_at(&self, time_s: f64) -> f64 {
        self.from + self.slope() * (time_s - self.start_s)
    }

    fn calls_within(&self, time_s: f64) -> f64 {
        let time_s = time_s.min(self.length_s);
        self.from * time_s + self.slope() / 2.0 * time_s * time_s
    }

    /// The inverse of [`Part::calls_within`]: the root of a quadratic equation, in the form that
    /// loses no digits where the slope is small.
    fn time_within(&self, calls: f64) -> f64 {
        if calls <= 0.0 {
            return 0.0;
        }
        let root = (self.from * self.from + 2.0 * self.slope() * calls).max(0.0).sqrt();
        (2.0 * calls / (self.from + root)).min(self.length_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Up for ten seconds, none for five, down for ten, then ten a second.
    fn hills() -> RateSchedule {
        let parts = [(10, 0.0, 100.0), (5, 0.0, 0.0), (10, 50.0, 0.0)];
        RateSchedule::new(parts.map(|(length, from, to)| (seconds(length), from, to)), 10.0)
    }

    fn time_of(schedule: &RateSchedule, calls: f64) -> Option<f64> {
        schedule.time_of(calls, &mut 0)
    }

    #[test]
    fn a_constant_rate_has_its_calls_at_equal_distances() {
        let schedule = RateSchedule::constant(20_000.0);
        for (calls, time_s) in [(0.0, 0.0), (1.0, 0.000_05), (20_000.0, 1.0), (12e6, 600.0)] {
            assert!((time_of(&schedule, calls).unwrap() - time_s).abs() < 1e-12);
        }
        assert_eq!(schedule.calls_until(10.0), 200_000.0);
    }

    #[test]
    fn calls_and_their_times_are_each_others_inverse() {
        let schedule = hills();
        for calls in 1..2_000 {
            let calls = f64::from(calls);
            let time_s = time_of(&schedule, calls).unwrap();
            assert!((schedule.calls_until(time_s) - calls).abs() < 1e-6, "{calls} at {time_s}");
        }
    }

    #[test]
    fn rates_and_sums_follow_the_parts() {
        let schedule = hills();
        assert_eq!(
            [5.0, 12.0, 20.0, 99.0].map(|time_s| schedule.rate_at(time_s)),
            [50.0, 0.0, 25.0, 10.0]
        );
        assert_eq!(
            [10.0, 15.0, 25.0, 35.0].map(|time_s| schedule.calls_until(time_s)),
            [500.0, 500.0, 750.0, 850.0]
        );
        assert_eq!(schedule.rate_max(), 100.0);
    }

    #[test]
    fn a_schedule_that_ends_at_zero_has_a_last_call() {
        let schedule = RateSchedule::new([(seconds(2), 10.0, 10.0)], 0.0);
        assert!((time_of(&schedule, 20.0).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(time_of(&schedule, 20.5), None);
    }

    #[test]
    fn a_schedule_goes_through_json_unchanged() {
        for schedule in [hills(), RateSchedule::constant(0.1)] {
            let json = serde_json::to_string(&schedule).unwrap();
            assert_eq!(serde_json::from_str::<RateSchedule>(&json).unwrap(), schedule);
        }
    }

    #[test]
    fn a_warm_up_has_the_first_rate() {
        let schedule = hills().delayed(seconds(3));
        assert_eq!(schedule.calls_until(3.0), 0.0);
        assert_eq!(schedule.calls_until(13.0), 500.0);
        let steady = RateSchedule::constant(5.0).delayed(seconds(3));
        assert_eq!(steady.calls_until(4.0), 20.0);
    }
}
