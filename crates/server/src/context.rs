use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::head::Head;
use crate::response_metadata::ResponseMetadata;
use bookend_wire::grpc::Metadata;

/// What a handler can know about its call, and add to its answer.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(crate) head: &'a Head,
    pub(crate) compressed: bool,
    pub(crate) response: &'a ResponseMetadata,
    pub(crate) deadline_ns: Option<u64>,
    pub(crate) now_ns: u64,
}

impl Context<'_> {
    /// The metadata that came with the request.
    pub fn metadata(&self) -> &Metadata {
        &self.head.metadata
    }

    /// Whether the message of a unary call came compressed. Of streams, see
    /// [`crate::Replies::request_was_compressed`].
    pub fn request_was_compressed(&self) -> bool {
        self.compressed
    }

    /// Sends the answer compressed, if the client accepts that; of a stream, all replies until
    /// [`crate::Replies::compress`] says otherwise.
    pub fn compress_replies(&self) {
        if self.head.accepts_gzip {
            self.response.compress();
        }
    }

    /// The time that the client still waits for the answer; `None` if it waits for ever. Measured
    /// from when the request's head came, as it stood when the handler was called.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline_ns = self.deadline_ns?;
        Some(Duration::from_nanos(
            deadline_ns.saturating_sub(self.now_ns),
        ))
    }

    /// Tells, on any thread, whether the call is over: for a deferred handler whose work is worth
    /// stopping when nobody waits for it any more.
    pub fn cancellation(&self) -> Cancellation {
        self.response.cancellation()
    }

    /// Adds metadata that goes before the answer, as it stands on the wire: the value of a name
    /// that ends in `-bin` is base64 already.
    ///
    /// A name that is no name (lower-case letters, digits, `-`, `_` and `.`) or is gRPC's own, or a
    /// value that no header may have, is a mistake of the handler's: its call ends with `INTERNAL`.
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.response
            .change(|fields| fields.headers.push(name, value));
    }

    /// As [`Context::add_header`], with any bytes; `name` ends in `-bin`.
    pub fn add_binary_header(&self, name: &str, bytes: &[u8]) {
        self.response
            .change(|fields| fields.headers.push_binary(name, bytes));
    }

    /// Adds metadata that goes behind the answer, beside its status; as [`Context::add_header`].
    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.response
            .change(|fields| fields.trailers.push(name, value));
    }

    /// As [`Context::add_trailer`], with any bytes; `name` ends in `-bin`.
    pub fn add_binary_trailer(&self, name: &str, bytes: &[u8]) {
        self.response
            .change(|fields| fields.trailers.push_binary(name, bytes));
    }
}
