//! What is left of a release run, and what the next sitting does.

use super::{NoPage, RECORDS, SUITES, suites, write};
use bookend_contract::exit;
use bookend_publication::release_run::{LONGEST, Origin, ReleaseRun};
use bookend_results::suite::{Suite, parse_duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `publication sittings`.
#[derive(Debug, Args)]
pub struct SittingsArguments {
    /// Suites to measure [default: all]
    #[arg(value_name = "SUITE")]
    names: Vec<String>,
    /// The folder that records of this run go into
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The revision of the tree
    #[arg(long)]
    revision: String,
    /// The kernel, as records name it
    #[arg(long)]
    kernel: String,
    /// The model of the CPU
    #[arg(long)]
    cpu: String,
    /// How long a sitting may be
    #[arg(long, value_name = "TIME", default_value = "80m", value_parser = time)]
    sitting: Duration,
    /// What a suite takes besides its run, as helloworld-profile=10m
    #[arg(long, value_name = "SUITE=TIME", value_parser = besides)]
    besides: Vec<(String, Duration)>,
    /// Print only the names of the suites of the next sitting
    #[arg(long)]
    next: bool,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = SUITES)]
    suites: PathBuf,
    /// Where all records are
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl SittingsArguments {
    /// Prints the plan; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when a suite cannot be read or the run cannot be planned.
    pub fn run(&self) -> Result<u8, NoPage> {
        let names = match self.names.as_slice() {
            [] => suites(&self.suites)?,
            names => names.to_vec(),
        };
        let read = |name: &String| Suite::read(&self.suites.join(name)).map_err(NoPage::given);
        let suites: Vec<Suite> = names.iter().map(read).collect::<Result<_, _>>()?;
        let origin = Origin {
            revision: self.revision.clone(),
            kernel: self.kernel.clone(),
            cpu_model: self.cpu.clone(),
        };
        let places = (self.records.as_path(), self.into.as_path());
        let run = ReleaseRun::plan(origin, &suites, places, &self.besides, self.sitting)
            .map_err(NoPage::given)?;
        if run.total() > LONGEST {
            let most = LONGEST.as_secs() / 60;
            return Err(NoPage::given(format!("{run}a release run has at most {most} min")));
        }
        match self.next {
            true => {
                write(&run.next().iter().map(|name| format!("{name}\n")).collect::<String>(), None)?
            }
            false => write(&run.to_string(), None)?,
        }
        Ok(exit::MEASURED)
    }
}

fn time(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

fn besides(text: &str) -> Result<(String, Duration), String> {
    let (name, length) = text.split_once('=').ok_or("write SUITE=TIME")?;
    Ok((name.to_owned(), time(length)?))
}
