//! What was published wrongly, by whom, and the smallest table with the same defect.
//!
//! Figures are those of the source where it has them; the others are such that nothing else is
//! wrong.

use crate::table::{MS, SECOND, again, between, document, labelled, repeated, row};
use bookend_publication::document::{Conditions, Document, PrintedRow};
use bookend_results::audit::Rule;

/// A published defect.
pub struct Defect {
    pub source: &'static str,
    pub link: &'static str,
    /// What was wrong: a clause for the page.
    pub what: &'static str,
    pub rule: Rule,
    /// What the audit says.
    pub words: &'static str,
    pub document: Document,
    /// The same table without it, of which nothing is to be said.
    pub mended: Document,
}

pub fn defects() -> Vec<Defect> {
    let each = [
        columns(),
        percentiles(),
        failures(),
        limits(),
        ceilings(),
        accounts(),
        runs(),
        circumstances(),
    ];
    each.into_iter().flatten().collect()
}

const GRPC_BENCH: &str = "https://github.com/LesnyRumcajs/grpc_bench";
const GO_AND_THRIFT: (&str, &str) =
    ("chrislee87/rpc_benchmark", "https://github.com/chrislee87/rpc_benchmark");
const JDK21: (&str, &str) =
    ("grpc-jdk21-test", "https://github.com/lyang-highnote/grpc-jdk21-test");
const ARENA: (&str, &str) = ("HttpArena 858", "https://github.com/MDA2AV/HttpArena/issues/858");
const WEB_FRAMEWORKS: (&str, &str) =
    ("web-frameworks", "https://github.com/the-benchmarker/web-frameworks");
const WEB_FRAMEWORKS_9775: (&str, &str) =
    ("web-frameworks 9775", "https://github.com/the-benchmarker/web-frameworks/issues/9775");

fn defect(
    (source, link): (&'static str, &'static str),
    what: &'static str,
    (rule, words): (Rule, &'static str),
    (document, mended): (Document, Document),
) -> Defect {
    Defect { source, link, what, rule, words, document, mended }
}

fn plain(rows: impl IntoIterator<Item = PrintedRow>) -> Document {
    document(Conditions::default(), rows)
}

/// Three frameworks whose columns `first` and `second` hold these latencies.
fn three(first: &str, second: &str, latencies_ms: [(f64, f64); 3]) -> Document {
    let names = ["a", "b", "c"].into_iter().zip(latencies_ms);
    plain(names.map(|(name, (one, two))| row(name, &[(first, one * MS), (second, two * MS)])))
}

fn columns() -> Vec<Defect> {
    let twice = |words| (Rule::SameFigureTwice, words);
    vec![
        defect(
            WEB_FRAMEWORKS,
            "the column of p99 was filled with p95",
            twice(
                "latency_p95 and latency_p99 are the same figure in all 3 rows, here 12.4 ms: one \
                 of them is in both columns",
            ),
            (
                three("latency_p95", "latency_p99", [(12.4, 12.4), (8.31, 8.31), (30.2, 30.2)]),
                three("latency_p95", "latency_p99", [(12.4, 19.1), (8.31, 8.31), (30.2, 41.7)]),
            ),
        ),
        defect(
            ARENA,
            "p99 of h2load and wrk, which print none, was their mean",
            twice(
                "latency_mean and latency_p99 are the same figure in all 3 rows, here 1.84 ms: one \
                 of them is in both columns",
            ),
            (
                three("latency_mean", "latency_p99", [(1.84, 1.84), (2.51, 2.51), (7.02, 7.02)]),
                three("latency_mean", "latency_p99", [(1.84, 3.11), (2.51, 4.4), (7.02, 9.13)]),
            ),
        ),
        defect(
            ARENA,
            "p99 of ghz was its slowest call",
            twice(
                "latency_max and latency_p99 are the same figure in all 3 rows, here 31.2 ms: one \
                 of them is in both columns",
            ),
            (
                three("latency_max", "latency_p99", [(31.2, 31.2), (54.8, 54.8), (19.9, 19.9)]),
                three("latency_max", "latency_p99", [(31.2, 12.8), (54.8, 20.3), (19.9, 8.42)]),
            ),
        ),
        defect(
            WEB_FRAMEWORKS,
            "what was not measured stood in the table as -1",
            (Rule::NotANumber, "latency_p90 is no figure"),
            // A figure that is left out breaks nothing; no rule needs to look for it.
            (
                plain([row("a", &[("latency_p50", MS), ("latency_p90", -1.0)])]),
                plain([row("a", &[("latency_p50", MS)])]),
            ),
        ),
        defect(
            ("gRPC 16897", "https://github.com/grpc/grpc/issues/16897"),
            "a rate was `nan`",
            (Rule::NotANumber, "requests_per_second is no figure"),
            (
                plain([row("a", &[("requests_per_second", f64::NAN)])]),
                plain([row("a", &[("requests_per_second", 7e5)])]),
            ),
        ),
    ]
}

fn percentiles() -> Vec<Defect> {
    let slow = |mean_ms: (f64, f64), p99_ms| {
        let (low, high) = (mean_ms.0 * MS, mean_ms.1 * MS);
        between("latency_mean", (low, high), row("gRPC-go", &[("latency_p99", p99_ms * MS)]))
    };
    let median = |p50_ms: f64| plain([row("gRPC-go", &[("latency_p50", p50_ms * MS)])]);
    vec![
        defect(
            GO_AND_THRIFT,
            "the column P99 held the 99.9th percentile",
            (
                Rule::NotThatPercentile,
                "with a mean of at most 7.00 ms, at most 0.70 % of the calls took 1.00 s or \
                 longer: this is no p99; the first customary percentile that it can be is p99.9",
            ),
            (plain([slow((6.0, 7.0), 1000.0)]), plain([slow((6.0, 7.0), 500.0)])),
        ),
        defect(
            GO_AND_THRIFT,
            "medians below a millisecond were cut to 0",
            (
                Rule::BelowResolution,
                "latency_p50 is printed as zero: the unit is too coarse for it",
            ),
            (median(0.0), median(0.4)),
        ),
        defect(
            GO_AND_THRIFT,
            "one clock started before the connection was made, the other after",
            (
                Rule::ClocksDiffer,
                "rate times mean latency accounts for 30 to 63 of 100 clients, with gRPC-go for 75 \
                 to 94: this clock leaves out a part of the call that the other counts",
            ),
            (short_connections((1.0, 2.0)), short_connections((2.0, 3.0))),
        ),
        defect(
            ("zrk on wrk2", "https://github.com/zoxy-io/zrk"),
            "wrk2 rounds every wait up to a millisecond, and prints less",
            (
                Rule::BelowResolution,
                "latency_p50 is 620 µs, and its tool waits in steps of 1.00 ms",
            ),
            (in_steps_of(1e-3), in_steps_of(1e-6)),
        ),
    ]
}

/// A hundred clients that connect for each call; of Thrift the clock shows this mean.
fn short_connections(thrift_ms: (f64, f64)) -> Document {
    let client = |name, rate: (f64, f64), mean_ms: (f64, f64)| {
        let row = row(name, &[("concurrency", 100.0)]);
        let row = between("requests_per_second", rate, row);
        let mean_ns = (mean_ms.0 * MS, mean_ms.1 * MS);
        repeated("C=100 S=100 per-call", between("latency_mean", mean_ns, row))
    };
    plain([
        client("gRPC-go", (12_500.0, 13_500.0), (6.0, 7.0)),
        client("thrift-go", (30_500.0, 31_500.0), thrift_ms),
    ])
}

fn in_steps_of(seconds: f64) -> Document {
    let conditions =
        Conditions { latency_resolution_seconds: Some(seconds), ..Conditions::default() };
    document(conditions, [row("a", &[("latency_p50", 0.62 * MS)])])
}

fn failures() -> Vec<Defect> {
    let pool = |fixed: bool| {
        let (mean, rate, total) =
            if fixed { (1.12, 4078.0 / 45.0, 45.0) } else { (12.30, 249.62, 40.06) };
        let figures = [
            ("count", 10_000.0),
            ("ok", 4078.0),
            ("errors_deadline", 5922.0),
            ("total_time", total * SECOND),
            ("requests_per_second", rate),
            ("latency_mean_all", mean * SECOND),
            ("latency_min", 1.0 * SECOND),
            ("latency_max", 2.38 * SECOND),
        ];
        let conditions = Conditions { time_out_seconds: Some(20.0), ..Conditions::default() };
        document(conditions, [row("fixed pool", &figures)])
    };
    let of_both = || (pool(false), pool(true));
    vec![
        defect(
            JDK21,
            "the whole run took twice the client's time-out, which was read as the server's time",
            (
                Rule::TotalIsTimeOut,
                "the total of 40.06 s is 2 x the client's time-out of 20 s, 5922 calls ended by \
                 it, and the slowest success took 2.38 s",
            ),
            of_both(),
        ),
        defect(
            ("ghz", "https://github.com/bojand/ghz/blob/master/runner/reporter.go"),
            "the average counts failed calls, all other latencies do not",
            (
                Rule::MeanIncludesFailures,
                "the mean of 12.30 s is above the slowest success, 2.38 s; without the 5922 \
                 failures of 20 s each it is 1.12 s",
            ),
            of_both(),
        ),
        defect(
            JDK21,
            "the rate counts failed calls",
            (
                Rule::RateIncludesFailures,
                "249.62 a second is all 10000 calls over the total time; 101.80 a second succeeded",
            ),
            of_both(),
        ),
    ]
}

fn limits() -> Vec<Defect> {
    let streams = |rate, mean_ms: f64| {
        let mean = ("latency_mean", mean_ms * MS);
        plain([row("a", &[("concurrency", 1000.0), ("requests_per_second", rate), mean])])
    };
    let asked = |rate| {
        let figures = [("concurrency", 1000.0), ("rate_asked", 1e4), ("requests_per_second", rate)];
        plain([row("a", &figures)])
    };
    vec![
        defect(
            ("pajamax", "https://github.com/WuBingzheng/pajamax"),
            "too few calls were in flight: in a trace of the same pair the server closes connections, and calls fail",
            (
                Rule::TooFewInFlight,
                "66.6 calls in flight on 1000 streams: the client left streams idle, or calls \
                 failed and nobody says so, or its time was too short for its slowest calls; \
                 without status codes and the length of the window nobody can tell which",
            ),
            (streams(95_143.0, 0.7), streams(95_143.0, 10.0)),
        ),
        defect(
            ("grpc_bench", GRPC_BENCH),
            "the rate that was asked for was divided by the number of callers",
            (
                Rule::RateNotAsked,
                "10000 calls a second were asked for and 10 made: it was divided by the 1000 \
                 callers on the way",
            ),
            (asked(10.0), asked(9990.0)),
        ),
        defect(
            (
                "FrameworkBenchmarks 5207",
                "https://github.com/TechEmpower/FrameworkBenchmarks/issues/5207",
            ),
            "the client had no CPU time left, the server had",
            (
                Rule::ClientAtItsLimit,
                "the client used 100 % of its 100 %, the server 41 %: the rate is a lower bound",
            ),
            (ends(1.0, 0.41, 1.0), ends(1.0, 0.97, 0.6)),
        ),
        defect(
            ("web-frameworks 9662", "https://github.com/the-benchmarker/web-frameworks/pull/9662"),
            "two in five rows were what 64 connections get of a path of 30 ms",
            (
                Rule::NobodyAtItsLimit,
                "the server used 22.5 % of its CPUs and the client 15.0 % of its own: the rate is \
                 that of what lies between them, or of waiting",
            ),
            (ends(4.0, 0.9, 0.6), ends(4.0, 3.9, 0.6)),
        ),
    ]
}

/// 64 streams, and what either end used of these CPUs.
fn ends(cpus: f64, server: f64, client: f64) -> Document {
    let given = Some(cpus);
    let conditions = Conditions { server_cpus: given, client_cpus: given, ..Conditions::default() };
    let figures = [
        ("concurrency", 64.0),
        ("requests_per_second", 2136.0),
        ("latency_p50", 30.0 * MS),
        ("server_cpu_mean", server),
        ("client_cpu_mean", client),
    ];
    document(conditions, [row("a", &figures)])
}

fn ceilings() -> Vec<Defect> {
    // `count` rates between these two, evenly.
    let rates = |count: u32, (low, high): (f64, f64)| {
        let step = (high - low) / f64::from(count.max(2) - 1);
        (0..count).map(move |at| low + step * f64::from(at))
    };
    let field = |rates: Vec<f64>| {
        let rows = rates.into_iter().enumerate();
        plain(rows.map(|(at, rate)| row(&at.to_string(), &[("requests_per_second", rate)])))
    };
    let board =
        |crowd: (f64, f64)| field(rates(174, crowd).chain(rates(206, (900.0, 9e4))).collect());
    let impossible = |mean_ms: f64| {
        let figures = [
            ("concurrency", 512.0),
            ("requests_per_second", 96_700.0),
            ("latency_mean", mean_ms * MS),
            ("latency_p99", 21.0 * MS),
        ];
        plain([row("a", &figures)])
    };
    vec![
        defect(
            WEB_FRAMEWORKS_9775,
            "174 of 380 frameworks had the same rate",
            (
                Rule::SharedCeiling,
                "174 of 380 subjects are within 2 % of 97400 a second: the limit is what they \
                 share, such as the client",
            ),
            (board((96_000.0, 97_400.0)), board((9e4, 180e3))),
        ),
        defect(
            ("grpc_bench 90", "https://github.com/LesnyRumcajs/grpc_bench/pull/90"),
            "with too little CPU for the client all of the best had the same rate",
            (
                Rule::SharedCeiling,
                "5 of 6 subjects are within 2 % of 37120 a second: the limit is what they share, \
                 such as the client",
            ),
            (
                field(vec![37_120.0, 36_900.0, 37_050.0, 36_800.0, 37_000.0, 21_000.0]),
                field(vec![61_000.0, 52_300.0, 49_000.0, 43_100.0, 38_000.0, 21_000.0]),
            ),
        ),
        defect(
            WEB_FRAMEWORKS_9775,
            "more calls in flight than there were connections",
            (Rule::TooManyInFlight, "2997.7 calls in flight on 512 streams"),
            (impossible(31.0), impossible(5.2)),
        ),
        defect(
            WEB_FRAMEWORKS_9775,
            "the mean was above p99",
            (
                Rule::MeanAbovePercentile,
                "the mean of 31.0 ms is above p99, 21.0 ms: the slowest 1 % must take 1.02 s or \
                 more on average",
            ),
            (impossible(31.0), impossible(5.2)),
        ),
    ]
}

fn accounts() -> Vec<Defect> {
    let mebibytes = |mib: f64| mib * f64::from(1 << 20);
    let memory = |few: f64| {
        let figures = |connections, memory| {
            let [streams, bytes] = [1000.0, mebibytes(memory)];
            [("connections", connections), ("concurrency", streams), ("memory_mean", bytes)]
        };
        let rows = [("C=1 S=1000", 1.0, few), ("C=10 S=1000", 10.0, 1.66)].map(
            |(label, connections, memory)| {
                labelled(label, row("pajamax", &figures(connections, memory)))
            },
        );
        let limit = Some(mebibytes(512.0));
        let conditions = Conditions { server_memory_bytes: limit, ..Conditions::default() };
        document(conditions, rows)
    };
    let cpus = |used: [f64; 3], conditions: Conditions| {
        let rows = [900.0, 4000.0, 12_000.0].into_iter().zip(used).map(|(rate, cpus)| {
            let figures = [("requests_per_second", rate), ("server_cpu_mean", cpus)];
            labelled(&rate.to_string(), row("Python", &figures))
        });
        document(conditions, rows)
    };
    let eight = || Conditions { server_cpus: Some(8.0), ..Conditions::default() };
    let machine = |cpus| Conditions { machine_cpus: Some(cpus), ..Conditions::default() };
    let in_kib = || (memory(634.67), memory(0.62));
    vec![
        defect(
            ("grpc_bench", GRPC_BENCH),
            "KiB were printed as MiB",
            (
                Rule::KibPrintedAsMib,
                "634.67 MiB with less to do than C=10 S=1000, where it is 1.66 MiB; over 1024 it \
                 is 0.62 MiB",
            ),
            in_kib(),
        ),
        defect(
            ("grpc_bench", GRPC_BENCH),
            "more memory was printed than the container had",
            (Rule::MemoryAboveLimit, "634.7 of 512.0 MiB"),
            in_kib(),
        ),
        defect(
            ("gRPC 31552", "https://github.com/grpc/grpc/pull/31552"),
            "a worker in Python reported 200 % of CPU for seven years, whatever it did",
            (
                Rule::CpuStandsStill,
                "2.00 CPUs in all 3 rows, at 900 to 12000 calls a second: the figure does not come \
                 from what the server did",
            ),
            (cpus([2.0; 3], eight()), cpus([0.2, 0.8, 2.3], eight())),
        ),
        defect(
            WEB_FRAMEWORKS,
            "eight cores were written down for a machine of sixteen",
            (Rule::CpuAboveMachine, "the server used 12.4 CPUs of a machine that has 8"),
            (cpus([1.3, 5.1, 12.4], machine(8.0)), cpus([1.3, 5.1, 12.4], machine(16.0))),
        ),
    ]
}

fn runs() -> Vec<Defect> {
    let twice = |first: f64, second: f64| {
        let run = |table, rate| again(table, row("a", &[("requests_per_second", rate)]));
        plain([run("first run", first), run("second run", second)])
    };
    let rate = || row("a", &[("requests_per_second", 4e4)]);
    let best = |runs| Conditions { best_of: Some(runs), ..Conditions::default() };
    let starts = |starts| Conditions { starts: Some(starts), ..Conditions::default() };
    vec![
        defect(
            ("Dat3M 1083", "https://github.com/hernanponcedeleon/Dat3M/pull/1083"),
            "two builds of the same source differed by more than a fifth",
            (
                Rule::DiffersFromItself,
                "121 calls a second, and 100 in second run: the same program differs from itself \
                 by 21.0 %, so no smaller difference between two says anything",
            ),
            (twice(121.0, 100.0), twice(102.0, 100.0)),
        ),
        defect(
            (
                "FrameworkBenchmarks 992",
                "https://github.com/TechEmpower/FrameworkBenchmarks/issues/992",
            ),
            "two runs in a row differed by a quarter",
            (
                Rule::DiffersFromItself,
                "50000 calls a second, and 40000 in second run: the same program differs from \
                 itself by 25.0 %, so no smaller difference between two says anything",
            ),
            (twice(5e4, 4e4), twice(4.1e4, 4e4)),
        ),
        defect(
            ("HttpArena", "https://github.com/MDA2AV/HttpArena"),
            "the best of three runs was printed",
            (
                Rule::BestOfRuns,
                "the best of 3 runs: the rest of them, and how far they differ, is left out",
            ),
            (document(best(3), [rate()]), document(best(1), [rate()])),
        ),
        defect(
            ("core_bench 11", "https://github.com/janestreet/core_bench/issues/11"),
            "an interval was made of repetitions in one process",
            (
                Rule::OneStart,
                "all of it is of one start of the programs: other starts differ by more than its \
                 repetitions do",
            ),
            (document(starts(1), [rate()]), document(starts(8), [rate()])),
        ),
    ]
}

fn circumstances() -> Vec<Defect> {
    let by_turns = |interleaved| {
        let conditions = Conditions { interleaved: Some(interleaved), ..Conditions::default() };
        document(conditions, [row("a", &[("rate_ratio", 3.62)])])
    };
    let apart = |pinned| {
        let conditions = Conditions { pinned: Some(pinned), ..Conditions::default() };
        document(conditions, [row("a", &[("cost_ratio", 1.44)])])
    };
    let counted = |waiting_counted| {
        let waiting_counted = Some(waiting_counted);
        let conditions = Conditions { waiting_counted, ..Conditions::default() };
        let figures = [("rate_asked", 1e4), ("requests_per_second", 9990.0)];
        document(conditions, [row("a", &figures)])
    };
    vec![
        defect(
            ("zttp 67", "https://github.com/Kludex/zttp/pull/67"),
            "a factor of 3.62 was gone when the programs took turns and answers were checked",
            (
                Rule::OrderFixed,
                "a ratio of 3.62 between programs that were measured one after the other: whatever \
                 changed meanwhile is in it",
            ),
            (by_turns(false), by_turns(true)),
        ),
        defect(
            ("nurl 1126", "https://github.com/nurl-lang/nurl/pull/1126"),
            "44 % became 10 % when both programs were pinned",
            (
                Rule::EndsShareCpus,
                "neither end had CPUs of its own: where the kernel put them is in the figure",
            ),
            (apart(false), apart(true)),
        ),
        defect(
            ("rpcx-benchmark", "https://github.com/rpcxio/rpcx-benchmark"),
            "what a call waits for its turn at a given rate is not in its latency",
            (
                Rule::WaitingOmitted,
                "calls were due at 10000 a second, and each latency counts from when its call was \
                 sent: what it waited before is left out",
            ),
            (counted(false), counted(true)),
        ),
    ]
}
