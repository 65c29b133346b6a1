//! What a server serves, whatever the encoding of its messages.

use crate::context::Context;
use crate::large_request::RequestDecoder;
use crate::method::MethodDescriptor;
use crate::pool::PoolCall;
use crate::reply::Reply;
use crate::stream_reply::StreamReply;

/// A gRPC service. Usually implemented by generated code; by hand for codecs other than protobuf.
pub trait Service: Send + Sync + 'static {
    /// The full name on the wire: `package.Service`.
    fn name(&self) -> &'static str;

    /// The methods. [`Service::call`], [`Service::work`] and [`Service::open`] get a method's
    /// position in this list.
    fn methods(&self) -> &'static [MethodDescriptor];

    /// An encoded `FileDescriptorSet` that declares the service, for reflection; may be empty.
    fn descriptors(&self) -> &'static [u8] {
        &[]
    }

    /// The codec of the messages, as it stands in content types behind `application/grpc+`. A
    /// request that names another codec ends with `UNIMPLEMENTED`; one may name none.
    fn codec(&self) -> &'static str {
        "proto"
    }

    /// Handles a call of an [`Inline`](crate::HandlerKind::Inline) or
    /// [`Deferred`](crate::HandlerKind::Deferred) method. The whole request has arrived.
    ///
    /// Runs on the thread that read the request, so it must not block. It must consume `reply` with
    /// one of its methods; a call whose `reply` was dropped ends with `INTERNAL`.
    ///
    /// A deferred handler must never wait for another shard of this process, such as the one that
    /// runs a channel it calls: wake-ups of other shards are batched until every handler of the
    /// slice has run.
    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>);

    /// What decodes the requests of an [`Inline`](crate::HandlerKind::Inline) or
    /// [`Deferred`](crate::HandlerKind::Deferred) method, on any thread. Large requests are decoded
    /// ahead of the handler, so that they do not hold up the connections of its thread; then
    /// [`Service::call`] gets an empty message, and finds the request by
    /// [`Reply::take_decoded`](crate::Reply::take_decoded). `None`, the default, for methods that
    /// always get their message.
    fn decoder(&self, method: usize) -> Option<RequestDecoder> {
        let _ = method;
        None
    }

    /// Handles a call of a [`Pool`](crate::HandlerKind::Pool) or
    /// [`PoolStream`](crate::HandlerKind::PoolStream) method, on a thread of the server's pool,
    /// which it may block. A call that is dropped ends with `INTERNAL`.
    fn work(&self, method: usize, call: PoolCall) {
        let _ = method;
        call.no_such_method();
    }

    /// Begins a call of a [`Stream`](crate::HandlerKind::Stream) method; `None` if there is no such
    /// method.
    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        let _ = (method, context);
        None
    }
}

/// One streaming call: a state machine that runs on the thread that reads its connection and must
/// not block.
///
/// Its methods are called one at a time. While its replies are full ([`StreamReply::is_full`]) none
/// is called: messages and the end of the request wait, and flow control stops the client. A
/// handler that has more to send than there is room for stops there and continues in
/// [`InlineStream::on_ready`].
///
/// It is dropped when its call is over: because it ended the call, the client cancelled it, its
/// deadline passed, or the connection is lost.
pub trait InlineStream: Send {
    /// What decodes the messages of this stream on any thread, as [`Service::decoder`] does: then
    /// [`InlineStream::on_message`] gets an empty message, and finds the request by
    /// [`StreamReply::take_decoded`].
    fn decoder(&self) -> Option<RequestDecoder> {
        None
    }

    /// What it keeps of what its client has sent, bytes; 0 by default. Asked after each of the
    /// other methods, and counted for [`Limits::max_held_bytes`](crate::Limits::max_held_bytes).
    fn held_bytes(&self) -> usize {
        0
    }

    /// A message has come.
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>);

    /// The client sends no more. The call goes on until [`StreamReply::end`].
    fn on_end(&mut self, replies: &mut StreamReply<'_>);

    /// There is room again: continue with what was left when the replies were full. Called once
    /// after each method of this trait that left them full, and when a
    /// [`StreamWaker`](crate::StreamWaker) was used.
    fn on_ready(&mut self, replies: &mut StreamReply<'_>) {
        let _ = replies;
    }
}
