//! `bookend probe`: one verified call, and on request a look at what the server does and does not
//! do.

use crate::failure::Failure;
use bookend_load::contract::exit;
use bookend_load::duration;
use bookend_load::options::{Flags, Options};
use bookend_load::output;
use bookend_load::probe::{self, Depth, Report, Request};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What stands after `bookend probe`. Flags that `bookend load` has too mean the same.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where the server listens: HOST:PORT, dns:///HOST:PORT, unix:PATH
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// The .proto file; without it and --protoset the server is asked by reflection
    #[arg(long, value_name = "FILE")]
    proto: Option<PathBuf>,
    /// The compiled descriptor set
    #[arg(long, value_name = "FILE")]
    protoset: Option<PathBuf>,
    /// Folders for imports, separated by commas
    #[arg(short, long, value_name = "LIST")]
    import_paths: Vec<String>,
    /// The method, as pkg.Service/Method or pkg.Service.Method
    #[arg(long, value_name = "METHOD")]
    call: Option<String>,
    /// Plain text instead of TLS
    #[arg(long)]
    insecure: bool,
    /// TLS: the authorities that may sign the server's certificate [default: this machine's]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// TLS: the client's own certificate, with --key
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// TLS: the key of --cert
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// TLS: the name that the server's certificate is for, and the :authority
    #[arg(long, value_name = "NAME")]
    cname: Option<String>,
    /// TLS: take any certificate, so that anybody may be in between
    #[arg(long = "skipTLS")]
    skip_tls: bool,
    /// The :authority of every request [default: the target]
    #[arg(long, value_name = "NAME")]
    authority: Option<String>,
    /// The request as JSON; @ is standard input
    #[arg(short, long, value_name = "JSON")]
    data: Option<String>,
    /// The request as JSON in a file
    #[arg(short = 'D', long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// The request, serialized, on standard input
    #[arg(short, long)]
    binary: bool,
    /// The request, serialized, in a file
    #[arg(short = 'B', long, value_name = "FILE")]
    binary_file: Option<PathBuf>,
    /// Send {{ in data and metadata as it is
    #[arg(long)]
    disable_template_data: bool,
    /// Metadata as a JSON object of strings
    #[arg(short, long, value_name = "JSON")]
    metadata: Option<String>,
    /// The metadata in a file
    #[arg(short = 'M', long, value_name = "FILE")]
    metadata_file: Option<PathBuf>,
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

impl Arguments {
    fn depth(&self) -> Depth {
        match self.semantics {
            true => Depth::Semantics,
            false => Depth::Call,
        }
    }

    fn into_flags(self) -> Flags {
        Flags {
            target: self.target,
            proto: self.proto,
            protoset: self.protoset,
            import_paths: self.import_paths,
            call: self.call,
            insecure: self.insecure,
            skip_tls: self.skip_tls,
            cacert: self.cacert,
            cert: self.cert,
            key: self.key,
            cname: self.cname,
            authority: self.authority,
            data: self.data,
            data_file: self.data_file,
            binary: self.binary,
            binary_file: self.binary_file,
            disable_template_data: self.disable_template_data,
            metadata: self.metadata,
            metadata_file: self.metadata_file,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            connections: 1,
            concurrency: 1,
            total: 1,
            ..Flags::default()
        }
    }
}

/// Checks one server and prints what was found, a failed call too. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the arguments make no sense, or the call did not succeed.
pub fn start(arguments: Arguments) -> Result<u8, Failure> {
    let (depth, format) = (arguments.depth(), arguments.format);
    let options = Options::from_flags(arguments.into_flags()).map_err(Failure::usage)?;
    if options.targets.iter().count() > 1 {
        return Err(Failure::usage("one server is looked at: give one target"));
    }
    let request =
        Request::prepare(&options, &mut std::io::stdin().lock()).map_err(Failure::unprepared)?;
    let report = probe::probe(&request, depth);
    let text = format!("{}\n", shown(&report, format));
    output::write(&text, None).map_err(Failure::nothing_measured)?;
    match report.failure() {
        None => Ok(exit::MEASURED),
        Some(reason) => Err(Failure::nothing_measured(reason)),
    }
}

fn shown(report: &Report, format: Format) -> String {
    match format {
        Format::Json => report.to_json(),
        Format::Text => report.to_string(),
    }
}
