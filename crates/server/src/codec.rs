//! From bytes to prost messages and back: what generated code calls.

use std::marker::PhantomData;

use bookend_wire::grpc::Status;
use prost::Message;

use crate::reply::internal;
use crate::responder::Responder;
use crate::{InlineStream, Reply, StreamReply};

/// Answers a unary call at once.
#[inline]
pub fn inline<Q: Message + Default, R: Message>(
    request: &[u8],
    reply: Reply<'_>,
    handler: impl FnOnce(Q) -> Result<R, Status>,
) {
    match Q::decode(request) {
        Ok(request) => match handler(request) {
            Ok(message) => reply.message(|output| message.encode_raw(output)),
            Err(status) => reply.fail(status),
        },
        Err(error) => reply.undecodable(&error),
    }
}

/// Hands a unary call to a handler that answers later.
#[inline]
pub fn deferred<Q: Message + Default, R: Message>(
    request: &[u8],
    reply: Reply<'_>,
    handler: impl FnOnce(Q, Responder<R>),
) {
    match Q::decode(request) {
        Ok(request) => handler(request, Responder::new(reply.defer(), R::encode_raw)),
        Err(error) => reply.undecodable(&error),
    }
}

/// Gives a typed stream handler the form that a connection drives.
pub fn stream<Q, R>(handler: Box<dyn StreamHandler<Q, R>>) -> Box<dyn InlineStream>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    Box::new(Typed { handler })
}

/// One streaming call with requests `Q` and replies `R`: a state machine that runs where the bytes
/// arrive and must not block.
pub trait StreamHandler<Q, R>: Send {
    /// A request has come. An error ends the call.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_message(&mut self, request: Q, replies: &mut Replies<'_, '_, R>) -> Result<(), Status>;

    /// The client sends no more. `Ok` ends the call well, unless `replies` was told that
    /// it goes on.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_end(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }

    /// What flow control had held back is on its way: go on with what was put off.
    ///
    /// # Errors
    /// Whatever the call is to end with.
    fn on_drained(&mut self, replies: &mut Replies<'_, '_, R>) -> Result<(), Status> {
        let _ = replies;
        Ok(())
    }
}

/// Where the replies of a [`StreamHandler`] go.
pub struct Replies<'a, 'b, R> {
    reply: &'a mut StreamReply<'b>,
    goes_on: bool,
    message: PhantomData<fn(R)>,
}

impl<R: Message> Replies<'_, '_, R> {
    /// Sends a reply.
    pub fn send(&mut self, message: &R) {
        self.reply.message(|output| message.encode_raw(output));
    }
}

impl<R> Replies<'_, '_, R> {
    /// Ends the call now, well.
    pub fn end(&mut self) {
        self.reply.end(Ok(()));
    }

    /// Keeps the call open after [`StreamHandler::on_end`]: it ends with [`Replies::end`] or an
    /// error.
    pub fn go_on(&mut self) {
        self.goes_on = true;
    }

    /// Bytes that wait for the client's flow control: stop sending when this grows, go on in
    /// [`StreamHandler::on_drained`].
    pub fn held_back_bytes(&mut self) -> usize {
        self.reply.held_back_bytes()
    }
}

type Handler<Q, R> = dyn StreamHandler<Q, R>;

struct Typed<Q, R> {
    handler: Box<Handler<Q, R>>,
}

impl<Q: Message + Default, R: Message> InlineStream for Typed<Q, R> {
    fn on_message(&mut self, message: &[u8], reply: &mut StreamReply<'_>) {
        match Q::decode(message) {
            Ok(request) => {
                self.run(reply, |handler, replies| {
                    handler.on_message(request, replies)
                });
            }
            Err(error) => {
                reply.end(Err(internal(format!(
                    "the request cannot be decoded: {error}"
                ))));
            }
        }
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        let goes_on = self.run(reply, |handler, replies| handler.on_end(replies));
        if !goes_on {
            reply.end(Ok(()));
        }
    }

    fn on_drained(&mut self, reply: &mut StreamReply<'_>) {
        self.run(reply, |handler, replies| handler.on_drained(replies));
    }
}

impl<Q, R> Typed<Q, R> {
    fn run(
        &mut self,
        reply: &mut StreamReply<'_>,
        step: impl FnOnce(&mut Handler<Q, R>, &mut Replies<'_, '_, R>) -> Result<(), Status>,
    ) -> bool {
        let mut replies = Replies {
            reply,
            goes_on: false,
            message: PhantomData,
        };
        let result = step(&mut *self.handler, &mut replies);
        let goes_on = replies.goes_on;
        if let Err(status) = result {
            reply.end(Err(status));
        }
        goes_on
    }
}
