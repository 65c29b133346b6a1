//! A result as a text file that can be committed.

use super::{NoPage, RECORDS, say};
use bookend_contract::exit;
use bookend_results::provenance::doubts;
use bookend_results::raw_output::{RawOutput, left_out};
use bookend_results::record::{Record, file_of, raw_folder, raw_text};
use bookend_results::store::{Run, RunId, Store};
use bookend_results::suite::Suite;
use clap::Args;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use zstd::Encoder;

/// The file in which `bookend run` keeps results, if it is not told otherwise.
const STORE: &str = "bookend.db";

/// No file may take more, compressed: it stays in the history of the project forever. A record of
/// 600 rows, each with some 3,000 buckets of latencies of three digits, takes as much.
const FILE_MAX_BYTES: usize = 2 << 20;

/// The last level whose window [readers](bookend_results::record::decompressed) take.
const LEVEL: i32 = 19;

/// Arguments of `publication record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// The number of the result [default: the newest]
    run: Option<i64>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// The folder that records go into, as SUITE/full.jsonl.zst or SUITE/quick.jsonl.zst
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

/// What is kept under a name: bytes that are compressed.
type Kept = (PathBuf, Vec<u8>);

/// Nothing is written before all of it is known to be small enough.
fn write(store: &Store, run: &Run, into: &Path) -> Result<PathBuf, NoPage> {
    let rows = store.rows(run.id).map_err(NoPage::given)?;
    let skips = store.skips(run).map_err(NoPage::given)?;
    let plan = &run.new.plan;
    let record = kept_record(Record::of_run(run, &rows, skips))?;
    let file = file_of(into, &plan.suite, plan.extent);
    let raw = raw_folder(into, &plan.suite, plan.extent);
    let outputs = store.raw_outputs(run.id).map_err(NoPage::given)?;
    let outputs = outputs.into_iter().map(|output| kept_output(output, &raw));
    let outputs = outputs.collect::<Result<Vec<Kept>, _>>()?;
    if raw.is_dir() {
        fs::remove_dir_all(&raw).map_err(|error| NoPage::unwritten(&raw, error))?;
    }
    for (file, bytes) in outputs.iter().chain([&(file.clone(), record)]) {
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| fs::write(file, bytes))
            .map_err(|error| NoPage::unwritten(file, error))?;
    }
    Ok(file)
}

/// With two digits of latencies if three are too many. Of one a page could print no time of three.
fn kept_record(mut record: Record) -> Result<Vec<u8>, NoPage> {
    let first = compressed(&record.text())?;
    if first.len() <= FILE_MAX_BYTES {
        return Ok(first);
    }
    record.facts.latency_digits = record.facts.latency_digits.min(2);
    let bytes = compressed(&record.text())?;
    match bytes.len() {
        0..=FILE_MAX_BYTES => Ok(bytes),
        more => Err(NoPage::given(format!(
            "as a record the run takes {more} bytes, with two digits of its latencies, and \
             {FILE_MAX_BYTES} are allowed: the suite needs fewer cells or rounds"
        ))),
    }
}

/// What an instrument printed: whole, or that it is left out.
fn kept_output(output: RawOutput, folder: &Path) -> Result<Kept, NoPage> {
    let of = |output: &RawOutput| folder.join(format!("{}.zst", output.file_name()));
    let bytes = compressed(&raw_text(&output))?;
    if bytes.len() <= FILE_MAX_BYTES {
        return Ok((of(&output), bytes));
    }
    let said = RawOutput { text: left_out(bytes.len(), FILE_MAX_BYTES), ..output };
    say(&format!("{}: {}", of(&said).display(), said.text.trim_end()))?;
    Ok((of(&said), compressed(&said.text)?))
}

/// The text under zstd, as the tool of that name writes it: with its size and its checksum.
fn compressed(text: &str) -> Result<Vec<u8>, NoPage> {
    let compress = || {
        let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.set_pledged_src_size(Some(text.len() as u64))?;
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    };
    compress().map_err(|error: io::Error| NoPage::given(format!("zstd: {error}")))
}
