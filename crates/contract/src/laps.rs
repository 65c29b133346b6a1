//! Laps: spans of time in which an instrument makes calls, each when it is told to, with no call in
//! flight between two of them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What an instrument in laps is told to do, a line on its standard input. `Display` writes it,
/// `FromStr` reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LapCommand {
    /// `warmup MS`: make calls for `MS` milliseconds, which count as warm-up, and say `warmup N`.
    WarmUp(u64),
    /// `lap MS`: make calls for `MS` milliseconds, wait for those in flight, and say `lap OK FAILED
    /// LENGTH_NS`, with the [`RatedCalls`] behind it where calls are made by a rate.
    Lap(u64),
}

/// What was called in one lap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LapFigures {
    /// Calls that ended OK.
    pub ok: u64,
    /// Calls that ended otherwise.
    pub failed: u64,
    /// From the lap's beginning to the end of its last call, nanoseconds.
    pub length_ns: u64,
    /// When calls were made, where that was by a rate.
    pub rated: Option<RatedCalls>,
}

/// The calls of a lap that were made by a rate, whether or not others had ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedCalls {
    /// Calls that were due.
    pub due: u64,
    /// Those of them that had to wait because too many were in flight, or were never made.
    pub held_back: u64,
    /// How much later than due 99 % of the others were made, by the generator's own lag,
    /// nanoseconds.
    pub lag_ns: u64,
    /// The time from when they were due within which half of the calls were answered, nanoseconds.
    pub p50_ns: u64,
    /// And 99 % of them.
    pub p99_ns: u64,
}

/// A command that the contract does not have: the fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{_0:?} is no command: write `warmup MS` or `lap MS`")]
pub struct LapCommandError(String);

impl fmt::Display for LapCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LapCommand::WarmUp(length_ms) => write!(out, "warmup {length_ms}"),
            LapCommand::Lap(length_ms) => write!(out, "lap {length_ms}"),
        }
    }
}

impl FromStr for LapCommand {
    type Err = LapCommandError;

    fn from_str(text: &str) -> Result<LapCommand, LapCommandError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let command = match words[..] {
            ["warmup", length] => milliseconds(length).map(LapCommand::WarmUp),
            ["lap", length] => milliseconds(length).map(LapCommand::Lap),
            _ => None,
        };
        command.ok_or_else(|| LapCommandError(text.chars().take(SHOWN_CHARS).collect()))
    }
}

/// How much of a malformed command an error shows.
const SHOWN_CHARS: usize = 80;

/// `u64::from_str` would take a leading plus sign.
fn milliseconds(word: &str) -> Option<u64> {
    let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_as_it_is_written() {
        for (command, text) in
            [(LapCommand::WarmUp(0), "warmup 0"), (LapCommand::Lap(100), "lap 100")]
        {
            assert_eq!(command.to_string(), text);
            assert_eq!(text.parse(), Ok(command));
            assert_eq!(format!("{text}\r\n").parse(), Ok(command));
        }
    }

    #[test]
    fn what_is_no_command_is_shown() {
        for text in ["", "lap", "lap x", "lap -1", "lap +1", "lap 1 2", "laps 1", "LAP 1"] {
            assert!(text.parse::<LapCommand>().is_err(), "{text}");
        }
        let error = format!("lap {}", "9".repeat(1000)).parse::<LapCommand>().unwrap_err();
        assert!(error.to_string().len() < 200, "{error}");
        let error = "lap ten".parse::<LapCommand>().unwrap_err();
        assert_eq!(error.to_string(), "\"lap ten\" is no command: write `warmup MS` or `lap MS`");
    }
}
