//! What is made of kept checks and of kept comparisons; nothing is measured for it.

use super::{NoPage, read, write};
use bookend_contract::{exit, input};
use bookend_publication::kept_checks::KeptChecks;
use bookend_publication::power::{PowerComparison, PowerStudy};
use bookend_results::race::Race;
use clap::Args;
use std::path::PathBuf;

/// A race of a quarter of an hour has some megabytes.
const RACE_MAX_BYTES: u64 = 256 << 20;

/// Arguments of `publication check-page`.
#[derive(Debug, Args)]
pub struct CheckPageArguments {
    /// Checks, a line each as bookend check --json prints it
    #[arg(value_name = "FILE")]
    checks: PathBuf,
    /// Write the page to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `publication power-page`.
#[derive(Debug, Args)]
pub struct PowerPageArguments {
    /// Comparisons, a line each as power-line prints it
    #[arg(value_name = "FILE")]
    comparisons: PathBuf,
    /// Write the page to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `publication power-line`.
#[derive(Debug, Args)]
pub struct PowerLineArguments {
    /// The race
    #[arg(value_name = "RACE")]
    race: PathBuf,
    /// By how much the second server was to be slower, percent
    #[arg(long, value_name = "PERCENT", value_parser = amount)]
    slowed: f64,
    /// What it burns in each call, nanoseconds
    #[arg(long, value_name = "NS", value_parser = amount)]
    burnt_ns: f64,
    /// Where the race was run
    #[arg(long, value_name = "WORDS")]
    machine: String,
}

impl CheckPageArguments {
    /// Makes the page; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when the checks cannot be read, or the page cannot be written.
    pub fn run(&self) -> Result<u8, NoPage> {
        let kept = KeptChecks::parse(&read(&self.checks, input::MAX_BYTES)?)
            .map_err(|error| NoPage::unreadable(&self.checks, error))?;
        write(&kept.page(), self.output.as_deref())?;
        Ok(exit::MEASURED)
    }
}

impl PowerPageArguments {
    /// Makes the page; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when the comparisons cannot be read, or the page cannot be written.
    pub fn run(&self) -> Result<u8, NoPage> {
        let study = PowerStudy::parse(&read(&self.comparisons, input::MAX_BYTES)?)
            .map_err(|error| NoPage::unreadable(&self.comparisons, error))?;
        write(&study.page(), self.output.as_deref())?;
        Ok(exit::MEASURED)
    }
}

impl PowerLineArguments {
    /// Prints the line; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when the race cannot be read, or is not one of two servers.
    pub fn run(&self) -> Result<u8, NoPage> {
        let unreadable = |error: &dyn ToString| NoPage::unreadable(&self.race, error.to_string());
        let text = read(&self.race, RACE_MAX_BYTES)?;
        let race = Race::parse(&text).map_err(|error| unreadable(&error))?;
        if race.servers.len() != 2 {
            return Err(unreadable(&"a race of one server compares nothing"));
        }
        let known = (self.slowed, self.burnt_ns);
        let comparison = PowerComparison::of_race(&race, known, &self.machine)
            .map_err(|error| unreadable(&error))?;
        write(&(comparison.line() + "\n"), None)?;
        Ok(exit::MEASURED)
    }
}

/// A number that is not negative.
fn amount(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| format!("\"{text}\" is not a number of at least 0"))
}
