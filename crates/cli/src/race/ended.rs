//! How a race has ended: with what was measured, or without anything.

use super::arguments::RaceArguments;
use crate::terminal::{Failure, columns, print_error, progress_shown};
use bookend_lab::race::{Contestants, EndedRace, RacePlan, RaceProgress, RaceRunError, run_race};
use bookend_results::race::Race;
use std::io;

/// Why a race has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// The user ended it before anything was measured.
    Interrupted,
    /// It could not be run.
    Failed(Failure),
}

/// Runs a race that shows how far it is.
///
/// # Errors
/// There is no answer.
pub fn run(
    arguments: &RaceArguments,
    race: Race,
    plan: &RacePlan,
    contestants: &mut impl Contestants,
) -> Result<EndedRace, RaceEnd> {
    let mut out = io::stderr();
    let mut progress = RaceProgress::new(&mut out, progress_shown(arguments.quiet), columns, plan);
    let mut ended = run_race(race, plan, contestants, &mut |elapsed, standing, race| {
        progress.show(elapsed, standing, race);
    });
    progress.clear();
    if !ended.is_cut_short() {
        ended.too_wide(plan.until).iter().for_each(|line| print_error(line));
    }
    match ended.has_answer() {
        true => Ok(ended),
        false => Err(ended.failure.take().map_or(RaceEnd::Interrupted, RaceEnd::from)),
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
            RaceRunError::AgentLost(error) => RaceEnd::Failed(Failure::agent_lost(error)),
            RaceRunError::NotDelivered(error) => RaceEnd::Failed(Failure::not_delivered(error)),
            error => RaceEnd::Failed(Failure::nothing_measured(error)),
        }
    }
}
