//! How many calls a channel may hold.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counts the calls without an answer, over all threads.
#[derive(Debug)]
pub(crate) struct Gate {
    unanswered: AtomicUsize,
    limit: usize,
    closed: AtomicBool,
}

impl Gate {
    pub fn new(limit: usize) -> Self {
        Self {
            unanswered: AtomicUsize::new(0),
            limit,
            closed: AtomicBool::new(false),
        }
    }

    /// Lets one more call in, if there is room.
    pub fn enter(&self) -> bool {
        let had_room = self.unanswered.fetch_add(1, Ordering::Relaxed) < self.limit;
        if !had_room {
            self.leave();
        }
        had_room
    }

    /// A call is answered.
    pub fn leave(&self) {
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Nobody answers calls any more.
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
    fn a_call_that_is_answered_makes_room_for_another() {
        let gate = Gate::new(2);
        assert!(gate.enter() && gate.enter());
        assert!(!gate.enter() && !gate.enter());
        gate.leave();
        assert!(gate.enter() && !gate.enter());
    }
}
