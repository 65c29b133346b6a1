//! `bookend probe`: one verified call, and on request a check of which parts of HTTP/2 and gRPC the
//! server supports.

use crate::slow_schema::read_schema;
use crate::terminal::{Failure, print};
use bookend_contract::{exit, secrets};
use bookend_load::flags::CallFlags;
use bookend_load::options::CallOptions;
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use clap::{ArgAction, Args, ValueEnum};

const EXAMPLES: &str = r"Examples:
  bookend probe --insecure --call helloworld.Greeter/SayHello localhost:50051
  bookend probe --insecure --proto greeter.proto --call pkg.Greeter/SayHello \
      --semantics -O text localhost:50051";

/// Arguments of `bookend probe`. Flags that `bookend load` also has mean the same.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("targets", |targets| targets
        .help("Server: HOST:PORT, dns:///HOST:PORT or unix:PATH")
        .action(ArgAction::Set)
        .num_args(1)),
    mut_arg("data", |data| data.help("Request as JSON; @ is standard input")),
    mut_arg("timeout", |timeout| timeout.default_value("5s")),
)]
pub struct ProbeArguments {
    #[command(flatten)]
    call: CallFlags,
    /// Also check which parts of HTTP/2 and gRPC the server supports
    #[arg(long, help_heading = "Output")]
    semantics: bool,
    /// Format of the result
    #[arg(
        short = 'O', long, value_name = "FORMAT", value_enum, default_value_t = Format::Json,
        help_heading = "Output"
    )]
    format: Format,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for programs.
    Json,
    /// One line for each check, for people.
    Text,
}

/// Checks one server and prints what was found, a failed call too. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the arguments make no sense, or the call did not succeed.
pub fn start(arguments: ProbeArguments) -> Result<u8, Failure> {
    let depth = if arguments.semantics { ProbeDepth::Semantics } else { ProbeDepth::Call };
    let options = CallOptions::from_flags(&arguments.call).map_err(Failure::usage)?;
    if options.targets.iter().count() > 1 {
        return Err(Failure::usage("one server is looked at: give one target"));
    }
    let read = || ProbeRequest::prepare(&options, &mut std::io::stdin().lock());
    let request = read_schema("probe", &arguments.call, read).map_err(Failure::unprepared)?;
    let mut report = probe::probe(&request, depth);
    if !arguments.call.show_secrets {
        report.target = secrets::in_text(&report.target);
    }
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => format!("{report}\n"),
    })?;
    match report.failure() {
        None => Ok(exit::MEASURED),
        Some(reason) => Err(Failure::nothing_measured(reason)),
    }
}
