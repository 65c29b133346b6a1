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

/// The free ones among the threads of one server that take one connection at a time.
#[derive(Debug)]
pub(crate) struct WorkerSlots {
    state: Mutex<State>,
    acceptor: Waker,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<usize>,
    awaited: bool,
}

impl WorkerSlots {
    /// No slot yet. `acceptor` is called when one becomes free that it has asked for.
    pub fn new(acceptor: Waker) -> Self {
        Self { state: Mutex::default(), acceptor }
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

    /// The connection of that slot has ended: its thread is free for the next one.
    pub fn leave(&self, slot: usize) {
        let mut state = self.lock();
        state.free.push(slot);
        if std::mem::take(&mut state.awaited) {
            self.acceptor.wake();
        }
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
        let slots = WorkerSlots::new(acceptor.clone());
        slots.leave(0);
        assert!(!acceptor.wake_up(), "nobody was waiting");
        assert_eq!(slots.take(), Some(0));
        assert!(!slots.is_free_or_await());
        slots.leave(0);
        assert!(acceptor.wake_up());
        assert!(slots.is_free_or_await());
    }
}
