//! The threads of the pool: a bounded number of them, and a bounded queue.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::call::PoolCall;
use crate::service::Service;

/// The default number of threads for handlers that block: Java's and Python's gRPC servers usually
/// get pools of ten to a hundred.
pub const POOL_THREADS: usize = 64;

/// The default number of calls that may wait for one of these threads: two seconds' worth if each
/// call takes an eighth of a second. A client that would wait longer should fail at once.
pub const POOL_QUEUED_CALLS: usize = 1_024;

/// How many handlers may block, and how many calls may wait for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Threads. They are started when needed, and then kept.
    pub threads: usize,
    /// Calls that may wait for a thread. Further ones end at once with `RESOURCE_EXHAUSTED`.
    pub queued_calls: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits { threads: POOL_THREADS, queued_calls: POOL_QUEUED_CALLS }
    }
}

/// The threads of one server. Once this is dropped, they end as soon as their handlers return.
pub(crate) struct HandlerPool {
    shared: Arc<Shared>,
}

/// A call, and the method that handles it.
pub(crate) struct PoolJob {
    pub service: Arc<dyn Service>,
    pub method: usize,
    pub call: PoolCall,
}

/// There is no room for another call.
pub(crate) struct PoolFull;

struct Shared {
    limits: PoolLimits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<PoolJob>,
    threads: usize,
    idle_threads: usize,
    closed: bool,
}

impl HandlerPool {
    pub fn new(limits: PoolLimits) -> Self {
        HandlerPool {
            shared: Arc::new(Shared { limits, state: Mutex::default(), changed: Condvar::new() }),
        }
    }

    /// Queues a call for the next free thread.
    ///
    /// # Errors
    /// When all threads are busy and the queue is full. The call itself is not ended.
    pub fn submit(&self, job: PoolJob) -> Result<(), PoolFull> {
        let mut state = self.shared.lock();
        if state.idle_threads > state.queue.len() {
            state.queue.push_back(job);
            self.shared.changed.notify_one();
            return Ok(());
        }
        if state.threads < self.shared.limits.threads && self.start_thread() {
            state.threads += 1;
            state.queue.push_back(job);
            return Ok(());
        }
        if !self.shared.has_room(&mut state) {
            job.call.withdraw();
            return Err(PoolFull);
        }
        state.queue.push_back(job);
        Ok(())
    }

    /// Whether another thread could be started.
    fn start_thread(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("bookend-pool".into());
        thread.spawn(move || shared.work()).is_ok()
    }
}

impl Drop for HandlerPool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let unhandled = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.changed.notify_all();
        drop(unhandled);
    }
}

impl Shared {
    /// Handles calls until the pool is closed.
    fn work(&self) {
        while let Some(job) = self.next_job() {
            if !job.call.is_over() {
                let call = job.call.begin();
                let work = || job.service.work(job.method, call);
                // A call that its handler did not finish ends when it is dropped.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        }
    }

    fn next_job(&self) -> Option<PoolJob> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle_threads += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle_threads -= 1;
        }
    }

    /// Whether the queue takes another call; removes those that are over.
    fn has_room(&self, state: &mut State) -> bool {
        if state.threads == 0 {
            return false;
        }
        if state.queue.len() >= self.limits.queued_calls {
            state.queue.retain(|job| !job.call.is_over());
        }
        state.queue.len() < self.limits.queued_calls
    }

    /// No handler runs under the lock, and nothing else there panics.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
