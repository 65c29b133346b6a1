//! Calls and connections that take too long: deadlines, stalled requests, keepalive.

use bookend_io::IoContext;
use bookend_wire::ErrorCode;
use bookend_wire::keepalive::KeepaliveAction;

use super::ServerShard;
use super::connection::{GoAwayReason, ServerConnection, find};
use crate::calls::{CallId, Patience};
use crate::limits::{Limits, TIGHT_CHECK_INTERVAL_NS, TIMEOUT_CHECK_INTERVAL_NS};
use crate::timeouts::{ConnectionProgress, TimeoutKind};

impl ServerShard {
    /// Ends the calls whose deadline has passed.
    pub(super) fn expire_calls(&mut self, io: &mut IoContext) {
        if self.call_deadlines.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        while let Some(CallId { id, stream }) = self.call_deadlines.pop_due(now_ns) {
            if let Some(connection) = find(&mut self.connections, id) {
                connection.with_output(io, |sender, calls| {
                    calls.expire(sender, stream, &self.services.limits);
                });
                self.outstanding += connection.settle(&mut self.counts, &mut self.ready, io);
            }
        }
    }

    /// Forgets the deadlines of calls that are over.
    #[cold]
    pub(super) fn sweep_call_deadlines(&mut self) {
        let connections = &mut self.connections;
        self.call_deadlines.sweep(|&CallId { id, stream }| {
            find(connections, id).is_some_and(|connection| connection.calls.is_open(stream))
        });
    }

    /// Schedules the first check of connections, if any limit needs one.
    pub(super) fn start_timeout_checks(&mut self, io: &IoContext) {
        if self.next_timeout_check_ns.is_none()
            && (self.services.limits.has_timeouts() || self.services.publishes)
        {
            self.next_timeout_check_ns = Some(io.now_ns() + TIMEOUT_CHECK_INTERVAL_NS);
        }
    }

    /// Checks every connection, if it is time to.
    pub(super) fn check_timeouts(&mut self, io: &mut IoContext) {
        if self.next_timeout_check_ns.is_none_or(|at_ns| io.now_ns() < at_ns) {
            return;
        }
        let now_ns = io.now_ns();
        self.services.pool.relieve();
        self.recount_held(io);
        let limits = &self.services.limits;
        let patience = Patience::of(limits, self.services.memory.is_tight(), now_ns);
        // While memory is tight, the looks in between are for what keeps some of it.
        let is_whole = now_ns >= self.next_whole_check_ns;
        if is_whole {
            self.next_whole_check_ns = now_ns + TIMEOUT_CHECK_INTERVAL_NS;
        }
        let mut any = false;
        for connection in self.connections.iter_mut().flatten() {
            any = true;
            if let Some(patience) = patience
                && (is_whole || connection.calls.keeps_requests())
            {
                connection.end_stalled_calls(patience, limits, io);
            }
            connection.calls.report(&mut self.counts);
            connection.close_if_drained(io);
            let progress = connection.progress(io);
            match connection.timeouts.check(progress, limits, now_ns) {
                None => {}
                Some(TimeoutKind::Idle) => {
                    let deadlines = &mut self.connection_deadlines;
                    let reason = GoAwayReason::Idle;
                    let started = connection.start_draining(reason, limits, deadlines, io);
                    self.counts.retired_connections += u64::from(started);
                }
                Some(timeout) => {
                    self.counts.broken_connections += u64::from(!connection.is_closing);
                    connection.end_for(timeout, io);
                }
            }
            let has_vanished = connection.keep_alive(progress, limits, io);
            self.counts.vanished_connections += u64::from(has_vanished);
        }
        self.services.counts.publish(self.number, self.counts);
        let is_tight = self.services.memory.is_tight();
        let interval_ns =
            if is_tight { TIGHT_CHECK_INTERVAL_NS } else { TIMEOUT_CHECK_INTERVAL_NS };
        self.next_timeout_check_ns = any.then_some(now_ns + interval_ns);
    }
}

impl ServerConnection {
    /// Ends the calls whose request has made no progress for too long.
    fn end_stalled_calls(&mut self, patience: Patience, limits: &Limits, io: &mut IoContext) {
        if self.is_closing || self.http2.sender.live_streams() == 0 {
            return;
        }
        if io.backlog(self.id) > 0 {
            // It may not be read from.
            return self.calls.restart_request_timeouts();
        }
        self.with_output(io, |sender, calls| {
            calls.end_stalled(sender, patience, limits);
        });
    }

    fn progress(&self, io: &IoContext) -> ConnectionProgress {
        let ServerConnection { id, http2, .. } = self;
        let sender = &http2.sender;
        let sent_bytes = io.sent_bytes(*id);
        let has_backlog = io.backlog(*id) > 0;
        // A client that does not read is not read from: what it has left incomplete is not its
        // fault.
        let block = http2.receiver.open_block().filter(|_| !has_backlog);
        let is_partial = self.has_partial_frame() && !has_backlog;
        let unread = has_backlog.then_some(sent_bytes);
        if self.is_closing {
            return ConnectionProgress { unread, ..ConnectionProgress::default() };
        }
        let is_blocked = sender.all_blocked_bytes() > 0;
        ConnectionProgress {
            partial_frame: is_partial.then_some(self.consumed_bytes),
            open_header_block: block.map(u64::from),
            unread,
            blocked_by_window: is_blocked.then(|| sender.unblocked_bytes()),
            idle: (sender.live_streams() == 0).then_some(sender.last_peer_id().into()),
        }
    }

    /// Sends a PING to a client that has been silent for long. True, once, if it did not answer.
    fn keep_alive(
        &mut self,
        progress: ConnectionProgress,
        limits: &Limits,
        io: &mut IoContext,
    ) -> bool {
        let Some(keepalive) = limits.keepalive.filter(|_| !self.is_closing) else {
            return false;
        };
        if progress.unread.is_some() {
            // It is not read from, so an answer would not be noticed.
            self.keepalive.pause();
            return false;
        }
        let heard_bytes = self.consumed_bytes;
        match self.keepalive.check(heard_bytes, keepalive, io.now_ns()) {
            None => {}
            Some(KeepaliveAction::SendPing) => {
                self.with_output(io, |sender, _| sender.ping([0; 8]))
            }
            Some(KeepaliveAction::GiveUp) => {
                self.is_closing = true;
                io.abort(self.id);
                return true;
            }
        }
        false
    }

    fn end_for(&mut self, timeout: TimeoutKind, io: &mut IoContext) {
        if timeout == TimeoutKind::Unread {
            // Nothing that is written would arrive.
            return io.abort(self.id);
        }
        self.send_goaway(ErrorCode::ENHANCE_YOUR_CALM, timeout.reason(), io);
        self.is_closing = true;
        io.close(self.id);
    }
}

impl Limits {
    fn has_timeouts(&self) -> bool {
        TimeoutKind::ALL.into_iter().any(|kind| kind.timeout_ns(self).is_some())
            || self.request_timeout_ns.is_some()
            || self.max_held_bytes.is_some()
            || self.keepalive.is_some()
    }
}
