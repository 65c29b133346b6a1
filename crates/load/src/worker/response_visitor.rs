//! Checks responses as they come, and counts the calls that end.

use super::received_goaway::ReceivedGoAway;
use crate::call::{LoadCall, token};
use crate::record::CallSink;
use bookend_wire::grpc::Status;
use bookend_wire::grpc::response::final_status;
use bookend_wire::{ErrorCode, HeaderList, Initiator, ResetQueue, Sender, StreamKey, Visitor};

/// Sees what has come on one connection in one slice of bytes.
pub(super) struct ResponseVisitor<'a> {
    now_ns: u64,
    sink: &'a mut CallSink,
    /// By stream index.
    calls: &'a mut [LoadCall],
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
        resets: &'a mut ResetQueue,
    ) -> Self {
        Self { now_ns, sink, calls, resets, unprocessed: Vec::new(), seen: Seen::default() }
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
            Ok(()) => self.sink.ok(call, self.now_ns),
            Err(status) => self.sink.failed(call, &status, self.now_ns),
        }
        call.stream_id = 0;
        self.seen.ended += 1;
        // A server may answer before it has read the whole request: the rest is not sent.
        if sender.is_blocked() && sender.blocked_bytes(stream) > 0 {
            self.resets.add(stream, sender);
            self.seen.gave_up = true;
        }
    }

    #[cold]
    fn end_unanswered(&mut self, sender: &mut Sender, stream: StreamKey, status: Status) {
        self.seen.unanswered += 1;
        self.end(sender, stream, Err(status));
    }
}

impl Visitor for ResponseVisitor<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let (token, outcome) = self.call(stream)?.headers(fields, end_stream);
        if let Some(outcome) = outcome {
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
        let Some(call) = self.call(stream) else {
            return;
        };
        if token == token::HEAD {
            call.cached_head();
            if end_stream {
                self.end(sender, stream, Err(final_status(None, None)));
            }
            return;
        }
        let outcome = call.check_body();
        self.end(sender, stream, outcome);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
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

    fn settings(&mut self, _: &mut Sender) {
        self.seen.settings = true;
    }
}
