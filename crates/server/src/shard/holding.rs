//! What the connections of a thread hold, and which of them must go when it is too much.

use bookend_io::{ConnectionId, IoContext};
use bookend_wire::ErrorCode;

use super::ServerShard;
use super::connection::{ServerConnection, find};
use crate::limits::TIGHT_CHECK_INTERVAL_NS;
use crate::memory::MemoryBudget;

/// Connections whose idle times differ by less than this count as equally idle.
const IDLE_STEP_NS: u64 = 10_000_000;

impl ServerConnection {
    /// Counts what it holds now, and what it has held for some time besides.
    fn recount(&mut self, spare_bytes: usize, memory: &MemoryBudget, io: &IoContext) {
        let held_bytes = self.held_bytes(io.backlog(self.id));
        let lasting_bytes = self.table_bytes() + spare_bytes;
        memory.charge(&mut self.account, held_bytes, lasting_bytes);
    }

    /// What the buffer of output has beyond the output, if there is some that is not written.
    /// Buffers of others go back to the thread at the end of each turn.
    fn spare_output_bytes(&self, io: &IoContext) -> usize {
        match io.backlog(self.id) {
            0 => 0,
            backlog => io.output_capacity(self.id).saturating_sub(backlog),
        }
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
        connection.recount(0, memory, io);
        connection.marks.held_changed_ns = io.now_ns();
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
            connection.recount(connection.spare_output_bytes(io), memory, io);
            connection.marks.note(connection.progress_bytes(io), now_ns);
            let refuses = memory.is_tight_for(&connection.account);
            connection.http2.sender.refuse_streams(refuses);
        }
    }

    /// Resets connections if all together hold too much, until there is room again: first those
    /// that hold much for what they have sent and read lately, and then those whose memory has not
    /// changed for longest, of all that hold half of their share. If this thread has none,
    /// other threads reset theirs; a connection that is not idle is reset only if none of them
    /// makes room soon.
    pub(super) fn shed_excess(&mut self, io: &mut IoContext) {
        if !self.services.memory.is_exceeded() {
            return;
        }
        let stalled = self.stalled(io);
        self.shed_until_relieved(stalled, io);
        let memory = &self.services.memory;
        if memory.is_exceeded() {
            // On other threads somebody may have been idle for longer than those who are not.
            let waits_for_others = memory.has_other_shards() && !memory.is_far_exceeded();
            let idle = self.idle(u64::from(waits_for_others), io);
            self.shed_until_relieved(idle, io);
        }
        if self.services.memory.is_exceeded() {
            self.services.memory.wake_others(self.number);
        }
    }

    fn shed_until_relieved(&mut self, in_order: Vec<ConnectionId>, io: &mut IoContext) {
        for id in in_order {
            if !self.services.memory.needs_relief() {
                return;
            }
            self.shed(id, io);
        }
    }

    /// Connections that hold half of their share and were idle for `steps_min` steps at least, the
    /// longest first; of several that are equally long, the largest first.
    fn idle(&self, steps_min: u64, io: &IoContext) -> Vec<ConnectionId> {
        let memory = &self.services.memory;
        let counts = |connection: &&ServerConnection| memory.has_half_share(&connection.account);
        let connections = self.connections.iter().flatten().map(|connection| &**connection);
        let mut idle: Vec<_> = connections
            .filter(counts)
            .map(|connection| {
                let idle_ns = io.now_ns() - connection.marks.held_changed_ns;
                let held_bytes = connection.account.charged_bytes;
                (idle_ns / IDLE_STEP_NS, held_bytes, connection.id)
            })
            .collect();
        idle.retain(|(steps, ..)| *steps >= steps_min);
        idle.sort_unstable_by(|one, other| other.cmp(one));
        idle.into_iter().map(|(.., id)| id).collect()
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
