//! The metrics by name, in the order of exports.

use super::definition::{MetricDefinition, Pooling, Unit};
use crate::ratio::Ratios;
use crate::round::MeasuredRound;
use hdrhistogram::Histogram;

/// Declares each metric once: a static of its own, and its place in [`ALL`].
macro_rules! catalogue {
    ($(
        $variable:ident, $name:literal, $unit:ident, $pooling:ident($of:expr), $meaning:literal;
    )+) => {
        $(
            #[doc = $meaning]
            pub static $variable: MetricDefinition = MetricDefinition {
                name: $name,
                unit: Unit::$unit,
                meaning: $meaning,
                pooling: Pooling::$pooling($of),
            };
        )+

        /// Every listed metric.
        pub static ALL: &[&MetricDefinition] = &[$(&$variable,)+];
    };
}

catalogue! {
    CONNECTIONS, "connections", Number,
        Median(|round| Some(f64::from(round.row.cell.case.connections))),
        "C of the case";
    CONCURRENCY, "concurrency", Number,
        Median(|round| Some(f64::from(round.row.cell.case.concurrency))),
        "S of the case";
    REQUESTS_PER_SECOND, "requests_per_second", PerSecond,
        Median(|round| Some(round.window.requests_per_second())),
        "OK calls over the window: `req/s`";
    CALLS_PER_SECOND, "calls_per_second", PerSecond,
        Median(|round| Some(ended(round) / round.window.window_seconds)),
        "calls over the window however they ended, as ghz counts them";
    GOODPUT_PER_SECOND, "goodput_per_second", PerSecond,
        Median(|round| Some(round.window.requests_per_second())),
        "OK calls over `total_time`";
    REQUESTS_PER_CPU_SECOND, "requests_per_cpu_second", PerSecond,
        Median(|round| Some(round.window.requests_per_cpu_second())),
        "OK calls over the CPU seconds of the end under test: `req/CPU-s`";
    CPU_PER_CALL, "cpu_per_call", Nanoseconds,
        Median(|round| Some(round.window.cpu_ns_per_call())),
        "CPU time of the end under test over its OK calls: `CPU/call`";
    REQUESTS_PER_CLIENT_CPU_SECOND, "requests_per_client_cpu_second", PerSecond,
        Median(|round| Some(round.window.requests_per_client_cpu_second())),
        "OK calls over the CPU seconds of the calling end: `req/instrument-CPU-s`";
    COST_RATIO, "cost_ratio", Number, Ratio(|ratios: &Ratios| &ratios.cost_ratio),
        "`requests_per_cpu_second` over that of the baseline: `ratio ^`";
    RATE_RATIO, "rate_ratio", Number, Ratio(|ratios: &Ratios| &ratios.rate_ratio),
        "`requests_per_second` over that of the baseline";
    OVER_H2C_COST_RATIO, "over_h2c_cost_ratio", Number,
        Ratio(|ratios: &Ratios| &ratios.over_h2c.cost),
        "`requests_per_cpu_second` over that of the same cell in plain text over TCP";
    OVER_H2C_RATE_RATIO, "over_h2c_rate_ratio", Number,
        Ratio(|ratios: &Ratios| &ratios.over_h2c.rate),
        "`requests_per_second` over that of the same cell in plain text over TCP";
    OVER_LASTING_COST_RATIO, "over_lasting_cost_ratio", Number,
        Ratio(|ratios: &Ratios| &ratios.over_lasting.cost),
        "`requests_per_cpu_second` over that of the same cell with connections that last";
    OVER_LASTING_RATE_RATIO, "over_lasting_rate_ratio", Number,
        Ratio(|ratios: &Ratios| &ratios.over_lasting.rate),
        "`requests_per_second` over that of the same cell with connections that last";
    INSTRUMENT_COST_RATIO, "instrument_cost_ratio", Number,
        Ratio(|ratios: &Ratios| &ratios.instrument_cost_ratio),
        "`requests_per_client_cpu_second` over that of the first instrument: `ratio i`";
    SERVER_CPU_MEAN, "server_cpu_mean", Cpus,
        Median(|round| Some(round.window.server_cpu())),
        "CPU time of the server's process tree over the window: `avg. cpu`";
    SERVER_CPU_MAX, "server_cpu_max", Cpus,
        Largest(|round| round.window.ends.server.cpu_max),
        "the largest share of one CPU that it used in 100 ms: `max. cpu`";
    CLIENT_CPU_MEAN, "client_cpu_mean", Cpus,
        Median(|round| Some(round.window.client_cpu())),
        "CPU time of the calling end's process tree over the window, as it was sampled";
    CLIENT_CPU_MAX, "client_cpu_max", Cpus,
        Largest(|round| round.window.ends.caller.cpu_max),
        "the largest share of one CPU that it used in 100 ms";
    GENERATOR_CPU_MEAN, "generator_cpu_mean", Cpus,
        Median(|round| Some(round.window.generator_cpu())),
        "the same with threads that ended before they could be sampled: `generator`";
    GENERATOR_BUSY_SHARE, "generator_busy_share", Number,
        Quotient(|round| Some((round.generator_worked(), round.generator_could()))),
        "share of its time in which the generator did work: `busy`";
    BACKEND_CPU_MEAN, "backend_cpu_mean", Cpus,
        Median(backend_cpu_mean),
        "CPU time over the window of the backend behind the server";
    MACHINE_BUSY_CPUS, "machine_busy_cpus", Cpus,
        Quotient(|round| round.of_machine(round.window.machine.busy_seconds())),
        "everything but idle and steal, of all CPUs: `machine`";
    MACHINE_SOFTIRQ_CPUS, "machine_softirq_cpus", Cpus,
        Quotient(|round| round.of_machine(round.window.machine.softirq_seconds)),
        "soft interrupts of all CPUs: `softirq`";
    MACHINE_STEAL_CPUS, "machine_steal_cpus", Cpus,
        Quotient(|round| round.of_machine(round.window.machine.steal_seconds)),
        "taken by the hypervisor: `steal`";
    MACHINE_UNATTRIBUTED_CPUS, "machine_unattributed_cpus", Cpus,
        Quotient(|round| round.of_machine(round.unattributed_seconds())),
        "`machine` less the two ends: `unattributed`";
    LATENCY_MEAN, "latency_mean", Nanoseconds, Latencies(Histogram::mean),
        "arithmetic mean of the latencies of OK calls";
    LATENCY_MEAN_ALL, "latency_mean_all", Nanoseconds, Quotient(time_of_all),
        "the mean over all calls when each that ended with `DEADLINE_EXCEEDED` counts as the \
         deadline: what ghz calls Average. None where calls failed otherwise";
    LATENCY_MIN, "latency_min", Nanoseconds, Latencies(|latencies| latencies.min() as f64),
        "the shortest latency";
    LATENCY_P50, "latency_p50", Nanoseconds, Latencies(|latencies| at(latencies, 50.0)),
        "what 50 % of the OK calls did not exceed";
    LATENCY_P90, "latency_p90", Nanoseconds, Latencies(|latencies| at(latencies, 90.0)),
        "what 90 % did not exceed: `90 % in`";
    LATENCY_P95, "latency_p95", Nanoseconds, Latencies(|latencies| at(latencies, 95.0)),
        "what 95 % did not exceed: `95 % in`";
    LATENCY_P99, "latency_p99", Nanoseconds, Latencies(|latencies| at(latencies, 99.0)),
        "what 99 % did not exceed: `99 % in`";
    LATENCY_P99_9, "latency_p99_9", Nanoseconds, Latencies(|latencies| at(latencies, 99.9)),
        "what 99.9 % did not exceed";
    LATENCY_MAX, "latency_max", Nanoseconds, Latencies(|latencies| latencies.max() as f64),
        "the longest latency";
    MEMORY_MEAN, "memory_mean", Bytes,
        Median(|round| Some(round.window.ends.tested().memory_mean_bytes? as f64)),
        "mean memory of the end under test over the window: `avg. memory`";
    MEMORY_PEAK, "memory_peak", Bytes,
        Largest(|round| Some(round.window.ends.tested().memory_peak_bytes? as f64)),
        "its peak memory: `peak memory`";
    BACKEND_MEMORY_PEAK, "backend_memory_peak", Bytes,
        Largest(|round| Some(round.window.ends.backend.as_ref()?.memory_peak_bytes? as f64)),
        "peak memory of the backend behind the server";
    THREADS, "threads", Number,
        Largest(|round| Some(f64::from(round.window.ends.tested().threads?))),
        "largest number of threads of the end under test";
    THREAD_IMBALANCE, "thread_imbalance", Number,
        Median(|round| round.window.ends.tested().thread_imbalance),
        "CPU time of its busiest thread over the mean of the threads that are named like it, \
         numbers aside: 1 where its workers are loaded alike";
    CONTEXT_SWITCHES_PER_SECOND, "context_switches_per_second", PerSecond,
        Median(|round| Some(switches(round)? / round.window.window_seconds)),
        "its context switches over the window, voluntary or not: `switches/s`";
    SWITCHES_PER_REQUEST, "switches_per_request", Number,
        Median(|round| Some(switches(round)? / round.window.counts.ok as f64)),
        "its context switches over the OK calls";
    REQUESTS_PER_READ, "requests_per_read", Number,
        Median(|round| round.window.generator.requests_per_read),
        "responses that one read of our generator carried: `req/read`";
    REQUESTS_PER_WRITE, "requests_per_write", Number,
        Median(|round| round.window.generator.requests_per_write),
        "requests that one write of our generator carried";
    IN_FLIGHT_SHARE, "in_flight_share", Number, Median(in_flight_share),
        "rate times mean latency over S";
    IN_FLIGHT_AT_END, "in_flight_at_end", Number,
        Median(|round| Some(round.window.counts.in_flight() as f64)),
        "calls in flight when the window ended: those that it cut off";
    IN_FLIGHT_AGE_MEAN, "in_flight_age_mean", Nanoseconds,
        Median(|round| Some(round.window.counts.in_flight_at_end?.age_mean_ns as f64)),
        "how long these had been in flight, on average";
    IN_FLIGHT_AGE_MAX, "in_flight_age_max", Nanoseconds,
        Largest(|round| Some(round.window.counts.in_flight_at_end?.age_max_ns as f64)),
        "how long the oldest of these had been in flight";
    UNFINISHED, "unfinished", Number, Median(|round| Some(round.window.counts.unfinished as f64)),
        "calls of which nothing is known: without an answer at the end, or failed outside the \
         window";
    COUNT, "count", Number, Median(|round| Some(ended(round))),
        "calls of the window however they ended";
    OK, "ok", Number, Median(|round| Some(round.window.counts.ok as f64)),
        "calls of the window that ended with OK";
    OK_TOTAL, "ok_total", Number, Sum(|round| Some(round.window.counts.ok as f64)),
        "calls that ended with OK, of all windows";
    ERRORS, "errors", Number, Median(|round| Some(failed(round))),
        "calls of the window that failed";
    ERRORS_TOTAL, "errors_total", Number, Sum(|round| Some(failed(round))),
        "calls that failed, of all windows";
    ERROR_SHARE, "error_share", Number, Quotient(|round| Some((failed(round), ended(round)))),
        "calls that ended in the window with another status than OK, over all that ended in it: \
         `failed`";
    TOTAL_TIME, "total_time", Nanoseconds,
        Median(|round| Some(round.window.window_seconds * 1e9)),
        "length of the window; with a fixed number of calls the time until the last had ended";
}

fn backend_cpu_mean(round: &MeasuredRound<'_>) -> Option<f64> {
    Some(round.window.ends.backend.as_ref()?.cpu_seconds / round.window.window_seconds)
}

fn failed(round: &MeasuredRound<'_>) -> f64 {
    round.window.counts.failed() as f64
}

fn ended(round: &MeasuredRound<'_>) -> f64 {
    round.window.counts.ok as f64 + failed(round)
}

fn switches(round: &MeasuredRound<'_>) -> Option<f64> {
    Some(round.window.ends.tested().context_switches? as f64)
}

fn at(latencies: &Histogram<u64>, percent: f64) -> f64 {
    latencies.value_at_percentile(percent) as f64
}

fn in_flight_share(round: &MeasuredRound<'_>) -> Option<f64> {
    let in_flight = round.window.requests_per_second() * round.latencies()?.mean() / 1e9;
    Some(in_flight / f64::from(round.row.cell.case.concurrency))
}

/// The time of all calls and their number, where a call that missed the deadline counts as the
/// deadline. `None` if calls failed otherwise, because their duration is unknown.
fn time_of_all(round: &MeasuredRound<'_>) -> Option<(f64, f64)> {
    let errors = &round.window.counts.errors;
    let late = errors.get("DEADLINE_EXCEEDED").copied().unwrap_or(0) as f64;
    let late_ns = match failed(round) {
        0.0 => 0.0,
        failed if failed == late => round.deadline_ns? * late,
        _ => return None,
    };
    let (count, mean_ns) =
        round.latencies().map_or((0.0, 0.0), |all| (all.len() as f64, all.mean()));
    Some((mean_ns * count + late_ns, count + late))
}
