//! What a channel is asked to do.

use crate::encoding::Encoding;
use crate::metadata::Metadata;
use std::borrow::Cow;
use std::time::Duration;

/// One call with one request message, owned so that it can go to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaryCall {
    /// The HTTP/2 `:path`: `/package.Service/Method`.
    pub path: Cow<'static, str>,
    /// Metadata of the request.
    pub metadata: Metadata,
    /// The request message, without the five-byte prefix of gRPC.
    pub message: Vec<u8>,
    /// How long the call may take, from when the channel is given it; `None` is for ever. The
    /// server is told.
    pub timeout: Option<Duration>,
    /// Whether the call waits while the server cannot be reached, until its deadline. Otherwise it
    /// is answered with `UNAVAILABLE` as soon as connecting has failed. gRPC's `wait_for_ready`.
    pub waits_for_ready: bool,
    /// How the request message is compressed, by the thread that makes the call.
    pub encoding: Encoding,
}

impl UnaryCall {
    /// A call without metadata, deadline and compression, that does not wait for a server that
    /// cannot be reached.
    pub fn new(path: impl Into<Cow<'static, str>>, message: Vec<u8>) -> Self {
        Self {
            path: path.into(),
            metadata: Metadata::new(),
            message,
            timeout: None,
            waits_for_ready: false,
            encoding: Encoding::Identity,
        }
    }
}
