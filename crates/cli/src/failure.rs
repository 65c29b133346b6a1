//! Why a command ended early: one line for people and an exit status for scripts.

use bookend_load::contract::exit;
use bookend_load::prepare::PrepareError;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// A command that could not do what it was asked. Its line is all that standard error shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One of [`bookend_load::contract::exit`].
    status: u8,
    line: String,
}

impl Failure {
    /// The user wrote something that makes no sense.
    pub fn usage(error: impl ToString) -> Failure {
        Failure::new(exit::USAGE, error)
    }

    /// The command made sense and nothing could be measured.
    pub fn nothing_measured(error: impl ToString) -> Failure {
        Failure::new(exit::NOTHING_MEASURED, error)
    }

    /// There is a result, and it could not be written to where it was asked for.
    pub fn not_delivered(error: impl ToString) -> Failure {
        Failure::new(exit::NOT_DELIVERED, error)
    }

    /// There is nothing to call: other flags are needed, or another server.
    pub fn unprepared(error: PrepareError) -> Failure {
        match error.is_usage() {
            true => Failure::usage(error),
            false => Failure::nothing_measured(error),
        }
    }

    fn new(status: u8, error: impl ToString) -> Failure {
        // A path or a peer's message may hold anything; a line of a log must stay one line.
        let line = error.to_string().replace(char::is_control, " ");
        Failure { status, line }
    }

    /// Writes the line on standard error, and ends with the status.
    pub fn tell(&self, command: &str) -> ExitCode {
        complain(&format!("bookend {command}: {}", self.line));
        ExitCode::from(self.status)
    }
}

/// Writes one line on standard error.
pub fn complain(line: &str) {
    // Where nobody listens the exit status still tells.
    let _ = writeln!(io::stderr(), "{line}");
}
