//! `bookend results`: the pages of the suites, each made of its record.

use crate::names::Named;
use crate::record::RECORDS;
use crate::terminal::{Failure, print, print_error};
use bookend_load::contract::exit;
use bookend_results::record::{Record, file_of};
use bookend_results::suite::Extent;
use bookend_verdicts::claims::{CLAIMS_FILE, JudgedSuite, kept_profile};
use bookend_verdicts::pages::{PAGE_FILE, Page, RESULTS_FILE, first_difference, measured_page};
use clap::Args;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What stands after `bookend results`.
#[derive(Debug, Args)]
pub struct ResultsArguments {
    /// The suites [default: all that have a results.toml, a record or a page]
    #[arg(value_name = "SUITE")]
    names: Vec<String>,
    /// Write nothing; report pages that differ from what their records give, and exit with 3
    #[arg(long)]
    check: bool,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

/// Writes the pages, or compares them with what they should be.
///
/// # Errors
/// [`Failure`] when a record, a published table or a declaration cannot be read.
pub fn start(arguments: &ResultsArguments) -> Result<u8, Failure> {
    let mut status = exit::MEASURED;
    for name in names(arguments)? {
        let folder = arguments.suites.join(&name);
        let page = page(arguments, &name)?;
        let file = folder.join(PAGE_FILE);
        if !arguments.check {
            write(&file, page, &name)?;
        } else if let Some(difference) = difference(&file, page.as_deref())? {
            print_error(&format!("{}: {difference}", file.display()));
            status = exit::OBJECTIVE_MISSED;
        }
    }
    Ok(status)
}

fn names(arguments: &ResultsArguments) -> Result<Vec<String>, Failure> {
    let mut names = Named::SUITE.chosen(&arguments.names, &arguments.suites)?;
    names.retain(|name| {
        let folder = arguments.suites.join(name);
        let mut beside = [RESULTS_FILE, PAGE_FILE].iter().map(|file| folder.join(file));
        arguments.names.contains(name)
            || beside.any(|file| file.is_file())
            || record_of(arguments, name).is_some()
    });
    Ok(names)
}

/// The record that a page is made of.
fn record_of(arguments: &ResultsArguments, name: &str) -> Option<PathBuf> {
    let files = [Extent::Full, Extent::Quick];
    let mut files = files.map(|extent| file_of(&arguments.records, name, extent)).into_iter();
    files.find(|file| file.is_file())
}

/// The text of the page, or `None` if the suite has no record.
fn page(arguments: &ResultsArguments, name: &str) -> Result<Option<String>, Failure> {
    let Some(file) = record_of(arguments, name) else {
        return Ok(None);
    };
    let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
    let record = Record::read(&file).map_err(unreadable)?;
    let folder = arguments.suites.join(name);
    let verdicts = verdicts(arguments, name, &record)?;
    if !folder.join(RESULTS_FILE).is_file() {
        return Ok(Some(measured_page(&record, &verdicts)));
    }
    let page = Page::read(&folder, &record).map_err(Failure::usage)?;
    let profile = kept_profile(&arguments.records, name).map_err(Failure::usage)?;
    Ok(Some(page.with_verdicts(verdicts).with_profile(profile).text()))
}

/// What the document claims, with verdicts. A quick run is not enough for a verdict.
fn verdicts(arguments: &ResultsArguments, name: &str, record: &Record) -> Result<String, Failure> {
    let declared = arguments.suites.join(name).join(CLAIMS_FILE);
    if record.facts.extent == Extent::Quick || !declared.is_file() {
        return Ok(String::new());
    }
    let judged = JudgedSuite::read(&arguments.suites, &arguments.records, name);
    Ok(judged.map_err(Failure::usage)?.summary())
}

fn write(file: &Path, page: Option<String>, name: &str) -> Result<(), Failure> {
    let line = match page {
        Some(page) => {
            fs::write(file, page).map_err(|error| {
                Failure::nothing_measured(format!("cannot write {}: {error}", file.display()))
            })?;
            format!("{}\n", file.display())
        }
        None => format!("{name} has no record: bookend run {name}, then bookend record\n"),
    };
    print(&line)
}

/// How the file differs from the page that the record gives. Without a record there must be no
/// file.
fn difference(file: &Path, page: Option<&str>) -> Result<Option<String>, Failure> {
    let is = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::usage(format!("{}: {error}", file.display()))),
    };
    Ok(match (is, page) {
        (None, None) => None,
        (Some(_), None) => Some("there is no record that it could be made of".to_owned()),
        (None, Some(_)) => Some("it is missing: make it with bookend results".to_owned()),
        (Some(is), Some(should)) => first_difference(&is, should).map(|(line, is, should)| {
            format!("line {line} is `{is}`, its record gives `{should}`")
        }),
    })
}
