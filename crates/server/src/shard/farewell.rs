//! Ending connections without losing a call, as RFC 9113 section 6.8 has it.
//!
//! A client may be sending a call while it is told to send no more. So it is told twice: the first
//! GOAWAY asks it to stop and names no last stream, and a PING goes with it. What the client sent
//! before it read these is in front of its answer to the PING, and is handled. Then the second
//! GOAWAY names the last stream, and the connection closes when the last call on it has ended.

use bookend_io::{ConnectionId, DeadlineHeap, IoContext};
use bookend_wire::ErrorCode;
use bookend_wire::grpc::{Code, Status};

use super::{Accepted, Ending, ServerShard, find};
use crate::calls::FAREWELL_PING;
use crate::limits::{GOAWAY_PING_TIMEOUT_NS, Limits};

/// Why a connection is to end that has done no wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Stopping,
    Age,
    Idle,
}

/// How far a connection has come on its way out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave {
    reason: Reason,
    /// The second GOAWAY is out.
    is_final: bool,
    /// When the PING is waited for no longer.
    ping_by_ns: u64,
    /// When the calls that are left are ended.
    cut_off_at_ns: Option<u64>,
}

impl ServerShard {
    /// Tells every client that its connection takes no more calls.
    pub(super) fn go_away(&mut self, io: &mut IoContext) {
        if self.ending == Ending::NotYet {
            self.ending = Ending::Draining;
            for accepted in self.connections.iter_mut().flatten() {
                accepted.take_leave(Reason::Stopping, &self.limits, &mut self.appointments, io);
            }
        }
        if self.ending == Ending::Draining && io.drain_is_over() {
            self.ending = Ending::Over;
            for accepted in self.connections.iter_mut().flatten() {
                self.counts.cut_off += accepted.cut_off(Reason::Stopping, &self.limits, io);
                accepted.calls.report(&mut self.counts);
            }
        }
    }

    /// A connection that comes while the server ends: it was in the listener's queue.
    #[cold]
    pub(super) fn welcome_late(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(accepted) = find(&mut self.connections, id) else {
            return;
        };
        accepted.take_leave(Reason::Stopping, &self.limits, &mut self.appointments, io);
        if self.ending == Ending::Over {
            accepted.cut_off(Reason::Stopping, &self.limits, io);
        }
    }

    /// Notes when a new connection will be too old.
    #[cold]
    pub(super) fn limit_age(&mut self, id: ConnectionId, io: &IoContext) {
        let Some(age) = &self.limits.connection_age else {
            return;
        };
        let at_ns = io.now_ns().saturating_add(age.drawn_ns(self.next_draw));
        self.next_draw += 1;
        self.appointments.push(at_ns, id);
        if self.appointments.needs_sweep() {
            let connections = &mut self.connections;
            self.appointments
                .sweep(|&id| find(connections, id).is_some());
        }
    }

    /// Looks at connections that are too old, or take too long to leave.
    pub(super) fn keep_appointments(&mut self, io: &mut IoContext) {
        if self.appointments.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        while let Some(id) = self.appointments.pop_due(now_ns) {
            let Some(accepted) = find(&mut self.connections, id) else {
                continue;
            };
            let Some(leave) = accepted.leave.as_deref().copied() else {
                let went =
                    accepted.take_leave(Reason::Age, &self.limits, &mut self.appointments, io);
                self.counts.retired_connections += u64::from(went);
                continue;
            };
            if !leave.is_final && leave.ping_by_ns <= now_ns {
                accepted.say_last(io);
            }
            if leave.cut_off_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                self.counts.cut_off += accepted.cut_off(leave.reason, &self.limits, io);
                accepted.calls.report(&mut self.counts);
            }
        }
    }

    /// Something has come on a connection that is leaving.
    #[cold]
    pub(super) fn see_off(&mut self, id: ConnectionId, io: &mut IoContext) {
        let Some(accepted) = find(&mut self.connections, id) else {
            return;
        };
        if accepted.calls.farewell_heard && !accepted.has_said_last() {
            accepted.say_last(io);
        }
        accepted.leave_if_done(io);
    }
}

impl Accepted {
    /// Asks the client to send no more calls. False if it was asked before, or the connection ends
    /// anyhow.
    pub(super) fn take_leave(
        &mut self,
        reason: Reason,
        limits: &Limits,
        appointments: &mut DeadlineHeap<ConnectionId>,
        io: &mut IoContext,
    ) -> bool {
        if self.leave.is_some() || self.is_ending {
            return false;
        }
        let now_ns = io.now_ns();
        let ping_by_ns = now_ns.saturating_add(GOAWAY_PING_TIMEOUT_NS);
        let grace_ns = limits.connection_age.as_ref().and_then(|age| age.grace_ns);
        let cut_off_at_ns = grace_ns
            .filter(|_| reason == Reason::Age)
            .map(|grace_ns| now_ns.saturating_add(grace_ns));
        self.leave = Some(Box::new(Leave {
            reason,
            is_final: false,
            ping_by_ns,
            cut_off_at_ns,
        }));
        for at_ns in [Some(ping_by_ns), cut_off_at_ns].into_iter().flatten() {
            appointments.push(at_ns, self.id);
        }
        self.calls.farewell_heard = false;
        self.with_output(io, |sender, _| {
            sender.goaway_notice(reason.what().as_bytes());
            sender.ping(FAREWELL_PING);
        });
        true
    }

    fn has_said_last(&self) -> bool {
        self.leave.as_ref().is_some_and(|leave| leave.is_final)
    }

    /// Names the last stream that is looked at.
    fn say_last(&mut self, io: &mut IoContext) {
        let Some(leave) = &mut self.leave else { return };
        leave.is_final = true;
        let what = leave.reason.what();
        if !self.is_ending {
            self.say_goodbye(ErrorCode::NO_ERROR, what, io);
        }
        self.leave_if_done(io);
    }

    /// Closes a connection that takes no more calls and has none left.
    #[inline]
    pub(super) fn leave_if_done(&mut self, io: &mut IoContext) {
        if self.leave.is_some() {
            self.close_if_empty(io);
        }
    }

    #[cold]
    fn close_if_empty(&mut self, io: &mut IoContext) {
        if self.has_said_last() && !self.is_ending && self.connection.sender.live_streams() == 0 {
            self.is_ending = true;
            io.close(self.id);
        }
    }

    /// Ends the calls that are left, and the connection. Returns how many those were.
    fn cut_off(&mut self, reason: Reason, limits: &Limits, io: &mut IoContext) -> u64 {
        if self.is_ending {
            return 0;
        }
        let status = || Status::new(Code::Unavailable, reason.what());
        let mut ended = 0;
        self.with_output(io, |sender, calls| {
            ended = calls.cut_off(sender, status, limits);
        });
        if !self.has_said_last() {
            self.say_last(io);
        }
        self.is_ending = true;
        io.close(self.id);
        ended
    }
}

impl Reason {
    /// What the client is told.
    fn what(self) -> &'static str {
        match self {
            Reason::Stopping => "the server is stopping",
            Reason::Age => "the connection has reached its age",
            Reason::Idle => "there was no call for too long",
        }
    }
}
