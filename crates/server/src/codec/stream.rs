//! Streams of prost messages.

use std::marker::PhantomData;

use bookend_wire::grpc::Status;
use prost::Message;

use super::decoding::decode;
use crate::large_request::RequestDecoder;
use crate::service::InlineStream;
use crate::status::{self, internal};
use crate::stream_reply::StreamReply;

/// One streaming call with requests `Q` and replies `R`: a state machine that runs on the thread
/// that reads its connection and must not block.
///
/// Its methods are called one at a time. While its replies are full none is called, and flow
/// control stops the client. So a handler that has more to send than there is room for stops at
/// [`Replies::is_full`] and continues in [`StreamHandler::on_ready`]. That bounds the memory of a
/// call in both directions.
///
/// ```
/// use bookend_server::{Replies, Status, StreamHandler};
/// # #[derive(Clone, PartialEq, bookend_server::prost::Message)]
/// # struct Range { #[prost(uint64, tag = "1")] end: u64 }
/// # #[derive(Clone, PartialEq, bookend_server::prost::Message)]
/// # struct Number { #[prost(uint64, tag = "1")] number: u64 }
///
/// /// Counts up to the end of each range that it is sent.
/// #[derive(Default)]
/// struct Count {
///     next: u64,
///     end: u64,
/// }
///
/// impl StreamHandler<Range, Number> for Count {
///     fn on_message(
///         &mut self,
///         range: Range,
///         replies: &mut Replies<'_, '_, Number>,
///     ) -> Result<(), Status> {
///         *self = Count { next: 0, end: range.end };
///         self.on_ready(replies)
///     }
///
///     fn on_ready(&mut self, replies: &mut Replies<'_, '_, Number>) -> Result<(), Status> {
///         while self.next < self.end && !replies.is_full() {
///             replies.send(&Number { number: self.next });
///             self.next += 1;
///         }
///         Ok(())
///     }
/// }
/// ```
///
/// When the call is over, for whatever reason, the handler is dropped.
pub trait StreamHandler<Q, R>: Send {
    /// What it keeps of what its client has sent, bytes; 0 by default. Asked after each of the
    /// other methods, and counted for [`Limits::max_held_bytes`](crate::Limits::max_held_bytes):
    /// when the server holds too much, connections whose calls keep much and make no progress are
    /// reset first.
    fn held_bytes(&self) -> usize {
        0
    }

    /// A request has come. An error ends the call.
    ///
    /// For a method that takes one request, this is called once the request is known to be the only
    /// one.
    ///
    /// # Errors
    /// The status that ends the call.
    fn on_message(&mut self, request: Q, replies: &mut Replies<'_, '_, R>) -> Result<(), Status>;

    /// The client sends no more. `Ok` ends the call with `OK`; if `replies` are full by then, as
    /// soon as [`StreamHandler::on_ready`] leaves them with room. A handler that has asked for its
    /// [waker](crate::Context::waker) ends the call itself, with [`Replies::end`].
    ///
    /// # Errors
    /// The status that ends the call.
    fn on_end(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }

    /// There is room again: continue with what was left when `replies` were full. Called once after
    /// each method of this trait that left them full, and when a
    /// [`StreamWaker`](crate::StreamWaker) was used.
    ///
    /// # Errors
    /// The status that ends the call.
    fn on_ready(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }
}

/// Sends the replies of a [`StreamHandler`].
pub struct Replies<'a, 'b, R> {
    reply: &'a mut StreamReply<'b>,
    count: &'a mut ReplyCount,
    message: PhantomData<fn(R)>,
}

impl<R: Message> Replies<'_, '_, R> {
    /// Sends a reply. Nothing is sent on a call that has ended.
    pub fn send(&mut self, message: &R) {
        if self.count.allows_another() {
            self.reply.message(|output| message.encode_raw(output));
        } else {
            let text = "the handler gave more than one reply to a call that has one";
            self.reply.end(Err(internal(text)));
        }
    }
}

impl<R> Replies<'_, '_, R> {
    /// Ends the call now, with `OK`.
    pub fn end(&mut self) {
        end_with_ok(self.reply, self.count);
    }

    /// Sends the initial metadata now rather than with the first reply.
    pub fn send_head(&mut self) {
        self.reply.head();
    }

    /// Adds metadata to the trailers, next to the status: see [`crate::Context::add_trailer`].
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) {
        self.reply.add_trailer(name, value);
    }

    /// Adds binary metadata to the trailers; `name` ends in `-bin`.
    pub fn add_binary_trailer(&mut self, name: &str, bytes: &[u8]) {
        self.reply.add_binary_trailer(name, bytes);
    }

    /// Switches compression of the next replies on or off: see [`StreamReply::compress`].
    pub fn compress(&mut self, compresses: bool) {
        self.reply.compress(compresses);
    }

    /// Whether the current request came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.reply.request_was_compressed()
    }

    /// How many bytes there is room for: see [`StreamReply::room_bytes`].
    pub fn room_bytes(&mut self) -> usize {
        self.reply.room_bytes()
    }

    /// Whether there is no room: stop sending, and continue in [`StreamHandler::on_ready`].
    pub fn is_full(&mut self) -> bool {
        self.reply.is_full()
    }
}

/// Adapts a handler for any number of requests and replies.
pub fn stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, RequestCount::Any, ReplyCount::Any)
}

/// Adapts a handler for one request and any number of replies.
pub fn server_stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, RequestCount::One(None), ReplyCount::Any)
}

/// Adapts a handler for any number of requests and one reply.
pub fn client_stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, RequestCount::Any, ReplyCount::One { sent: false })
}

fn typed<Q, R>(
    handler: Box<Handler<Q, R>>,
    requests: RequestCount<Q>,
    count: ReplyCount,
) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    Box::new(ProstStream { handler, requests, count, end: RequestEnd::NotYet })
}

type Handler<Q, R> = dyn StreamHandler<Q, R>;

struct ProstStream<Q, R> {
    handler: Box<Handler<Q, R>>,
    requests: RequestCount<Q>,
    count: ReplyCount,
    end: RequestEnd,
}

/// How many requests the method takes.
enum RequestCount<Q> {
    Any,
    /// One, kept until it is known to be the only one.
    One(Option<KeptRequest<Q>>),
}

struct KeptRequest<Q> {
    request: Q,
    was_compressed: bool,
}

/// How many replies the method gives.
enum ReplyCount {
    Any,
    One { sent: bool },
}

/// Whether the request has ended, and whether the handler knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestEnd {
    NotYet,
    /// The client has ended; the handler does not know yet.
    Due,
    /// The handler knows. The call ends when it has nothing more to send.
    Delivered,
}

impl ReplyCount {
    fn allows_another(&mut self) -> bool {
        match self {
            ReplyCount::Any => true,
            ReplyCount::One { sent } => !std::mem::replace(sent, true),
        }
    }
}

fn end_with_ok(reply: &mut StreamReply<'_>, count: &ReplyCount) {
    reply.end(match count {
        ReplyCount::One { sent: false } => Err(internal("the handler gave no reply")),
        ReplyCount::Any | ReplyCount::One { sent: true } => Ok(()),
    });
}

impl<Q: Message + Default + 'static, R: Message> InlineStream for ProstStream<Q, R> {
    fn decoder(&self) -> Option<RequestDecoder> {
        Some(decode::<Q>)
    }

    fn held_bytes(&self) -> usize {
        self.handler.held_bytes()
    }

    fn on_message(&mut self, message: &[u8], reply: &mut StreamReply<'_>) {
        let decoded = message.is_empty().then(|| reply.take_decoded()).flatten();
        let request = match decoded.map_or_else(|| Q::decode(message), Ok) {
            Ok(request) => request,
            Err(error) => return reply.end(Err(status::undecodable(&error))),
        };
        match &mut self.requests {
            RequestCount::Any => {
                self.run(reply, |handler, replies| handler.on_message(request, replies))
            }
            RequestCount::One(Some(_)) => reply.end(Err(status::too_many_messages())),
            RequestCount::One(place) => {
                let was_compressed = reply.request_was_compressed();
                // A large one was decoded by another thread: no bytes of it are here.
                reply.response.kept_bytes = match message.len() {
                    0 => request.encoded_len(),
                    bytes => bytes,
                };
                *place = Some(KeptRequest { request, was_compressed });
            }
        }
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        self.end = RequestEnd::Due;
        reply.response.kept_bytes = 0;
        if let RequestCount::One(request) = &mut self.requests {
            match request.take() {
                None => reply.end(Err(status::no_message())),
                Some(kept) => {
                    reply.request_was_compressed = kept.was_compressed;
                    self.run(reply, |handler, replies| handler.on_message(kept.request, replies));
                }
            }
        }
        self.finish_if_ended(reply);
    }

    fn on_ready(&mut self, reply: &mut StreamReply<'_>) {
        // Woken before the one request was delivered, which finds the news by itself.
        if self.end == RequestEnd::NotYet && matches!(self.requests, RequestCount::One(_)) {
            return;
        }
        self.run(reply, |handler, replies| handler.on_ready(replies));
        self.finish_if_ended(reply);
    }
}

impl<Q, R> ProstStream<Q, R> {
    fn run(
        &mut self,
        reply: &mut StreamReply<'_>,
        step: impl FnOnce(&mut Handler<Q, R>, &mut Replies<'_, '_, R>) -> Result<(), Status>,
    ) {
        let mut replies = Replies { reply, count: &mut self.count, message: PhantomData };
        if let Err(status) = step(&mut *self.handler, &mut replies) {
            reply.end(Err(status));
        }
    }

    /// Ends the call if the client has ended and the handler does not wait for room.
    fn finish_if_ended(&mut self, reply: &mut StreamReply<'_>) {
        let waits = |reply: &mut StreamReply<'_>| reply.ended() || reply.is_full();
        if self.end == RequestEnd::Due && !waits(reply) {
            self.end = RequestEnd::Delivered;
            self.run(reply, |handler, replies| handler.on_end(replies));
        }
        if self.end == RequestEnd::Delivered && !waits(reply) && !reply.may_be_woken() {
            end_with_ok(reply, &self.count);
        }
    }
}
