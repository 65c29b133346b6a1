//! Why a race has no result.

use crate::terminal::Failure;
use bookend_lab::race::RaceRunError;

/// Why a race has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// The user ended it before anything was measured.
    Interrupted,
    /// It could not be run.
    Failed(Failure),
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
            error => RaceEnd::Failed(Failure::nothing_measured(error)),
        }
    }
}
