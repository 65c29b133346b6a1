//! `bookend results`: the pages of the suites, each made of its record.

use crate::names::Named;
use crate::record::RECORDS;
use crate::terminal::{Failure, print_error, print_line};
use bookend_contract::exit;
use bookend_contract::input::MAX_BYTES;
use bookend_load::given_file;
use bookend_results::record::{Record, file_of, raw_folder};
use bookend_results::suite::Extent;
use bookend_verdicts::claims::{CLAIMS_FILE, JudgedSuite, kept_profile};
use bookend_verdicts::pages::{
    ClaimVerdicts, PAGE_FILE, PICTURE_FILE, Page, PageFiles, RESULTS_FILE, first_difference,
};
use clap::Args;
use std::fs;
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

/// Writes the pages with their pictures, or compares them with what they should be.
///
/// # Errors
/// [`Failure`] when a record, a published table or a declaration cannot be read.
pub fn start(arguments: &ResultsArguments) -> Result<u8, Failure> {
    let mut status = exit::MEASURED;
    for name in names(arguments)? {
        let folder = arguments.suites.join(&name);
        let page = page(arguments, &name)?;
        let picture = page.as_ref().and_then(|page| page.picture.as_deref());
        let text = page.as_ref().map(|page| page.text.as_str());
        if !arguments.check && text.is_none() {
            print_line(&format!("{name} has no record: bookend run {name}, then bookend record"))?;
            continue;
        }
        for (file, should) in [(PAGE_FILE, text), (PICTURE_FILE, picture)] {
            let file = folder.join(file);
            if !arguments.check {
                write(&file, should)?;
            } else if let Some(difference) = difference(&file, should)? {
                print_error(&format!("{}: {difference}", file.display()));
                status = exit::OBJECTIVE_MISSED;
            }
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
    [Extent::Full, Extent::Quick]
        .map(|extent| file_of(&arguments.records, name, extent))
        .into_iter()
        .find(|file| file.is_file())
}

/// The page, or `None` if the suite has no record.
fn page(arguments: &ResultsArguments, name: &str) -> Result<Option<PageFiles>, Failure> {
    let Some(file) = record_of(arguments, name) else {
        return Ok(None);
    };
    let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
    let record = Record::read(&file).map_err(unreadable)?;
    let page = Page::read(&arguments.suites.join(name), &record)
        .map_err(Failure::usage)?
        .with_profile(kept_profile(&arguments.records, name).map_err(Failure::usage)?)
        .with_verdicts(verdicts(arguments, name, &record)?)
        .with_raw_output(raw_folder(&arguments.records, name, record.facts.extent).is_dir());
    Ok(Some(page.files()))
}

/// What the document claims, with verdicts. A quick run is not enough for a verdict.
fn verdicts(
    arguments: &ResultsArguments,
    name: &str,
    record: &Record,
) -> Result<Option<ClaimVerdicts>, Failure> {
    let declared = arguments.suites.join(name).join(CLAIMS_FILE);
    if record.facts.extent == Extent::Quick || !declared.is_file() {
        return Ok(None);
    }
    let judged =
        JudgedSuite::read(&arguments.suites, &arguments.records, name).map_err(Failure::usage)?;
    Ok(Some(ClaimVerdicts::of(&judged)))
}

/// Writes the file; one that there should not be is removed.
fn write(file: &Path, should: Option<&str>) -> Result<(), Failure> {
    let failed =
        |error| Failure::nothing_measured(format!("cannot write {}: {error}", file.display()));
    match should {
        Some(text) => {
            fs::write(file, text).map_err(failed)?;
            print_line(&file.display().to_string())
        }
        None if file.is_file() => fs::remove_file(file).map_err(failed),
        None => Ok(()),
    }
}

/// How the file differs from the page that the record gives. Without a record there must be no
/// file.
fn difference(file: &Path, page: Option<&str>) -> Result<Option<String>, Failure> {
    let is = file
        .exists()
        .then(|| given_file::text(file, MAX_BYTES))
        .transpose()
        .map_err(Failure::usage)?;
    Ok(match (is, page) {
        (None, None) => None,
        (Some(_), None) => Some("there is no record that it could be made of".to_owned()),
        (None, Some(_)) => Some("it is missing: make it with bookend results".to_owned()),
        (Some(is), Some(should)) => first_difference(&is, should).map(|(line, is, should)| {
            format!("line {line} is `{is}`, its record gives `{should}`")
        }),
    })
}
