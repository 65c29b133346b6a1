use std::net::SocketAddr;
use std::time::Duration;

use bookend_wire::StreamKey;
use bookend_wire::grpc::Metadata;

use crate::call_origin::CallOrigin;
use crate::cancellation::Cancellation;
use crate::head::ParsedHead;
use crate::method::MethodPath;
use crate::response_metadata::ResponseMetadata;
use crate::stream_waker::StreamWaker;

/// What a handler can learn about its call, and add to its response.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(crate) head: &'a ParsedHead,
    pub(crate) path: &'a MethodPath,
    pub(crate) compressed: bool,
    pub(crate) response: &'a ResponseMetadata,
    pub(crate) deadline_ns: Option<u64>,
    pub(crate) now_ns: u64,
    pub(crate) connection: &'a CallOrigin,
    pub(crate) stream: StreamKey,
}

impl Context<'_> {
    /// The service that is called: `package.Service`.
    pub fn service(&self) -> &'static str {
        self.path.service
    }

    /// The method that is called, without its service.
    pub fn method(&self) -> &'static str {
        self.path.method
    }

    /// The metadata of the request.
    pub fn metadata(&self) -> &Metadata {
        &self.head.metadata
    }

    /// Whether the message of a unary call came compressed. For streams, see
    /// [`crate::Replies::request_was_compressed`].
    pub fn request_was_compressed(&self) -> bool {
        self.compressed
    }

    /// Sends the answer compressed, if the client accepts that; on a stream, all replies until
    /// [`crate::Replies::compress`] switches it off.
    pub fn compress_replies(&self) {
        if self.head.accepts_gzip {
            self.response.compress();
        }
    }

    /// The time left until the call's deadline when the handler was called, counted from the
    /// arrival of the request's head; `None` if it has none.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline_ns = self.deadline_ns?;
        Some(Duration::from_nanos(deadline_ns.saturating_sub(self.now_ns)))
    }

    /// Tells any thread whether the call is over: for a deferred handler whose work is worth
    /// stopping when the client waits for it no more.
    pub fn cancellation(&self) -> Cancellation {
        self.response.cancellation()
    }

    /// Wakes the stream that this call is, from any thread: its handler's `on_ready` is called,
    /// where it finds what has changed. For subscriptions and chats, which need no thread each.
    ///
    /// A call whose handler has asked for its waker does not end by itself when the client sends
    /// no more and nothing is left to send: it goes on until [`crate::Replies::end`] or an error.
    /// To a unary call a waker does nothing.
    pub fn waker(&self) -> StreamWaker {
        self.response.waker(|| self.connection.reply_to.notifier(self.stream))
    }

    /// Where the client's connection comes from; `None` for a unix socket. Behind a proxy it is the
    /// proxy's address.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.connection.peer.address
    }

    /// The certificates that the client has shown, in DER, its own first; none without mutual TLS.
    /// They are verified already.
    pub fn client_certificates(&self) -> &[Box<[u8]>] {
        &self.connection.peer.certificates
    }

    /// Adds metadata to the response's head, as it stands on the wire: the value of a name that
    /// ends in `-bin` must be base64 already.
    ///
    /// A name must consist of lower-case letters, digits, `-`, `_` and `.`, and must not be
    /// reserved for gRPC; a value must be allowed in a header. Otherwise the call ends with
    /// `INTERNAL`.
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.response.change(|fields| fields.headers.push_to_response(name, value));
    }

    /// Adds binary metadata to the response's head; `name` ends in `-bin`.
    pub fn add_binary_header(&self, name: &str, bytes: &[u8]) {
        self.response.change(|fields| fields.headers.push_binary(name, bytes));
    }

    /// Adds metadata to the trailers, next to the status: see [`Context::add_header`].
    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.response.change(|fields| fields.trailers.push_to_response(name, value));
    }

    /// Adds binary metadata to the trailers; `name` ends in `-bin`.
    pub fn add_binary_trailer(&self, name: &str, bytes: &[u8]) {
        self.response.change(|fields| fields.trailers.push_binary(name, bytes));
    }
}
