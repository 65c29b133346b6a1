//! Ending connections without losing a call, as RFC 9113 section 6.8 describes.
//!
//! A client may be sending a call while the server asks it to send no more. So there are two GOAWAY
//! frames. The first asks the client to stop without naming a last stream, and a PING goes with it.
//! Whatever the client sent before it read them is ahead of its answer to the PING, and is handled.
//! Then the second GOAWAY names the last stream, and the connection closes when the last call on it
//! has ended.

use bookend_io::{ConnectionId, DeadlineHeap, IoContext};
use bookend_wire::ErrorCode;

use super::connection::{Draining, GoAwayReason, ServerConnection, find};
use super::{ServerShard, ShutdownPhase};
use crate::calls::GOAWAY_PING;
use crate::limits::{GOAWAY_PING_TIMEOUT_NS, Limits};

impl ServerShard {
    /// The server stops: begins to drain all connections, and cuts off the calls that are left when
    /// the time for that is up.
    pub(super) fn shut_down(&mut self, io: &mut IoContext) {
        let limits = &self.services.limits;
        if self.shutdown == ShutdownPhase::Running {
            self.shutdown = ShutdownPhase::Draining;
            for connection in self.connections.iter_mut().flatten() {
                let deadlines = &mut self.connection_deadlines;
                connection.start_draining(GoAwayReason::Stopping, limits, deadlines, io);
            }
        }
        if self.shutdown == ShutdownPhase::Draining && io.drain_is_over() {
            self.shutdown = ShutdownPhase::Finished;
            for connection in self.connections.iter_mut().flatten() {
                self.counts.cut_off += connection.cut_off(GoAwayReason::Stopping, limits, io);
                connection.calls.report(&mut self.counts);
            }
        }
    }

    /// A connection that opens while the server stops: it was in the listener's queue.
    #[cold]
    pub(super) fn drain_new_connection(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(connection) = find(&mut self.connections, id) else {
            return;
        };
        let (limits, deadlines) = (&self.services.limits, &mut self.connection_deadlines);
        connection.start_draining(GoAwayReason::Stopping, limits, deadlines, io);
        if self.shutdown == ShutdownPhase::Finished {
            connection.cut_off(GoAwayReason::Stopping, limits, io);
        }
    }

    /// Notes when a new connection reaches its maximum age.
    #[cold]
    pub(super) fn schedule_age_limit(&mut self, id: ConnectionId, io: &IoContext) {
        let Some(age) = &self.services.limits.connection_age else {
            return;
        };
        let age_ns = age.jittered_ns(self.next_age_number);
        self.next_age_number += 1;
        let at_ns = io.now_ns().saturating_add(age_ns);
        self.connection_deadlines.push(at_ns, id);
        if self.connection_deadlines.needs_sweep() {
            let connections = &mut self.connections;
            self.connection_deadlines.sweep(|&id| find(connections, id).is_some());
        }
    }

    /// Drains connections that reached their age, and goes on with those that take too long.
    pub(super) fn check_connection_deadlines(&mut self, io: &mut IoContext) {
        if self.connection_deadlines.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        let limits = &self.services.limits;
        while let Some(id) = self.connection_deadlines.pop_due(now_ns) {
            let Some(connection) = find(&mut self.connections, id) else {
                continue;
            };
            let Some(draining) = connection.draining.as_deref().copied() else {
                let deadlines = &mut self.connection_deadlines;
                let started = connection.start_draining(GoAwayReason::Age, limits, deadlines, io);
                self.counts.retired_connections += u64::from(started);
                continue;
            };
            if !draining.is_final && draining.ping_by_ns <= now_ns {
                connection.send_final_goaway(io);
            }
            if draining.cut_off_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                self.counts.cut_off += connection.cut_off(draining.reason, limits, io);
                connection.calls.report(&mut self.counts);
            }
        }
    }

    /// Something has come on a connection that drains.
    #[cold]
    pub(super) fn continue_draining(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(connection) = find(&mut self.connections, id) else {
            return;
        };
        if connection.calls.goaway_acknowledged && !connection.has_sent_final_goaway() {
            connection.send_final_goaway(io);
        }
        connection.close_if_drained(io);
    }
}

impl ServerConnection {
    /// Asks the client to send no more calls. False if it was asked before, or the connection is
    /// closing anyway.
    pub(super) fn start_draining(
        &mut self,
        reason: GoAwayReason,
        limits: &Limits,
        deadlines: &mut DeadlineHeap<ConnectionId>,
        io: &mut IoContext,
    ) -> bool {
        if self.draining.is_some() || self.is_closing {
            return false;
        }
        let now_ns = io.now_ns();
        let ping_by_ns = now_ns.saturating_add(GOAWAY_PING_TIMEOUT_NS);
        let grace_ns = limits.connection_age.as_ref().and_then(|age| age.grace_ns);
        let cut_off_at_ns = grace_ns
            .filter(|_| reason == GoAwayReason::Age)
            .map(|grace_ns| now_ns.saturating_add(grace_ns));
        self.draining =
            Some(Box::new(Draining { reason, is_final: false, ping_by_ns, cut_off_at_ns }));
        for at_ns in [Some(ping_by_ns), cut_off_at_ns].into_iter().flatten() {
            deadlines.push(at_ns, self.id);
        }
        self.calls.goaway_acknowledged = false;
        self.with_output(io, |sender, _| {
            sender.goaway_notice(reason.text().as_bytes());
            sender.ping(GOAWAY_PING);
        });
        true
    }

    fn has_sent_final_goaway(&self) -> bool {
        self.draining.as_ref().is_some_and(|draining| draining.is_final)
    }

    /// Names the last stream that is handled.
    fn send_final_goaway(&mut self, io: &mut IoContext) {
        let Some(draining) = &mut self.draining else {
            return;
        };
        draining.is_final = true;
        let reason = draining.reason.text();
        if !self.is_closing {
            self.send_goaway(ErrorCode::NO_ERROR, reason, io);
        }
        self.close_if_drained(io);
    }

    /// Closes a connection that takes no more calls and has none left.
    #[inline]
    pub(super) fn close_if_drained(&mut self, io: &mut IoContext) {
        if self.draining.is_some() {
            self.close_if_empty(io);
        }
    }

    #[cold]
    fn close_if_empty(&mut self, io: &mut IoContext) {
        let is_empty = self.http2.sender.live_streams() == 0;
        if self.has_sent_final_goaway() && !self.is_closing && is_empty {
            self.is_closing = true;
            io.close(self.id);
        }
    }

    /// Ends the calls that are left, and the connection. Returns how many calls those were.
    fn cut_off(&mut self, reason: GoAwayReason, limits: &Limits, io: &mut IoContext) -> u64 {
        if self.is_closing {
            return 0;
        }
        let ended =
            self.with_output(io, |sender, calls| calls.cut_off(sender, reason.text(), limits));
        if !self.has_sent_final_goaway() {
            self.send_final_goaway(io);
        }
        self.is_closing = true;
        io.close(self.id);
        ended
    }
}
