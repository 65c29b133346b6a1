//! The flags of `bookend race` about the functions that differ, as typed.

use crate::terminal::Failure;
use bookend_contract::duration;
use bookend_lab::race::{RaceProfiler, RaceRunError};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Whether functions are recorded, and how.
#[derive(Debug, Args)]
pub struct ProfileFlags {
    /// Record both servers with perf, and name the functions that differ
    #[arg(long, help_heading = "Output")]
    profile: bool,
    /// Length of each recording
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "10s",
        requires = "profile", help_heading = "Output", hide_short_help = true
    )]
    profile_window: Duration,
    /// Folder for a flame graph of each server, and its stacks
    #[arg(
        long,
        value_name = "DIR",
        requires = "profile",
        help_heading = "Output",
        hide_short_help = true
    )]
    profile_folder: Option<PathBuf>,
    /// Program that records
    #[arg(
        long,
        value_name = "FILE",
        default_value = "perf",
        requires = "profile",
        help_heading = "Output",
        hide_short_help = true
    )]
    perf: PathBuf,
}

impl ProfileFlags {
    /// Whether anything is recorded.
    pub fn is_wanted(&self) -> bool {
        self.profile
    }

    /// Whether it would show anything of that number of servers.
    ///
    /// # Errors
    /// [`Failure`] with what to do about it.
    pub fn check(&self, servers: usize) -> Result<(), Failure> {
        if self.profile && self.profile_folder.is_none() && servers < 2 {
            return Err(Failure::usage(
                "--profile: one server alone differs from nothing; add --profile-folder for its \
                 flame graph",
            ));
        }
        Ok(())
    }

    /// What records, if anything.
    ///
    /// # Errors
    /// There is no `perf`, or the folder cannot be made.
    pub fn profiler(&self) -> Result<Option<RaceProfiler>, RaceRunError> {
        let find =
            || RaceProfiler::find(&self.perf, self.profile_window, self.profile_folder.clone());
        self.profile.then(find).transpose()
    }
}
