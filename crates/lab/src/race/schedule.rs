//! When a race is over: how often its servers are started anew, and for how long each start is
//! measured.

use super::plan::{RacePlan, RaceStarts};
use bookend_results::race::{STARTS_MIN, Standing};
use std::time::{Duration, Instant};

/// Starts that a race aims at: with thirty, the interval is 7 % wider than if starts did not differ
/// and their rounds were counted.
const STARTS: u32 = 30;

/// A start need not be measured for longer than in a race of a minute: where there is more time,
/// more starts tell more than longer ones.
const START_MAX: Duration = Duration::from_secs(2);

/// Starts that the budget has time for: one more than an interval needs, for what a start takes is
/// not always the same.
const STARTS_PLANNED: u32 = STARTS_NEEDED + 1;

/// Starts that an interval needs.
const STARTS_NEEDED: u32 = STARTS_MIN as u32;

/// Once a race has some of the starts that an interval needs, it takes up to this multiple of its
/// budget to have them all, where they take longer than the first ones did.
const OVERRUN_MAX: f64 = 1.25;

/// Says when a start is over, and when the race is.
#[derive(Debug)]
pub(super) struct RaceSchedule<'a> {
    plan: &'a RacePlan,
    /// How the race is divided, once a round has shown how long one takes.
    starts_plan: Option<StartPlan>,
    /// Rounds of this start. `None`: as many as there turn out to be.
    rounds: Option<u32>,
    /// What all starts took, and how many there were.
    starts: (Duration, u32),
    /// The same of rounds.
    all_rounds: (Duration, u32),
    /// When the first start was ready: the time until then is the contestants' affair.
    begin: Option<Instant>,
}

impl<'a> RaceSchedule<'a> {
    /// Nothing has been started yet.
    pub(super) fn new(plan: &'a RacePlan) -> Self {
        let rounds = (plan.starts == RaceStarts::EachRound).then_some(1);
        let (starts, all_rounds) = <_>::default();
        RaceSchedule { plan, starts_plan: None, rounds, starts, all_rounds, begin: None }
    }

    /// A start is ready, which took that long.
    pub(super) fn start_ready(&mut self, took: Duration) {
        add(&mut self.starts, took);
        self.begin.get_or_insert_with(Instant::now);
    }

    /// A round took that long, which may have been dropped.
    pub(super) fn round_ended(&mut self, took: Duration) {
        add(&mut self.all_rounds, took);
    }

    /// Whether a start of so far `rounds` rounds is over.
    pub(super) fn is_start_over(&mut self, rounds: u32, standing: &Standing) -> bool {
        if self.rounds.is_none() {
            self.starts_plan = Some(match self.plan.starts {
                RaceStarts::Several(wanted) => StartPlan::new(wanted, self.times()),
                RaceStarts::One | RaceStarts::EachRound => StartPlan::ONE,
            });
        }
        match self.rounds.or(self.starts_plan.and_then(|plan| plan.rounds)) {
            Some(planned) => rounds >= planned,
            None => self.is_narrow(standing) || self.elapsed() >= self.plan.budget,
        }
    }

    /// Whether the race is over after `starts` starts. If not, the next one may begin.
    pub(super) fn is_over(&mut self, starts: usize, standing: &Standing) -> bool {
        let elapsed = self.elapsed();
        self.rounds = match (self.plan.starts, self.starts_plan) {
            (RaceStarts::EachRound, _) => (elapsed < self.plan.budget).then_some(1),
            (_, starts_plan) => {
                starts_plan.and_then(|plan| plan.next(starts, elapsed, self.times()))
            }
        };
        self.rounds.is_none() || (self.is_narrow(standing) && standing.covers_starts())
    }

    /// The time since the first start was ready.
    pub(super) fn elapsed(&self) -> Duration {
        self.begin.map_or(Duration::ZERO, |begin| begin.elapsed())
    }

    /// The budget of as many starts as an interval needs, where there was time for one alone.
    pub(super) fn budget_needed(&self) -> Option<Duration> {
        let is_short = matches!(self.plan.starts, RaceStarts::Several(_))
            && self.starts_plan.is_none_or(|plan| plan == StartPlan::ONE);
        is_short.then(|| self.times().budget_needed())
    }

    fn is_narrow(&self, standing: &Standing) -> bool {
        self.plan.until.is_some_and(|width| standing.is_within(width))
    }

    fn times(&self) -> RaceTimes {
        let mean = |(sum, count): (Duration, u32)| sum / count.max(1);
        let (start, round) = (mean(self.starts), mean(self.all_rounds));
        RaceTimes { budget: self.plan.budget, start, round }
    }
}

/// Adds what one more took.
fn add((sum, count): &mut (Duration, u32), took: Duration) {
    *sum += took;
    *count += 1;
}

/// How a race is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StartPlan {
    /// The rounds of a start. `None`: there is one start, which lasts for the whole race.
    rounds: Option<u32>,
    /// Number of starts after which the race is over. `None`: it ends with its budget.
    count: Option<u32>,
}

/// How long things take in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RaceTimes {
    /// The whole race, from when the first servers are warm.
    budget: Duration,
    /// Ending servers, starting them and warming them up.
    start: Duration,
    /// A round.
    round: Duration,
}

impl StartPlan {
    /// One start for the whole race.
    const ONE: StartPlan = StartPlan { rounds: None, count: Some(1) };

    /// As many starts as `wanted`, which share the budget, or else as the budget allows.
    fn new(wanted: Option<u32>, times: RaceTimes) -> StartPlan {
        match wanted {
            Some(0 | 1) => StartPlan::ONE,
            Some(count) => {
                StartPlan { rounds: Some(times.rounds_in_each(count).max(1)), count: wanted }
            }
            None => StartPlan::of_budget(times),
        }
    }

    /// Starts of which half is for rounds; shorter ones where there would be too few for an
    /// interval, and one where there is no time for enough of them.
    fn of_budget(times: RaceTimes) -> StartPlan {
        if times.rounds_in_each(STARTS_NEEDED) == 0 {
            return StartPlan::ONE;
        }
        let measured = (times.budget / STARTS).min(START_MAX).max(times.start);
        let rounds = times.rounds_in(measured).ceil() as u32;
        let most = times.rounds_in_each(STARTS_PLANNED).max(1);
        StartPlan { rounds: Some(rounds.clamp(1, most)), count: None }
    }

    /// The rounds of the next start, after `starts` starts. `None`: the race is over.
    ///
    /// As many starts as there have to be share the time that is left. They become shorter where
    /// others took longer than planned, and have a round each where there is no time at all.
    fn next(&self, starts: usize, elapsed: Duration, times: RaceTimes) -> Option<u32> {
        let rounds = self.rounds?;
        let needed = self.count.unwrap_or(STARTS_NEEDED) as usize;
        let left = times.budget.saturating_sub(elapsed);
        if starts >= needed {
            let has_time = self.count.is_none() && times.start + times.round * rounds <= left;
            return has_time.then_some(rounds);
        }
        let end = elapsed + times.start + times.round;
        if self.count.is_none() && end > times.budget.mul_f64(OVERRUN_MAX) {
            return None;
        }
        let each = left / (needed - starts) as u32;
        let fit = times.rounds_in(each.saturating_sub(times.start)).floor() as u32;
        Some(fit.clamp(1, rounds))
    }
}

impl RaceTimes {
    /// The budget of as many starts as an interval needs.
    fn budget_needed(&self) -> Duration {
        ((self.start + self.round) * STARTS_NEEDED).saturating_sub(self.start)
    }

    /// How many rounds each of `starts` starts has time for. The first one's start is before the
    /// budget.
    fn rounds_in_each(&self, starts: u32) -> u32 {
        let each = (self.budget + self.start) / starts;
        self.rounds_in(each.saturating_sub(self.start)).floor() as u32
    }

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

    /// The rounds of each start of a race, and how long it takes, where each start but the first
    /// takes `slower` times as long as the first.
    fn simulated(wanted: Option<u32>, times: RaceTimes, slower: f64) -> (Vec<u32>, Duration) {
        let plan = StartPlan::new(wanted, times);
        let now = RaceTimes {
            start: times.start.mul_f64(slower),
            round: times.round.mul_f64(slower),
            ..times
        };
        let mut rounds = vec![plan.rounds.expect("several starts")];
        let mut elapsed = times.round * rounds[0];
        while let Some(next) = plan.next(rounds.len(), elapsed, now) {
            elapsed += now.start + now.round * next;
            rounds.push(next);
        }
        (rounds, elapsed)
    }

    fn starts(wanted: Option<u32>, times: RaceTimes) -> usize {
        simulated(wanted, times, 1.0).0.len()
    }

    #[test]
    fn a_minute_has_some_twenty_starts_of_two_seconds() {
        let minute = times(60_000, 450);
        assert_eq!(StartPlan::new(None, minute), StartPlan { rounds: Some(5), count: None });
        assert_eq!(starts(None, minute), 24);
    }

    #[test]
    fn a_longer_race_has_more_starts_and_a_shorter_one_shorter_ones() {
        let long = times(1_800_000, 450);
        assert_eq!(StartPlan::new(None, long).rounds, Some(5));
        let short = times(10_000, 450);
        assert_eq!((StartPlan::new(None, short).rounds, starts(None, short)), (Some(1), 12));
        let hurried = times(5_000, 450);
        assert_eq!(StartPlan::new(None, hurried), StartPlan::ONE, "no interval from so few");
        assert_eq!(hurried.budget_needed(), Duration::from_millis(6_350));
        assert_eq!(starts(None, times(6_350, 450)), 8);
    }

    #[test]
    fn servers_that_take_long_to_start_are_measured_for_as_long() {
        assert_eq!(StartPlan::new(None, times(600_000, 10_000)).rounds, Some(25));
        assert_eq!(StartPlan::new(None, times(60_000, 10_000)), StartPlan::ONE);
    }

    #[test]
    fn slow_servers_have_as_many_starts_as_an_interval_needs() {
        // Four cells of a server that takes 300 ms for the calls in flight at the end of a lap.
        let slow = RaceTimes { round: Duration::from_millis(3_200), ..times(60_000, 3_500) };
        let (rounds, elapsed) = simulated(None, slow, 1.0);
        assert_eq!(rounds, [1; 9]);
        assert!(elapsed <= slow.budget, "{elapsed:?}");
        let slower = RaceTimes { round: Duration::from_millis(4_400), ..slow };
        assert_eq!(simulated(None, slower, 1.0).0, [1; 8]);
    }

    #[test]
    fn starts_that_take_longer_than_planned_become_shorter() {
        let minute = times(60_000, 2_000);
        assert_eq!(StartPlan::new(None, minute).rounds, Some(5));
        let (rounds, elapsed) = simulated(None, minute, 2.5);
        assert_eq!(rounds.len(), 8, "{rounds:?}");
        assert!(rounds[1..].iter().all(|rounds| *rounds < 5), "{rounds:?}");
        assert!(elapsed <= minute.budget.mul_f64(OVERRUN_MAX), "{elapsed:?}");
        let (rounds, elapsed) = simulated(None, minute, 10.0);
        assert!(rounds.len() < 8 && elapsed <= minute.budget.mul_f64(OVERRUN_MAX), "{rounds:?}");
    }

    #[test]
    fn as_many_starts_as_wanted_share_the_budget() {
        let minute = times(60_000, 1_000);
        let (rounds, elapsed) = simulated(Some(10), minute, 1.0);
        assert_eq!(rounds, [12; 10]);
        assert!(elapsed <= minute.budget, "{elapsed:?}");
        assert_eq!(StartPlan::new(Some(1), minute), StartPlan::ONE);
        assert_eq!(StartPlan::ONE.next(1, Duration::ZERO, minute), None);
    }

    #[test]
    fn there_are_as_many_starts_as_wanted_whatever_they_take() {
        for wanted in [8, 9, 10, 30] {
            for slower in [0.5, 1.0, 1.1, 2.0, 50.0] {
                for start_ms in [100, 1_000, 20_000] {
                    let minute = times(60_000, start_ms);
                    let (rounds, _) = simulated(Some(wanted), minute, slower);
                    assert_eq!(rounds.len(), wanted as usize, "{slower} {start_ms}");
                }
            }
        }
    }
}
