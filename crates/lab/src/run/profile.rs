//! The pass after the measured rounds in which the subjects are recorded.

use super::crew::{self, Interrupted};
use super::{RunError, RunSettings, Scratch, bench};
use crate::perf::{self, NoPerf, ProfileSettings};
use crate::progress::Progress;
use crate::round::Bench;
use bookend_results::profile::Profile;

/// Starts everybody of the plan again and records where their CPU time goes. `None`: somebody
/// wanted the lab to end before it began.
///
/// The calling thread must live as long as this, as with [`super::run`].
///
/// # Errors
/// The request cannot be written. That nothing can be recorded here is no error of the run.
pub fn profile(
    settings: &RunSettings,
    how: &ProfileSettings,
    progress: &mut Progress<'_>,
) -> Result<Option<Result<Profile, NoPerf>>, RunError> {
    crate::process::adopt_daemons().map_err(RunError::Subreaper)?;
    let plan = &settings.plan;
    let scratch = Scratch::write(&settings.suite, &plan.request, settings.message.as_deref())
        .map_err(RunError::Request)?;
    let bench = Bench {
        profile: true,
        ..bench(settings, plan, &scratch)?
    };
    match crew::prepare(settings, plan, progress) {
        Ok(crew) => Ok(Some(perf::run(&bench, plan, &crew, how, progress))),
        Err(Interrupted) => Ok(None),
    }
}
