//! Looking after connections on which nothing happens.

use bookend_io::IoContext;
use bookend_wire::ErrorCode;
use bookend_wire::keepalive::Silence;

use super::farewell::Reason;
use super::{Accepted, ServerShard};
use crate::limits::{Limits, PATROL_NS};
use crate::patience::{Lapse, Signs};

/// Octets of input, as far as patrols want to know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Input {
    /// Used up so far.
    consumed_bytes: u64,
    /// Part of a frame is there.
    has_rest: bool,
}

impl Input {
    /// So much of a read was used up, and this is how much it was.
    #[inline]
    pub fn note(&mut self, consumed: usize, read: usize) {
        self.consumed_bytes += consumed as u64;
        self.has_rest = consumed < read;
    }
}

impl ServerShard {
    /// Has connections looked at from now on, if there is a limit for which that is done.
    pub(super) fn begin_patrols(&mut self, io: &IoContext) {
        if self.patrol_at_ns.is_none() && self.limits.has_timeouts() {
            self.patrol_at_ns = Some(io.now_ns() + PATROL_NS);
        }
    }

    /// Looks at every connection, if it is time to.
    pub(super) fn patrol(&mut self, io: &mut IoContext) {
        if self.patrol_at_ns.is_none_or(|at_ns| io.now_ns() < at_ns) {
            return;
        }
        let now_ns = io.now_ns();
        let mut any = false;
        for accepted in self.connections.iter_mut().flatten() {
            any = true;
            accepted.end_stalled(&self.limits, now_ns, io);
            accepted.calls.report(&mut self.counts);
            accepted.leave_if_done(io);
            let signs = accepted.signs(io);
            match accepted.lapses.look(signs, &self.limits, now_ns) {
                None => {}
                Some(Lapse::Idle) => {
                    let (limits, appointments) = (&self.limits, &mut self.appointments);
                    let went = accepted.take_leave(Reason::Idle, limits, appointments, io);
                    self.counts.retired_connections += u64::from(went);
                }
                Some(lapse) => {
                    self.counts.broken_connections += u64::from(!accepted.is_ending);
                    accepted.end_for(lapse, io);
                }
            }
            let has_vanished = accepted.keep_alive(signs, &self.limits, io);
            self.counts.vanished_connections += u64::from(has_vanished);
        }
        self.patrol_at_ns = any.then_some(now_ns + PATROL_NS);
    }
}

impl Accepted {
    fn signs(&self, io: &IoContext) -> Signs {
        let Accepted {
            id,
            connection,
            input,
            ..
        } = self;
        let sender = &connection.sender;
        let sent_bytes = io.sent_bytes(*id);
        let has_backlog = io.backlog(*id) > 0;
        // Who does not read is not read from either: what it has left half is not its fault.
        let block = connection.receiver.open_block().filter(|_| !has_backlog);
        let is_half = input.has_rest && !has_backlog;
        let unwritten = has_backlog.then_some(sent_bytes);
        if self.is_ending {
            return Signs {
                unwritten,
                ..Signs::default()
            };
        }
        Signs {
            half_frame: is_half.then_some(input.consumed_bytes),
            open_block: block.map(u64::from),
            unwritten,
            held_back: (sender.all_blocked_bytes() > 0).then(|| sender.unblocked_bytes()),
            idle: (sender.live_streams() == 0).then_some(sender.last_peer_id().into()),
        }
    }

    /// Asks a client of which nothing is heard whether it is there. True, once, if it is not.
    fn keep_alive(&mut self, signs: Signs, limits: &Limits, io: &mut IoContext) -> bool {
        let Some(keepalive) = limits.keepalive.filter(|_| !self.is_ending) else {
            return false;
        };
        if signs.unwritten.is_some() {
            // It is not read from, so what it says is not heard.
            self.vigil.rest();
            return false;
        }
        let heard_bytes = self.input.consumed_bytes;
        match self.vigil.look(heard_bytes, keepalive, io.now_ns()) {
            None => {}
            Some(Silence::Ask) => self.with_output(io, |sender, _| sender.ping([0; 8])),
            Some(Silence::Unanswered) => {
                self.is_ending = true;
                io.abort(self.id);
                return true;
            }
        }
        false
    }

    fn end_for(&mut self, lapse: Lapse, io: &mut IoContext) {
        let code = match lapse {
            // Nothing that is written would arrive.
            Lapse::Unwritten => return io.abort(self.id),
            Lapse::Idle | Lapse::HalfFrame | Lapse::OpenBlock | Lapse::HeldBack => {
                ErrorCode::ENHANCE_YOUR_CALM
            }
        };
        self.say_goodbye(code, lapse.what(), io);
        self.is_ending = true;
        io.close(self.id);
    }
}

impl Limits {
    fn has_timeouts(&self) -> bool {
        let timeouts = [
            self.input_timeout_ns,
            self.request_timeout_ns,
            self.write_timeout_ns,
            self.window_timeout_ns,
            self.idle_timeout_ns,
        ];
        timeouts.iter().any(Option::is_some) || self.keepalive.is_some()
    }
}
