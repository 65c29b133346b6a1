//! `bookend run --profile`: where the CPU time of each subject goes, after its figures.

use crate::terminal::{Failure, print, with_progress};
use bookend_contract::duration::{self, unless_zero};
use bookend_lab::perf::ProfileSettings;
use bookend_lab::run::{self, RunSettings};
use bookend_report::profile::{estimates, notes, split_table};
use bookend_results::profile::Profile;
use bookend_results::suite::{Case, Plan};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `bookend run` about profiles.
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// Record each subject with perf after the measured rounds, and draw flame graphs
    #[arg(long, help_heading = "Profiles")]
    profile: bool,
    /// Record this case, such as "C=1 S=100"; repeatable [default: most streams per connection]
    #[arg(long, value_name = "CASE", requires = "profile", help_heading = "Profiles")]
    profile_case: Vec<String>,
    /// Length of each recording; longer suits servers that are mostly idle [default: the window,
    /// within 10s to 20s]
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, requires = "profile",
        help_heading = "Profiles"
    )]
    profile_window: Option<Duration>,
    /// Folder for profiles [default: profiles/SUITE]
    #[arg(long, value_name = "DIR", requires = "profile", help_heading = "Profiles")]
    profile_folder: Option<PathBuf>,
    /// Program that records
    #[arg(
        long,
        value_name = "FILE",
        default_value = "perf",
        requires = "profile",
        help_heading = "Profiles"
    )]
    perf: PathBuf,
}

impl ProfileArguments {
    /// Whether anything is to be recorded.
    pub fn is_wanted(&self) -> bool {
        self.profile
    }

    /// What to record of a run, if anything.
    ///
    /// # Errors
    /// When the plan does not have the case.
    pub fn settings(&self, plan: &Plan) -> Result<Option<ProfileSettings>, Failure> {
        if !self.profile {
            return Ok(None);
        }
        let folder = self
            .profile_folder
            .clone()
            .unwrap_or_else(|| PathBuf::from("profiles").join(&plan.suite));
        let mut settings = ProfileSettings::of(plan, folder);
        settings.perf.clone_from(&self.perf);
        if let Some(window) = self.profile_window.and_then(unless_zero) {
            settings.window_ms = window.as_millis().try_into().unwrap_or(u64::MAX).max(1);
        }
        if !self.profile_case.is_empty() {
            settings.cases = self
                .profile_case
                .iter()
                .map(|text| planned(plan, text))
                .collect::<Result<_, _>>()?;
        }
        Ok(Some(settings))
    }
}

/// The case of the plan with this text.
fn planned(plan: &Plan, text: &str) -> Result<Case, Failure> {
    let found = plan.cases.iter().find(|case| case.to_string() == text);
    found.copied().ok_or_else(|| {
        let known: Vec<String> = plan.cases.iter().map(Case::to_string).collect();
        let suite = &plan.suite;
        Failure::usage(format!(
            "`{text}` is no case of {suite} in this run, only: {}",
            known.join(", ")
        ))
    })
}

/// Records the profiles that `how` describes and prints what they show. Where nothing can be
/// recorded, one line gives the reason; the results of the run and its exit status stand.
///
/// # Errors
/// [`Failure`] when the request of the suite cannot be written again.
pub fn record(
    settings: &RunSettings,
    how: &ProfileSettings,
    is_quiet: bool,
) -> Result<(), Failure> {
    let recorded = with_progress(is_quiet, |progress| run::profile(settings, how, progress))
        .map_err(Failure::nothing_measured)?;
    match recorded {
        Some(Ok(profile)) => print(&text(&profile, how)),
        Some(Err(no_perf)) => {
            with_progress(false, |progress| progress.println(&no_perf.to_string()));
            Ok(())
        }
        None => Ok(()),
    }
}

fn text(profile: &Profile, how: &ProfileSettings) -> String {
    let mut text = format!(
        "\nWhere the CPU time of {} went, in percent of samples:\n{}",
        profile.suite,
        split_table(profile)
    );
    for note in notes(profile) {
        text.push_str(&format!("{note}\n"));
    }
    let estimates = estimates(profile);
    if !estimates.is_empty() {
        text.push_str(
            "\nCalls per CPU-second over the baseline's, from the work that both share:\n",
        );
        text.extend(estimates.iter().map(|line| format!("{line}\n")));
    }
    text + &format!("\nflame graphs are in {}\n", how.folder.display())
}
