//! `bookend claims`: the pages of what the published documents claim, with the outcomes.

use crate::names::Named;
use crate::record::RECORDS;
use crate::terminal::{Failure, print_error};
use bookend_contract::exit;
use bookend_load::output;
use bookend_verdicts::claims::JudgedSuites;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// What stands after `bookend claims`.
#[derive(Debug, Args)]
pub struct ClaimsArguments {
    /// Write nothing; exit with 3 if a page differs from what claims and records give
    #[arg(long)]
    check: bool,
    /// The folder of the pages
    #[arg(short, long, value_name = "DIR", default_value = "docs/measure")]
    output: PathBuf,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

/// Writes the pages, or checks them.
///
/// # Errors
/// [`Failure`] when claims, tables or records cannot be read, or a page cannot be written.
pub fn start(arguments: &ClaimsArguments) -> Result<u8, Failure> {
    let ClaimsArguments { suites, records, .. } = arguments;
    // The flag is said where the folder is not there.
    Named::SUITE.all(suites)?;
    let judged = JudgedSuites::read(suites, records).map_err(Failure::usage)?;
    let again = judged.read_repeated(suites, records).map_err(Failure::usage)?;
    let repeated = [("repeated.md", judged.repeated_page(&again))];
    let mut exit = exit::MEASURED;
    for (name, page) in judged.pages().into_iter().chain(repeated) {
        let file = arguments.output.join(name);
        if !arguments.check {
            output::write(&page, Some(&file)).map_err(Failure::nothing_measured)?;
        } else if !fs::read_to_string(&file).is_ok_and(|text| text == page) {
            print_error(&format!(
                "{} is not what claims and records give: run bookend claims",
                file.display()
            ));
            exit = exit::OBJECTIVE_MISSED;
        }
    }
    Ok(exit)
}
