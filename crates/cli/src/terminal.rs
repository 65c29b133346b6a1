//! What a command leaves behind: text on standard output, or one line on standard error, and an
//! exit status for scripts.

use bookend_lab::progress::{ProgressReporter, ProgressShown};
use bookend_load::contract::exit;
use bookend_load::contract::gate::{self, GateOutcome, JudgedGate};
use bookend_load::contract::secrets::in_message;
use bookend_load::output;
use bookend_load::prepare::PrepareError;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Why a command could not do what it was asked to: all that standard error shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One of [`bookend_load::contract::exit`].
    status: u8,
    line: String,
}

impl Failure {
    /// The command line makes no sense.
    pub fn usage(error: impl ToString) -> Failure {
        Failure::new(exit::USAGE, error)
    }

    /// The command made sense and nothing could be measured.
    pub fn nothing_measured(error: impl ToString) -> Failure {
        Failure::new(exit::NOTHING_MEASURED, error)
    }

    /// There is a result, and it could not be written to its destination.
    pub fn not_delivered(error: impl ToString) -> Failure {
        Failure::new(exit::NOT_DELIVERED, error)
    }

    /// There is nothing to call: other flags are needed, or another server.
    pub fn unprepared(error: PrepareError) -> Failure {
        if error.is_usage() { Failure::usage(error) } else { Failure::nothing_measured(error) }
    }

    fn new(status: u8, error: impl ToString) -> Failure {
        // A path or a peer's message may hold anything; a line of a log must stay one line.
        let line = without_error_numbers(&error.to_string());
        let line = in_message(&line).replace(char::is_control, " ");
        Failure { status, line }
    }

    /// Writes the line on standard error, and ends with the status.
    pub fn report(&self, command: &str) -> ExitCode {
        print_error(&format!("bookend {command}: {}", self.line));
        ExitCode::from(self.status)
    }
}

/// The text without the numbers that the standard library adds to the system's words.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix(')') {
            Some(rest) => kept += rest,
            None => kept.extend([" (os error ", part]),
        }
    }
    kept
}

/// The exit status of a command with these gates; those that are not met have a line each.
pub fn gate_status(command: &str, gates: &[JudgedGate]) -> u8 {
    let unmet = gates.iter().filter(|gate| gate.outcome != GateOutcome::Met);
    unmet.for_each(|gate| print_error(&format!("bookend {command}: {gate}")));
    gate::exit_status(gates)
}

/// Writes to standard output.
///
/// # Errors
/// [`Failure`] when it cannot be written to. A reader that has closed its end is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    output::write(text, None).map_err(Failure::nothing_measured)
}

/// Does what takes long, with its progress on standard error, unless that is not wanted.
pub fn with_progress<R>(quiet: bool, work: impl FnOnce(&mut ProgressReporter<'_>) -> R) -> R {
    work(&mut ProgressReporter::new(&mut io::stderr(), progress_shown(quiet)))
}

/// Where progress is shown.
pub fn progress_shown(quiet: bool) -> ProgressShown {
    match (quiet, io::stderr().is_terminal()) {
        (true, _) => ProgressShown::Quiet,
        (false, true) => ProgressShown::Terminal,
        (false, false) => ProgressShown::Lines,
    }
}

/// Writes one line on standard error.
pub fn print_error(line: &str) {
    // If nobody reads it, the exit status still says what happened.
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn a_failure_has_the_words_of_the_system_and_no_number() {
        let line = |text: &str| Failure::usage(text).line;
        assert_eq!(line("a: No such file (os error 2): b (os error 13)"), "a: No such file: b");
        assert_eq!(line("a (os error x)"), "a (os error x)");
        assert_eq!(line("a (os error 1"), "a (os error 1");
    }
}
