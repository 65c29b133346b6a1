//! Laps: spans of a run in which calls are made, with nothing in flight between two of them.

use crate::record::OpenLoopCalls;
use bookend_io::Waker;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// No lap is being run.
const NO_LAP: u64 = u64::MAX;

/// What was called in one lap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LapCalls {
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// From its start to the end of its last call, nanoseconds.
    pub length_ns: u64,
    /// When calls should have been made, in an open loop.
    pub open_loop: Option<Box<OpenLoopCalls>>,
}

/// Through which a session tells the workers of its run to begin a lap, and they tell it the end.
#[derive(Debug, Default)]
pub(crate) struct LapGate {
    /// Counts the laps. Workers read it when they are woken.
    number: AtomicU64,
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    /// Whether the lap belongs to the window, and not to the warm-up.
    counts: AtomicBool,
    current: Mutex<CurrentLap>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct CurrentLap {
    wakers: Vec<Waker>,
    workers_running: usize,
    begin_ns: u64,
    calls: LapCalls,
}

impl LapCalls {
    /// Adds those of another worker, or of another generator.
    pub fn merge(&mut self, other: LapCalls) {
        self.ok += other.ok;
        self.failed += other.failed;
        self.length_ns = self.length_ns.max(other.length_ns);
        match (&mut self.open_loop, other.open_loop) {
            (Some(own), Some(calls)) => own.merge(&calls),
            (own, calls) => *own = own.take().or(calls),
        }
    }
}

impl LapGate {
    /// These workers run the laps.
    pub fn open(&self, wakers: Vec<Waker>) {
        self.current().wakers = wakers;
    }

    /// Begins a lap in which calls are made until `end_ns`. `counts`: it is one of the window; all
    /// laps after it are.
    pub fn begin(&self, begin_ns: u64, end_ns: u64, counts: bool) {
        let mut current = self.current();
        current.workers_running = current.wakers.len();
        current.begin_ns = begin_ns;
        current.calls = LapCalls::default();
        self.begin_ns.store(begin_ns, Ordering::Release);
        self.end_ns.store(end_ns, Ordering::Release);
        self.counts.store(counts, Ordering::Release);
        self.number.fetch_add(1, Ordering::Release);
        current.wakers.iter().for_each(Waker::wake);
    }

    /// Waits for the lap's last call, at most for `timeout`. `None`: it has not ended.
    pub fn wait(&self, timeout: Duration) -> Option<LapCalls> {
        let runs = |current: &mut CurrentLap| current.workers_running > 0;
        let (mut current, _) = self
            .ended
            .wait_timeout_while(self.current(), timeout, runs)
            .unwrap_or_else(PoisonError::into_inner);
        (current.workers_running == 0).then(|| std::mem::take(&mut current.calls))
    }

    /// A worker's last call has ended at `now_ns`. `calls` are those of the worker.
    fn end(&self, calls: LapCalls, now_ns: u64) {
        let mut current = self.current();
        let length_ns = now_ns.saturating_sub(current.begin_ns);
        current.calls.merge(LapCalls { length_ns, ..calls });
        current.workers_running = current.workers_running.saturating_sub(1);
        if current.workers_running == 0 {
            self.ended.notify_all();
        }
    }

    fn current(&self) -> MutexGuard<'_, CurrentLap> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The laps of one worker.
#[derive(Debug)]
pub(super) struct WorkerLaps {
    gate: Arc<LapGate>,
    number: u64,
    /// Whether a lap of the window has begun.
    has_window: bool,
    end_ns: u64,
    /// When to look whether the lap is over; later, only calls that end can end it.
    deadline_ns: u64,
    ok_before: u64,
    failed_before: u64,
}

/// A lap that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct LapBegin {
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Whether it is the first of the window.
    pub opens_window: bool,
}

impl WorkerLaps {
    pub fn new(gate: Arc<LapGate>) -> Self {
        Self {
            gate,
            number: 0,
            has_window: false,
            end_ns: NO_LAP,
            deadline_ns: NO_LAP,
            ok_before: 0,
            failed_before: 0,
        }
    }

    /// A lap that was asked for and begins at `now_ns` at the latest. `None`: no other was, or its
    /// time has not come.
    pub fn begin(&mut self, now_ns: u64) -> Option<LapBegin> {
        let number = self.gate.number.load(Ordering::Acquire);
        if number == self.number {
            return None;
        }
        let begin_ns = self.gate.begin_ns.load(Ordering::Acquire);
        if now_ns < begin_ns {
            self.deadline_ns = begin_ns;
            return None;
        }
        let counts = self.gate.counts.load(Ordering::Acquire);
        let opens_window = counts && !std::mem::replace(&mut self.has_window, counts);
        self.number = number;
        self.end_ns = self.gate.end_ns.load(Ordering::Acquire);
        self.deadline_ns = self.end_ns;
        Some(LapBegin { begin_ns, end_ns: self.end_ns, opens_window })
    }

    /// `ok` and `failed` calls had ended before the lap that has begun.
    pub fn count_from(&mut self, ok: u64, failed: u64) {
        (self.ok_before, self.failed_before) = (ok, failed);
    }

    /// Whether a lap runs whose last call may be made.
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.end_ns != NO_LAP && now_ns >= self.end_ns
    }

    /// When the next lap begins, or no more calls of this one are made; `u64::MAX` where that is
    /// not known, or is over.
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// The time for calls is over, and some are in flight.
    pub fn await_calls(&mut self) {
        self.deadline_ns = NO_LAP;
    }

    /// Whether no lap runs.
    pub fn waits(&self) -> bool {
        self.end_ns == NO_LAP
    }

    /// Its last call has ended. `ok` and `failed` calls have ended by now, of all laps; those of an
    /// open loop are of this one.
    pub fn end(
        &mut self,
        (ok, failed): (u64, u64),
        open_loop: Option<Box<OpenLoopCalls>>,
        now_ns: u64,
    ) {
        (self.end_ns, self.deadline_ns) = (NO_LAP, NO_LAP);
        let (ok, failed) = (ok - self.ok_before, failed - self.failed_before);
        self.gate.end(LapCalls { ok, failed, length_ns: 0, open_loop }, now_ns);
    }
}
