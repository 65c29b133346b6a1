//! What the thread of a channel owns: its connections and its calls.

#[cfg(test)]
mod stories;

use super::back_off::BackOff;
use super::calls::{Calls, Mail, Pending, Place};
use super::link::Link;
use super::loss::{DEADLINE_PASSED, Loss, is_tls_alert, not_connected};
use super::options::{ChannelOptions, nanoseconds};
use super::server::Server;
use super::shared::CallLimit;
use super::stream_state::StreamState;
use crate::error::ConnectError;
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Mailbox, Opened, Received, Shard};
use bookend_wire::Keepalive;
use bookend_wire::grpc::Code;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
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
    unreachable: Option<ConnectError>,
    /// Threads that wait for a connection.
    waiters: Vec<SyncSender<Result<(), ConnectError>>>,
}

impl ChannelShard {
    pub fn new(
        server: Server,
        options: ChannelOptions,
        mailbox: Mailbox<Mail>,
        limit: Arc<CallLimit>,
    ) -> Self {
        let back_off = BackOff::new(options.back_off_min, options.back_off_max);
        let keepalive = options.keepalive();
        Self {
            server,
            options,
            mailbox,
            inbox: Vec::new(),
            calls: Calls::new(limit),
            current: None,
            leaving: Vec::new(),
            back_off,
            keepalive,
            dial_at_ns: Some(0),
            unreachable: None,
            waiters: Vec::new(),
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
                Mail::AwaitConnection(waiter) => self.await_connection(waiter),
            }
        }
        self.inbox = inbox;
    }

    fn take(&mut self, pending: Pending) {
        match &self.unreachable {
            Some(error) if !pending.head.waits_for_ready => {
                self.calls.refuse(pending, error.to_string());
            }
            _ => self.calls.add(pending),
        }
    }

    fn await_connection(&mut self, waiter: SyncSender<Result<(), ConnectError>>) {
        self.waiters.push(waiter);
        if self.current.as_ref().is_some_and(Link::is_greeted) {
            self.notify_waiters(&Ok(()));
        } else if let Some(error) = self.unreachable.clone() {
            self.notify_waiters(&Err(error));
        }
    }

    fn notify_waiters(&mut self, result: &Result<(), ConnectError>) {
        for waiter in self.waiters.drain(..) {
            // There is room for one, and a waiter that has gone needs none.
            let _ = waiter.try_send(result.clone());
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
            let address = self.server.name().to_string();
            let waited = self.options.settings_timeout;
            self.not_reached(match link.unread_bytes {
                0 => ConnectError::Silent { address, waited },
                received_bytes => ConnectError::NoSettings {
                    address,
                    waited,
                    received_bytes,
                },
            });
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
            let waited = Duration::from_nanos(how.timeout_ns);
            let reason = format!("nothing came for {waited:?} after a keepalive PING");
            self.lost(id, Loss::Network(reason));
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
        let options = &self.options;
        let origin = options.origin(self.server.name());
        self.current = Some(Link::new(id, options, origin, io));
    }

    /// Takes notice of what the current connection has heard.
    fn note(&mut self) {
        let Some(link) = &mut self.current else {
            return;
        };
        if link.take_answered() {
            self.back_off.succeeded();
        }
        if link.is_greeted() {
            self.unreachable = None;
            self.server.was_reached();
            if !self.waiters.is_empty() {
                self.notify_waiters(&Ok(()));
            }
        }
    }

    /// There is no connection, and there was none that worked.
    fn not_reached(&mut self, error: ConnectError) {
        if !self.server.has_failed() {
            self.dial_at_ns = Some(0);
            return;
        }
        self.dial_at_ns = Some(self.back_off.lost());
        self.calls.fail_impatient(&error.to_string());
        self.notify_waiters(&Err(error.clone()));
        self.unreachable = Some(error);
    }

    /// A connection is of no use any more.
    fn lost(&mut self, id: ConnectionId, loss: Loss<'_>) {
        let address = self.server.name().to_string();
        let is_lost = |link: &mut Link| link.id == id;
        if let Some(link) = self.current.take_if(is_lost) {
            if link.is_greeted() {
                self.dial_at_ns = Some(self.back_off.lost());
                link.fail_all(&mut self.calls, loss, address);
            } else {
                self.not_reached(loss.before_settings(address));
            }
        } else if let Some(at) = self.leaving.iter().position(|link| link.id == id) {
            let link = self.leaving.swap_remove(at);
            link.fail_all(&mut self.calls, loss, address);
        }
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
        let timeout = self.options.settings_timeout;
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
        if !link.is_greeted() {
            link.unread_bytes = bytes.len();
            if is_tls_alert(bytes) {
                // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
                self.lost(id, Loss::NotHttp2(bytes));
                self.go_on(io);
                return hang_up;
            }
        }
        let received = match link.receive(bytes, &mut self.calls, io) {
            Ok((consumed, has_more)) => {
                self.note();
                let after = if has_more {
                    AfterRead::Again
                } else {
                    AfterRead::Continue
                };
                Received { consumed, after }
            }
            Err(error) => {
                self.lost(id, Loss::Protocol(error, bytes));
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
                let is_lost = |link: &mut Link| link.id == id;
                if self.current.take_if(is_lost).is_some() {
                    let address = self.server.name().to_string();
                    let timeout = self.options.connect_timeout;
                    self.not_reached(not_connected(address, &error, timeout));
                }
            }
            Closed::Failed(error) => self.lost(id, Loss::of(&error)),
            _ => self.lost(id, Loss::Closed),
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
