//! Connections of a worker: made, made again, lost.

use super::LoadShard;
use crate::call::Fault;
use crate::link::Link;
use crate::phase::Phase;
use crate::redial::End;
use bookend_io::{Session, Turn};
use bookend_wire::grpc::Code;

impl LoadShard {
    /// Makes the connections whose time has come, and gives up greetings that take too long.
    pub(super) fn dial(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        if now_ns < self.dial_deadline_ns {
            return;
        }
        for connection in 0..self.redials.len() {
            let redial = &mut self.redials[connection];
            let calls_are_made = !matches!(self.phase, Phase::Draining | Phase::Over);
            if calls_are_made && redial.due_at_ns().is_some_and(|at_ns| now_ns >= at_ns) {
                redial.dialled(now_ns);
                let number = self.share.first_connection as usize + connection;
                turn.connect(self.plan.targets.of(number), connection as u64);
            }
        }
        let is_overdue = |link: &&Link| {
            let overdue_at_ns = self.greeting_overdue_at_ns(link.connection_number);
            overdue_at_ns.is_some_and(|at_ns| now_ns >= at_ns)
        };
        let overdue: Vec<_> = self
            .links
            .iter()
            .flatten()
            .filter(is_overdue)
            .map(|link| link.session)
            .collect();
        for session in overdue {
            self.lost(
                session,
                "the server accepted the connection and sent no SETTINGS",
                turn,
            );
            turn.abort(session);
        }
        self.reckon_dial_deadline();
    }

    fn greeting_overdue_at_ns(&self, connection: usize) -> Option<u64> {
        let dialled_at_ns = self.redials[connection].dialled_at_ns()?;
        Some(dialled_at_ns.saturating_add(self.plan.connect_timeout_ns))
    }

    pub(super) fn reckon_dial_deadline(&mut self) {
        let due_ns = |connection: usize| {
            let redial = &self.redials[connection];
            redial
                .due_at_ns()
                .or_else(|| self.greeting_overdue_at_ns(connection))
        };
        let deadline_ns = (0..self.redials.len()).filter_map(due_ns).min();
        self.dial_deadline_ns = match self.phase {
            Phase::Draining | Phase::Over => u64::MAX,
            _ => deadline_ns.unwrap_or(u64::MAX),
        };
    }

    pub(super) fn note_failure(&mut self, text: &str) {
        self.measured
            .first_failure
            .get_or_insert_with(|| text.to_owned());
    }

    /// A connection is of no use any more. Its calls fail; it is dialled again later.
    pub(super) fn lost(&mut self, session: Session, text: &str, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        let index = session.index as usize;
        let known = self.links.get(index).and_then(Option::as_ref);
        let Some(link) = known.filter(|link| link.session == session) else {
            return;
        };
        let connection = link.connection_number;
        let end = end_of(link);
        if self.phase != Phase::Over {
            self.measured.note_end_of(link);
        }
        if end != End::WorkDone && self.phase != Phase::Over {
            let made_no_call = link.made_no_call();
            let text = why_lost(link, text);
            self.note_failure(&text);
            if made_no_call {
                self.count_attempt(&text);
            }
            self.fail_link(index, &Fault::new(Code::Unavailable, text), now_ns);
        }
        self.links[index] = None;
        self.redials[connection].lost(now_ns, end);
        self.reckon_dial_deadline();
    }

    /// Closes the connections that have nothing left to do, where no bytes that come would.
    pub(super) fn close_done(&self, turn: &mut Turn) {
        for link in self.links.iter().flatten().filter(|link| link.is_done()) {
            turn.close(link.session);
        }
    }

    /// A connection that could not be made costs one error: the call that asked for it.
    pub(super) fn count_attempt(&mut self, text: &str) {
        if matches!(self.phase, Phase::WarmUp | Phase::Window) {
            self.recorder.errors.add(Code::Unavailable, text, 1);
            if self.by_number() {
                self.counted_made += 1;
                self.counted_done += 1;
            }
        }
    }
}

/// How a connection that is gone has ended. A server that says goodbye before any answer, or
/// because of us, is not asked again at once.
fn end_of(link: &Link) -> End {
    let complained = link.farewell.as_ref().is_some_and(|said| said.is_complaint);
    match link.was_of_use {
        false => End::Useless,
        true if link.is_done() && !complained => End::WorkDone,
        true => End::Broken,
    }
}

fn why_lost(link: &Link, text: &str) -> String {
    match &link.farewell {
        Some(farewell) => farewell.to_string(),
        None if link.is_done() => "the server left too many calls without an end".to_owned(),
        None => text.to_owned(),
    }
}
