//! Calls as an application describes them.

use bookend_wire::grpc::{Encoding, Metadata};
use std::borrow::Cow;
use std::time::Duration;

/// A call with one request message, owned so that it can go to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaryCall {
    /// The HTTP/2 `:path`: `/package.Service/Method`.
    pub path: Cow<'static, str>,
    /// Metadata of the request.
    pub metadata: Metadata,
    /// The request message, without the five-byte prefix of gRPC.
    pub message: Vec<u8>,
    /// How long the call may take, counted from when the channel receives it; `None` means for
    /// ever. The server learns it too.
    pub timeout: Option<Duration>,
    /// Whether the call waits while the server cannot be reached, until its deadline. Otherwise it
    /// ends with `UNAVAILABLE` as soon as connecting has failed. gRPC's `wait_for_ready`.
    pub waits_for_ready: bool,
    /// How the request message is compressed, by the thread that makes the call.
    pub encoding: Encoding,
}

impl UnaryCall {
    /// A call without metadata, deadline and compression, that does not wait for a server that
    /// cannot be reached.
    pub fn new(path: impl Into<Cow<'static, str>>, message: Vec<u8>) -> Self {
        let StreamCall { path, metadata, timeout, waits_for_ready, encoding } =
            StreamCall::new(path);
        Self { path, metadata, message, timeout, waits_for_ready, encoding }
    }
}

/// A call of any kind whose messages are sent and received one by one.
///
/// gRPC's four kinds of methods differ only in how many messages either side sends; on the wire,
/// and here, all are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamCall {
    /// The HTTP/2 `:path`: `/package.Service/Method`.
    pub path: Cow<'static, str>,
    /// Metadata of the request.
    pub metadata: Metadata,
    /// How long the whole call may take, counted from [`crate::Channel::open`]; `None` means for
    /// ever. The server learns it too.
    pub timeout: Option<Duration>,
    /// As [`UnaryCall::waits_for_ready`].
    pub waits_for_ready: bool,
    /// How request messages are compressed; [`crate::Requests::send_uncompressed`] exempts one.
    pub encoding: Encoding,
}

impl StreamCall {
    /// A call without metadata, deadline and compression, that does not wait for a server that
    /// cannot be reached.
    pub fn new(path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            path: path.into(),
            metadata: Metadata::new(),
            timeout: None,
            waits_for_ready: false,
            encoding: Encoding::Identity,
        }
    }
}
