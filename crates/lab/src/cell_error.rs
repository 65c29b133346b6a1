//! Why there is no measurement of a cell.

use crate::process::ProcessExit;
use crate::process::interrupt::Interrupted;
use bookend_contract::exit;
use bookend_results::measurement::Outcome;
use std::fmt;
use thiserror::Error;

/// What a row says when its subject exits with "unsupported" and no reason.
const NO_REASON: &str = "the subject gave no reason";

/// Why there is no measurement of a cell.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellError {
    /// The row says this; other cells are measured.
    #[error("{}", in_words(.0))]
    Outcome(Outcome),
    /// The user wants the lab to end.
    #[error("interrupted")]
    Interrupted,
}

impl CellError {
    /// A row that failed, with its error.
    pub fn failed(error: impl fmt::Display) -> CellError {
        CellError::Outcome(Outcome::failed(one_line(error)))
    }

    /// A row whose subject is not there, with what to do about it.
    pub fn missing(reason: impl fmt::Display) -> CellError {
        let reason = one_line(reason);
        CellError::Outcome(Outcome::Missing { reason })
    }

    /// A row whose subject cannot do what the case asks for.
    pub fn unsupported(reason: impl fmt::Display) -> CellError {
        let reason = one_line(reason);
        CellError::Outcome(Outcome::Unsupported { reason })
    }

    /// A process that ended before it was done: unsupported if it said so, else failed.
    pub fn from_exit(ended: &ProcessExit) -> CellError {
        if ended.code() != Some(i32::from(exit::UNSUPPORTED)) {
            return CellError::failed(ended.describe());
        }
        CellError::unsupported(ended.last_error.as_deref().unwrap_or(NO_REASON))
    }

    /// The same with the name of another process, whose fault it is, in front.
    pub fn with_prefix(mut self, whose: &str) -> CellError {
        if let CellError::Outcome(outcome) = &mut self
            && let Some(reason) = outcome.reason_mut()
        {
            reason.insert_str(0, whose);
        }
        self
    }

    /// Whether it is a row that failed, rather than one that is not there or not supported.
    pub fn is_failure(&self) -> bool {
        matches!(self, CellError::Outcome(outcome) if outcome.has_failed())
    }

    /// What the row says. An interrupt ends the round instead.
    ///
    /// # Errors
    /// It was an interrupt.
    pub fn into_outcome(self) -> Result<Outcome, Interrupted> {
        match self {
            CellError::Outcome(outcome) => Ok(outcome),
            CellError::Interrupted => Err(Interrupted),
        }
    }

    /// What was made, or what the rows say instead. An interrupt ends the round.
    ///
    /// # Errors
    /// It was an interrupt.
    pub fn or_outcome<T>(made: Result<T, CellError>) -> Result<Result<T, Outcome>, Interrupted> {
        made.map_or_else(|error| error.into_outcome().map(Err), |made| Ok(Ok(made)))
    }
}

fn in_words(outcome: &Outcome) -> String {
    match outcome.unmeasured() {
        None => "measured".to_owned(),
        Some((why, reason)) => format!("{why}: {reason}"),
    }
}

fn one_line(text: impl fmt::Display) -> String {
    let text = text.to_string();
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
