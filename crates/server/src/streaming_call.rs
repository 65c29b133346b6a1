//! One streaming call: what has come, what may go, and what it is blocked on.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::Status;
use bookend_wire::grpc::message::{Message, split_first};

use crate::compression::{DecompressionError, check_flag, decompressed_at_once};
use crate::encoding::RequestEncoding;
use crate::kept::Kept;
use crate::large_request::{
    LARGE_MESSAGE_BYTES, LargeRequest, PreparedRequest, RequestDecoder, is_large,
};
use crate::limits::TURN_WORK_BYTES;
use crate::pool::{PoolMessage, ShardEnd};
use crate::preparation::Preparation;
use crate::service::InlineStream;
use crate::status;
use crate::stream_reply::{Blocked, ResponseState, StreamReply, StreamWriter};

/// An empty buffer that has grown larger than this is given back to the allocator: most messages
/// come in one frame.
const CAPACITY_KEPT_BYTES: usize = 16 << 10;

/// What a streaming call takes in addition to its messages: this struct, its handler and a waker,
/// each in an allocation of its own.
const LIVE_CALL_BYTES: usize = size_of::<StreamingCall>() + 256;

/// What a handler says that it keeps is believed up to here, so that sums do not overflow.
const HANDLER_BYTES_MAX: usize = 1 << 32;

/// A streaming call: its handler, what has come of its requests, how far its response is.
pub(crate) struct StreamingCall {
    handler: CallHandler,
    /// Requests that the handler has not got yet.
    buffer: RequestBuffer,
    /// Of requests that are flagged as compressed.
    encoding: RequestEncoding,
    /// A large message that the handler gets next.
    preparing: Option<Preparation>,
    request: RequestState,
    response: ResponseState,
    blocked: Blocked,
    /// The handler stopped because its replies were full: `on_ready` is due once there is room.
    owes_on_ready: bool,
    /// Bytes that have come and for which no window was given back to the client.
    unreleased_bytes: usize,
    /// Bytes that have come in all.
    received_bytes: usize,
    /// What the handler keeps, as it says.
    handler_bytes: usize,
    /// What its connection has counted of [`StreamingCall::kept`].
    pub charged: Kept,
    /// What flow control held back at the last step.
    pub blocked_bytes: usize,
    /// It is in its connection's queue of streams that wait for their turn.
    pub is_queued: bool,
}

/// How far the requests have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestState {
    Open,
    /// No more will come.
    Ended,
    /// And the handler has been told.
    EndDelivered,
}

impl StreamingCall {
    pub fn new(handler: CallHandler, encoding: RequestEncoding, response: ResponseState) -> Self {
        StreamingCall {
            handler,
            buffer: RequestBuffer::default(),
            encoding,
            preparing: None,
            request: RequestState::Open,
            response,
            blocked: Blocked::No,
            owes_on_ready: false,
            unreleased_bytes: 0,
            received_bytes: 0,
            handler_bytes: 0,
            charged: Kept::default(),
            blocked_bytes: 0,
            is_queued: false,
        }
    }

    pub fn has_ended(&self) -> bool {
        self.response.ended
    }

    pub fn blocked(&self) -> Blocked {
        self.blocked
    }

    /// What it keeps: requests that the handler has not begun with, and the call itself.
    pub fn kept(&self) -> Kept {
        let preparing_bytes = self.preparing.as_ref().map_or(0, |preparing| preparing.bytes);
        let kept_bytes = preparing_bytes + self.response.kept_bytes + self.handler.waiting_bytes();
        Kept {
            unfinished_bytes: self.buffer.len() + kept_bytes,
            held_bytes: self.buffer.bytes.capacity()
                + kept_bytes
                + self.handler_bytes
                + LIVE_CALL_BYTES,
        }
    }

    /// Counts what it keeps now among what all calls keep.
    pub fn charge(&mut self, all: &mut Kept) {
        let now = self.kept();
        all.replace(std::mem::replace(&mut self.charged, now), now);
    }

    /// Asks the handler what it keeps. It may panic.
    pub fn note_handler(&mut self) {
        self.handler_bytes = self.handler.held_bytes().min(HANDLER_BYTES_MAX);
    }

    /// If it waits for the rest of a message and for nothing else: how much has come in all.
    pub fn half_received_bytes(&self) -> Option<usize> {
        let is_half = self.blocked == Blocked::No && self.buffer.len() > 0;
        is_half.then_some(self.received_bytes)
    }

    /// Bytes whose window may be given back to the client now. While the call is blocked, those
    /// that its handler has not got stay charged: that is what stops a client that does not read.
    pub fn take_releasable(&mut self) -> usize {
        let kept_bytes = if self.blocked == Blocked::No {
            0
        } else {
            self.buffer.len().min(self.unreleased_bytes)
        };
        let releasable_bytes = self.unreleased_bytes - kept_bytes;
        self.unreleased_bytes = kept_bytes;
        releasable_bytes
    }

    /// All bytes that are charged to the client, for a call that is over.
    pub fn take_unreleased(&mut self) -> usize {
        std::mem::take(&mut self.unreleased_bytes)
    }

    /// The handler got the one request when the call began, and no more can come.
    pub fn expect_no_requests(&mut self) {
        self.request = RequestState::EndDelivered;
    }

    /// Part of the body has come.
    pub fn received(&mut self, writer: StreamWriter<'_>, data: &[u8], limit_bytes: usize) {
        self.received_bytes = self.received_bytes.wrapping_add(data.len());
        self.unreleased_bytes += data.len();
        if self.blocked != Blocked::No || self.buffer.len() > 0 {
            self.buffer.push(data);
            return self.resume(writer, limit_bytes);
        }
        let mut rest = data;
        self.run(writer, &mut rest, limit_bytes);
        self.buffer.push(rest);
    }

    /// The client sends no more.
    pub fn request_ended(&mut self, writer: StreamWriter<'_>, limit_bytes: usize) {
        self.request = RequestState::Ended;
        self.resume(writer, limit_bytes);
    }

    /// What flow control held back has been sent.
    pub fn window_opened(&mut self, writer: StreamWriter<'_>, limit_bytes: usize) {
        if self.blocked == Blocked::OnWindow {
            self.blocked = Blocked::No;
            self.resume(writer, limit_bytes);
        }
    }

    /// It is this stream's turn.
    pub fn take_turn(&mut self, writer: StreamWriter<'_>, limit_bytes: usize) {
        if self.blocked == Blocked::OnTurn {
            self.blocked = Blocked::No;
            self.resume(writer, limit_bytes);
        }
    }

    /// Its handler, on another thread, has replies to send or room for requests; or it was woken.
    pub fn poll_handler(&mut self, writer: StreamWriter<'_>, limit_bytes: usize) {
        self.response.notice_wakeup();
        self.owes_on_ready = true;
        if self.blocked == Blocked::OnHandler && self.preparing.is_none() {
            self.blocked = Blocked::No;
        }
        self.resume(writer, limit_bytes);
    }

    /// The large message is ready, or has failed.
    pub fn prepared(
        &mut self,
        mut writer: StreamWriter<'_>,
        result: Result<PreparedRequest, Status>,
        limit_bytes: usize,
    ) {
        let Some(preparation) = self.preparing.take() else {
            return;
        };
        self.blocked = Blocked::No;
        let StreamingCall { handler, response, owes_on_ready, .. } = self;
        response.begin_turn();
        let request_was_compressed = preparation.was_compressed;
        let writer_again = writer.reborrow();
        let mut reply = StreamReply { writer: writer_again, response, request_was_compressed };
        match result {
            Ok(PreparedRequest::Message(message)) => {
                handler.on_message(Cow::Owned(message), &mut reply);
            }
            Ok(PreparedRequest::Decoded(decoded)) => {
                reply.writer.responses.decoded = Some(decoded);
                handler.on_message(Cow::Borrowed(&[]), &mut reply);
                reply.writer.responses.decoded = None;
            }
            Err(status) => reply.end(Err(status)),
        }
        *owes_on_ready |= reply.is_full();
        self.resume(writer, limit_bytes);
    }

    pub fn fail(&mut self, writer: StreamWriter<'_>, status: Status) {
        let mut reply =
            StreamReply { writer, response: &mut self.response, request_was_compressed: false };
        reply.end(Err(status));
    }

    /// Goes on with what is in the buffer.
    fn resume(&mut self, writer: StreamWriter<'_>, limit_bytes: usize) {
        if self.blocked != Blocked::No {
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.bytes();
        self.run(writer, &mut rest, limit_bytes);
        let left_bytes = rest.len();
        buffer.keep_last(left_bytes);
        self.buffer = buffer;
    }

    /// Calls the handler as long as it has something to do and there is room for its replies;
    /// removes what it got from the front of `body`.
    fn run(&mut self, writer: StreamWriter<'_>, body: &mut &[u8], limit_bytes: usize) {
        let StreamingCall {
            handler,
            encoding,
            preparing,
            request,
            response,
            blocked,
            owes_on_ready,
            ..
        } = self;
        response.begin_turn();
        let mut reply = StreamReply { writer, response, request_was_compressed: false };
        loop {
            if reply.ended() {
                return;
            }
            *blocked = reply.blocked();
            if *blocked != Blocked::No {
                return;
            }
            if std::mem::take(owes_on_ready) {
                handler.on_ready(&mut reply);
            } else {
                match split_first(body, limit_bytes) {
                    Ok(Some(_)) if !handler.takes_requests() => {
                        *blocked = Blocked::OnHandler;
                        return;
                    }
                    Ok(Some((message, behind))) => {
                        *body = behind;
                        reply.request_was_compressed = message.compressed;
                        match whole(message, *encoding, limit_bytes, handler, &mut reply) {
                            Ok(Whole::Message(message)) => handler.on_message(message, &mut reply),
                            Ok(Whole::Large(large)) => {
                                *preparing = Some(reply.prepare(large));
                                *blocked = Blocked::OnHandler;
                                return;
                            }
                            Err(error) => {
                                let status = error.charged(reply.writer.sender);
                                reply.end(Err(status));
                            }
                        }
                        if *reply.work_bytes() > TURN_WORK_BYTES && !reply.ended() {
                            *owes_on_ready = reply.is_full();
                            *blocked = Blocked::OnTurn;
                            return;
                        }
                    }
                    Ok(None) if *request != RequestState::Ended => return,
                    Ok(None) if !body.is_empty() => reply.end(Err(status::truncated_message())),
                    Ok(None) => {
                        *request = RequestState::EndDelivered;
                        handler.on_end(&mut reply);
                    }
                    Err(error) => reply.end(Err(status::malformed_body(error))),
                }
            }
            *owes_on_ready = reply.is_full();
        }
    }
}

/// A message that has come whole.
enum Whole<'a> {
    /// Ready for the handler.
    Message(Cow<'a, [u8]>),
    /// To be inflated or decoded by another thread first.
    Large(LargeRequest),
}

fn whole<'a>(
    message: Message<'a>,
    encoding: RequestEncoding,
    limit_bytes: usize,
    handler: &CallHandler,
    reply: &mut StreamReply<'_>,
) -> Result<Whole<'a>, DecompressionError> {
    let was_compressed = message.compressed;
    if !was_compressed && message.bytes.len() <= LARGE_MESSAGE_BYTES {
        return Ok(Whole::Message(Cow::Borrowed(message.bytes)));
    }
    let decoder = handler.decoder();
    if was_compressed {
        check_flag(encoding)?;
    }
    if is_large(message, decoder) {
        return Ok(Whole::Large(LargeRequest::new(message, encoding, limit_bytes, decoder)));
    }
    let Some(content) = decompressed_at_once(message, encoding, limit_bytes, reply.work_bytes())?
    else {
        return Ok(Whole::Large(LargeRequest::new(message, encoding, limit_bytes, decoder)));
    };
    let plain = Message { compressed: false, bytes: &content };
    if is_large(plain, decoder) {
        let mut large = LargeRequest::new(plain, encoding, limit_bytes, decoder);
        large.was_compressed = was_compressed;
        return Ok(Whole::Large(large));
    }
    Ok(Whole::Message(content))
}

/// What handles a streaming call.
pub(crate) enum CallHandler {
    Inline(InlineHandler),
    /// A thread of the pool.
    Pool(Box<ShardEnd>),
}

/// Contains the panic of a handler's `drop`.
pub(crate) struct InlineHandler(Option<Box<dyn InlineStream>>);

impl CallHandler {
    pub fn inline(handler: Box<dyn InlineStream>) -> Self {
        CallHandler::Inline(InlineHandler(Some(handler)))
    }

    /// What decodes its requests, if another thread can.
    fn decoder(&self) -> Option<RequestDecoder> {
        match self {
            CallHandler::Inline(InlineHandler(handler)) => handler.as_deref()?.decoder(),
            CallHandler::Pool(_) => None,
        }
    }

    /// Whether it has room for the next request.
    fn takes_requests(&self) -> bool {
        match self {
            CallHandler::Inline(_) => true,
            CallHandler::Pool(shard_end) => shard_end.channel.has_room(),
        }
    }

    /// Size of the requests that wait for a thread to take them.
    fn waiting_bytes(&self) -> usize {
        match self {
            CallHandler::Inline(_) => 0,
            CallHandler::Pool(shard_end) => shard_end.channel.waiting_bytes(),
        }
    }

    fn held_bytes(&self) -> usize {
        match self {
            CallHandler::Inline(InlineHandler(handler)) => {
                handler.as_deref().map_or(0, InlineStream::held_bytes)
            }
            CallHandler::Pool(shard_end) => shard_end.held_bytes(),
        }
    }

    fn on_message(&mut self, message: Cow<'_, [u8]>, reply: &mut StreamReply<'_>) {
        match self {
            CallHandler::Inline(handler) => handler.get().on_message(&message, reply),
            CallHandler::Pool(shard_end) => shard_end.channel.push_request(PoolMessage {
                bytes: message.into_owned(),
                compressed: reply.request_was_compressed,
            }),
        }
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        match self {
            CallHandler::Inline(handler) => handler.get().on_end(reply),
            CallHandler::Pool(shard_end) => shard_end.channel.end_requests(),
        }
    }

    fn on_ready(&mut self, reply: &mut StreamReply<'_>) {
        match self {
            CallHandler::Inline(handler) => handler.get().on_ready(reply),
            CallHandler::Pool(shard_end) => shard_end.send(reply),
        }
    }
}

impl InlineHandler {
    fn get(&mut self) -> &mut dyn InlineStream {
        self.0.as_deref_mut().expect("it is there until it is dropped")
    }
}

impl Drop for InlineHandler {
    fn drop(&mut self) {
        let handler = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handler)));
    }
}

/// The part of a request body that the handler has not got yet.
#[derive(Debug, Default)]
struct RequestBuffer {
    bytes: Vec<u8>,
    /// Those before this one were handed over.
    start: usize,
}

impl RequestBuffer {
    fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All but the last `count` bytes were handed over. Each byte is moved at most once on
    /// average: only when what is left is the smaller part.
    fn keep_last(&mut self, count: usize) {
        self.start = self.bytes.len() - count;
        if count == 0 && self.bytes.capacity() > CAPACITY_KEPT_BYTES {
            *self = RequestBuffer::default();
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_over_is_gone_and_the_rest_is_in_order() {
        let mut buffer = RequestBuffer::default();
        let mut expected = Vec::new();
        for byte in 0..200 {
            buffer.push(&[byte; 3]);
            expected.extend([byte; 3]);
            let left_bytes = buffer.len() - buffer.len().min(usize::from(byte % 7));
            buffer.keep_last(left_bytes);
            expected.drain(..expected.len() - left_bytes);
            assert_eq!(buffer.bytes(), expected);
        }
        buffer.keep_last(0);
        assert_eq!(buffer.len(), 0);
    }

    #[test]
    fn a_buffer_that_is_never_quite_empty_stays_small() {
        let mut buffer = RequestBuffer::default();
        buffer.push(&[0; 100]);
        for _ in 0..10_000 {
            buffer.push(&[0; 100]);
            buffer.keep_last(100);
        }
        assert!(buffer.bytes.capacity() < 1_000);
    }

    #[test]
    fn a_large_message_leaves_no_large_buffer_behind() {
        let mut buffer = RequestBuffer::default();
        buffer.push(&[0; 1 << 20]);
        buffer.keep_last(0);
        assert_eq!(buffer.bytes.capacity(), 0);
    }
}
