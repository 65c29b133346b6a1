//! Calls of an open loop: made when they are due, on whichever connection has room.

use super::ThriftShard;
use super::connection::ThriftConnection;
use crate::record::Obstacle;
use bookend_io::IoContext;

impl ThriftShard {
    /// Makes the calls that are due, on connections in turn. `freed` is a connection on which calls
    /// may have ended: while there is no room, none of the others needs to be looked at.
    #[inline]
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
            if let Some(connection) = &mut self.connections[index] {
                connection.stamp_starts(&self.call, &mut self.state.calls, io);
            }
        }
    }

    fn make_due_call(&mut self, index: usize, io: &mut IoContext) {
        if let Some(connection) = &mut self.connections[index] {
            connection.make_due_call(&self.call, &mut self.state, io);
            if self.unstamped.last() != Some(&index) {
                self.unstamped.push(index);
            }
        }
    }

    /// The connection for the next call, or what there is in the way of it.
    fn connection_with_room(&mut self, freed: Option<usize>) -> Result<usize, Obstacle> {
        let has_room = |index: usize| {
            self.connections
                .get(index)
                .and_then(Option::as_ref)
                .is_some_and(ThriftConnection::has_room)
        };
        if let Some(obstacle) = self.state.room.obstacle() {
            return freed.filter(|index| has_room(*index)).ok_or(obstacle);
        }
        let count = self.connections.len();
        let in_turn = (self.next_connection..count).chain(0..self.next_connection.min(count));
        match in_turn.into_iter().find(|index| has_room(*index)) {
            Some(index) => {
                self.next_connection = index + 1;
                Ok(index)
            }
            None if self.connections.iter().flatten().next().is_none() => {
                Err(Obstacle::NoConnection)
            }
            None => Err(Obstacle::InFlightLimit),
        }
    }
}
