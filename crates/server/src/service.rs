//! What a server serves, without a word about how messages are encoded.

use crate::{Context, PoolCall, Reply, StreamReply};

/// A gRPC service. Usually implemented by generated code; by hand for other codecs than protobuf.
pub trait Service: Send + Sync + 'static {
    /// The full name on the wire: `package.Service`.
    fn name(&self) -> &'static str;

    /// The methods. Their positions are the numbers that [`Service::call`] and [`Service::open`]
    /// get.
    fn methods(&self) -> &'static [Method];

    /// An encoded `FileDescriptorSet` that declares the service, for reflection; may be empty.
    fn descriptors(&self) -> &'static [u8] {
        &[]
    }

    /// What the messages are encoded with, as it stands in content types behind
    /// `application/grpc+`. A request may leave it out; one that names another codec ends with
    /// `UNIMPLEMENTED`.
    fn codec(&self) -> &'static str {
        "proto"
    }

    /// Handles a call of an [`Kind::Inline`] or [`Kind::Deferred`] method whose request is there.
    ///
    /// Runs where the bytes arrived, so it must not block. `reply` is to be used up by one of its
    /// functions; a call whose `reply` was dropped ends with `INTERNAL`.
    ///
    /// What a deferred handler hands to other shards of this process (a channel's call, an answer)
    /// is signalled to them once the handlers beside it have run: one that waits for such a thread
    /// waits for ever.
    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>);

    /// Handles a call of a [`Kind::Pool`] or [`Kind::PoolStream`] method, on a thread of the
    /// server's pool, which it may block. A call that is dropped ends with `INTERNAL`.
    fn work(&self, method: usize, call: PoolCall) {
        let _ = method;
        call.no_such_method();
    }

    /// Begins a call of a [`Kind::Stream`] method; `None` where there is no such method.
    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        let _ = (method, context);
        None
    }
}

/// A method of a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire, without the service.
    pub name: &'static str,
    /// How its calls are handled.
    pub kind: Kind,
}

/// How the calls of a method are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One request, answered before [`Service::call`] returns.
    Inline,
    /// One request, answered later from any thread.
    Deferred,
    /// Any number of messages in both directions, handled by an [`InlineStream`].
    Stream,
    /// One request and any number of replies, handled by [`Service::work`]. No thread waits for the
    /// request: it is there when the handler is called.
    Pool,
    /// Any number of messages in both directions, handled by [`Service::work`]. A client holds a
    /// thread of the pool for as long as its call lasts.
    PoolStream,
}

/// One streaming call: a state machine that runs where the bytes arrive and must not block.
///
/// It is told of one thing at a time, and of nothing while its replies have no room
/// ([`StreamReply::is_full`]): neither of further messages, for which its client gets no new credit
/// meanwhile, nor of the end. A handler that has more to send than there is room for stops there,
/// and goes on in [`InlineStream::on_ready`].
///
/// It is dropped when its call is over, however that came: it ended it, the client gave it up, its
/// deadline passed, or the connection is lost.
pub trait InlineStream: Send {
    /// A message has come.
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>);

    /// The client sends no more. The call goes on until [`StreamReply::end`].
    fn on_end(&mut self, replies: &mut StreamReply<'_>);

    /// There is room again: go on with what was put off because the replies were full. Called once
    /// after each call of this trait's that left them full.
    fn on_ready(&mut self, replies: &mut StreamReply<'_>) {
        let _ = replies;
    }
}
