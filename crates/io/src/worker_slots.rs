//! Which blocking threads are free for a connection.

use crate::mailbox::Mailbox;
use crate::waker::Waker;
use rustix::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a blocking thread of a server gets one connection after another.
#[derive(Debug)]
pub(crate) struct WorkerSlot {
    pub number: usize,
    pub arrivals: Mailbox<OwnedFd>,
    pub slots: Arc<WorkerSlots>,
}

/// The threads of one server that take one connection at a time: those that are free, and those
/// that have ended since enough are.
#[derive(Debug)]
pub(crate) struct WorkerSlots {
    state: Mutex<State>,
    acceptor: Waker,
    /// Threads without a connection that are kept.
    free_max: usize,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<usize>,
    /// Their threads end.
    retiring: Vec<usize>,
    /// Their threads have ended.
    ended: Vec<usize>,
    awaited: bool,
}

impl WorkerSlots {
    /// No slot yet. `acceptor` is called when one becomes free that it has asked for, and when a
    /// thread has ended.
    pub fn new(acceptor: Waker, free_max: usize) -> Self {
        Self { state: Mutex::default(), acceptor, free_max }
    }

    /// The slot of a new thread is free.
    pub fn add(&self, slot: usize) {
        self.lock().free.push(slot);
    }

    /// A free slot, the one left last: its thread's memory is the warmest.
    pub fn take(&self) -> Option<usize> {
        self.lock().free.pop()
    }

    /// Whether one is free. If not, the acceptor is called as soon as one is.
    pub fn is_free_or_await(&self) -> bool {
        let mut state = self.lock();
        state.awaited = state.free.is_empty();
        !state.awaited
    }

    /// The connection of that slot has ended. Whether its thread is to wait for the next one; it
    /// ends if enough are waiting.
    pub fn leave(&self, slot: usize) -> bool {
        let mut state = self.lock();
        let stays = state.free.len() < self.free_max;
        match stays {
            true => state.free.push(slot),
            false => state.retiring.push(slot),
        }
        if stays && std::mem::take(&mut state.awaited) {
            self.acceptor.wake();
        }
        stays
    }

    /// The thread of that slot ends. Whether that is because enough others wait.
    pub fn end(&self, slot: usize) -> bool {
        let mut state = self.lock();
        let Some(at) = state.retiring.iter().position(|retiring| *retiring == slot) else {
            return false;
        };
        state.retiring.swap_remove(at);
        state.ended.push(slot);
        self.acceptor.wake();
        true
    }

    /// The slots whose threads have ended since the last time.
    pub fn take_ended(&self) -> Vec<usize> {
        std::mem::take(&mut self.lock().ended)
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acceptor_is_called_only_for_a_slot_it_waits_for() {
        let acceptor = Waker::new().unwrap();
        let slots = WorkerSlots::new(acceptor.clone(), 8);
        slots.add(0);
        assert!(!acceptor.wake_up(), "nobody was waiting");
        assert_eq!(slots.take(), Some(0));
        assert!(!slots.is_free_or_await());
        slots.leave(0);
        assert!(acceptor.wake_up());
        assert!(slots.is_free_or_await());
    }
    #[test]
    fn a_thread_ends_where_enough_others_wait() {
        let acceptor = Waker::new().unwrap();
        let slots = WorkerSlots::new(acceptor.clone(), 2);
        assert!(slots.leave(0) && slots.leave(1));
        assert!(!slots.leave(2));
        assert!(!slots.end(1), "that one waits");
        assert!(slots.take_ended().is_empty());
        assert!(slots.end(2) && acceptor.wake_up());
        assert_eq!(slots.take_ended(), [2]);
        assert_eq!((slots.take(), slots.take(), slots.take()), (Some(1), Some(0), None));
    }
}
