//! The words after `bookend`, read into one [`Subcommand`].

mod negative_numbers;
mod usage_error;

use crate::terminal::{hide_secrets_of, print_error};
use crate::{
    check, compare, completions, doctor, list, load, man, own_build, probe, race, report, run,
    serve, ui,
};
use bookend_contract::exit;
use bookend_load::output;
use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory as _, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Measures RPC stacks.
#[derive(Debug, Parser)]
#[command(
    name = "bookend",
    version = own_build::VERSION,
    propagate_version = true,
    disable_version_flag = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Subcommand,
    /// Print the version
    // ghz's letter; clap's own would be a capital.
    #[arg(short = 'v', long, action = ArgAction::Version, global = true, display_order = 998)]
    version: Option<bool>,
}

/// One sub-command with its arguments.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Build, verify and measure a suite, print the table, keep the result; alone: which there are
    Run(run::RunArguments),
    /// Race two servers and say which needs less CPU time a call
    Race(Box<race::RaceArguments>),
    /// Load a gRPC server; ghz's flags work unchanged
    Load(Box<load::LoadArguments>),
    /// Serve every service of proto/, the reference server
    Serve(serve::ServeArguments),
    /// Make one verified call and check the peer's HTTP/2 and gRPC, as JSON
    Probe(probe::ProbeArguments),
    /// Compare two results, with intervals and an exit code for CI
    Compare(compare::CompareArguments),
    /// Write a result as a page with its answer, pictures and tables, or in another format
    Report(report::ReportArguments),
    /// Show the stored results in a browser on this machine, and the run that goes on
    Ui(ui::UiArguments),
    /// List suites, subjects and results, and what each is for
    List(list::ListArguments),
    /// Report what can be measured here, and what is missing for the rest
    Doctor(doctor::DoctorArguments),
    /// Hold every kind of figure against a witness that shares no code with it
    Check(check::CheckArguments),
    /// Print what a shell needs to complete bookend's flags
    Completions(completions::CompletionsArguments),
    /// Print a manual page
    Man(man::ManArguments),
}

/// The definition of all commands and flags.
pub fn definition() -> clap::Command {
    CommandLine::command()
}

/// Reads the command line; `name` is its first word, which selects the command.
///
/// # Errors
/// The exit status, after the help or one line about the error has been printed.
pub fn parse(words: Vec<OsString>, name: &str) -> Result<Subcommand, ExitCode> {
    hide_secrets_of(&words);
    let words = with_negative_numbers(words, name);
    let words = if name == "load" {
        load::whole_line(words).map_err(|failure| failure.report(name))?
    } else {
        words
    };
    // A file has added to them.
    hide_secrets_of(&words);
    let error = match CommandLine::try_parse_from(&words) {
        Ok(read) => return Ok(read.command),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayVersion => {
            // One version for all sub-commands, under the name of the command.
            let version = format!("bookend {}\n", own_build::VERSION);
            let _ = output::write(&version, None);
            Err(ExitCode::from(exit::MEASURED))
        }
        ErrorKind::DisplayHelp => {
            // A reader that has closed its end has seen enough.
            let _ = error.print();
            Err(ExitCode::from(exit::MEASURED))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Err(ExitCode::from(exit::USAGE))
        }
        _ => {
            let mut root = CommandLine::command();
            root.build();
            let command = root.find_subcommand(name).unwrap_or(&root);
            print_error(&usage_error::one_line(&error, command, until_refused(&error, &words)));
            Err(ExitCode::from(exit::USAGE))
        }
    }
}

fn with_negative_numbers(words: Vec<OsString>, name: &str) -> Vec<OsString> {
    if !words.iter().any(negative_numbers::is_number) {
        return words;
    }
    let mut root = CommandLine::command();
    root.build();
    match root.find_subcommand(name) {
        Some(command) => negative_numbers::joined(words, command),
        None => words,
    }
}

/// Where a word that is no text is refused: the words up to it. Others may be none either, as names
/// of files, so each is tried alone.
fn until_refused<'a>(error: &clap::Error, words: &'a [OsString]) -> Option<&'a [OsString]> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let texts: Vec<OsString> =
        words.iter().map(|word| word.to_string_lossy().into_owned().into()).collect();
    let is_refused = |place: &usize| {
        let mut tried = texts.clone();
        tried[*place].clone_from(&words[*place]);
        let refused = CommandLine::try_parse_from(tried).err();
        refused.is_some_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    let mut places = (0..words.len()).filter(|place| words[*place].to_str().is_none());
    places.find(is_refused).map(|place| &words[..=place])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of `words` behind the name of a command; nothing where they are right.
    fn said(name: &str, words: &[&str]) -> Option<String> {
        let words = ["bookend", name].iter().chain(words).map(OsString::from).collect();
        let words = with_negative_numbers(words, name);
        let error = CommandLine::try_parse_from(&words).err()?;
        let mut root = definition();
        root.build();
        let command = root.find_subcommand(name).expect("a command");
        Some(usage_error::one_line(&error, command, None))
    }

    #[test]
    fn a_number_below_zero_is_said_to_be_the_value_of_its_flag() {
        const NUMBERS: [&str; 7] = ["N", "ID", "TIME", "RATE", "PORT", "SHARE", "SIZE"];
        let mut root = definition();
        root.build();
        let mut numbers = 0;
        for command in root.get_subcommands() {
            let flags = command.get_arguments().filter(|flag| flag.get_action().takes_values());
            for (flag, long) in flags.filter_map(|flag| Some((flag, flag.get_long()?))) {
                let names = flag.get_value_names().unwrap_or_default();
                let is_number = names.iter().any(|name| NUMBERS.contains(&name.as_str()));
                numbers += usize::from(is_number);
                let short = flag.get_short().map(|letter| format!("-{letter}"));
                for word in short.into_iter().chain([format!("--{long}")]) {
                    for value in ["-1", "-1s", "-0.5"] {
                        let name = command.get_name();
                        let said = said(name, &[&word, value]).unwrap_or_default();
                        assert!(!said.contains("unknown flag"), "{name} {word} {value}: {said}");
                        let is_step = long.ends_with("-step");
                        let begin = format!("bookend {name}: --{long} {value}: ");
                        let is_named = said.starts_with(&begin);
                        assert!(is_named || !is_number || is_step, "{name} {word} {value}: {said}");
                    }
                }
            }
        }
        assert!(numbers > 50, "{numbers}");
    }
}
