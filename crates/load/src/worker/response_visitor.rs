//! Checks responses as they come, and counts the calls that end.

use super::received_goaway::ReceivedGoAway;
use super::stream_calls::{AfterData, StreamCalls};
use crate::call::{LoadCall, token};
use crate::record::CallSink;
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::grpc::response::final_status;
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{
    ErrorCode, HeaderList, Initiator, ResetQueue, Sender, StreamKey, Visitor, WholeResponse,
};

/// Sees what has come on one connection in one slice of bytes.
pub(super) struct ResponseVisitor<'a> {
    now_ns: u64,
    sink: &'a mut CallSink,
    /// By stream index.
    calls: &'a mut [LoadCall],
    /// Where calls are streams of messages.
    streams: Option<&'a mut StreamCalls>,
    /// A call fails whose response message is larger.
    response_max_bytes: u32,
    resets: &'a mut ResetQueue,
    /// Calls that a GOAWAY leaves unprocessed: it is visited after their streams.
    unprocessed: Vec<StreamKey>,
    seen: Seen,
}

/// What a slice of bytes has meant for its connection.
#[derive(Default)]
pub(super) struct Seen {
    /// Calls that have ended.
    pub ended: u32,
    /// How many of those the server did not answer.
    pub unanswered: u32,
    pub settings: bool,
    /// Whether streams are to be reset.
    pub gave_up: bool,
    pub goaway: Option<ReceivedGoAway>,
}

impl<'a> ResponseVisitor<'a> {
    #[inline]
    pub fn new(
        now_ns: u64,
        sink: &'a mut CallSink,
        calls: &'a mut [LoadCall],
        streams: Option<&'a mut StreamCalls>,
        response_max_bytes: u32,
        resets: &'a mut ResetQueue,
    ) -> Self {
        Self {
            now_ns,
            sink,
            calls,
            streams,
            response_max_bytes,
            resets,
            unprocessed: Vec::new(),
            seen: Seen::default(),
        }
    }

    #[inline]
    pub fn into_seen(self) -> Seen {
        self.seen
    }

    #[inline]
    fn call(&mut self, stream: StreamKey) -> Option<&mut LoadCall> {
        self.calls.get_mut(stream.index as usize).filter(|call| call.stream_id == stream.id)
    }

    #[inline]
    fn end(&mut self, sender: &mut Sender, stream: StreamKey, outcome: Result<(), Status>) {
        let Some(call) = self.calls.get_mut(stream.index as usize) else {
            return;
        };
        match outcome {
            Ok(()) => return self.end_ok(sender, stream),
            Err(status) => self.sink.failed(call, &status, self.now_ns),
        }
        self.end_counted(sender, stream);
    }

    /// A call ended with OK. No outcome is passed on: it would be written to memory and read back
    /// at once, which costs a tenth of a call where a thousand are in flight.
    #[inline]
    fn end_ok(&mut self, sender: &mut Sender, stream: StreamKey) {
        if let Some(call) = self.calls.get_mut(stream.index as usize) {
            self.sink.ok(call, self.now_ns);
            self.end_counted(sender, stream);
        }
    }

    /// A call that has been counted leaves its slot.
    #[inline]
    fn end_counted(&mut self, sender: &mut Sender, stream: StreamKey) {
        self.calls[stream.index as usize].stream_id = 0;
        self.seen.ended += 1;
        // A server may answer before it has read the whole request: the rest is not sent.
        let is_cut_short = self.streams.as_mut().is_some_and(|streams| streams.end(stream.index));
        if is_cut_short || sender.is_blocked() && sender.blocked_bytes(stream) > 0 {
            self.give_up(sender, stream);
        }
    }

    /// The stream is to be reset.
    #[cold]
    fn give_up(&mut self, sender: &Sender, stream: StreamKey) {
        self.resets.add(stream, sender);
        self.seen.gave_up = true;
    }

    /// Whether responses are streams of messages.
    #[inline]
    fn receives_many(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.receive_many())
    }

    /// A response that is a stream has ended so: does it end between two messages?
    fn end_of_stream(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        outcome: Result<(), Status>,
    ) {
        let is_whole =
            self.streams.as_ref().is_none_or(|streams| streams.is_between_messages(stream));
        let outcome = outcome.and_then(|()| {
            let text = "the server ended the stream in the middle of a message";
            if is_whole { Ok(()) } else { Err(Status::new(Code::Internal, text)) }
        });
        self.end(sender, stream, outcome);
    }

    /// Part of a response that is a stream has come.
    fn stream_data(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        data: &[u8],
        end_stream: bool,
    ) {
        let known = self.calls.get_mut(stream.index as usize);
        let Some(call) = known.filter(|call| call.stream_id == stream.id) else {
            return sender.release_connection_of(stream, data.len());
        };
        let Some(streams) = &mut self.streams else {
            return;
        };
        let after = streams.receive(stream, data, call, self.now_ns, self.sink);
        match after {
            Ok(_) if end_stream => {
                let status = call.no_trailers();
                self.end(sender, stream, Err(status));
            }
            Ok(AfterData::Nothing) => {}
            // All that has come since the last time.
            Ok(AfterData::Release) => sender.release(stream, usize::MAX),
            Ok(AfterData::Enough) => {
                self.end(sender, stream, Ok(()));
                self.give_up(sender, stream);
            }
            Err(text) => {
                self.end(sender, stream, Err(Status::new(Code::Internal, text)));
                self.give_up(sender, stream);
            }
        }
    }

    /// The outcome of a call whose message is one, whole and wanted, unless it is too large.
    #[inline]
    fn check_size(&self, declared_bytes: u64, outcome: Result<(), Status>) -> Result<(), Status> {
        if declared_bytes <= u64::from(self.response_max_bytes) {
            return outcome;
        }
        outcome.and(Err(Status::new(
            Code::ResourceExhausted,
            format!(
                "grpc: received message larger than max ({declared_bytes} vs. {})",
                self.response_max_bytes
            ),
        )))
    }

    #[cold]
    fn end_unanswered(&mut self, sender: &mut Sender, stream: StreamKey, status: Status) {
        self.seen.unanswered += 1;
        self.end(sender, stream, Err(status));
    }
}

impl Visitor for ResponseVisitor<'_> {
    const TAKES_WHOLE_RESPONSES: bool = true;

    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if self.receives_many() {
            let (token, outcome) = self.call(stream)?.headers_of_stream(fields, end_stream);
            if let Some(outcome) = outcome {
                self.end_of_stream(sender, stream, outcome);
            }
            return token;
        }
        let call = self.call(stream)?;
        let (token, outcome) = call.headers(fields, end_stream);
        let declared_bytes = call.declared_bytes();
        if let Some(outcome) = outcome {
            let outcome = self.check_size(declared_bytes, outcome);
            self.end(sender, stream, outcome);
        }
        token
    }

    #[inline]
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        let receives_many = self.receives_many();
        let Some(call) = self.call(stream) else {
            return;
        };
        if token != token::TRAILERS {
            call.cached_head(token);
            if end_stream {
                self.end(sender, stream, Err(final_status(None, None)));
            }
            return;
        }
        if receives_many {
            let outcome = call.check_head();
            return self.end_of_stream(sender, stream, outcome);
        }
        let (declared_bytes, outcome) = (call.declared_bytes(), call.check_body());
        let outcome = self.check_size(declared_bytes, outcome);
        self.end(sender, stream, outcome);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        if self.receives_many() {
            return self.stream_data(sender, stream, data, end_stream);
        }
        let Some(call) = self.call(stream) else {
            // The call was given up: its own window stays shut, that of the connection does not.
            return sender.release_connection_of(stream, data.len());
        };
        let is_due = call.body(data);
        if end_stream {
            let status = call.no_trailers();
            self.end(sender, stream, Err(status));
        } else if is_due {
            // All that has come since the last time.
            sender.release(stream, usize::MAX);
        }
    }

    fn reset(&mut self, sender: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        let Some(call) = self.call(stream) else {
            return;
        };
        match call.fault_of_reset(code, by) {
            Some(status) => self.end_unanswered(sender, stream, status),
            None => self.unprocessed.push(stream),
        }
    }

    fn goaway(&mut self, sender: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        let goaway = ReceivedGoAway::new(code, debug);
        for stream in std::mem::take(&mut self.unprocessed) {
            self.end_unanswered(sender, stream, goaway.unprocessed());
        }
        self.seen.goaway = Some(goaway);
    }

    #[inline]
    fn whole_response(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        response: WholeResponse<'_>,
    ) {
        let WholeResponse { head, body, trailers } = response;
        let response_max_bytes = self.response_max_bytes as usize;
        if self.receives_many() {
            self.cached_headers(sender, stream, head, false);
            self.data(sender, stream, body, false);
            return self.cached_headers(sender, stream, trailers, true);
        }
        let Some(call) = self.call(stream) else {
            return;
        };
        if call.is_whole_body(head, body) && body.len() <= response_max_bytes {
            return self.end_ok(sender, stream);
        }
        let outcome = call.check_whole_body(body);
        let message_bytes = (body.len() as u64).saturating_sub(PREFIX_BYTES as u64);
        let outcome = self.check_size(message_bytes, outcome);
        self.end(sender, stream, outcome);
    }

    fn drained(&mut self, _: &mut Sender, stream: StreamKey) {
        if let Some(streams) = &mut self.streams {
            streams.drained(stream, self.now_ns, self.sink);
        }
    }

    fn settings(&mut self, _: &mut Sender) {
        self.seen.settings = true;
    }
}
