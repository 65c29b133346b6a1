//! What a connection tells while one call is in flight.

use crate::answer::Answer;
use crate::response::Response;
use bookend_wire::grpc::Code;
use bookend_wire::{ErrorCode, HeaderList, Initiator, Sender, StreamKey, Visitor};
use std::time::Instant;

/// The call in flight, and what the peer says about the connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Whether the peer's SETTINGS have come.
    pub greeted: bool,
    /// What the peer's GOAWAY said.
    pub goaway: Option<String>,
    max_message_bytes: usize,
    call: Option<(StreamKey, Response)>,
    deadline: Option<Instant>,
}

impl Exchange {
    pub fn new(max_message_bytes: usize) -> Self {
        Self {
            greeted: false,
            goaway: None,
            max_message_bytes,
            call: None,
            deadline: None,
        }
    }

    pub fn begin(&mut self, stream: StreamKey, deadline: Option<Instant>) {
        self.call = Some((stream, Response::of_any_number()));
        self.deadline = deadline;
    }

    /// The deadline has passed, and the call with it.
    pub fn expire(&mut self) {
        if let Some((_, response)) = &mut self.call {
            response.fail(Code::DeadlineExceeded, DEADLINE_PASSED);
        }
    }

    /// The answer, once the call has ended.
    pub fn take_answer(&mut self) -> Option<Answer> {
        let (_, response) = self.call.take_if(|(_, response)| response.has_ended())?;
        response.into_answer()
    }

    fn response_on(&mut self, stream: StreamKey) -> Option<&mut Response> {
        let (asked_on, response) = self.call.as_mut()?;
        (*asked_on == stream && !response.has_ended()).then_some(response)
    }
}

/// What a call is told whose deadline has passed.
pub(crate) const DEADLINE_PASSED: &str = "the deadline passed before the server had answered";

impl Visitor for Exchange {
    fn headers(
        &mut self,
        _: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if let Some(response) = self.response_on(stream) {
            response.headers(fields, end_stream);
        }
        None
    }

    /// Never called: no token is ever given out.
    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        let limit_bytes = self.max_message_bytes;
        if let Some(response) = self.response_on(stream) {
            response.data(data, limit_bytes, end_stream);
        }
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        // A server that keeps time as well may be heard before we look at the clock.
        let is_overdue = self.deadline.is_some_and(|due| due <= Instant::now());
        let Some(response) = self.response_on(stream) else {
            return;
        };
        match code {
            ErrorCode::CANCEL if is_overdue => {
                response.fail(Code::DeadlineExceeded, DEADLINE_PASSED);
            }
            _ => response.fail(Code::of_reset(code), told_by_reset(code, by)),
        }
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        self.goaway = Some(told_by_goaway(code, debug));
    }

    fn settings(&mut self, _: &mut Sender) {
        self.greeted = true;
    }
}

/// What a reset means, in words.
pub(crate) fn told_by_reset(code: ErrorCode, by: Initiator) -> String {
    match by {
        Initiator::Peer => format!("the server reset the call: {code}"),
        Initiator::PeerGoAway => "the server went away and had not looked at the call".to_owned(),
        Initiator::Library => format!("the server broke HTTP/2 on this call: {code}"),
    }
}

/// What a GOAWAY said, in words.
pub(crate) fn told_by_goaway(code: ErrorCode, debug: &[u8]) -> String {
    let debug = String::from_utf8_lossy(debug);
    match debug.is_empty() {
        true => code.to_string(),
        false => format!("{code} ({debug})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::{Connection, ConnectionConfig, Side};
    use std::time::Duration;

    fn code_of_reset(deadline: Option<Instant>, code: ErrorCode) -> Code {
        let mut connection = Connection::new(Side::Client, &ConnectionConfig::trusted());
        let stream = StreamKey { index: 0, id: 1 };
        let mut exchange = Exchange::new(1);
        exchange.begin(stream, deadline);
        exchange.reset(&mut connection.sender, stream, code, Initiator::Peer);
        let answer = exchange.take_answer().expect("a reset ends the call");
        answer.status.code
    }

    #[test]
    fn a_server_that_cancels_a_call_at_its_deadline_keeps_the_deadline() {
        let now = Instant::now();
        let later = now + Duration::from_secs(86_400);
        for (deadline, code, status) in [
            (Some(now), ErrorCode::CANCEL, Code::DeadlineExceeded),
            (Some(later), ErrorCode::CANCEL, Code::Cancelled),
            (None, ErrorCode::CANCEL, Code::Cancelled),
            (Some(now), ErrorCode::INTERNAL_ERROR, Code::Internal),
        ] {
            assert_eq!(code_of_reset(deadline, code), status, "{deadline:?} {code}");
        }
    }
}
