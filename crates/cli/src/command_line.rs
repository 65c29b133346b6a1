//! The words after `bookend`, read into one [`Subcommand`].

mod negative_numbers;
mod usage_error;

use crate::help::{self, CommandGroup};
use crate::terminal::{hide_secrets_of, print_error};
use crate::{
    agent, check, compare, completions, doctor, init, list, load, man, own_build, probe, race,
    report, run, serve, ui,
};
use bookend_contract::exit;
use bookend_load::output;
use clap::error::ErrorKind;
use clap::{ArgAction, Command, CommandFactory as _, Parser, Subcommand as _};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Measures RPC servers and clients; its gRPC server is also a Rust library (crate bookend-server).
#[derive(Debug, Parser)]
#[command(
    name = "bookend",
    version = own_build::VERSION,
    propagate_version = true,
    disable_version_flag = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
struct CommandLine {
    #[command(subcommand)]
    command: Subcommand,
    /// Print the version
    // ghz's letter; clap's own would be a capital.
    #[arg(short = 'v', long, action = ArgAction::Version, global = true, display_order = 998)]
    version: Option<bool>,
}

const EXAMPLES: &str = "Examples:
  bookend serve --port 50051
  bookend load --insecure --call helloworld.Greeter/SayHello localhost:50051

Start with bookend load on a server of yours, with bookend init for a suite of your servers, or
with bookend doctor in a clone of Bookend.";

/// One sub-command with its arguments. Each is in one of the groups, which `bookend --help` shows.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    #[command(flatten)]
    Server(ServerCommand),
    #[command(flatten)]
    Lab(LabCommand),
    #[command(flatten)]
    Upkeep(UpkeepCommand),
}

/// What needs a server to call, and no suite.
#[derive(Debug, clap::Subcommand)]
pub enum ServerCommand {
    /// Load-test a gRPC server; ghz's flags work unchanged
    Load(Box<load::LoadArguments>),
    /// Tell which of two servers or commits needs less CPU time per call
    Race(Box<race::RaceArguments>),
    /// Make one verified call, and check the server's HTTP/2 and gRPC
    Probe(Box<probe::ProbeArguments>),
    /// Take part in a load test of several machines, which dial in to its coordinator
    Agent(Box<agent::AgentArguments>),
    /// Start Bookend's own gRPC server, with every service of proto/
    Serve(Box<serve::ServeArguments>),
}

/// What measures by suites, and shows what was measured.
#[derive(Debug, clap::Subcommand)]
pub enum LabCommand {
    /// Write a suite to begin with, for servers of your own
    Init(init::InitArguments),
    /// Build, verify and measure a suite, print its table and keep the result
    Run(Box<run::RunArguments>),
    /// List suites, subjects and results, and what each is for
    List(list::ListArguments),
    /// Write a result as a page with its answer, pictures and tables
    Report(Box<report::ReportArguments>),
    /// Show stored results, and the run in progress, in a browser
    Ui(ui::UiArguments),
    /// Compare two results, with intervals and an exit status for CI
    Compare(compare::CompareArguments),
    /// Report what can be measured here, and what is missing for the rest
    Doctor(doctor::DoctorArguments),
    /// Check every kind of figure against an independent witness
    Check(check::CheckArguments),
}

/// What helps to use the command.
#[derive(Debug, clap::Subcommand)]
pub enum UpkeepCommand {
    /// Print the script that completes bookend's flags in a shell
    Completions(completions::CompletionsArguments),
    /// Print a manual page
    Man(man::ManArguments),
}

/// The groups in the order of the help: heading, and what adds the sub-commands of each.
pub const GROUPS: [CommandGroup; 3] = [
    ("Your own server", ServerCommand::augment_subcommands),
    ("The lab, in a clone of Bookend or a folder of bookend init", LabCommand::augment_subcommands),
    ("Upkeep", UpkeepCommand::augment_subcommands),
];

/// The definition of all commands and flags.
pub fn definition() -> Command {
    help::with_groups(CommandLine::command(), &GROUPS)
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
            let is_whole = words.iter().any(|word| word == "--help");
            let help = help::text(definition(), name, is_whole, help::columns());
            // A reader that has closed its end has seen enough.
            let _ = output::write(&help, None);
            Err(ExitCode::from(exit::MEASURED))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let help = help::text(definition(), name, true, help::columns());
            let _ = io::stderr().write_all(help.as_bytes());
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
    use bookend_contract::shell_words::words;
    use clap::Arg;
    use help::COLUMNS_MAX;

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

    const LINES_OF_SHORT_FORM_MAX: usize = 60;

    /// All commands as clap has built them; the first is `bookend` itself.
    fn commands() -> Vec<Command> {
        let mut root = definition();
        root.build();
        let below: Vec<Command> = root.get_subcommands().cloned().collect();
        [vec![root], below].concat()
    }

    fn help_of(command: &Command, is_whole: bool, columns: usize) -> String {
        help::text(definition(), command.get_name(), is_whole, columns)
    }

    /// The lines of examples, each as it would be typed on one line.
    fn examples(command: &Command) -> Vec<String> {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let joined = text.replace("\\\n", "");
        let example = |line: &str| line.strip_prefix("  ").map(str::to_owned);
        joined.lines().filter_map(example).collect()
    }

    #[test]
    fn help_fits_a_terminal() {
        for command in commands() {
            let name = command.get_name();
            for (is_whole, columns) in [(false, 100), (true, 100), (false, 80), (true, 80)] {
                for line in help_of(&command, is_whole, columns).lines() {
                    assert!(line.chars().count() <= columns, "{name}, {columns} columns: {line}");
                    assert_eq!(line.trim_end(), line, "{name}");
                }
            }
            let short = help_of(&command, false, COLUMNS_MAX);
            assert!(short.lines().count() <= LINES_OF_SHORT_FORM_MAX, "{name}: {short}");
        }
    }

    #[test]
    fn every_flag_is_in_the_long_form_and_the_short_one_says_where() {
        for command in commands() {
            let (short, long) = (help_of(&command, false, 100), help_of(&command, true, 100));
            let name = command.get_name();
            for flag in command.get_arguments().filter_map(Arg::get_long) {
                assert!(long.contains(&format!("--{flag}")), "{name}: {flag}");
            }
            let hides = command.get_arguments().any(Arg::is_hide_short_help_set);
            let pointer = format!("\nAll flags: bookend {name} --help\n");
            assert_eq!(short.ends_with(&pointer), hides, "{name}: {short}");
            assert_eq!(short == long, !hides && !long.contains("Possible values:"), "{name}");
        }
    }

    #[test]
    fn flags_of_large_commands_have_headings() {
        for command in commands().iter().filter(|each| each.get_arguments().count() > 20) {
            let own = command.get_arguments().filter(|flag| !flag.is_global_set());
            for flag in own.filter(|flag| flag.get_id() != "help") {
                let id = flag.get_id();
                assert!(flag.get_help_heading().is_some(), "{} {id}", command.get_name());
            }
        }
        let with_headings = |name: &str| {
            let found = commands().into_iter().find(|each| each.get_name() == name);
            let found = found.expect("a command");
            found.get_arguments().filter(|flag| flag.get_help_heading().is_some()).count()
        };
        assert!(with_headings("load") > 80 && with_headings("race") > 50);
    }

    #[test]
    fn every_command_is_in_one_group() {
        let help = help::text(definition(), "", true, COLUMNS_MAX);
        let (groups, _) = help.split_once("\nOptions:\n").expect("options");
        let names = |line: &str| Some(line.strip_prefix("  ")?.split_once(' ')?.0.to_owned());
        let mut shown: Vec<String> = groups.lines().filter_map(names).collect();
        let mut known: Vec<String> =
            definition().get_subcommands().map(|each| each.get_name().to_owned()).collect();
        assert_eq!(groups.lines().filter(|line| line.ends_with(':')).count(), GROUPS.len());
        shown.sort();
        known.sort();
        assert_eq!(shown, known);
    }

    #[test]
    fn examples_are_command_lines() {
        let mut count = 0;
        for command in commands() {
            for example in examples(&command) {
                let typed = example.split(" > ").next().unwrap_or_default();
                let typed = typed.split(" | ").next().unwrap_or_default();
                let typed = words(typed).expect("closed quotation marks");
                let read = CommandLine::try_parse_from(typed);
                assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
                count += 1;
            }
        }
        assert!(count > 15, "{count}");
        for name in ["load", "race"] {
            let command = commands().into_iter().find(|each| each.get_name() == name);
            assert_eq!(examples(&command.expect("a command")).len(), 2);
        }
    }
}
