//! The calls that a cell asks for, and how long the lab waits for them.

use bookend_contract::environment::WindowLength;
use bookend_results::suite::{Case, Plan};
use bookend_results::window::AskedTimes;
use std::time::Duration;

/// How long a call without a deadline may take before the lab gives up on a fixed number of calls.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// The calls that a cell asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// C and S, and what else the case asks for.
    pub case: Case,
    /// Length of the warm-up, milliseconds.
    pub warmup_ms: u64,
    /// Length of the window, milliseconds, where the case has no number of calls.
    pub window_ms: u64,
    /// Deadline of each call, milliseconds.
    pub deadline_ms: Option<u64>,
}

impl Workload {
    /// What the plan asks for under `case`.
    pub fn of_plan(plan: &Plan, case: Case) -> Workload {
        Workload {
            case,
            warmup_ms: plan.warmup_ms,
            window_ms: plan.window_ms,
            deadline_ms: plan.deadline_ms,
        }
    }

    /// Length of warm-up and window.
    pub fn times(&self) -> AskedTimes {
        AskedTimes { warmup_ms: self.warmup_ms, window_ms: self.window_ms }
    }

    /// Changes the length of warm-up and window.
    pub fn set_times(&mut self, asked: AskedTimes) {
        (self.warmup_ms, self.window_ms) = (asked.warmup_ms, asked.window_ms);
    }

    /// What ends the window.
    pub fn window_length(&self) -> WindowLength {
        match self.case.calls {
            Some(calls) => WindowLength::Calls(calls),
            None => WindowLength::Milliseconds(self.window_ms),
        }
    }

    /// How long warm-up and window can take together. Calls of a stream may wait for one another,
    /// and each may take until its deadline.
    pub fn longest(&self) -> Duration {
        let deadline = self.deadline_ms.map(Duration::from_millis);
        let warmup = Duration::from_millis(self.warmup_ms);
        let window = match self.case.calls {
            // Those in flight at the end may be awaited.
            None => self.longest_of(self.window_ms),
            Some(calls) => {
                let turns = calls.div_ceil(u64::from(self.case.concurrency.max(1)));
                // One more: a caller that is short of CPU makes its calls later than it could.
                let turns = u32::try_from(turns).unwrap_or(u32::MAX).saturating_add(1);
                deadline.unwrap_or(CALL_TIMEOUT).saturating_mul(turns)
            }
        };
        warmup.saturating_add(window)
    }

    /// How long calls for `length_ms` milliseconds can take, with those in flight at the end.
    pub fn longest_of(&self, length_ms: u64) -> Duration {
        Duration::from_millis(length_ms.saturating_add(self.deadline_ms.unwrap_or_default()))
    }

    /// An instrument that knows no warm-up is run once for the warm-up, which has a length.
    pub fn warmup_alone(&self) -> Workload {
        Workload {
            case: Case { calls: None, ..self.case },
            warmup_ms: 0,
            window_ms: self.warmup_ms,
            ..*self
        }
    }

    /// And once for the window.
    pub fn window_alone(&self) -> Workload {
        Workload { warmup_ms: 0, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(case: &str, deadline_ms: Option<u64>) -> Workload {
        Workload {
            case: case.parse().expect("a case"),
            warmup_ms: 500,
            window_ms: 2000,
            deadline_ms,
        }
    }

    #[test]
    fn a_window_of_time_is_known_before() {
        let load = load("C=1 S=1", None);
        assert_eq!(load.window_length(), WindowLength::Milliseconds(2000));
        assert_eq!(load.longest(), Duration::from_millis(2500));
    }

    #[test]
    fn calls_take_as_many_deadlines_as_each_stream_has_turns() {
        let load = |case| load(case, Some(20_000));
        assert_eq!(load("C=1 S=5000 calls=10000").window_length(), WindowLength::Calls(10_000));
        let longest = |case| load(case).longest().as_millis();
        assert_eq!(longest("C=1 S=5000 calls=10000"), 60_500);
        assert_eq!(longest("C=1 S=5000 calls=10001"), 80_500);
        let without = self::load("C=1 S=5 calls=5", None);
        assert_eq!(without.longest(), Duration::from_millis(120_500));
    }

    #[test]
    fn the_warm_up_of_a_fixed_number_of_calls_has_a_length() {
        let load = load("C=1 S=5 calls=7", None);
        assert_eq!(load.warmup_alone().window_length(), WindowLength::Milliseconds(500));
        assert_eq!(load.window_alone().window_length(), WindowLength::Calls(7));
        assert_eq!(load.window_alone().warmup_ms, 0);
    }

    #[test]
    fn no_number_of_calls_overflows() {
        let load = load("C=1 S=1 calls=1000000000", Some(u64::MAX));
        assert_eq!(load.longest(), Duration::MAX);
    }
}
