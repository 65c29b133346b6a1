//! Why there is no measurement of a cell.

use crate::process::ProcessExit;
use crate::process::interrupt::Interrupted;
use bookend_contract::exit;
use bookend_results::measurement::Outcome;
use std::fmt;

/// What a row says when its subject exits with "unsupported" and no reason.
const NO_REASON: &str = "the subject gave no reason";

/// Why there is no measurement of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum CellError {
    /// The row says this; other cells are measured.
    Outcome(Outcome),
    /// The user wants the lab to end.
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
    pub fn with_prefix(self, whose: &str) -> CellError {
        match self {
            CellError::Outcome(Outcome::Unsupported { reason }) => {
                CellError::unsupported(format!("{whose}{reason}"))
            }
            CellError::Outcome(Outcome::Failed { error, window }) => {
                let error = one_line(format!("{whose}{error}"));
                CellError::Outcome(Outcome::Failed { error, window })
            }
            CellError::Outcome(Outcome::Missing { reason }) => {
                CellError::missing(format!("{whose}{reason}"))
            }
            other => other,
        }
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
}

impl fmt::Display for CellError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CellError::Outcome(Outcome::Measured(_)) => out.write_str("measured"),
            CellError::Outcome(Outcome::Unsupported { reason }) => {
                write!(out, "unsupported: {reason}")
            }
            CellError::Outcome(Outcome::Failed { error, .. }) => write!(out, "failed: {error}"),
            CellError::Outcome(Outcome::Missing { reason }) => write!(out, "missing: {reason}"),
            CellError::Interrupted => out.write_str("interrupted"),
        }
    }
}

impl std::error::Error for CellError {}

fn one_line(text: impl fmt::Display) -> String {
    let text = text.to_string();
    let words: Vec<&str> = text.lines().map(str::trim).collect();
    words.join(" ")
}
