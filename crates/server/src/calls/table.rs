//! The calls of one connection: their states, and what they have in common.

use std::collections::VecDeque;

use bookend_io::ConnectionId;
use bookend_wire::grpc::Status;
use bookend_wire::keepalive::TOO_MANY_PINGS;
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::call::{CallPhase, ServerCall};
use crate::call_event::{CallEvent, CallEventKind};
use crate::call_origin::CallOrigin;
use crate::counts::Counts;
use crate::head_cache::HeadCache;
use crate::kept::Kept;
use crate::limits::{CONNECTION_SEND_BUFFER_BYTES, Limits, Rate};
use crate::response_metadata::ResponseMetadata;
use crate::response_writer::ResponseWriter;
use crate::status;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// What a slot for a call takes, with its request's progress.
const SLOT_BYTES: usize = size_of::<ServerCall>() + size_of::<RequestProgress>();

/// What a connection's calls have in common, and their states by the index of their stream.
pub(crate) struct CallTable {
    pub responses: ResponseWriter,
    pub origin: CallOrigin,
    /// The client's SETTINGS have come.
    pub preface_received: bool,
    /// The client did what it may not: the connection is to be closed.
    pub limit_exceeded: bool,
    /// The client has read that the connection takes no more calls.
    pub goaway_acknowledged: bool,
    pub(super) resets: TokenBucket,
    glitches: TokenBucket,
    pub(super) panics: u64,
    pub(super) heads: HeadCache,
    /// What the handler that runs right now adds to its answer.
    pub(super) metadata: ResponseMetadata,
    pub(super) calls: Vec<ServerCall>,
    /// What all of them keep, as counted at the last step of each stream: an upper bound.
    pub(super) kept: Kept,
    /// What flow control holds back of all streams, as counted at the last step of each stream: an
    /// upper bound.
    pub(super) blocked_bytes: usize,
    /// Streams that wait for their turn, the one that has waited longest first.
    pub(super) ready: VecDeque<StreamKey>,
    /// Of requests that are waited for, by the index of their stream.
    pub(super) request_progress: Vec<RequestProgress>,
}

/// One call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId {
    pub id: ConnectionId,
    pub stream: StreamKey,
}

/// How much of a request had come at the last check, and since when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestProgress {
    pub stream_id: u32,
    pub received_bytes: usize,
    pub since_ns: u64,
}

impl CallTable {
    pub fn new(origin: CallOrigin, limits: &Limits) -> Self {
        CallTable {
            responses: ResponseWriter::new(),
            origin,
            preface_received: false,
            limit_exceeded: false,
            goaway_acknowledged: false,
            resets: TokenBucket::new(limits.resets),
            glitches: TokenBucket::new(limits.glitches),
            panics: 0,
            heads: HeadCache::default(),
            metadata: ResponseMetadata::default(),
            calls: Vec::new(),
            kept: Kept::default(),
            blocked_bytes: 0,
            ready: VecDeque::new(),
            request_progress: Vec::new(),
        }
    }

    /// Acts on what another thread reports about a call. False if it came too late.
    pub fn handle_event(&mut self, sender: &mut Sender, event: CallEvent, limits: &Limits) -> bool {
        let stream = event.stream;
        match event.kind {
            CallEventKind::Reply(result) => {
                self.responses.outstanding -= 1;
                self.send_deferred(sender, stream, &result)
            }
            CallEventKind::Ready => {
                self.poll_stream(sender, stream, limits);
                true
            }
            CallEventKind::Recalled => {
                self.end_early(sender, stream, status::too_long_on_the_pool, limits);
                true
            }
            // It is for `RequestVisitor::prepared`.
            CallEventKind::Prepared(_) => true,
            CallEventKind::HandlerFinished { late, .. } => {
                self.responses.outstanding -= 1;
                self.poll_stream(sender, stream, limits);
                !late
            }
        }
    }

    /// Sends a deferred answer. False if the call is over already.
    fn send_deferred(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        result: &Result<Vec<u8>, Status>,
    ) -> bool {
        if !self.has(stream) || !sender.is_open(stream) {
            return false;
        }
        let call = self.call(stream);
        let CallPhase::Deferred(fields) = &mut call.phase else {
            return false;
        };
        let fields = fields.take();
        call.phase = CallPhase::OVER;
        self.responses.deferred(sender, stream, fields.as_deref(), result);
        true
    }

    /// Moves what was counted since the last report to `counts`. Returns how many answers are now
    /// expected from other threads.
    #[inline]
    pub fn report(&mut self, counts: &mut Counts) -> u64 {
        let responses = std::mem::take(&mut self.responses.counts);
        counts.answered_ok += responses.ok;
        counts.answered_error += responses.error;
        counts.panics += std::mem::take(&mut self.panics);
        responses.deferred
    }

    /// Memory held for requests, heads and streaming calls, bytes: an upper bound.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.kept.held_bytes + self.heads.held_bytes()
    }

    /// Memory held for streams that wait for their turn, bytes: what is not counted with the calls.
    pub fn queue_bytes(&self) -> usize {
        self.ready.capacity() * size_of::<StreamKey>()
    }

    /// Whether parts of requests are kept.
    pub fn keeps_requests(&self) -> bool {
        self.kept.unfinished_bytes > 0
    }

    /// No stream is left: gives back what is kept for the next ones. Heads that are cached are
    /// forgotten, so the wire must forget their tokens.
    pub fn give_back(&mut self) {
        let slot_bytes = self.calls.capacity() * SLOT_BYTES;
        let nothing_else = Kept { unfinished_bytes: 0, held_bytes: slot_bytes };
        if self.kept == nothing_else && self.blocked_bytes == 0 {
            self.kept = Kept::default();
            self.heads = HeadCache::default();
            self.calls = Vec::new();
            self.ready = VecDeque::new();
            self.request_progress = Vec::new();
        }
    }

    /// Whether streams wait for their turn and could make use of it.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty() && self.blocked_bytes < CONNECTION_SEND_BUFFER_BYTES
    }

    /// Charges the client for what it did that was wrong or useless.
    #[cold]
    pub fn take_glitches(&mut self, sender: &mut Sender, now_ns: impl FnOnce() -> u64) {
        let what = if sender.glitches_are_pings() {
            TOO_MANY_PINGS
        } else {
            "too much that was wrong or useless"
        };
        let glitches = sender.take_glitches();
        if !self.glitches.take(glitches, now_ns) {
            self.exceed_limit(sender, what);
        }
    }

    /// The client has exceeded a limit: sends GOAWAY, once, and has the connection closed.
    pub(super) fn exceed_limit(&mut self, sender: &mut Sender, what: &str) {
        if !std::mem::replace(&mut self.limit_exceeded, true) {
            sender.goaway(ErrorCode::ENHANCE_YOUR_CALM, what.as_bytes());
        }
    }

    /// Whether the call of that stream is known: not if the wire ended it at its head.
    pub(super) fn has(&self, stream: StreamKey) -> bool {
        self.calls.get(stream.index as usize).is_some_and(|call| call.is(stream))
    }

    /// Whether that call is not over yet.
    pub fn is_open(&self, stream: StreamKey) -> bool {
        let call = self.calls.get(stream.index as usize);
        call.is_some_and(|call| call.is(stream) && !matches!(call.phase, CallPhase::Over { .. }))
    }

    /// Whether the stream has a unary call of which nothing but the head has come.
    #[inline]
    pub(super) fn awaits(&self, stream: StreamKey) -> bool {
        let call = self.calls.get(stream.index as usize);
        call.is_some_and(|call| call.is(stream) && matches!(call.phase, CallPhase::Awaiting))
    }

    #[inline]
    pub(super) fn call(&mut self, stream: StreamKey) -> &mut ServerCall {
        &mut self.calls[stream.index as usize]
    }

    /// Puts a call in its slot. What stood there belonged to a stream that has ended.
    #[inline]
    pub(super) fn enter(&mut self, stream: StreamKey, call: ServerCall) {
        match self.calls.get_mut(stream.index as usize) {
            Some(slot) => *slot = call,
            None => self.enter_new(stream, call),
        }
    }

    #[cold]
    fn enter_new(&mut self, stream: StreamKey, call: ServerCall) {
        let slots = self.calls.capacity();
        self.calls.resize_with(stream.index as usize + 1, ServerCall::none);
        self.kept.held_bytes += (self.calls.capacity() - slots) * SLOT_BYTES;
        self.calls[stream.index as usize] = call;
    }

    /// Takes a call out of its phase: it is over, whatever still comes on its stream.
    pub(super) fn leave(&mut self, stream: StreamKey) -> CallPhase {
        let call = self.call(stream);
        let head = call.head.take();
        let phase = std::mem::replace(&mut call.phase, CallPhase::OVER);
        if let Some(head) = head {
            self.heads.release(head);
        }
        let kept = match &phase {
            CallPhase::Receiving(request) => request.kept(),
            CallPhase::Preparing(preparation) => Kept::exactly(preparation.bytes),
            CallPhase::Streaming(streaming) => {
                self.blocked_bytes -= streaming.blocked_bytes;
                streaming.charged
            }
            CallPhase::Over { .. } | CallPhase::Awaiting | CallPhase::Deferred(_) => {
                Kept::default()
            }
        };
        self.kept.replace(kept, Kept::default());
        phase
    }

    /// Ends a call that has sent nothing yet.
    pub(super) fn fail(&mut self, sender: &mut Sender, stream: StreamKey, status: &Status) {
        self.leave(stream);
        self.responses.fail(sender, stream, status);
    }
}

/// Tokens, one for each event, that fill up with time.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    limit: Option<Rate>,
    /// When it was, or would have been, full: this one number is the bucket's whole state.
    full_at_ns: u64,
}

impl TokenBucket {
    /// A full bucket; without a limit, one that is never empty.
    fn new(limit: Option<Rate>) -> Self {
        TokenBucket { limit, full_at_ns: 0 }
    }

    /// Takes a token for each of `events` events; false, and takes none, if there are too few.
    pub fn take(&mut self, events: u32, now_ns: impl FnOnce() -> u64) -> bool {
        let Some(limit) = self.limit else { return true };
        let now_ns = now_ns();
        let token_ns = NS_PER_SECOND / u64::from(limit.per_second.max(1));
        let full_at_ns = self.full_at_ns.max(now_ns) + token_ns * u64::from(events);
        let allowed = full_at_ns - now_ns <= token_ns * u64::from(limit.burst);
        if allowed {
            self.full_at_ns = full_at_ns;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_a_rate() {
        let limit = Rate { burst: 3, per_second: 2 };
        let mut bucket = TokenBucket::new(Some(limit));
        let start_ns = 77 * NS_PER_SECOND;
        let mut taken = |after_ms: u64| bucket.take(1, || start_ns + after_ms * 1_000_000);
        assert!(taken(0) && taken(0) && taken(0));
        assert!(!taken(0) && !taken(499));
        assert!(taken(500) && !taken(500));
        assert!(taken(60_000) && taken(60_000) && taken(60_000));
        assert!(!taken(60_000), "no more than a burst is saved up");
        assert!(bucket.take(2, || start_ns + 61_000_000_000));
        assert!(!bucket.take(2, || start_ns + 61_000_000_000));
    }

    #[test]
    fn without_a_limit_no_clock_is_read() {
        let mut bucket = TokenBucket::new(None);
        assert!(bucket.take(1, || panic!("not needed")));
    }
}
