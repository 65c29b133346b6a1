//! How many calls a channel may hold.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A semaphore for which no thread waits: one permit for each call without a response.
#[derive(Debug)]
pub(crate) struct CallLimit {
    calls: AtomicUsize,
    pub calls_max: usize,
    closed: AtomicBool,
}

impl CallLimit {
    pub fn new(calls_max: usize) -> Self {
        Self { calls: AtomicUsize::new(0), calls_max, closed: AtomicBool::new(false) }
    }

    /// Takes a permit, if there is one.
    pub fn try_acquire(&self) -> bool {
        let had_room = self.calls.fetch_add(1, Ordering::Relaxed) < self.calls_max;
        if !had_room {
            self.release();
        }
        had_room
    }

    /// The call of a permit has ended.
    pub fn release(&self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// No thread handles calls any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_has_ended_makes_room_for_another() {
        let limit = CallLimit::new(2);
        assert!(limit.try_acquire() && limit.try_acquire());
        assert!(!limit.try_acquire() && !limit.try_acquire());
        limit.release();
        assert!(limit.try_acquire() && !limit.try_acquire());
    }
}
