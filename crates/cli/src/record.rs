//! `bookend record`: a result as a text file that can be committed.

use crate::report::{STORE, stored_run};
use crate::terminal::{Failure, print_line};
use bookend_contract::exit;
use bookend_load::flags::whole;
use bookend_results::record::{Record, file_of, raw_folder, write_raw};
use bookend_results::store::{Run, RunId, Store};
use bookend_results::suite::Suite;
use clap::Args;
use std::path::{Path, PathBuf};

/// The default folder of records.
pub const RECORDS: &str = "records";

/// What stands after `bookend record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// The number of the result [default: the newest]
    #[arg(value_parser = whole::<i64>)]
    run: Option<i64>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// The folder that records go into, as SUITE/full.jsonl or SUITE/quick.jsonl
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    into: PathBuf,
}

/// Writes the record and prints its path.
///
/// # Errors
/// [`Failure`] when the result is not there, not finished or of a part of the suite, or the file
/// cannot be written.
pub fn start(arguments: &RecordArguments) -> Result<u8, Failure> {
    let store = Store::open_existing(&arguments.store).map_err(Failure::usage)?;
    let run = stored_run(&store, arguments.run.map(RunId))?;
    check_whole(&run)?;
    let file = write(&store, &run, &arguments.into)?;
    print_line(&format!("run {} is recorded in {}", run.id, file.display()))?;
    Ok(exit::MEASURED)
}

/// As a file, half a run would look like a whole one and replace it.
fn check_whole(run: &Run) -> Result<(), Failure> {
    let plan = &run.new.plan;
    let (id, name) = (run.id, &plan.suite);
    if run.finished.is_none() {
        let remedy = format!("bookend run {name} --resume");
        return Err(Failure::usage(format!("run {id} was not finished: {remedy}")));
    }
    // The suite as it was when the run was made. Its text was understood then.
    let suite = Suite::parse(Path::new(name), &run.new.suite_text);
    match suite.ok().and_then(|suite| suite.left_out(plan)) {
        None => Ok(()),
        Some(cell) => Err(Failure::usage(format!(
            "run {id} is not of the whole suite {name}: it has no {} {} with {}; a record of it \
             would take the place of a whole one",
            cell.subject, cell.case, cell.instrument
        ))),
    }
}

fn write(store: &Store, run: &Run, into: &Path) -> Result<PathBuf, Failure> {
    let rows = store.rows(run.id).map_err(Failure::usage)?;
    let skips = store.skips(run).map_err(Failure::usage)?;
    let plan = &run.new.plan;
    let file = file_of(into, &plan.suite, plan.extent);
    let written = Record::of_run(run, &rows, skips).write(&file);
    let unwritten = |file: &Path, error: std::io::Error| {
        Failure::nothing_measured(format!("cannot write {}: {error}", file.display()))
    };
    written.map_err(|error| unwritten(&file, error))?;
    let raw = raw_folder(into, &plan.suite, plan.extent);
    let outputs = store.raw_outputs(run.id).map_err(Failure::usage)?;
    write_raw(&raw, &outputs).map_err(|error| unwritten(&raw, error))?;
    Ok(file)
}
