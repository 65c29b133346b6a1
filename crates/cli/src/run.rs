//! `bookend run`: builds, verifies and measures suites, prints their tables and keeps the results.

mod into;
mod profile;

use crate::lab;
use crate::names::Named;
use crate::terminal::{Failure, print, with_progress};
use bookend_lab::lock::{Lock, LockTarget};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::run::{RunSettings, RunSummary, run};
use bookend_load::contract::exit;
use bookend_load::flags::whole;
use bookend_results::export::Report;
use bookend_results::store::{RunId, Store};
use bookend_results::suite::{Extent, Overrides, Plan, Selection, Suite};
use clap::Args;
use into::RecordedSubjects;
use std::path::PathBuf;

/// What stands after `bookend run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The suite [default: every suite]
    suite: Option<String>,
    /// A few cells with short windows, for a first look
    #[arg(long)]
    quick: bool,
    /// Only these subjects, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    subjects: Vec<String>,
    /// How often each cell is measured
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// Processes and threads that a server under test may have [default: the suite's]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    server_processes: Option<u32>,
    /// Measure these subjects of a record anew, with its control rows, and put their rows into it
    #[arg(long, value_name = "RECORD", requires_all = ["suite", "subjects"])]
    #[arg(conflicts_with_all = ["quick", "rounds", "server_processes"])]
    into: Option<PathBuf>,
    /// Resume the last unfinished run of the suite
    #[arg(long)]
    resume: bool,
    /// Wait while another lab measures here or writes the same store, instead of ending
    #[arg(long)]
    wait_for_lock: bool,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = crate::report::STORE)]
    store: PathBuf,
    /// Seed of the order in which cells are measured [default: a new one]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Where suites are
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Where subjects are
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
    #[command(flatten)]
    profile: profile::ProfileArguments,
}

/// Checks the names, then measures, suite by suite.
///
/// # Errors
/// [`Failure`] when a name is wrong or nothing could be measured.
pub fn start(arguments: &RunArguments) -> Result<u8, Failure> {
    let suites = Named::SUITE.chosen(arguments.suite.as_slice(), &arguments.suites)?;
    for subject in &arguments.subjects {
        // `rust-bookend/epoll` is a variant of the subject `rust-bookend`.
        let folder = subject.split('/').next().unwrap_or(subject);
        Named::SUBJECT.require(folder, &arguments.subjects_dir)?;
    }
    // Every suite is read before the first is measured: a mistake in the last costs no time.
    let planned = suites.iter().map(|name| {
        let (suite, plan) = planned(arguments, name)?;
        let profile = arguments.profile.settings(&plan)?;
        Ok((suite, plan, profile))
    });
    let planned: Vec<_> = planned.collect::<Result<_, Failure>>()?;
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let Some(_locks) = locks(arguments, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let mut store = Store::open(&arguments.store).map_err(Failure::usage)?;
    let mut status = exit::MEASURED;
    for (suite, plan, profile) in planned {
        let subjects = &arguments.subjects_dir;
        let settings = RunSettings {
            resume: arguments.resume,
            seed: arguments.seed,
            ..lab::settings(suite, plan, subjects, interrupt.clone())?
        };
        let summary = measure(&settings, &mut store)?;
        status = status.max(summary.exit_status());
        if summary.interrupted {
            break;
        }
        if let (Some(target), Some(id)) = (target(arguments)?, summary.id) {
            target.put(&store, id)?;
        }
        if let Some(profile) = &profile {
            profile::record(&settings, profile)?;
            if interrupt.is_raised() {
                return Ok(exit::INTERRUPTED);
            }
        }
    }
    Ok(status)
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

/// Reads a suite and decides what to measure of it. A resumed run keeps its plan.
fn planned(arguments: &RunArguments, name: &str) -> Result<(Suite, Plan), Failure> {
    let suite = Suite::read(&arguments.suites.join(name)).map_err(Failure::usage)?;
    if let Some(plan) = begun(arguments, &suite.name)? {
        return Ok((suite, plan));
    }
    if let Some(target) = target(arguments)? {
        let plan = target.plan(&suite)?;
        return Ok((suite, plan));
    }
    let overrides = Overrides::from_environment(std::env::vars()).map_err(Failure::usage)?;
    let selection = Selection {
        extent: if arguments.quick { Extent::Quick } else { Extent::Full },
        subjects: Some(arguments.subjects.clone()).filter(|subjects| !subjects.is_empty()),
        rounds: arguments.rounds,
        server_processes: arguments.server_processes,
    };
    let plan = suite.plan(&selection, &overrides, lab::cpus()).map_err(Failure::usage)?;
    Ok((suite, plan))
}

/// The record that rows are put into.
fn target(arguments: &RunArguments) -> Result<Option<RecordedSubjects>, Failure> {
    let file = arguments.into.as_ref();
    file.map(|file| RecordedSubjects::read(file, &arguments.subjects)).transpose()
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

/// Measures one suite and prints its tables.
fn measure(settings: &RunSettings, store: &mut Store) -> Result<RunSummary, Failure> {
    let summary = with_progress(|progress| run(settings, store, progress));
    let summary = summary.map_err(Failure::nothing_measured)?;
    if let Some(id) = summary.id {
        let text = tables(store, id)?;
        print(&text)?;
    }
    Ok(summary)
}

fn tables(store: &Store, id: RunId) -> Result<String, Failure> {
    let run = store.run(id).map_err(Failure::nothing_measured)?;
    let rows = store.rows(id).map_err(Failure::nothing_measured)?;
    let skips = store.skips(&run).map_err(Failure::nothing_measured)?;
    let tables = Report::new(&run, &rows).with_skips(skips).text();
    Ok(format!("{tables}\nkept as run {id}: bookend report {id} --format md|csv|json\n"))
}
