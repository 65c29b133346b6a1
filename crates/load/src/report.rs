//! From what a run recorded to its report.

use crate::plan::{LoadPlan, ReportLabels, ReportedPlan};
use crate::record::{
    ErrorCounts, Latencies, OpenLoopCalls, SetupLatencies, StreamMessages, TargetOutcome,
};
use crate::run::LoadOutcome;
use bookend_contract::capacity::{self, Capacity, CapacityReport};
use bookend_contract::latency;
use bookend_contract::limit::limit;
use bookend_contract::report::{
    Bucket, Extension, LatencyAt, LatencySplit, LoadOrigin, LoadReport, OpenLoopReport,
    SCHEMA_VERSION, SplitPart, StreamReport, TargetReport,
};
use bookend_contract::timestamp::Timestamp;
use bookend_wire::grpc::Code;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The percentages that ghz reports, and 99.9 after them.
const PERCENTAGES: [f64; 8] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Steps from fastest to slowest in ghz's histogram; there is one edge more than steps.
const STEPS: u32 = 10;

const NANOSECONDS_A_SECOND: f64 = 1e9;

/// The report of a run, but for its calls one by one ([`LoadOutcome::calls`]). The same outcome
/// makes the same report, byte for byte.
pub fn build_report(plan: &LoadPlan, started: SystemTime, outcome: &LoadOutcome) -> LoadReport {
    report_of(&plan.reported(), started, outcome)
}

/// The same of what a report says of a plan.
pub fn report_of(plan: &ReportedPlan, started: SystemTime, outcome: &LoadOutcome) -> LoadReport {
    let latencies = outcome.latencies_to_report();
    let count = outcome.ok + outcome.errors.total();
    let mut report = LoadReport {
        name: plan.labels.name.clone(),
        date: Timestamp::from(started).to_string(),
        end_reason: end_reason(plan.calls, outcome.cancelled, count).to_owned(),
        options: plan.labels.options.clone(),
        count,
        total: outcome.window_ns,
        average: latencies.mean_ns(),
        fastest: fastest_ns(latencies),
        slowest: latencies.max_ns,
        rps: ratio(count as f64, seconds(outcome.window_ns)),
        error_distribution: outcome.errors.by_text.clone(),
        status_code_distribution: statuses(outcome),
        latency_distribution: latency_distribution(latencies),
        histogram: buckets(latencies),
        tags: plan.labels.tags.clone(),
        bookend: extension(plan, outcome, count),
    };
    report.bookend.limit = limit(&report);
    report
}

/// The report of a search of the capacity.
pub fn capacity_report(
    labels: &ReportLabels,
    started: SystemTime,
    found: Capacity,
    origin: LoadOrigin,
) -> CapacityReport {
    CapacityReport {
        schema_version: capacity::SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: labels.name.clone(),
        date: Timestamp::from(started).to_string(),
        options: labels.options.clone(),
        found,
        origin,
    }
}

/// ghz's words: `timeout` is a run that ended on time, which is nothing bad.
fn end_reason(calls: Option<u64>, cancelled: bool, count: u64) -> &'static str {
    let all_made = calls.is_some_and(|calls| count >= calls);
    match (cancelled, all_made) {
        (true, _) => "cancel",
        (false, true) => "normal",
        (false, false) => "timeout",
    }
}

fn extension(plan: &ReportedPlan, outcome: &LoadOutcome, count: u64) -> Extension {
    let cpu_seconds = outcome.cpu_user_seconds + outcome.cpu_system_seconds;
    Extension {
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cpu_user_seconds: outcome.cpu_user_seconds,
        cpu_system_seconds: outcome.cpu_system_seconds,
        busy_seconds: seconds(outcome.driver.busy_ns),
        threads: plan.threads,
        cpu_quota: outcome.cpu_quota,
        generator_stops: Some(outcome.stops).filter(|stops| stops.count > 0),
        window_seconds: seconds(outcome.window_ns),
        warmup_seconds: Duration::from_nanos(plan.warmup_ns).as_secs_f64(),
        ok: outcome.ok,
        errors: by_name(&outcome.errors, Code::name),
        warmup: outcome.warmup,
        drained: outcome.drained,
        unfinished: outcome.unfinished,
        never_came_back: outcome.never_came_back(),
        in_flight_at_end: Some((&outcome.in_flight_at_end).into()),
        requests_per_cpu_second: ratio(outcome.ok as f64, cpu_seconds),
        requests_per_write: ratio(count as f64, outcome.driver.writes as f64),
        requests_per_read: ratio(count as f64, outcome.driver.reads as f64),
        connections_opened: outcome.connections_opened,
        targets: targets(&plan.labels.targets, outcome),
        latency_histogram: latency::encode(&outcome.latencies_to_report().histogram),
        memory_peak_bytes: outcome.memory_peak_bytes,
        io: plan.driver.clone(),
        wait: plan.wait.clone(),
        split: outcome.setup.as_ref().map(|setup| split(setup, &outcome.latencies)),
        open_loop: outcome.open_loop.as_ref().map(|calls| open_loop(plan, calls, outcome)),
        streams: outcome.streams.as_ref().map(|messages| streams(messages, outcome, cpu_seconds)),
        source_addresses: outcome.sources_used,
        connections_given_up: outcome.connections_given_up,
        goaways: outcome.goaways.clone(),
        streams_allowed: outcome.streams_allowed,
        intervals: outcome.intervals.clone(),
        latency_intervals: None,
        fleet: None,
        limit: None,
        gates: Vec::new(),
        origin: None,
    }
}

fn open_loop(plan: &ReportedPlan, calls: &OpenLoopCalls, outcome: &LoadOutcome) -> OpenLoopReport {
    let not_made =
        calls.not_made().map(|(obstacle, count)| (obstacle.to_string(), count)).collect();
    OpenLoopReport {
        due: calls.due(),
        made: calls.made,
        waited: calls.waited,
        not_made,
        from_intended: part(&calls.from_intended),
        from_start: part(&outcome.latencies),
        lag: part(&calls.lag),
        due_by_interval: due_by_interval(plan, outcome).unwrap_or_default(),
    }
}

/// Calls that the schedule makes due in each interval: what was counted would not do, for a call
/// that waits for room is made later. The warm-up has the rate with which the window begins.
fn due_by_interval(plan: &ReportedPlan, outcome: &LoadOutcome) -> Option<Vec<u64>> {
    let (schedule, intervals) = (plan.schedule.as_ref()?, outcome.intervals.as_ref()?);
    let generators = f64::from(plan.generators);
    let width_s = Duration::from_millis(intervals.interval_ms).as_secs_f64();
    let warmup_s = width_s * intervals.window_start as f64;
    let last = plan.calls.map_or(f64::INFINITY, |calls| calls as f64 * generators);
    // Since the window began; negative before it.
    let calls_until = |time_s: f64| match time_s < 0.0 {
        true => (schedule.rate_at(0.0) * time_s).ceil(),
        false => schedule.calls_until(time_s).min(last).ceil(),
    };
    let due = (0..intervals.counts.len()).map(|place| {
        let start_s = width_s * place as f64 - warmup_s;
        ((calls_until(start_s + width_s) - calls_until(start_s)) / generators).round() as u64
    });
    Some(due.collect())
}

fn streams(messages: &StreamMessages, outcome: &LoadOutcome, cpu_seconds: f64) -> StreamReport {
    let there = |latencies: &Latencies| (!latencies.histogram.is_empty()).then(|| part(latencies));
    let window_seconds = seconds(outcome.window_ns);
    let all = (messages.sent + messages.received) as f64;
    StreamReport {
        sent: messages.sent,
        received: messages.received,
        sent_per_second: ratio(messages.sent as f64, window_seconds),
        received_per_second: ratio(messages.received as f64, window_seconds),
        messages_per_cpu_second: ratio(all, cpu_seconds),
        first_message: there(&messages.first_message),
        gap: there(&messages.gaps),
        answer: there(&messages.answers),
        stalls: messages.stalls.histogram.len(),
        stall: there(&messages.stalls),
    }
}

fn split(setup: &SetupLatencies, latencies: &Latencies) -> LatencySplit {
    LatencySplit {
        connect: part(&setup.connect),
        tls: (!setup.tls.histogram.is_empty()).then(|| part(&setup.tls)),
        first_byte: part(&setup.first_byte),
        total: part(latencies),
    }
}

fn part(latencies: &Latencies) -> SplitPart {
    SplitPart {
        mean_ns: latencies.mean_ns(),
        p50_ns: latencies.at(50.0),
        p90_ns: latencies.at(90.0),
        p99_ns: latencies.at(99.0),
        max_ns: latencies.max_ns,
        histogram: latency::encode(&latencies.histogram),
    }
}

/// A run with one target has no rows: a single one would repeat the run.
fn targets(names: &[String], outcome: &LoadOutcome) -> Vec<TargetReport> {
    if outcome.targets.len() < 2 {
        return Vec::new();
    }
    let row = |target: &TargetOutcome| TargetReport {
        target: names[target.name].clone(),
        address: target.address.clone(),
        connections_opened: target.connections_opened,
        ok: target.calls.ok,
        failed: target.calls.failed,
    };
    outcome.targets.iter().map(row).collect()
}

fn by_name(errors: &ErrorCounts, name: fn(Code) -> &'static str) -> BTreeMap<String, u64> {
    let named = |(code, count): (&Code, &u64)| (name(*code).to_owned(), *count);
    errors.by_code.iter().map(named).collect()
}

fn statuses(outcome: &LoadOutcome) -> BTreeMap<String, u64> {
    let ok = (outcome.ok > 0).then(|| ("OK".to_owned(), outcome.ok));
    by_name(&outcome.errors, Code::name_in_go).into_iter().chain(ok).collect()
}

/// Zero where nothing was recorded, like the other figures.
fn fastest_ns(latencies: &Latencies) -> u64 {
    if latencies.histogram.is_empty() { 0 } else { latencies.min_ns }
}

fn latency_distribution(latencies: &Latencies) -> Vec<LatencyAt> {
    if latencies.histogram.is_empty() {
        return Vec::new();
    }
    let at = |percentage| LatencyAt { percentage, latency: latencies.at(percentage) };
    PERCENTAGES.map(at).to_vec()
}

/// ghz's buckets: the first edge is the fastest call, the last one the slowest, and a call
/// belongs to the first edge that is not below it.
fn buckets(latencies: &Latencies) -> Vec<Bucket> {
    let histogram = &latencies.histogram;
    if histogram.is_empty() {
        return Vec::new();
    }
    let edges_ns = edges_ns(latencies.min_ns as f64, latencies.max_ns as f64);
    let mut counts = vec![0u64; edges_ns.len()];
    let mut edge = 0;
    for recorded in histogram.iter_recorded() {
        // The lower end of the step, so that the fastest call is not above its own edge.
        let latency_ns = histogram.lowest_equivalent(recorded.value_iterated_to()) as f64;
        while edge + 1 < edges_ns.len() && latency_ns > edges_ns[edge] {
            edge += 1;
        }
        counts[edge] += recorded.count_since_last_iteration();
    }
    let total = histogram.len() as f64;
    let bucket = |(edge_ns, count): (f64, u64)| Bucket {
        mark: edge_ns / NANOSECONDS_A_SECOND,
        count,
        frequency: ratio(count as f64, total),
    };
    edges_ns.into_iter().zip(counts).map(bucket).collect()
}

fn edges_ns(fastest_ns: f64, slowest_ns: f64) -> Vec<f64> {
    let step_ns = (slowest_ns - fastest_ns) / f64::from(STEPS);
    (0..STEPS)
        .map(|step| fastest_ns + step_ns * f64::from(step))
        .chain(std::iter::once(slowest_ns))
        .collect()
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / NANOSECONDS_A_SECOND
}

/// Zero where there is nothing to divide by: JSON has no word for infinity.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}
