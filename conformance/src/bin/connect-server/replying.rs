//! The replies of a streaming call, one after the other, as its first request defines them.

use std::time::Duration;
use std::vec;

use bookend_conformance::connect::messages::conformance_payload::RequestInfo;
use bookend_conformance::connect::messages::{
    ConformancePayload, Error, Header, StreamResponseDefinition,
};
use bookend_conformance::connect::{Details, STATUS_DETAILS};
use bookend_server::prost::Message;
use bookend_server::{PoolContext, ReplySender, Status};

use crate::failure::Failures;

/// How far a streaming call has come.
pub struct Replying<'a, R> {
    failures: Failures,
    context: &'a PoolContext,
    /// Where they go.
    pub replies: ReplySender<R>,
    /// The message around a payload.
    wrap: fn(ConformancePayload) -> R,
    data: vec::IntoIter<Vec<u8>>,
    delay: Duration,
    error: Option<Error>,
    replied: bool,
}

impl<'a, R: Message> Replying<'a, R> {
    /// Nothing is defined yet: a call that stays like that ends well, without a reply.
    pub fn new(
        failures: Failures,
        context: &'a PoolContext,
        replies: ReplySender<R>,
        wrap: fn(ConformancePayload) -> R,
    ) -> Self {
        Replying {
            failures,
            context,
            replies,
            wrap,
            data: Vec::new().into_iter(),
            delay: Duration::ZERO,
            error: None,
            replied: false,
        }
    }

    /// The first request has come.
    pub fn define(&mut self, definition: StreamResponseDefinition) {
        add_metadata(self.context, &definition.response_headers, &definition.response_trailers);
        self.data = definition.response_data.into_iter();
        self.delay = Duration::from_millis(definition.response_delay_ms.into());
        self.error = definition.error;
    }

    /// Whether nothing has been sent yet but metadata.
    pub fn is_first(&self) -> bool {
        !self.replied
    }

    /// Sends the next reply; false after the last one.
    pub fn reply(&mut self, request_info: Option<RequestInfo>) -> Result<bool, Status> {
        let Some(data) = self.data.next() else {
            return Ok(false);
        };
        self.context.sleep(self.delay)?;
        self.replied = true;
        let payload = ConformancePayload { data, request_info };
        self.replies.send(&(self.wrap)(payload))?;
        Ok(true)
    }

    /// Sends all replies that are left. The first one of the call says what was seen.
    pub fn reply_with_all(&mut self, seen: impl Fn() -> RequestInfo) -> Result<(), Status> {
        while self.reply(self.is_first().then(&seen))? {}
        Ok(())
    }

    /// Ends the call as it is defined. An error that is all there is says what was seen.
    pub fn finish(self, seen: RequestInfo) -> Result<(), Status> {
        match self.error {
            None => Ok(()),
            Some(error) => {
                let seen = (!self.replied).then_some(seen);
                Err(status_of(self.context, self.failures.details(error, seen)))
            }
        }
    }
}

/// The status to fail with, once the details are among the trailers.
pub fn status_of(context: &PoolContext, failure: Details) -> Status {
    if let Some(bytes) = failure.to_bytes() {
        context.add_binary_trailer(STATUS_DETAILS, &bytes);
    }
    failure.status
}

/// Adds what a definition wants before and behind the answer.
pub fn add_metadata(context: &PoolContext, headers: &[Header], trailers: &[Header]) {
    for (name, value) in pairs(headers) {
        context.add_header(&name, value);
    }
    for (name, value) in pairs(trailers) {
        context.add_trailer(&name, value);
    }
}

/// Name and value; the suite writes names as it likes.
pub fn pairs(headers: &[Header]) -> impl Iterator<Item = (String, &[u8])> {
    headers.iter().flat_map(|header| {
        let name = header.name.to_ascii_lowercase();
        let values = header.value.iter();
        values.map(move |value| (name.clone(), value.as_bytes()))
    })
}
