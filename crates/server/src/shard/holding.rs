//! What the connections of a thread hold, and which of them must go when it is too much.

use bookend_io::{ConnectionId, IoContext};
use bookend_wire::ErrorCode;

use super::ServerShard;
use super::connection::{ServerConnection, find};
use crate::limits::TIGHT_CHECK_INTERVAL_NS;
use crate::memory::{MemoryBudget, STEP_BYTES};

/// Marks are at least so far apart, so that a line that is only slow has moved something since the
/// last but one.
const MARK_INTERVAL_NS: u64 = 1_000_000_000;

/// Who holds more than so many times what has moved since the last mark but one makes too little
/// progress. Of a message of 4 MiB, a line of 4 Mbit/s moves an
/// eighth within a second.
const HELD_PER_PROGRESS_MAX: u64 = 8;

/// How many bytes a connection had moved in both directions at two times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgressMarks {
    earlier: Mark,
    last: Mark,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    bytes: u64,
    at_ns: u64,
}

impl ProgressMarks {
    /// Of a connection that begins.
    pub fn beginning(now_ns: u64) -> Self {
        let begin = Mark { bytes: 0, at_ns: now_ns };
        ProgressMarks { earlier: begin, last: begin }
    }

    /// So many bytes have been moved by now.
    fn note(&mut self, bytes: u64, now_ns: u64) {
        if now_ns - self.last.at_ns >= MARK_INTERVAL_NS {
            self.earlier = self.last;
            self.last = Mark { bytes, at_ns: now_ns };
        }
    }

    /// How many times what has been moved lately is held, if that is too much.
    fn held_per_progress(&self, held_bytes: usize, bytes: u64, now_ns: u64) -> Option<u64> {
        let ratio = held_bytes as u64 / (bytes - self.earlier.bytes + 1);
        let is_known = now_ns - self.earlier.at_ns >= MARK_INTERVAL_NS;
        let is_too_much = ratio > HELD_PER_PROGRESS_MAX && held_bytes >= 2 * STEP_BYTES;
        (is_known && is_too_much).then_some(ratio)
    }
}

impl ServerConnection {
    /// Counts exactly what it holds now.
    fn recount(&mut self, memory: &MemoryBudget, io: &IoContext) {
        let (held_bytes, table_bytes) = (self.held_bytes(io.backlog(self.id)), self.table_bytes());
        memory.charge(&mut self.account, held_bytes, table_bytes);
    }

    /// Bytes that have been moved in both directions.
    fn progress_bytes(&self, io: &IoContext) -> u64 {
        self.consumed_bytes + io.sent_bytes(self.id)
    }
}

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
        let memory = &self.services.memory;
        connection.recount(memory, io);
        let refuses = memory.is_tight_for(&connection.account);
        connection.http2.sender.refuse_streams(refuses);
        if memory.is_tight() {
            self.check_soon(io);
        }
        self.shed_excess(io);
    }

    /// Connections are checked more often while memory is tight.
    fn check_soon(&mut self, io: &IoContext) {
        let soon_ns = io.now_ns() + TIGHT_CHECK_INTERVAL_NS;
        self.next_timeout_check_ns = self.next_timeout_check_ns.map(|at_ns| at_ns.min(soon_ns));
    }

    /// Counts exactly what each connection holds now, and how far it has come.
    pub(super) fn recount_held(&mut self, io: &mut IoContext) {
        let (memory, now_ns) = (&self.services.memory, io.now_ns());
        for connection in self.connections.iter_mut().flatten() {
            connection.give_back();
            connection.recount(memory, io);
            connection.marks.note(connection.progress_bytes(io), now_ns);
            let refuses = memory.is_tight_for(&connection.account);
            connection.http2.sender.refuse_streams(refuses);
        }
    }

    /// Resets connections if all together hold too much: first those that hold much for what they
    /// have sent and read lately, until there is room again. If it is still too much, the one that
    /// holds most, as long as it holds more than its share. If there is none, other threads have
    /// it.
    pub(super) fn shed_excess(&mut self, io: &mut IoContext) {
        if !self.services.memory.is_exceeded() {
            return;
        }
        for id in self.stalled(io) {
            if !self.services.memory.needs_relief() {
                return;
            }
            self.shed(id, io);
        }
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

    /// Connections that make little or no progress, the worst first.
    fn stalled(&mut self, io: &IoContext) -> Vec<ConnectionId> {
        let now_ns = io.now_ns();
        let mut stalled = Vec::new();
        for connection in self.connections.iter_mut().flatten() {
            let progress_bytes = connection.progress_bytes(io);
            let held_bytes = connection.account.charged_bytes;
            let ratio = connection.marks.held_per_progress(held_bytes, progress_bytes, now_ns);
            stalled.extend(ratio.map(|ratio| (ratio, connection.id)));
            connection.marks.note(progress_bytes, now_ns);
        }
        stalled.sort_unstable_by(|one, other| other.cmp(one));
        stalled.into_iter().map(|(_, id)| id).collect()
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
