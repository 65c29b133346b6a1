//! Handlers on the pool, with prost messages.

use std::marker::PhantomData;
use std::sync::Arc;

use bookend_wire::grpc::Status;
use prost::Message;

use crate::pool::{CallOver, PoolCall, PoolChannel, PoolContext};
use crate::status;

/// The requests of a call, for a handler on the pool: an iterator that waits for the next one. It
/// ends when the client sends no more; its last item is an error if a request cannot be decoded or
/// the call is over.
pub struct RequestReceiver<Q> {
    channel: Arc<PoolChannel>,
    ended: bool,
    message: PhantomData<fn() -> Q>,
}

impl<Q: Message + Default> Iterator for RequestReceiver<Q> {
    type Item = Result<Q, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = match self.channel.next_request() {
            Ok(None) => None,
            Ok(Some(request)) => Some(decode(&request.bytes)),
            Err(over) => Some(Err(over.into())),
        };
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Sends the replies of a handler on the pool.
pub struct ReplySender<R> {
    channel: Arc<PoolChannel>,
    message: PhantomData<fn(R)>,
}

impl<R: Message> ReplySender<R> {
    /// Sends a reply; waits until there is room for it.
    ///
    /// # Errors
    /// When the call is over.
    pub fn send(&self, message: &R) -> Result<(), CallOver> {
        self.channel.send(message.encode_to_vec())
    }
}

impl<R> ReplySender<R> {
    /// Sends the initial metadata now rather than with the first reply.
    pub fn send_head(&self) {
        self.channel.send_head();
    }

    /// Switches compression of the next replies on or off, if the client accepts it. It must be
    /// switched on, here or by [`PoolContext::compress_replies`], before the first reply, since the
    /// head announces it; afterwards it may be switched between any two.
    pub fn compress(&self, compresses: bool) {
        self.channel.compress(compresses);
    }
}

/// Handles a call with one request and one reply.
pub fn pool_unary<Q: Message + Default, R: Message>(
    call: PoolCall,
    handler: impl FnOnce(Q, &PoolContext) -> Result<R, Status>,
) {
    let result = only_request(&call)
        .and_then(|request| handler(request, call.context()))
        .and_then(|reply| Ok(replies(&call).send(&reply)?));
    call.finish(result);
}

/// Handles a call with one request and any number of replies.
pub fn pool_server_stream<Q: Message + Default, R: Message>(
    call: PoolCall,
    handler: impl FnOnce(Q, ReplySender<R>, &PoolContext) -> Result<(), Status>,
) {
    let result =
        only_request(&call).and_then(|request| handler(request, replies(&call), call.context()));
    call.finish(result);
}

/// Handles a call with any number of requests and one reply.
pub fn pool_client_stream<Q: Message + Default, R: Message>(
    call: PoolCall,
    handler: impl FnOnce(RequestReceiver<Q>, &PoolContext) -> Result<R, Status>,
) {
    let result =
        handler(requests(&call), call.context()).and_then(|reply| Ok(replies(&call).send(&reply)?));
    call.finish(result);
}

/// Handles a call with any number of requests and replies.
pub fn pool_stream<Q: Message + Default, R: Message>(
    call: PoolCall,
    handler: impl FnOnce(RequestReceiver<Q>, ReplySender<R>, &PoolContext) -> Result<(), Status>,
) {
    let result = handler(requests(&call), replies(&call), call.context());
    call.finish(result);
}

fn only_request<Q: Message + Default>(call: &PoolCall) -> Result<Q, Status> {
    let request = call.next_request()?.ok_or_else(status::no_message)?;
    decode(&request)
}

fn requests<Q>(call: &PoolCall) -> RequestReceiver<Q> {
    RequestReceiver { channel: Arc::clone(call.channel()), ended: false, message: PhantomData }
}

fn replies<R>(call: &PoolCall) -> ReplySender<R> {
    ReplySender { channel: Arc::clone(call.channel()), message: PhantomData }
}

fn decode<Q: Message + Default>(message: &[u8]) -> Result<Q, Status> {
    Q::decode(message).map_err(|error| status::undecodable(&error))
}
