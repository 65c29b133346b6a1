//! Sending values to a shard from other threads.

use crate::waker::Waker;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A queue from many threads into one shard. The shard drains it in [`crate::Shard::woken`].
///
/// Every value arrives once, those of one thread in their order; a batch costs one call of the
/// [`Waker`]. Values pushed after the shard is gone are dropped with the mailbox.
#[derive(Debug)]
pub struct Mailbox<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Vec<T>>,
    waker: Waker,
}

impl<T> Mailbox<T> {
    /// An empty mailbox of the shard that `waker` calls.
    pub fn new(waker: Waker) -> Self {
        Self(Arc::new(Shared { queue: Mutex::new(Vec::new()), waker }))
    }

    /// Adds a value. Wakes the shard if the mailbox was empty; otherwise an earlier push has.
    pub fn push(&self, value: T) {
        let mut queue = self.lock();
        let first = queue.is_empty();
        queue.push(value);
        drop(queue);
        if first {
            self.0.waker.wake();
        }
    }

    /// Whether both are the same mailbox.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Appends everything in the mailbox to `values`.
    pub fn drain_into(&self, values: &mut Vec<T>) {
        let mut queue = self.lock();
        if values.is_empty() {
            mem::swap(&mut *queue, values);
        } else {
            values.append(&mut queue);
        }
    }

    /// A push that panicked (out of memory) left the queue whole.
    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
