//! What is measured of a suite.

use super::arguments::RunArguments;
use crate::lab;
use crate::terminal::Failure;
use bookend_results::store::Store;
use bookend_results::suite::{Extent, Overrides, Plan, Selection, Suite};

/// Reads a suite and decides what to measure of it. A resumed run keeps its plan.
///
/// # Errors
/// [`Failure`] when the suite cannot be read, or has nothing of what was asked for.
pub fn planned(arguments: &RunArguments, name: &str) -> Result<(Suite, Plan), Failure> {
    let suite = Suite::read(&arguments.suites.join(name)).map_err(Failure::usage)?;
    if let Some(plan) = begun(arguments, &suite.name)? {
        return Ok((suite, plan));
    }
    // The lab has no variable whose name or value is not text.
    let texts = std::env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    });
    let overrides = Overrides::from_environment(texts).map_err(Failure::usage)?;
    let selection = Selection {
        extent: if arguments.quick { Extent::Quick } else { Extent::Full },
        subjects: Some(arguments.subjects.clone()).filter(|subjects| !subjects.is_empty()),
        cases: Some(arguments.case.clone()).filter(|cases| !cases.is_empty()),
        rounds: arguments.rounds,
        laps: arguments.laps,
        server_processes: arguments.server_processes,
    };
    let mut plan = suite.plan(&selection, &overrides, lab::cpus()).map_err(Failure::usage)?;
    if let Some(baseline) = &arguments.baseline {
        plan.compare_with(baseline).map_err(Failure::usage)?;
    }
    Ok((suite, plan))
}

/// The plan of the run that is resumed. If there is no such run, the run itself reports it.
fn begun(arguments: &RunArguments, suite: &str) -> Result<Option<Plan>, Failure> {
    if !arguments.resume || !arguments.store.exists() {
        return Ok(None);
    }
    let store = Store::open(&arguments.store).map_err(Failure::usage)?;
    let run = store.latest_unfinished(suite).map_err(Failure::usage)?;
    Ok(run.map(|run| run.new.plan))
}
