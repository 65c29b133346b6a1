//! `bookend list`: the suites, subjects and results there are, and what each is for.

use crate::lab;
use crate::names::Named;
use crate::report::STORE;
use crate::terminal::{Failure, print};
use bookend_contract::{exit, printable};
use bookend_lab::build::KnownDependencies;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::progress::Clock;
use bookend_lab::subject::Subject;
use bookend_results::newest_record::newest;
use bookend_results::store::{Run, Store, UnreadableRun};
use bookend_results::suite::{Extent, Overrides, Plan, Selection, Suite};
use clap::Args;
use std::path::{Path, PathBuf};

/// The default folder of records.
pub const RECORDS: &str = "records";

/// Arguments of `bookend list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Folder of suites
    #[arg(long, value_name = "DIR", default_value = "suites")]
    suites: PathBuf,
    /// Folder of subjects
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    subjects_dir: PathBuf,
    /// Folder of records, which tell how long a suite takes
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// Prints suites, subjects and results.
///
/// # Errors
/// [`Failure`] when a folder or a file of these cannot be read.
pub fn start(arguments: &ListArguments) -> Result<u8, Failure> {
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let ListArguments { suites, subjects_dir, records, .. } = arguments;
    let suites = suites_text(suites, subjects_dir, records, &interrupt)?;
    let subjects = subjects_text(&arguments.subjects_dir)?;
    let results = results_text(&arguments.store)?;
    print(&[suites, subjects, results].join("\n"))?;
    Ok(exit::MEASURED)
}

/// Every suite with its question, the time that it takes, and what is missing here for it.
///
/// # Errors
/// [`Failure`] when a suite or a subject cannot be read, or the user wants no answer any more.
pub fn suites_text(
    suites: &Path,
    subjects: &Path,
    records: &Path,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let mut dependencies = KnownDependencies::new(subjects, lab::spawner(interrupt.clone())?);
    let mut text =
        "Suites, each a question (bookend run SUITE --quick is a first look):\n".to_owned();
    for name in Named::SUITE.all(suites)? {
        let suite = Suite::read(&suites.join(&name)).map_err(Failure::usage)?;
        let full = plan(&suite, Extent::Full)?;
        let mut times = vec![time(&full, &name, records)];
        if suite.quick.is_some() {
            times.push(format!("--quick {}", time(&plan(&suite, Extent::Quick)?, &name, records)));
        }
        let missing = dependencies.missing(&full).map_err(Failure::nothing_measured)?;
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!("; missing here: {}", missing.join(", ")),
        };
        let [name, title] = [&name, &suite.title].map(|text| printable::line(text));
        text += &format!("  {name}\n      {title}\n      {}{missing}\n", times.join(", "));
    }
    text += "\"Took\" is by its record, \"about\" by a record of other cases or windows. \"At least\"\n\
             is by windows alone: it leaves out what starts slowly or answers late.\n";
    Ok(text + "What is missing, bookend doctor says how to install.\n")
}

/// How long a plan took, or what its last record makes one expect. Without a record no more is
/// known than the length of its windows.
fn time(plan: &Plan, suite: &str, records: &Path) -> String {
    let recorded = newest(records, suite, plan.extent);
    match recorded.and_then(|facts| Some((facts.took()?, facts))) {
        Some((took, facts)) if facts.is_of(plan) => format!("took {}", Clock(took)),
        Some((took, facts)) => {
            let expected = plan.expected_duration(&facts.plan, took);
            format!("about {} by its record", Clock(expected))
        }
        None => format!("at least {}", Clock(plan.least_duration())),
    }
}

/// All of a suite, whatever the environment says.
fn plan(suite: &Suite, extent: Extent) -> Result<Plan, Failure> {
    let selection = Selection { extent, ..Selection::default() };
    suite.plan(&selection, &Overrides::default(), lab::cpus()).map_err(Failure::usage)
}

fn subjects_text(folder: &Path) -> Result<String, Failure> {
    let mut text = "Subjects, what is measured and what measures:\n".to_owned();
    for name in Named::SUBJECT.all(folder)? {
        let subject = Subject::read(&folder.join(&name)).map_err(Failure::usage)?;
        let variants: Vec<&str> = subject.variants.iter().map(|one| one.name.as_str()).collect();
        let variants = match variants.as_slice() {
            [_] => String::new(),
            several => format!("\n      variants: {}", several.join(", ")),
        };
        let Subject { language, description, .. } = &subject;
        let [name, language, description] =
            [&name, language, description].map(|text| printable::line(text));
        text += &format!("  {name} ({language})\n      {description}{variants}\n");
    }
    Ok(text)
}

fn results_text(file: &Path) -> Result<String, Failure> {
    let place = file.display().to_string();
    let place = printable::line(&place);
    if !file.exists() {
        return Ok(format!("Results: none yet in {place}\n"));
    }
    let store = Store::open_existing(file).map_err(Failure::usage)?;
    let runs = store.runs().map_err(Failure::usage)?;
    let line = |run: Result<Run, UnreadableRun>| match run {
        Ok(run) => format!("  {}\n", printable::line(&result_line(&run))),
        Err(UnreadableRun { id, reason }) => {
            format!("  {:>4}  cannot be read: {}\n", id.0, printable::line(&reason))
        }
    };
    let lines: String = runs.into_iter().map(line).collect();
    Ok(format!("Results in {place} (bookend report NUMBER):\n{lines}"))
}

fn result_line(run: &Run) -> String {
    let plan = &run.new.plan;
    let state = if run.finished.is_some() { "" } else { ", not finished" };
    format!(
        "{:>4}  {}  {}, {}, {} rounds{state}",
        run.id.0,
        run.new.started,
        plan.suite,
        run.scope(),
        plan.rounds
    )
}
