//! The pages of what the published documents claim, with the outcomes.

use super::{NoPage, RECORDS, SUITES, suites, write};
use bookend_contract::exit;
use bookend_publication::claims::{JudgedSuites, PROBED_PAGE, probed_page};
use bookend_results::findings::ProbeFindings;
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// Arguments of `publication claims`.
#[derive(Debug, Args)]
pub struct ClaimsArguments {
    /// Write nothing; exit with 3 if a page differs from what claims and records give
    #[arg(long)]
    check: bool,
    /// The folder that docs/measure and records/pages are in
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = SUITES)]
    suites: PathBuf,
    /// Where records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl ClaimsArguments {
    /// Writes the pages, or checks them; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when claims, tables or records cannot be read, or a page cannot be written.
    pub fn run(&self) -> Result<u8, NoPage> {
        let Self { suites: folder, records, .. } = self;
        // A folder that is not there is named before what would be in it.
        suites(folder)?;
        let judged = JudgedSuites::read(folder, records).map_err(NoPage::given)?;
        let probed = ProbeFindings::read(records).map_err(NoPage::given)?;
        let probed = probed_page(&probed).map(|page| (PROBED_PAGE, page));
        let mut status = exit::MEASURED;
        for (name, page) in judged.pages().into_iter().chain(probed) {
            let file = self.output.join(name);
            if !self.check {
                let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
                folder.map_err(|error| NoPage::unwritten(&file, error))?;
                write(&page, Some(&file))?;
            } else if !fs::read_to_string(&file).is_ok_and(|text| text == page) {
                eprintln!(
                    "{} is not what claims and records give: run publication claims",
                    file.display()
                );
                status = exit::OBJECTIVE_MISSED;
            }
        }
        Ok(status)
    }
}
