//! A plan of which those of the tests are variants.

// Each test uses a part of it.
#![allow(dead_code)]

use bookend_client::targets::Targets;
use bookend_io::Driver;
use bookend_io::Wait;
use bookend_io::tls::TlsAdvice;
use bookend_load::pace::Part;
use bookend_load::plan::pacing::Loop;
use bookend_load::plan::{Call, Connecting, DurationStop, GrpcCall, LoadPlan, ReportLabels};
use bookend_load::run::{LoadOutcome, run};
use bookend_server::Limits;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const SECOND_NS: u64 = 1_000_000_000;

/// `calls` calls, ten at a time over one connection.
pub fn plan(path: &str, targets: impl Into<Targets>, calls: u64) -> LoadPlan {
    LoadPlan {
        targets: targets.into(),
        call: Call::Grpc(Arc::new(grpc_call(path))),
        tls: None,
        tls_advice: &TlsAdvice::CLIENT,
        connecting: Connecting::BeforeRun,
        connections: 1,
        concurrency: 10,
        concurrency_steps: Vec::new(),
        pacing: Loop::Closed,
        threads: 1,
        driver: Driver::Blocking,
        wait: Wait::Sleep,
        warmup_ns: 0,
        window_ns: None,
        calls: Some(calls),
        timeout_ns: Some(20 * SECOND_NS),
        connect_timeout_ns: 10 * SECOND_NS,
        duration_stop: DurationStop::Ignore,
        count_errors: false,
        calls_skipped: 0,
        calls_listed: 0,
        labels: ReportLabels::default(),
        part: Part::default(),
        first_connection: 0,
    }
}

fn grpc_call(path: &str) -> GrpcCall {
    GrpcCall {
        path: path.to_owned(),
        authority: "test".to_owned(),
        messages: vec![b"ping".to_vec()],
        template: None,
        is_compressed: false,
        streaming: None,
        response_max_bytes: u32::MAX,
        metadata: Vec::new(),
        varying_metadata: None,
        metadata_templates: Vec::new(),
        run_name: String::new(),
        keepalive: None,
        config: Limits::trusted().http2,
    }
}

/// The same plan with another call.
pub fn calling(plan: LoadPlan, change: impl FnOnce(&mut GrpcCall)) -> LoadPlan {
    let mut call = plan.call.grpc().expect("these plans are of gRPC").clone();
    change(&mut call);
    LoadPlan { call: Call::Grpc(Arc::new(call)), ..plan }
}

/// Makes the calls of a plan, uninterrupted.
pub fn measure(plan: LoadPlan) -> LoadOutcome {
    run(plan, &AtomicBool::new(false), |_| {}).unwrap()
}

/// Runs of ever greater length, until one has done what it is for: where others use the processors,
/// a short phase may pass without a single answer. `run` takes how many times as long it is.
pub fn until_long_enough(run: impl FnMut(u64) -> bool) {
    const DOUBLINGS: u32 = 8;
    let mut lengths = (0..DOUBLINGS).map(|doublings| 1 << doublings);
    assert!(lengths.any(run), "the longest was too short as well");
}
