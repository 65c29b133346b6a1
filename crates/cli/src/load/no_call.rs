//! Why there was no call.

use crate::terminal::Failure;
use bookend_load::plan::LoadPlan;
use bookend_load::run::LoadError;

/// No call could be made, for this reason.
pub fn no_call(plan: &LoadPlan, error: &LoadError) -> Failure {
    let targets = plan.labels.targets.join(",");
    Failure::nothing_measured(format!("no call to {targets}: {error}"))
}
