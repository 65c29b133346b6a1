//! The flags of `bookend run`, as typed.

use super::profile::ProfileArguments;
use crate::fleet::FleetFlags;
use crate::gates::GateArguments;
use crate::report::STORE;
use bookend_load::flags::whole;
use bookend_results::suite::LapSetting;
use clap::Args;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = r#"Examples:
  bookend run helloworld-profile --quick
  bookend run pajamax-tonic --subjects rust-pajamax,rust-tonic --case "C=1 S=100""#;

/// Arguments of `bookend run`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("agents", |agents| agents
        .help_heading("Measurement")
        .help("Number of bookend agents that make the calls of bookend-load; local:N starts them \
               here")),
)]
pub struct RunArguments {
    /// Suite to measure; without it and any flag of "Measurement", all suites are listed
    #[arg(help_heading = "Measurement")]
    pub suite: Option<String>,
    /// Measure a few cells with short windows, for a first look
    #[arg(long, help_heading = "Measurement")]
    pub quick: bool,
    /// Measure only these subjects, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Measurement")]
    pub subjects: Vec<String>,
    /// Measure only this case, such as "C=1 S=100"; repeatable
    #[arg(long, value_name = "CASE", help_heading = "Measurement")]
    pub case: Vec<String>,
    /// Subject that the others are compared with [default: the suite's]
    #[arg(long, value_name = "SUBJECT", help_heading = "Measurement")]
    pub baseline: Option<String>,
    /// How often to measure each cell [default: the suite's]
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true,
        help_heading = "Measurement"
    )]
    pub rounds: Option<u32>,
    /// Measure cells by turns in laps of this length, about 100ms, or off [default: the suite's]
    #[arg(long, value_name = "LENGTH", help_heading = "Measurement")]
    pub laps: Option<LapSetting>,
    /// Processes and threads that a server under test may have [default: the suite's]
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true,
        help_heading = "Measurement"
    )]
    pub server_processes: Option<u32>,
    /// Those that say which machines make the calls.
    #[command(flatten)]
    pub fleet: FleetFlags,
    #[command(flatten)]
    pub gates: GateArguments,
    /// Resume the last unfinished run of the suite, on the same machine and kernel
    #[arg(long, help_heading = "Measurement")]
    pub resume: bool,
    /// Print all tables, however wide
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// Wait while another lab measures here or writes the same store, instead of exiting
    #[arg(long, help_heading = "Expert")]
    pub wait_for_lock: bool,
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE, help_heading = "Expert")]
    pub store: PathBuf,
    /// Seed of the order in which cells are measured [default: a new one]
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true,
        help_heading = "Expert"
    )]
    pub seed: Option<u64>,
    /// Folder of suites
    #[arg(long, value_name = "DIR", default_value = "suites", help_heading = "Expert")]
    pub suites: PathBuf,
    /// Folder of subjects
    #[arg(long, value_name = "DIR", default_value = "subjects", help_heading = "Expert")]
    pub subjects_dir: PathBuf,
}

impl RunArguments {
    /// Whether a flag says what to measure, or how.
    pub fn says_what_to_measure(&self) -> bool {
        let lists = [&self.subjects, &self.case];
        let numbers = [self.rounds, self.server_processes];
        let switches = [self.quick, self.resume, self.wide, self.quiet, self.wait_for_lock];
        lists.into_iter().any(|list| !list.is_empty())
            || numbers.iter().any(Option::is_some)
            || switches.contains(&true)
            || self.fleet.agents.is_some()
            || self.baseline.is_some()
            || self.laps.is_some()
            || self.seed.is_some()
            || self.store != Path::new(STORE)
            || self.profile.is_wanted()
    }
}
