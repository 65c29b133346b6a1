//! The number of calls in flight, where it changes in the course of the run.

use super::LoadShard;
use crate::worker::lifecycle::WorkerLifecycle;
use bookend_io::IoContext;

impl LoadShard {
    /// Keeps as many calls in flight as the plan says from now on, if that has changed. Calls that
    /// are too many end by themselves.
    pub(super) fn follow_concurrency(&mut self, io: &mut IoContext) {
        let Some(calls) = self.state.next_concurrency(io.now_ns()) else {
            return;
        };
        self.concurrency = self.state.plan.streams(self.state.worker, calls);
        for connection in self.connections.iter_mut().flatten() {
            connection.concurrency = self.concurrency[connection.number as usize];
        }
        self.make_calls(io);
    }
}
