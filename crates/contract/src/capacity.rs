//! The JSON of `bookend load --find-capacity`.

use crate::report::LoadOrigin;
use serde::{Deserialize, Serialize};

/// The version of [`CapacityReport`]. Raised when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// A search with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityReport {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The version of `bookend` that searched.
    pub version: String,
    /// The label given with `--name`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Start of the search, RFC 3339 in UTC.
    pub date: String,
    /// The flags in use, under ghz's names.
    pub options: serde_json::Value,
    /// What was found.
    #[serde(flatten)]
    pub found: Capacity,
    /// Where the search was made, and by which command.
    pub origin: LoadOrigin,
}

/// The highest rate of an open loop that keeps an objective, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The objective.
    pub objective: String,
    /// The highest rate that kept the objective, calls a second; `None` where none did.
    pub kept_rate: Option<f64>,
    /// Calls a second of that rate that were answered OK.
    #[serde(default)]
    pub kept_ok_per_second: Option<f64>,
    /// The lowest rate above it that did not keep it; `None` where the highest one tried did.
    pub missed_rate: Option<f64>,
    /// From the lowest rate of which a trial missed the objective to the highest of which one kept
    /// it, calls a second, where trials disagree.
    #[serde(default)]
    pub trials_disagree: Option<[f64; 2]>,
    /// Whether the generator was the limit: the server can do at least `kept_rate`.
    pub generator_was_limit: bool,
    /// Names of the agents that made the calls; empty where the command made them itself.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub agents: Vec<String>,
    /// The rates that were tried, from the lowest to the highest; one that missed the objective was
    /// tried again.
    pub trials: Vec<RateTrial>,
    /// Closed loops, by calls in flight.
    pub closed_loops: Vec<ClosedLoop>,
    /// How the server scales by those.
    pub fit: Option<ScalabilityFit>,
}

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateTrial {
    /// Calls a second by the schedule.
    pub rate: f64,
    /// Calls a second that were answered OK.
    pub ok_per_second: f64,
    /// Calls in flight on average: their rate times their mean latency.
    pub in_flight: f64,
    /// From when calls were due, nanoseconds.
    pub p50_ns: u64,
    /// From when calls were due, nanoseconds.
    pub p99_ns: u64,
    /// Share of the calls that failed or were never made.
    pub error_share: f64,
    /// Why the objective was missed; `None` where it was kept.
    pub missed: Option<String>,
}

/// Calls that wait for each other: the number in flight, and the rate that it gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosedLoop {
    /// Calls in flight.
    pub in_flight: u32,
    /// Calls a second that were answered OK.
    pub ok_per_second: f64,
    /// The share of the calls that ended without OK; 0 in results of earlier versions.
    #[serde(default)]
    pub error_share: f64,
}

/// How a server scales, fitted to closed loops: the Universal Scalability Law,
/// `X(N) = λN / (1 + σ(N-1) + κN(N-1))` (N. Gunther, *Guerrilla Capacity Planning*, chapter 4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalabilityFit {
    /// λ: calls a second with one in flight.
    pub alone_per_second: f64,
    /// σ: the share of a call that has to wait for others.
    pub contention: f64,
    /// κ: what each pair of calls costs in addition.
    pub coherency: f64,
    /// Calls in flight at which the rate is highest; `None` where it only approaches a limit.
    pub peak_in_flight: Option<f64>,
    /// The highest rate, or the limit that it approaches, calls a second; `None` without a limit.
    pub peak_per_second: Option<f64>,
    /// The share of the variance of the rates that the law explains: R².
    pub explained: f64,
}

impl ScalabilityFit {
    /// Calls a second with `in_flight` calls in flight.
    pub fn at(&self, in_flight: f64) -> f64 {
        let waits = self.contention * (in_flight - 1.0);
        let agrees = self.coherency * in_flight * (in_flight - 1.0);
        self.alone_per_second * in_flight / (1.0 + waits + agrees)
    }
}
