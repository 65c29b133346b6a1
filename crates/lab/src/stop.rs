//! Why there is no measurement: what the row says instead, or that somebody wants the lab to end.

use crate::process::Ended;
use bookend_contract::exit;
use bookend_results::measurement::Outcome;
use std::fmt;

/// What a row says when its subject exits with "unsupported" and no reason.
const NO_REASON: &str = "the subject gave no reason";

/// The end of an attempt to measure.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The row says this; others are measured.
    Row(Outcome),
    /// Somebody wants the lab to end.
    Interrupted,
}

impl Stop {
    /// A row that failed, with its error.
    pub fn failed(error: impl fmt::Display) -> Stop {
        Stop::Row(Outcome::failed(one_line(error)))
    }

    /// A row whose subject is not there, with what to do about it.
    pub fn missing(reason: impl fmt::Display) -> Stop {
        let reason = one_line(reason);
        Stop::Row(Outcome::Missing { reason })
    }

    /// A row whose subject cannot do what the case asks for.
    pub fn unsupported(reason: impl fmt::Display) -> Stop {
        let reason = one_line(reason);
        Stop::Row(Outcome::Unsupported { reason })
    }

    /// The same with the name of somebody else, whose fault it is, in front.
    pub fn in_front(self, whose: &str) -> Stop {
        match self {
            Stop::Row(Outcome::Unsupported { reason }) => {
                Stop::unsupported(format!("{whose}{reason}"))
            }
            Stop::Row(Outcome::Failed { error, window }) => Stop::Row(Outcome::Failed {
                error: one_line(format!("{whose}{error}")),
                window,
            }),
            Stop::Row(Outcome::Missing { reason }) => Stop::missing(format!("{whose}{reason}")),
            other => other,
        }
    }

    /// A process that ended before it was done: unsupported if it said so, else failed.
    pub fn of_end(ended: &Ended) -> Stop {
        if ended.code() != Some(i32::from(exit::UNSUPPORTED)) {
            return Stop::failed(ended.complaint());
        }
        Stop::unsupported(ended.last_error.as_deref().unwrap_or(NO_REASON))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Row(Outcome::Measured(_)) => out.write_str("measured"),
            Stop::Row(Outcome::Unsupported { reason }) => write!(out, "unsupported: {reason}"),
            Stop::Row(Outcome::Failed { error, .. }) => write!(out, "failed: {error}"),
            Stop::Row(Outcome::Missing { reason }) => write!(out, "missing: {reason}"),
            Stop::Interrupted => out.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Stop {}

fn one_line(text: impl fmt::Display) -> String {
    let text = text.to_string();
    let words: Vec<&str> = text.lines().map(str::trim).collect();
    words.join(" ")
}
