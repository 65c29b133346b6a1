//! `bookend run`: the lab.

use crate::failure::Failure;
use crate::names::Named;
use crate::number::whole;
use clap::Args;
use std::path::PathBuf;

/// What stands after `bookend run`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The suite [default: every suite]
    suite: Option<String>,
    /// A few cells with short windows, for a first look
    #[arg(long)]
    quick: bool,
    /// Only these subjects, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    subjects: Vec<String>,
    /// How often each cell is measured
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// Go on with the last run of the suite that did not end
    #[arg(long)]
    resume: bool,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = crate::report::STORE)]
    store: PathBuf,
    /// Seed of the order of cells [default: a new one]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where subjects are
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
}

/// Checks the names, then measures.
///
/// # Errors
/// [`Failure`] when a name is wrong or nothing could be measured.
pub fn start(arguments: &Arguments) -> Result<u8, Failure> {
    if let Some(suite) = &arguments.suite {
        Named::Suite.require(suite, &arguments.suites)?;
    }
    for subject in &arguments.subjects {
        // `rust-bookend/epoll` is a variant of the subject `rust-bookend`.
        let folder = subject.split('/').next().unwrap_or(subject);
        Named::Subject.require(folder, &arguments.subjects_dir)?;
    }
    measure(arguments)
}

/// The run itself.
fn measure(arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments {
        quick,
        rounds,
        resume,
        store,
        seed,
        ..
    } = arguments;
    Err(Failure::nothing_measured(format!(
        "not built yet (quick {quick}, rounds {rounds:?}, resume {resume}, seed {seed:?}, store {})",
        store.display()
    )))
}
