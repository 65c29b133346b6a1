//! `bookend claims`: the page of what the published documents claim, with verdicts.

use crate::record::RECORDS;
use crate::terminal::{Failure, print_error};
use bookend_load::contract::exit;
use bookend_load::output;
use bookend_verdicts::claims::JudgedSuites;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// What stands after `bookend claims`.
#[derive(Debug, Args)]
pub struct ClaimsArguments {
    /// Write nothing; exit with 3 if the page differs from what claims and records give
    #[arg(long)]
    check: bool,
    /// The page
    #[arg(short, long, value_name = "FILE", default_value = "docs/measure/claims.md")]
    output: PathBuf,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

/// Writes the page, or checks it.
///
/// # Errors
/// [`Failure`] when claims, tables or records cannot be read, or the page cannot be written.
pub fn start(arguments: &ClaimsArguments) -> Result<u8, Failure> {
    let judged =
        JudgedSuites::read(&arguments.suites, &arguments.records).map_err(Failure::usage)?;
    let page = judged.markdown();
    if !arguments.check {
        output::write(&page, Some(&arguments.output)).map_err(Failure::nothing_measured)?;
        return Ok(exit::MEASURED);
    }
    if fs::read_to_string(&arguments.output).is_ok_and(|text| text == page) {
        return Ok(exit::MEASURED);
    }
    let file = arguments.output.display();
    print_error(&format!("{file} is not what claims and records give: run bookend claims"));
    Ok(exit::OBJECTIVE_MISSED)
}
