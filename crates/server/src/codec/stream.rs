//! Streams of prost messages.

use std::marker::PhantomData;

use bookend_wire::grpc::Status;
use prost::Message;

use crate::reply::internal;
use crate::unary;
use crate::{InlineStream, StreamReply};

/// One streaming call with requests `Q` and replies `R`: a state machine that runs where the bytes
/// arrive and must not block.
///
/// It is called with one thing at a time. While its replies are full it is not called at all, and
/// its client is stopped by flow control: so a handler that has more to send than there is room
/// for stops at [`Replies::is_full`], and goes on in [`StreamHandler::on_ready`]. Nothing else is
/// needed for a call whose memory is bounded in both directions.
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
/// When the call is over, however that came, the handler is dropped.
pub trait StreamHandler<Q, R>: Send {
    /// A request has come. An error ends the call.
    ///
    /// Of a method that takes one request, this is called once that is known to be the only one.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_message(&mut self, request: Q, replies: &mut Replies<'_, '_, R>) -> Result<(), Status>;

    /// The client sends no more. `Ok` ends the call well; if `replies` are full by then, as soon as
    /// [`StreamHandler::on_ready`] leaves them with room.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_end(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }

    /// There is room again: go on with what was put off because `replies` were full. Called once
    /// after each call of this trait's that left them full.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_ready(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }
}

/// Where the replies of a [`StreamHandler`] go.
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
    /// Ends the call now, well.
    pub fn end(&mut self) {
        end_well(self.reply, self.count);
    }

    /// Sends the initial metadata now rather than with the first reply.
    pub fn send_head(&mut self) {
        self.reply.head();
    }

    /// Adds metadata that goes behind the replies, beside the status; as
    /// [`crate::Context::add_trailer`].
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) {
        self.reply.add_trailer(name, value);
    }

    /// As [`Replies::add_trailer`], with any octets; `name` ends in `-bin`.
    pub fn add_binary_trailer(&mut self, name: &str, octets: &[u8]) {
        self.reply.add_binary_trailer(name, octets);
    }

    /// Whether the next replies go out compressed: see [`StreamReply::compress`].
    pub fn compress(&mut self, compresses: bool) {
        self.reply.compress(compresses);
    }

    /// Whether the request that is being handled came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.reply.request_was_compressed()
    }

    /// How many bytes there is room for: see [`StreamReply::room_bytes`].
    pub fn room_bytes(&mut self) -> usize {
        self.reply.room_bytes()
    }

    /// Whether there is no room: send no more, and go on in [`StreamHandler::on_ready`].
    pub fn is_full(&mut self) -> bool {
        self.reply.is_full()
    }
}

/// Joins a handler for requests and replies of any number to a connection.
pub fn stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, Requests::Any, ReplyCount::Any)
}

/// Joins a handler for one request and any number of replies to a connection.
pub fn server_stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, Requests::One(None), ReplyCount::Any)
}

/// Joins a handler for any number of requests and one reply to a connection.
pub fn client_stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    typed(handler, Requests::Any, ReplyCount::One { sent: false })
}

fn typed<Q, R>(
    handler: Box<Handler<Q, R>>,
    requests: Requests<Q>,
    count: ReplyCount,
) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    Box::new(Typed {
        handler,
        requests,
        count,
        end: End::NotYet,
    })
}

type Handler<Q, R> = dyn StreamHandler<Q, R>;

struct Typed<Q, R> {
    handler: Box<Handler<Q, R>>,
    requests: Requests<Q>,
    count: ReplyCount,
    end: End,
}

/// How many requests the method takes.
enum Requests<Q> {
    Any,
    /// One, which is kept until it is known to be the only one.
    One(Option<Kept<Q>>),
}

struct Kept<Q> {
    request: Q,
    was_compressed: bool,
}

/// How many replies the method gives.
enum ReplyCount {
    Any,
    One { sent: bool },
}

/// How far the handler is with the client's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    /// The client has ended; the handler does not know yet.
    Due,
    /// The handler knows. The call ends when it has nothing more to send.
    Told,
}

impl ReplyCount {
    fn allows_another(&mut self) -> bool {
        match self {
            ReplyCount::Any => true,
            ReplyCount::One { sent } => !std::mem::replace(sent, true),
        }
    }
}

fn end_well(reply: &mut StreamReply<'_>, count: &ReplyCount) {
    reply.end(match count {
        ReplyCount::One { sent: false } => Err(internal("the handler gave no reply")),
        ReplyCount::Any | ReplyCount::One { sent: true } => Ok(()),
    });
}

impl<Q: Message + Default, R: Message> InlineStream for Typed<Q, R> {
    fn on_message(&mut self, message: &[u8], reply: &mut StreamReply<'_>) {
        let request = match Q::decode(message) {
            Ok(request) => request,
            Err(error) => return reply.end(Err(unary::undecodable(&error))),
        };
        match &mut self.requests {
            Requests::Any => self.run(reply, |handler, replies| {
                handler.on_message(request, replies)
            }),
            Requests::One(Some(_)) => reply.end(Err(unary::too_many_messages())),
            Requests::One(place) => {
                let was_compressed = reply.request_was_compressed();
                reply.progress.kept_bytes = message.len();
                *place = Some(Kept {
                    request,
                    was_compressed,
                });
            }
        }
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        self.end = End::Due;
        reply.progress.kept_bytes = 0;
        if let Requests::One(request) = &mut self.requests {
            match request.take() {
                None => reply.end(Err(unary::no_message())),
                Some(kept) => {
                    reply.request_was_compressed = kept.was_compressed;
                    self.run(reply, |handler, replies| {
                        handler.on_message(kept.request, replies)
                    });
                }
            }
        }
        self.come_to_the_end(reply);
    }

    fn on_ready(&mut self, reply: &mut StreamReply<'_>) {
        self.run(reply, |handler, replies| handler.on_ready(replies));
        self.come_to_the_end(reply);
    }
}

impl<Q, R> Typed<Q, R> {
    fn run(
        &mut self,
        reply: &mut StreamReply<'_>,
        step: impl FnOnce(&mut Handler<Q, R>, &mut Replies<'_, '_, R>) -> Result<(), Status>,
    ) {
        let mut replies = Replies {
            reply,
            count: &mut self.count,
            message: PhantomData,
        };
        if let Err(status) = step(&mut *self.handler, &mut replies) {
            reply.end(Err(status));
        }
    }

    /// Goes on towards the end if the client has ended and the handler waits for no room.
    fn come_to_the_end(&mut self, reply: &mut StreamReply<'_>) {
        let waits = |reply: &mut StreamReply<'_>| reply.ended() || reply.is_full();
        if self.end == End::Due && !waits(reply) {
            self.end = End::Told;
            self.run(reply, |handler, replies| handler.on_end(replies));
        }
        if self.end == End::Told && !waits(reply) {
            end_well(reply, &self.count);
        }
    }
}
