//! The parts of README.md that are made of records.

use super::{NoPage, RECORDS, SUITES, read, write};
use bookend_contract::exit;
use bookend_contract::input::MAX_BYTES;
use bookend_publication::pages::{README_PARTS, ReadMe, ReadMeSources, first_difference};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `publication readme`.
#[derive(Debug, Args)]
pub struct ReadMeArguments {
    /// The page
    #[arg(value_name = "FILE", default_value = "README.md")]
    file: PathBuf,
    /// Write nothing; exit with 3 if the page differs from what its records give
    #[arg(long)]
    check: bool,
    /// What its parts are made of
    #[arg(long, value_name = "FILE", default_value = README_PARTS)]
    parts: PathBuf,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = SUITES)]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl ReadMeArguments {
    /// Writes the page with its parts made anew, or checks it; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when a part cannot be made.
    pub fn run(&self) -> Result<u8, NoPage> {
        let sources = ReadMeSources { suites: &self.suites, records: &self.records };
        let page = read(&self.file, MAX_BYTES)?;
        let parts = ReadMe::read(&self.parts).map_err(NoPage::given)?;
        let made = parts.filled(&page, sources).map_err(NoPage::given)?;
        if !self.check {
            write(&made, Some(&self.file))?;
        } else if let Some((line, is, should)) = first_difference(&page, &made) {
            let file = self.file.display();
            eprintln!(
                "{file}: line {line} is `{is}`, its record gives `{should}`: publication readme \
                 makes it again"
            );
            return Ok(exit::OBJECTIVE_MISSED);
        }
        Ok(exit::MEASURED)
    }
}
