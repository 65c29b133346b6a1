//! Calls whose deadline has passed.

use bookend_io::Turn;

use super::{Accepted, ServerShard, find};
use crate::deadlines::CallOf;
use crate::limits::Limits;

impl ServerShard {
    /// Ends the calls whose deadline has passed.
    pub(super) fn end_overdue(&mut self, turn: &mut Turn) {
        if self.deadlines.next().is_none() {
            return;
        }
        let now_ns = turn.now_ns();
        while let Some(due) = self.deadlines.take_due(now_ns) {
            if let Some(accepted) = find(&mut self.sessions, due.whose.session) {
                accepted.expire(due.whose, &self.limits, turn);
                accepted.calls.report(&mut self.counts);
                self.turns.add_if_ready(accepted);
                accepted.leave_if_done(turn);
            }
        }
    }

    /// Forgets the deadlines of calls that are over.
    #[cold]
    pub(super) fn sweep_deadlines(&mut self) {
        let sessions = &mut self.sessions;
        self.deadlines.sweep(|deadline| {
            let CallOf { session, stream } = deadline.whose;
            find(sessions, session).is_some_and(|accepted| accepted.calls.is_going_on(stream))
        });
    }
}

impl Accepted {
    fn expire(&mut self, due: CallOf, limits: &Limits, turn: &mut Turn) {
        self.with_output(turn, |sender, calls| {
            calls.expire(sender, due.stream, limits);
        });
    }
}
