//! All workers start together, once every connection has been established or has failed.

use super::laps::LapGate;
use super::start_gate::StartGate;
use crate::record::IntervalFeed;
use bookend_io::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

const NOT_YET: u64 = 0;
const NEVER: u64 = u64::MAX;

/// What the workers of a run share. Used at the start and at the end only, and once in thousands of
/// calls that are logged.
#[derive(Debug)]
pub(crate) struct StartBarrier {
    workers_missing: AtomicU32,
    workers_left: AtomicU32,
    connections_ready: AtomicU32,
    start_ns: AtomicU64,
    cancelled: AtomicBool,
    wakers: Vec<Waker>,
    /// Where workers say what they do while the run goes on, if anybody wants to know.
    pub intervals: Option<IntervalFeed>,
    /// Calls in the blocks that the logs of the workers have filled.
    pub calls_logged: Arc<AtomicUsize>,
    laps: Option<Arc<LapGate>>,
    /// What decides when the run begins, where that is not its last worker.
    gate: Option<Arc<StartGate>>,
}

/// Whether the run has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStart {
    /// Some workers are not ready.
    NotYet,
    /// The run began at that time, nanoseconds of the drivers' clock.
    At(u64),
    /// No worker has a connection: there is nothing to measure.
    Never,
}

impl StartBarrier {
    /// A barrier for the workers with these wakers.
    pub fn new(wakers: Vec<Waker>) -> Self {
        Self {
            workers_missing: AtomicU32::new(wakers.len() as u32),
            workers_left: AtomicU32::new(wakers.len() as u32),
            connections_ready: AtomicU32::new(0),
            start_ns: AtomicU64::new(NOT_YET),
            cancelled: AtomicBool::new(false),
            wakers,
            intervals: None,
            calls_logged: Arc::default(),
            laps: None,
            gate: None,
        }
    }

    /// The same with a feed of intervals.
    pub fn with_intervals(self, intervals: Option<IntervalFeed>) -> Self {
        Self { intervals, ..self }
    }

    /// The same for a run that makes calls in laps only.
    pub fn in_laps(mut self, laps: Arc<LapGate>) -> Self {
        laps.open(self.wakers.clone());
        self.laps = Some(laps);
        self
    }

    /// The same for a run that begins when `gate` says so.
    pub fn held_by(mut self, gate: Arc<StartGate>) -> Self {
        gate.open(self.wakers.clone());
        self.gate = Some(gate);
        self
    }

    /// Whether the start is decided elsewhere, and may lie ahead.
    pub fn is_held(&self) -> bool {
        self.gate.is_some()
    }

    /// Where the workers learn of laps, if calls are made in laps only.
    pub fn laps(&self) -> Option<&Arc<LapGate>> {
        self.laps.as_ref()
    }

    /// A worker has `connections` connections, and is ready. The last one to arrive starts the run,
    /// unless that is decided elsewhere.
    pub fn arrive(&self, connections: u32, now_ns: u64) {
        self.connections_ready.fetch_add(connections, Ordering::AcqRel);
        if self.workers_missing.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let ready = self.connections_ready.load(Ordering::Acquire);
        match &self.gate {
            Some(gate) if ready > 0 => gate.set_ready(ready),
            _ => {
                self.start_ns.store(if ready > 0 { now_ns } else { NEVER }, Ordering::Release);
            }
        }
        self.wakers.iter().for_each(Waker::wake);
    }

    /// Whether and when the run has begun.
    pub fn start(&self) -> RunStart {
        match self.start_ns.load(Ordering::Acquire) {
            NOT_YET => match self.gate.as_ref().and_then(|gate| gate.start_ns()) {
                Some(start_ns) => RunStart::At(start_ns),
                None => RunStart::NotYet,
            },
            NEVER => RunStart::Never,
            start_ns => RunStart::At(start_ns),
        }
    }

    /// Ends the run early; what was measured is kept.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.wakers.iter().for_each(Waker::wake);
    }

    /// A worker has ended.
    pub fn end(&self) {
        self.workers_left.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether every worker has ended.
    pub fn is_over(&self) -> bool {
        self.workers_left.load(Ordering::Acquire) == 0
    }

    /// Whether [`StartBarrier::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn barrier(workers: usize) -> StartBarrier {
        StartBarrier::new((0..workers).map(|_| Waker::new().unwrap()).collect())
    }

    #[test]
    fn the_last_worker_starts_the_run() {
        let barrier = barrier(2);
        barrier.arrive(1, 5);
        assert_eq!(barrier.start(), RunStart::NotYet);
        barrier.arrive(0, 7);
        assert_eq!(barrier.start(), RunStart::At(7));
    }

    #[test]
    fn a_run_that_is_held_begins_when_its_gate_says_so() {
        let gate = Arc::new(StartGate::default());
        let barrier = barrier(1).held_by(Arc::clone(&gate));
        assert_eq!(gate.wait(Duration::ZERO), None);
        barrier.arrive(3, 5);
        assert_eq!((gate.wait(Duration::ZERO), barrier.start()), (Some(3), RunStart::NotYet));
        gate.start_at(900);
        assert_eq!(barrier.start(), RunStart::At(900));
    }

    #[test]
    fn a_run_is_over_when_its_last_worker_has_ended() {
        let barrier = barrier(2);
        barrier.end();
        assert!(!barrier.is_over());
        barrier.end();
        assert!(barrier.is_over());
    }

    #[test]
    fn without_a_single_connection_the_run_never_starts() {
        let barrier = barrier(1);
        barrier.arrive(0, 5);
        assert_eq!(barrier.start(), RunStart::Never);
    }
}
