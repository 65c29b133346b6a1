//! How a worker goes through its course, whatever its connections are used for.

use crate::course::Course;
use crate::phase::Phase;
use bookend_io::Turn;

/// What a worker does where a phase begins or ends.
pub(crate) trait Worker {
    /// Its course.
    fn course(&mut self) -> &mut Course;

    /// Arrives at the gate, once it waits for no more before the run begins.
    fn try_to_arrive(&mut self, turn: &mut Turn);

    /// Makes all calls that are missing.
    fn make_calls(&mut self, turn: &mut Turn);

    /// Every call in flight fails here.
    fn fail_everything(&mut self, turn: &mut Turn);

    /// Closes all connections.
    fn close_everything(&mut self, turn: &mut Turn);

    /// Moves to the phase that the time belongs to.
    fn advance(&mut self, turn: &mut Turn) {
        if self.course().phase() == Phase::Connecting {
            self.try_to_begin(turn);
        }
        self.course().try_to_open_window(turn);
        if self.course().window_is_over(turn.now_ns()) {
            if self.course().closes_at_end() {
                self.fail_everything(turn);
            }
            self.course().end_window(turn);
        }
        if self.course().may_leave(turn.now_ns()) {
            self.leave(turn);
        }
    }

    /// The run begins once every worker has arrived.
    fn try_to_begin(&mut self, turn: &mut Turn) {
        self.try_to_arrive(turn);
        if !self.course().try_to_begin(turn.now_ns()) {
            self.leave(turn);
        } else if self.course().makes_calls() {
            self.course().try_to_open_window(turn);
            self.make_calls(turn);
        }
    }

    /// Leaves where the driver is to stop.
    fn leave_if_stopping(&mut self, turn: &mut Turn) {
        if turn.stopping() && self.course().phase() != Phase::Over {
            self.leave(turn);
        }
    }

    /// Ends the worker.
    fn leave(&mut self, turn: &mut Turn) {
        self.course().end();
        self.close_everything(turn);
        turn.stop();
    }
}
