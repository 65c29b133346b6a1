//! `bookend load --find-capacity`.

use super::delivery::deliver_text;
use super::interrupt;
use super::no_call::no_call;
use super::origin::origin;
use crate::terminal::Failure;
use bookend_contract::exit;
use bookend_contract::printable;
use bookend_load::capacity;
use bookend_load::flags::LoadFlags;
use bookend_load::objective::Objective;
use bookend_load::output::OutputFormat;
use bookend_load::plan::LoadPlan;
use bookend_load::report;
use bookend_report::capacity::capacity_text;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

/// Searches the capacity, then prints or writes what was found.
///
/// # Errors
/// [`Failure`] when nothing could be called, or the result cannot be written.
pub fn find_capacity(
    flags: &LoadFlags,
    format: OutputFormat,
    plan: &LoadPlan,
    objective: &Objective,
) -> Result<u8, Failure> {
    let is_json = match format {
        OutputFormat::Summary => false,
        OutputFormat::Json | OutputFormat::Pretty => true,
        _ => return Err(Failure::usage("--find-capacity is printed as a summary or as JSON")),
    };
    let interrupt = interrupt::watch(false).map_err(Failure::nothing_measured)?;
    let started = SystemTime::now();
    let found =
        capacity::find(plan, objective, &interrupt).map_err(|error| no_call(plan, &error))?;
    let status = match found.kept_rate {
        Some(_) => exit::MEASURED,
        None if found.generator_was_limit || found.trials.is_empty() => exit::NOT_DECIDED,
        None => exit::OBJECTIVE_MISSED,
    };
    let text = if is_json {
        let report = report::capacity_report(plan, started, found, origin());
        let json = serde_json::to_string_pretty(&report).expect("its keys are strings");
        printable::json(&json).into_owned() + "\n"
    } else {
        capacity_text(&found)
    };
    deliver_text(flags.output.as_deref(), |to| to.write_all(text.as_bytes()))?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    Ok(status)
}
