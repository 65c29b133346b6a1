//! `bookend report`: the tables of a result.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where results are kept unless the user says otherwise.
pub const STORE: &str = "bookend.db";

/// What stands after `bookend report`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The result [default: the newest]
    run: Option<String>,
    /// How it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Md)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// A page with pictures
    Html,
    /// A row a cell
    Csv,
    /// Everything
    Json,
}

/// Writes the report.
///
/// # Errors
/// [`Failure`] when the result is not there.
pub fn start(arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments {
        run,
        format,
        output,
        store,
    } = arguments;
    Err(Failure::nothing_measured(format!(
        "not built yet ({run:?} as {format:?} to {output:?}, store {})",
        store.display()
    )))
}
