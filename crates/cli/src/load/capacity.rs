//! `bookend load --find-capacity`.

use super::audience::Audience;
use super::delivery::deliver_text;
use super::interrupt;
use super::no_call::no_call;
use super::observer::Observer;
use super::origin::origin;
use crate::fleet::{FleetOrder, Gathered, measure};
use crate::terminal::Failure;
use bookend_contract::capacity::Capacity;
use bookend_contract::duration::nanoseconds;
use bookend_contract::exit;
use bookend_contract::printable;
use bookend_load::capacity;
use bookend_load::flags::LoadFlags;
use bookend_load::live::LiveFormat;
use bookend_load::objective::Objective;
use bookend_load::output::OutputFormat;
use bookend_load::plan::{LoadPlan, ReportLabels};
use bookend_load::report;
use bookend_load::run::{LoadOutcome, run};
use bookend_report::capacity::capacity_text;
use std::sync::atomic::{AtomicBool, Ordering};
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
    check_format(format)?;
    let interrupt = interrupt::watch(false).map_err(Failure::nothing_measured)?;
    let started = SystemTime::now();
    let trial = |trial: capacity::Trial| run(trial.plan(plan), &interrupt, |_| {});
    let found = capacity::find(plan.connections, plan.window_ns, objective, &interrupt, trial)
        .map_err(|error| no_call(plan, &error))?;
    deliver_found(flags, format, &plan.labels, started, &found)?;
    Ok(status(&found, &interrupt))
}

/// The same by agents. What was found before one of them failed is printed.
///
/// # Errors
/// As [`find_capacity`], and when an agent fails or is lost.
pub fn find_by_agents(
    gathered: &mut Gathered,
    order: FleetOrder,
    format: OutputFormat,
    objective: &Objective,
    interrupt: &AtomicBool,
) -> Result<u8, Failure> {
    let flags = order.flags;
    let (mut labels, mut fault) = (None, None);
    let mut observer = Observer::new(Audience::People, LiveFormat::Off, None, false, false);
    let started = SystemTime::now();
    let mut make = |trial| {
        let order = FleetOrder { trial: Some(trial), ..order };
        let merged = measure(gathered, order, interrupt, &mut observer)?;
        labels.get_or_insert(merged.plan.labels);
        merged.lost.map_or(Ok(merged.outcome), Err)
    };
    let trial = |trial| {
        make(trial).or_else(|failure| {
            if !interrupt.swap(true, Ordering::Relaxed) {
                fault = Some(failure);
            }
            Ok(LoadOutcome { cancelled: true, ..LoadOutcome::default() })
        })
    };
    // A target is called over at least one connection.
    let connections = flags.connections.max(flags.call.targets.len() as u32);
    let window_ns = flags.window().map(nanoseconds);
    let found = capacity::find::<Failure>(connections, window_ns, objective, interrupt, trial)?;
    let found = Capacity { agents: gathered.load_names(), ..found };
    if let Some(labels) = labels.filter(|_| !found.closed_loops.is_empty()) {
        deliver_found(flags, format, &labels, started, &found)?;
    }
    fault.map_or_else(|| Ok(status(&found, interrupt)), Err)
}

/// Checks that a search can be printed in that format.
///
/// # Errors
/// [`Failure`]: which can be.
pub fn check_format(format: OutputFormat) -> Result<(), Failure> {
    match format {
        OutputFormat::Summary | OutputFormat::Json | OutputFormat::Pretty => Ok(()),
        _ => Err(Failure::usage("--find-capacity is printed as a summary or as JSON")),
    }
}

fn deliver_found(
    flags: &LoadFlags,
    format: OutputFormat,
    labels: &ReportLabels,
    started: SystemTime,
    found: &Capacity,
) -> Result<(), Failure> {
    let text = if format == OutputFormat::Summary {
        capacity_text(found)
    } else {
        let report = report::capacity_report(labels, started, found.clone(), origin());
        let json = serde_json::to_string_pretty(&report).expect("its keys are strings");
        printable::json(&json).into_owned() + "\n"
    };
    deliver_text(flags.output.as_deref(), |to| to.write_all(text.as_bytes()))
}

fn status(found: &Capacity, interrupt: &AtomicBool) -> u8 {
    match found.kept_rate {
        _ if interrupt.load(Ordering::Relaxed) => exit::INTERRUPTED,
        Some(_) => exit::MEASURED,
        None if found.generator_was_limit || found.trials.is_empty() => exit::NOT_DECIDED,
        None => exit::OBJECTIVE_MISSED,
    }
}
