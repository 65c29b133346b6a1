//! `bookend list`: the suites and subjects there are.

use crate::names::Named;
use crate::terminal::{Failure, print};
use bookend_load::contract::exit;
use clap::Args;
use std::path::PathBuf;

/// What stands after `bookend list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where subjects are
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
}

/// Prints the names of suites and subjects.
///
/// # Errors
/// [`Failure`] when a folder cannot be read.
pub fn start(arguments: &ListArguments) -> Result<u8, Failure> {
    let suites = Named::SUITE.all(&arguments.suites)?;
    let subjects = Named::SUBJECT.all(&arguments.subjects_dir)?;
    let text = section("Suites", &suites) + &section("Subjects", &subjects);
    print(&text)?;
    Ok(exit::MEASURED)
}

fn section(title: &str, names: &[String]) -> String {
    let lines: String = names.iter().map(|name| format!("  {name}\n")).collect();
    format!("{title}:\n{lines}")
}
