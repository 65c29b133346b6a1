//! The site of all committed records.

use super::{NoPage, RECORDS, SUITES, say, suites, write};
use bookend_contract::exit;
use bookend_publication::claims::{JudgedSuites, read_record};
use bookend_publication::since::since;
use bookend_publication::site::ResultSite;
use bookend_report::html::slug;
use bookend_results::record::{Facts, Record, file_in, suite_folder};
use bookend_results::suite::Extent;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// What a site is made of, and where it goes.
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// The folder of the site
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = SUITES)]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl SiteArguments {
    /// Writes the site; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when a record or a claim cannot be read, or a file cannot be written.
    pub fn run(&self) -> Result<u8, NoPage> {
        let site = self.read()?;
        fs::create_dir_all(&self.folder).map_err(|error| NoPage::unwritten(&self.folder, error))?;
        for (name, text) in site.files() {
            let file = self.folder.join(name);
            write(&text, Some(&file))?;
            say(&format!("{} ({} KB)", file.display(), text.len().div_ceil(1000)))?;
        }
        for (suite, name) in &site.raw {
            self.copy_record(suite, name)?;
        }
        Ok(exit::MEASURED)
    }

    /// Copies the record of a suite into the site, under that name.
    fn copy_record(&self, suite: &str, name: &str) -> Result<(), NoPage> {
        let Some(record) = file_in(&suite_folder(&self.records, suite), Extent::Full) else {
            return Ok(());
        };
        let file = self.folder.join(name);
        let bytes = fs::copy(record, &file).map_err(|error| NoPage::unwritten(&file, error))?;
        say(&format!("{} ({} KB)", file.display(), bytes.div_ceil(1000)))
    }

    /// Suites that repeat a document come first, in the order of the documents.
    fn read(&self) -> Result<ResultSite, NoPage> {
        let mut names = suites(&self.suites)?;
        let judged = JudgedSuites::read(&self.suites, &self.records).map_err(NoPage::given)?;
        let place = |name: &String| {
            let document = judged.suite(name).map(|suite| &suite.claims.document);
            document.filter(|document| !document.are_expectations).map(|document| document.place)
        };
        names.sort_by_key(|name| (place(name).is_none(), place(name), name.clone()));
        let records = names
            .iter()
            .filter_map(|name| file_in(&suite_folder(&self.records, name), Extent::Full))
            .map(|file| read_record(&self.records, &file).map_err(NoPage::given));
        let records: Vec<Record> = records.collect::<Result<_, _>>()?;
        let since = |facts: &Facts| (facts.suite.clone(), since(facts, &self.records));
        let since = records.iter().map(|record| since(&record.facts)).collect();
        let raw = names.iter().filter_map(|name| Some((name.clone(), self.raw_name(name)?)));
        Ok(ResultSite { records, judged, since, raw: raw.collect() })
    }

    /// How the record of a suite is called in the site. `None`: it has none.
    fn raw_name(&self, suite: &str) -> Option<String> {
        let file = file_in(&suite_folder(&self.records, suite), Extent::Full)?;
        Some(format!("{}-{}", slug(suite), file.file_name()?.to_str()?))
    }
}
