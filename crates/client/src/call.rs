//! What is asked of a server.

use crate::encoding::{ACCEPT_ENCODING, ACCEPTED};
use crate::metadata::Metadata;
use bookend_wire::HeaderBlock;
use bookend_wire::grpc::timeout;
use std::time::Duration;

const USER_AGENT: &str = concat!("bookend/", env!("CARGO_PKG_VERSION"));

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The HTTP/2 `:path`: `/package.Service/Method`.
    pub path: &'a str,
    /// Metadata of the request; `None` is none.
    pub metadata: Option<&'a Metadata>,
    /// The request messages, without the five-byte prefix of gRPC. A unary call has one.
    pub messages: &'a [&'a [u8]],
    /// How long the call may take; `None` is for ever. The server is told.
    pub timeout: Option<Duration>,
}

impl<'a> Call<'a> {
    /// A call without metadata and without a deadline.
    pub fn new(path: &'a str, messages: &'a [&'a [u8]]) -> Self {
        Self {
            path,
            metadata: None,
            messages,
            timeout: None,
        }
    }

    pub(crate) fn head(&self, origin: &Origin) -> HeaderBlock {
        let mut head = head_of(self.path, origin);
        if let Some(time) = self.timeout {
            head.push(TIMEOUT, &timeout_value(time));
        }
        if let Some(metadata) = self.metadata {
            metadata.write(&mut head);
        }
        head
    }
}

/// The header field that tells the server how long a call may take.
pub(crate) const TIMEOUT: &[u8] = b"grpc-timeout";

/// What all calls to a server have in common.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// `http` or `https`.
    pub scheme: &'static str,
    pub authority: String,
}

/// What all calls of a method have in common.
pub(crate) fn head_of(path: &str, origin: &Origin) -> HeaderBlock {
    HeaderBlock::new(&[
        (b":method", b"POST"),
        (b":scheme", origin.scheme.as_bytes()),
        (b":path", path.as_bytes()),
        (b":authority", origin.authority.as_bytes()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"user-agent", USER_AGENT.as_bytes()),
        (ACCEPT_ENCODING, ACCEPTED),
    ])
}

/// The value of [`TIMEOUT`].
pub(crate) fn timeout_value(time: Duration) -> Vec<u8> {
    let mut value = Vec::new();
    let timeout_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    timeout::write(timeout_ns, &mut value);
    value
}
