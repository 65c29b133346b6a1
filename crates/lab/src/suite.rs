//! Suites: `suites/NAME/suite.toml`, one question each, as checked values (docs/suite-format.md).

mod declared;
mod overrides;
mod plan;
mod published;
mod units;

pub use overrides::{OverrideError, Overrides};
pub use plan::{Extent, Plan, PlanError, PlannedCell, PlannedSubject, Selection};
pub use published::{Column, KEY_COLUMNS, PublishedError, PublishedRow, PublishedTable, Unit};
pub use units::{UnitError, parse_duration, parse_size};

use crate::declaration::{DeclarationError, read_text};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The file in a suite's folder that declares it.
pub const SUITE_FILE: &str = "suite.toml";

/// Rounds of a full run: benchstat asks for at least ten.
pub const FULL_ROUNDS_MIN: u32 = 10;

/// Rounds of a quick run: below seven the interval of a ratio is wider than what it shall tell.
pub const QUICK_ROUNDS_MIN: u32 = 7;

/// Rounds nobody waits for; a guard against a slip of the finger.
pub const ROUNDS_MAX: u32 = 10_000;

/// Streams in flight nobody can hold on one machine; ten times the largest published cell.
pub const CONCURRENCY_MAX: u32 = 1_000_000;

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
    pub limits: Limits,
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

/// What the server gets of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// CPUs; a fraction is a share of CPU time.
    pub server_cpus: f64,
    /// Memory, bytes. `None`: no limit.
    pub server_memory_bytes: Option<u64>,
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
    /// What makes its load.
    pub instruments: Vec<String>,
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
    /// The cases, in the order of the table.
    pub cases: Vec<Case>,
}

/// A point of the grid. `Display` and `FromStr` use the form `C=1 S=100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Case {
    /// C: connections.
    pub connections: u32,
    /// S: streams in flight in all.
    pub concurrency: u32,
}

impl Case {
    /// A case, if it can be: every connection carries at least one stream.
    ///
    /// # Errors
    /// When a number is 0, absurdly large, or there are fewer streams than connections.
    pub fn new(connections: u32, concurrency: u32) -> Result<Self, CaseError> {
        let case = Self {
            connections,
            concurrency,
        };
        if connections == 0 || concurrency < connections {
            return Err(CaseError::TooFewStreams(case));
        }
        if concurrency > CONCURRENCY_MAX {
            return Err(CaseError::TooManyStreams(case));
        }
        Ok(case)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C={} S={}", self.connections, self.concurrency)
    }
}

impl From<Case> for String {
    fn from(case: Case) -> Self {
        case.to_string()
    }
}

impl TryFrom<String> for Case {
    type Error = CaseError;

    fn try_from(text: String) -> Result<Self, CaseError> {
        text.parse()
    }
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Self, CaseError> {
        let malformed = || CaseError::Malformed(text.to_owned());
        let (connections, concurrency) = text.split_once(' ').ok_or_else(malformed)?;
        let number = |part: &str, letter| {
            let digits = part.strip_prefix(letter).ok_or_else(malformed)?;
            digits.parse().map_err(|_| malformed())
        };
        Self::new(number(connections, "C=")?, number(concurrency, "S=")?)
    }
}

/// Why a case cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseError {
    /// Not of the form `C=1 S=100`.
    Malformed(String),
    /// No connection, or a connection without a stream.
    TooFewStreams(Case),
    /// More than [`CONCURRENCY_MAX`].
    TooManyStreams(Case),
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => write!(f, "`{text}` is not a case: write C=1 S=100"),
            Self::TooFewStreams(case) => write!(
                f,
                "{case}: there must be at least one connection, and a stream for each (S counts \
                 the streams of all connections)"
            ),
            Self::TooManyStreams(case) => {
                write!(
                    f,
                    "{case}: at most {CONCURRENCY_MAX} streams can be in flight"
                )
            }
        }
    }
}

impl std::error::Error for CaseError {}

impl Suite {
    /// Reads and checks `FOLDER/suite.toml`.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, has an unknown key, or asks for something
    /// impossible; the error names file, line and remedy.
    pub fn read(folder: &Path) -> Result<Self, DeclarationError> {
        let text = read_text(&folder.join(SUITE_FILE))?;
        Self::parse(folder, &text)
    }

    /// Checks the text of `FOLDER/suite.toml`. The folder's last name must be the suite's.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn parse(folder: &Path, text: &str) -> Result<Self, DeclarationError> {
        declared::parse(folder, text)
    }

    /// A file that the suite names, as a path that can be opened.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The subject that ratios compare with.
    pub fn baseline(&self) -> Option<&SuiteSubject> {
        self.subjects.iter().find(|subject| subject.baseline)
    }
}
