//! What of a measured cell can stand in a published column.

use super::figures::CellFigures;
use bookend_results::measurement::Measurement;
use std::fmt;
use std::str::FromStr;

/// A figure of a cell: the median of its rounds, or for latencies one of the merged histogram
/// (docs/measure/metrics.md).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// One that has no parameter, by its name.
    Plain(Plain),
    /// `latency_pN`: the latency that so many thousandths of a percent did not exceed.
    Percentile {
        /// `99900` for `latency_p99_9`.
        millipercent: u32,
    },
    /// `errors.CODE`: calls that ended with that code.
    Errors(String),
}

/// Figures without a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// `connections`: C.
    Connections,
    /// `concurrency`: S.
    Concurrency,
    /// `requests_per_second`: OK calls over the window.
    RequestsPerSecond,
    /// `calls_per_second`: calls however they ended, over the window.
    CallsPerSecond,
    /// `count`: calls however they ended.
    Count,
    /// `ok`: calls that ended with OK.
    Ok,
    /// `total_time`: length of the window.
    TotalTime,
    /// `latency_mean`: of OK calls.
    LatencyMean,
    /// `latency_mean_all`: of all calls, each timed-out one with its deadline.
    LatencyMeanAll,
    /// `latency_min`.
    LatencyMin,
    /// `latency_max`.
    LatencyMax,
    /// `server_cpu_mean`.
    ServerCpuMean,
    /// `server_cpu_max`.
    ServerCpuMax,
    /// `client_cpu_mean`.
    ClientCpuMean,
    /// `client_cpu_max`.
    ClientCpuMax,
    /// `memory_mean`.
    MemoryMean,
    /// `memory_peak`.
    MemoryPeak,
    /// `threads` of the end under test.
    Threads,
    /// `backend_cpu_mean`.
    BackendCpuMean,
    /// `backend_memory_peak`.
    BackendMemoryPeak,
    /// `requests_per_read`.
    RequestsPerRead,
    /// `cost_ratio`: requests per CPU-second over those of the baseline.
    CostRatio,
}

const PLAIN: [(&str, Plain); 22] = [
    ("connections", Plain::Connections),
    ("concurrency", Plain::Concurrency),
    ("requests_per_second", Plain::RequestsPerSecond),
    ("calls_per_second", Plain::CallsPerSecond),
    ("count", Plain::Count),
    ("ok", Plain::Ok),
    ("total_time", Plain::TotalTime),
    ("latency_mean", Plain::LatencyMean),
    ("latency_mean_all", Plain::LatencyMeanAll),
    ("latency_min", Plain::LatencyMin),
    ("latency_max", Plain::LatencyMax),
    ("server_cpu_mean", Plain::ServerCpuMean),
    ("server_cpu_max", Plain::ServerCpuMax),
    ("client_cpu_mean", Plain::ClientCpuMean),
    ("client_cpu_max", Plain::ClientCpuMax),
    ("memory_mean", Plain::MemoryMean),
    ("memory_peak", Plain::MemoryPeak),
    ("threads", Plain::Threads),
    ("backend_cpu_mean", Plain::BackendCpuMean),
    ("backend_memory_peak", Plain::BackendMemoryPeak),
    ("requests_per_read", Plain::RequestsPerRead),
    ("cost_ratio", Plain::CostRatio),
];

impl Metric {
    /// The figure in its base unit: nanoseconds, bytes, a second, CPUs, or a plain number.
    pub(super) fn of(&self, figures: &CellFigures<'_>) -> Option<f64> {
        let value = match self {
            Self::Plain(plain) => plain.of(figures),
            Self::Percentile { millipercent } => {
                figures.percentile_ns(f64::from(*millipercent) / 1000.0)
            }
            Self::Errors(code) => figures.middle(|round| {
                let count = round.errors.get(code).copied();
                Some(count.unwrap_or(0) as f64)
            }),
        };
        value.filter(|value| value.is_finite())
    }
}

impl Plain {
    fn of(self, figures: &CellFigures<'_>) -> Option<f64> {
        let summary = figures.summary;
        match self {
            Self::Connections => Some(f64::from(figures.case.connections)),
            Self::Concurrency => Some(f64::from(figures.case.concurrency)),
            Self::RequestsPerSecond => Some(summary.requests_per_second),
            Self::CallsPerSecond => figures.middle(|round| Some(all(round) / round.window_seconds)),
            Self::Count => figures.middle(|round| Some(all(round))),
            Self::Ok => figures.middle(|round| Some(round.ok as f64)),
            Self::TotalTime => figures.middle(|round| Some(round.window_seconds * 1e9)),
            Self::LatencyMean => figures.latency().map(|latency| latency.mean_ns),
            Self::LatencyMeanAll => figures.mean_of_all_ns(),
            Self::LatencyMin => figures.latency().map(|latency| latency.min_ns),
            Self::LatencyMax => figures.latency().map(|latency| latency.max_ns),
            Self::ServerCpuMean => Some(summary.server_cpu),
            Self::ServerCpuMax => figures.middle(|round| Some(round.server_cpu_max)),
            Self::ClientCpuMean => figures.middle(|round| Some(round.client_cpu())),
            Self::ClientCpuMax => figures.middle(|round| round.client_cpu_max),
            Self::MemoryMean => Some(summary.memory_mean_bytes),
            Self::MemoryPeak => figures.middle(|round| Some(round.memory_peak_bytes as f64)),
            Self::Threads => figures.middle(|round| Some(f64::from(round.threads))),
            Self::BackendCpuMean => figures.middle(backend_cpu_mean),
            Self::BackendMemoryPeak => {
                figures.middle(|round| Some(round.backend.as_ref()?.memory_peak_bytes as f64))
            }
            Self::RequestsPerRead => summary.requests_per_read,
            Self::CostRatio => summary.cost_ratio.ratio().map(|ratio| ratio.median),
        }
    }
}

/// Calls of a window however they ended.
fn all(round: &Measurement) -> f64 {
    (round.ok + round.errors.values().sum::<u64>()) as f64
}

fn backend_cpu_mean(round: &Measurement) -> Option<f64> {
    Some(round.backend.as_ref()?.cpu_seconds / round.window_seconds)
}

impl FromStr for Metric {
    type Err = NoMetric;

    fn from_str(name: &str) -> Result<Self, NoMetric> {
        if let Some((_, plain)) = PLAIN.iter().find(|(known, _)| *known == name) {
            return Ok(Self::Plain(*plain));
        }
        if let Some(code) = name.strip_prefix("errors.").filter(|code| !code.is_empty()) {
            return Ok(Self::Errors(code.to_owned()));
        }
        let percentile = name.strip_prefix("latency_p").and_then(millipercent);
        percentile
            .map(|millipercent| Self::Percentile { millipercent })
            .ok_or_else(|| NoMetric(name.to_owned()))
    }
}

/// `99_9` is 99,900 thousandths of a percent.
fn millipercent(digits: &str) -> Option<u32> {
    let percent: f64 = digits.replacen('_', ".", 1).parse().ok()?;
    let within = percent > 0.0 && percent <= 100.0;
    within.then_some((percent * 1000.0).round() as u32)
}

/// There is no metric of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMetric(String);

impl fmt::Display for NoMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = PLAIN.map(|(name, _)| name).join(", ");
        write!(
            f,
            "there is no metric `{}`: write one of {names}, latency_pN, errors.CODE, or `none` \
             where nothing of ours is the same",
            self.0
        )
    }
}

impl std::error::Error for NoMetric {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_known_by_name() {
        let read = |name: &str| name.parse::<Metric>();
        assert_eq!(read("ok"), Ok(Metric::Plain(Plain::Ok)));
        let percentile = |millipercent| Ok(Metric::Percentile { millipercent });
        assert_eq!(read("latency_p50"), percentile(50_000));
        assert_eq!(read("latency_p99_9"), percentile(99_900));
        let code = "DEADLINE_EXCEEDED".to_owned();
        assert_eq!(read("errors.DEADLINE_EXCEEDED"), Ok(Metric::Errors(code)));
        for name in [
            "speed",
            "latency_p",
            "latency_p101",
            "errors.",
            "latency_px",
        ] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}
