//! Connections whose streams wait for their turn, one after the other.

use std::collections::VecDeque;

use bookend_io::{Session, Then, Turn};

use super::{Accepted, ServerShard, find};
use crate::budgets::CONNECTION_OUTPUT_BYTES;
use crate::limits::Limits;

/// The connections that are to have a turn, the one that waits longest first, each once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: VecDeque<Session>,
    /// Connections that have had their turn while they were read: the rest comes in the next one.
    resting: Vec<Session>,
}

impl Turns {
    /// Whether the shard is to be called again at once.
    #[inline]
    pub fn are_due(&self) -> bool {
        !self.waiting.is_empty() || !self.resting.is_empty()
    }

    /// A connection has done enough for this turn: it is read on when the others were heard.
    #[cold]
    pub fn rest(&mut self, session: Session) -> Then {
        self.resting.push(session);
        Then::Pause
    }
}

impl ServerShard {
    /// Gives each connection in the queue one turn. What takes longer than that comes after all
    /// others, and after what has come meanwhile.
    pub(super) fn take_turns(&mut self, turn: &mut Turn) {
        for session in self.turns.resting.drain(..) {
            turn.resume(session);
        }
        for _ in 0..self.turns.waiting.len() {
            let Some(session) = self.turns.waiting.pop_front() else {
                return;
            };
            let Some(accepted) = find(&mut self.sessions, session) else {
                continue;
            };
            accepted.in_turns = false;
            // As the streams measure it, who would find no room otherwise and come back at once.
            if turn.output(session).len() >= CONNECTION_OUTPUT_BYTES {
                // Who asks is told when the driver has written everything: see `writable`.
                turn.backlog(session);
                continue;
            }
            accepted.take_turns(&self.limits, turn);
            accepted.calls.report(&mut self.counts);
            self.turns.add_if_ready(accepted);
            accepted.leave_if_done(turn);
        }
    }

    /// All output of that connection is written: its streams go on, and it is read again.
    pub(super) fn go_on(&mut self, session: Session, turn: &mut Turn) {
        if let Some(accepted) = find(&mut self.sessions, session) {
            if std::mem::take(&mut accepted.is_stopped) {
                turn.resume(session);
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
            self.waiting.push_back(accepted.session);
        }
    }
}

impl Accepted {
    fn take_turns(&mut self, limits: &Limits, turn: &mut Turn) {
        self.with_output(turn, |sender, calls| calls.take_turns(sender, limits));
    }
}
