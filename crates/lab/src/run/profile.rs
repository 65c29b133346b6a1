//! The pass after the measured rounds in which the subjects are recorded.

use super::prepare::{self, Interrupted};
use super::{RunSettings, SuiteRunError, TemporaryFolder, context};
use crate::perf::{self, PerfUnavailable, ProfileSettings};
use crate::progress::ProgressReporter;
use crate::round::RunContext;
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
    progress: &mut ProgressReporter<'_>,
) -> Result<Option<Result<Profile, PerfUnavailable>>, SuiteRunError> {
    crate::process::become_subreaper().map_err(SuiteRunError::Subreaper)?;
    let plan = &settings.plan;
    let scratch =
        TemporaryFolder::write(&settings.suite, &plan.request, settings.message.as_deref())
            .map_err(SuiteRunError::Request)?;
    let context = RunContext {
        profile: true,
        ..context(settings, plan, &scratch)?
    };
    match prepare::prepare(settings, plan, progress) {
        Ok(prepared) => Ok(Some(perf::run(&context, plan, &prepared, how, progress))),
        Err(Interrupted) => Ok(None),
    }
}
