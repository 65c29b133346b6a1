//! From what a run recorded to its report, and from the report to text for people.

mod date;
mod status;
mod text;

pub use text::text;

use crate::options::Options;
use bookend_contract::report::{Bucket, Extension, LatencyAt, LoadReport, SCHEMA_VERSION};
use bookend_contract::{code, latency};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The percentages that ghz reports, and 99.9 after them.
const PERCENTAGES: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Steps from fastest to slowest in ghz's histogram; there is one edge more than steps.
const STEPS: u32 = 10;

/// What a run recorded, over all its threads. Counts and CPU belong to the window unless they
/// say otherwise.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Start of the run.
    pub started: SystemTime,
    /// Why the run ended.
    pub end_reason: EndReason,
    /// Length of the window.
    pub window: Duration,
    /// Length of the warm-up.
    pub warmup_length: Duration,
    /// Latencies of OK calls, and of failed ones with `--count-errors`, in nanoseconds.
    pub latency_ns: Histogram<u64>,
    /// Calls that ended OK.
    pub ok: u64,
    /// Calls that ended otherwise, by gRPC status code and message.
    pub failures: BTreeMap<(u32, String), u64>,
    /// Calls answered before the window.
    pub warmup: u64,
    /// Calls answered after the window.
    pub drained: u64,
    /// Calls sent but neither answered nor failed at the end of the drain.
    pub unfinished: u64,
    /// CPU time of this process in user mode.
    pub cpu_user: Duration,
    /// CPU time of this process in the kernel.
    pub cpu_system: Duration,
    /// Time in turns that did work, kernel included, summed over threads.
    pub busy: Duration,
    /// Worker threads.
    pub threads: u32,
    /// Requests sent.
    pub requests_sent: u64,
    /// Writes that carried them.
    pub writes: u64,
    /// Responses received.
    pub responses_received: u64,
    /// Reads that carried them.
    pub reads: u64,
    /// Connections made in the whole run, reconnections included.
    pub connections_opened: u64,
    /// Largest resident set of this process, bytes.
    pub memory_peak_bytes: u64,
    /// The driver that was used: `blocking` or `epoll`.
    pub io: &'static str,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// All calls were made.
    Normal,
    /// The user interrupted it.
    Cancel,
    /// The time was up.
    Timeout,
}

impl EndReason {
    fn word(self) -> &'static str {
        match self {
            EndReason::Normal => "normal",
            EndReason::Cancel => "cancel",
            EndReason::Timeout => "timeout",
        }
    }
}

/// The report of a run. The same records make the same report, byte for byte.
pub fn build_report(options: &Options, recorded: &Recorded) -> LoadReport {
    let failed: u64 = recorded.failures.values().sum();
    let count = recorded.ok + failed;
    let latencies = &recorded.latency_ns;
    LoadReport {
        name: options.name.clone(),
        date: date::rfc3339(recorded.started),
        end_reason: recorded.end_reason.word().to_owned(),
        options: options.echo(),
        count,
        total: nanoseconds(recorded.window),
        average: latencies.mean() as u64,
        fastest: fastest(latencies),
        slowest: latencies.max(),
        rps: ratio(count as f64, recorded.window.as_secs_f64()),
        error_distribution: error_distribution(recorded),
        status_code_distribution: status_code_distribution(recorded),
        latency_distribution: latency_distribution(latencies),
        histogram: buckets(latencies),
        tags: options.tags.clone(),
        bookend: extension(recorded),
    }
}

fn extension(recorded: &Recorded) -> Extension {
    let cpu_user_seconds = recorded.cpu_user.as_secs_f64();
    let cpu_system_seconds = recorded.cpu_system.as_secs_f64();
    let cpu_seconds = cpu_user_seconds + cpu_system_seconds;
    Extension {
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cpu_user_seconds,
        cpu_system_seconds,
        busy_seconds: recorded.busy.as_secs_f64(),
        threads: recorded.threads,
        window_seconds: recorded.window.as_secs_f64(),
        warmup_seconds: recorded.warmup_length.as_secs_f64(),
        ok: recorded.ok,
        errors: errors_by_code(recorded),
        warmup: recorded.warmup,
        drained: recorded.drained,
        unfinished: recorded.unfinished,
        requests_per_cpu_second: ratio(recorded.ok as f64, cpu_seconds),
        requests_per_write: ratio(recorded.requests_sent as f64, recorded.writes as f64),
        requests_per_read: ratio(recorded.responses_received as f64, recorded.reads as f64),
        connections_opened: recorded.connections_opened,
        latency_histogram: latency::encode(&recorded.latency_ns),
        memory_peak_bytes: recorded.memory_peak_bytes,
        io: recorded.io.to_owned(),
    }
}

fn errors_by_code(recorded: &Recorded) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for ((number, _), count) in &recorded.failures {
        *errors.entry(code::name(*number).to_owned()).or_default() += count;
    }
    errors
}

/// Messages in the words of grpc-go, which are those of ghz.
fn error_distribution(recorded: &Recorded) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for ((number, message), count) in &recorded.failures {
        let status = status::name_in_go(*number);
        *errors
            .entry(format!("rpc error: code = {status} desc = {message}"))
            .or_default() += count;
    }
    errors
}

fn status_code_distribution(recorded: &Recorded) -> BTreeMap<String, u64> {
    let mut statuses = BTreeMap::new();
    if recorded.ok > 0 {
        statuses.insert("OK".to_owned(), recorded.ok);
    }
    for ((number, _), count) in &recorded.failures {
        *statuses.entry(status::name_in_go(*number)).or_default() += count;
    }
    statuses
}

/// Zero where nothing was recorded, as for the other figures.
fn fastest(latencies: &Histogram<u64>) -> u64 {
    if latencies.is_empty() {
        0
    } else {
        latencies.min()
    }
}

fn latency_distribution(latencies: &Histogram<u64>) -> Vec<LatencyAt> {
    if latencies.is_empty() {
        return Vec::new();
    }
    let at = |percentage| LatencyAt {
        percentage,
        latency: latencies.value_at_percentile(percentage),
    };
    PERCENTAGES.map(at).to_vec()
}

/// ghz's buckets: the first edge is the fastest call, the last one the slowest, and a call
/// belongs to the first edge that is not below it.
fn buckets(latencies: &Histogram<u64>) -> Vec<Bucket> {
    if latencies.is_empty() {
        return Vec::new();
    }
    let (fastest_ns, slowest_ns) = (latencies.min(), latencies.max());
    let step_ns = (slowest_ns - fastest_ns) as f64 / f64::from(STEPS);
    let mut edges_ns: Vec<f64> = (0..STEPS)
        .map(|step| fastest_ns as f64 + step_ns * f64::from(step))
        .collect();
    edges_ns.push(slowest_ns as f64);
    let mut counts = vec![0u64; edges_ns.len()];
    let mut edge = 0;
    for recorded in latencies.iter_recorded() {
        // The lower end of the range that HdrHistogram cannot tell apart: the fastest call is
        // reported by that end too, and has to fall on the first edge.
        let latency_ns = latencies.lowest_equivalent(recorded.value_iterated_to()) as f64;
        while edge + 1 < edges_ns.len() && latency_ns > edges_ns[edge] {
            edge += 1;
        }
        counts[edge] += recorded.count_since_last_iteration();
    }
    let total = latencies.len() as f64;
    edges_ns
        .iter()
        .zip(counts)
        .map(|(edge_ns, count)| Bucket {
            mark: edge_ns / 1e9,
            count,
            frequency: ratio(count as f64, total),
        })
        .collect()
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Zero where there is nothing to divide by: JSON has no word for infinity.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}
