//! `bookend load` in laps: the lab says on standard input when calls are made, and for how long.

use super::interrupt;
use super::report_lines::report_lines;
use crate::terminal::{Failure, print_error};
use bookend_contract::exit;
use bookend_contract::laps::{LapCommand, LapFigures, RatedCalls};
use bookend_contract::lines::Line;
use bookend_load::output;
use bookend_load::plan::{Connecting, LoadPlan};
use bookend_load::record::OpenLoopCalls;
use bookend_load::report;
use bookend_load::run::{LapCalls, LoadError, LoadOutcome, LoadSession};
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Makes the connections, and calls as `commands` say; prints the report when they end. `no_call`
/// says why there was no call. The number is the exit status.
///
/// # Errors
/// [`Failure`] when there is no connection, or a command makes no sense.
pub fn run(
    mut plan: LoadPlan,
    commands: impl BufRead,
    no_call: impl Fn(&LoadPlan, &LoadError) -> Failure,
) -> Result<u8, Failure> {
    if let Some(why) = no_laps(&plan) {
        print_error(&format!("bookend load: {why}"));
        return Ok(exit::UNSUPPORTED);
    }
    let interrupt = interrupt::watch(false).map_err(Failure::nothing_measured)?;
    let started = SystemTime::now();
    let (warmup, outcome) = call(&plan, commands, &interrupt, no_call)?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    // The plan says so in the report, where it stands for what was done.
    plan.warmup_ns = u64::try_from(warmup.as_nanos()).unwrap_or(u64::MAX);
    plan.calls = None;
    print(&report_lines(report::build_report(&plan, started, &outcome)))?;
    Ok(exit::MEASURED)
}

/// Why such calls cannot be made in laps.
fn no_laps(plan: &LoadPlan) -> Option<&'static str> {
    if plan.call.thrift().is_some() {
        return Some("calls of Thrift are not made in laps");
    }
    let keeps_connections = plan.connecting != Connecting::PerCall;
    (!keeps_connections).then_some("a connection for each call does not last from lap to lap")
}

/// What was counted, and how long it warmed up.
fn call(
    plan: &LoadPlan,
    commands: impl BufRead,
    interrupt: &AtomicBool,
    no_call: impl Fn(&LoadPlan, &LoadError) -> Failure,
) -> Result<(Duration, LoadOutcome), Failure> {
    let failed = |error| no_call(plan, &error);
    let is_raised = || interrupt.load(Ordering::Relaxed);
    let mut session = LoadSession::start(plan.clone()).map_err(failed)?;
    let mut warmup = Duration::ZERO;
    let mut has_lapped = false;
    // An input that cannot be read is as good as closed.
    for words in commands.lines().map_while(Result::ok) {
        let line = match words.parse::<LapCommand>().map_err(Failure::usage)? {
            LapCommand::WarmUp(_) if has_lapped => {
                return Err(Failure::usage("a `warmup` comes after a `lap`: warm up first"));
            }
            LapCommand::WarmUp(length_ms) => {
                let length = Duration::from_millis(length_ms);
                warmup += length;
                let calls = session.warm_up(length, is_raised).map_err(failed)?;
                calls.map(|calls| Line::Warmup(calls.ok))
            }
            LapCommand::Lap(length_ms) => {
                has_lapped = true;
                let length = Duration::from_millis(length_ms);
                let calls = session.lap(length, is_raised).map_err(failed)?;
                calls.map(|LapCalls { ok, failed, length_ns, open_loop }| {
                    let rated = open_loop.as_deref().map(rated);
                    Line::Lap(LapFigures { ok, failed, length_ns, rated })
                })
            }
        };
        let Some(line) = line else { break };
        print(&format!("{line}\n"))?;
    }
    Ok((warmup, session.end().map_err(failed)?))
}

/// What an answer says of calls that were made by a rate.
pub fn rated(calls: &OpenLoopCalls) -> RatedCalls {
    let not_made: u64 = calls.not_made().map(|(_, count)| count).sum();
    RatedCalls {
        due: calls.due(),
        held_back: calls.waited + not_made,
        lag_ns: calls.lag.at(99.0),
        p50_ns: calls.from_intended.at(50.0),
        p99_ns: calls.from_intended.at(99.0),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    output::write(text, None).map_err(|error| Failure::not_delivered(error.to_string()))
}
