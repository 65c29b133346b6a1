//! `bookend probe`: one verified call and the semantics check, as JSON.

use crate::failure::Failure;
use crate::prepared::Prepared;
use bookend_load::duration;
use bookend_load::options::{Flags, Options};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// What stands after `bookend probe`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where the server listens
    #[arg(value_name = "HOST:PORT")]
    target: Option<String>,
    /// The .proto file
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
    /// The request as JSON; @ is standard input
    #[arg(short, long, value_name = "JSON")]
    data: Option<String>,
    /// The request as JSON in a file
    #[arg(short = 'D', long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// The request, serialized, in a file
    #[arg(short = 'B', long, value_name = "FILE")]
    binary_file: Option<PathBuf>,
    /// Deadline of each call
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, default_value = "5s")]
    timeout: Duration,
}

impl Arguments {
    fn into_flags(self) -> Flags {
        Flags {
            target: self.target,
            proto: self.proto,
            protoset: self.protoset,
            import_paths: self.import_paths,
            call: self.call,
            insecure: true,
            data: self.data,
            data_file: self.data_file,
            binary_file: self.binary_file,
            timeout: self.timeout,
            connections: 1,
            concurrency: 1,
            total: 1,
            ..Flags::default()
        }
    }
}

/// Checks one server.
///
/// # Errors
/// [`Failure`] when the arguments make no sense or the server cannot be reached.
pub fn start(arguments: Arguments) -> Result<u8, Failure> {
    let options = Options::from_flags(arguments.into_flags()).map_err(Failure::usage)?;
    probe(&Prepared::new(options)?)
}

/// The check itself.
fn probe(prepared: &Prepared) -> Result<u8, Failure> {
    Err(Failure::nothing_measured(format!(
        "{} is not built yet",
        prepared.method.path
    )))
}
