//! One connection of a channel and the calls on it.

mod in_flight;
mod incoming;
mod liveness;
mod visitor;

use super::loss::Loss;
use super::options::ChannelOptions;
use super::pending_call::{CallKind, CallState, PendingCall};
use super::pending_calls::PendingCalls;
use super::request_heads::{Origin, RequestHeads};
use bookend_io::{ConnectionId, IoContext, WakeBatch};
use bookend_wire::grpc::{Code, Encoding, timeout};
use bookend_wire::keepalive::KeepaliveAction;
use bookend_wire::reset_queue::RESETS_WAITING_MAX;
use bookend_wire::{
    CannotOpen, Connection, ConnectionError, ExtraField, Indexing, Keepalive, ResetQueue, Side,
    StreamKey,
};
use in_flight::CallsInFlight;
use incoming::IncomingResponse;
use liveness::Liveness;
use std::borrow::Cow;
use std::mem;
use std::sync::Arc;
use visitor::ChannelVisitor;

/// Unwritten output beyond which nothing further is sent: enough to keep a write full, little
/// enough that calls wait in the queue, where they cost less and can be given up.
const BACKLOG_MAX_BYTES: usize = 256 << 10;

/// Bytes that are handled before other threads are woken: some three hundred small responses. Those
/// threads then have enough to do for one write, and not long to wait for it.
const SLICE_BYTES: usize = 16 << 10;

/// Room for a stream's next messages that a connection keeps: what a send buffer holds, and some
/// more.
const KEPT_BYTES: usize = 128 << 10;

/// A connection from when it is asked for until it is lost.
///
/// ```text
/// new -> opened -> settings received -> exhausted -> empty: to be closed
/// ```
pub(crate) struct ChannelConnection {
    pub id: ConnectionId,
    http2: Connection,
    heads: RequestHeads,
    in_flight: CallsInFlight,
    max_message_bytes: usize,
    /// When the server's SETTINGS must have come, once the connection is open.
    settings_due_ns: Option<u64>,
    /// Bytes that have come, while they are no whole SETTINGS.
    pub unread_bytes: usize,
    resets: ResetQueue,
    liveness: Liveness,
    /// Streams with something to send, for which there was no room in the output.
    waiting_for_room: Vec<StreamKey>,
    /// What a stream sends next; kept for its memory.
    body: Vec<u8>,
}

impl ChannelConnection {
    /// A connection that was just asked for; the preface and the SETTINGS are put in its output.
    pub fn new(
        id: ConnectionId,
        options: &ChannelOptions,
        origin: Origin,
        io: &mut IoContext,
    ) -> Self {
        let mut http2 = Connection::new(Side::Client, &options.http2);
        io.output(id).append(&mut http2.sender.output);
        Self {
            id,
            http2,
            heads: RequestHeads::new(origin),
            in_flight: CallsInFlight::default(),
            max_message_bytes: options.max_message_bytes,
            settings_due_ns: None,
            unread_bytes: 0,
            resets: ResetQueue::new(RESETS_WAITING_MAX),
            liveness: Liveness::default(),
            waiting_for_room: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The connection is open: the server's SETTINGS must come by then.
    pub fn opened(&mut self, settings_due_ns: u64) {
        self.settings_due_ns = Some(settings_due_ns);
    }

    /// When the server's SETTINGS must have come, while they are awaited.
    pub fn settings_due_ns(&self) -> Option<u64> {
        self.settings_due_ns.filter(|_| !self.has_settings())
    }

    /// Whether the server has sent its SETTINGS.
    pub fn has_settings(&self) -> bool {
        self.in_flight.has_settings
    }

    /// Whether a call was answered since the last question.
    pub fn take_was_answered(&mut self) -> bool {
        mem::take(&mut self.in_flight.was_answered)
    }

    /// Whether no call waits for a response here.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether no call is to be sent here again: the server goes away, the ids are used up, or too
    /// many streams wait to be reset.
    pub fn is_exhausted(&mut self) -> bool {
        if self.resets.has_overflowed() {
            return true;
        }
        let sender = &mut self.http2.sender;
        // Where no stream may be opened, trying to opens none and gives the reason.
        sender.may_open() == 0 && !matches!(sender.open(), Ok(_) | Err(CannotOpen::Concurrency))
    }

    /// Handles the first of what has come. Returns the bytes used up, and whether there are more to
    /// be handled.
    ///
    /// # Errors
    /// The rule of HTTP/2 that the server broke: nothing more can be read here.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        calls: &mut PendingCalls,
        io: &mut IoContext,
    ) -> Result<(usize, bool), ConnectionError> {
        let slice = bytes.len().min(SLICE_BYTES);
        let consumed = self.receive_slice(&bytes[..slice], calls, io)?;
        match consumed {
            // A frame that is longer makes it the whole.
            0 if slice < bytes.len() => Ok((self.receive_slice(bytes, calls, io)?, false)),
            _ => Ok((consumed, slice < bytes.len())),
        }
    }

    fn receive_slice(
        &mut self,
        bytes: &[u8],
        calls: &mut PendingCalls,
        io: &mut IoContext,
    ) -> Result<usize, ConnectionError> {
        let wake_batch = WakeBatch::begin();
        let received = self.with_output(io, |connection, _| {
            let mut visitor = ChannelVisitor {
                in_flight: &mut connection.in_flight,
                calls,
                max_message_bytes: connection.max_message_bytes,
            };
            connection.http2.receive(bytes, &mut visitor)
        });
        drop(wake_batch);
        self.liveness.received(*received.as_ref().unwrap_or(&0));
        if self.in_flight.has_streams_to_handle() {
            self.handle_streams(io);
        }
        received
    }

    /// Does for streams what became possible, or needless, by what was received.
    #[cold]
    fn handle_streams(&mut self, io: &mut IoContext) {
        for stream in mem::take(&mut self.in_flight.writable) {
            self.update_stream(stream, 0, io);
        }
        for stream in mem::take(&mut self.in_flight.to_end) {
            // No message is cut off, so an end does as well as a reset, and servers do not count
            // it.
            self.with_output(io, |connection, _| {
                connection.http2.sender.data(stream, &[], true);
            });
        }
        for stream in mem::take(&mut self.in_flight.to_reset) {
            self.give_up(stream);
        }
        self.send_resets(io);
    }

    /// Has `send` write to the connection's own output, in place.
    #[inline]
    fn with_output<R>(
        &mut self,
        io: &mut IoContext,
        send: impl FnOnce(&mut Self, &IoContext) -> R,
    ) -> R {
        mem::swap(io.output(self.id), &mut self.http2.sender.output);
        let sent = send(self, io);
        mem::swap(io.output(self.id), &mut self.http2.sender.output);
        sent
    }

    /// Bytes that may be sent before the output is full. Where there is no room, asking has the
    /// driver call the shard once there is.
    fn room_bytes(&self, io: &IoContext) -> usize {
        BACKLOG_MAX_BYTES.saturating_sub(io.backlog(self.id))
    }
}

/// Sending.
impl ChannelConnection {
    /// Sends what streams had no room for, then calls from the queue, as many as the server and the
    /// kernel take.
    pub fn send_queued(&mut self, calls: &mut PendingCalls, io: &mut IoContext) {
        self.send_delayed(io);
        if !self.has_settings() || self.http2.sender.may_open() == 0 {
            return;
        }
        let room_bytes = self.room_bytes(io);
        if room_bytes == 0 || calls.next_queued().is_none() {
            return;
        }
        let is_full =
            self.with_output(io, |connection, io| connection.send_into(room_bytes, calls, io));
        if is_full {
            // Asking for the backlog has the driver call the shard once it is gone.
            io.backlog(self.id);
        }
    }

    /// Sends until the output has grown by `room_bytes`; true if that was what ended it.
    fn send_into(&mut self, room_bytes: usize, calls: &mut PendingCalls, io: &IoContext) -> bool {
        let full_bytes = self.http2.sender.output.len() + room_bytes;
        while let Some((key, call)) = calls.next_queued() {
            if self.http2.sender.output.len() >= full_bytes {
                return true;
            }
            let Ok(stream) = self.send(call, io) else {
                return false;
            };
            call.state = CallState::Sent(self.id, stream);
            let (response, is_streaming) = match &call.kind {
                CallKind::Unary(..) => (IncomingResponse::unary(), false),
                CallKind::Stream(guard) => {
                    (IncomingResponse::streaming(Arc::clone(&guard.0)), true)
                }
            };
            calls.sent();
            self.in_flight.insert(stream, key, response);
            if is_streaming {
                self.send_body(stream, true);
            }
        }
        false
    }

    /// Sends a call, or of a streaming one the head.
    fn send(&mut self, call: &PendingCall, io: &IoContext) -> Result<StreamKey, CannotOpen> {
        let CallKind::Unary(message, _) = &call.kind else {
            return self.send_head(call, io);
        };
        if call.head.encoding != Encoding::Identity {
            let stream = self.send_head(call, io)?;
            self.http2.sender.data(stream, message, true);
            return Ok(stream);
        }
        let sender = &mut self.http2.sender;
        let head = self.heads.of(&call.head.path);
        if call.deadline_ns.is_none() && call.head.metadata.is_empty() {
            return sender.request(head, &[], message);
        }
        let varying = varying_fields(call, io);
        let extra: Vec<_> = varying.iter().map(extra_field).collect();
        sender.request(head, &extra, message)
    }

    /// Opens a stream whose body is yet to be sent.
    #[cold]
    fn send_head(&mut self, call: &PendingCall, io: &IoContext) -> Result<StreamKey, CannotOpen> {
        let sender = &mut self.http2.sender;
        let stream = sender.open()?;
        let varying = varying_fields(call, io);
        let extra: Vec<_> = varying.iter().map(extra_field).collect();
        let head = self.heads.of(&call.head.path);
        sender.headers_with(stream, head, &extra, false);
        Ok(stream)
    }

    /// The callers of a stream have read `read_bytes` bytes, and there may be something to send.
    pub fn update_stream(&mut self, stream: StreamKey, read_bytes: usize, io: &mut IoContext) {
        let has_room = self.room_bytes(io) > 0;
        self.with_output(io, |connection, _| {
            connection.http2.sender.release_stream(stream, read_bytes);
            connection.send_body(stream, has_room);
        });
    }

    /// Sends what streams had to delay because the output was full.
    #[inline]
    pub fn send_delayed(&mut self, io: &mut IoContext) {
        // Without this, each read would look at all of them, however many there are.
        if self.waiting_for_room.is_empty() || self.room_bytes(io) == 0 {
            return;
        }
        for stream in mem::take(&mut self.waiting_for_room) {
            if let Some(call) = self.in_flight.streaming_call_on(stream) {
                call.waits_for_room = false;
                self.update_stream(stream, 0, io);
            }
        }
    }

    /// Sends what is in the send buffer of a streaming call, unless the server's window or a full
    /// output prevents it. Whichever does also leads back here.
    fn send_body(&mut self, stream: StreamKey, has_room: bool) {
        let Some(call) = self.in_flight.streaming_call_on(stream) else {
            return;
        };
        let sender = &mut self.http2.sender;
        if sender.blocked_bytes(stream) > 0 {
            return call.stream.set_blocked();
        }
        if !has_room {
            if !mem::replace(&mut call.waits_for_room, true) {
                self.waiting_for_room.push(stream);
            }
            return call.stream.set_blocked();
        }
        self.body.clear();
        let is_last = call.stream.take_sent(&mut self.body);
        call.keep_for_replay(&self.body);
        sender.data(stream, &self.body, is_last);
        if sender.blocked_bytes(stream) > 0 {
            call.stream.set_blocked();
        }
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }
}

/// Giving up.
impl ChannelConnection {
    /// No caller waits for this call any more. Its stream is reset as soon as the pace of resets
    /// allows.
    pub fn cancel(&mut self, stream: StreamKey, io: &mut IoContext) {
        self.in_flight.remove(stream);
        self.give_up(stream);
        self.send_resets(io);
    }

    fn give_up(&mut self, stream: StreamKey) {
        let sender = &self.http2.sender;
        if sender.is_open(stream) {
            self.resets.add(stream, sender);
        }
    }

    /// Sends the resets that are due.
    pub fn send_resets(&mut self, io: &mut IoContext) {
        if self.resets.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        self.with_output(io, |connection, _| {
            let sender = &mut connection.http2.sender;
            connection.resets.reset_due(now_ns, sender);
        });
    }

    /// When the next reset is due.
    #[inline]
    pub fn next_reset_ns(&self) -> Option<u64> {
        self.resets.next_ns()
    }

    /// The connection is gone, and its calls with it.
    pub fn fail_all(mut self, calls: &mut PendingCalls, loss: Loss<'_>, address: &str) {
        let goaway = self.in_flight.goaway.take();
        let text = loss.text_of_calls(address, goaway);
        for key in self.in_flight.into_keys() {
            calls.fail(key, Code::Unavailable, &*text);
        }
    }
}

/// Keepalive.
impl ChannelConnection {
    /// Sends a PING to a silent server, if calls wait for it. True if it has not answered the last
    /// one.
    #[cold]
    pub fn has_vanished(&mut self, how: Keepalive, io: &mut IoContext) -> bool {
        let calls_wait = !self.in_flight.is_empty();
        let action = self.liveness.check(calls_wait, how, io.now_ns());
        if action == Some(KeepaliveAction::SendPing) {
            self.with_output(io, |connection, _| connection.http2.sender.ping([0; 8]));
        }
        action == Some(KeepaliveAction::GiveUp)
    }

    /// When to check whether the server is still there, while calls wait for it.
    pub fn next_check_ns(&self) -> Option<u64> {
        self.liveness.check_at_ns()
    }

    /// Whether the server has complained about PINGs since the last question.
    pub fn take_too_many_pings(&mut self) -> bool {
        mem::take(&mut self.in_flight.too_many_pings)
    }
}

/// The fields of a request's head that differ from call to call.
fn varying_fields<'a>(call: &'a PendingCall, io: &IoContext) -> Vec<(&'a [u8], Cow<'a, [u8]>)> {
    let timeout = call.deadline_ns.map(|deadline_ns| {
        let mut value = Vec::new();
        timeout::write(deadline_ns.saturating_sub(io.now_ns()), &mut value);
        (&b"grpc-timeout"[..], Cow::Owned(value))
    });
    let encoding = call.head.encoding;
    let encoding = (encoding != Encoding::Identity)
        .then(|| (&b"grpc-encoding"[..], Cow::Borrowed(encoding.name())));
    let own = timeout.into_iter().chain(encoding);
    let metadata = call.head.metadata.iter().map(|(name, value)| (name, Cow::Borrowed(value)));
    own.chain(metadata).collect()
}

/// Not indexed: in the compression table it would push out what does not vary.
fn extra_field<'a>((name, value): &'a (&[u8], Cow<'_, [u8]>)) -> ExtraField<'a> {
    ExtraField { name, value, indexing: Indexing::Without }
}
