//! What the thread of a channel does: it owns the connections and the calls.

#[cfg(test)]
mod stories;

use super::address_picker::AddressPicker;
use super::backoff::Backoff;
use super::call_limit::CallLimit;
use super::connection::ChannelConnection;
use super::loss::{DEADLINE_PASSED, Loss, is_tls_alert};
use super::options::{ChannelOptions, nanoseconds};
use super::pending_call::{CallState, ChannelCommand, PendingCall};
use super::pending_calls::PendingCalls;
use super::shared_stream::SharedStream;
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
    addresses: AddressPicker,
    options: ChannelOptions,
    mailbox: Mailbox<ChannelCommand>,
    commands: Vec<ChannelCommand>,
    calls: PendingCalls,
    /// Where calls are sent, once its server has sent SETTINGS.
    current: Option<ChannelConnection>,
    /// Connections that take no more calls, until those in flight have ended.
    draining: Vec<ChannelConnection>,
    backoff: Backoff,
    keepalive: Option<Keepalive>,
    /// When the next connection is to be made; `None` while there is one.
    connect_at_ns: Option<u64>,
    /// Why the last attempt at every address has failed.
    unreachable: Option<ConnectError>,
    /// Threads that wait for a connection.
    waiters: Vec<SyncSender<Result<(), ConnectError>>>,
}

impl ChannelShard {
    pub fn new(
        addresses: AddressPicker,
        options: ChannelOptions,
        mailbox: Mailbox<ChannelCommand>,
        limit: Arc<CallLimit>,
    ) -> Self {
        let backoff = Backoff::new(options.backoff_min, options.backoff_max);
        let keepalive = options.keepalive();
        Self {
            addresses,
            options,
            mailbox,
            commands: Vec::new(),
            calls: PendingCalls::new(limit),
            current: None,
            draining: Vec::new(),
            backoff,
            keepalive,
            connect_at_ns: Some(0),
            unreachable: None,
            waiters: Vec::new(),
        }
    }

    /// Which of the server's names a connection is for.
    pub fn name_index(&self, token: u64) -> usize {
        token as usize
    }

    fn take_commands(&mut self, io: &mut IoContext) {
        let mut commands = mem::take(&mut self.commands);
        self.mailbox.drain_into(&mut commands);
        for command in commands.drain(..) {
            match command {
                ChannelCommand::Call(call) => self.add_call(call),
                ChannelCommand::StreamChanged(stream) => self.update_stream(&stream, io),
                ChannelCommand::AwaitConnection(waiter) => self.await_connection(waiter),
            }
        }
        self.commands = commands;
    }

    fn add_call(&mut self, call: PendingCall) {
        match &self.unreachable {
            Some(error) if !call.head.waits_for_ready => {
                self.calls.refuse(call, error.to_string());
            }
            _ => self.calls.add(call),
        }
    }

    fn await_connection(&mut self, waiter: SyncSender<Result<(), ConnectError>>) {
        self.waiters.push(waiter);
        let current = self.current.as_ref();
        if current.is_some_and(ChannelConnection::has_settings) {
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

    /// Passes on what the callers of a stream have done, unless the call has ended.
    fn update_stream(&mut self, stream: &SharedStream, io: &mut IoContext) {
        let update = stream.take_update();
        let Some(key) = update.key else { return };
        let Some(state) = self.calls.state(key) else {
            return;
        };
        if let CallState::Sent(id, stream) = state
            && let Some(connection) = find(&mut self.current, &mut self.draining, id)
        {
            if update.cancelled {
                connection.cancel(stream, io);
            } else {
                connection.update_stream(stream, update.read_bytes, io);
            }
        }
        if update.cancelled {
            // The callers have their status already; here the call only leaves the table.
            self.calls.fail(key, Code::Cancelled, "");
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
        while let Some((key, state)) = self.calls.pop_due(io.now_ns()) {
            let text = match state {
                CallState::Queued => "the deadline passed before the call could be sent",
                CallState::Sent(..) => DEADLINE_PASSED,
            };
            if let CallState::Sent(id, stream) = state
                && let Some(connection) = find(&mut self.current, &mut self.draining, id)
            {
                connection.cancel(stream, io);
            }
            self.calls.fail(key, Code::DeadlineExceeded, text);
        }
    }

    /// Gives up a connection whose server has sent no SETTINGS in time.
    fn give_up_silent(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let is_silent = |connection: &mut ChannelConnection| {
            let due_ns = connection.settings_due_ns();
            due_ns.is_some_and(|due_ns| due_ns <= now_ns)
        };
        if let Some(connection) = self.current.take_if(is_silent) {
            io.abort(connection.id);
            let address = self.addresses.name().to_string();
            let waited = self.options.settings_timeout;
            self.not_reached(match connection.unread_bytes {
                0 => ConnectError::Silent { address, waited },
                received_bytes => ConnectError::NoSettings { address, waited, received_bytes },
            });
        }
    }

    /// Sends the PINGs that are due, and gives up connections whose server has not answered one.
    #[cold]
    fn keep_alive(&mut self, how: Keepalive, io: &mut IoContext) {
        let connections = self.current.iter_mut().chain(&mut self.draining);
        let mut vanished = Vec::new();
        for connection in connections {
            if connection.has_vanished(how, io) {
                vanished.push(connection.id);
            }
        }
        for id in vanished {
            io.abort(id);
            let waited = Duration::from_nanos(how.timeout_ns);
            let reason = format!("nothing came for {waited:?} after a keepalive PING");
            self.lost(id, Loss::Network(reason));
        }
    }

    /// Sends fewer PINGs if the server of a connection has complained about them.
    #[cold]
    fn slow_keepalive(&mut self, id: ConnectionId) {
        if let Some(connection) = find(&mut self.current, &mut self.draining, id)
            && connection.take_too_many_pings()
        {
            self.keepalive = self.keepalive.map(Keepalive::at_half_rate);
        }
    }

    /// Does what has become possible: sends calls, replaces an exhausted connection, closes those
    /// that are drained.
    fn make_progress(&mut self, io: &mut IoContext) {
        if let Some(connection) = &mut self.current {
            connection.send_queued(&mut self.calls, io);
            if connection.is_exhausted() {
                self.draining.extend(self.current.take());
                self.connect_at_ns = Some(self.backoff.lost());
            }
        }
        for connection in &mut self.draining {
            connection.send_delayed(io);
            if connection.is_empty() {
                io.close(connection.id);
            }
        }
        if let Some(how) = self.keepalive {
            self.keep_alive(how, io);
        }
        if self.connect_at_ns.is_some_and(|at_ns| at_ns <= io.now_ns()) {
            self.connect(io);
        }
    }

    fn connect(&mut self, io: &mut IoContext) {
        self.connect_at_ns = None;
        self.backoff.asked(io.now_ns());
        let target = self.addresses.next();
        let id = io.connect(target, self.addresses.name_index() as u64);
        let options = &self.options;
        let origin = options.origin(self.addresses.name());
        self.current = Some(ChannelConnection::new(id, options, origin, io));
    }

    /// Takes note of what came on the current connection.
    fn take_note(&mut self) {
        let Some(connection) = &mut self.current else {
            return;
        };
        if connection.take_was_answered() {
            self.backoff.succeeded();
        }
        if connection.has_settings() {
            self.unreachable = None;
            self.addresses.succeeded();
            if !self.waiters.is_empty() {
                self.notify_waiters(&Ok(()));
            }
        }
    }

    /// A connection was not made, or was lost before its server had sent SETTINGS.
    fn not_reached(&mut self, error: ConnectError) {
        if !self.addresses.failed() {
            self.connect_at_ns = Some(0);
            return;
        }
        self.connect_at_ns = Some(self.backoff.lost());
        self.calls.fail_queued(&error.to_string());
        self.notify_waiters(&Err(error.clone()));
        self.unreachable = Some(error);
    }

    /// A connection is of no use any more.
    fn lost(&mut self, id: ConnectionId, loss: Loss<'_>) {
        let address = self.addresses.name().to_string();
        let is_lost = |connection: &mut ChannelConnection| connection.id == id;
        if let Some(connection) = self.current.take_if(is_lost) {
            if connection.has_settings() {
                self.connect_at_ns = Some(self.backoff.lost());
                connection.fail_all(&mut self.calls, loss, &address);
            } else {
                let encrypt = self.options.encrypt();
                self.not_reached(loss.before_settings(address, encrypt));
            }
            return;
        }
        if let Some(index) = self.draining.iter().position(|connection| connection.id == id) {
            let connection = self.draining.swap_remove(index);
            connection.fail_all(&mut self.calls, loss, &address);
        }
    }

    /// The last clone of the channel was dropped.
    fn close_all(&mut self, io: &mut IoContext) {
        self.connect_at_ns = None;
        self.draining.extend(self.current.take());
        for connection in self.draining.drain(..) {
            io.close(connection.id);
        }
        self.calls.fail_all(Code::Cancelled, "the channel was dropped");
    }
}

impl Shard for ChannelShard {
    fn opened(&mut self, id: ConnectionId, _: Opened, io: &mut IoContext) {
        let timeout = self.options.settings_timeout;
        if let Some(connection) = find(&mut self.current, &mut self.draining, id) {
            connection.opened(io.now_ns() + nanoseconds(timeout));
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let hang_up = Received { consumed: bytes.len(), after: AfterRead::Close };
        let Some(connection) = find(&mut self.current, &mut self.draining, id) else {
            return hang_up;
        };
        if !connection.has_settings() {
            connection.unread_bytes = bytes.len();
            if is_tls_alert(bytes) {
                // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
                self.lost(id, Loss::NotHttp2(bytes));
                self.make_progress(io);
                return hang_up;
            }
        }
        let received = match connection.receive(bytes, &mut self.calls, io) {
            Ok((consumed, has_more)) => {
                self.take_note();
                let after = if has_more { AfterRead::Again } else { AfterRead::Continue };
                Received { consumed, after }
            }
            Err(error) => {
                self.lost(id, Loss::Protocol(error, bytes));
                hang_up
            }
        };
        if self.keepalive.is_some() {
            self.slow_keepalive(id);
        }
        self.make_progress(io);
        received
    }

    fn writable(&mut self, _: ConnectionId, io: &mut IoContext) {
        self.make_progress(io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        if io.stopping() {
            return;
        }
        match why {
            Closed::NotConnected(_, error) => {
                let is_lost = |connection: &mut ChannelConnection| connection.id == id;
                if self.current.take_if(is_lost).is_some() {
                    let address = self.addresses.name().to_string();
                    let timeout = self.options.connect_timeout;
                    self.not_reached(ConnectError::not_connected(address, &error, timeout));
                }
            }
            Closed::Failed(error) => self.lost(id, Loss::of(&error)),
            _ => self.lost(id, Loss::Closed),
        }
        self.make_progress(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.take_commands(io);
        if io.stopping() {
            return self.close_all(io);
        }
        self.expire(io);
        for connection in self.current.iter_mut().chain(&mut self.draining) {
            connection.send_resets(io);
        }
        self.give_up_silent(io);
        self.make_progress(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        let current = self.current.as_ref();
        let settings_due_ns = current.and_then(ChannelConnection::settings_due_ns);
        let own = [self.calls.next_deadline(), self.connect_at_ns, settings_due_ns];
        let theirs = current
            .into_iter()
            .chain(&self.draining)
            .flat_map(|connection| [connection.next_reset_ns(), connection.next_check_ns()]);
        own.into_iter().chain(theirs).flatten().min()
    }
}

fn find<'a>(
    current: &'a mut Option<ChannelConnection>,
    draining: &'a mut [ChannelConnection],
    id: ConnectionId,
) -> Option<&'a mut ChannelConnection> {
    current.iter_mut().chain(draining).find(|connection| connection.id == id)
}
