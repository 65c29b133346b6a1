//! The result of one cell in one round: the raw figures from which every table is made.

mod counts;
mod ends;

pub use counts::WindowCounts;
pub use ends::{EndUsage, Ends};

use crate::mark::{Mark, read_marks};
use crate::steady::{self, Steady};
use crate::suite::{Case, TestedEnd};
use crate::window::{AskedTimes, WindowFigures};
use bookend_contract::count;
use bookend_contract::report::{Extension, Intervals};
use bookend_contract::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A cell: one subject under one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId {
    /// Name of the subject with its variant: `rust-tonic`, `rust-bookend/epoll`.
    pub subject: String,
    /// The case, kept as its text: `C=1 S=100`.
    pub case: Case,
    /// Name of the other end: the instrument that made the load, such as `bookend-load`, or, for a
    /// client under test, the server that it called.
    pub instrument: String,
}

/// How a cell ended. Unsupported, refused, failed and missing are distinguished, and no row is
/// dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The window was measured.
    Measured(Box<Measurement>),
    /// The subject reported (exit status 89) that it does not support this.
    Unsupported {
        /// The last line of its standard error.
        reason: String,
    },
    /// No window that the suite allows is long enough for what the cell measures.
    Refused {
        /// How long its calls take, what the window would have to be, and what to do.
        reason: String,
        /// The longest window, in the round that tried it. No figure of a table comes from it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<Box<Measurement>>,
    },
    /// Something went wrong; the row records what.
    Failed {
        /// One line.
        error: String,
        /// The window, if it was measured before the failure: no call in it ended OK, or it cannot
        /// be trusted. No figure of a table comes from it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<Box<Measurement>>,
    },
    /// The subject could not be built or is not installed here.
    Missing {
        /// One line: what is missing, and the command that installs it.
        reason: String,
    },
}

impl Outcome {
    /// A row that failed before anything was measured.
    pub fn failed(error: impl fmt::Display) -> Outcome {
        Outcome::Failed { error: error.to_string(), window: None }
    }

    /// Turns it into a failed row with that error. Its window is kept.
    pub fn fail(&mut self, error: impl fmt::Display) {
        let window = match self {
            Outcome::Measured(window) => Some(std::mem::take(window)),
            Outcome::Failed { window, .. } | Outcome::Refused { window, .. } => window.take(),
            Outcome::Unsupported { .. } | Outcome::Missing { .. } => None,
        };
        *self = Outcome::Failed { error: error.to_string(), window };
    }

    /// Why a row has no figures: the word for it, and one line. `None`: it was measured.
    pub fn unmeasured(&self) -> Option<(NotMeasured, &str)> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Unsupported { reason } => Some((NotMeasured::Unsupported, reason)),
            Outcome::Refused { reason, .. } => Some((NotMeasured::Refused, reason)),
            Outcome::Failed { error, .. } => Some((NotMeasured::Failed, error)),
            Outcome::Missing { reason } => Some((NotMeasured::Missing, reason)),
        }
    }

    /// The line that says why a row has no figures.
    pub fn reason_mut(&mut self) -> Option<&mut String> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Unsupported { reason: line }
            | Outcome::Missing { reason: line }
            | Outcome::Refused { reason: line, .. }
            | Outcome::Failed { error: line, .. } => Some(line),
        }
    }

    /// Whether something went wrong in a row that was to be measured.
    pub fn has_failed(&self) -> bool {
        matches!(self, Outcome::Failed { .. })
    }

    /// The window, if there is one: of a measured row, of one that failed in its window, or of one
    /// that was refused after it.
    pub fn window(&self) -> Option<&Measurement> {
        match self {
            Outcome::Measured(window) => Some(window),
            Outcome::Failed { window, .. } | Outcome::Refused { window, .. } => window.as_deref(),
            Outcome::Unsupported { .. } | Outcome::Missing { .. } => None,
        }
    }

    /// As above, mutable.
    pub fn window_mut(&mut self) -> Option<&mut Measurement> {
        match self {
            Outcome::Measured(window) => Some(window),
            Outcome::Failed { window, .. } | Outcome::Refused { window, .. } => {
                window.as_deref_mut()
            }
            Outcome::Unsupported { .. } | Outcome::Missing { .. } => None,
        }
    }
}

/// The words for a cell without figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NotMeasured {
    /// The subject reported that it does not support this.
    Unsupported,
    /// No window that the suite allows is long enough.
    Refused,
    /// Something went wrong.
    Failed,
    /// It could not be built or is not installed.
    Missing,
    /// The run ended before its turn.
    Unreached,
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "unsupported",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Missing => "missing",
            Self::Unreached => "not reached",
        })
    }
}

/// The raw figures of one measured window. Counts and CPU belong to the window alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What its warm-up and its window were to be. `None`: of before they were chosen for cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedTimes>,
    /// When the window began. `None`: it was not noted, or a record has left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// Calls answered OK by interval, those of the warm-up first. `None`: the caller does not count
    /// so, or a record has left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// Laps that the window consists of, measured by turns with those of other cells. `None`: it is
    /// of one piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laps: Option<u32>,
    /// Length of the window, seconds.
    pub window_seconds: f64,
    /// The calls.
    #[serde(flatten)]
    pub counts: WindowCounts,
    /// The latency histogram of OK calls, nanoseconds: HdrHistogram V2, base64.
    pub latency_histogram: String,
    /// What both ends used, and the backend behind the server.
    #[serde(flatten)]
    pub ends: Ends,
    /// What the generator says of itself.
    #[serde(flatten)]
    pub generator: GeneratorAccount,
    /// The machine's CPU account over the window.
    pub machine: MachineCpu,
    /// Marks of this window alone. Empty when clean.
    #[serde(deserialize_with = "read_marks")]
    pub marks: Vec<Mark>,
    /// When the rate became steady, where the caller counts by interval and the window is long
    /// enough to judge it.
    #[serde(
        default,
        deserialize_with = "steady::deserialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub steady: Option<Steady>,
    /// Notes of the calling end in addition to its figures: `connections_opened` -> 64.
    #[serde(default)]
    pub notes: BTreeMap<String, f64>,
    /// The ends that polled instead of sleeping while there was nothing to do.
    #[serde(default, skip_serializing_if = "Spinning::is_nobody")]
    pub spinning: Spinning,
    /// What a foreign instrument printed. The store keeps that of one round apart from the rows.
    #[serde(skip)]
    pub raw_output: Option<String>,
}

/// What our generator reports of itself. Other callers report nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorAccount {
    /// Time in turns of its loop that did work, seconds.
    #[serde(rename = "generator_busy_seconds")]
    pub busy_seconds: Option<f64>,
    /// Its worker threads.
    #[serde(rename = "generator_threads")]
    pub threads: Option<u32>,
    /// CPUs that control groups gave it at most.
    #[serde(rename = "generator_cpu_quota", default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// Responses carried by one of its reads.
    pub requests_per_read: Option<f64>,
    /// Requests carried by one of its writes.
    pub requests_per_write: Option<f64>,
}

impl From<&Extension> for GeneratorAccount {
    fn from(own: &Extension) -> Self {
        Self {
            busy_seconds: Some(own.worked_seconds()),
            threads: Some(own.threads),
            cpu_quota: own.cpu_quota,
            requests_per_read: Some(own.requests_per_read),
            requests_per_write: Some(own.requests_per_write),
        }
    }
}

/// The ends that spin instead of sleeping, according to their declarations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spinning {
    /// Whether the server spins.
    pub server: bool,
    /// Whether the calling end spins.
    pub generator: bool,
}

impl Spinning {
    /// Whether both ends sleep.
    pub fn is_nobody(&self) -> bool {
        *self == Self::default()
    }
}

impl Measurement {
    /// Answered calls a second.
    pub fn requests_per_second(&self) -> f64 {
        self.counts.ok as f64 / self.window_seconds
    }

    /// What the window shows of the time that it needs, with the mean latency where it is known.
    pub fn figures(&self, streams: u32, mean_seconds: Option<f64>) -> WindowFigures {
        WindowFigures {
            seconds: self.window_seconds,
            answered: (self.counts.ok + self.counts.failed()) as f64,
            mean_seconds,
            streams: f64::from(streams),
        }
    }

    /// Answered calls per CPU-second of the end under test; not finite without CPU time, or where
    /// that end spins, because its CPU time then tells nothing.
    pub fn requests_per_cpu_second(&self) -> f64 {
        let spins = self.tested_end_spins();
        self.counts.ok as f64 / if spins { f64::NAN } else { self.tested_cpu_seconds() }
    }

    /// CPU time of the end under test for an answered call, nanoseconds; not finite where the rate
    /// above is not.
    pub fn cpu_ns_per_call(&self) -> f64 {
        let rate = self.requests_per_cpu_second();
        1e9 / if rate.is_finite() { rate } else { f64::NAN }
    }

    /// Answered calls per CPU-second of the calling end; not finite as above.
    pub fn requests_per_client_cpu_second(&self) -> f64 {
        let spins = self.spinning.generator;
        self.requests_per_second() / if spins { f64::NAN } else { self.generator_cpu() }
    }

    /// CPU time of the server over the window, 1.0 = one CPU.
    pub fn server_cpu(&self) -> f64 {
        self.ends.server.cpu_seconds / self.window_seconds
    }

    /// CPU time of the generator over the window, 1.0 = one CPU.
    pub fn generator_cpu(&self) -> f64 {
        self.ends.caller.cpu_seconds / self.window_seconds
    }

    /// CPU of the calling end's process tree over the window, 1.0 = one CPU.
    pub fn client_cpu(&self) -> f64 {
        self.ends.caller.cpu_mean.unwrap_or(self.generator_cpu())
    }

    /// Whether the end under test spins, so that its CPU time tells nothing about requests.
    pub fn tested_end_spins(&self) -> bool {
        match self.ends.side {
            TestedEnd::Server => self.spinning.server,
            TestedEnd::Client => self.spinning.generator,
        }
    }

    /// CPU time of the end under test, seconds.
    pub fn tested_cpu_seconds(&self) -> f64 {
        self.ends.tested().cpu_seconds
    }
}

/// CPU time of the whole machine over a window, seconds summed over CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineCpu {
    /// User and nice.
    pub user_seconds: f64,
    /// System time without interrupts.
    pub system_seconds: f64,
    /// Soft interrupts.
    pub softirq_seconds: f64,
    /// Hard interrupts.
    pub irq_seconds: f64,
    /// Stolen by the hypervisor.
    pub steal_seconds: f64,
    /// Idle or waiting for input or output.
    pub idle_seconds: f64,
}

impl MachineCpu {
    /// All time except idle and steal, seconds.
    pub fn busy_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds + self.softirq_seconds + self.irq_seconds
    }

    /// All time of all CPUs over the window, seconds.
    pub fn total_seconds(&self) -> f64 {
        self.busy_seconds() + self.idle_seconds + self.steal_seconds
    }
}

/// One cell of one round as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Round, counted from 0.
    pub round: u32,
    /// The cell.
    pub cell: CellId,
    /// How it ended.
    pub outcome: Outcome,
    /// The server's `served N` in this round, if it reported one: a count over its whole life.
    pub served: Option<u64>,
    /// Whether the server was started for this row alone. Otherwise it served several cells of the
    /// round.
    #[serde(default)]
    pub has_own_server: bool,
    /// Of a server for several cells: which of the round's starts this was. One that dies is
    /// started again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server_life: u32,
    /// Cells that such a server had served before this one. `None`: it was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells_before: Option<u32>,
    /// Calls of the lab to this server that are in no row: those of the probe, and of windows that
    /// were disturbed and measured again. The server counts them as served; they are recorded in
    /// one row for each server.
    #[serde(default, deserialize_with = "count::deserialize")]
    pub probe_calls: u64,
    /// The server's notes at its end, over its whole life.
    #[serde(default)]
    pub server_notes: BTreeMap<String, f64>,
    /// The backend's notes at its end, over its whole life.
    #[serde(default)]
    pub backend_notes: BTreeMap<String, f64>,
    /// `served N` of the backend, over its whole life.
    pub backend_served: Option<u64>,
}

impl Row {
    /// A row for which the server has not reported anything yet.
    pub fn new(round: u32, cell: CellId, outcome: Outcome) -> Row {
        Row {
            round,
            cell,
            outcome,
            served: None,
            has_own_server: false,
            server_life: 0,
            cells_before: None,
            probe_calls: 0,
            server_notes: BTreeMap::new(),
            backend_notes: BTreeMap::new(),
            backend_served: None,
        }
    }

    /// Whether both rows were measured against the same server process.
    pub fn shares_server_with(&self, other: &Row) -> bool {
        let same_round = self.round == other.round && self.cell.subject == other.cell.subject;
        let shared =
            !self.has_own_server && !other.has_own_server && self.server_life == other.server_life;
        let is_alike = || shared && self.cell.case.transport == other.cell.case.transport;
        same_round && (self.cell == other.cell || is_alike())
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, has_own_server: bool) -> Row {
        let cell = CellId {
            subject: "a".to_owned(),
            case: case.parse().expect("a case"),
            instrument: "i".to_owned(),
        };
        Row { has_own_server, ..Row::new(3, cell, Outcome::failed("x")) }
    }

    #[test]
    fn cells_of_a_round_share_a_server_unless_they_have_their_own() {
        let (first, second) = (row("C=1 S=1", false), row("C=1 S=2", false));
        let (own, alike) = (row("C=1 S=3", true), row("C=1 S=4", true));
        assert!(first.shares_server_with(&second) && own.shares_server_with(&own));
        assert!(!own.shares_server_with(&alike) && !first.shares_server_with(&own));
        let (tls, more) = (row("C=1 S=1 tls", false), row("C=1 S=2 tls", false));
        assert!(tls.shares_server_with(&more) && !tls.shares_server_with(&first));
        let again = Row { server_life: 2, ..row("C=1 S=2", false) };
        assert!(!first.shares_server_with(&again), "it had died");
        let later = Row { round: 4, ..row("C=1 S=1", false) };
        assert!(!first.shares_server_with(&later));
    }

    #[test]
    fn who_spins_is_kept_where_somebody_does() {
        let asleep = serde_json::to_string(&Measurement::default()).expect("JSON");
        assert!(!asleep.contains("spinning"), "{asleep}");
        let spun = Measurement {
            spinning: Spinning { server: false, generator: true },
            ..Measurement::default()
        };
        let text = serde_json::to_string(&spun).expect("JSON");
        let read: Measurement = serde_json::from_str(&text).expect("readable");
        assert_eq!(read, spun);
        assert!(!read.tested_end_spins());
        let ends = Ends { side: TestedEnd::Client, ..Ends::default() };
        let of_client = Measurement { ends, ..read };
        assert!(of_client.tested_end_spins());
    }

    #[test]
    fn a_row_that_failed_keeps_its_window_and_an_old_one_has_none() {
        let old = r#"{"outcome":"failed","error":"x"}"#;
        let read: Outcome = serde_json::from_str(old).expect("readable");
        assert_eq!((&read, read.window()), (&Outcome::failed("x"), None));
        assert_eq!(serde_json::to_string(&read).expect("JSON"), old);

        let window = Measurement { laps: Some(77), ..Measurement::default() };
        let mut kept = Outcome::Measured(Box::new(window));
        kept.fail("x");
        assert!(matches!(kept, Outcome::Failed { .. }));
        let text = serde_json::to_string(&kept).expect("JSON");
        let read: Outcome = serde_json::from_str(&text).expect("readable");
        assert_eq!(read.window().and_then(|window| window.laps), Some(77));
    }

    #[test]
    fn a_measurement_of_an_earlier_version_is_one_of_a_server() {
        let mut json = serde_json::to_value(Measurement::default()).expect("JSON");
        let fields = json.as_object_mut().expect("an object");
        for new in [
            "side",
            "client_cpu_mean",
            "client_cpu_max",
            "client_cpu_limit",
            "opposite",
            "backend",
            "notes",
        ] {
            assert!(fields.remove(new).is_some(), "{new}");
        }
        let read: Measurement = serde_json::from_value(json).expect("readable");
        assert_eq!(read, Measurement::default());
    }
}
