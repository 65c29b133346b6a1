//! What a server counts.

use std::collections::HashMap;
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
    /// Connections that were reset because the server held too much, and they most of it.
    pub shed_connections: u64,
    /// Connections that were closed at once because too many came from their address.
    pub refused_connections: u64,
    /// Calls that ended with `RESOURCE_EXHAUSTED` because their handlers waited, on the pool, while
    /// other calls needed their threads. They are among the errors.
    pub recalled: u64,
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
        self.shed_connections += other.shed_connections;
        self.refused_connections += other.refused_connections;
        self.recalled += other.recalled;
    }
}

/// Where shards leave their counts: those that have ended, and those that go on, as they were a few
/// seconds ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedCounts(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    of_ended_shards: Counts,
    /// By the number of the shard.
    live: HashMap<u64, Counts>,
}

impl SharedCounts {
    /// What a shard that goes on has done so far.
    pub fn publish(&self, shard: u64, counts: Counts) {
        self.lock().live.insert(shard, counts);
    }

    /// What a shard has done that has ended.
    pub fn end(&self, shard: u64, counts: Counts) {
        let mut shared = self.lock();
        shared.live.remove(&shard);
        shared.of_ended_shards += counts;
    }

    /// Of the shards that have ended.
    pub fn total(&self) -> Counts {
        self.lock().of_ended_shards
    }

    /// Of all shards.
    pub fn so_far(&self) -> Counts {
        let shared = self.lock();
        let mut counts = shared.of_ended_shards;
        shared.live.values().for_each(|live| counts += *live);
        counts
    }

    /// Nothing can panic while the lock is held.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
