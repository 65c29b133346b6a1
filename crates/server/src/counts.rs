//! What a server counts.

use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls answered with `OK`.
    pub answered_ok: u64,
    /// Calls answered with another code.
    pub answered_error: u64,
    /// Replies of deferred and pooled handlers that came after their call had ended.
    pub late: u64,
    /// Handlers that panicked. Their calls are among the errors.
    pub panics: u64,
    /// Connections that were closed because the client violated HTTP/2, did not send its preface in
    /// time, or reset too many streams.
    pub broken_connections: u64,
    /// Calls that ended with `UNAVAILABLE` because their time was up when the server stopped or
    /// their connection reached its maximum age. They are among the errors.
    pub cut_off: u64,
    /// Connections whose clients were asked to reconnect because the connection had reached its
    /// maximum age or was idle for too long.
    pub retired_connections: u64,
    /// Connections whose clients did not answer a keepalive PING.
    pub vanished_connections: u64,
}

impl Counts {
    /// All calls that were answered.
    pub fn served(&self) -> u64 {
        self.answered_ok + self.answered_error
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.answered_ok += other.answered_ok;
        self.answered_error += other.answered_error;
        self.late += other.late;
        self.panics += other.panics;
        self.broken_connections += other.broken_connections;
        self.cut_off += other.cut_off;
        self.retired_connections += other.retired_connections;
        self.vanished_connections += other.vanished_connections;
    }
}

/// Where a shard leaves its counts when it ends.
#[derive(Clone, Default)]
pub(crate) struct SharedCounts(Arc<Mutex<Counts>>);

impl SharedCounts {
    pub fn add(&self, counts: Counts) {
        *self.lock() += counts;
    }

    pub fn total(&self) -> Counts {
        *self.lock()
    }

    /// Nothing can panic while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
