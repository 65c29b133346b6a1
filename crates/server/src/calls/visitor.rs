//! The way of a request from the bytes of a read to its handler.
//!
//! A unary call whose handler answers in place takes the short way, which this page shows from top
//! to bottom:
//!
//! 1. HEADERS: `headers` reads the head, or `cached_headers` recognises one that came before;
//!    `begin` enters the call into the connection's table.
//! 2. DATA: `data` finds one whole message in the frame.
//! 3. `handle` looks at the deadline and calls the handler, whose [`Reply`] writes the response's
//!    head, message and trailers straight into the connection's output.
//!
//! If the head is known and both frames lie whole in what was read, `whole_request` stands for the
//! first two steps. Such a call is in no table: its stream begins and ends within the third. The
//! frames of other calls may stand between the two: the head then waits in the wire
//! (`head_may_wait`), and only if its body is not in the read does the call take the first step.
//!
//! Everything else leaves this way into a file of its own: `bodies` (a message in several frames,
//! or compressed), `streams`, `pooled` and `timeouts`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_io::{DeadlineHeap, IoContext, WakeBatch};
use bookend_wire::grpc::message::PREFIX_BYTES;
use bookend_wire::{ErrorCode, HeaderList, Initiator, Sender, StreamKey, Visitor, WholeRequest};

use super::call::{CallPhase, ServerCall};
use super::table::{CallId, CallTable};
use crate::Context;
use crate::head_cache::HeadIndex;
use crate::interceptor::Interceptor;
use crate::limits::{Limits, TURN_WORK_BYTES};
use crate::method::HandlerKind;
use crate::pool::PoolJob;
use crate::pool::threads::Threads;
use crate::rejection::RequestRejection;
use crate::reply::Reply;
use crate::response_writer::HandlerOutcome;
use crate::router::Router;
use crate::status;
use crate::streaming_call::StreamingCall;
use crate::unary_request::whole_message;

/// The payload of the PING behind a GOAWAY: once it is acknowledged, the client has read the
/// GOAWAY.
pub(crate) const GOAWAY_PING: [u8; 8] = *b"farewell";

/// Handles the requests that one read has brought.
pub(crate) struct RequestVisitor<'a> {
    /// The calls of the connection that was read.
    pub calls: &'a mut CallTable,
    pub environment: CallEnvironment<'a>,
    /// Held while deferred handlers hand their calls to other threads, which are woken once for
    /// all of them.
    pub wake_batch: Option<WakeBatch>,
}

/// What calls need in addition to their connection: it belongs to the thread, or to the whole
/// server.
pub(crate) struct CallEnvironment<'a> {
    pub router: &'a Router,
    pub limits: &'a Limits,
    pub pool: &'a Threads<PoolJob>,
    pub interceptors: &'a [Box<dyn Interceptor>],
    pub deadlines: &'a mut DeadlineHeap<CallId>,
    /// The clock of this read.
    pub io: &'a IoContext,
}

/// The request of a unary call, once all of it is there.
#[derive(Clone, Copy)]
pub(super) struct UnaryRequest<'a> {
    pub stream: StreamKey,
    pub head: HeadIndex,
    pub deadline_ns: Option<u64>,
    pub message: &'a [u8],
    pub was_compressed: bool,
}

impl Visitor for RequestVisitor<'_> {
    const TAKES_WHOLE_REQUESTS: bool = true;

    /// The others have their turn first.
    #[inline]
    fn wants_a_break(&self) -> bool {
        self.calls.responses.counts.work_bytes > TURN_WORK_BYTES
    }

    /// A byte of a list counts as one that is inflated, which takes 1 to 3 ns. Decoding it takes
    /// 0.1 ns where it is copied out of the table, 0.9 in fields of two bytes, and 1.9 under
    /// Huffman; with what the server makes of it, not twice that.
    fn decoded(&mut self, list_bytes: usize) {
        self.calls.responses.counts.work_bytes += list_bytes;
    }

    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if self.calls.has(stream) {
            // Trailers of a request carry nothing that gRPC reads.
            self.request_ended(sender, stream);
            return None;
        }
        let index = self.calls.heads.take();
        let read = self.read_head(index, fields);
        self.calls.heads.count(index);
        match read {
            Ok(()) => {
                let cached = self.calls.heads.find_or_cache(index);
                self.begin(sender, stream, cached.unwrap_or(index), end_stream);
                cached.map(|index| index.0)
            }
            Err(rejection) => {
                self.calls.heads.release(index);
                self.calls.enter(stream, ServerCall::over(stream));
                self.reject(sender, stream, fields, &rejection);
                None
            }
        }
    }

    #[inline]
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        self.begin(sender, stream, HeadIndex(token), end_stream);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let limit_bytes = self.environment.limits.max_message_bytes;
        let call = self.calls.call(stream);
        if end_stream
            && let CallPhase::Awaiting = call.phase
            && let Some(head) = call.head
            && let Some(message) = whole_message(data, limit_bytes)
        {
            call.head = None;
            call.phase = CallPhase::OVER;
            let request = UnaryRequest {
                stream,
                head,
                deadline_ns: call.deadline_ns,
                message,
                was_compressed: false,
            };
            self.handle(sender, request);
            // Does nothing where the call is answered; where it waits, opens the window again.
            sender.release(stream, data.len());
        } else {
            self.data_in_pieces(sender, stream, data, end_stream);
        }
    }

    #[inline(always)]
    fn head_may_wait(&self, _: StreamKey, head: u32) -> bool {
        self.is_answered_in_place(HeadIndex(head))
    }

    #[inline]
    fn end_may_join(&self, stream: StreamKey) -> bool {
        !stream.is_listed() || self.calls.awaits(stream)
    }

    #[inline(always)]
    fn takes_whole_request(&self, request: WholeRequest<'_>) -> bool {
        self.is_answered_in_place(HeadIndex(request.head))
            && whole_message(request.body, self.environment.limits.max_message_bytes).is_some()
    }

    #[inline(always)]
    fn whole_request(&mut self, sender: &mut Sender, request: WholeRequest<'_>) {
        let WholeRequest { stream, head, body } = request;
        let head = HeadIndex(head);
        let message = body.get(PREFIX_BYTES..).unwrap_or_default();
        let mut request =
            UnaryRequest { stream, head, deadline_ns: None, message, was_compressed: false };
        if let Some(timeout_ns) = self.calls.heads.head(head).timeout_ns {
            request.deadline_ns = Some(self.environment.io.now_ns().saturating_add(timeout_ns));
            return self.handle(sender, request);
        }
        // All that `handle` would look at: no deadline, and by `takes_whole_request` no interceptor
        // and no thread but this one.
        self.wake_batch = None;
        self.call_handler(sender, request, 0);
    }

    fn reset(&mut self, sender: &mut Sender, stream: StreamKey, _: ErrorCode, _: Initiator) {
        if self.calls.has(stream) {
            self.calls.leave(stream);
        }
        if !self.calls.resets.take(1, || self.environment.io.now_ns()) {
            self.calls.exceed_limit(sender, "too many streams were reset");
        }
    }

    fn settings(&mut self, _: &mut Sender) {
        self.calls.preface_received = true;
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}

    fn pong(&mut self, payload: [u8; 8]) {
        self.calls.goaway_acknowledged |= payload == GOAWAY_PING;
    }

    fn drained(&mut self, sender: &mut Sender, stream: StreamKey) {
        if self.calls.has(stream) {
            self.step_stream(sender, stream, StreamingCall::window_opened);
        }
    }
}

impl RequestVisitor<'_> {
    /// Whether requests with that head are answered before anything else is read.
    #[inline(always)]
    fn is_answered_in_place(&self, index: HeadIndex) -> bool {
        let head = self.calls.heads.head(index);
        head.route.kind == HandlerKind::Inline && self.environment.interceptors.is_empty()
    }

    fn read_head(&mut self, index: HeadIndex, fields: &HeaderList) -> Result<(), RequestRejection> {
        let head = self.calls.heads.head_mut(index);
        let fields = head.read(fields)?;
        head.route = self.environment.router.find(fields.path, fields.codec)?;
        head.read_encodings(&fields)
    }

    /// Begins the call of a stream whose head is known.
    #[inline]
    fn begin(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        end_stream: bool,
    ) {
        let head = self.calls.heads.head(index);
        let until = |timeout_ns| self.environment.io.now_ns().saturating_add(timeout_ns);
        let (kind, deadline_ns) = (head.route.kind, head.timeout_ns.map(until));
        self.calls.enter(stream, ServerCall::awaiting(stream, index, deadline_ns));
        match kind {
            HandlerKind::Inline => {}
            HandlerKind::Deferred | HandlerKind::Pool => {
                self.admit_handler(sender, stream);
            }
            HandlerKind::PoolStream => self.open_on_pool(sender, stream, index, deadline_ns),
            HandlerKind::Stream => self.open_stream(sender, stream, index, deadline_ns),
        }
        if end_stream {
            self.request_ended(sender, stream);
        }
    }

    /// Runs the handler of a unary call.
    #[inline]
    pub(super) fn handle(&mut self, sender: &mut Sender, request: UnaryRequest<'_>) {
        let mut now_ns = 0;
        if let Some(deadline_ns) = request.deadline_ns {
            now_ns = self.environment.io.now_ns();
            if now_ns >= deadline_ns {
                return self.deadline_exceeded(sender, request);
            }
        }
        let calls = &mut *self.calls;
        let head = calls.heads.head(request.head);
        match head.route.kind {
            // These should not wait for another thread. If one does, that thread must be awake.
            HandlerKind::Inline | HandlerKind::Stream => self.wake_batch = None,
            HandlerKind::Deferred => {
                // Other handlers may have begun since its head came.
                if calls.responses.outstanding >= self.environment.limits.max_running_handlers() {
                    calls.heads.release(request.head);
                    return self.too_many_handlers(sender, request.stream);
                }
                self.wake_batch.get_or_insert_with(WakeBatch::begin);
            }
            HandlerKind::Pool | HandlerKind::PoolStream => {
                return self.handle_on_pool(sender, request);
            }
        }
        if !self.environment.interceptors.is_empty() {
            let UnaryRequest { stream, head, deadline_ns, was_compressed, .. } = request;
            if let Err(status) = self.intercept(stream, head, deadline_ns, was_compressed) {
                self.calls.heads.release(head);
                return self.refuse(sender, stream, &status);
            }
        }
        self.call_handler(sender, request, now_ns);
    }

    /// Calls the handler of a unary call that may begin. `now_ns` is 0 where nobody has looked.
    fn call_handler(&mut self, sender: &mut Sender, request: UnaryRequest<'_>, now_ns: u64) {
        let calls = &mut *self.calls;
        let head = calls.heads.head(request.head);
        let method = self.environment.router.method(head.route);
        let context = Context {
            head,
            path: &method.path,
            compressed: request.was_compressed,
            response: &calls.metadata,
            deadline_ns: request.deadline_ns,
            now_ns,
            connection: &calls.origin,
            stream: request.stream,
        };
        calls.responses.outcome = HandlerOutcome::Nothing;
        let reply = Reply {
            sender: &mut *sender,
            responses: &mut calls.responses,
            metadata: &calls.metadata,
            reply_to: &calls.origin.reply_to,
            stream: request.stream,
        };
        let call = || {
            method.service.call(method.number, request.message, &context, reply);
        };
        let panicked = catch_unwind(AssertUnwindSafe(call)).is_err();
        let answered = calls.responses.outcome == HandlerOutcome::Answered;
        if panicked || !answered || calls.metadata.is_used() {
            self.not_simply_answered(sender, request, panicked);
        }
        self.calls.heads.release(request.head);
    }

    #[cold]
    fn not_simply_answered(
        &mut self,
        sender: &mut Sender,
        request: UnaryRequest<'_>,
        panicked: bool,
    ) {
        let calls = &mut *self.calls;
        calls.panics += u64::from(panicked);
        // Also what was set after the answer: it must not go out with that of another call.
        let fields = calls.metadata.is_used().then(|| calls.metadata.take());
        if calls.responses.outcome == HandlerOutcome::Answered {
            return;
        }
        let stream = sender.enlist(request.stream);
        if stream != request.stream {
            let call = ServerCall::over(stream);
            calls.enter(stream, ServerCall { deadline_ns: request.deadline_ns, ..call });
        }
        match calls.responses.outcome {
            HandlerOutcome::Answered => {}
            HandlerOutcome::HeadSent { output_bytes } => {
                calls.responses.encoder_panicked(sender, stream, output_bytes);
            }
            HandlerOutcome::Deferred if !panicked => {
                calls.call(stream).phase = CallPhase::Deferred(fields.map(Box::new));
                self.watch_deadline(stream);
            }
            HandlerOutcome::Nothing | HandlerOutcome::Deferred => {
                let status = if panicked {
                    status::handler_panicked()
                } else {
                    status::internal("the handler gave no answer")
                };
                calls.responses.fail(sender, stream, &status);
            }
        }
        // Does nothing where the call is answered; where it waits, opens the window again.
        sender.release(stream, PREFIX_BYTES + request.message.len());
    }

    /// Ends a call whose deadline passed before its handler could begin.
    #[cold]
    fn deadline_exceeded(&mut self, sender: &mut Sender, request: UnaryRequest<'_>) {
        self.calls.heads.release(request.head);
        let status = status::deadline_exceeded();
        let stream = sender.enlist(request.stream);
        self.calls.responses.fail(sender, stream, &status);
    }

    /// Whether a call may begin. A handler counts until it has answered, even if its stream was
    /// reset: so a client that resets its streams has no more handlers than one that waits. If
    /// there are too many, the call fails.
    pub(super) fn admit_handler(&mut self, sender: &mut Sender, stream: StreamKey) -> bool {
        let limits = self.environment.limits;
        let admitted = self.calls.responses.outstanding < limits.max_running_handlers();
        if !admitted {
            self.too_many_handlers(sender, stream);
        }
        admitted
    }

    #[cold]
    fn too_many_handlers(&mut self, sender: &mut Sender, stream: StreamKey) {
        self.calls.fail(sender, stream, &status::too_many_handlers());
    }
}
