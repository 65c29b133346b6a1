//! `bookend probe`: one verified call, and on request a look at what the server does and does not
//! do.

use crate::call_flags::{MessageFlags, MethodFlags, TransportFlags};
use crate::failure::Failure;
use bookend_load::contract::duration;
use bookend_load::contract::exit;
use bookend_load::options::{Flags, Options};
use bookend_load::output;
use bookend_load::probe::{self, ProbeDepth, ProbeReport, ProbeRequest};
use clap::{Args, ValueEnum};
use std::time::Duration;

/// What stands after `bookend probe`. Flags that `bookend load` has too mean the same.
#[derive(Debug, Args)]
// One request is sent, so that an array would be none.
#[command(mut_arg("data", |data| data.help("The request as JSON; @ is standard input")))]
pub struct ProbeArguments {
    /// Where the server listens: HOST:PORT, dns:///HOST:PORT, unix:PATH
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    method: MethodFlags,
    #[command(flatten)]
    transport: TransportFlags,
    #[command(flatten)]
    message: MessageFlags,
    /// Deadline of the call, 0 is none
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, default_value = "5s")]
    timeout: Duration,
    /// How long a connection may take to be made
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10s")]
    connect_timeout: Duration,
    /// Check also what the server does and does not do
    #[arg(long)]
    semantics: bool,
    /// How the result is printed
    #[arg(short = 'O', long, value_name = "FORMAT", value_enum, default_value_t = Format::Json)]
    format: Format,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for programs.
    Json,
    /// A line a finding, for people.
    Text,
}

impl ProbeArguments {
    fn depth(&self) -> ProbeDepth {
        match self.semantics {
            true => ProbeDepth::Semantics,
            false => ProbeDepth::Call,
        }
    }

    fn into_flags(self) -> Flags {
        let mut flags = Flags {
            target: self.target,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            connections: 1,
            concurrency: 1,
            total: 1,
            ..Flags::default()
        };
        self.method.add_to(&mut flags);
        self.transport.add_to(&mut flags);
        self.message.add_to(&mut flags);
        flags
    }
}

/// Checks one server and prints what was found, a failed call too. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the arguments make no sense, or the call did not succeed.
pub fn start(arguments: ProbeArguments) -> Result<u8, Failure> {
    let (depth, format) = (arguments.depth(), arguments.format);
    let options = Options::from_flags(arguments.into_flags()).map_err(Failure::usage)?;
    if options.targets.iter().count() > 1 {
        return Err(Failure::usage("one server is looked at: give one target"));
    }
    let request = ProbeRequest::prepare(&options, &mut std::io::stdin().lock())
        .map_err(Failure::unprepared)?;
    let report = probe::probe(&request, depth);
    let text = format!("{}\n", shown(&report, format));
    output::write(&text, None).map_err(Failure::nothing_measured)?;
    match report.failure() {
        None => Ok(exit::MEASURED),
        Some(reason) => Err(Failure::nothing_measured(reason)),
    }
}

fn shown(report: &ProbeReport, format: Format) -> String {
    match format {
        Format::Json => report.to_json(),
        Format::Text => report.to_string(),
    }
}
