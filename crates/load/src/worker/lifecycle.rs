//! How a worker goes through the phases of a run, whatever its connections are used for.

use super::phases::RunPhase;
use super::state::WorkerState;
use crate::record::InFlightAges;
use bookend_io::IoContext;

/// What a worker does where a phase begins or ends.
pub(super) trait WorkerLifecycle {
    /// Its state.
    fn state(&mut self) -> &mut WorkerState;

    /// Arrives at the start barrier, once it is ready for the run to begin.
    fn try_to_arrive(&mut self, io: &mut IoContext);

    /// Makes all calls that are missing.
    fn make_calls(&mut self, io: &mut IoContext);

    /// How long the calls in flight have been so at `now_ns`.
    fn in_flight_ages(&self, now_ns: u64) -> InFlightAges;

    /// Fails every call in flight.
    fn fail_all(&mut self, io: &mut IoContext);

    /// Closes all connections.
    fn close_all(&mut self, io: &mut IoContext);

    /// Moves to the phase that the time belongs to.
    fn advance(&mut self, io: &mut IoContext) {
        if self.state().phase() == RunPhase::Connecting {
            self.try_to_begin(io);
        }
        self.state().try_to_open_window(io);
        self.state().follow_intervals(io.now_ns());
        self.state().try_to_end_lap(io.now_ns());
        if self.state().window_is_over(io.now_ns()) {
            if self.state().closes_at_end() {
                self.fail_all(io);
            }
            let in_flight = self.in_flight_ages(io.now_ns());
            self.state().end_window(in_flight, io);
        }
        if self.state().may_leave(io.now_ns()) {
            self.leave(io);
        }
    }

    /// The run begins once every worker has arrived.
    fn try_to_begin(&mut self, io: &mut IoContext) {
        self.try_to_arrive(io);
        if !self.state().try_to_begin(io.now_ns()) {
            self.leave(io);
        } else if self.state().makes_calls() {
            self.state().try_to_open_window(io);
            self.make_calls(io);
        }
    }

    /// Leaves if the driver is stopping.
    fn leave_if_stopping(&mut self, io: &mut IoContext) {
        if io.stopping() && self.state().phase() != RunPhase::Over {
            self.leave(io);
        }
    }

    /// Ends the worker.
    fn leave(&mut self, io: &mut IoContext) {
        let in_flight = self.in_flight_ages(io.now_ns());
        self.state().end(in_flight);
        self.close_all(io);
        io.stop();
    }
}
