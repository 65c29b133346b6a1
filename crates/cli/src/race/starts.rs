//! How often the servers of a race are started anew, and for how long each start is measured.

use bookend_results::race::STARTS_MIN;
use std::time::Duration;

/// So many starts are aimed at: with thirty, the interval is 7 % wider than if starts did not
/// differ and their rounds were counted.
const STARTS: u32 = 30;

/// A start need not be measured for longer than in a race of a minute: where there is more time,
/// more starts tell more than longer ones.
const START_MAX: Duration = Duration::from_secs(2);

/// There is time for so many: one more than an interval needs, for what a start takes is not always
/// the same.
const STARTS_PLANNED: u32 = STARTS_MIN as u32 + 1;

/// How a race is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartPlan {
    /// The rounds of a start. `None`: there is one start, which lasts for the whole race.
    pub rounds: Option<u32>,
    /// After so many starts the race is over. `None`: when its budget is.
    pub count: Option<u32>,
}

/// How long things take in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceTimes {
    /// The whole race.
    pub budget: Duration,
    /// Starting the servers and warming them up.
    pub start: Duration,
    /// A round.
    pub round: Duration,
}

impl StartPlan {
    /// One start for the whole race.
    pub const ONE: StartPlan = StartPlan { rounds: None, count: Some(1) };

    /// As many starts as `wanted`, which share the budget, or else as the budget allows.
    pub fn new(wanted: Option<u32>, times: RaceTimes) -> StartPlan {
        match wanted {
            Some(0 | 1) => StartPlan::ONE,
            Some(count) => {
                let measured = (times.budget / count).saturating_sub(times.start);
                let rounds = times.rounds_in(measured).floor() as u32;
                StartPlan { rounds: Some(rounds.max(1)), count: wanted }
            }
            None => StartPlan::of_budget(times),
        }
    }

    /// Starts of which half is for rounds; shorter ones where there would be too few for an
    /// interval, and one where there is no time for so many.
    fn of_budget(times: RaceTimes) -> StartPlan {
        let measured = (times.budget / STARTS).min(START_MAX).max(times.start);
        let longest = (times.budget / STARTS_PLANNED).saturating_sub(times.start);
        let rounds = times.rounds_in(measured).ceil() as u32;
        match times.rounds_in(longest).floor() as u32 {
            0 => StartPlan::ONE,
            most => StartPlan { rounds: Some(rounds.clamp(1, most)), count: None },
        }
    }

    /// Whether there is time for another start, after so many.
    pub fn has_time(&self, starts: usize, elapsed: Duration, times: RaceTimes) -> bool {
        match (self.count, self.rounds) {
            (Some(count), _) => starts < count as usize,
            (None, Some(rounds)) => elapsed + times.start + times.round * rounds <= times.budget,
            (None, None) => false,
        }
    }
}

impl RaceTimes {
    /// How many rounds `measured` has time for.
    fn rounds_in(&self, measured: Duration) -> f64 {
        measured.as_secs_f64() / self.round.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(budget_ms: u64, start_ms: u64) -> RaceTimes {
        let [budget, start, round] = [budget_ms, start_ms, 400].map(Duration::from_millis);
        RaceTimes { budget, start, round }
    }

    /// Starts of a race that takes exactly what was expected.
    fn starts(plan: StartPlan, times: RaceTimes) -> usize {
        let length = times.start + times.round * plan.rounds.unwrap_or(0);
        // The budget begins when the first start is ready.
        let elapsed = |starts: usize| length * starts as u32 - times.start;
        (1..).find(|starts| !plan.has_time(*starts, elapsed(*starts), times)).unwrap()
    }

    #[test]
    fn a_minute_has_some_twenty_starts_of_two_seconds() {
        let minute = times(60_000, 450);
        let plan = StartPlan::new(None, minute);
        assert_eq!(plan, StartPlan { rounds: Some(5), count: None });
        assert_eq!(starts(plan, minute), 24);
    }

    #[test]
    fn a_longer_race_has_more_starts_and_a_shorter_one_shorter_ones() {
        let long = times(1_800_000, 450);
        assert_eq!(StartPlan::new(None, long).rounds, Some(5));
        let short = times(10_000, 450);
        let plan = StartPlan::new(None, short);
        assert_eq!((plan.rounds, starts(plan, short)), (Some(1), 12));
        let hurried = times(5_000, 450);
        assert_eq!(StartPlan::new(None, hurried), StartPlan::ONE, "no interval from so few");
    }

    #[test]
    fn servers_that_take_long_to_start_are_measured_for_as_long() {
        assert_eq!(StartPlan::new(None, times(600_000, 10_000)).rounds, Some(25));
        assert_eq!(StartPlan::new(None, times(60_000, 10_000)), StartPlan::ONE);
    }

    #[test]
    fn as_many_starts_as_wanted_share_the_budget() {
        let minute = times(60_000, 1_000);
        let plan = StartPlan::new(Some(10), minute);
        assert_eq!(plan, StartPlan { rounds: Some(12), count: Some(10) });
        assert_eq!(starts(plan, minute), 10);
        assert_eq!(StartPlan::new(Some(1), minute), StartPlan::ONE);
        assert_eq!(StartPlan::new(Some(1_000), minute).rounds, Some(1));
        assert!(!StartPlan::ONE.has_time(1, Duration::ZERO, minute));
    }
}
