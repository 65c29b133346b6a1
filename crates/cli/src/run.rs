//! `bookend run`: builds, verifies and measures a suite, prints its table and keeps the result.
//! Alone it says which suites there are.

mod profile;

use crate::check::kept_line;
use crate::gates::GateArguments;
use crate::lab;
use crate::list::{RECORDS, suites_text};
use crate::names::Named;
use crate::report::STORE;
use crate::terminal::{Failure, gate_status, output_columns, print, program, with_progress};
use bookend_contract::exit;
use bookend_contract::gate::{Gate, JudgedGate};
use bookend_lab::lock::{Lock, LockTarget};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::run::{RunSettings, RunSummary, SuiteRunError, run};
use bookend_load::flags::whole;
use bookend_report::run::{BRIEF_COLUMNS, Report};
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::store::{RunId, Store};
use bookend_results::suite::{Extent, LapSetting, Overrides, Plan, Selection, Suite};
use clap::Args;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = r#"Examples:
  bookend run helloworld-profile --quick
  bookend run pajamax-tonic --subjects rust-pajamax,rust-tonic --case "C=1 S=100""#;

/// Arguments of `bookend run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    /// Suite to measure; without it and any flag of "Measurement", all suites are listed
    #[arg(help_heading = "Measurement")]
    suite: Option<String>,
    /// Measure a few cells with short windows, for a first look
    #[arg(long, help_heading = "Measurement")]
    quick: bool,
    /// Measure only these subjects, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Measurement")]
    subjects: Vec<String>,
    /// Measure only this case, such as "C=1 S=100"; repeatable
    #[arg(long, value_name = "CASE", help_heading = "Measurement")]
    case: Vec<String>,
    /// Subject that the others are compared with [default: the suite's]
    #[arg(long, value_name = "SUBJECT", help_heading = "Measurement")]
    baseline: Option<String>,
    /// How often to measure each cell [default: the suite's]
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true,
        help_heading = "Measurement"
    )]
    rounds: Option<u32>,
    /// Measure cells by turns in laps of this length, about 100ms, or off [default: the suite's]
    #[arg(long, value_name = "LENGTH", help_heading = "Measurement")]
    laps: Option<LapSetting>,
    /// Processes and threads that a server under test may have [default: the suite's]
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true,
        help_heading = "Measurement"
    )]
    server_processes: Option<u32>,
    #[command(flatten)]
    gates: GateArguments,
    /// Resume the last unfinished run of the suite, on the same machine and kernel
    #[arg(long, help_heading = "Measurement")]
    resume: bool,
    /// Print all tables, however wide
    #[arg(long, help_heading = "Output")]
    wide: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    profile: profile::ProfileArguments,
    /// Wait while another lab measures here or writes the same store, instead of exiting
    #[arg(long, help_heading = "Expert")]
    wait_for_lock: bool,
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE, help_heading = "Expert")]
    store: PathBuf,
    /// Seed of the order in which cells are measured [default: a new one]
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true,
        help_heading = "Expert"
    )]
    seed: Option<u64>,
    /// Folder of suites
    #[arg(long, value_name = "DIR", default_value = "suites", help_heading = "Expert")]
    suites: PathBuf,
    /// Folder of subjects
    #[arg(long, value_name = "DIR", default_value = "subjects", help_heading = "Expert")]
    subjects_dir: PathBuf,
}

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
    let mut store = Store::open(&arguments.store).map_err(Failure::usage)?;
    let settings = RunSettings {
        resume: arguments.resume,
        seed: arguments.seed,
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

impl RunArguments {
    /// Whether a flag says what to measure, or how.
    fn says_what_to_measure(&self) -> bool {
        let lists = [&self.subjects, &self.case];
        let numbers = [self.rounds, self.server_processes];
        let switches = [self.quick, self.resume, self.wide, self.quiet, self.wait_for_lock];
        lists.into_iter().any(|list| !list.is_empty())
            || numbers.iter().any(Option::is_some)
            || switches.contains(&true)
            || self.baseline.is_some()
            || self.laps.is_some()
            || self.seed.is_some()
            || self.store != Path::new(STORE)
            || self.profile.is_wanted()
    }
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

/// Measures the suite and prints its table.
fn measure(
    arguments: &RunArguments,
    settings: &RunSettings,
    store: &mut Store,
) -> Result<RunSummary, Failure> {
    let summary = with_progress(arguments.quiet, |progress| run(settings, store, progress))
        .map_err(no_result)?;
    let Some(id) = summary.id else {
        return Ok(summary);
    };
    let rows = store.rows(id).map_err(Failure::nothing_measured)?;
    if let Some(reason) = nothing_here(&rows) {
        store.remove_run(id).map_err(Failure::nothing_measured)?;
        return Err(Failure::nothing_measured(reason));
    }
    let text = tables(arguments, store, id, &rows)?;
    print(&text)?;
    Ok(summary)
}

/// Resuming a run on another machine is a wrong command line; anything else went wrong on the way.
fn no_result(error: SuiteRunError) -> Failure {
    match error {
        SuiteRunError::OtherMachine { .. } => Failure::usage(error),
        other => Failure::nothing_measured(other),
    }
}

/// Why there is no table, and nothing to keep: all that was to be measured is missing.
fn nothing_here(rows: &[Row]) -> Option<String> {
    let mut reasons = Vec::new();
    for row in rows {
        let Outcome::Missing { reason } = &row.outcome else {
            return None;
        };
        let reason = format!("{}: {reason}", row.cell.subject);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let all = reasons.join("; ");
    (!reasons.is_empty()).then(|| format!("everything is missing, so nothing is kept: {all}"))
}

fn tables(
    arguments: &RunArguments,
    store: &Store,
    id: RunId,
    rows: &[Row],
) -> Result<String, Failure> {
    let run = store.run(id).map_err(Failure::nothing_measured)?;
    let skips = store.skips(&run).map_err(Failure::nothing_measured)?;
    let report = Report::new(&run, rows).with_skips(skips);
    let store = Some(arguments.store.as_path())
        .filter(|file| *file != Path::new(STORE))
        .map_or(String::new(), |file| format!(" --store {}", file.display()));
    let command = format!("{} report {id}{store}", program());
    let next =
        [kept_line(), format!("See it: {command}"), format!("All tables: {command} --format text")];
    Ok(match arguments.wide {
        true => format!("{}\n{}\n", report.text(), next.join("\n")),
        false => report.brief(output_columns(BRIEF_COLUMNS), &next),
    })
}
