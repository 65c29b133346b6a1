//! A time in which no call ended, although many should have.

use crate::report::Intervals;

/// Fewer intervals without a response are no silence.
const INTERVALS_MIN: usize = 5;
/// Fewest calls that should have ended in it, by the rate of the rest of the run.
const CALLS_MISSED_MIN: f64 = 10.0;

/// The longest time in which no call ended, with when it began, both in milliseconds from the start
/// of the window; `None` where the run had no such time.
pub fn longest(intervals: &Intervals) -> Option<(u64, u64)> {
    let window = intervals.counts.get(intervals.window_start..)?;
    let mut longest = 0..0;
    let mut start = 0;
    for (place, calls) in window.iter().chain([&1]).enumerate() {
        if *calls > 0 {
            if place - start > longest.len() {
                longest = start..place;
            }
            start = place + 1;
        }
    }
    let others = window.len().saturating_sub(longest.len());
    let ended: u64 = window.iter().sum();
    let missed = ended as f64 / others.max(1) as f64 * longest.len() as f64;
    let is_silence = longest.len() >= INTERVALS_MIN && missed >= CALLS_MISSED_MIN;
    let to_ms = |intervals_passed: usize| intervals_passed as u64 * intervals.interval_ms;
    is_silence.then(|| (to_ms(longest.start), to_ms(longest.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u64]) -> Option<(u64, u64)> {
        longest(&Intervals { interval_ms: 100, window_start: 1, counts: counts.to_vec() })
    }

    #[test]
    fn a_freeze_is_found_with_its_place_and_its_length() {
        let counts = [0, 20, 20, 0, 20, 0, 0, 0, 0, 0, 0, 40, 20];
        assert_eq!(of(&counts), Some((400, 600)));
        let to_the_end = [9, 20, 20, 20, 0, 0, 0, 0, 0];
        assert_eq!(of(&to_the_end), Some((300, 500)));
    }

    #[test]
    fn few_calls_and_short_gaps_are_no_silence() {
        assert_eq!(of(&[0, 20, 0, 0, 0, 20]), None);
        assert_eq!(of(&[0, 1, 0, 0, 0, 0, 0, 0, 1]), None, "a call every half second");
        assert_eq!(of(&[]), None);
    }
}
