//! Where a result is kept: in a store, in a record, or in the files of load tests.

use crate::terminal::Failure;
use bookend_results::export::LoadPage;
use bookend_results::measurement::Row;
use bookend_results::record::Record;
use bookend_results::store::{Run, RunId, Store};
use clap::Args;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The default file of results.
pub const STORE: &str = "bookend.db";

/// Which result.
#[derive(Debug, Args)]
pub struct KeptArguments {
    /// The number of the result, the file of a record, or files of `bookend load -O json`
    /// [default: the newest result]
    #[arg(value_name = "RUN|RECORD|FILE")]
    of: Vec<String>,
    /// A record instead of a stored result
    #[arg(long, value_name = "FILE", conflicts_with_all = ["of", "store"])]
    record: Option<PathBuf>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// A run, its rows, and what each server leaves out.
pub struct Kept {
    pub run: Run,
    pub rows: Vec<Row>,
    pub skips: BTreeMap<String, Vec<String>>,
}

impl KeptArguments {
    /// Reads the result.
    ///
    /// # Errors
    /// [`Failure`] when there is no such result.
    pub fn read(&self) -> Result<Kept, Failure> {
        match (&self.record, self.of.as_slice()) {
            (Some(file), _) => recorded(file),
            (None, []) => self.stored(None),
            (None, [text, ..]) => match text.parse() {
                Ok(number) => self.stored(Some(RunId(number))),
                Err(_) if Path::new(text).exists() => recorded(Path::new(text)),
                Err(_) => Err(Failure::usage(format!(
                    "{text}: neither the number of a result nor the file of a record"
                ))),
            },
        }
    }

    /// The page of results of `bookend load`, where the files are such. Only they can be several.
    ///
    /// # Errors
    /// [`Failure`] when one of several is none, or one cannot be read.
    pub fn load_page(&self) -> Result<Option<LoadPage>, Failure> {
        let mut files = Vec::new();
        for text in &self.of {
            let content = Some(text)
                .filter(|text| Path::new(text).is_file())
                .map(fs::read)
                .transpose()
                .map_err(|error| Failure::usage(format!("{text}: {error}")))?;
            match content.filter(|content| LoadPage::is_result(content)) {
                Some(content) => files.push((Path::new(text), content)),
                None if self.of.len() == 1 => return Ok(None),
                None => {
                    return Err(Failure::usage(format!(
                        "{text}: not a result of bookend load -O json, and only such are reported \
                         together"
                    )));
                }
            }
        }
        if files.is_empty() {
            return Ok(None);
        }
        let borrowed: Vec<(&Path, &[u8])> =
            files.iter().map(|(file, content)| (*file, content.as_slice())).collect();
        LoadPage::read(&borrowed).map(Some).map_err(Failure::usage)
    }

    fn stored(&self, id: Option<RunId>) -> Result<Kept, Failure> {
        let store = Store::open_existing(&self.store).map_err(Failure::usage)?;
        let run = stored_run(&store, id)?;
        let rows = store.rows(run.id).map_err(Failure::usage)?;
        let skips = store.skips(&run).map_err(Failure::usage)?;
        Ok(Kept { run, rows, skips })
    }
}

/// A folder of records stands for its full record, or for its quick one.
fn recorded(path: &Path) -> Result<Kept, Failure> {
    let file = ["full.jsonl", "quick.jsonl"]
        .map(|name| path.join(name))
        .into_iter()
        .find(|file| file.is_file())
        .unwrap_or_else(|| path.to_owned());
    let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
    let record = Record::read(&file).map_err(unreadable)?;
    Ok(Kept { run: record.run(), rows: record.rows, skips: record.facts.skips })
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
