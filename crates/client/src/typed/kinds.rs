//! Calls that are prepared and not made yet, one kind a shape of method.

use std::marker::PhantomData;
use std::time::Duration;

use super::halves::{PendingReply, ReplyReceiver, RequestSender, decoded};
use crate::{Channel, Encoding, MetadataError, Response, Status, StreamCall, UnaryCall};
use prost::Message;

/// A call of a method of kind `K`, prepared and not made yet.
#[derive(Clone, Debug)]
#[must_use = "the call is made by `wait`, `then` or `open`"]
pub struct TypedCall<K> {
    channel: Channel,
    call: StreamCall,
    kind: K,
}

/// One request, one reply.
#[derive(Clone, Debug)]
pub struct Unary<R> {
    request: Vec<u8>,
    reply: PhantomData<fn() -> R>,
}

/// One request, any number of replies.
#[derive(Clone, Debug)]
pub struct ServerStreaming<R> {
    request: Vec<u8>,
    reply: PhantomData<fn() -> R>,
}

/// Any number of requests, one reply.
#[derive(Clone, Debug)]
pub struct ClientStreaming<Q, R>(PhantomData<fn(Q) -> R>);

/// Any number of either.
#[derive(Clone, Debug)]
pub struct BidirectionalStreaming<Q, R>(PhantomData<fn(Q) -> R>);

impl<K> TypedCall<K> {
    fn new(channel: &Channel, path: &'static str, kind: K) -> Self {
        TypedCall { channel: channel.clone(), call: StreamCall::new(path), kind }
    }

    /// How long the whole call may take; see [`UnaryCall::timeout`]. Without it, for ever.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call.timeout = Some(timeout);
        self
    }

    /// Adds metadata to the request.
    ///
    /// # Errors
    /// When gRPC cannot carry it.
    pub fn metadata(mut self, name: &str, value: impl AsRef<[u8]>) -> Result<Self, MetadataError> {
        self.call.metadata.push(name, value.as_ref())?;
        Ok(self)
    }

    /// Adds binary metadata; `name` ends in `-bin`.
    ///
    /// # Errors
    /// As [`TypedCall::metadata`].
    pub fn binary_metadata(mut self, name: &str, bytes: &[u8]) -> Result<Self, MetadataError> {
        self.call.metadata.push_binary(name, bytes)?;
        Ok(self)
    }

    /// Waits while the server cannot be reached: see [`UnaryCall::waits_for_ready`].
    pub fn waits_for_ready(mut self) -> Self {
        self.call.waits_for_ready = true;
        self
    }

    /// Compresses the requests.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.call.encoding = encoding;
        self
    }
}

impl<R: Message + Default> TypedCall<Unary<R>> {
    /// A call of the unary method of that path.
    pub fn unary(channel: &Channel, path: &'static str, request: &impl Message) -> Self {
        let kind = Unary { request: request.encode_to_vec(), reply: PhantomData };
        Self::new(channel, path, kind)
    }

    /// Makes the call and waits for the reply.
    ///
    /// # Errors
    /// The status, where it is not `OK`.
    pub fn wait(self) -> Result<R, Status> {
        decoded(&self.wait_for_response().into_single_message()?)
    }

    /// Makes the call and waits for the response with its metadata; the message is encoded.
    pub fn wait_for_response(self) -> Response {
        let (channel, call) = self.into_parts();
        channel.unary(call)
    }

    /// Makes the call and returns at once. `on_reply` is called exactly once, on the channel's
    /// thread, and must not block: see [`Channel::call`].
    pub fn then(self, on_reply: impl FnOnce(Result<R, Status>) + Send + 'static) {
        let (channel, call) = self.into_parts();
        channel.call(call, |response| {
            on_reply(response.into_single_message().and_then(|message| decoded(&message)));
        });
    }

    fn into_parts(self) -> (Channel, UnaryCall) {
        let StreamCall { path, metadata, timeout, waits_for_ready, encoding } = self.call;
        let message = self.kind.request;
        let call = UnaryCall { path, metadata, message, timeout, waits_for_ready, encoding };
        (self.channel, call)
    }
}

impl<R: Message + Default> TypedCall<ServerStreaming<R>> {
    /// A call of the server-streaming method of that path.
    pub fn server_streaming(channel: &Channel, path: &'static str, request: &impl Message) -> Self {
        let kind = ServerStreaming { request: request.encode_to_vec(), reply: PhantomData };
        Self::new(channel, path, kind)
    }

    /// Makes the call. Does not wait: receiving does.
    pub fn open(self) -> ReplyReceiver<R> {
        let (mut requests, responses) = self.channel.open(self.call);
        // Where the call has ended already, or the request is too long, the replies say so.
        if requests.send(&self.kind.request).is_ok() {
            requests.finish();
        }
        ReplyReceiver::new(responses)
    }
}

impl<Q: Message, R: Message + Default> TypedCall<ClientStreaming<Q, R>> {
    /// A call of the client-streaming method of that path.
    pub fn client_streaming(channel: &Channel, path: &'static str) -> Self {
        Self::new(channel, path, ClientStreaming(PhantomData))
    }

    /// Begins the call. Does not wait: sending and receiving do.
    pub fn open(self) -> (RequestSender<Q>, PendingReply<R>) {
        let (requests, responses) = self.channel.open(self.call);
        (RequestSender::new(requests), PendingReply::new(responses))
    }
}

impl<Q: Message, R: Message + Default> TypedCall<BidirectionalStreaming<Q, R>> {
    /// A call of the method of that path, which streams both ways.
    pub fn bidirectional(channel: &Channel, path: &'static str) -> Self {
        Self::new(channel, path, BidirectionalStreaming(PhantomData))
    }

    /// Begins the call. Does not wait: sending and receiving do.
    pub fn open(self) -> (RequestSender<Q>, ReplyReceiver<R>) {
        let (requests, responses) = self.channel.open(self.call);
        (RequestSender::new(requests), ReplyReceiver::new(responses))
    }
}
