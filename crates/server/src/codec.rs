//! Adapts handlers of prost messages to handlers of bytes: generated code calls this.

use bookend_wire::grpc::Status;
use prost::{DecodeError, Message};

use crate::reply::Reply;
use crate::responder::Responder;

mod decoding;
mod pool;
mod stream;

pub use decoding::decode;
pub use pool::{
    ReplySender, RequestReceiver, pool_client_stream, pool_server_stream, pool_stream, pool_unary,
};
pub use stream::{Replies, StreamHandler, client_stream, server_stream, stream};

/// Answers a unary call at once.
#[inline]
pub fn inline<Q: Message + Default + 'static, R: Message>(
    request: &[u8],
    mut reply: Reply<'_>,
    handler: impl FnOnce(Q) -> Result<R, Status>,
) {
    match received(request, &mut reply) {
        Ok(request) => match handler(request) {
            Ok(message) => reply.message(|output| message.encode_raw(output)),
            Err(status) => reply.fail(status),
        },
        Err(error) => reply.undecodable(&error),
    }
}

/// Passes a unary call to a handler that answers later.
#[inline]
pub fn deferred<Q: Message + Default + 'static, R: Message>(
    request: &[u8],
    mut reply: Reply<'_>,
    handler: impl FnOnce(Q, Responder<R>),
) {
    match received(request, &mut reply) {
        Ok(request) => handler(request, Responder::new(reply.defer(), R::encode_raw)),
        Err(error) => reply.undecodable(&error),
    }
}

/// The request of a unary call, which may be decoded already.
#[inline]
fn received<Q: Message + Default + 'static>(
    request: &[u8],
    reply: &mut Reply<'_>,
) -> Result<Q, DecodeError> {
    if request.is_empty()
        && let Some(decoded) = reply.take_decoded()
    {
        return Ok(decoded);
    }
    Q::decode(request)
}
