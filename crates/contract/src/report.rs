//! The JSON of `bookend load`: ghz's field names where ghz has them, ours under `bookend`.

use crate::build_facts::BuildFacts;
use crate::count;
use crate::fleet::FleetReport;
use crate::gate::JudgedGate;
use crate::generator_stops::GeneratorStops;
use crate::in_flight::InFlightAtEnd;
use crate::latency_intervals::LatencyIntervals;
use crate::machine::MachineFacts;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// The version of [`Extension`]. Raised when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of the load generator. Durations are integer nanoseconds, as in ghz. Where its calls are
/// listed one by one, they stand before the tags as `details`, which no reader needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadReport {
    /// The label given with `--name`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Start of the run, RFC 3339 in UTC.
    pub date: String,
    /// `normal`, `cancel` or `timeout`, as in ghz.
    pub end_reason: String,
    /// The flags in use, under ghz's names.
    pub options: serde_json::Value,
    /// Calls that ended inside the window, answered or failed.
    #[serde(deserialize_with = "count::deserialize")]
    pub count: u64,
    /// Length of the window, nanoseconds.
    pub total: u64,
    /// Mean latency of OK calls, nanoseconds.
    pub average: u64,
    /// Shortest latency of OK calls, nanoseconds.
    pub fastest: u64,
    /// Longest latency of OK calls, nanoseconds.
    pub slowest: u64,
    /// `count` divided by `total` in seconds.
    pub rps: f64,
    /// Failed calls by message.
    #[serde(deserialize_with = "count::deserialize_map")]
    pub error_distribution: BTreeMap<String, u64>,
    /// Calls by the gRPC status code's name as ghz prints it (`OK`, `Unavailable`).
    #[serde(deserialize_with = "count::deserialize_map")]
    pub status_code_distribution: BTreeMap<String, u64>,
    /// Latencies at 10, 25, 50, 75, 90, 95, 99 percent, and 99.9 after them.
    pub latency_distribution: Vec<LatencyAt>,
    /// Eleven buckets of equal width from fastest to slowest.
    pub histogram: Vec<Bucket>,
    /// Labels given with `--tags`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub tags: BTreeMap<String, String>,
    /// What ghz does not have.
    pub bookend: Extension,
}

/// A point of the latency distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyAt {
    /// Percent of the calls that were at most this slow. Whole numbers are written as such: readers
    /// of ghz's JSON expect integers.
    #[serde(serialize_with = "whole_if_possible")]
    pub percentage: f64,
    /// Nanoseconds.
    pub latency: u64,
}

fn whole_if_possible<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

/// A bar of the response time histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Upper edge, seconds.
    pub mark: f64,
    /// Calls in the bucket.
    pub count: u64,
    /// `count` over all calls in the histogram.
    pub frequency: f64,
}

/// What `bookend load` knows beyond ghz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of the `bookend` that ran.
    pub version: String,
    /// CPU time of this process in user mode over the window, seconds.
    pub cpu_user_seconds: f64,
    /// CPU time of this process in the kernel over the window, seconds.
    pub cpu_system_seconds: f64,
    /// Time of the event loops' iterations that did work, in the kernel too, over all worker
    /// threads, seconds.
    pub busy_seconds: f64,
    /// Worker threads.
    pub threads: u32,
    /// CPUs that the control groups of this process give it at most: a quota of Docker's or
    /// Kubernetes's. `None` without a quota.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_quota: Option<f64>,
    /// Times in the window in which this process did not run; `None` if it always ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generator_stops: Option<GeneratorStops>,
    /// Length of the window, seconds.
    pub window_seconds: f64,
    /// Length of the warm-up, seconds.
    pub warmup_seconds: f64,
    /// OK calls of the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub ok: u64,
    /// Failed calls of the window by gRPC code name in capitals (`UNAVAILABLE`).
    #[serde(deserialize_with = "count::deserialize_map")]
    pub errors: BTreeMap<String, u64>,
    /// Calls answered OK before the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub warmup: u64,
    /// Calls answered OK after the window while draining.
    #[serde(deserialize_with = "count::deserialize")]
    pub drained: u64,
    /// Calls sent that are in none of the other counts: without an answer at the end of the drain,
    /// or failed outside the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub unfinished: u64,
    /// Calls that never came back: they failed after the window, or had no answer at the end of the
    /// run when they had been in flight for longer than any that has one.
    #[serde(skip_serializing_if = "is_no_count", default, deserialize_with = "count::deserialize")]
    pub never_came_back: u64,
    /// Calls that the end of the window cut off.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_flight_at_end: Option<InFlightAtEnd>,
    /// `ok` over the CPU seconds of this process.
    pub requests_per_cpu_second: f64,
    /// Requests carried by one write, mean over the window.
    pub requests_per_write: f64,
    /// Responses carried by one read, mean over the window.
    pub requests_per_read: f64,
    /// Connections made in the whole run, reconnections included.
    pub connections_opened: u64,
    /// What each address has done, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub targets: Vec<TargetReport>,
    /// The latency histogram of OK calls in nanoseconds: HdrHistogram V2, base64.
    pub latency_histogram: String,
    /// Largest resident set of this process, bytes.
    pub memory_peak_bytes: u64,
    /// The driver that was used: `blocking`, `epoll` or `uring`.
    pub io: String,
    /// How the worker threads waited: `sleep`, or `spin`. With `spin` the CPU figures mean nothing,
    /// and [`Extension::busy_share`] is what the generator needed.
    #[serde(default = "sleep")]
    pub wait: String,
    /// What the OK calls of the window were made of, where each had a connection of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub split: Option<LatencySplit>,
    /// When calls should have been made, in an open loop; ghz's fields have latencies from then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub open_loop: Option<OpenLoopReport>,
    /// The messages of streaming calls, where the method has such.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub streams: Option<StreamReport>,
    /// Further loopback addresses that a worker's connections came from, because the first had no
    /// port left.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub source_addresses: u32,
    /// Connections of the whole run that were replaced because more calls were given up on them
    /// than a server lets be reset: meanwhile fewer calls were in flight than requested.
    #[serde(skip_serializing_if = "is_no_count", default)]
    pub connections_given_up: u64,
    /// Connections of the whole run that the server ended with GOAWAY, by its code and debug data.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub goaways: BTreeMap<String, u64>,
    /// The server's limit of streams for each connection (SETTINGS_MAX_CONCURRENT_STREAMS), where
    /// it delayed calls: fewer were in flight than requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub streams_allowed: Option<u32>,
    /// How the rate went over warm-up and window.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intervals: Option<Intervals>,
    /// How latencies went over the window, where that was followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_intervals: Option<LatencyIntervals>,
    /// The machines that made the run, where there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fleet: Option<Box<FleetReport>>,
    /// What kept the run from more, in words: [`crate::limit::limit`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<String>,
    /// The conditions of `--slo` and `--fail-if`, each with its outcome.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gates: Vec<JudgedGate>,
    /// Where the run was made, and by which command. `None` under the lab, which knows both.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin: Option<LoadOrigin>,
}

/// Where a run of the load generator was made, and how it is made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOrigin {
    /// The command, as a shell reads it.
    pub command: String,
    /// The machine on which the generator ran.
    pub machine: MachineFacts,
    /// The build of the generator. `None`: measured before this was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub build: Option<BuildFacts>,
}

impl LoadOrigin {
    /// The machine and the build, a fact a line.
    pub fn facts_text(&self) -> String {
        let build = self.build.as_ref().map_or("not recorded".to_owned(), BuildFacts::to_string);
        format!("{}Measured with: {build}\n", self.machine)
    }
}

/// [`Extension::wait`] of threads that sleep, as all did before there was a choice.
fn sleep() -> String {
    "sleep".to_owned()
}

fn is_no_count(count: &u64) -> bool {
    *count == 0
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The parts of calls that make and end a connection each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySplit {
    /// From just before the connection is requested until the transport is connected.
    pub connect: SplitPart,
    /// From there until both ends have agreed on keys and on HTTP/2; absent without TLS.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tls: Option<SplitPart>,
    /// From just before the write that carries the request's last byte to the return of the read
    /// that brings the head of the answer.
    pub first_byte: SplitPart,
    /// From just before the connection is requested until it is closed: the latency.
    pub total: SplitPart,
}

/// The calls of an open loop: those of the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLoopReport {
    /// Calls that were due by the schedule.
    #[serde(deserialize_with = "count::deserialize")]
    pub due: u64,
    /// Calls that were made.
    #[serde(deserialize_with = "count::deserialize")]
    pub made: u64,
    /// How many of these found no room when they were due, and were made later.
    #[serde(deserialize_with = "count::deserialize")]
    pub waited: u64,
    /// Calls that were due and never made, by what was in the way: `no connection`, `stream limit`,
    /// `in-flight limit`, `generator`.
    #[serde(deserialize_with = "count::deserialize_map")]
    pub not_made: BTreeMap<String, u64>,
    /// Latencies of the OK calls from when they were due.
    pub from_intended: SplitPart,
    /// Latencies of the OK calls from when they were made, which a closed loop would have shown.
    pub from_start: SplitPart,
    /// How much later than they were due calls were made that found room at once.
    pub lag: SplitPart,
    /// Calls that the schedule makes due in each of [`Extension::intervals`], on average where they
    /// come at random times. Empty where an earlier version measured.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        default,
        deserialize_with = "count::deserialize_list"
    )]
    pub due_by_interval: Vec<u64>,
}

/// The messages of streaming calls: those of the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Request messages that were written.
    #[serde(deserialize_with = "count::deserialize")]
    pub sent: u64,
    /// Response messages that came whole.
    #[serde(deserialize_with = "count::deserialize")]
    pub received: u64,
    /// `sent` over the window, messages a second.
    pub sent_per_second: f64,
    /// `received` over the window, messages a second.
    pub received_per_second: f64,
    /// Messages in both directions over the CPU seconds of this process.
    pub messages_per_cpu_second: f64,
    /// From the start of a call until its first response message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message: Option<SplitPart>,
    /// From one response message of a call until the next; 0 for those that come in one read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap: Option<SplitPart>,
    /// From each request message of a bidirectional call until the response message of the same
    /// number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<SplitPart>,
    /// How often flow control kept a request message from being written.
    #[serde(deserialize_with = "count::deserialize")]
    pub stalls: u64,
    /// How long it did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stall: Option<SplitPart>,
}

/// One part over all calls, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitPart {
    /// Arithmetic mean.
    pub mean_ns: u64,
    /// Half of the calls took no longer.
    pub p50_ns: u64,
    /// 90 percent of the calls took no longer.
    pub p90_ns: u64,
    /// 99 percent of the calls took no longer.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// HdrHistogram V2, base64.
    pub histogram: String,
}

impl Extension {
    /// The share of the time that its threads could work in which they did; 0 without threads or
    /// window. A thread whose quota is used up waits like one that has nothing to do, so the time
    /// that it could work is what the quota gives.
    pub fn busy_share(&self) -> f64 {
        let threads = f64::from(self.threads);
        let could = self.cpu_quota.map_or(threads, |cpus| cpus.min(threads)) * self.window_seconds;
        if could > 0.0 { (self.worked_seconds() / could).min(1.0) } else { 0.0 }
    }

    /// Time in which its threads worked, seconds: that of turns that did work. Where a quota
    /// rations it, what falling asleep and waking up costs is used up as well, so it is no less
    /// than the CPU time, unless that is of spinning.
    pub fn worked_seconds(&self) -> f64 {
        let is_rationed = self.cpu_quota.is_some_and(|cpus| cpus < f64::from(self.threads));
        let used = self.cpu_user_seconds + self.cpu_system_seconds;
        let is_told_by_cpu_time = is_rationed && self.wait != "spin";
        if is_told_by_cpu_time { self.busy_seconds.max(used) } else { self.busy_seconds }
    }
}

impl LatencySplit {
    /// The parts that are there, with their names.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &SplitPart)> {
        let tls = self.tls.as_ref().map(|tls| ("tls", tls));
        std::iter::once(("connect", &self.connect))
            .chain(tls)
            .chain([("first_byte", &self.first_byte), ("total", &self.total)])
    }
}

/// What one address of one target has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetReport {
    /// The target as it was typed.
    pub target: String,
    /// Its address.
    pub address: String,
    /// Connections made to it in the whole run.
    pub connections_opened: u64,
    /// OK calls of the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub ok: u64,
    /// Failed calls of the window.
    #[serde(deserialize_with = "count::deserialize")]
    pub failed: u64,
}

/// Calls answered OK in intervals of equal width that touch at the window's start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// Width of each, milliseconds.
    pub interval_ms: u64,
    /// Position in `counts` of the first interval of the window; those before are the warm-up.
    pub window_start: usize,
    /// Calls answered OK in each whole interval, in order.
    #[serde(deserialize_with = "count::deserialize_list")]
    pub counts: Vec<u64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::gate::{GateKind, GateOutcome};

    pub(crate) fn example() -> LoadReport {
        LoadReport {
            name: Some("two\nlines".to_owned()),
            date: "2024-01-31T00:00:00Z".to_owned(),
            end_reason: "normal".to_owned(),
            options: serde_json::json!({ "concurrency": 100 }),
            count: 11,
            total: 1_000_000_000,
            average: 1_500,
            fastest: 1_000,
            slowest: 2_000,
            rps: 11.0,
            error_distribution: BTreeMap::from([("refused".to_owned(), 1)]),
            status_code_distribution: BTreeMap::from([("OK".to_owned(), 10)]),
            latency_distribution: vec![LatencyAt { percentage: 99.9, latency: 2_000 }],
            histogram: vec![Bucket { mark: 0.000_002, count: 10, frequency: 1.0 }],
            tags: BTreeMap::new(),
            bookend: extension(),
        }
    }

    fn part(mean_ns: u64) -> SplitPart {
        SplitPart {
            mean_ns,
            p50_ns: mean_ns,
            p90_ns: mean_ns,
            p99_ns: mean_ns,
            max_ns: mean_ns,
            histogram: "HISTFAAA".to_owned(),
        }
    }

    fn open_loop() -> OpenLoopReport {
        OpenLoopReport {
            due: 15,
            made: 12,
            waited: 2,
            not_made: BTreeMap::from([("stream limit".to_owned(), 3)]),
            from_intended: part(80),
            from_start: part(70),
            lag: part(5),
            due_by_interval: vec![1; 15],
        }
    }

    fn streams() -> StreamReport {
        StreamReport {
            sent: 20,
            received: 30,
            sent_per_second: 20.0,
            received_per_second: 30.0,
            messages_per_cpu_second: 166.0,
            first_message: Some(part(40)),
            gap: Some(part(50)),
            answer: None,
            stalls: 1,
            stall: Some(part(60)),
        }
    }

    fn split() -> LatencySplit {
        LatencySplit {
            connect: part(10),
            tls: Some(part(20)),
            first_byte: part(30),
            total: part(70),
        }
    }

    fn origin() -> LoadOrigin {
        let machine = MachineFacts {
            os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
            kernel: "Linux 6.1.0".to_owned(),
            cpu_model: "unknown".to_owned(),
            cpus: 2,
            memory_bytes: 1 << 30,
            governor: None,
            virtual_machine: true,
            hardware: None,
        };
        LoadOrigin { command: "bookend load 127.0.0.1:50051".to_owned(), machine, build: None }
    }

    fn gate() -> JudgedGate {
        JudgedGate {
            kind: GateKind::Slo,
            condition: "p99<20ms".to_owned(),
            outcome: GateOutcome::Met,
            measured: "1.5ms".to_owned(),
        }
    }

    fn extension() -> Extension {
        Extension {
            schema_version: SCHEMA_VERSION,
            version: "0.1.0".to_owned(),
            cpu_user_seconds: 0.1,
            cpu_system_seconds: 0.2,
            busy_seconds: 0.3,
            threads: 1,
            cpu_quota: None,
            generator_stops: Some(GeneratorStops { count: 1, longest_ns: 1_500_000_000 }),
            window_seconds: 1.0,
            warmup_seconds: 0.5,
            ok: 10,
            errors: BTreeMap::from([("UNAVAILABLE".to_owned(), 1)]),
            warmup: 5,
            drained: 2,
            unfinished: 0,
            in_flight_at_end: Some(InFlightAtEnd { calls: 2, age_mean_ns: 9, age_max_ns: 11 }),
            requests_per_cpu_second: 33.3,
            requests_per_write: 50.0,
            requests_per_read: 49.5,
            connections_opened: 1,
            targets: vec![TargetReport {
                target: "dns:///backend:50051".to_owned(),
                address: "10.0.0.1:50051".to_owned(),
                connections_opened: 1,
                ok: 10,
                failed: 1,
            }],
            latency_histogram: "HISTFAAA".to_owned(),
            memory_peak_bytes: 1 << 20,
            io: "epoll".to_owned(),
            wait: "spin".to_owned(),
            split: Some(split()),
            open_loop: Some(open_loop()),
            streams: Some(streams()),
            source_addresses: 2,
            connections_given_up: 1,
            goaways: BTreeMap::from([("GOAWAY NO_ERROR".to_owned(), 1)]),
            streams_allowed: Some(100),
            limit: Some("the server".to_owned()),
            gates: vec![gate()],
            never_came_back: 1,
            intervals: Some(Intervals { interval_ms: 100, window_start: 5, counts: vec![1; 15] }),
            fleet: None,
            latency_intervals: Some(LatencyIntervals {
                interval_ms: 1_000,
                p50_ns: vec![Some(1_000), None],
                p99_ns: vec![Some(2_000), None],
            }),
            origin: Some(origin()),
        }
    }

    #[test]
    fn ghz_names_come_first_and_ours_stand_apart() {
        let json = serde_json::to_value(example()).unwrap();
        assert_eq!(json["endReason"], "normal");
        assert_eq!(json["statusCodeDistribution"]["OK"], 10);
        assert_eq!(json["latencyDistribution"][0]["percentage"], 99.9);
        assert_eq!(json["bookend"]["schema_version"], SCHEMA_VERSION);
    }

    #[test]
    fn a_report_of_before_intervals_and_goaways_were_counted_is_read() {
        let mut json = serde_json::to_value(example()).unwrap();
        assert_eq!(json["bookend"]["intervals"]["window_start"], 5);
        let newest = ["wait", "cpu_quota", "split", "source_addresses", "targets", "origin"];
        let newest = newest.iter().chain(&["limit", "gates", "never_came_back"]);
        let newer = [
            "intervals",
            "latency_intervals",
            "goaways",
            "streams_allowed",
            "in_flight_at_end",
            "generator_stops",
        ];
        for newer in newer.iter().chain(newest) {
            json["bookend"].as_object_mut().unwrap().remove(*newer);
        }
        json["bookend"]["open_loop"].as_object_mut().unwrap().remove("due_by_interval");
        let report: LoadReport = serde_json::from_value(json).unwrap();
        assert_eq!(report.bookend.intervals, None);
        assert_eq!(report.bookend.origin, None);
        assert_eq!((report.bookend.split, report.bookend.wait.as_str()), (None, "sleep"));
    }

    #[test]
    fn a_generator_is_busy_when_its_quota_is_used_up_however_idle_its_threads_look() {
        let spinning = |busy_seconds, cpu_quota| Extension {
            busy_seconds,
            cpu_quota,
            window_seconds: 2.0,
            ..extension()
        };
        let busy = |busy_seconds, cpu_quota| spinning(busy_seconds, cpu_quota).busy_share();
        assert_eq!(busy(0.2, None), 0.1);
        assert_eq!(busy(0.2, Some(0.1)), 1.0);
        assert_eq!(busy(0.5, Some(0.5)), 0.5);
        // What lies between two turns is kept from it too, and a quota above its threads has no
        // effect.
        assert_eq!(busy(1.9, Some(0.1)), 1.0);
        assert_eq!(busy(1.0, Some(4.0)), 0.5);
        // It used 0.3 s, to fall asleep and to wake up for the most part.
        let asleep = Extension { wait: "sleep".to_owned(), ..spinning(0.05, Some(0.15)) };
        assert_eq!(asleep.busy_share(), 1.0);
        assert_eq!(Extension { cpu_quota: None, ..asleep }.busy_share(), 0.025);
    }

    #[test]
    fn the_parts_of_a_call_have_names_and_tls_is_left_out_where_it_was_not() {
        let mut split = split();
        let names = |split: &LatencySplit| split.parts().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(&split), ["connect", "tls", "first_byte", "total"]);
        split.tls = None;
        assert_eq!(names(&split), ["connect", "first_byte", "total"]);
        assert!(serde_json::to_value(split).unwrap().get("tls").is_none());
    }

    #[test]
    fn a_report_that_counts_beyond_all_reason_is_refused() {
        let json = serde_json::to_value(example()).unwrap();
        let count = |pointer: &str| {
            let mut json = json.clone();
            *json.pointer_mut(pointer).unwrap() = (count::COUNT_MAX + 1).into();
            serde_json::from_value::<LoadReport>(json).unwrap_err()
        };
        for pointer in [
            "/count",
            "/errorDistribution/refused",
            "/statusCodeDistribution/OK",
            "/bookend/ok",
            "/bookend/errors/UNAVAILABLE",
            "/bookend/warmup",
            "/bookend/drained",
            "/bookend/unfinished",
            "/bookend/never_came_back",
            "/bookend/in_flight_at_end/calls",
            "/bookend/targets/0/ok",
            "/bookend/targets/0/failed",
            "/bookend/intervals/counts/3",
            "/bookend/open_loop/due_by_interval/3",
        ] {
            let error = count(pointer).to_string();
            assert!(error.contains("2^53"), "{pointer}: {error}");
        }
    }

    #[test]
    fn empty_tags_are_left_out_and_may_be_missing() {
        let json = serde_json::to_value(example()).unwrap();
        assert!(json.get("tags").is_none());
        assert_eq!(serde_json::from_value::<LoadReport>(json).unwrap(), example());
    }
}
