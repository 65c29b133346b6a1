//! How a race has ended: with what was measured, or without anything.

use super::arguments::RaceArguments;
use super::progress::RaceProgress;
use crate::terminal::Failure;
use bookend_lab::race::{Contestants, EndedRace, RacePlan, RaceRunError, run_race};
use bookend_results::race::Race;

/// What a race that failed has to say of itself.
const CUT_SHORT: &str = "a failure ended this race before its time";

/// A race that has an answer.
pub struct MeasuredRace {
    /// All that was measured.
    pub race: Race,
    /// Why there is no more of it, if it was cut short.
    pub end: Option<RaceEnd>,
}

/// Why a race has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// The user ended it before anything was measured.
    Interrupted,
    /// It could not be run.
    Failed(Failure),
}

impl MeasuredRace {
    /// Runs a race. `doubts`: what there is to doubt of it, and of those that were raced.
    ///
    /// # Errors
    /// There is no answer.
    pub fn run<C: Contestants>(
        arguments: &RaceArguments,
        race: Race,
        plan: &RacePlan,
        contestants: &mut C,
        doubts: impl FnOnce(&EndedRace, &C) -> Vec<String>,
    ) -> Result<MeasuredRace, RaceEnd> {
        let mut progress = RaceProgress::new(arguments);
        let mut view = |elapsed, standing: &_, race: &_| progress.show(elapsed, standing, race);
        let mut ended = run_race(race, plan, contestants, &mut view);
        progress.clear();
        let has_answer = ended.has_answer();
        let end = ended.failure.take().map(RaceEnd::from);
        if !matches!(end, Some(RaceEnd::Failed(_))) {
            progress.say_width(ended.elapsed, &ended.standing);
        }
        let doubts = if has_answer { doubts(&ended, contestants) } else { Vec::new() };
        let mut measured = MeasuredRace { race: ended.race, end };
        if !has_answer {
            return Err(measured.end.unwrap_or(RaceEnd::Interrupted));
        }
        measured.race.doubts.extend(doubts);
        if let Some(RaceEnd::Failed(_)) = &measured.end {
            measured.race.doubts.push(CUT_SHORT.to_owned());
        }
        Ok(measured)
    }
}

impl From<Failure> for RaceEnd {
    fn from(failure: Failure) -> RaceEnd {
        RaceEnd::Failed(failure)
    }
}

impl From<RaceRunError> for RaceEnd {
    fn from(error: RaceRunError) -> RaceEnd {
        match error {
            RaceRunError::Interrupted => RaceEnd::Interrupted,
            RaceRunError::Usage(error) => RaceEnd::Failed(Failure::usage(error)),
            error => RaceEnd::Failed(Failure::nothing_measured(error)),
        }
    }
}
