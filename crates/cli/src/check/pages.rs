//! What is made of kept checks and of kept comparisons; nothing is measured for it.

use crate::terminal::Failure;
use bookend_contract::input;
use bookend_lab::machine::this_machine;
use bookend_load::given_file::RACE_MAX_BYTES;
use bookend_load::output;
use bookend_results::calibration::KeptChecks;
use bookend_results::race::{PowerComparison, PowerStudy, Race};
use clap::Args;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Flags that say how to measure.
const MEASURING: [&str; 7] =
    ["only", "repeat", "json", "subjects_dir", "proto_dir", "wait_for_lock", "quiet"];

/// What is to be made.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Make a page of kept checks, each a line that --json has printed
    #[arg(
        long, value_name = "FILE", conflicts_with_all = MEASURING,
        conflicts_with_all = ["power_of", "power_line"]
    )]
    page_of: Option<PathBuf>,
    /// Make a page of kept comparisons of servers whose difference is known, which scripts/power
    /// runs
    #[arg(long, value_name = "FILE", conflicts_with_all = MEASURING, conflicts_with = "power_line")]
    power_of: Option<PathBuf>,
    /// Make such a comparison's line of a race that --save has kept, run on this machine
    #[arg(
        long, value_name = "RACE", conflicts_with_all = MEASURING,
        requires_all = ["slowed", "burnt_ns"]
    )]
    power_line: Option<PathBuf>,
    /// By how much the second server was to be slower, percent
    #[arg(long, value_name = "PERCENT", value_parser = amount, requires = "power_line")]
    slowed: Option<f64>,
    /// What it burns in each call, nanoseconds
    #[arg(long, value_name = "NS", value_parser = amount, requires = "power_line")]
    burnt_ns: Option<f64>,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE", conflicts_with_all = MEASURING)]
    output: Option<PathBuf>,
}

impl PageArguments {
    /// Makes it. Whether there was anything to be made.
    ///
    /// # Errors
    /// [`Failure`] when a record cannot be read, or the page cannot be written.
    pub fn deliver(&self) -> Result<bool, Failure> {
        let text = if let Some(record) = &self.page_of {
            KeptChecks::parse(&read(record, input::MAX_BYTES)?)
                .map_err(|error| unreadable(record, error))?
                .page()
        } else if let Some(record) = &self.power_of {
            PowerStudy::parse(&read(record, input::MAX_BYTES)?)
                .map_err(|error| unreadable(record, error))?
                .page()
        } else if let Some(race) = &self.power_line {
            self.line(race)?
        } else if self.output.is_some() {
            return Err(Failure::usage("--output is for --page-of and --power-of"));
        } else {
            return Ok(false);
        };
        output::write(&text, self.output.as_deref()).map_err(Failure::not_delivered)?;
        Ok(true)
    }

    fn line(&self, file: &Path) -> Result<String, Failure> {
        let text = read(file, RACE_MAX_BYTES)?;
        let race = Race::parse(&text).map_err(|error| unreadable(file, error))?;
        if race.servers.len() != 2 {
            return Err(unreadable(file, "a race of one server compares nothing"));
        }
        let known = (self.slowed.unwrap_or_default(), self.burnt_ns.unwrap_or_default());
        let comparison = PowerComparison::of_race(&race, known, &this_machine().line())
            .map_err(|error| unreadable(file, error))?;
        Ok(comparison.line() + "\n")
    }
}

/// A check has some kilobytes and a comparison fewer, so thousands of them are within
/// [`input::MAX_BYTES`].
fn read(file: &Path, max_bytes: u64) -> Result<String, Failure> {
    let read = File::open(file).and_then(|opened| input::text(opened, max_bytes));
    read.map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: impl ToString) -> Failure {
    Failure::usage(format!("{}: {}", file.display(), error.to_string()))
}

/// A number that is not negative.
fn amount(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| format!("\"{text}\" is not a number of at least 0"))
}
