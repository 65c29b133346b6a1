//! Why there was no call.

use crate::terminal::Failure;
use bookend_load::plan::LoadPlan;
use bookend_load::run::LoadError;

/// No call could be made, for this reason.
pub fn no_call(plan: &LoadPlan, error: &LoadError) -> Failure {
    let targets = plan.labels.targets.join(",");
    let error = error.to_string();
    let names_target = error.contains(&targets);
    let text = if names_target { error } else { format!("no call to {targets}: {error}") };
    Failure::nothing_measured(text)
}
