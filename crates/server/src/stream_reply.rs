//! Where the messages of a streaming call go, and how much of them there is room for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::frame::HEADER_BYTES;
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::{Code, MetadataError, Status};
use bookend_wire::{Sender, StreamKey};

use crate::budgets::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, STREAM_SEND_BUFFER_BYTES,
    STREAM_TURN_BYTES,
};
use crate::compression::deflated;
use crate::head::HttpStatus;
use crate::reply::{Answers, internal};
use crate::response_metadata::ResponseFields;
use crate::stream_call::Waits;

/// Where the messages of a streaming call go.
pub struct StreamReply<'a> {
    pub(crate) outlet: Outlet<'a>,
    pub(crate) progress: &'a mut Progress,
    pub(crate) request_was_compressed: bool,
}

/// The connection, as a stream that sends sees it.
pub(crate) struct Outlet<'a> {
    pub sender: &'a mut Sender,
    pub answers: &'a mut Answers,
    pub stream: StreamKey,
    /// What the other streams of the connection have in their send buffers.
    pub others_held_bytes: usize,
}

impl Outlet<'_> {
    /// The same once more, for a while.
    pub fn again(&mut self) -> Outlet<'_> {
        Outlet {
            sender: self.sender,
            answers: self.answers,
            ..*self
        }
    }
}

/// How far the answer to a streaming call has come.
#[derive(Debug)]
pub(crate) struct Progress {
    fields: ResponseFields,
    accepts_gzip: bool,
    /// The next messages go out compressed, if the head has said that they may.
    compresses: bool,
    head_sent: bool,
    pub ended: bool,
    /// Octets of a request that the handler keeps until it is known to be the only one.
    pub kept_bytes: usize,
    turn_bytes: usize,
}

impl Progress {
    /// Nothing is sent yet; these fields go with what will be.
    pub fn new(fields: ResponseFields, accepts_gzip: bool) -> Self {
        Progress {
            compresses: fields.compress,
            fields,
            accepts_gzip,
            head_sent: false,
            ended: false,
            kept_bytes: 0,
            turn_bytes: 0,
        }
    }

    /// The stream may send as much as one turn allows.
    pub fn begin_turn(&mut self) {
        self.turn_bytes = 0;
    }
}

impl StreamReply<'_> {
    /// Sends a message, which `encode` appends to what it is given. Nothing is sent on a call that
    /// has ended.
    pub fn message(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.progress.ended {
            return;
        }
        self.head();
        let sent_bytes = match self.progress.compresses && self.progress.fields.compress {
            true => self.send_compressed(encode),
            false => self.send_as_it_is(encode),
        };
        match sent_bytes {
            Some(bytes) => self.progress.turn_bytes += HEADER_BYTES + PREFIX_BYTES + bytes,
            None => self.end(Err(internal("the encoder of a reply panicked"))),
        }
    }

    fn send_as_it_is(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
        let Outlet { sender, stream, .. } = &mut self.outlet;
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
            // What it has begun is no frame yet.
            sender.output.truncate(start);
        }
        result.ok().map(|()| sent_bytes)
    }

    fn send_compressed(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
        let mut message = Vec::new();
        catch_unwind(AssertUnwindSafe(|| encode(&mut message))).ok()?;
        let framed = deflated(&message);
        let Outlet { sender, stream, .. } = &mut self.outlet;
        sender.data(*stream, &framed, false);
        Some(framed.len())
    }

    /// Whether the next messages go out compressed, where the client accepts that. It has to be
    /// switched on, here or by [`crate::Context::compress_replies`], before the first message,
    /// since the head announces it; it may be switched off and on again between any two.
    pub fn compress(&mut self, compresses: bool) {
        let Progress {
            fields,
            accepts_gzip,
            head_sent,
            ..
        } = &mut *self.progress;
        if compresses && *accepts_gzip && !*head_sent {
            fields.compress = true;
        }
        self.progress.compresses = compresses;
    }

    /// Whether the message that is being handled came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.request_was_compressed
    }

    /// Adds metadata that goes behind the messages, beside the status; as
    /// [`crate::Context::add_trailer`].
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) {
        let added = self.progress.fields.trailers.push(name, value);
        self.end_unless(added);
    }

    /// As [`StreamReply::add_trailer`], with any bytes; `name` ends in `-bin`.
    pub fn add_binary_trailer(&mut self, name: &str, bytes: &[u8]) {
        let added = self.progress.fields.trailers.push_binary(name, bytes);
        self.end_unless(added);
    }

    /// A field that gRPC cannot carry is the handler's mistake, and ends the call.
    fn end_unless(&mut self, added: Result<(), MetadataError>) {
        if let Err(mistake) = added {
            self.end(Err(internal(mistake.to_string())));
        }
    }

    /// Sends the initial metadata now rather than with the first message.
    pub fn head(&mut self) {
        let Progress { fields, .. } = &*self.progress;
        if !self.progress.head_sent && !self.progress.ended {
            let Outlet {
                sender,
                answers,
                stream,
                ..
            } = &mut self.outlet;
            answers.head(sender, *stream, fields);
            self.progress.head_sent = true;
        }
    }

    pub(crate) fn head_was_sent(&self) -> bool {
        self.progress.head_sent
    }

    /// What was said about the answer elsewhere takes the place of what is known here, as far as it
    /// was not sent.
    pub(crate) fn adopt(&mut self, fields: ResponseFields) {
        if let Some(mistake) = fields.mistake {
            return self.end(Err(internal(mistake)));
        }
        match self.progress.head_sent {
            true => self.progress.fields.trailers = fields.trailers,
            false => self.progress.fields = fields,
        }
    }

    /// Ends the call. A second end is ignored. A status `OK` as an error is a mistake and sent as
    /// `INTERNAL`.
    pub fn end(&mut self, result: Result<(), Status>) {
        let result = result.map_err(|status| match status.code {
            Code::Ok => internal("the handler failed with the status OK"),
            _ => status,
        });
        if result.is_ok() {
            self.head();
        }
        if std::mem::replace(&mut self.progress.ended, true) {
            return;
        }
        let fields = &self.progress.fields;
        let Outlet {
            sender,
            answers,
            stream,
            ..
        } = &mut self.outlet;
        match result {
            Ok(()) => answers.success(sender, *stream, &fields.trailers),
            Err(status) if self.progress.head_sent => {
                answers.failure(sender, *stream, &fields.trailers, &status);
            }
            Err(status) => {
                answers.trailers_only(sender, *stream, HttpStatus::Ok, fields, &status);
            }
        }
    }

    /// How many bytes of messages there is room for in this turn: the least of what the stream may
    /// still send before the others have their turn ([`STREAM_TURN_BYTES`]), what it may have
    /// waiting for the client's flow control ([`STREAM_SEND_BUFFER_BYTES`]), and what its
    /// connection still takes.
    ///
    /// A message that is larger is sent nevertheless: what is bounded is how much there is before
    /// it.
    pub fn room_bytes(&mut self) -> usize {
        let held_bytes = self.blocked_bytes();
        // Some of it may be written already, so this is never less than what is left.
        let output_bytes = self.outlet.sender.output.len();
        let all_held_bytes = self.outlet.others_held_bytes + held_bytes;
        let turn = STREAM_TURN_BYTES.saturating_sub(self.progress.turn_bytes);
        let buffer = STREAM_SEND_BUFFER_BYTES.saturating_sub(held_bytes);
        let output = CONNECTION_OUTPUT_BYTES.saturating_sub(output_bytes);
        let buffers = CONNECTION_SEND_BUFFER_BYTES.saturating_sub(all_held_bytes);
        turn.min(buffer).min(output).min(buffers)
    }

    /// Whether there is no room: send no more, and go on in [`crate::InlineStream::on_ready`].
    pub fn is_full(&mut self) -> bool {
        self.room_bytes() == 0
    }

    /// Whether the call has ended.
    pub fn ended(&self) -> bool {
        self.progress.ended
    }

    /// What there is no room in.
    pub(crate) fn shortage(&mut self) -> Waits {
        if !self.is_full() {
            Waits::No
        } else if self.blocked_bytes() >= STREAM_SEND_BUFFER_BYTES {
            Waits::ForWindow
        } else {
            Waits::ForTurn
        }
    }

    /// What the connection has inflated in this turn.
    pub(crate) fn inflated_bytes(&mut self) -> &mut usize {
        &mut self.outlet.answers.tally.inflated_bytes
    }

    fn blocked_bytes(&mut self) -> usize {
        self.outlet.sender.blocked_bytes(self.outlet.stream)
    }
}
