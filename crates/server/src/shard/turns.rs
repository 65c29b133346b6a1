//! Connections whose streams wait for their turn, one after the other.

use std::collections::VecDeque;

use bookend_io::{AfterRead, ConnectionId, IoContext};

use super::{Accepted, ServerShard, find};
use crate::budgets::CONNECTION_OUTPUT_BYTES;
use crate::limits::Limits;

/// The connections that are to have a turn, the one that waits longest first, each once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: VecDeque<ConnectionId>,
    /// Connections that have had their turn while they were read: the rest comes in the next one.
    resting: Vec<ConnectionId>,
}

impl Turns {
    /// Whether the shard is to be called again at once.
    #[inline]
    pub fn are_due(&self) -> bool {
        !self.waiting.is_empty() || !self.resting.is_empty()
    }

    /// A connection has done enough for this turn: it is read on when the others were heard.
    #[cold]
    pub fn rest(&mut self, id: ConnectionId) -> AfterRead {
        self.resting.push(id);
        AfterRead::Pause
    }
}

impl ServerShard {
    /// Gives each connection in the queue one turn. What takes longer than that comes after all
    /// others, and after what has come meanwhile.
    pub(super) fn take_turns(&mut self, io: &mut IoContext) {
        for id in self.turns.resting.drain(..) {
            io.resume(id);
        }
        for _ in 0..self.turns.waiting.len() {
            let Some(id) = self.turns.waiting.pop_front() else {
                return;
            };
            let Some(accepted) = find(&mut self.connections, id) else {
                continue;
            };
            accepted.in_turns = false;
            // As the streams measure it, who would find no room otherwise and come back at once.
            if io.output(id).len() >= CONNECTION_OUTPUT_BYTES {
                // Who asks is told when the driver has written everything: see `writable`.
                io.backlog(id);
                continue;
            }
            accepted.take_turns(&self.limits, io);
            accepted.calls.report(&mut self.counts);
            self.turns.add_if_ready(accepted);
            accepted.leave_if_done(io);
        }
    }

    /// All output of that connection is written: its streams go on, and it is read again.
    pub(super) fn go_on(&mut self, id: ConnectionId, io: &mut IoContext) {
        if let Some(accepted) = find(&mut self.connections, id) {
            if std::mem::take(&mut accepted.is_stopped) {
                io.resume(id);
            }
            self.turns.add_if_ready(accepted);
        }
    }
}

impl Turns {
    /// Puts a connection in the queue if its streams can make use of a turn.
    #[inline]
    pub fn add_if_ready(&mut self, accepted: &mut Accepted) {
        if accepted.calls.is_ready() && !accepted.in_turns {
            accepted.in_turns = true;
            self.waiting.push_back(accepted.id);
        }
    }
}

impl Accepted {
    fn take_turns(&mut self, limits: &Limits, io: &mut IoContext) {
        self.with_output(io, |sender, calls| calls.take_turns(sender, limits));
    }
}
