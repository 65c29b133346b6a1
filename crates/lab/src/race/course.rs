//! The course of a race: start after start, each with its rounds, until there is an answer or no
//! time left. It is the same for servers and for clients.

use super::contestants::{Contestants, run_round};
use super::error::RaceRunError;
use super::plan::RacePlan;
use super::progress::percent;
use super::schedule::RaceSchedule;
use bookend_results::race::{DROPPED_ALWAYS, Race, STARTS_MIN, Standing};
use fastrand::Rng;
use std::time::{Duration, Instant};

/// Rounds after which a rate that was kept counts as sustainable.
const RATE_ROUNDS: u64 = 20;

/// A race that takes longer than this multiple of its budget says so.
const OVERRUN_SAID: f64 = 1.1;

/// What a race that failed has to say of itself.
const CUT_SHORT: &str = "a failure ended this race before its time";

/// Sees a race after each of its rounds, with the time since its first start was ready.
pub type RaceView<'a> = dyn FnMut(Duration, &Standing, &Race) + 'a;

/// A race that is over.
#[derive(Debug)]
pub struct EndedRace {
    /// All that was measured.
    pub race: Race,
    /// Where it stands.
    pub standing: Standing,
    /// The time since the first start was ready.
    pub elapsed: Duration,
    /// Why it could not go on, if it could not.
    pub failure: Option<RaceRunError>,
}

/// Runs `race`, of which nothing has been run, as planned. What was measured before a failure or
/// an interrupt is kept.
pub fn run_race(
    race: Race,
    plan: &RacePlan,
    contestants: &mut impl Contestants,
    view: &mut RaceView<'_>,
) -> EndedRace {
    let random = Rng::with_seed(race.seed);
    let (schedule, standing) = (RaceSchedule::new(plan), Standing::default());
    let mut course = RaceCourse { race, standing, random, schedule, view };
    let ran = course.run(contestants);
    let RaceCourse { race, standing, schedule, .. } = course;
    let failure = ran.and_then(|()| Ok(race.check_dropped()?)).err();
    let mut ended = EndedRace { race, standing, elapsed: schedule.elapsed(), failure };
    if ended.has_answer() {
        let doubts = contestants.doubts(&ended.race);
        let cut_short = ended.is_cut_short().then(|| CUT_SHORT.to_owned());
        let doubts = schedule.budget_needed().map(too_short).into_iter().chain(doubts);
        ended.race.doubts.extend(doubts.chain(cut_short));
    }
    ended
}

/// Says that there was no time for the starts that would have shown how others differ.
fn too_short(budget_needed: Duration) -> String {
    let seconds = budget_needed.as_secs_f64().ceil();
    format!(
        "the budget has time for one start, so this says nothing of other starts: {STARTS_MIN} of \
         them take about --budget {seconds}s"
    )
}

impl EndedRace {
    /// Whether a failure ended it before its time.
    pub fn is_cut_short(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| !matches!(failure, RaceRunError::Interrupted))
    }

    /// Where the interval was to be narrower than it became, says how long that would take.
    pub fn too_wide(&self, until: Option<f64>) -> Option<String> {
        let width = until.filter(|width| !self.standing.is_within(*width))?;
        let width_text = percent(width);
        Some(match self.standing.times_until(width) {
            Some(times) => {
                let minutes = (self.elapsed.mul_f64(times).as_secs_f64() / 60.0).ceil().max(1.0);
                format!(
                    "the interval is wider than ±{width_text}: as rounds differ here, that takes \
                     about --budget {minutes}m"
                )
            }
            None => format!(
                "the interval is wider than ±{width_text}, and there are too few starts or rounds \
                 to say what it takes"
            ),
        })
    }

    /// Says that the starts have taken longer than they should.
    pub fn overrun(&self, budget: Duration) -> Option<String> {
        let (starts, elapsed) = (self.race.starts.len(), self.elapsed);
        (starts > 1 && elapsed > budget.mul_f64(OVERRUN_SAID)).then(|| {
            let [took, given] = [elapsed, budget].map(|time| time.as_secs_f64());
            format!("this took {took:.1} s instead of {given} s, for {starts} starts take so long")
        })
    }

    /// Whether there is an answer, however the race ended.
    pub fn has_answer(&self) -> bool {
        let is_void = matches!(
            self.failure,
            Some(RaceRunError::RateNotHeld(_) | RaceRunError::TooManyDropped(_))
        );
        !is_void && self.race.rounds().next().is_some() && self.race.check_dropped().is_ok()
    }
}

/// A race that goes on.
struct RaceCourse<'a, 'v> {
    race: Race,
    standing: Standing,
    random: Rng,
    schedule: RaceSchedule<'a>,
    view: &'a mut RaceView<'v>,
}

impl RaceCourse<'_, '_> {
    fn run(&mut self, contestants: &mut impl Contestants) -> Result<(), RaceRunError> {
        let mut is_reversed = false;
        loop {
            let begin = Instant::now();
            contestants.start(is_reversed)?;
            self.schedule.start_ready(begin.elapsed());
            self.race.starts.push(Vec::new());
            let ran = self.run_rounds(contestants);
            self.race.starts.pop_if(|start| start.is_empty());
            ran?;
            if self.schedule.is_over(self.race.starts.len(), &self.standing) {
                return Ok(());
            }
            is_reversed = self.random.bool();
        }
    }

    /// Runs the rounds of one start; how many the first start has becomes clear meanwhile.
    fn run_rounds(&mut self, contestants: &mut impl Contestants) -> Result<(), RaceRunError> {
        let (mut rounds, mut dropped) = (0, 0);
        loop {
            let begin = Instant::now();
            let round = run_round(contestants, self.race.cells.len(), &mut self.random)?;
            self.schedule.round_ended(begin.elapsed());
            if let Err(error) = self.standing.push(&round) {
                self.race.dropped.push(round);
                dropped += 1;
                if dropped > DROPPED_ALWAYS {
                    return Err(contestants.failed(error.server(), error.to_string()));
                }
                continue;
            }
            (rounds, dropped) = (rounds + 1, 0);
            if let Some(start) = self.race.starts.last_mut() {
                start.push(round);
            }
            if self.standing.rounds() <= RATE_ROUNDS {
                self.race.check_rate()?;
            }
            (self.view)(self.schedule.elapsed(), &self.standing, &self.race);
            if self.schedule.is_start_over(rounds, &self.standing) {
                self.standing.end_start();
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::plan::RaceStarts;
    use bookend_results::race::{RaceCell, RaceLap, RaceServerName};

    /// Contestants whose laps come to what a script says: the calls answered in each.
    struct Scripted<F> {
        laps: usize,
        starts: usize,
        ok: F,
    }

    impl<F: Fn(usize) -> Result<u64, RaceRunError>> Contestants for Scripted<F> {
        fn count(&self) -> usize {
            2
        }

        fn start(&mut self, _is_reversed: bool) -> Result<(), RaceRunError> {
            self.starts += 1;
            Ok(())
        }

        fn lap(&mut self, _cell: usize, server: usize) -> Result<RaceLap, RaceRunError> {
            let ok = (self.ok)(self.laps)?;
            self.laps += 1;
            let [failed, length_ns, cpu_ns] = [0, 100, 50 + self.laps as u64 % 3];
            Ok(RaceLap { server, ok, failed, length_ns, cpu_ns, rated: None })
        }

        fn end_round(&mut self) {}

        fn failed(&self, contestant: usize, reason: String) -> RaceRunError {
            RaceRunError::Client(contestant.to_string(), reason)
        }

        fn doubts(&self, _race: &Race) -> Vec<String> {
            vec!["they are scripted".to_owned()]
        }
    }

    /// The race, and how many starts there were.
    fn raced(
        starts: RaceStarts,
        until: Option<f64>,
        ok: impl Fn(usize) -> Result<u64, RaceRunError>,
    ) -> (EndedRace, usize) {
        let [lap, warmup] = [Duration::from_millis(1), Duration::ZERO];
        // Nothing here lasts that long: what ends a race is not its budget.
        let budget = Duration::from_secs(3_600);
        let plan = RacePlan { cells: 1, lap, warmup, budget, until, starts };
        let mut contestants = Scripted { laps: 0, starts: 0, ok };
        let ended = run_race(of_nothing(), &plan, &mut contestants, &mut |_, _, _| {});
        (ended, contestants.starts)
    }

    fn of_nothing() -> Race {
        let named = |name: &str| RaceServerName { name: name.to_owned(), command: String::new() };
        Race {
            tested: Default::default(),
            servers: vec![named("old"), named("new")],
            cells: vec![RaceCell { connections: 1, concurrency: 1 }],
            rps: None,
            lap_ms: 1,
            margin: 0.01,
            seed: 1,
            doubts: Vec::new(),
            functions: None,
            starts: Vec::new(),
            machine: None,
            build: None,
            command: None,
            started: None,
            dropped: Vec::new(),
        }
    }

    #[test]
    fn a_race_is_over_when_its_interval_is_narrow_and_covers_starts() {
        let (ended, started) = raced(RaceStarts::EachRound, Some(0.9), |_| Ok(1_000));
        assert!(ended.failure.is_none() && ended.has_answer(), "{:?}", ended.failure);
        assert!(ended.standing.covers_starts());
        assert_eq!(ended.race.starts.len(), started);
        let (ended, started) = raced(RaceStarts::One, Some(0.9), |_| Ok(1_000));
        assert_eq!((ended.race.starts.len(), started), (1, 1));
    }

    #[test]
    fn whatever_ends_a_race_its_whole_rounds_are_kept() {
        for end in [|| RaceRunError::Interrupted, || RaceRunError::NotReady(String::new())] {
            let ends = |lap| if lap == 10 { Err(end()) } else { Ok(1_000) };
            for starts in [RaceStarts::One, RaceStarts::EachRound] {
                let (ended, _) = raced(starts, None, ends);
                assert!(ended.failure.is_some() && ended.has_answer());
                assert_eq!(ended.race.rounds().count(), 2, "the third was cut short");
                let cut_short = ended.is_cut_short().then_some(CUT_SHORT);
                let doubts: Vec<&str> =
                    ["they are scripted"].into_iter().chain(cut_short).collect();
                assert_eq!(ended.race.doubts, doubts);
                assert_eq!(cut_short.is_none(), matches!(end(), RaceRunError::Interrupted));
            }
            let (ended, _) = raced(RaceStarts::One, None, |_| Err(end()));
            assert!(!ended.has_answer() && ended.race.starts.is_empty());
            assert!(ended.race.doubts.is_empty(), "there is no answer to doubt");
        }
    }

    #[test]
    fn rounds_without_an_answer_are_dropped_and_three_in_a_row_end_the_race() {
        let (ended, started) = raced(RaceStarts::EachRound, None, |lap| match lap {
            0..8 => Ok(1_000),
            8..16 | 20.. => Ok(0),
            _ => Ok(1_000),
        });
        assert_eq!((ended.race.rounds().count(), ended.race.dropped.len(), started), (3, 5, 4));
        assert!(matches!(ended.failure, Some(RaceRunError::Client(..))), "{:?}", ended.failure);
        assert!(!ended.has_answer(), "too many rounds have none");
    }
}
