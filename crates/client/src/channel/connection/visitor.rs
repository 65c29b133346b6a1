//! What the server's frames change.

use super::in_flight::CallsInFlight;
use super::incoming::{IncomingBody, IncomingResponse};
use crate::channel::call_key::CallKey;
use crate::channel::loss::{DEADLINE_PASSED, goaway_text, reset_text};
use crate::channel::pending_calls::PendingCalls;
use crate::response_headers::CachedBlock;
use bookend_io::clock_ns;
use bookend_wire::grpc::Code;
use bookend_wire::keepalive::TOO_MANY_PINGS;
use bookend_wire::{ErrorCode, HeaderList, Initiator, Sender, StreamKey, Visitor};

/// Turns the frames of one read into responses.
pub(super) struct ChannelVisitor<'a> {
    pub in_flight: &'a mut CallsInFlight,
    pub calls: &'a mut PendingCalls,
    pub max_message_bytes: usize,
}

impl ChannelVisitor<'_> {
    /// Adds to the response on a stream, and ends its call if that was all of it.
    #[inline]
    fn receive(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        end_stream: bool,
        add: impl FnOnce(&mut IncomingResponse),
    ) {
        let Some(response) = self.in_flight.response_on(stream) else {
            return;
        };
        add(response);
        if response.has_ended() {
            self.end(sender, stream, end_stream);
        }
    }

    #[inline]
    fn end(&mut self, sender: &mut Sender, stream: StreamKey, end_stream: bool) {
        let Some(call) = self.in_flight.remove(stream) else {
            return;
        };
        self.in_flight.was_answered = true;
        // The rest of the response, or of the request, is not wanted.
        if !end_stream || sender.blocked_bytes(stream) > 0 {
            self.in_flight.to_reset.push(stream);
        } else if matches!(call.response.body, IncomingBody::Streaming(_)) {
            self.in_flight.to_end.push(stream);
        }
        if let Some(response) = call.response.into_response() {
            self.calls.end(call.key, response);
        }
    }

    /// A server that keeps time as well resets a call that it cannot answer in time, and its reset
    /// may be read before we look at the clock.
    fn fail(&mut self, key: CallKey, code: ErrorCode, by: Initiator) {
        if code == ErrorCode::CANCEL && self.calls.is_overdue(key, clock_ns()) {
            self.calls.fail(key, Code::DeadlineExceeded, DEADLINE_PASSED);
        } else {
            self.calls.fail(key, Code::of_reset(code), reset_text(code, by));
        }
    }
}

impl Visitor for ChannelVisitor<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let mut cached = None;
        self.receive(sender, stream, end_stream, |response| {
            cached = response.headers(fields, end_stream);
        });
        cached.map(CachedBlock::token)
    }

    #[inline]
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        self.receive(sender, stream, end_stream, |response| {
            response.cached_headers(CachedBlock::of_token(token), end_stream);
        });
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let limit_bytes = self.max_message_bytes;
        // A stream's window stays shut until its reader has read: the server has to wait. The
        // connection's window is for all streams, so it opens whether anyone reads or not.
        match self.in_flight.response_on(stream) {
            Some(response) if response.is_consumed_at_once() => {
                sender.release(stream, data.len());
            }
            _ => sender.release_connection_of(stream, data.len()),
        }
        self.receive(sender, stream, end_stream, |response| {
            response.data(data, limit_bytes, end_stream);
        });
    }

    /// RFC 9113, section 8.1.
    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        let Some(call) = self.in_flight.remove(stream) else {
            return;
        };
        let was_refused = code == ErrorCode::REFUSED_STREAM && by != Initiator::Library;
        let is_sent_again =
            was_refused && call.response.take_back() && self.calls.send_again(call.key);
        if !is_sent_again {
            self.fail(call.key, code, by);
        }
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        self.in_flight.too_many_pings |=
            code == ErrorCode::ENHANCE_YOUR_CALM && debug == TOO_MANY_PINGS.as_bytes();
        self.in_flight.goaway = Some(goaway_text(code, debug));
    }

    fn settings(&mut self, _: &mut Sender) {
        self.in_flight.has_settings = true;
    }

    fn drained(&mut self, _: &mut Sender, stream: StreamKey) {
        self.in_flight.writable.push(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCall;
    use crate::channel::call_limit::CallLimit;
    use crate::channel::pending_call::{CallKind, PendingCall, ResponseCallback};
    use bookend_wire::{Connection, ConnectionConfig, Side};
    use std::sync::{Arc, mpsc};

    fn code_of_reset(deadline_ns: Option<u64>, code: ErrorCode) -> Code {
        let (sender, receiver) = mpsc::channel();
        let callback = ResponseCallback::new(move |response| {
            sender.send(response.status.code).unwrap();
        });
        let kind = CallKind::Unary(Vec::new(), callback);
        let mut calls = PendingCalls::new(Arc::new(CallLimit::new(1)));
        calls.add(PendingCall::new(StreamCall::new("/a/b"), kind, deadline_ns));
        let (key, _) = calls.next_queued().expect("it was added");
        let mut in_flight = CallsInFlight::default();
        let stream = StreamKey { index: 0, id: 1 };
        in_flight.insert(stream, key, IncomingResponse::unary());
        let mut connection = Connection::new(Side::Client, &ConnectionConfig::trusted());
        let mut visitor =
            ChannelVisitor { in_flight: &mut in_flight, calls: &mut calls, max_message_bytes: 1 };
        visitor.reset(&mut connection.sender, stream, code, Initiator::Peer);
        receiver.try_recv().expect("a reset ends the call")
    }

    #[test]
    fn a_server_that_cancels_a_call_at_its_deadline_keeps_the_deadline() {
        for (deadline_ns, code, status) in [
            (Some(0), ErrorCode::CANCEL, Code::DeadlineExceeded),
            (Some(u64::MAX), ErrorCode::CANCEL, Code::Cancelled),
            (None, ErrorCode::CANCEL, Code::Cancelled),
            (Some(0), ErrorCode::INTERNAL_ERROR, Code::Internal),
        ] {
            let ended_with = code_of_reset(deadline_ns, code);
            assert_eq!(ended_with, status, "{deadline_ns:?} {code}");
        }
    }
}
