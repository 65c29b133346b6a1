//! Invented rows, from which tests make runs.
#![allow(dead_code, reason = "each test program uses some of it")]

use bookend_contract::in_flight::InFlightAtEnd;
use bookend_contract::latency;
use bookend_contract::machine::MachineFacts;
use bookend_contract::timestamp::Timestamp;
use bookend_results::measurement::{
    CellId, EndUsage, Ends, GeneratorAccount, MachineCpu, Measurement, Outcome, Row, WindowCounts,
};
use bookend_results::steady::Steady;
use bookend_results::store::{NewRun, Run, RunId};
use bookend_results::suite::{
    Case, Extent, Plan, PlannedSubject, Request, RequestMessage, ServerLife, ShortWindows,
    SuiteLimits,
};
use bookend_results::window::AskedTimes;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub const ROUNDS: u32 = 7;

/// Three subjects and a floor over two connections' worth of cases.
pub fn plan() -> Plan {
    Plan {
        suite: "invented".into(),
        extent: Extent::Quick,
        request: Request {
            method: "helloworld.Greeter/SayHello".into(),
            proto: "helloworld.proto".into(),
            message: RequestMessage::Json("helloworld.json".into()),
        },
        limits: SuiteLimits {
            server_cpus: 1.0,
            server_memory_bytes: Some(512 << 20),
            server_processes: None,
            client_cpus: None,
        },
        generator_cpus: None,
        deadline_ms: None,
        drain_ms: None,
        warmup_ms: 200,
        window_ms: 1000,
        window_max_ms: None,
        short_windows: ShortWindows::Refused,
        lap_ms: None,
        rounds: ROUNDS,
        subjects: vec![
            subject("rust-pajamax"),
            PlannedSubject { baseline: true, ..subject("rust-tonic") },
            subject("rust-bookend"),
            PlannedSubject { calibration: true, ..subject("rust-floor") },
        ],
        cases: vec![case(1, 1), case(1, 100), case(100, 100)],
        instruments_of: BTreeMap::new(),
        handler_waits: false,
        server_life: ServerLife::Round,
        variables: BTreeMap::new(),
        notes: vec!["GRPC_CLIENT_CPUS=12: this machine has 2 CPUs in all".into()],
    }
}

pub fn subject(name: &str) -> PlannedSubject {
    PlannedSubject {
        name: name.into(),
        baseline: false,
        calibration: false,
        instruments: vec!["bookend-load".into()],
        concurrency_max: None,
        concurrency: Vec::new(),
        backend: None,
        server_processes: None,
        side: None,
    }
}

pub fn case(connections: u32, concurrency: u32) -> Case {
    Case::new(connections, concurrency).expect("a case")
}

pub fn cell(subject: &str, case: &str) -> CellId {
    CellId {
        subject: subject.into(),
        case: case.parse().expect("a case"),
        instrument: "bookend-load".into(),
    }
}

/// A window of one second on a machine of two CPUs in which a closed loop of `streams` got
/// `ok` answers for `server_cpu_seconds`.
pub fn measurement(streams: u32, ok: u64, server_cpu_seconds: f64) -> Measurement {
    let mean_ns = 1e9 * f64::from(streams) / ok as f64;
    Measurement {
        window_seconds: 1.0,
        counts: WindowCounts {
            ok,
            warmup: 50,
            drained: 10,
            in_flight_at_end: Some(InFlightAtEnd {
                calls: 10,
                age_mean_ns: (mean_ns / 2.0) as u64,
                age_max_ns: mean_ns as u64,
            }),
            ..WindowCounts::default()
        },
        asked: Some(AskedTimes { window_ms: 1000, warmup_ms: 200 }),
        latency_histogram: spread(mean_ns, ok),
        ends: Ends {
            server: EndUsage {
                cpu_seconds: server_cpu_seconds,
                cpu_mean: Some(server_cpu_seconds),
                cpu_max: Some(server_cpu_seconds + 0.01),
                cpu_limit: Some(1.0),
                memory_mean_bytes: Some(2 << 20),
                memory_peak_bytes: Some(3 << 20),
                memory_source: Some("cgroup".into()),
                threads: Some(3),
                context_switches: Some(1234),
                ..EndUsage::default()
            },
            caller: EndUsage { cpu_seconds: 0.5, ..EndUsage::default() },
            ..Ends::default()
        },
        generator: GeneratorAccount {
            busy_seconds: Some(0.55),
            threads: Some(1),
            cpu_quota: None,
            requests_per_read: Some(12.5),
            requests_per_write: Some(25.0),
        },
        machine: MachineCpu {
            user_seconds: 0.4,
            system_seconds: server_cpu_seconds + 0.2,
            softirq_seconds: 0.05,
            irq_seconds: 0.0,
            steal_seconds: 0.01,
            idle_seconds: 1.34 - server_cpu_seconds,
        },
        steady: Some(Steady::From { seconds: -0.1 }),
        ..Measurement::default()
    }
}

/// A histogram with that mean: most calls below it and a tail above.
fn spread(mean_ns: f64, count: u64) -> String {
    let mut histogram = latency::empty();
    for (share, factor) in [(0.5, 0.8), (0.4, 1.0), (0.05, 1.4), (0.04, 1.7), (0.01, 6.2)] {
        let calls = (share * count as f64).round() as u64;
        latency::record(&mut histogram, (factor * mean_ns) as u64, calls);
    }
    latency::encode(&histogram)
}

pub fn measured(round: u32, cell: CellId, measurement: Measurement) -> Row {
    row(round, cell, Outcome::Measured(Box::new(measurement)))
}

pub fn row(round: u32, cell: CellId, outcome: Outcome) -> Row {
    Row::new(round, cell, outcome)
}

/// Every cell of [`plan`] in every round. In each round the machine is slower or faster for all,
/// and `wobble` is what happens to one subject alone.
pub fn rows(plan: &Plan) -> Vec<Row> {
    // Histograms take time to make, and most tests want the same ones.
    static SOUND: LazyLock<Vec<Row>> = LazyLock::new(|| invent(&self::plan()));
    if *plan == self::plan() {
        return SOUND.clone();
    }
    invent(plan)
}

fn invent(plan: &Plan) -> Vec<Row> {
    let mut rows = Vec::new();
    for round in 0..plan.rounds {
        for planned in plan.cells() {
            let streams = planned.case.concurrency;
            let (rate, cost) = invented(&planned.id.subject, streams);
            let drift = 1.0 + 0.02 * f64::from(round % 3);
            let wobble = wobble(round, &planned.id.subject);
            let ok = (rate * drift) as u64;
            let asked = AskedTimes { window_ms: plan.window_ms, warmup_ms: plan.warmup_ms };
            let figures = measurement(streams, ok, cost * wobble);
            let figures = Measurement { asked: Some(asked), ..figures };
            rows.push(measured(round, planned.id, figures));
        }
    }
    rows
}

/// Up to 2 % that happens to one subject alone, the same in every run of the test.
fn wobble(round: u32, subject: &str) -> f64 {
    let letters = subject
        .bytes()
        .fold(round, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    1.0 + 0.005 * f64::from((letters >> 8) % 5)
}

/// Requests per second and CPU seconds of an invented subject.
fn invented(subject: &str, streams: u32) -> (f64, f64) {
    let batch = f64::from(streams).sqrt();
    match subject {
        "rust-pajamax" => (9_000.0 * batch, 0.20),
        "rust-tonic" => (7_000.0 * batch, 0.97),
        "rust-bookend" => (9_050.0 * batch, 0.20),
        _ => (12_000.0 * batch, 0.15),
    }
}

pub fn machine() -> MachineFacts {
    MachineFacts {
        os: "Ubuntu 22.04.5 LTS".into(),
        kernel: "Linux 5.15.0-125-generic".into(),
        cpu_model: "AMD EPYC 9754 128-Core Processor".into(),
        cpus: 2,
        memory_bytes: 8 << 30,
        governor: None,
        virtual_machine: true,
        hardware: None,
    }
}

pub fn new_run() -> NewRun {
    NewRun {
        started: Timestamp::from_unix_ms(1_709_210_096_000),
        plan: plan(),
        suite_text: "name = \"invented\"".into(),
        seed: u64::MAX - 7,
        machine: machine(),
        versions: BTreeMap::from([("rust-tonic".into(), "tonic 0.14.2".into())]),
        command: "bookend run invented --quick".into(),
        revision: None,
        provenance: None,
    }
}

pub fn run() -> Run {
    Run {
        id: RunId(3),
        new: new_run(),
        finished: Some(Timestamp::from_unix_ms(1_709_210_196_000)),
        notes: vec!["round 2 was measured twice".into()],
    }
}
