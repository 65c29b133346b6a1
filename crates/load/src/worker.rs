//! How a worker goes through its state, whatever its connections are used for.

mod connect;
pub(crate) mod connection_manager;
pub(crate) mod load_connection;
pub(crate) mod load_shard;
pub(crate) mod one_shot;
pub(crate) mod phases;
pub(crate) mod reset_queue;
pub(crate) mod source_addresses;
pub(crate) mod start_barrier;
pub(crate) mod state;

use crate::worker::phases::Phase;
use crate::worker::state::WorkerState;
use bookend_io::IoContext;

/// What a worker does where a phase begins or ends.
pub(crate) trait Worker {
    /// Its state.
    fn state(&mut self) -> &mut WorkerState;

    /// Arrives at the barrier, once it waits for no more before the run begins.
    fn try_to_arrive(&mut self, io: &mut IoContext);

    /// Makes all calls that are missing.
    fn make_calls(&mut self, io: &mut IoContext);

    /// Every call in flight fails here.
    fn fail_everything(&mut self, io: &mut IoContext);

    /// Closes all connections.
    fn close_everything(&mut self, io: &mut IoContext);

    /// Moves to the phase that the time belongs to.
    fn advance(&mut self, io: &mut IoContext) {
        if self.state().phase() == Phase::Connecting {
            self.try_to_begin(io);
        }
        self.state().try_to_open_window(io);
        if self.state().window_is_over(io.now_ns()) {
            if self.state().closes_at_end() {
                self.fail_everything(io);
            }
            self.state().end_window(io);
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

    /// Leaves where the driver is to stop.
    fn leave_if_stopping(&mut self, io: &mut IoContext) {
        if io.stopping() && self.state().phase() != Phase::Over {
            self.leave(io);
        }
    }

    /// Ends the worker.
    fn leave(&mut self, io: &mut IoContext) {
        self.state().end();
        self.close_everything(io);
        io.stop();
    }
}
