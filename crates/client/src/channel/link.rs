//! One connection of a channel and the calls on it.

mod hearing;
mod liveness;
mod receiving;

use super::calls::{Calls, Pending, Place, RequestHead, Work};
use super::heads::{Heads, Origin};
use super::loss::Loss;
use super::options::ChannelOptions;
use super::resets::Resets;
use crate::encoding::{ENCODING, Encoding};
use crate::response::Response;
use bookend_io::{ConnectionId, IoContext, WakeBatch};
use bookend_wire::grpc::{Code, timeout};
use bookend_wire::{
    CannotOpen, Connection, ConnectionError, ErrorCode, ExtraField, Indexing, Side, StreamKey,
};
use hearing::{Hearing, Talk};
use liveness::Liveness;
use receiving::Receiving;
use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

/// Unwritten output beyond which nothing further is sent: enough to keep a write full, little
/// enough that calls wait in the queue, where they cost less and can be given up.
const BACKLOG_MAX_BYTES: usize = 256 << 10;

/// Answers that are handed out before other threads are signalled: some three hundred small ones.
/// Those threads then have enough to do for one write, and not long to wait for it.
const SLICE_BYTES: usize = 16 << 10;

/// Room for a stream's next messages that a connection keeps: what an outbox holds, and some more.
const KEPT_BYTES: usize = 128 << 10;

/// A connection: asked for, greeted, or going away.
pub(crate) struct Link {
    pub id: ConnectionId,
    connection: Connection,
    heads: Heads,
    talk: Talk,
    /// When the server's SETTINGS must have come, once the connection is there.
    greet_by_ns: Option<u64>,
    /// Bytes that have come, while they are no whole SETTINGS.
    pub unread_bytes: usize,
    resets: Resets,
    liveness: Liveness,
    /// Streams with something to send, for which there was no room in the output.
    crowded: Vec<StreamKey>,
    /// What a stream sends next; kept for its memory.
    body: Vec<u8>,
}

impl Link {
    /// A connection that was just asked for; its greeting is put in the output.
    pub fn new(
        id: ConnectionId,
        options: &ChannelOptions,
        origin: Origin,
        io: &mut IoContext,
    ) -> Self {
        let mut connection = Connection::new(Side::Client, &options.http2);
        io.output(id).append(&mut connection.sender.output);
        Self {
            id,
            connection,
            heads: Heads::new(origin),
            talk: Talk::new(options.max_message_bytes),
            greet_by_ns: None,
            unread_bytes: 0,
            resets: Resets::new(),
            liveness: Liveness::default(),
            crowded: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The connection is there: the server's SETTINGS must come by then.
    pub fn opened(&mut self, greet_by_ns: u64) {
        self.greet_by_ns = Some(greet_by_ns);
    }

    /// When the server's SETTINGS must have come, while they are awaited.
    pub fn greet_by_ns(&self) -> Option<u64> {
        self.greet_by_ns.filter(|_| !self.talk.greeted)
    }

    /// Whether the server has sent its SETTINGS.
    pub fn is_greeted(&self) -> bool {
        self.talk.greeted
    }

    /// Whether a call was answered since this was last asked.
    pub fn take_answered(&mut self) -> bool {
        mem::take(&mut self.talk.answered)
    }

    /// Whether no call waits for an answer here.
    pub fn is_idle(&self) -> bool {
        self.talk.is_idle()
    }

    /// Whether no call is to be sent here again: the server goes away, the ids are used up, or too
    /// many streams wait to be reset.
    pub fn is_spent(&mut self) -> bool {
        if self.resets.are_too_many() {
            return true;
        }
        let sender = &mut self.connection.sender;
        // Where none may be opened, asking does nothing but say why.
        sender.may_open() == 0 && !matches!(sender.open(), Ok(_) | Err(CannotOpen::Concurrency))
    }

    /// Handles the first of what has come. Returns the octets used up, and whether there are more
    /// to be handled.
    ///
    /// # Errors
    /// The rule of HTTP/2 that the server broke: nothing more can be read here.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        calls: &mut Calls,
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
        calls: &mut Calls,
        io: &mut IoContext,
    ) -> Result<usize, ConnectionError> {
        let held = WakeBatch::begin();
        let received = self.with_output(io, |link, _| {
            let talk = &mut link.talk;
            link.connection.receive(bytes, &mut Hearing { talk, calls })
        });
        drop(held);
        self.liveness.heard(*received.as_ref().unwrap_or(&0));
        if self.talk.calls_for_more() {
            self.follow_up(io);
        }
        received
    }

    /// Does what has become possible, or needless, by what was received.
    #[cold]
    fn follow_up(&mut self, io: &mut IoContext) {
        for stream in mem::take(&mut self.talk.drained) {
            self.send_on(stream, io);
        }
        for stream in mem::take(&mut self.talk.answered_early) {
            // No message is cut off, so an end does as well as a reset, and nobody counts it.
            self.with_output(io, |link, _| link.connection.sender.data(stream, &[], true));
        }
        for stream in mem::take(&mut self.talk.given_up) {
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
        mem::swap(io.output(self.id), &mut self.connection.sender.output);
        let sent = send(self, io);
        mem::swap(io.output(self.id), &mut self.connection.sender.output);
        sent
    }

    /// Octets that may be sent before the output is full. Who asks, and is told that there are
    /// none, is told when there are.
    fn room_bytes(&self, io: &IoContext) -> usize {
        BACKLOG_MAX_BYTES.saturating_sub(io.backlog(self.id))
    }
}

/// Sending.
impl Link {
    /// Sends calls from the queue, as many as the server and the kernel take, and what streams had
    /// to keep back.
    pub fn send_waiting(&mut self, calls: &mut Calls, io: &mut IoContext) {
        self.send_crowded(io);
        if !self.talk.greeted || self.connection.sender.may_open() == 0 {
            return;
        }
        let room_bytes = self.room_bytes(io);
        if room_bytes == 0 || calls.next_waiting().is_none() {
            return;
        }
        let is_full = self.with_output(io, |link, io| link.send_into(room_bytes, calls, io));
        if is_full {
            // Who asks for the backlog is told when it is gone, and then sends more.
            io.backlog(self.id);
        }
    }

    /// Sends until the output has grown by `room_bytes`; true if that was what ended it.
    fn send_into(&mut self, room_bytes: usize, calls: &mut Calls, io: &IoContext) -> bool {
        let full_bytes = self.connection.sender.output.len() + room_bytes;
        while let Some((ticket, pending)) = calls.next_waiting() {
            if self.connection.sender.output.len() >= full_bytes {
                return true;
            }
            let Ok(stream) = self.send(pending, io) else {
                return false;
            };
            pending.place = Place::Sent(self.id, stream);
            let receiving = match &pending.work {
                Work::Unary(..) => Receiving::Unary(Response::default()),
                Work::Stream(on_end) => Receiving::streaming(Arc::clone(on_end.stream())),
            };
            let is_streaming = matches!(receiving, Receiving::Streaming(_));
            calls.sent();
            self.talk.enter(stream, ticket, receiving);
            if is_streaming {
                self.send_body(stream, true);
            }
        }
        false
    }

    fn send(&mut self, pending: &Pending, io: &IoContext) -> Result<StreamKey, CannotOpen> {
        let RequestHead {
            path,
            metadata,
            encoding,
            ..
        } = &pending.head;
        let Work::Unary(message, _) = &pending.work else {
            return self.send_head(pending, io);
        };
        if *encoding != Encoding::Identity {
            let stream = self.send_head(pending, io)?;
            self.connection.sender.data(stream, message, true);
            return Ok(stream);
        }
        let sender = &mut self.connection.sender;
        let head = self.heads.of(path);
        if pending.deadline_ns.is_none() && metadata.is_empty() {
            return sender.request(head, &[], message);
        }
        let varying = varying(pending, io);
        let extra: Vec<_> = varying.iter().map(extra_field).collect();
        sender.request(head, &extra, message)
    }

    /// Opens a stream whose body is yet to be sent.
    #[cold]
    fn send_head(&mut self, pending: &Pending, io: &IoContext) -> Result<StreamKey, CannotOpen> {
        let sender = &mut self.connection.sender;
        let stream = sender.open()?;
        let varying = varying(pending, io);
        let extra: Vec<_> = varying.iter().map(extra_field).collect();
        let head = self.heads.of(&pending.head.path);
        sender.headers_with(stream, head, &extra, false);
        Ok(stream)
    }

    /// Attends to a streaming call whose callers have read so much, and may have sent something.
    pub fn attend(&mut self, stream: StreamKey, read_bytes: usize, io: &mut IoContext) {
        let has_room = self.room_bytes(io) > 0;
        self.with_output(io, |link, _| {
            link.connection.sender.release_stream(stream, read_bytes);
            link.send_body(stream, has_room);
        });
    }

    fn send_on(&mut self, stream: StreamKey, io: &mut IoContext) {
        let has_room = self.room_bytes(io) > 0;
        self.with_output(io, |link, _| link.send_body(stream, has_room));
    }

    /// Sends what streams had to keep back because the output was full.
    #[inline]
    pub fn send_crowded(&mut self, io: &mut IoContext) {
        // However many there are, each read would look at all of them.
        if self.crowded.is_empty() || self.room_bytes(io) == 0 {
            return;
        }
        for stream in mem::take(&mut self.crowded) {
            if let Some(Receiving::Streaming(streaming)) = self.talk.receiving(stream) {
                streaming.is_crowded = false;
                self.send_on(stream, io);
            }
        }
    }

    /// Sends what a streaming call has in its outbox, unless the server's window or the output
    /// keeps it back. What keeps it back also brings it here again.
    fn send_body(&mut self, stream: StreamKey, has_room: bool) {
        let Some(Receiving::Streaming(streaming)) = self.talk.receiving(stream) else {
            return;
        };
        let sender = &mut self.connection.sender;
        if sender.blocked_bytes(stream) > 0 {
            return streaming.state.hold_up();
        }
        if !has_room {
            if !mem::replace(&mut streaming.is_crowded, true) {
                self.crowded.push(stream);
            }
            return streaming.state.hold_up();
        }
        self.body.clear();
        let is_last = streaming.state.take_outbox(&mut self.body);
        streaming.remember(&self.body);
        sender.data(stream, &self.body, is_last);
        if sender.blocked_bytes(stream) > 0 {
            streaming.state.hold_up();
        }
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }
}

/// Giving up.
impl Link {
    /// Nobody waits for this call any more: the server is told, when its io comes.
    pub fn cancel(&mut self, stream: StreamKey, io: &mut IoContext) {
        self.talk.forget(stream);
        self.give_up(stream);
        self.send_resets(io);
    }

    fn give_up(&mut self, stream: StreamKey) {
        let sender = &self.connection.sender;
        if sender.is_open(stream) {
            let is_open = |stream| sender.is_open(stream);
            self.resets.owe(stream, is_open);
        }
    }

    /// Sends the resets that are due.
    pub fn send_resets(&mut self, io: &mut IoContext) {
        if self.resets.next_ns().is_none() {
            return;
        }
        let now_ns = io.now_ns();
        self.with_output(io, |link, _| {
            let sender = &mut link.connection.sender;
            while let Some(stream) = link.resets.next(now_ns, |stream| sender.is_open(stream)) {
                sender.reset(stream, ErrorCode::CANCEL);
            }
        });
    }

    /// When the next reset is due.
    #[inline]
    pub fn next_reset_ns(&self) -> Option<u64> {
        self.resets.next_ns()
    }

    /// The connection is gone, and its calls with it.
    pub fn fail_all(mut self, calls: &mut Calls, loss: Loss<'_>, address: String) {
        let goaway = self.talk.goaway.take();
        let text = loss.of_calls(address, goaway).to_string();
        for ticket in self.talk.into_tickets() {
            calls.fail(ticket, Code::Unavailable, &*text);
        }
    }
}

/// The fields of a request's head that differ from call to call.
fn varying<'a>(pending: &'a Pending, io: &IoContext) -> Vec<(&'a [u8], Cow<'a, [u8]>)> {
    let timeout = pending.deadline_ns.map(|deadline_ns| {
        let mut value = Vec::new();
        timeout::write(deadline_ns.saturating_sub(io.now_ns()), &mut value);
        (&b"grpc-timeout"[..], Cow::Owned(value))
    });
    let encoding = pending.head.encoding.name();
    let encoding = encoding.map(|name| (ENCODING, Cow::Borrowed(name)));
    let metadata = pending.head.metadata.iter();
    let metadata = metadata.map(|(name, value)| (name, Cow::Borrowed(value)));
    let own = timeout.into_iter().chain(encoding);
    own.chain(metadata).collect()
}

/// Varies from call to call: in the table it would push out what does not.
fn extra_field<'a>((name, value): &'a (&[u8], Cow<'_, [u8]>)) -> ExtraField<'a> {
    ExtraField {
        name,
        value,
        indexing: Indexing::Without,
    }
}
