//! Calls of an open loop: made when they are due, on whichever connection has room.

use super::WorkerShard;
use crate::record::Obstacle;
use crate::worker::session::{Session, SessionState};
use bookend_io::IoContext;

impl<S: Session> WorkerShard<S> {
    /// Makes the calls that are due, on connections in turn. `freed` is a connection on which calls
    /// may have ended: while there is no room, none of the others needs to be looked at.
    ///
    /// Two places call this in each turn, and a closed loop has no due call: as a function of its
    /// own it would cost such a call twenty instructions.
    #[inline(always)]
    pub(super) fn make_due_calls(&mut self, freed: Option<usize>, io: &mut IoContext) {
        if self.state.pace.due_ns() <= io.now_ns() {
            self.make_all_due_calls(freed, io);
        }
    }

    fn make_all_due_calls(&mut self, freed: Option<usize>, io: &mut IoContext) {
        let now_ns = io.now_ns();
        while self.state.pace.due_ns() <= now_ns {
            match self.connection_with_room(freed) {
                Ok(index) => self.make_due_call(index, io),
                Err(obstacle) if self.state.hold_back(obstacle, now_ns) => {}
                Err(_) => break,
            }
        }
        for index in self.unstamped.drain(..) {
            if let Some(session) = &mut self.sessions[index] {
                let due_ns = session.finish_turn(&self.common, &mut self.state.calls, io);
                self.sessions_due_ns = self.sessions_due_ns.min(due_ns);
            }
        }
    }

    fn make_due_call(&mut self, index: usize, io: &mut IoContext) {
        let Some(session) = &mut self.sessions[index] else {
            return;
        };
        let is_made = session.make_due_call(&self.common, &mut self.state, io);
        if is_made && self.unstamped.last() != Some(&index) {
            self.unstamped.push(index);
        }
    }

    /// The connection for the next call, or what there is in the way of it.
    fn connection_with_room(&mut self, freed: Option<usize>) -> Result<usize, Obstacle> {
        let has_room = |index: usize| {
            self.sessions.get(index).and_then(Option::as_ref).is_some_and(S::has_room)
        };
        if let Some(obstacle) = self.state.room.obstacle() {
            return freed.filter(|index| has_room(*index)).ok_or(obstacle);
        }
        let count = self.sessions.len();
        let in_turn = (self.next_connection..count).chain(0..self.next_connection.min(count));
        match in_turn.into_iter().find(|index| has_room(*index)) {
            Some(index) => {
                self.next_connection = index + 1;
                Ok(index)
            }
            None => Err(self.obstacle()),
        }
    }

    fn obstacle(&self) -> Obstacle {
        let mut obstacle = Obstacle::NoConnection;
        for session in self.sessions.iter().flatten() {
            if session.is_at_stream_limit() {
                return Obstacle::StreamLimit;
            }
            if session.state() == SessionState::Open {
                obstacle = Obstacle::InFlightLimit;
            }
        }
        obstacle
    }
}
