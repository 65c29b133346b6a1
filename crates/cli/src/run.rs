//! `bookend run`: builds, verifies and measures a suite, prints its table and keeps the result.
//! Alone it says which suites there are.

mod arguments;
mod measured;
mod planned;
mod profile;

pub use arguments::RunArguments;

use crate::fleet::shared::SharedFleet;
use crate::lab;
use crate::list::{RECORDS, suites_text};
use crate::names::Named;
use crate::terminal::{Failure, gate_status, print};
use bookend_contract::exit;
use bookend_contract::gate::{Gate, JudgedGate};
use bookend_lab::lock::{Lock, LockTarget};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::run::RunSettings;
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::measurement::Row;
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::store::{RunId, Store};
use measured::measure;
use planned::planned;
use std::path::Path;

/// Checks the names, then measures.
///
/// # Errors
/// [`Failure`] when a name is wrong or nothing could be measured.
pub fn start(arguments: &RunArguments) -> Result<u8, Failure> {
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    if let Some(name) = &arguments.suite {
        Named::SUITE.require(name, &arguments.suites)?;
    }
    for subject in &arguments.subjects {
        // `rust-bookend/epoll` is a variant of the subject `rust-bookend`.
        let folder = subject.split('/').next().unwrap_or(subject);
        Named::SUBJECT.require(folder, &arguments.subjects_dir)?;
    }
    let Some(name) = &arguments.suite else {
        return without_suite(arguments, &interrupt);
    };
    let (suite, plan) = planned(arguments, name)?;
    let baseline = plan.baseline().map(|subject| subject.name.clone());
    let compared = plan.subjects.iter().map(|subject| subject.name.as_str());
    let compared = compared.filter(|name| baseline.as_deref().is_some_and(|other| other != *name));
    let gates = arguments.gates.gates(&compared.collect::<Vec<_>>())?;
    let profile = arguments.profile.settings(&plan)?;
    let Some(_locks) = locks(arguments, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let fleet = match arguments.fleet.agents {
        Some(agents) => {
            let awaited =
                SharedFleet::await_all(&arguments.fleet, agents, || interrupt.is_raised());
            match awaited? {
                Some(fleet) => Some((agents, fleet)),
                None => return Ok(exit::INTERRUPTED),
            }
        }
        None => None,
    };
    let mut store = Store::open(&arguments.store).map_err(Failure::usage)?;
    let settings = RunSettings {
        resume: arguments.resume,
        seed: arguments.seed,
        fleet: fleet.as_ref().map(|(agents, fleet)| fleet.settings(*agents)),
        ..lab::settings(suite, plan, &arguments.subjects_dir, interrupt.clone())?
    };
    let summary = measure(arguments, &settings, &mut store)?;
    if summary.interrupted {
        return Ok(summary.exit_status());
    }
    if let Some(profile) = &profile {
        profile::record(&settings, profile, arguments.quiet)?;
        if interrupt.is_raised() {
            return Ok(exit::INTERRUPTED);
        }
    }
    let (Some(id), Some(baseline)) = (summary.id, baseline) else {
        return Ok(summary.exit_status());
    };
    let rows = store.rows(id).map_err(Failure::nothing_measured)?;
    let judged: Result<Vec<_>, _> =
        gates.iter().map(|gate| judged(gate, &baseline, id, &rows)).collect();
    Ok(match gate_status("run", &judged?.concat()) {
        exit::MEASURED => summary.exit_status(),
        status => status,
    })
}

/// Judges the ratio of a subject to the baseline in each case.
fn judged(
    gate: &Gate,
    baseline: &str,
    run: RunId,
    rows: &[Row],
) -> Result<Vec<JudgedGate>, Failure> {
    let side = |subject| ComparedSide { run, rows, subject: Some(subject) };
    let subject = side(gate.condition.figure.as_str());
    let comparison = compare(&subject, &side(baseline), &REQUESTS_PER_CPU_SECOND);
    Ok(comparison.map_err(Failure::nothing_measured)?.judge(gate))
}

/// Why nothing is run. Somebody who has said nothing of what to measure gets the list of suites;
/// whoever has, has forgotten the suite alone.
fn without_suite(arguments: &RunArguments, interrupt: &Interrupt) -> Result<u8, Failure> {
    if arguments.says_what_to_measure() {
        let suites = Named::SUITE.all(&arguments.suites)?.join(", ");
        return Err(Failure::usage(format!("the suite is missing: there is {suites}")));
    }
    print(&suites_text(
        &arguments.suites,
        &arguments.subjects_dir,
        Path::new(RECORDS),
        interrupt,
    )?)?;
    Err(Failure::usage("name one of these suites: bookend run SUITE --quick"))
}

/// One lab on the machine, and one that writes the store. `None`: the user ended the waiting.
fn locks(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Option<[Lock; 2]>, Failure> {
    let store = arguments.store.canonicalize().unwrap_or_else(|_| arguments.store.clone());
    let waits = arguments.wait_for_lock;
    let Some(machine) = lab::lock(&LockTarget::Machine, waits, interrupt)? else {
        return Ok(None);
    };
    let store = lab::lock(&LockTarget::Store(store), waits, interrupt)?;
    Ok(store.map(|store| [machine, store]))
}
