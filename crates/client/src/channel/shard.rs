//! What the thread of a channel owns: its connections and its calls.

#[cfg(test)]
mod stories;

use super::back_off::BackOff;
use super::calls::{Calls, Mail, Pending, Place};
use super::gate::Gate;
use super::link::Link;
use super::options::{ChannelOptions, nanoseconds};
use super::server::Server;
use super::stream_state::StreamState;
use crate::error::{CallError, ConnectError};
use crate::exchange::DEADLINE_PASSED;
use crate::greeting;
use bookend_io::{Closed, Mailbox, Opened, Received, Session, Shard, Then, Turn};
use bookend_wire::grpc::Code;
use bookend_wire::{ConnectionError, Keepalive};
use std::io::{self, ErrorKind};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// The thread's part of a channel.
pub(crate) struct ChannelShard {
    server: Server,
    options: ChannelOptions,
    mailbox: Mailbox<Mail>,
    inbox: Vec<Mail>,
    calls: Calls,
    /// Where calls are sent, once it is greeted.
    current: Option<Link>,
    /// Connections that take no more calls and still have some in flight.
    leaving: Vec<Link>,
    back_off: BackOff,
    keepalive: Option<Keepalive>,
    /// When the next connection is to be asked for; `None` while there is one.
    dial_at_ns: Option<u64>,
    /// Why the server could not be reached at the last try.
    unreachable: Option<String>,
}

impl ChannelShard {
    pub fn new(
        server: Server,
        options: ChannelOptions,
        mailbox: Mailbox<Mail>,
        gate: Arc<Gate>,
    ) -> Self {
        let back_off = BackOff::new(options.back_off_min, options.back_off_max);
        let keepalive = options.keepalive.map(|keepalive| keepalive.in_ns());
        Self {
            server,
            options,
            mailbox,
            inbox: Vec::new(),
            calls: Calls::new(gate),
            current: None,
            leaving: Vec::new(),
            back_off,
            keepalive,
            dial_at_ns: Some(0),
            unreachable: None,
        }
    }

    /// Which of the server's names a connection is for.
    pub fn name_number(&self, token: u64) -> usize {
        token as usize
    }

    fn take_mail(&mut self, turn: &mut Turn) {
        let mut inbox = mem::take(&mut self.inbox);
        self.mailbox.drain_into(&mut inbox);
        for mail in inbox.drain(..) {
            match mail {
                Mail::Call(pending) => self.take(pending),
                Mail::Attend(stream) => self.attend(&stream, turn),
            }
        }
        self.inbox = inbox;
    }

    fn take(&mut self, pending: Pending) {
        match &self.unreachable {
            Some(text) if !pending.head.waits_for_ready => self.calls.refuse(pending, text),
            _ => self.calls.add(pending),
        }
    }

    /// Does what the callers of a stream want, unless it is over.
    fn attend(&mut self, stream: &StreamState, turn: &mut Turn) {
        let wishes = stream.take_wishes();
        let Some(ticket) = wishes.ticket else { return };
        let Some(place) = self.calls.place(ticket) else {
            return;
        };
        if let Place::Sent(session, stream) = place
            && let Some(link) = find(&mut self.current, &mut self.leaving, session)
        {
            match wishes.cancelled {
                true => link.cancel(stream, turn),
                false => link.attend(stream, wishes.read_bytes, turn),
            }
        }
        if wishes.cancelled {
            // The callers have ended it themselves; here it only leaves the books.
            self.calls.fail(ticket, Code::Cancelled, "");
        }
    }

    /// Ends the calls whose deadlines have passed.
    fn expire(&mut self, turn: &mut Turn) {
        let Some(due_ns) = self.calls.next_deadline() else {
            return;
        };
        if due_ns > turn.now_ns() {
            return;
        }
        while let Some((ticket, place)) = self.calls.take_due(turn.now_ns()) {
            let text = match place {
                Place::Waiting => "the deadline passed before the call could be sent",
                Place::Sent(..) => DEADLINE_PASSED,
            };
            if let Place::Sent(session, stream) = place
                && let Some(link) = find(&mut self.current, &mut self.leaving, session)
            {
                link.cancel(stream, turn);
            }
            self.calls.fail(ticket, Code::DeadlineExceeded, text);
        }
    }

    /// Gives up a connection whose server does not greet.
    fn give_up_on_silent(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        let is_silent = |link: &mut Link| link.greet_by_ns().is_some_and(|by_ns| by_ns <= now_ns);
        if let Some(link) = self.current.take_if(is_silent) {
            turn.abort(link.session);
            let silent = ConnectError::Silent {
                address: self.server.name().to_string(),
                waited: self.options.connection.greeting_timeout,
                received_bytes: 0,
            };
            self.not_reached(silent.to_string());
        }
    }

    /// Gives up connections whose server gives no sign of life.
    #[cold]
    fn keep_alive(&mut self, how: Keepalive, turn: &mut Turn) {
        let links = self.current.iter_mut().chain(&mut self.leaving);
        let mut vanished = Vec::new();
        for link in links {
            if link.has_vanished(how, turn) {
                vanished.push(link.session);
            }
        }
        for session in vanished {
            turn.abort(session);
            let address = self.server.name().to_string();
            let waited = Duration::from_nanos(how.timeout_ns);
            let reason = format!("nothing came for {waited:?} after a keepalive PING");
            self.lost(session, |_| {
                CallError::Network { address, reason }.to_string()
            });
        }
    }

    /// The server of a connection may have had too many PINGs.
    #[cold]
    fn mind_pings(&mut self, session: Session) {
        if let Some(link) = find(&mut self.current, &mut self.leaving, session)
            && link.take_asked_too_often()
        {
            self.keepalive = self.keepalive.map(Keepalive::calmed);
        }
    }

    /// Does what has become possible: sends calls, replaces a spent connection, closes old ones.
    fn go_on(&mut self, turn: &mut Turn) {
        if let Some(link) = &mut self.current {
            link.send_waiting(&mut self.calls, turn);
            if link.is_spent() {
                self.leaving.extend(self.current.take());
                self.dial_at_ns = Some(self.back_off.lost());
            }
        }
        for link in &mut self.leaving {
            link.send_crowded(turn);
            if link.is_idle() {
                turn.close(link.session);
            }
        }
        if let Some(how) = self.keepalive {
            self.keep_alive(how, turn);
        }
        if self.dial_at_ns.is_some_and(|at_ns| at_ns <= turn.now_ns()) {
            self.dial(turn);
        }
    }

    fn dial(&mut self, turn: &mut Turn) {
        self.dial_at_ns = None;
        self.back_off.asked(turn.now_ns());
        let target = self.server.dial();
        let session = turn.connect(target, self.server.name_number() as u64);
        let connection = &self.options.connection;
        self.current = Some(Link::new(
            session,
            &connection.http2,
            connection.origin(self.server.name()),
            connection.max_message_bytes,
            turn,
        ));
    }

    /// Takes notice of what the current connection has heard.
    fn note(&mut self) {
        let Some(link) = &mut self.current else {
            return;
        };
        if link.is_greeted() {
            self.unreachable = None;
            self.server.was_reached();
        }
        if link.take_answered() {
            self.back_off.succeeded();
        }
    }

    /// There is no connection, and there was none that worked.
    fn not_reached(&mut self, text: String) {
        if !self.server.has_failed() {
            self.dial_at_ns = Some(0);
            return;
        }
        self.dial_at_ns = Some(self.back_off.lost());
        self.calls.fail_impatient(&text);
        self.unreachable = Some(text);
    }

    /// A connection is of no use any more that was there; `tell` says why.
    fn lost(&mut self, session: Session, tell: impl FnOnce(&Link) -> String) {
        let is_current = |link: &mut Link| link.session == session;
        if let Some(link) = self.current.take_if(is_current) {
            let text = tell(&link);
            let was_good = link.is_greeted();
            link.fail_all(&mut self.calls, &text);
            match was_good {
                true => self.dial_at_ns = Some(self.back_off.lost()),
                false => self.not_reached(text),
            }
        } else if let Some(at) = self.leaving.iter().position(|link| link.session == session) {
            let link = self.leaving.swap_remove(at);
            let text = tell(&link);
            link.fail_all(&mut self.calls, &text);
        }
    }

    /// The server broke HTTP/2 by `bytes`: nothing that it says there can be understood any more.
    fn broken(&mut self, session: Session, error: ConnectionError, bytes: &[u8]) {
        let address = self.server.name().to_string();
        self.lost(session, |link| match link.is_greeted() {
            true => CallError::Protocol { address, error }.to_string(),
            false => greeting::not_http2(&address, bytes).to_string(),
        });
    }

    /// The server speaks something else.
    #[cold]
    fn refused_by(&mut self, session: Session, bytes: &[u8]) {
        let told = greeting::not_http2(&self.server.name().to_string(), bytes);
        self.lost(session, |_| told.to_string());
    }

    /// Nobody has the channel any more.
    fn end(&mut self, turn: &mut Turn) {
        self.dial_at_ns = None;
        for link in self
            .current
            .take()
            .into_iter()
            .chain(self.leaving.drain(..))
        {
            turn.close(link.session);
        }
        self.calls
            .fail_all(Code::Cancelled, "the channel was dropped");
    }
}

impl Shard for ChannelShard {
    fn opened(&mut self, session: Session, _: Opened, turn: &mut Turn) {
        let timeout = self.options.connection.greeting_timeout;
        if let Some(link) = find(&mut self.current, &mut self.leaving, session) {
            link.opened(turn.now_ns() + nanoseconds(timeout));
        }
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let hang_up = Received {
            consumed: bytes.len(),
            then: Then::Close,
        };
        let Some(link) = find(&mut self.current, &mut self.leaving, session) else {
            return hang_up;
        };
        if !link.is_greeted() && greeting::is_tls_alert(bytes) {
            // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
            self.refused_by(session, bytes);
            self.go_on(turn);
            return hang_up;
        }
        let received = match link.receive(bytes, &mut self.calls, turn) {
            Ok((consumed, has_more)) => {
                self.note();
                let then = match has_more {
                    true => Then::Again,
                    false => Then::Continue,
                };
                Received { consumed, then }
            }
            Err(error) => {
                self.broken(session, error, bytes);
                hang_up
            }
        };
        if self.keepalive.is_some() {
            self.mind_pings(session);
        }
        self.go_on(turn);
        received
    }

    fn writable(&mut self, _: Session, turn: &mut Turn) {
        self.go_on(turn);
    }

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        if turn.stopping() {
            return;
        }
        match why {
            Closed::NotConnected(_, error) => {
                if self
                    .current
                    .take_if(|link| link.session == session)
                    .is_some()
                {
                    let server = self.server.name().to_string();
                    let text = greeting::refused(&server, &error, &self.options.connection);
                    self.not_reached(text.to_string());
                }
            }
            why => {
                let address = self.server.name().to_string();
                self.lost(session, |link| told(address, link, &why));
            }
        }
        self.go_on(turn);
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.take_mail(turn);
        if turn.stopping() {
            return self.end(turn);
        }
        self.expire(turn);
        for link in self.current.iter_mut().chain(&mut self.leaving) {
            link.send_resets(turn);
        }
        self.give_up_on_silent(turn);
        self.go_on(turn);
    }

    fn next_deadline(&self) -> Option<u64> {
        let own = [
            self.calls.next_deadline(),
            self.dial_at_ns,
            self.current.as_ref().and_then(Link::greet_by_ns),
        ];
        let links = self.current.iter().chain(&self.leaving);
        let theirs = links.flat_map(|link| [link.next_reset_ns(), link.next_look_ns()]);
        own.into_iter().chain(theirs).flatten().min()
    }
}

fn find<'a>(
    current: &'a mut Option<Link>,
    leaving: &'a mut [Link],
    session: Session,
) -> Option<&'a mut Link> {
    let mut links = current.iter_mut().chain(leaving);
    links.find(|link| link.session == session)
}

/// Why the calls of a connection that is gone have no answer.
fn told(address: String, link: &Link, why: &Closed) -> String {
    match why {
        Closed::Failed(error) if !is_reset(error) => {
            let reason = error.to_string();
            CallError::Network { address, reason }.to_string()
        }
        _ if !link.is_greeted() => ConnectError::ClosedAtOnce { address }.to_string(),
        _ => {
            let goaway = link.goaway().map(str::to_owned);
            CallError::Closed { address, goaway }.to_string()
        }
    }
}

/// A reset is a close by a peer that had not read everything.
fn is_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}
