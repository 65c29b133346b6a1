use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::metadata::{Metadata, ResponseMetadata};

/// What a handler can know about its call, and add to its answer.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(crate) metadata: &'a Metadata,
    pub(crate) response: &'a ResponseMetadata,
    pub(crate) deadline_ns: Option<u64>,
    pub(crate) now_ns: u64,
}

impl Context<'_> {
    /// The metadata that came with the request.
    pub fn metadata(&self) -> &Metadata {
        self.metadata
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

    /// Adds metadata that goes before the answer. `name` is in lower case; the value of a name that
    /// ends in `-bin` is base64.
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.response.add_header(name, value);
    }

    /// Adds metadata that goes behind the answer, beside its status.
    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.response.add_trailer(name, value);
    }
}
