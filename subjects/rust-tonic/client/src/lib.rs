//! What calls come to. A call belongs to the part of the run in which it ended.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use tonic::Code;

/// gRPC's names of its status codes, by their numbers.
const CODES: &str = "\
    OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS \
    PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED \
    INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED";

#[derive(Clone, Copy, Default)]
enum Phase {
    #[default]
    Warming,
    Measuring,
    Over,
}

/// Counts of all callers, which are known by their numbers.
#[derive(Default)]
pub struct Load {
    phase: Phase,
    /// Calls that may still begin.
    left: usize,
    /// When the call in flight of each caller began.
    began: Vec<Option<Instant>>,
    warmup: u64,
    ok: u64,
    drained: u64,
    unfinished: u64,
    errors: HashMap<Code, u64>,
    latencies: HashMap<u64, u64>,
    /// How long the calls that the end of the window cut off had been in flight.
    cut_off: Vec<Duration>,
}

impl Load {
    /// Of `callers` callers, before the window.
    pub fn new(callers: usize) -> Load {
        Load { left: usize::MAX, began: vec![None; callers], ..Load::default() }
    }

    /// Begins the window, of `calls` calls if a number is given. Those in flight will end in it, so
    /// that as many fewer need to begin.
    pub fn open_window(&mut self, calls: Option<usize>) {
        self.phase = Phase::Measuring;
        let in_flight = self.began.iter().flatten().count();
        self.left = calls.map_or(usize::MAX, |calls| calls.saturating_sub(in_flight));
    }

    /// Ends the window. No call begins any more.
    pub fn close_window(&mut self) {
        self.phase = Phase::Over;
        self.left = 0;
        self.cut_off = self.began.iter().flatten().map(Instant::elapsed).collect();
    }

    /// When the caller's next call begins, which is now; `None` when no further call may begin.
    pub fn begins(&mut self, caller: usize) -> Option<Instant> {
        self.left = self.left.checked_sub(1)?;
        self.began[caller] = Some(Instant::now());
        self.began[caller]
    }

    /// Counts the caller's call, which has ended.
    pub fn ends(&mut self, caller: usize, latency: Duration, outcome: Result<(), Code>) {
        self.began[caller] = None;
        match (self.phase, outcome) {
            (Phase::Measuring, Ok(())) => {
                self.ok += 1;
                *self.latencies.entry(three_digits(latency)).or_default() += 1;
            }
            (Phase::Measuring, Err(code)) => *self.errors.entry(code).or_default() += 1,
            (Phase::Warming, Ok(())) => self.warmup += 1,
            (Phase::Over, Ok(())) => self.drained += 1,
            (Phase::Warming | Phase::Over, Err(_)) => self.unfinished += 1,
        }
    }

    /// The contract's lines for all of this.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (latency_ns, count) in &self.latencies {
            writeln!(out, "{latency_ns} {count}")?;
        }
        for (code, count) in &self.errors {
            let name = CODES.split(' ').nth(*code as usize).unwrap_or_default();
            writeln!(out, "error {name} {count}")?;
        }
        if let Some(max) = self.cut_off.iter().max() {
            let calls = self.cut_off.len();
            let mean_ns = self.cut_off.iter().sum::<Duration>().as_nanos() / calls as u128;
            writeln!(out, "in_flight {calls} {mean_ns} {}", max.as_nanos())?;
        }
        let Load { warmup, ok, drained, .. } = self;
        let unfinished = self.unfinished + self.began.iter().flatten().count() as u64;
        writeln!(out, "warmup {warmup}\nok {ok}\ndrained {drained}\nunfinished {unfinished}")
    }
}

/// In nanoseconds, as HdrHistogram keeps it with three digits: the middle of a step of its size.
fn three_digits(latency: Duration) -> u64 {
    let latency_ns = latency.as_nanos() as u64;
    let step = 1 << (latency_ns | 1).ilog2().saturating_sub(10);
    latency_ns / step * step + step / 2
}
