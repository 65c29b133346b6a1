//! How a worker goes through its course, whatever its connections are used for.

use crate::course::Course;
use crate::phase::Phase;
use bookend_io::IoContext;

/// What a worker does where a phase begins or ends.
pub(crate) trait Worker {
    /// Its course.
    fn course(&mut self) -> &mut Course;

    /// Arrives at the gate, once it waits for no more before the run begins.
    fn try_to_arrive(&mut self, io: &mut IoContext);

    /// Makes all calls that are missing.
    fn make_calls(&mut self, io: &mut IoContext);

    /// Every call in flight fails here.
    fn fail_everything(&mut self, io: &mut IoContext);

    /// Closes all connections.
    fn close_everything(&mut self, io: &mut IoContext);

    /// Moves to the phase that the time belongs to.
    fn advance(&mut self, io: &mut IoContext) {
        if self.course().phase() == Phase::Connecting {
            self.try_to_begin(io);
        }
        self.course().try_to_open_window(io);
        if self.course().window_is_over(io.now_ns()) {
            if self.course().closes_at_end() {
                self.fail_everything(io);
            }
            self.course().end_window(io);
        }
        if self.course().may_leave(io.now_ns()) {
            self.leave(io);
        }
    }

    /// The run begins once every worker has arrived.
    fn try_to_begin(&mut self, io: &mut IoContext) {
        self.try_to_arrive(io);
        if !self.course().try_to_begin(io.now_ns()) {
            self.leave(io);
        } else if self.course().makes_calls() {
            self.course().try_to_open_window(io);
            self.make_calls(io);
        }
    }

    /// Leaves where the driver is to stop.
    fn leave_if_stopping(&mut self, io: &mut IoContext) {
        if io.stopping() && self.course().phase() != Phase::Over {
            self.leave(io);
        }
    }

    /// Ends the worker.
    fn leave(&mut self, io: &mut IoContext) {
        self.course().end();
        self.close_everything(io);
        io.stop();
    }
}
