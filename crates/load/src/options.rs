//! What a run of the load generator is to do. [`Flags`] is what the user wrote; [`Options`] is
//! what it means, and cannot be built from flags that contradict each other.

mod echo;
mod error;
mod flags;
mod planned;
mod security;
mod targets;

pub use error::OptionsError;
pub use flags::Flags;
pub use security::{Security, Tls};

use crate::metadata::Metadata;
use crate::payload::{DataSource, Templates};
use crate::plan::Connecting;
pub use crate::plan::DurationStop;
use crate::suggestion::nearest;
use crate::targets::{Strategy, TargetNames};
use bookend_io::Wait;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The meaning of the flags of `bookend load`. Defaults are ghz's where ghz has the flag.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where the servers listen.
    pub targets: TargetNames,
    /// Which addresses of a name are meant; `None` leaves it to the name.
    pub strategy: Option<Strategy>,
    /// The `:authority` of every request, where it is not that of the request's target. With TLS
    /// its host is the name that the server's certificate has to be for.
    pub authority: Option<String>,
    /// Whether connections are encrypted.
    pub security: Security,
    /// Where the shape of messages comes from.
    pub schema: SchemaSource,
    /// The method: `pkg.Service/Method` or `pkg.Service.Method`.
    pub call: String,
    /// Where the request messages come from.
    pub data: DataSource,
    /// What `{{` in data and metadata means.
    pub templates: Templates,
    /// The metadata of every call.
    pub metadata: Metadata,
    /// When connections are made.
    pub connecting: Connecting,
    /// Connections, never more than [`Options::concurrency`]; with [`Connecting::PerCall`] as many.
    pub connections: NonZeroU32,
    /// Calls in flight, over all connections.
    pub concurrency: NonZeroU32,
    /// When the run is over.
    pub until: Until,
    /// The deadline of each call; `None` is no deadline.
    pub timeout: Option<Duration>,
    /// The id of the first stream of a connection: odd, as clients' are.
    pub first_stream_id: u32,
    /// Calls of this long after the start are answered and not measured.
    pub warmup: Duration,
    /// How long a connection may take to be made; `None` is as long as the system lets it.
    pub connect_timeout: Option<Duration>,
    /// How long a server may say nothing while calls wait for it before it is asked for a sign of
    /// life, and how long it then has to give one; `None` is for ever.
    pub keepalive: Option<Duration>,
    /// How bytes are moved.
    pub io: Io,
    /// How the driver waits.
    pub wait: Wait,
    /// Worker threads; `None` leaves the choice to the run.
    pub threads: Option<NonZeroU32>,
    /// How the result is printed.
    pub format: Format,
    /// The file that the result is written to; `None` is standard output.
    pub output: Option<PathBuf>,
    /// A label for the run.
    pub name: Option<String>,
    /// More labels.
    pub tags: BTreeMap<String, String>,
    /// What happens to the calls in flight when the time is up.
    pub duration_stop: DurationStop,
    /// Whether the latencies of failed calls are recorded too.
    pub count_errors: bool,
}

/// Where the shape of messages comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaSource {
    /// A `.proto` file.
    Proto {
        /// The file.
        file: PathBuf,
        /// Folders in which imports are looked for, besides the file's own and the working one.
        import_paths: Vec<PathBuf>,
    },
    /// A compiled descriptor set.
    Protoset(PathBuf),
    /// The server's reflection service.
    Reflection,
}

/// When a run is over: at the first of its limits. At least one of the two is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many calls.
    Calls(u64),
    /// After so long; warm-up does not count.
    Elapsed(Duration),
    /// After so many calls, or after so long if that comes first.
    Either {
        /// The limit in calls.
        calls: u64,
        /// The limit in time; warm-up does not count.
        elapsed: Duration,
    },
}

impl Until {
    /// The limit in calls.
    pub fn calls(self) -> Option<u64> {
        match self {
            Until::Calls(calls) | Until::Either { calls, .. } => Some(calls),
            Until::Elapsed(_) => None,
        }
    }

    /// The limit in time.
    pub fn elapsed(self) -> Option<Duration> {
        match self {
            Until::Elapsed(elapsed) | Until::Either { elapsed, .. } => Some(elapsed),
            Until::Calls(_) => None,
        }
    }
}

/// How bytes are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// The cheapest that fits the number of connections.
    #[default]
    Auto,
    /// One thread a connection, blocking reads.
    Blocking,
    /// Many connections a thread.
    Epoll,
    /// Many connections a thread, for which the kernel reads and writes of itself.
    Uring,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    #[default]
    Summary,
    /// JSON on one line.
    Json,
    /// JSON, indented by two.
    Pretty,
}

/// Reads one of a few words, or says which they are.
fn choose<C: Copy>(text: &str, choices: &[(&str, C)]) -> Result<C, String> {
    if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == text) {
        return Ok(*choice);
    }
    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
    let listed = words.join(", ");
    Err(match nearest(text, words) {
        Some(word) => format!("did you mean {word}? (there is {listed})"),
        None => format!("there is {listed}"),
    })
}

impl FromStr for Io {
    type Err = String;

    fn from_str(text: &str) -> Result<Io, String> {
        choose(
            text,
            &[
                ("auto", Io::Auto),
                ("blocking", Io::Blocking),
                ("epoll", Io::Epoll),
                ("uring", Io::Uring),
            ],
        )
    }
}

/// The value of `--wait`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting(pub Wait);

impl Waiting {
    /// The word on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            Wait::Sleep => "sleep",
            Wait::Spin => "spin",
        }
    }
}

impl FromStr for Waiting {
    type Err = String;

    fn from_str(text: &str) -> Result<Waiting, String> {
        let words = [Wait::Sleep, Wait::Spin].map(|wait| (Waiting(wait).name(), Waiting(wait)));
        choose(text, &words)
    }
}

impl FromStr for DurationStop {
    type Err = String;

    fn from_str(text: &str) -> Result<DurationStop, String> {
        use DurationStop::{Close, Ignore, Wait};
        choose(
            text,
            &[("close", Close), ("wait", Wait), ("ignore", Ignore)],
        )
    }
}

/// ghz's formats that are not there, with the reason.
const FORMATS_MISSING: [(&str, &str); 5] = [
    (
        "csv",
        "csv has a row for every call, and calls are not kept",
    ),
    ("html", "html is not built yet"),
    ("influx-summary", "influx-summary is not built yet"),
    (
        "influx-details",
        "influx-details has a row for every call, and calls are not kept",
    ),
    ("prometheus", "prometheus is not built yet"),
];

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        const BUILT: [(&str, Format); 3] = [
            ("summary", Format::Summary),
            ("json", Format::Json),
            ("pretty", Format::Pretty),
        ];
        match FORMATS_MISSING.iter().find(|(word, _)| *word == text) {
            Some((_, reason)) => Err(format!("{reason}: there is summary, json, pretty")),
            None => choose(text, &BUILT),
        }
    }
}
