//! A result as a text file that can be committed.

use super::{NoPage, RECORDS, say};
use bookend_contract::exit;
use bookend_results::provenance::doubts;
use bookend_results::record::{Record, file_of, raw_folder, write_raw};
use bookend_results::store::{Run, RunId, Store};
use bookend_results::suite::Suite;
use clap::Args;
use std::path::{Path, PathBuf};

/// The file in which `bookend run` keeps results, if it is not told otherwise.
const STORE: &str = "bookend.db";

/// What stands after `publication record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// The number of the result [default: the newest]
    run: Option<i64>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// The folder that records go into, as SUITE/full.jsonl or SUITE/quick.jsonl
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    into: PathBuf,
}

impl RecordArguments {
    /// Writes the record and prints its path; the number is the exit status.
    ///
    /// # Errors
    /// [`NoPage`] when the result is not there, not finished, of a part of the suite or of no
    /// revision, or the file cannot be written.
    pub fn run(&self) -> Result<u8, NoPage> {
        let store = Store::open_existing(&self.store).map_err(NoPage::given)?;
        let run = match self.run {
            Some(number) => store.run(RunId(number)).map_err(NoPage::given)?,
            None => store
                .latest_run()
                .map_err(NoPage::given)?
                .ok_or_else(|| NoPage::given("the store has no result yet"))?,
        };
        check_whole(&run)?;
        check_revision(&run)?;
        let file = write(&store, &run, &self.into)?;
        say(&format!("run {} is recorded in {}", run.id, file.display()))?;
        Ok(exit::MEASURED)
    }
}

/// As a file, half a run would look like a whole one and replace it.
fn check_whole(run: &Run) -> Result<(), NoPage> {
    let plan = &run.new.plan;
    let (id, name) = (run.id, &plan.suite);
    if run.finished.is_none() {
        let remedy = format!("bookend run {name} --resume");
        return Err(NoPage::given(format!("run {id} was not finished: {remedy}")));
    }
    // The suite as it was when the run was made. Its text was understood then.
    let suite = Suite::parse(Path::new(name), &run.new.suite_text);
    match suite.ok().and_then(|suite| suite.left_out(plan)) {
        None => Ok(()),
        Some(cell) => Err(NoPage::given(format!(
            "run {id} is not of the whole suite {name}: it has no {} {} with {}; a record of it \
             would take the place of a whole one",
            cell.subject, cell.case, cell.instrument
        ))),
    }
}

/// What is committed has figures that somebody else can make again.
fn check_revision(run: &Run) -> Result<(), NoPage> {
    let doubts = doubts(run.new.revision.as_deref(), run.new.provenance.as_ref());
    if doubts.is_empty() {
        return Ok(());
    }
    Err(NoPage::given(format!(
        "run {} has no revision from which it could be made again: {}; commit or stash what has \
         changed, build bookend again, and measure again: bookend run {}",
        run.id,
        doubts.join("; "),
        run.new.plan.suite
    )))
}

fn write(store: &Store, run: &Run, into: &Path) -> Result<PathBuf, NoPage> {
    let rows = store.rows(run.id).map_err(NoPage::given)?;
    let skips = store.skips(run).map_err(NoPage::given)?;
    let plan = &run.new.plan;
    let file = file_of(into, &plan.suite, plan.extent);
    let written = Record::of_run(run, &rows, skips).write(&file);
    written.map_err(|error| NoPage::unwritten(&file, error))?;
    let raw = raw_folder(into, &plan.suite, plan.extent);
    let outputs = store.raw_outputs(run.id).map_err(NoPage::given)?;
    write_raw(&raw, &outputs).map_err(|error| NoPage::unwritten(&raw, error))?;
    Ok(file)
}
