//! Where a result is kept: in a store, in a record, or in the files of load tests.

use crate::terminal::Failure;
use bookend_contract::input;
use bookend_load::flags::files::NamedFile;
use bookend_payload::given_file::{self, RESULT_MAX_BYTES};
use bookend_report::load_tests;
use bookend_report::result_page::ResultPage;
use bookend_results::measurement::Row;
use bookend_results::race::Race;
use bookend_results::record::{Record, decompressed, file_in};
use bookend_results::store::{Run, RunId, Store};
use bookend_results::suite::Extent;
use bookend_results::wrong_file;
use clap::Args;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The default file of results.
pub const STORE: &str = "bookend.db";

/// Which result.
#[derive(Debug, Args)]
pub struct KeptArguments {
    /// Number of a stored result, file of a record or of bookend race --save, or files of bookend
    /// load -O json [default: the newest result]
    #[arg(value_name = "RUN|RECORD|FILE")]
    of: Vec<OsString>,
    /// Read a record instead of a stored result
    #[arg(long, value_name = "FILE", conflicts_with_all = ["of", "store"])]
    record: Option<PathBuf>,
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// What there is to report.
pub enum Reported {
    /// Results of `bookend load`.
    LoadTests(Box<ResultPage>),
    /// A race, under the name of its file.
    Race(String, Box<Race>),
    /// A run of a suite.
    Run(Box<Kept>),
}

/// A run, its rows, and what each server leaves out.
pub struct Kept {
    pub run: Run,
    pub rows: Vec<Row>,
    pub skips: BTreeMap<String, Vec<String>>,
}

impl KeptArguments {
    /// The files that may be read.
    pub fn files(&self) -> Vec<NamedFile<'_>> {
        let named = self.of.iter().map(|file| ("report", Path::new(file)));
        let record = self.record.iter().map(|file| ("--record", file.as_path()));
        named.chain(record).chain([("--store", self.store.as_path())]).collect()
    }

    /// Reads the result. Only those of load tests can be several.
    ///
    /// # Errors
    /// [`Failure`] when the result does not exist, or a file is not one.
    pub fn read(&self) -> Result<Reported, Failure> {
        if let Some(file) = &self.record {
            return in_file(file);
        }
        match self.of.as_slice() {
            [] => self.stored(None),
            [word] => match word.to_str().and_then(|text| text.parse().ok()) {
                Some(number) => self.stored(Some(RunId(number))),
                None => in_file(Path::new(word)),
            },
            several => load_tests(several),
        }
    }

    fn stored(&self, id: Option<RunId>) -> Result<Reported, Failure> {
        let store = Store::open_existing(&self.store).map_err(Failure::usage)?;
        let run = stored_run(&store, id)?;
        let rows = store.rows(run.id).map_err(Failure::usage)?;
        let skips = store.skips(&run).map_err(Failure::usage)?;
        Ok(Reported::Run(Box::new(Kept { run, rows, skips })))
    }
}

fn load_tests(files: &[OsString]) -> Result<Reported, Failure> {
    let read = |file: &OsString| {
        let file = Path::new(file);
        let wrong = |why: &str| Err(Failure::usage(format!("{}: {why}", file.display())));
        if !file.exists() {
            return wrong(
                "there is no such file, and only results of bookend load -O json are reported \
                 together",
            );
        }
        let text = text_of(file)?;
        match load_tests::is_result(text.as_bytes()) {
            true => Ok((file.to_owned(), text)),
            false => {
                wrong("not a result of bookend load -O json, and only such are reported together")
            }
        }
    };
    let files: Vec<_> = files.iter().map(read).collect::<Result<_, _>>()?;
    let borrowed: Vec<(&Path, &[u8])> =
        files.iter().map(|(file, text)| (file.as_path(), text.as_bytes())).collect();
    let page = load_tests::read(&borrowed).map_err(Failure::usage)?;
    Ok(Reported::LoadTests(Box::new(page)))
}

/// A record, a race, or the result of a load test. The file is read once: it may be a pipe.
fn in_file(path: &Path) -> Result<Reported, Failure> {
    let file = &record_in(path)?;
    let text = text_of(file)?;
    if load_tests::is_result(text.as_bytes()) {
        let page = load_tests::read(&[(file, text.as_bytes())]).map_err(Failure::usage)?;
        return Ok(Reported::LoadTests(Box::new(page)));
    }
    let wrong = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    if wrong_file::is_race(&text) {
        let race = Race::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Reported::Race(name, Box::new(race)));
    }
    if !wrong_file::begins_as_a_record(&text) {
        return Err(wrong(wrong_file::text(&text)));
    }
    let record = Record::parse(&text).map_err(|error| wrong(wrong_file::record(&error, &text)))?;
    Ok(Reported::Run(Box::new(Kept {
        run: record.run(),
        rows: record.rows,
        skips: record.facts.skips,
    })))
}

/// The file of that name. A folder of records stands for its full record, or for its quick one.
fn record_in(path: &Path) -> Result<PathBuf, Failure> {
    let place = path.display();
    if !path.exists() {
        return Err(Failure::usage(format!(
            "{place}: there is no such file; it is neither the number of a result nor the file of \
             a record"
        )));
    }
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    [Extent::Full, Extent::Quick].into_iter().find_map(|extent| file_in(path, extent)).ok_or_else(
        || {
            Failure::usage(format!(
                "{place}: a folder without a record: it has neither full.jsonl.zst nor \
                 quick.jsonl.zst, and none that is not compressed"
            ))
        },
    )
}

/// The text of a file, compressed by zstd or not.
fn text_of(file: &Path) -> Result<String, Failure> {
    let bytes = given_file::bytes(file, RESULT_MAX_BYTES).map_err(Failure::usage)?;
    let wrong =
        |why: &dyn ToString| Failure::usage(format!("{}: {}", file.display(), why.to_string()));
    if let Some(what) = wrong_file::binary(&bytes) {
        return Err(wrong(&what));
    }
    decompressed(bytes).and_then(input::decoded).map_err(|error| wrong(&error))
}

/// The result of that number, or the newest.
///
/// # Errors
/// [`Failure`] when the store has no such result.
pub fn stored_run(store: &Store, id: Option<RunId>) -> Result<Run, Failure> {
    if let Some(id) = id {
        return store.run(id).map_err(Failure::usage);
    }
    store
        .latest_run()
        .map_err(Failure::usage)?
        .ok_or_else(|| Failure::usage("the store has no result yet: make one with bookend run"))
}
