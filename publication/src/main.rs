//! The `publication` program: the pages of this repository, made of what is committed in it.
#![forbid(unsafe_code)]

mod commands;

use clap::Parser;
use commands::NoPage;
use commands::claims::ClaimsArguments;
use commands::kept::{CheckPageArguments, PowerLineArguments, PowerPageArguments};
use commands::readme::ReadMeArguments;
use commands::record::RecordArguments;
use commands::results::ResultsArguments;
use commands::site::SiteArguments;
use commands::sittings::SittingsArguments;
use std::process::ExitCode;

/// Makes the pages of this repository of its records, published tables and claims.
#[derive(Debug, Parser)]
#[command(name = "publication", disable_help_subcommand = true)]
enum CommandLine {
    /// Keep a result of bookend run as a text file that can be committed
    Record(RecordArguments),
    /// Write the pages of the suites from their records, published figures next to ours
    Results(ResultsArguments),
    /// Write the pages of published claims with their verdicts
    Claims(ClaimsArguments),
    /// Make the parts of README.md that have figures
    #[command(name = "readme")]
    ReadMe(ReadMeArguments),
    /// Plan a release run: what is recorded, and what the next sitting does
    Sittings(SittingsArguments),
    /// Make a site of all committed records
    Site(SiteArguments),
    /// Make a page of checks that bookend check --json printed
    CheckPage(CheckPageArguments),
    /// Make a page of comparisons of servers whose difference is known
    PowerPage(PowerPageArguments),
    /// Make the line of such a comparison of a race that bookend race --save kept
    PowerLine(PowerLineArguments),
}

fn main() -> ExitCode {
    let done = match CommandLine::parse() {
        CommandLine::Record(arguments) => arguments.run(),
        CommandLine::Results(arguments) => arguments.run(),
        CommandLine::Claims(arguments) => arguments.run(),
        CommandLine::ReadMe(arguments) => arguments.run(),
        CommandLine::Sittings(arguments) => arguments.run(),
        CommandLine::Site(arguments) => arguments.run(),
        CommandLine::CheckPage(arguments) => arguments.run(),
        CommandLine::PowerPage(arguments) => arguments.run(),
        CommandLine::PowerLine(arguments) => arguments.run(),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(NoPage { message, status }) => {
            eprintln!("publication: {message}");
            ExitCode::from(status)
        }
    }
}
