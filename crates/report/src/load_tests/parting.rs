//! Where the rate of answers parts from the rate at which calls were due: the most that a ramp's
//! target carries.

use super::load_test::LoadTest;
use bookend_contract::report::{Intervals, OpenLoopReport};

/// The moment from which too few calls are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parting {
    /// Since the window began, seconds.
    pub(super) seconds: f64,
    /// Calls that were due a second there.
    pub(super) due_per_second: f64,
}

/// Less than this of the calls that were due is too few.
const ANSWERED_MIN: f64 = 0.95;

/// Fewest seconds in a row that are more than a hiccup.
const SECONDS_IN_A_ROW: usize = 3;

/// `None`: the answers kept up, or that is not known.
pub(super) fn parting(test: &LoadTest) -> Option<Parting> {
    let (intervals, due) = due_and_counted(test)?;
    let interval_ms = intervals.interval_ms.max(1);
    let a_second = (1_000 / interval_ms).max(1) as usize;
    let width_s = a_second as f64 * interval_ms as f64 / 1e3;
    let start = intervals.window_start.min(due.len());
    let sums = |calls: &[u64]| -> Vec<f64> {
        calls[start..].chunks_exact(a_second).map(|part| sum(part) as f64).collect()
    };
    let seconds: Vec<(f64, f64)> = sums(due).into_iter().zip(sums(&intervals.counts)).collect();
    let is_short = |(due, answered): &(f64, f64)| {
        let missing = due - answered;
        // By chance, a Poisson process is off by three deviations once in a thousand.
        missing > due * (1.0 - ANSWERED_MIN) && missing > 3.0 * due.sqrt()
    };
    let stays_short = |from: usize| {
        let (due, answered) =
            seconds[from..].iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        answered < due * ANSWERED_MIN
    };
    let first = seconds.windows(SECONDS_IN_A_ROW).position(|some| some.iter().all(is_short))?;
    stays_short(first).then(|| Parting {
        seconds: first as f64 * width_s,
        due_per_second: seconds[first].0 / width_s,
    })
}

/// The intervals in which calls were counted, with how many were due in each.
pub(super) fn due_and_counted(test: &LoadTest) -> Option<(&Intervals, &[u64])> {
    let intervals = test.report.bookend.intervals.as_ref()?;
    let OpenLoopReport { due_by_interval, .. } = test.open_loop()?;
    let is_whole = due_by_interval.len() == intervals.counts.len() && !due_by_interval.is_empty();
    is_whole.then_some((intervals, due_by_interval.as_slice()))
}

fn sum(calls: &[u64]) -> u64 {
    calls.iter().fold(0, |sum, calls| sum.saturating_add(*calls))
}
