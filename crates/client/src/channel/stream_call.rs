//! A call whose messages go one by one.

use crate::encoding::Encoding;
use crate::metadata::Metadata;
use std::borrow::Cow;
use std::time::Duration;

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
    /// How long the whole call may take, from [`crate::Channel::open`] on; `None` is for ever. The
    /// server is told.
    pub timeout: Option<Duration>,
    /// Whether the call waits while the server cannot be reached, until its deadline. Otherwise it
    /// ends with `UNAVAILABLE` as soon as connecting has failed. gRPC's `wait_for_ready`.
    pub waits_for_ready: bool,
    /// How request messages are compressed; each may be left out by
    /// [`crate::Requests::send_uncompressed`].
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
