//! Where the replies of a streaming call go, and how much room there is for them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::frame::HEADER_BYTES;
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::{MetadataError, Status};
use bookend_wire::{Sender, StreamKey};

use crate::call_origin::CallOrigin;
use crate::compression::{DEFLATE_WORK, MAX_DEFLATED_BYTES, deflated};
use crate::large_request::LargeRequest;
use crate::limits::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, STREAM_SEND_BUFFER_BYTES,
    STREAM_TURN_BYTES,
};
use crate::preparation::Preparation;
use crate::rejection::HttpStatus;
use crate::response_metadata::ResponseFields;
use crate::response_writer::ResponseWriter;
use crate::status::{self, internal};

/// Sends the replies of an [`InlineStream`](crate::InlineStream).
pub struct StreamReply<'a> {
    pub(crate) writer: StreamWriter<'a>,
    pub(crate) response: &'a mut ResponseState,
    pub(crate) request_was_compressed: bool,
}

/// The way from one stream to its connection's output.
pub(crate) struct StreamWriter<'a> {
    pub sender: &'a mut Sender,
    pub responses: &'a mut ResponseWriter,
    pub stream: StreamKey,
    pub origin: &'a CallOrigin,
    /// What the other streams of the connection have in their send buffers.
    pub others_blocked_bytes: usize,
}

impl StreamWriter<'_> {
    pub fn reborrow(&mut self) -> StreamWriter<'_> {
        StreamWriter { sender: self.sender, responses: self.responses, ..*self }
    }
}

/// How far the response to a streaming call has come.
#[derive(Debug)]
pub(crate) struct ResponseState {
    fields: ResponseFields,
    accepts_gzip: bool,
    /// The next messages go out compressed, if the head has announced that.
    compresses: bool,
    head_sent: bool,
    pub ended: bool,
    /// Size of a request that is kept until it is known to be the only one.
    pub kept_bytes: usize,
    turn_bytes: usize,
}

impl ResponseState {
    /// Nothing is sent yet; `fields` go with what will be.
    pub fn new(fields: ResponseFields, accepts_gzip: bool) -> Self {
        ResponseState {
            compresses: fields.compress,
            fields,
            accepts_gzip,
            head_sent: false,
            ended: false,
            kept_bytes: 0,
            turn_bytes: 0,
        }
    }

    /// The handler is about to look for what it was woken for.
    pub fn notice_wakeup(&self) {
        if let Some(waker) = &self.fields.waker {
            waker.notice();
        }
    }

    /// The stream may send as much as one turn allows.
    pub fn begin_turn(&mut self) {
        self.turn_bytes = 0;
    }
}

/// What a streaming call waits for before it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// Nothing but its client.
    No,
    /// The turns of the other streams, or the driver, which writes the output.
    OnTurn,
    /// The client's flow control.
    OnWindow,
    /// Its handler, which has no room for the next request.
    OnHandler,
}

impl StreamReply<'_> {
    /// The message, if it was decoded ahead of its handler: see
    /// [`crate::InlineStream::decoder`].
    pub fn take_decoded<Q: 'static>(&mut self) -> Option<Q> {
        self.writer.responses.decoded.take()?.take()
    }

    /// Sends a message, which `encode` appends to the buffer that it gets. Nothing is sent on a
    /// call that has ended.
    pub fn message(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.response.ended {
            return;
        }
        self.head();
        let sent_bytes = if self.response.compresses && self.response.fields.compress {
            self.send_compressed(encode)
        } else {
            self.send_plain(encode)
        };
        match sent_bytes {
            Some(bytes) => self.response.turn_bytes += HEADER_BYTES + PREFIX_BYTES + bytes,
            None => self.end(Err(internal("the encoder of a reply panicked"))),
        }
    }

    fn send_plain(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
        let StreamWriter { sender, stream, .. } = &mut self.writer;
        let start = sender.output.len();
        let mut sent_bytes = 0;
        let send = || {
            sender.message(*stream, false, |output| {
                let before = output.len();
                encode(output);
                sent_bytes = output.len() - before;
            });
        };
        let result = catch_unwind(AssertUnwindSafe(send));
        if result.is_err() {
            // What it has begun is not a frame yet.
            sender.output.truncate(start);
        }
        result.ok().map(|()| sent_bytes)
    }

    fn send_compressed(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
        let mut message = Vec::new();
        catch_unwind(AssertUnwindSafe(|| encode(&mut message))).ok()?;
        if message.len() > MAX_DEFLATED_BYTES {
            return self.send_plain(|output| output.extend_from_slice(&message));
        }
        *self.work_bytes() += message.len() * DEFLATE_WORK;
        let framed = deflated(&message);
        let StreamWriter { sender, stream, .. } = &mut self.writer;
        sender.data(*stream, &framed, false);
        Some(framed.len())
    }

    /// Sends a message that was compressed already, behind its prefix.
    pub(crate) fn deflated(&mut self, framed: &[u8]) {
        self.compress(true);
        if self.response.ended {
            return;
        }
        self.head();
        let StreamWriter { sender, stream, .. } = &mut self.writer;
        sender.data(*stream, framed, false);
        self.response.turn_bytes += HEADER_BYTES + framed.len();
    }

    /// Switches compression of the next messages on or off, if the client accepts it. It must be
    /// switched on, here or by [`crate::Context::compress_replies`], before the first message,
    /// since the head announces it; afterwards it may be switched between any two.
    pub fn compress(&mut self, compresses: bool) {
        let ResponseState { fields, accepts_gzip, head_sent, .. } = &mut *self.response;
        if compresses && *accepts_gzip && !*head_sent {
            fields.compress = true;
        }
        self.response.compresses = compresses;
    }

    /// Whether the message that is being handled came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.request_was_compressed
    }

    /// Adds metadata to the trailers, next to the status: see [`crate::Context::add_trailer`].
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) {
        let result = self.response.fields.trailers.push_to_response(name, value);
        self.end_if_invalid(result);
    }

    /// Adds binary metadata to the trailers; `name` ends in `-bin`.
    pub fn add_binary_trailer(&mut self, name: &str, bytes: &[u8]) {
        let result = self.response.fields.trailers.push_binary(name, bytes);
        self.end_if_invalid(result);
    }

    fn end_if_invalid(&mut self, result: Result<(), MetadataError>) {
        if let Err(error) = result {
            self.end(Err(internal(error.to_string())));
        }
    }

    /// Sends the initial metadata now rather than with the first message.
    pub fn head(&mut self) {
        if !self.response.head_sent && !self.response.ended {
            let StreamWriter { sender, responses, stream, .. } = &mut self.writer;
            responses.head(sender, *stream, &self.response.fields);
            self.response.head_sent = true;
        }
    }

    pub(crate) fn head_was_sent(&self) -> bool {
        self.response.head_sent
    }

    /// Takes over what was added to the response on another thread, as far as it was not sent.
    pub(crate) fn adopt(&mut self, fields: ResponseFields) {
        match fields.checked() {
            Err(status) => self.end(Err(status)),
            Ok(fields) if self.response.head_sent => {
                self.response.fields.trailers = fields.trailers;
            }
            Ok(fields) => self.response.fields = fields,
        }
    }

    /// Ends the call. A second end is ignored. The status `OK` as an error is a mistake and is sent
    /// as `INTERNAL`.
    pub fn end(&mut self, result: Result<(), Status>) {
        let result = result.map_err(status::of_handler);
        if result.is_ok() {
            self.head();
        }
        if std::mem::replace(&mut self.response.ended, true) {
            return;
        }
        let fields = &self.response.fields;
        let StreamWriter { sender, responses, stream, .. } = &mut self.writer;
        match result {
            Ok(()) => responses.success(sender, *stream, &fields.trailers),
            Err(status) if self.response.head_sent => {
                responses.failure(sender, *stream, &fields.trailers, &status);
            }
            Err(status) => {
                responses.trailers_only(sender, *stream, HttpStatus::OK, fields, &status);
            }
        }
    }

    /// How many bytes of messages there is room for in this turn: the least of what the stream may
    /// still send before the others have their turn ([`STREAM_TURN_BYTES`]), what it may have
    /// waiting for the client's flow control ([`STREAM_SEND_BUFFER_BYTES`]), and what its
    /// connection still takes.
    ///
    /// A larger message is sent nevertheless: the bound applies to what is ahead of it.
    pub fn room_bytes(&mut self) -> usize {
        let blocked_bytes = self.blocked_bytes();
        // Part of it may have been written already, so this is never less than what is left.
        let output_bytes = self.writer.sender.output.len();
        let all_blocked_bytes = self.writer.others_blocked_bytes + blocked_bytes;
        let turn = STREAM_TURN_BYTES.saturating_sub(self.response.turn_bytes);
        let buffer = STREAM_SEND_BUFFER_BYTES.saturating_sub(blocked_bytes);
        let output = CONNECTION_OUTPUT_BYTES.saturating_sub(output_bytes);
        let buffers = CONNECTION_SEND_BUFFER_BYTES.saturating_sub(all_blocked_bytes);
        turn.min(buffer).min(output).min(buffers)
    }

    /// Whether there is no room: stop sending, and continue in [`crate::InlineStream::on_ready`].
    pub fn is_full(&mut self) -> bool {
        self.room_bytes() == 0
    }

    /// Whether the call has ended.
    pub fn ended(&self) -> bool {
        self.response.ended
    }

    /// Whether the handler has asked for its waker, and so ends the call itself.
    pub(crate) fn may_be_woken(&self) -> bool {
        self.response.fields.waker.is_some()
    }

    /// What the call is blocked on, if there is no room.
    pub(crate) fn blocked(&mut self) -> Blocked {
        if !self.is_full() {
            Blocked::No
        } else if self.blocked_bytes() >= STREAM_SEND_BUFFER_BYTES {
            Blocked::OnWindow
        } else {
            Blocked::OnTurn
        }
    }

    /// Has a large message inflated and decoded by another thread.
    pub(crate) fn prepare(&mut self, large: LargeRequest) -> Preparation {
        let StreamWriter { responses, stream, origin, .. } = &mut self.writer;
        responses.count_deferred();
        origin.preparation.begin(large, origin.reply_to.notifier(*stream))
    }

    /// The work that the connection has caused in this turn.
    pub(crate) fn work_bytes(&mut self) -> &mut usize {
        &mut self.writer.responses.counts.work_bytes
    }

    fn blocked_bytes(&mut self) -> usize {
        self.writer.sender.blocked_bytes(self.writer.stream)
    }
}
