//! The `bookend` command.
#![forbid(unsafe_code)]

mod agent;
mod check;
mod command_line;
mod compare;
mod completions;
mod contract;
mod doctor;
mod fleet;
mod gates;
mod help;
mod init;
mod lab;
mod list;
mod load;
mod man;
mod names;
mod own_build;
mod probe;
mod race;
mod report;
mod run;
mod serve;
mod shell;
mod slow_schema;
mod terminal;
mod ui;

use command_line::{LabCommand, ServerCommand, Subcommand, UpkeepCommand};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::Failure;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    let name = words.get(1).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    // Not for people: each word after it belongs to another program, so no flag may be read here.
    if name == "launch" {
        bookend_lab::launch::main(words.into_iter().skip(2));
    }
    // A file beyond `ulimit -f` is an error of its write, which loses no result. By a handler: that
    // a signal is ignored is inherited by the processes that are started. Where the system takes no
    // handler the signal ends this process, as it would have.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let command = match command_line::parse(words, &name) {
        Ok(command) => command,
        Err(ended) => return ended,
    };
    match start(command) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => failure.report(&name),
    }
}

/// Runs a command; the number is its exit status, one of [`bookend_contract::exit`].
fn start(command: Subcommand) -> Result<u8, Failure> {
    match command {
        Subcommand::Server(ServerCommand::Load(arguments)) => load::start(*arguments),
        Subcommand::Server(ServerCommand::Race(arguments)) => race::start(*arguments),
        Subcommand::Server(ServerCommand::Probe(arguments)) => probe::start(*arguments),
        Subcommand::Server(ServerCommand::Agent(arguments)) => agent::start(*arguments),
        Subcommand::Server(ServerCommand::Serve(arguments)) => serve::start(&arguments),
        Subcommand::Lab(LabCommand::Init(arguments)) => init::start(&arguments),
        Subcommand::Lab(LabCommand::Run(arguments)) => run::start(&arguments),
        Subcommand::Lab(LabCommand::List(arguments)) => list::start(&arguments),
        Subcommand::Lab(LabCommand::Report(arguments)) => report::start(&arguments),
        Subcommand::Lab(LabCommand::Ui(arguments)) => ui::start(&arguments),
        Subcommand::Lab(LabCommand::Compare(arguments)) => compare::start(&arguments),
        Subcommand::Lab(LabCommand::Doctor(arguments)) => doctor::start(&arguments),
        Subcommand::Lab(LabCommand::Check(arguments)) => check::start(&arguments),
        Subcommand::Upkeep(UpkeepCommand::Completions(arguments)) => {
            completions::start(&arguments, command_line::definition())
        }
        Subcommand::Upkeep(UpkeepCommand::Man(arguments)) => {
            man::start(&arguments, command_line::definition(), &command_line::GROUPS)
        }
    }
}
