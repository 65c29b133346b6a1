//! Records: a run as one text file that can be committed and read again (docs/measure/results.md).
//!
//! The first line holds the facts of the run, each further line one measured [`Row`]. The same run
//! always gives the same text: rows are in the order of rounds, then of the plan. Files are
//! compressed; one that would still become large keeps its latencies with fewer digits and records
//! their number.

mod compressed;
mod joined_run;
mod paths;
mod raw;

pub use compressed::decompressed;
pub use joined_run::{JoinedRun, first_run, rows_of_cell, run_of};
pub use raw::{cut_off_raw_files, raw_folder, raw_text};

use crate::mark::Mark;
use crate::measurement::{CellId, Row};
use crate::provenance::Provenance;
use crate::store::{NewRun, Run, RunId};
use crate::suite::{Extent, Plan};
use bookend_contract::machine::MachineFacts;
use bookend_contract::timestamp::Timestamp;
use bookend_contract::{input, latency};
use hdrhistogram::Histogram;
use paths::without_folders;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the format. Raised when a line changes its meaning.
pub const FORMAT: u32 = 1;

/// A run with its rows, independent of any store.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What is known about the run.
    pub facts: Facts,
    /// Its rows, by round and then in the order of the plan.
    pub rows: Vec<Row>,
}

/// The facts of a recorded run, without host name, user name or folders of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The version of the format: [`FORMAT`].
    pub record: u32,
    /// Name of the suite.
    pub suite: String,
    /// The schedule of the suite that was followed.
    pub extent: Extent,
    /// The command that made the run.
    pub command: String,
    /// The commit that was checked out where the lab ran ([`NewRun::revision`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The builds ([`NewRun::provenance`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// When it started.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Option<Timestamp>,
    /// Seed of the order of cells.
    pub seed: u64,
    /// Significant digits of the latencies in this file.
    pub latency_digits: u8,
    /// The machine on which it was measured.
    pub machine: MachineFacts,
    /// The version that each program reported.
    pub versions: BTreeMap<String, String>,
    /// The features that each server was found to lack, by subject.
    #[serde(default)]
    pub skips: BTreeMap<String, Vec<String>>,
    /// Events during the run, a sentence each.
    pub notes: Vec<String>,
    /// Later runs of single subjects, whose rows stand in this record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<JoinedRun>,
    /// What the run did.
    #[serde(deserialize_with = "Plan::deserialize_stored")]
    pub plan: Plan,
    /// The text of `suite.toml` when the run was made.
    pub suite_text: String,
}

/// The file in a folder of records that names hosts, a folder each: a suite's record is that of the
/// first that has one. Records of other hosts stand there too, and nothing quotes them.
pub const HOSTS_FILE: &str = "hosts.txt";

/// The folder of a suite's record: `records/HOST/SUITE`, or without [`HOSTS_FILE`] `records/SUITE`.
pub fn suite_folder(records: &Path, suite: &str) -> PathBuf {
    let hosts = fs::read_to_string(records.join(HOSTS_FILE)).unwrap_or_default();
    let folders = hosts.split_whitespace().map(|host| records.join(host).join(suite));
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| records.join(suite))
}

/// The path of a suite's record under the folder `records`.
pub fn file_of(records: &Path, suite: &str, extent: Extent) -> PathBuf {
    let [compressed, _] = names_of(extent);
    suite_folder(records, suite).join(compressed)
}

/// The record that is in a suite's folder, compressed or not.
pub fn file_in(folder: &Path, extent: Extent) -> Option<PathBuf> {
    names_of(extent).map(|name| folder.join(name)).into_iter().find(|file| file.is_file())
}

fn names_of(extent: Extent) -> [&'static str; 2] {
    match extent {
        Extent::Full => ["full.jsonl.zst", "full.jsonl"],
        Extent::Quick => ["quick.jsonl.zst", "quick.jsonl"],
    }
}

/// The folder of a profile next to the record of its suite, if one was kept.
pub const PROFILE_FOLDER: &str = "profile";

impl Facts {
    /// How long the run took. `None`: it was not finished.
    pub fn took(&self) -> Option<Duration> {
        let took_ms = self.finished?.unix_ms().checked_sub(self.started.unix_ms())?;
        Some(Duration::from_millis(u64::try_from(took_ms).ok()?))
    }

    /// Whether a run of `plan` does what this one did.
    pub fn is_of(&self, plan: &Plan) -> bool {
        let times = |plan: &Plan| (plan.rounds, plan.warmup_ms, plan.window_ms, plan.lap_ms);
        times(&self.plan) == times(plan) && self.plan.cells() == plan.cells()
    }
}

impl Record {
    /// The record of a run from a store, with the store's findings on each server's semantics
    /// ([`crate::store::Store::skips`]).
    pub fn of_run(run: &Run, rows: &[Row], skips: BTreeMap<String, Vec<String>>) -> Self {
        let new = &run.new;
        let clean = |notes: &[String]| notes.iter().map(|note| without_folders(note)).collect();
        let versions =
            new.versions.iter().map(|(name, said)| (name.clone(), without_folders(said))).collect();
        let facts = Facts {
            record: FORMAT,
            suite: new.plan.suite.clone(),
            extent: new.plan.extent,
            command: without_folders(&new.command),
            revision: new.revision.clone(),
            provenance: new.provenance.clone(),
            started: new.started,
            finished: run.finished,
            seed: new.seed,
            latency_digits: LATENCY_DIGITS,
            machine: new.machine.clone(),
            versions,
            skips,
            notes: clean(&run.notes),
            joined: Vec::new(),
            plan: Plan { notes: clean(&new.plan.notes), ..new.plan.clone() },
            suite_text: new.suite_text.clone(),
        };
        let rows = in_order(&facts.plan, rows.iter().cloned().map(clean_row).collect());
        Self { facts, rows }
    }

    /// The run in the form that tables and reports need. It has no number, so its number is 0.
    pub fn run(&self) -> Run {
        let facts = self.facts.clone();
        let joined: Vec<String> = facts.joined.iter().map(JoinedRun::note).collect();
        Run {
            id: RunId(0),
            new: NewRun {
                started: facts.started,
                plan: facts.plan,
                suite_text: facts.suite_text,
                seed: facts.seed,
                machine: facts.machine,
                versions: facts.versions,
                command: facts.command,
                revision: facts.revision,
                provenance: facts.provenance,
            },
            finished: facts.finished,
            notes: facts.notes.into_iter().chain(joined).collect(),
        }
    }

    /// Whether its figures may be quoted as those of the suite ([`crate::suite::Scope`]).
    pub fn is_quotable(&self) -> bool {
        let run = self.run();
        run.finished.is_some() && run.scope().is_quotable(self.rounds())
    }

    /// The rounds that have at least one row here. Those of joined runs are as many again, and not
    /// counted.
    pub fn rounds(&self) -> u32 {
        let rounds: BTreeSet<u32> = self
            .rows
            .iter()
            .map(|row| row.round)
            .filter(|round| *round < self.facts.plan.rounds)
            .collect();
        u32::try_from(rounds.len()).unwrap_or(u32::MAX)
    }

    /// The text of the file, before it is compressed. Latencies have [`Facts::latency_digits`].
    pub fn text(&self) -> String {
        let digits = self.facts.latency_digits;
        let mut text = line(&self.facts);
        for row in &self.rows {
            text.push_str(&line(&with_latencies(row, |text| reduced(text, digits))));
        }
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Names the first line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or(RecordError::Empty)?;
        let version: Version = read_line(1, first)?;
        if version.record != FORMAT {
            return Err(RecordError::OtherFormat(version.record));
        }
        let facts: Facts = read_line(1, first)?;
        let digits = facts.latency_digits;
        let row = |(index, text)| {
            let row: Row = read_line(index + 1, text)?;
            Ok(with_latencies(&row, |text| expanded(text, digits)))
        };
        let rows = lines.map(row).collect::<Result<_, _>>()?;
        Ok(Self { facts, rows })
    }

    /// Reads the facts of a file without its rows.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn read_facts(file: &Path) -> Result<Facts, RecordError> {
        let text = text_in(file).map_err(|error| RecordError::Unreadable(error.to_string()))?;
        Ok(Self::parse(text.lines().next().unwrap_or_default())?.facts)
    }

    /// Reads a file, compressed or not.
    ///
    /// # Errors
    /// When it cannot be read or is not a record.
    pub fn read(file: &Path) -> Result<Self, RecordError> {
        let text = text_in(file);
        Self::parse(&text.map_err(|error| RecordError::Unreadable(error.to_string()))?)
    }
}

fn text_in(file: &Path) -> io::Result<String> {
    let bytes = input::bytes(File::open(file)?, input::MAX_BYTES)?;
    input::decoded(decompressed(bytes)?)
}

#[derive(Deserialize)]
struct Version {
    record: u32,
}

fn line(value: &impl Serialize) -> String {
    // This fails only for maps whose keys are not strings; facts and rows have none.
    let json = serde_json::to_string(value).expect("the keys are strings");
    json + "\n"
}

fn read_line<'a, T: Deserialize<'a>>(line: usize, text: &'a str) -> Result<T, RecordError> {
    serde_json::from_str(text)
        .map_err(|error| RecordError::Line { line, reason: input::reason(&error) })
}

fn with_latencies(row: &Row, change: impl FnOnce(&str) -> String) -> Row {
    let mut row = row.clone();
    if let Some(window) = row.outcome.window_mut() {
        window.latency_histogram = change(&window.latency_histogram);
    }
    row
}

/// Digits of a histogram as the lab stores it, and as reports read it.
const LATENCY_DIGITS: u8 = latency::SIGNIFICANT_DIGITS;

/// The histogram with `digits` significant digits: with two it has an eighth of the buckets of one
/// of three. Invalid text is unchanged: reports name it.
fn reduced(text: &str, digits: u8) -> String {
    converted(text, digits, Histogram::new_with_bounds(1, latency::HIGHEST_NS, digits).ok())
}

/// A histogram of `digits`, converted back to the contract's precision: each call then counts at
/// the middle of the wider bucket that it was in.
fn expanded(text: &str, digits: u8) -> String {
    converted(text, digits, Some(latency::empty()))
}

fn converted(text: &str, digits: u8, into: Option<Histogram<u64>>) -> String {
    if digits >= LATENCY_DIGITS {
        return text.to_owned();
    }
    match (latency::decode(text), into) {
        (Ok(histogram), Some(into)) => latency::encode(&refilled(&histogram, into)),
        _ => text.to_owned(),
    }
}

/// Fills `into` with every call of `from`, at the middle of its bucket.
pub(crate) fn refilled(from: &Histogram<u64>, mut into: Histogram<u64>) -> Histogram<u64> {
    for bucket in from.iter_recorded() {
        let middle = from.median_equivalent(bucket.value_iterated_to());
        into.saturating_record_n(middle, bucket.count_at_value());
    }
    into
}

fn clean_row(mut row: Row) -> Row {
    if let Some(window) = row.outcome.window_mut() {
        // They take more room than everything else, and no table rests on them.
        (window.started, window.intervals) = (None, None);
        for quoted in window.marks.iter_mut().filter_map(Mark::quoted_mut) {
            *quoted = without_folders(quoted);
        }
    }
    if let Some(reason) = row.outcome.reason_mut() {
        *reason = without_folders(reason);
    }
    row
}

fn in_order(plan: &Plan, mut rows: Vec<Row>) -> Vec<Row> {
    let places: BTreeMap<CellId, usize> =
        plan.cells().into_iter().enumerate().map(|(place, cell)| (cell.id, place)).collect();
    let place = |row: &Row| places.get(&row.cell).copied().unwrap_or(usize::MAX);
    rows.sort_by_cached_key(|row| (row.round, place(row), row.cell.clone()));
    rows
}

/// Why a file is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is empty.
    #[error("the record is empty: make it with publication record")]
    Empty,
    /// The file was written by another version of this program.
    #[error("the record has format {0}, this program reads format {known}", known = FORMAT)]
    OtherFormat(u32),
    /// This line, counted from 1, is not valid.
    #[error("line {line} of the record: {reason}")]
    Line {
        /// The number of the line.
        line: usize,
        /// The error of the JSON parser.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Histogram<u64> {
        let mut histogram = latency::empty();
        for step in 0..2_000_u64 {
            latency::record(&mut histogram, 50_000 + step * step, 1 + step % 3);
        }
        histogram
    }

    #[test]
    fn fewer_digits_lose_no_call_and_little_of_its_time() {
        let whole = sample();
        let text = latency::encode(&whole);
        let short = reduced(&text, 2);
        assert!(short.len() * 3 < text.len(), "{} of {}", short.len(), text.len());
        let back = latency::decode(&expanded(&short, 2)).expect("a histogram");
        assert_eq!(back.len(), whole.len());
        assert!((back.mean() / whole.mean() - 1.0).abs() < 0.002);
        for percent in [50.0, 90.0, 99.0, 100.0] {
            let at = |histogram: &Histogram<u64>| histogram.value_at_percentile(percent) as f64;
            assert!((at(&back) / at(&whole) - 1.0).abs() < 0.01, "{percent}");
        }
    }

    #[test]
    fn what_was_reduced_once_is_reduced_to_the_same_again() {
        for digits in [1, 2] {
            let short = reduced(&latency::encode(&sample()), digits);
            assert_eq!(reduced(&expanded(&short, digits), digits), short);
        }
    }

    #[test]
    fn what_is_no_histogram_is_left_for_reports_to_name() {
        assert_eq!(reduced("???", 2), "???");
        assert_eq!(expanded("???", 2), "???");
    }
}
