//! Connections whose streams wait for their turn, one after the other.

use std::collections::VecDeque;

use bookend_io::{AfterRead, ConnectionId};

/// The connections that are due for a turn, the one that has waited longest first, each once.
#[derive(Debug, Default)]
pub(super) struct ReadyQueue {
    pub waiting: VecDeque<ConnectionId>,
    /// Connections that used up their turn while they were read: the rest is read in the next one.
    pub paused: Vec<ConnectionId>,
}

impl ReadyQueue {
    /// Whether the shard must be called again at once.
    #[inline]
    pub fn is_due(&self) -> bool {
        !self.waiting.is_empty() || !self.paused.is_empty()
    }

    /// A connection has used up its turn: the others go first before more of it is read.
    #[cold]
    pub fn pause(&mut self, id: ConnectionId) -> AfterRead {
        self.paused.push(id);
        AfterRead::Pause
    }
}
