//! A plan of which those of the tests are variants.

// Each test uses a part of it.
#![allow(dead_code)]

use bookend_io::Driver;
use bookend_io::Wait;
use bookend_io::tls::TlsAdvice;
use bookend_load::plan::{Connecting, DurationStop, LoadPlan, ReportLabels};
use bookend_load::run::{LoadOutcome, run};
use bookend_load::targets::Targets;
use bookend_server::Limits;
use std::sync::atomic::AtomicBool;

pub const SECOND_NS: u64 = 1_000_000_000;

/// `calls` calls, ten at a time over one connection.
pub fn plan(path: &str, targets: impl Into<Targets>, calls: u64) -> LoadPlan {
    LoadPlan {
        targets: targets.into(),
        path: path.to_owned(),
        thrift: None,
        authority: "test".to_owned(),
        tls: None,
        tls_advice: &TlsAdvice::CLIENT,
        messages: vec![b"ping".to_vec()],
        template: None,
        is_compressed: false,
        streaming: None,
        response_max_bytes: u32::MAX,
        replies_max_bytes: u64::MAX,
        metadata: Vec::new(),
        varying_metadata: None,
        metadata_templates: Vec::new(),
        connecting: Connecting::BeforeRun,
        connections: 1,
        concurrency: 10,
        concurrency_steps: Vec::new(),
        open_loop: None,
        threads: 1,
        driver: Driver::Blocking,
        wait: Wait::Sleep,
        warmup_ns: 0,
        window_ns: None,
        calls: Some(calls),
        timeout_ns: Some(20 * SECOND_NS),
        connect_timeout_ns: 10 * SECOND_NS,
        keepalive: None,
        duration_stop: DurationStop::Ignore,
        count_errors: false,
        calls_skipped: 0,
        calls_listed: 0,
        config: Limits::trusted().http2,
        labels: ReportLabels::default(),
    }
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
