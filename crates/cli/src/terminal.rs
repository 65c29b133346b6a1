//! What a command leaves behind: text on standard output, or one line on standard error, and an
//! exit status for scripts.

use bookend_contract::exit;
use bookend_contract::gate::{self, GateOutcome, JudgedGate};
use bookend_contract::printable;
use bookend_contract::secrets::TypedSecrets;
use bookend_lab::progress::{COLUMNS, ProgressReporter, ProgressShown};
use bookend_load::output;
use bookend_load::prepare::PrepareError;
use rustix::termios::tcgetwinsize;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::{PoisonError, RwLock};

/// What no line of an error may have in it.
static TYPED: RwLock<TypedSecrets> = RwLock::new(TypedSecrets::NONE);

/// Why a command could not do what it was asked to: all that standard error shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One of [`bookend_contract::exit`].
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

    /// The agent of that name cannot take part, with the exit status that the same has on one
    /// machine.
    pub fn of_agent(name: &str, status: Option<u8>, reason: &str) -> Failure {
        let status = status.unwrap_or(exit::NOTHING_MEASURED);
        Failure::new(status, format!("agent {name}: {reason}"))
    }

    /// An agent was lost, and the run with it.
    pub fn agent_lost(error: impl ToString) -> Failure {
        Failure::new(exit::AGENT_LOST, error)
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        self.status
    }

    /// What it says.
    pub fn line(&self) -> &str {
        &self.line
    }

    fn new(status: u8, error: impl ToString) -> Failure {
        // A path or a peer's message may hold anything; a line of a log must stay one line.
        let line = shown(&without_error_numbers(&error.to_string()));
        Failure { status, line }
    }

    /// Writes the line on standard error for a program that says whose it is, and returns the
    /// status.
    pub fn report_alone(&self) -> u8 {
        print_error(&self.line);
        self.status
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

/// Writes text to standard output; what a terminal would do more with than show it is replaced.
///
/// # Errors
/// [`Failure`] when it cannot be written to. A reader that has closed its end is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    output::write(text, None).map_err(Failure::nothing_measured)
}

/// Writes one line to standard output, whatever it quotes.
///
/// # Errors
/// As [`print()`].
pub fn print_line(line: &str) -> Result<(), Failure> {
    print(&format!("{}\n", printable::line(line)))
}

/// Does what takes long, with its progress on standard error, unless that is not wanted.
pub fn with_progress<R>(quiet: bool, work: impl FnOnce(&mut ProgressReporter<'_>) -> R) -> R {
    let (mut out, shown) = (io::stderr(), progress_shown(quiet));
    work(&mut ProgressReporter::new(&mut out, shown).within(columns))
}

/// Where progress is shown.
pub fn progress_shown(quiet: bool) -> ProgressShown {
    match (quiet, is_redrawn()) {
        (true, _) => ProgressShown::Quiet,
        (false, true) => ProgressShown::Terminal,
        (false, false) => ProgressShown::Lines,
    }
}

/// Whether standard error is a terminal on which lines can take the place of others. A dumb one has
/// no escapes for that, and what a service for builds shows is a log.
pub fn is_redrawn() -> bool {
    io::stderr().is_terminal() && knows_escapes(|name| env::var(name).ok())
}

fn knows_escapes(variable: impl Fn(&str) -> Option<String>) -> bool {
    let builds = variable("CI").is_some_and(|value| !["", "0", "false"].contains(&value.as_str()));
    !builds && variable("TERM").is_some_and(|name| !["", "dumb"].contains(&name.as_str()))
}

/// How many columns the terminal of standard error has now.
pub fn columns() -> usize {
    columns_of(io::stderr()).unwrap_or(COLUMNS)
}

/// How many columns a terminal has now. `None`: it is no terminal, or does not know.
pub fn columns_of(terminal: impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(terminal).ok()?;
    // A terminal that was given no size says 0.
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How many columns there are for what is printed: those of the terminal of standard output, or
/// `otherwise` in a file or a pipe.
pub fn output_columns(otherwise: usize) -> usize {
    columns_of(io::stdout()).unwrap_or(otherwise)
}

/// This program in a command that can be typed: by its name, or by its path where it was started by
/// that, because its name may not be found.
pub fn program() -> String {
    let called = env::args_os().next().unwrap_or_default();
    typed(&called.to_string_lossy())
}

fn typed(called: &str) -> String {
    if called.contains('/') { called.to_owned() } else { "bookend".to_owned() }
}

/// No line on standard error has the secrets of this command line from now on, whatever it quotes.
pub fn hide_secrets_of(words: &[OsString]) {
    let secrets = TypedSecrets::of(words.iter().map(|word| word.to_string_lossy()));
    *TYPED.write().unwrap_or_else(PoisonError::into_inner) = secrets;
}

/// A line as it may be shown: without secrets, and on one line of a terminal.
fn shown(line: &str) -> String {
    let typed = TYPED.read().unwrap_or_else(PoisonError::into_inner);
    printable::line(&typed.masked_in(line)).into_owned()
}

/// Writes one line on standard error, whatever it quotes.
pub fn print_error(line: &str) {
    // If nobody reads it, the exit status still says what happened.
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_take_the_place_of_others_only_where_a_terminal_can_do_that() {
        let knows = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(each, _)| *each == name);
            knows_escapes(|name| value(name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(knows(&[("TERM", "xterm-256color")]));
        assert!(knows(&[("TERM", "linux"), ("CI", "false"), ("NO_COLOR", "1")]));
        for dumb in [&[][..], &[("TERM", "dumb")], &[("TERM", "")]] {
            assert!(!knows(dumb), "{dumb:?}");
        }
        assert!(!knows(&[("TERM", "xterm"), ("CI", "true")]));
    }

    #[test]
    fn a_program_that_was_started_by_its_path_is_named_by_it() {
        assert_eq!(typed("./target/quick/bookend"), "./target/quick/bookend");
        assert_eq!([typed("bookend"), typed("")], ["bookend", "bookend"]);
    }

    #[test]
    fn an_error_is_one_line_whatever_it_quotes() {
        let failure = Failure::usage("a\nb\u{1b}[31m\u{202e}c\u{85}\u{2028}");
        assert_eq!(failure.line, "a b [31m c  ");
    }

    #[test]
    fn a_failure_has_the_words_of_the_system_and_no_number() {
        let line = |text: &str| Failure::usage(text).line;
        assert_eq!(line("a: No such file (os error 2): b (os error 13)"), "a: No such file: b");
        assert_eq!(line("a (os error x)"), "a (os error x)");
        assert_eq!(line("a (os error 1"), "a (os error 1");
    }
}
