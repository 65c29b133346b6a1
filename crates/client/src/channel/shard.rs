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
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Mailbox, Opened, Received, Shard};
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

    fn take_mail(&mut self, io: &mut IoContext) {
        let mut inbox = mem::take(&mut self.inbox);
        self.mailbox.drain_into(&mut inbox);
        for mail in inbox.drain(..) {
            match mail {
                Mail::Call(pending) => self.take(pending),
                Mail::Attend(stream) => self.attend(&stream, io),
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
    fn attend(&mut self, stream: &StreamState, io: &mut IoContext) {
        let wishes = stream.take_wishes();
        let Some(ticket) = wishes.ticket else { return };
        let Some(place) = self.calls.place(ticket) else {
            return;
        };
        if let Place::Sent(id, stream) = place
            && let Some(link) = find(&mut self.current, &mut self.leaving, id)
        {
            match wishes.cancelled {
                true => link.cancel(stream, io),
                false => link.attend(stream, wishes.read_bytes, io),
            }
        }
        if wishes.cancelled {
            // The callers have ended it themselves; here it only leaves the books.
            self.calls.fail(ticket, Code::Cancelled, "");
        }
    }

    /// Ends the calls whose deadlines have passed.
    fn expire(&mut self, io: &mut IoContext) {
        let Some(due_ns) = self.calls.next_deadline() else {
            return;
        };
        if due_ns > io.now_ns() {
            return;
        }
        while let Some((ticket, place)) = self.calls.take_due(io.now_ns()) {
            let text = match place {
                Place::Waiting => "the deadline passed before the call could be sent",
                Place::Sent(..) => DEADLINE_PASSED,
            };
            if let Place::Sent(id, stream) = place
                && let Some(link) = find(&mut self.current, &mut self.leaving, id)
            {
                link.cancel(stream, io);
            }
            self.calls.fail(ticket, Code::DeadlineExceeded, text);
        }
    }

    /// Gives up a connection whose server does not greet.
    fn give_up_on_silent(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let is_silent = |link: &mut Link| link.greet_by_ns().is_some_and(|by_ns| by_ns <= now_ns);
        if let Some(link) = self.current.take_if(is_silent) {
            io.abort(link.id);
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
    fn keep_alive(&mut self, how: Keepalive, io: &mut IoContext) {
        let links = self.current.iter_mut().chain(&mut self.leaving);
        let mut vanished = Vec::new();
        for link in links {
            if link.has_vanished(how, io) {
                vanished.push(link.id);
            }
        }
        for id in vanished {
            io.abort(id);
            let address = self.server.name().to_string();
            let waited = Duration::from_nanos(how.timeout_ns);
            let reason = format!("nothing came for {waited:?} after a keepalive PING");
            self.lost(id, |_| CallError::Network { address, reason }.to_string());
        }
    }

    /// The server of a connection may have had too many PINGs.
    #[cold]
    fn mind_pings(&mut self, id: ConnectionId) {
        if let Some(link) = find(&mut self.current, &mut self.leaving, id)
            && link.take_asked_too_often()
        {
            self.keepalive = self.keepalive.map(Keepalive::calmed);
        }
    }

    /// Does what has become possible: sends calls, replaces a spent connection, closes old ones.
    fn go_on(&mut self, io: &mut IoContext) {
        if let Some(link) = &mut self.current {
            link.send_waiting(&mut self.calls, io);
            if link.is_spent() {
                self.leaving.extend(self.current.take());
                self.dial_at_ns = Some(self.back_off.lost());
            }
        }
        for link in &mut self.leaving {
            link.send_crowded(io);
            if link.is_idle() {
                io.close(link.id);
            }
        }
        if let Some(how) = self.keepalive {
            self.keep_alive(how, io);
        }
        if self.dial_at_ns.is_some_and(|at_ns| at_ns <= io.now_ns()) {
            self.dial(io);
        }
    }

    fn dial(&mut self, io: &mut IoContext) {
        self.dial_at_ns = None;
        self.back_off.asked(io.now_ns());
        let target = self.server.dial();
        let id = io.connect(target, self.server.name_number() as u64);
        let connection = &self.options.connection;
        self.current = Some(Link::new(
            id,
            &connection.http2,
            connection.origin(self.server.name()),
            connection.max_message_bytes,
            io,
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
    fn lost(&mut self, id: ConnectionId, tell: impl FnOnce(&Link) -> String) {
        let is_current = |link: &mut Link| link.id == id;
        if let Some(link) = self.current.take_if(is_current) {
            let text = tell(&link);
            let was_good = link.is_greeted();
            link.fail_all(&mut self.calls, &text);
            match was_good {
                true => self.dial_at_ns = Some(self.back_off.lost()),
                false => self.not_reached(text),
            }
        } else if let Some(at) = self.leaving.iter().position(|link| link.id == id) {
            let link = self.leaving.swap_remove(at);
            let text = tell(&link);
            link.fail_all(&mut self.calls, &text);
        }
    }

    /// The server broke HTTP/2 by `bytes`: nothing that it says there can be understood any more.
    fn broken(&mut self, id: ConnectionId, error: ConnectionError, bytes: &[u8]) {
        let address = self.server.name().to_string();
        self.lost(id, |link| match link.is_greeted() {
            true => CallError::Protocol { address, error }.to_string(),
            false => greeting::not_http2(&address, bytes).to_string(),
        });
    }

    /// The server speaks something else.
    #[cold]
    fn refused_by(&mut self, id: ConnectionId, bytes: &[u8]) {
        let told = greeting::not_http2(&self.server.name().to_string(), bytes);
        self.lost(id, |_| told.to_string());
    }

    /// Nobody has the channel any more.
    fn end(&mut self, io: &mut IoContext) {
        self.dial_at_ns = None;
        for link in self
            .current
            .take()
            .into_iter()
            .chain(self.leaving.drain(..))
        {
            io.close(link.id);
        }
        self.calls
            .fail_all(Code::Cancelled, "the channel was dropped");
    }
}

impl Shard for ChannelShard {
    fn opened(&mut self, id: ConnectionId, _: Opened, io: &mut IoContext) {
        let timeout = self.options.connection.greeting_timeout;
        if let Some(link) = find(&mut self.current, &mut self.leaving, id) {
            link.opened(io.now_ns() + nanoseconds(timeout));
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let hang_up = Received {
            consumed: bytes.len(),
            after: AfterRead::Close,
        };
        let Some(link) = find(&mut self.current, &mut self.leaving, id) else {
            return hang_up;
        };
        if !link.is_greeted() && greeting::is_tls_alert(bytes) {
            // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
            self.refused_by(id, bytes);
            self.go_on(io);
            return hang_up;
        }
        let received = match link.receive(bytes, &mut self.calls, io) {
            Ok((consumed, has_more)) => {
                self.note();
                let after = match has_more {
                    true => AfterRead::Again,
                    false => AfterRead::Continue,
                };
                Received { consumed, after }
            }
            Err(error) => {
                self.broken(id, error, bytes);
                hang_up
            }
        };
        if self.keepalive.is_some() {
            self.mind_pings(id);
        }
        self.go_on(io);
        received
    }

    fn writable(&mut self, _: ConnectionId, io: &mut IoContext) {
        self.go_on(io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        if io.stopping() {
            return;
        }
        match why {
            Closed::NotConnected(_, error) => {
                if self.current.take_if(|link| link.id == id).is_some() {
                    let server = self.server.name().to_string();
                    let text = greeting::refused(&server, &error, &self.options.connection);
                    self.not_reached(text.to_string());
                }
            }
            why => {
                let address = self.server.name().to_string();
                self.lost(id, |link| told(address, link, &why));
            }
        }
        self.go_on(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.take_mail(io);
        if io.stopping() {
            return self.end(io);
        }
        self.expire(io);
        for link in self.current.iter_mut().chain(&mut self.leaving) {
            link.send_resets(io);
        }
        self.give_up_on_silent(io);
        self.go_on(io);
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
    id: ConnectionId,
) -> Option<&'a mut Link> {
    let mut links = current.iter_mut().chain(leaving);
    links.find(|link| link.id == id)
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
