//! What the connections of a thread hold, and which of them must go when it is too much.

use bookend_io::{ConnectionId, IoContext};
use bookend_wire::ErrorCode;

use super::ServerShard;
use super::connection::find;

impl ServerShard {
    /// Counts what a connection holds now, if that has changed by much.
    #[inline]
    pub(super) fn note_held(&mut self, id: ConnectionId, output_bytes: usize, io: &mut IoContext) {
        if let Some(connection) = find(&mut self.connections, id)
            && connection.account.is_off(connection.held_bytes(output_bytes))
        {
            self.charge(id, io);
        }
    }

    #[cold]
    pub(super) fn charge(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(connection) = find(&mut self.connections, id) else {
            return;
        };
        // The driver calls `writable` when its output is written, and it is counted again.
        let held_bytes = connection.held_bytes(io.backlog(id));
        let memory = &self.services.memory;
        memory.charge(&mut connection.account, held_bytes);
        let refuses = memory.is_tight_for(&connection.account);
        connection.http2.sender.refuse_streams(refuses);
        self.shed_excess(io);
    }

    /// Resets connections while all together hold too much: the one that holds most first, as long
    /// as it holds more than its share. If there is none, other threads have it.
    pub(super) fn shed_excess(&mut self, io: &mut IoContext) {
        while self.services.memory.is_exceeded() {
            let Some(id) = self
                .connections
                .iter()
                .flatten()
                .max_by_key(|connection| connection.account.charged_bytes)
                .filter(|connection| self.services.memory.is_above_share(&connection.account))
                .map(|connection| connection.id)
            else {
                return self.services.memory.wake_others(self.number);
            };
            self.shed(id, io);
        }
    }

    fn shed(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.counts.shed_connections += 1;
        self.forget(id);
        io.abort(id);
    }

    /// A connection is gone, and what it held.
    pub(super) fn forget(&mut self, id: ConnectionId) {
        if find(&mut self.connections, id).is_none() {
            return;
        }
        let Some(mut connection) = self.connections[id.index as usize].take() else {
            return;
        };
        self.open_connections -= 1;
        self.services.memory.close(&mut connection.account);
        if let Some(address) = connection.counted_address {
            self.services.addresses.leave(address);
        }
        if connection.http2.sender.live_streams() > 0 {
            // What was held back for them must not stay until the memory is used again.
            connection.http2.renew(&self.services.limits.http2);
        }
        if self.spare.len() < super::MAX_SPARE_CONNECTIONS {
            self.spare.push(connection.http2);
        }
    }

    /// Counts a new connection among those from its address. If there are too many, it is closed.
    pub(super) fn enter_address(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(connection) = find(&mut self.connections, id) else {
            return;
        };
        let address = connection.calls.origin.peer.address;
        match self.services.addresses.enter(address.map(|address| address.ip())) {
            Ok(counted_address) => connection.counted_address = counted_address,
            Err(_) => {
                self.counts.refused_connections += 1;
                let why = "too many connections come from this address";
                connection.send_goaway(ErrorCode::ENHANCE_YOUR_CALM, why, io);
                connection.is_closing = true;
                io.close(id);
            }
        }
    }
}
