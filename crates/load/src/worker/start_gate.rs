//! Runs whose start somebody else decides, once their connections are made.

use bookend_io::Waker;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const NOT_YET: u64 = 0;

/// Holds a run back whose workers are ready, until somebody says when it begins.
#[derive(Debug, Default)]
pub struct StartGate {
    start_ns: AtomicU64,
    waiting: Mutex<Waiting>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<Waker>,
    /// Connections that the workers have, once all are ready.
    connections: Option<u32>,
}

impl StartGate {
    /// Waits until the workers are ready, at most for `timeout`: the number of their connections.
    pub fn wait(&self, timeout: Duration) -> Option<u32> {
        let (waiting, _) = self
            .ready
            .wait_timeout_while(self.waiting(), timeout, |waiting| waiting.connections.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        waiting.connections
    }

    /// The run begins at that time, nanoseconds of the drivers' clock.
    pub fn start_at(&self, start_ns: u64) {
        self.start_ns.store(start_ns.max(NOT_YET + 1), Ordering::Release);
        self.waiting().wakers.iter().for_each(Waker::wake);
    }

    /// These are woken when the start is known.
    pub(super) fn open(&self, wakers: Vec<Waker>) {
        self.waiting().wakers = wakers;
    }

    /// All workers are ready, with that number of connections.
    pub(super) fn set_ready(&self, connections: u32) {
        self.waiting().connections = Some(connections);
        self.ready.notify_all();
    }

    /// When the run begins, if that is known.
    pub(super) fn start_ns(&self) -> Option<u64> {
        let start_ns = self.start_ns.load(Ordering::Acquire);
        (start_ns != NOT_YET).then_some(start_ns)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
