//! What several generators have measured, sent to one process and added up there, is what one
//! generator would have measured.

#[path = "../../server/tests/support/echo.rs"]
mod echo;
#[path = "support/plans.rs"]
mod plans;

use bookend_load::record::{
    ErrorCounts, Latencies, OpenLoopCalls, RunInterval, SetupLatencies, StreamMessages,
    TargetCounts, TargetOutcome,
};
use bookend_load::report::build_report;
use bookend_load::run::{LoadOutcome, RunObserver, WindowEdge, observe};
use bookend_server::{Limits, Server};
use bookend_wire::grpc::Code;
use echo::{ECHO, Echo};
use fastrand::Rng;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};

/// One call of a run, with all that is recorded of it.
fn record(outcome: &mut LoadOutcome, random: &mut Rng) {
    let latency_ns = 1 << random.u32(0..40);
    let latency_ns = random.u64(latency_ns / 2..=latency_ns);
    if random.u8(..) < 20 {
        let code = Code::ALL[random.usize(1..Code::ALL.len())];
        outcome.errors.add(code, ["no", "late", "broken"][random.usize(..3)], 1);
        return;
    }
    outcome.ok += 1;
    outcome.latencies.record(latency_ns);
    let open_loop: &mut OpenLoopCalls = outcome.open_loop.get_or_insert_default();
    open_loop.made += 1;
    open_loop.from_intended.record(latency_ns + 5);
    open_loop.lag.record(latency_ns / 7);
    let setup: &mut SetupLatencies = outcome.setup.get_or_insert_default();
    setup.connect.record(latency_ns / 3);
    let streams: &mut Box<StreamMessages> = outcome.streams.get_or_insert_default();
    streams.sent += 2;
    streams.gaps.record(latency_ns / 2);
    outcome.driver.writes += 1;
}

fn received(outcome: &LoadOutcome) -> LoadOutcome {
    let json = serde_json::to_string(outcome).expect("all of it has a form in JSON");
    serde_json::from_str(&json).expect("what was written is read")
}

#[test]
fn shards_merged_equal_the_whole() {
    for (seed, calls, shards) in [(1, 300, 2), (2, 20_000, 3), (3, 40_000, 7), (4, 5, 4)] {
        let mut random = Rng::with_seed(seed);
        let mut of_shards = vec![LoadOutcome::default(); shards];
        let mut whole = LoadOutcome { window_ns: 9, ..LoadOutcome::default() };
        for shard in &mut of_shards {
            shard.window_ns = 9;
        }
        for _ in 0..calls {
            let mut again = random.clone();
            record(&mut whole, &mut random);
            // A call more or less would shift all that follow it.
            let shard = again.clone().usize(..shards);
            record(&mut of_shards[shard], &mut again);
        }
        let mut merged = LoadOutcome::default();
        of_shards.iter().for_each(|shard| merged.merge(received(shard)));
        assert_eq!(merged.latencies.histogram, whole.latencies.histogram);
        let exact = |latencies: &Latencies| (latencies.sum_ns, latencies.min_ns, latencies.max_ns);
        assert_eq!(exact(&merged.latencies), exact(&whole.latencies));
        for percentage in [0.0, 1.0, 50.0, 99.0, 99.9, 100.0] {
            assert_eq!(merged.latencies.at(percentage), whole.latencies.at(percentage));
        }
        let plan = plans::plan("/a/b", std::net::SocketAddr::from(([127, 0, 0, 1], 1)), 1);
        let report = |outcome| build_report(&plan, UNIX_EPOCH, outcome);
        assert_eq!(report(&merged), report(&whole), "{calls} calls in {shards} shards");
    }
}

#[test]
fn addresses_and_errors_of_generators_add_up() {
    let of = |address: &str, ok| LoadOutcome {
        targets: vec![TargetOutcome {
            name: 0,
            address: address.to_owned(),
            connections_opened: 1,
            calls: TargetCounts { ok, failed: 0 },
        }],
        ..LoadOutcome::default()
    };
    let mut sum = of("10.0.0.1:5", 3);
    for other in [of("10.0.0.2:5", 4), of("10.0.0.1:5", 5)] {
        sum.merge(received(&other));
    }
    let rows: Vec<_> = sum.targets.iter().map(|row| (row.address.as_str(), row.calls.ok)).collect();
    assert_eq!(rows, [("10.0.0.1:5", 8), ("10.0.0.2:5", 4)]);
}

/// Keeps the intervals of a run.
#[derive(Default)]
struct Kept(Vec<RunInterval>);

impl RunObserver for Kept {
    fn edge(&mut self, _: WindowEdge) {}

    fn interval_length(&self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn interval(&mut self, interval: &RunInterval) {
        self.0.push(interval.clone());
    }
}

#[test]
fn the_intervals_of_a_run_are_all_of_it() {
    let server = Server::builder().add_service(Echo::default()).limits(Limits::trusted());
    let server = server.bind("127.0.0.1:0").unwrap().spawn().unwrap();
    let mut plan = plans::plan(ECHO, server.local_address(), 1);
    (plan.calls, plan.window_ns) = (None, Some(330_000_000));
    let mut kept = Kept::default();
    let outcome = observe(plan, &AtomicBool::new(false), &mut kept).expect("a run");
    let mut errors = ErrorCounts::default();
    let mut from_start = Latencies::default();
    // On a busy machine there may be an interval in which the worker did not run, so the sums tell.
    for details in kept.0.iter().filter_map(|interval| interval.details.as_ref()) {
        errors.merge(details.errors.clone());
        from_start.merge(&details.from_start);
    }
    assert!(kept.0.len() > 3 && outcome.ok + outcome.errors.total() > 0);
    assert_eq!(errors, outcome.errors);
    assert_eq!(kept.0.iter().map(|interval| interval.ok).sum::<u64>(), outcome.ok);
    assert_eq!(from_start.histogram, outcome.latencies.histogram);
    assert_eq!(from_start.sum_ns, outcome.latencies.sum_ns);
}
