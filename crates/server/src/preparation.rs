//! Large requests, which are inflated and decoded on threads of their own: either can take a
//! hundred milliseconds for one message, and the thread that reads it has other connections.
//!
//! Nobody could be that slow by chance. Four megabytes of gzip can be a million blocks of nothing,
//! each with tables of its own, and four megabytes of protobuf two million messages of nothing.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use crate::call_event::{CallEventKind, Notifier, ReplyTo};
use crate::large_request::{LargeRequest, PreparationResult};
use crate::pool::clients::Job;
use crate::pool::threads::{PoolLimits, Threads};
use crate::status;

/// Large requests that may wait for a thread. What they hold is bounded by the limits of their
/// connections, and by the budget of the server.
const QUEUED_REQUESTS: usize = 4_096;

/// The threads that prepare the large requests of a server.
pub(crate) type PreparationThreads = Threads<PreparationJob>;

impl PreparationThreads {
    /// As many as there are processors.
    pub fn for_this_machine() -> Self {
        let threads = available_parallelism().map_or(1, NonZeroUsize::get);
        let limits = PoolLimits { threads, queued_calls: QUEUED_REQUESTS, client_wait: None };
        Threads::new(limits, "bookend-prepare")
    }

    /// Has a large request prepared. The notifier hears of it in any case.
    pub fn begin(&self, request: LargeRequest, notifier: Notifier) -> Preparation {
        let (bytes, was_compressed) = (request.bytes.len(), request.was_compressed);
        let shared = Arc::new(Mutex::new(Some(request)));
        let connection = notifier.reply_to.clone();
        let request = Arc::clone(&shared);
        let job = PreparationJob { request, connection, notifier: Some(notifier) };
        // A job that finds no room says so when it is dropped.
        let _ = self.submit(job);
        Preparation { request: shared, bytes, was_compressed }
    }
}

/// The call's end of a request that is being prepared. Once it is dropped, the request is too.
pub(crate) struct Preparation {
    request: SharedRequest,
    pub bytes: usize,
    pub was_compressed: bool,
}

impl Drop for Preparation {
    fn drop(&mut self) {
        let request = lock(&self.request).take();
        drop(request);
    }
}

/// `None` once a thread has begun with it, or its call is over.
type SharedRequest = Arc<Mutex<Option<LargeRequest>>>;

fn lock(request: &SharedRequest) -> MutexGuard<'_, Option<LargeRequest>> {
    request.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request that waits for a thread, or has one.
pub(crate) struct PreparationJob {
    request: SharedRequest,
    connection: ReplyTo,
    /// `None` once the shard was notified.
    notifier: Option<Notifier>,
}

impl PreparationJob {
    fn finish(&mut self, result: PreparationResult) {
        if let Some(notifier) = self.notifier.take() {
            notifier.post(CallEventKind::Prepared(result));
        }
    }
}

impl Job for PreparationJob {
    type Connection = ReplyTo;
    type Ticket = ();

    fn connection(&self) -> &ReplyTo {
        &self.connection
    }

    fn ticket(&self) {}

    fn is_over(&self) -> bool {
        lock(&self.request).is_none()
    }

    fn run(mut self) {
        let Some(request) = lock(&self.request).take() else {
            return;
        };
        let prepared = request.prepared();
        if Arc::strong_count(&self.request) > 1 || prepared.is_err() {
            self.finish(prepared);
        }
        // Otherwise its call is over, and a large message is dropped here rather than there.
    }

    fn withdraw(mut self) {
        self.finish(Err(status::pool_full().into()));
    }

    fn refuse(self) {
        self.withdraw();
    }

    fn waited((): &(), _: Instant) -> Option<Duration> {
        None
    }

    fn recall((): &()) {}
}

impl Drop for PreparationJob {
    fn drop(&mut self) {
        self.finish(Err(status::preparation_failed().into()));
    }
}
