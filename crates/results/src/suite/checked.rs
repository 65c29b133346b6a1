//! A suite as checked values.

use super::case::Case;
use super::laps::LapSetting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file in a suite's folder that declares it.
pub const SUITE_FILE: &str = "suite.toml";

/// Rounds of a full run: benchstat asks for at least ten.
pub const FULL_ROUNDS_MIN: u32 = 10;

/// Rounds of a quick run: with fewer than seven, the interval of a ratio is too wide to be useful.
pub const QUICK_ROUNDS_MIN: u32 = 7;

/// More rounds than anyone would wait for; a guard against typing errors.
pub const ROUNDS_MAX: u32 = 10_000;

/// One question, asked of several subjects under several cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Name of the suite, which is the name of its folder.
    pub name: String,
    /// One line for lists and headings.
    pub title: String,
    /// The question, and what the answer shows: prose, copied into the report.
    pub analysis: String,
    /// The call that is made.
    pub request: Request,
    /// The resources that both ends may use.
    pub limits: SuiteLimits,
    /// The instruments of the subjects that do not name their own.
    pub instruments: Vec<String>,
    /// Whether handlers wait for something other than the CPU, so that an idle server is no
    /// surprise.
    pub handler_waits: bool,
    /// The subjects, in the order of the published table.
    pub subjects: Vec<SuiteSubject>,
    /// How a full run measures.
    pub full: Schedule,
    /// How `--quick` measures, if the suite supports it.
    pub quick: Option<Schedule>,
    /// File with the published table, relative to the folder.
    pub published: Option<String>,
    /// The suite's folder.
    pub folder: PathBuf,
    /// The text of `suite.toml`, kept with every result.
    pub text: String,
}

/// The call that every case makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// `pkg.Service/Method`.
    pub method: String,
    /// File with the service definition, relative to the suite's folder.
    pub proto: String,
    /// The message that is sent.
    pub message: RequestMessage,
}

/// The source of the request message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestMessage {
    /// A file with the message in protobuf JSON.
    Json(String),
    /// A file with the message's bytes.
    Bytes(String),
}

impl Request {
    /// The name that grpc_bench has for this scenario: the service definition's file name, without
    /// folder and extension.
    pub fn scenario(&self) -> &str {
        Path::new(&self.proto).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }
}

/// The resources of the machine that each end may use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteLimits {
    /// CPUs; a fraction is a share of CPU time.
    pub server_cpus: f64,
    /// Memory, bytes. `None`: no limit.
    pub server_memory_bytes: Option<u64>,
    /// Processes and threads of a server under test. `None`: no limit but the lab's own.
    pub server_processes: Option<u32>,
    /// CPUs of a client under test; a fraction is a share of CPU time. `None`: the CPUs that the
    /// server does not use.
    pub client_cpus: Option<f64>,
}

/// A subject of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteSubject {
    /// How it is measured.
    pub planned: PlannedSubject,
    /// Whether quick runs leave it out, unless it is selected by name.
    pub full_only: bool,
}

/// A subject of a suite, and of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSubject {
    /// `rust-tonic`, or `rust-bookend/epoll` for a variant that is not the default.
    pub name: String,
    /// Whether it is the subject that ratios compare with.
    pub baseline: bool,
    /// Whether it is a line below the table, never ranked.
    pub calibration: bool,
    /// The instruments that make its load; for a client, the servers that it calls.
    pub instruments: Vec<String>,
    /// Cases with more streams than this are not measured. `None`: no limit.
    pub concurrency_max: Option<u32>,
    /// Only cases with one of these numbers of streams are measured. Empty: all cases are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concurrency: Vec<u32>,
    /// The backend behind it when it is a server under test: of its own, or the schedule's.
    pub backend: Option<String>,
    /// Processes and threads of it as a server under test, instead of the suite's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_processes: Option<u32>,
    /// The end that is measured, where it could be either. `None`: the server if it can be one.
    pub side: Option<TestedEnd>,
}

impl PlannedSubject {
    /// Whether the subject is measured with `instrument` under `case`.
    pub fn is_measured(&self, case: Case, instrument: &String) -> bool {
        let fits = self.concurrency_max.is_none_or(|max| case.concurrency <= max);
        let is_listed = self.concurrency.is_empty() || self.concurrency.contains(&case.concurrency);
        fits && is_listed && self.instruments.contains(instrument)
    }

    /// Folder name and variant, if one is named: the two parts of `rust-bookend/epoll`.
    pub fn folder_and_variant(&self) -> (&str, Option<&str>) {
        match self.name.split_once('/') {
            Some((folder, variant)) => (folder, Some(variant)),
            None => (&self.name, None),
        }
    }
}

/// The end of a cell that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestedEnd {
    /// The subject answers calls, and the other end is an instrument.
    #[default]
    Server,
    /// The subject makes calls, and the other end is a server.
    Client,
}

/// How long a server lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerLife {
    /// It is started for each cell, so its memory is that cell's.
    Cell,
    /// It is started once a round and serves all its cells, which takes less time.
    #[default]
    Round,
}

/// What becomes of a cell whose calls need a longer window than the suite allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShortWindows {
    /// It has no row: a window cuts off the slowest of such calls.
    #[default]
    Refused,
    /// It is measured in the longest window there is, and marked: what a document measured in as
    /// short a window is not refuted by a longer one.
    Kept,
}

impl ShortWindows {
    pub(super) fn are_refused(&self) -> bool {
        *self == Self::Refused
    }
}

/// How long, how often and under which cases to measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The warm-up before each window.
    pub warmup: Duration,
    /// The measured time of a cell, as long as that holds its calls.
    pub window: Duration,
    /// The most that a cell may get whose calls take longer. Zero: all get the same, and none is
    /// refused.
    pub window_max: Duration,
    /// What becomes of a cell for which that is not enough.
    pub short_windows: ShortWindows,
    /// Whether cells are measured by turns, in laps.
    pub laps: LapSetting,
    /// How often every cell is measured, each time with freshly started processes.
    pub rounds: u32,
    /// How long a server lives. References of clients, and servers of a fixed number of calls,
    /// always live for one cell.
    pub server_life: ServerLife,
    /// The deadline of each call. `None`: the caller's own default.
    pub deadline: Option<Duration>,
    /// The subject that is started behind every server under test.
    pub backend: Option<String>,
    /// How long a server may take to end. `None`: as long as the cases need.
    pub drain: Option<Duration>,
    /// The cases, in the order of the table.
    pub cases: Vec<Case>,
    /// Cases that only these instruments measure. Other cases are measured with all instruments of
    /// a subject.
    pub instruments_of: BTreeMap<Case, Vec<String>>,
}

impl Suite {
    /// The path of a file that the suite names, ready to be opened.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The subject that ratios compare with.
    pub fn baseline(&self) -> Option<&PlannedSubject> {
        self.subjects.iter().map(|subject| &subject.planned).find(|subject| subject.baseline)
    }
}
