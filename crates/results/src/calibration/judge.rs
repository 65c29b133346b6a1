//! What must be true of a run whose server did as it was told.

use super::{CalibratedUnit, Calibration, Tolerance};
use crate::statistics::nearest_rank;

/// Calls that a percentile needs beyond it, or it is the figure of a few.
const CALLS_BEYOND: f64 = 10.0;

/// Why a percentile of `calls` calls is not judged; `None`: it can be.
pub fn is_steady_enough(percent: f64, calls: u64) -> Option<String> {
    let beyond = calls as f64 * (1.0 - percent / 100.0);
    // A call's worth of rounding: 1,000 calls have ten beyond p99.
    let is_enough = beyond > CALLS_BEYOND - 0.5;
    (!is_enough).then(|| {
        let needed = (CALLS_BEYOND / (1.0 - percent / 100.0)).round();
        format!("{calls} calls: p{percent} takes {needed}")
    })
}

/// Why a percentile of these calls, in the order in which they began, is not judged; `None`: it
/// can be. A single stop of the machine makes the tail of one half of a run, an error of the
/// instrument that of both, so halves that are further apart than the figure may be from what is
/// `known` say nothing of the instrument. Lancet refuses such tails, too (Kogias et al., USENIX
/// ATC 2019).
pub fn halves_disagree(
    percent: f64,
    latencies_ns: &[u64],
    known: f64,
    tolerance: Tolerance,
) -> Option<String> {
    let (first, second) = latencies_ns.split_at(latencies_ns.len() / 2);
    let [first, second] = [first, second].map(|half| nearest_rank(percent, half));
    let apart = first?.abs_diff(second?) as f64;
    (apart > tolerance.allowed(known)).then(|| {
        let [first, second] = [first, second].map(|half| half.unwrap_or_default() as f64);
        let text = |value| CalibratedUnit::Nanoseconds.text(value);
        format!("p{percent} was {} in one half and {} in the other", text(first), text(second))
    })
}

/// The percentile of an open loop whose server stands still once, calculated: calls come evenly,
/// `rate` a second, `calls` in all; those that come in the freeze wait for its end, and all take
/// `service_ns` besides.
pub fn freeze_percentile_ns(
    percent: f64,
    (rate, calls): (f64, u64),
    freeze_ns: f64,
    service_ns: f64,
) -> f64 {
    let beyond = calls as f64 * (1.0 - percent / 100.0);
    // The longest wait is the freeze, and each next one is shorter by the gap between two calls.
    let wait_ns = freeze_ns - beyond / rate * 1e9;
    service_ns + wait_ns.max(0.0)
}

/// What both ends say of the calls of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WitnessedCounts {
    /// Calls made, or arrived.
    pub calls: u64,
    /// Answered OK.
    pub ok: u64,
    /// Answered with the status that the requests order.
    pub status: u64,
    /// Reset by the server.
    pub reset: u64,
    /// Cut off: their connection ended without an answer.
    pub cut_off: u64,
}

impl WitnessedCounts {
    /// Each count of the witness next to that of the generator.
    pub fn held_against(&self, measured: &WitnessedCounts, mode: &str) -> Vec<Calibration> {
        let each = [
            ("sent", self.calls, measured.calls),
            ("answered", self.ok, measured.ok),
            ("failed with the ordered code", self.status, measured.status),
            ("reset", self.reset, measured.reset),
            ("cut off", self.cut_off, measured.cut_off),
        ];
        let calibration = |(what, known, measured): (&str, u64, u64)| {
            let what = ("counts", format!("{mode}: {what}"));
            let figures = (known as f64, measured as f64);
            Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE)
        };
        each.map(calibration).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::CalibrationOutcome;

    #[test]
    fn a_tail_that_one_stop_makes_is_refused_and_one_of_both_halves_is_not() {
        let tolerance = Tolerance { relative: 0.01, absolute: 20e3 };
        let judge = |latencies: &[u64]| halves_disagree(99.0, latencies, 10e6, tolerance);
        let mut calls = vec![10_000_000; 1000];
        assert_eq!(judge(&calls), None);
        assert_eq!(judge(&[]), None, "there is nothing to disagree");
        calls[..500].fill(10_110_000);
        assert_eq!(judge(&calls), None, "apart by less than the figure may be wrong");
        calls.fill(10_000_000);
        calls[700..710].fill(20_000_000);
        let why = judge(&calls).expect("a stop of 20 ms");
        assert_eq!(why, "p99 was 10.000 ms in one half and 20.000 ms in the other");
        calls[200..210].fill(20_000_000);
        assert_eq!(judge(&calls), None, "an error of the instrument is in both halves");
    }

    #[test]
    fn a_percentile_is_judged_where_ten_calls_are_beyond_it() {
        for (percent, calls, is_judged) in [
            (50.0, 20, true),
            (50.0, 10, false),
            (99.0, 1000, true),
            (99.0, 900, false),
            (99.9, 2000, false),
            (99.9, 10_000, true),
        ] {
            let refused = is_steady_enough(percent, calls);
            assert_eq!(refused.is_none(), is_judged, "p{percent} of {calls}: {refused:?}");
        }
        assert_eq!(is_steady_enough(99.9, 2000).unwrap(), "2000 calls: p99.9 takes 10000");
    }

    /// Each call waits for the freeze's end if it comes in it: counted one by one.
    fn counted_ns(percent: f64, rate: u64, calls: u64, freeze_ns: u64) -> u64 {
        let gap_ns = 1_000_000_000 / rate;
        let mut waits: Vec<u64> =
            (0..calls).map(|call| freeze_ns.saturating_sub(call * gap_ns)).collect();
        waits.sort_unstable();
        waits[(calls as f64 * percent / 100.0).ceil() as usize - 1]
    }

    #[test]
    fn the_calculated_percentile_of_a_freeze_is_that_of_counted_calls() {
        for (percent, calls) in [(99.0, 4000), (90.0, 4000), (50.0, 4000), (99.9, 20_000)] {
            let counted = counted_ns(percent, 1000, calls, 1_000_000_000) as f64;
            let calculated = freeze_percentile_ns(percent, (1000.0, calls), 1e9, 0.0);
            assert!((calculated - counted).abs() <= 1e6, "p{percent}: {calculated} {counted}");
        }
        assert_eq!(freeze_percentile_ns(50.0, (1000.0, 4000), 1e9, 2e6), 2e6);
    }

    #[test]
    fn one_call_that_one_end_does_not_know_of_is_a_miss() {
        let known = WitnessedCounts { calls: 3000, ok: 2500, status: 400, reset: 90, cut_off: 10 };
        let missed = |measured: &WitnessedCounts| {
            known
                .held_against(measured, "closed loop")
                .into_iter()
                .filter(|each| each.outcome() == CalibrationOutcome::Missed)
                .map(|each| each.what)
                .collect::<Vec<_>>()
        };
        assert_eq!(missed(&known), [""; 0]);
        // A generator that loses one failed call.
        let dropped = WitnessedCounts { calls: 2999, status: 399, ..known };
        let expected = ["closed loop: sent", "closed loop: failed with the ordered code"];
        assert_eq!(missed(&dropped), expected);
    }
}
