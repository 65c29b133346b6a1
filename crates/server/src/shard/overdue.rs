//! Calls whose deadline has passed.

use bookend_io::IoContext;

use super::{Accepted, ServerShard, find};
use crate::calls::CallOf;
use crate::limits::Limits;

impl ServerShard {
    /// Ends the calls whose deadline has passed.
    pub(super) fn end_overdue(&mut self, io: &mut IoContext) {
        if self.deadlines.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        while let Some(due) = self.deadlines.pop_due(now_ns) {
            if let Some(accepted) = find(&mut self.connections, due.id) {
                accepted.expire(due, &self.limits, io);
                accepted.calls.report(&mut self.counts);
                self.turns.add_if_ready(accepted);
                accepted.leave_if_done(io);
            }
        }
    }

    /// Forgets the deadlines of calls that are over.
    #[cold]
    pub(super) fn sweep_deadlines(&mut self) {
        let connections = &mut self.connections;
        self.deadlines.sweep(|&CallOf { id, stream }| {
            find(connections, id).is_some_and(|accepted| accepted.calls.is_going_on(stream))
        });
    }
}

impl Accepted {
    fn expire(&mut self, due: CallOf, limits: &Limits, io: &mut IoContext) {
        self.with_output(io, |sender, calls| {
            calls.expire(sender, due.stream, limits);
        });
    }
}
