//! A suite as checked values.

use super::case::Case;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file in a suite's folder that declares it.
pub const SUITE_FILE: &str = "suite.toml";

/// Rounds of a full run: benchstat asks for at least ten.
pub const FULL_ROUNDS_MIN: u32 = 10;

/// Rounds of a quick run: below seven the interval of a ratio is wider than what it shall tell.
pub const QUICK_ROUNDS_MIN: u32 = 7;

/// Rounds nobody waits for; a guard against a slip of the finger.
pub const ROUNDS_MAX: u32 = 10_000;

/// One question, asked of several subjects under several cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Name of the suite, which is the name of its folder.
    pub name: String,
    /// One line for lists and headings.
    pub title: String,
    /// What the question is and what the answer tells: prose, spliced into the report.
    pub analysis: String,
    /// The call that is made.
    pub request: Request,
    /// What the server gets.
    pub limits: SuiteLimits,
    /// What makes the load when a subject does not say otherwise.
    pub instruments: Vec<String>,
    /// Whether handlers wait for something else than the CPU: then an idle server is no surprise.
    pub handler_waits: bool,
    /// Who is measured, in the order of the published table.
    pub subjects: Vec<SuiteSubject>,
    /// How a full run measures.
    pub full: Schedule,
    /// How `--quick` measures, if it can.
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

/// Where the request's message comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestMessage {
    /// A file with the message as protobuf JSON.
    Json(String),
    /// A file with the message's bytes.
    Bytes(String),
}

impl Request {
    /// The name under which grpc_bench would know this: the service definition's file, bare.
    pub fn scenario(&self) -> &str {
        let file = Path::new(&self.proto).file_stem();
        file.and_then(|stem| stem.to_str()).unwrap_or_default()
    }
}

/// What both ends get of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteLimits {
    /// CPUs; a fraction is a share of CPU time.
    pub server_cpus: f64,
    /// Memory, bytes. `None`: no limit.
    pub server_memory_bytes: Option<u64>,
    /// Processes and threads of a server under test. `None`: no limit but the lab's own.
    #[serde(default)]
    pub server_processes: Option<u32>,
    /// CPUs of a client under test; a fraction is a share of CPU time. `None`: those that the
    /// server leaves.
    #[serde(default)]
    pub client_cpus: Option<f64>,
}

/// A subject of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteSubject {
    /// `rust-tonic`, or `rust-bookend/epoll` for a variant that is not the default.
    pub name: String,
    /// The one that ratios compare with.
    pub baseline: bool,
    /// A calibration line under the table, never ranked.
    pub calibration: bool,
    /// What makes its load; for a client, the servers that it calls.
    pub instruments: Vec<String>,
    /// Cases with more streams than this are not measured. `None`: all are.
    pub concurrency_max: Option<u32>,
    /// Only cases with one of these numbers of streams are measured. Empty: all are.
    pub concurrency: Vec<u32>,
    /// It is left out of quick runs, unless it is selected by name.
    pub full_only: bool,
    /// What stands behind it, instead of what the schedule says.
    pub backend: Option<String>,
    /// Which end is measured, where it could be both. `None`: the server if it can be one.
    pub side: Option<TestedEnd>,
}

/// Which end of a cell is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestedEnd {
    /// The subject answers, the other end is an instrument.
    #[default]
    Server,
    /// The subject calls, the other end is a server.
    Client,
}

/// How long, how often and which cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Before each window.
    pub warmup: Duration,
    /// The measured time of a cell.
    pub window: Duration,
    /// How often every cell is measured, each time by freshly started processes.
    pub rounds: u32,
    /// Of each call. `None`: what the caller does by itself.
    pub deadline: Option<Duration>,
    /// The subject that is started behind every server under test.
    pub backend: Option<String>,
    /// How long a server may take to end. `None`: what the cases need.
    pub drain: Option<Duration>,
    /// The cases, in the order of the table.
    pub cases: Vec<Case>,
    /// Cases that only these instruments measure. Absent: those of each subject do.
    pub instruments_of: BTreeMap<Case, Vec<String>>,
}

impl Suite {
    /// A file that the suite names, as a path that can be opened.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The subject that ratios compare with.
    pub fn baseline(&self) -> Option<&SuiteSubject> {
        self.subjects.iter().find(|subject| subject.baseline)
    }
}
