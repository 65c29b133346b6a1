//! The pages of the suites, each made of its record.

use super::{NoPage, RECORDS, SUITES, read, say, suites, write};
use bookend_contract::exit;
use bookend_contract::input::MAX_BYTES;
use bookend_publication::claims::{CLAIMS_FILE, JudgedSuite, kept_profile, read_record};
use bookend_publication::pages::{
    ClaimVerdicts, PAGE_FILE, PICTURE_FILE, Page, PageFiles, RESULTS_FILE, first_difference,
};
use bookend_publication::since::since;
use bookend_results::record::{Record, cut_off_raw_files, file_in, raw_folder, suite_folder};
use bookend_results::suite::Extent;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `publication results`.
#[derive(Debug, Args)]
pub struct ResultsArguments {
    /// The suites [default: all that have a results.toml, a record or a page]
    #[arg(value_name = "SUITE")]
    names: Vec<String>,
    /// Write nothing; report pages that differ from what their records give, and exit with 3
    #[arg(long)]
    check: bool,
    /// Write nothing; say of each record how many commits came after its revision
    #[arg(long, conflicts_with = "check")]
    since: bool,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = SUITES)]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl ResultsArguments {
    /// Writes the pages with their pictures, or compares them with what they should be. The number
    /// is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when a record, a published table or a declaration cannot be read.
    pub fn run(&self) -> Result<u8, NoPage> {
        if self.since {
            return since_of_each(self);
        }
        let mut status = exit::MEASURED;
        for name in names(self)? {
            let folder = self.suites.join(&name);
            let page = page(self, &name)?;
            let picture = page.as_ref().and_then(|page| page.picture.as_deref());
            let text = page.as_ref().map(|page| page.text.as_str());
            if !self.check && text.is_none() {
                say(&format!("{name} has no record: bookend run {name}, then publication record"))?;
                continue;
            }
            for (file, should) in [(PAGE_FILE, text), (PICTURE_FILE, picture)] {
                let file = folder.join(file);
                if !self.check {
                    make(&file, should)?;
                } else if let Some(difference) = difference(&file, should)? {
                    eprintln!("{}: {difference}", file.display());
                    status = exit::OBJECTIVE_MISSED;
                }
            }
        }
        Ok(status)
    }
}

/// Prints a line for each record.
fn since_of_each(arguments: &ResultsArguments) -> Result<u8, NoPage> {
    for name in names(arguments)? {
        if let Some(file) = record_of(arguments, &name) {
            let record = Record::read(&file).map_err(|error| NoPage::unreadable(&file, error))?;
            say(&format!("{name}: {}", since(&record.facts, &arguments.records)))?;
        }
    }
    Ok(exit::MEASURED)
}

fn names(arguments: &ResultsArguments) -> Result<Vec<String>, NoPage> {
    let mut names = suites(&arguments.suites)?;
    if let Some(unknown) = arguments.names.iter().find(|name| !names.contains(name)) {
        let folder = arguments.suites.display();
        return Err(NoPage::given(format!("there is no suite {unknown} in {folder}")));
    }
    names.retain(|name| {
        let folder = arguments.suites.join(name);
        let mut beside = [RESULTS_FILE, PAGE_FILE].iter().map(|file| folder.join(file));
        match arguments.names.as_slice() {
            [] => beside.any(|file| file.is_file()) || record_of(arguments, name).is_some(),
            named => named.contains(name),
        }
    });
    Ok(names)
}

/// The record that a page is made of.
fn record_of(arguments: &ResultsArguments, name: &str) -> Option<PathBuf> {
    let folder = suite_folder(&arguments.records, name);
    [Extent::Full, Extent::Quick].into_iter().find_map(|extent| file_in(&folder, extent))
}

/// The page, or `None` if the suite has no record.
fn page(arguments: &ResultsArguments, name: &str) -> Result<Option<PageFiles>, NoPage> {
    let Some(file) = record_of(arguments, name) else {
        return Ok(None);
    };
    let record = read_record(&arguments.records, &file).map_err(NoPage::given)?;
    let folder = suite_folder(&arguments.records, name);
    let page = Page::read(&arguments.suites.join(name), &record)
        .map_err(NoPage::given)?
        .with_records(&arguments.records)
        .with_profile(kept_profile(&folder).map_err(NoPage::given)?)
        .with_verdicts(verdicts(arguments, name, &record)?)
        .with_raw_output(raw_output(arguments, name, record.facts.extent)?);
    Ok(Some(page.files()))
}

/// What was cut of what instruments printed, if that was kept.
fn raw_output(
    arguments: &ResultsArguments,
    name: &str,
    extent: Extent,
) -> Result<Option<Vec<String>>, NoPage> {
    let folder = raw_folder(&arguments.records, name, extent);
    let files = folder.is_dir().then(|| cut_off_raw_files(&folder)).transpose();
    files.map_err(|error| NoPage::unreadable(&folder, error))
}

/// What the document claims, with verdicts. A quick run is not enough for a verdict.
fn verdicts(
    arguments: &ResultsArguments,
    name: &str,
    record: &Record,
) -> Result<Option<ClaimVerdicts>, NoPage> {
    let declared = arguments.suites.join(name).join(CLAIMS_FILE);
    if record.facts.extent == Extent::Quick || !declared.is_file() {
        return Ok(None);
    }
    let judged =
        JudgedSuite::read(&arguments.suites, &arguments.records, name).map_err(NoPage::given)?;
    Ok(Some(ClaimVerdicts::of(&judged)))
}

/// Writes the file; one that there should not be is removed.
fn make(file: &Path, should: Option<&str>) -> Result<(), NoPage> {
    match should {
        Some(text) => {
            write(text, Some(file))?;
            say(&file.display().to_string())
        }
        None if file.is_file() => {
            fs::remove_file(file).map_err(|error| NoPage::unwritten(file, error))
        }
        None => Ok(()),
    }
}

/// How the file differs from the page that the record gives. Without a record there must be no
/// file.
fn difference(file: &Path, page: Option<&str>) -> Result<Option<String>, NoPage> {
    let is = file.exists().then(|| read(file, MAX_BYTES)).transpose()?;
    Ok(match (is, page) {
        (None, None) => None,
        (Some(_), None) => Some("there is no record that it could be made of".to_owned()),
        (None, Some(_)) => Some("it is missing: make it with publication results".to_owned()),
        (Some(is), Some(should)) => first_difference(&is, should).map(|(line, is, should)| {
            format!(
                "line {line} is `{is}`, its record gives `{should}`: publication results makes it again"
            )
        }),
    })
}
