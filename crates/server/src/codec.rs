//! Adapts handlers of prost messages to handlers of bytes: generated code calls this.

use bookend_wire::grpc::Status;
use prost::Message;

use crate::reply::Reply;
use crate::responder::Responder;

mod pool;
mod stream;

pub use pool::{
    ReplySender, RequestReceiver, pool_client_stream, pool_server_stream, pool_stream, pool_unary,
};
pub use stream::{Replies, StreamHandler, client_stream, server_stream, stream};

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

/// Passes a unary call to a handler that answers later.
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
