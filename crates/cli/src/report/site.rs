//! The site of all committed records.

use crate::names::Named;
use crate::record::RECORDS;
use crate::terminal::{Failure, print_line};
use bookend_contract::exit;
use bookend_load::output;
use bookend_results::record::{Record, file_of};
use bookend_results::suite::Extent;
use bookend_verdicts::claims::JudgedSuites;
use bookend_verdicts::site::ResultSite;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// What a site is made of, and where it goes.
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// Make a site of all committed records in this folder, instead of one report
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["of", "record", "store", "format", "output", "charts"])]
    site: Option<PathBuf>,
    /// Where suites are, for a site
    #[arg(long, value_name = "DIR", default_value = "suites", requires = "site")]
    suites: PathBuf,
    /// Where records are, for a site
    #[arg(long, value_name = "DIR", default_value = RECORDS, requires = "site")]
    records: PathBuf,
}

impl SiteArguments {
    /// Whether a site is to be made.
    pub fn is_asked_for(&self) -> bool {
        self.site.is_some()
    }

    /// Writes the site, if it is asked for.
    ///
    /// # Errors
    /// [`Failure`] when a record or a claim cannot be read, or a file cannot be written.
    pub fn write(&self) -> Result<u8, Failure> {
        let Some(folder) = &self.site else {
            return Ok(exit::MEASURED);
        };
        let site = self.read()?;
        let unwritten = |error: std::io::Error| {
            Failure::nothing_measured(format!("cannot write {}: {error}", folder.display()))
        };
        fs::create_dir_all(folder).map_err(unwritten)?;
        for (name, text) in site.files() {
            let file = folder.join(name);
            output::write(&text, Some(&file)).map_err(Failure::nothing_measured)?;
            print_line(&format!("{} ({} KB)", file.display(), text.len().div_ceil(1000)))?;
        }
        Ok(exit::MEASURED)
    }

    /// Suites that repeat a document come first, in the order of the documents.
    fn read(&self) -> Result<ResultSite, Failure> {
        // The flag is said where the folder is not there, so that is found first.
        let mut names = Named::SUITE.all(&self.suites)?;
        let judged = JudgedSuites::read(&self.suites, &self.records).map_err(Failure::usage)?;
        let place = |name: &String| {
            let document = judged.suite(name).map(|suite| &suite.claims.document);
            document.filter(|document| !document.are_expectations).map(|document| document.place)
        };
        names.sort_by_key(|name| (place(name).is_none(), place(name), name.clone()));
        let records = names
            .iter()
            .map(|name| file_of(&self.records, name, Extent::Full))
            .filter(|file| file.is_file())
            .map(|file| {
                let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
                Record::read(&file).map_err(unreadable)
            });
        Ok(ResultSite { records: records.collect::<Result<_, _>>()?, judged })
    }
}
