//! `bookend probe`: one verified call, and on request a look at what the server does and does not
//! do.

use bookend_load::duration;
use bookend_load::options::{Flags, Options};
use bookend_load::probe::{self, Depth, PrepareError, Report, Request};
use clap::{Args, ValueEnum};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The server is not what it should be, or is not there.
const EXIT_FAILED: u8 = 1;
/// The flags are wrong.
const EXIT_USAGE: u8 = 2;

/// The flags of `bookend probe`. Those that `bookend load` has too mean the same here.
#[derive(Args, Clone, Debug)]
pub struct ProbeArguments {
    /// Where the server listens: HOST:PORT
    target: String,
    /// The method: package.Service/Method
    #[arg(long)]
    call: String,
    /// The .proto file that declares it; without one the server is asked by reflection
    #[arg(long, value_name = "FILE")]
    proto: Option<PathBuf>,
    /// The compiled descriptor set that declares it
    #[arg(long, value_name = "FILE")]
    protoset: Option<PathBuf>,
    /// Folders in which imports are looked for, with commas between them
    #[arg(short = 'i', long, value_name = "FOLDERS")]
    import_paths: Vec<String>,
    /// The request as JSON; @ reads standard input
    #[arg(short = 'd', long, value_name = "JSON")]
    data: Option<String>,
    /// The file with the request as JSON
    #[arg(short = 'D', long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// Read the serialized request from standard input
    #[arg(short = 'b', long)]
    binary: bool,
    /// The file with the serialized request
    #[arg(short = 'B', long, value_name = "FILE")]
    binary_file: Option<PathBuf>,
    /// Take {{ in data and metadata for text
    #[arg(long)]
    disable_template_data: bool,
    /// Metadata as a JSON object of strings
    #[arg(short = 'm', long, value_name = "JSON")]
    metadata: Option<String>,
    /// The file with the metadata as JSON
    #[arg(short = 'M', long, value_name = "FILE")]
    metadata_file: Option<PathBuf>,
    /// The :authority of every call
    #[arg(long)]
    authority: Option<String>,
    /// Connect without TLS
    #[arg(long)]
    insecure: bool,
    /// The deadline of the verified call; 0 is none
    #[arg(short = 't', long, value_parser = duration::parse, default_value = "20s")]
    timeout: Duration,
    /// How long the connection may take to be made
    #[arg(long, value_parser = duration::parse, default_value = "10s")]
    connect_timeout: Duration,
    /// Check what the server does and does not do, too
    #[arg(long)]
    semantics: bool,
    /// How the result is printed
    #[arg(short = 'O', long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One line of JSON.
    Json,
}

/// Probes the server. Exit codes: 0 the call succeeded, 1 it did not, 2 the flags are wrong.
pub fn probe(arguments: ProbeArguments) -> ExitCode {
    let format = arguments.format;
    let depth = match arguments.semantics {
        true => Depth::Semantics,
        false => Depth::Call,
    };
    let options = match Options::from_flags(arguments.into()) {
        Ok(options) => options,
        Err(error) => return end(EXIT_USAGE, &error),
    };
    match Request::prepare(&options, &mut io::stdin().lock()) {
        Ok(request) => show(&probe::probe(&request, depth), format),
        Err(error) => unprepared(&error),
    }
}

fn unprepared(error: &PrepareError) -> ExitCode {
    match error.is_usage() {
        true => end(EXIT_USAGE, error),
        false => end(EXIT_FAILED, error),
    }
}

fn show(report: &Report, format: Format) -> ExitCode {
    let text = match format {
        Format::Text => report.to_string(),
        Format::Json => report.to_json(),
    };
    if let Err(error) = writeln!(io::stdout(), "{text}") {
        return end(EXIT_FAILED, &format!("cannot write the result: {error}"));
    }
    match report.failure() {
        None => ExitCode::SUCCESS,
        Some(failure) => end(EXIT_FAILED, &failure),
    }
}

fn end(code: u8, why: &dyn Display) -> ExitCode {
    eprintln!("bookend probe: {why}");
    ExitCode::from(code)
}

impl From<ProbeArguments> for Flags {
    fn from(arguments: ProbeArguments) -> Flags {
        Flags {
            target: Some(arguments.target),
            call: Some(arguments.call),
            proto: arguments.proto,
            protoset: arguments.protoset,
            import_paths: arguments.import_paths,
            data: arguments.data,
            data_file: arguments.data_file,
            binary: arguments.binary,
            binary_file: arguments.binary_file,
            disable_template_data: arguments.disable_template_data,
            metadata: arguments.metadata,
            metadata_file: arguments.metadata_file,
            authority: arguments.authority,
            insecure: arguments.insecure,
            timeout: arguments.timeout,
            connect_timeout: arguments.connect_timeout,
            ..Flags::default()
        }
    }
}
