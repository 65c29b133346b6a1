//! Looking after connections on which nothing happens.

use bookend_io::Turn;
use bookend_wire::ErrorCode;

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
    pub(super) fn begin_patrols(&mut self, turn: &Turn) {
        if self.patrol_at_ns.is_none() && self.limits.has_timeouts() {
            self.patrol_at_ns = Some(turn.now_ns() + PATROL_NS);
        }
    }

    /// Looks at every connection, if it is time to.
    pub(super) fn patrol(&mut self, turn: &mut Turn) {
        if self.patrol_at_ns.is_none_or(|at_ns| turn.now_ns() < at_ns) {
            return;
        }
        let now_ns = turn.now_ns();
        let mut any = false;
        for accepted in self.sessions.iter_mut().flatten() {
            any = true;
            accepted.end_stalled(&self.limits, now_ns, turn);
            accepted.calls.report(&mut self.counts);
            let signs = accepted.signs(turn);
            if let Some(lapse) = accepted.lapses.look(signs, &self.limits, now_ns) {
                let is_news = lapse != Lapse::Idle && !accepted.is_ending;
                self.counts.broken_connections += u64::from(is_news);
                accepted.end_for(lapse, turn);
            }
        }
        self.patrol_at_ns = any.then_some(now_ns + PATROL_NS);
    }
}

impl Accepted {
    fn signs(&self, turn: &Turn) -> Signs {
        let Accepted {
            session,
            connection,
            input,
            ..
        } = self;
        let sender = &connection.sender;
        let sent_bytes = turn.sent_bytes(*session);
        let has_backlog = turn.backlog(*session) > 0;
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
            held_back: (sender.all_held_back_bytes() > 0).then(|| sender.moved_bytes()),
            idle: (sender.live_streams() == 0).then_some(input.consumed_bytes),
        }
    }

    fn end_for(&mut self, lapse: Lapse, turn: &mut Turn) {
        let code = match lapse {
            // Nothing that is written would arrive.
            Lapse::Unwritten => return turn.abort(self.session),
            Lapse::Idle => ErrorCode::NO_ERROR,
            Lapse::HalfFrame | Lapse::OpenBlock | Lapse::HeldBack => ErrorCode::ENHANCE_YOUR_CALM,
        };
        self.say_goodbye(code, lapse.what(), turn);
        self.is_ending = true;
        turn.close(self.session);
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
        timeouts.iter().any(Option::is_some)
    }
}
