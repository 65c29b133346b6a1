//! What one read brings becomes work for services. The way of a unary call that is answered where
//! it arrives is the short one here; everything else lies beside it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_io::{DeadlineHeap, IoContext, WakeBatch};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ErrorCode, HeaderList, Initiator, Sender, StreamKey, Visitor};

use super::{CallOf, Calls};
use crate::Context;
use crate::call::{Call, Phase};
use crate::heads::HeadIndex;
use crate::limits::Limits;
use crate::pool::Pool;
use crate::reply::{Outcome, Reply, internal};
use crate::router::Router;
use crate::service::Kind;
use crate::stream_call::StreamCall;
use crate::unary;

/// The PING behind a GOAWAY: its answer says that the client has read that.
pub(crate) const FAREWELL_PING: [u8; 8] = *b"farewell";

/// Handles what one read has brought.
pub(crate) struct Handling<'a> {
    pub calls: &'a mut Calls,
    pub router: &'a Router,
    pub limits: &'a Limits,
    pub io: &'a IoContext,
    pub deadlines: &'a mut DeadlineHeap<CallOf>,
    pub pool: &'a Pool,
    /// While deferred handlers hand their calls to other threads: those are called once for all.
    pub held: Option<WakeBatch>,
}

impl Visitor for Handling<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if self.calls.has(stream) {
            // Trailers of a request carry nothing that gRPC reads.
            self.ended(sender, stream);
            return None;
        }
        let index = self.calls.heads.take();
        match self.calls.heads.head_mut(index).read(fields, self.router) {
            Ok(()) => {
                let known = self.calls.heads.recognise(index);
                self.begin(sender, stream, known.unwrap_or(index), end_stream);
                known.map(|index| index.0)
            }
            Err(refusal) => {
                self.calls.heads.give_back(index);
                self.calls.enter(stream, Call::over(stream));
                self.calls
                    .answers
                    .refuse(sender, stream, &refusal, self.router.page());
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
        let limit = self.limits.max_message_bytes;
        let call = self.calls.call(stream);
        if end_stream
            && let Phase::Awaiting = call.phase
            && let Some(head) = call.head
            && let Some(message) = unary::whole_message(data, limit)
        {
            call.head = None;
            call.phase = Phase::OVER;
            let deadline_ns = call.deadline_ns;
            self.handle(sender, stream, head, deadline_ns, message, false);
            // Of an answered call there is nothing left; one that waits is to cost no window.
            sender.release(stream, data.len());
        } else {
            self.data_slowly(sender, stream, data, end_stream);
        }
    }

    fn reset(&mut self, sender: &mut Sender, stream: StreamKey, _: ErrorCode, _: Initiator) {
        if self.calls.has(stream) {
            self.calls.leave(stream);
        }
        if !self.calls.resets.take(1, || self.io.now_ns()) {
            self.calls
                .is_too_much(sender, "too many streams were reset");
        }
    }

    fn settings(&mut self, _: &mut Sender) {
        self.calls.greeted = true;
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}

    fn pong(&mut self, payload: [u8; 8]) {
        self.calls.farewell_heard |= payload == FAREWELL_PING;
    }

    fn drained(&mut self, sender: &mut Sender, stream: StreamKey) {
        if self.calls.has(stream) {
            self.stream_step(sender, stream, StreamCall::drained);
        }
    }
}

impl Handling<'_> {
    #[inline]
    fn begin(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        end_stream: bool,
    ) {
        let head = self.calls.heads.head(index);
        let until = |timeout_ns| self.io.now_ns().saturating_add(timeout_ns);
        let (kind, deadline_ns) = (head.route.kind, head.timeout_ns.map(until));
        self.calls
            .enter(stream, Call::awaiting(stream, index, deadline_ns));
        match kind {
            Kind::Inline => {}
            Kind::Deferred | Kind::Pool => {
                self.may_wait(sender, stream);
            }
            Kind::PoolStream => self.open_on_pool(sender, stream, index, deadline_ns),
            Kind::Stream => self.open_stream(sender, stream, index, deadline_ns),
        }
        if end_stream {
            self.ended(sender, stream);
        }
    }

    /// Handlers that have not answered count as long as they run: a client that resets its streams
    /// gets no more of them than one that waits. If there are too many, the call is over.
    pub(super) fn may_wait(&mut self, sender: &mut Sender, stream: StreamKey) -> bool {
        let may = self.calls.answers.waiting < self.limits.running_handlers_max();
        if !may {
            self.too_many_wait(sender, stream);
        }
        may
    }

    #[cold]
    fn too_many_wait(&mut self, sender: &mut Sender, stream: StreamKey) {
        let status = Status::new(Code::ResourceExhausted, "too many calls wait for an answer");
        self.calls.fail(sender, stream, &status);
    }

    /// Runs the handler of a unary call whose request is there.
    #[inline]
    pub(super) fn handle(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
        message: &[u8],
        compressed: bool,
    ) {
        let mut now_ns = 0;
        if let Some(deadline_ns) = deadline_ns {
            now_ns = self.io.now_ns();
            if now_ns >= deadline_ns {
                return self.too_late(sender, stream, index);
            }
        }
        let calls = &mut *self.calls;
        let head = calls.heads.head(index);
        match head.route.kind {
            // Others may have begun to wait since its head came.
            Kind::Deferred if calls.answers.waiting >= self.limits.running_handlers_max() => {
                self.calls.heads.give_back(index);
                return self.too_many_wait(sender, stream);
            }
            Kind::Deferred => {
                self.held.get_or_insert_with(WakeBatch::begin);
            }
            // It should not wait for another thread. If it does, that one must have been called.
            Kind::Inline | Kind::Stream => self.held = None,
            Kind::Pool | Kind::PoolStream => {
                return self.handle_on_pool(
                    sender,
                    stream,
                    index,
                    deadline_ns,
                    message,
                    compressed,
                );
            }
        }
        let target = self.router.target(head.route);
        let context = Context {
            head,
            compressed,
            response: &calls.metadata,
            deadline_ns,
            now_ns,
        };
        calls.answers.outcome = Outcome::Nothing;
        let reply = Reply {
            sender: &mut *sender,
            answers: &mut calls.answers,
            metadata: &calls.metadata,
            address: &calls.address,
            stream,
        };
        let call = || target.service.call(target.method, message, &context, reply);
        let panicked = catch_unwind(AssertUnwindSafe(call)).is_err();
        let answered = calls.answers.outcome == Outcome::Answered;
        if panicked || !answered || calls.metadata.used() {
            self.not_simply_answered(sender, stream, panicked);
        }
        self.calls.heads.give_back(index);
    }

    #[cold]
    fn not_simply_answered(&mut self, sender: &mut Sender, stream: StreamKey, panicked: bool) {
        let calls = &mut *self.calls;
        calls.panics += u64::from(panicked);
        // Also what came after the answer, so that it does not go with that of another call.
        let fields = calls.metadata.used().then(|| calls.metadata.take());
        match calls.answers.outcome {
            Outcome::Answered => {}
            Outcome::HeadSent { output_bytes } => {
                calls.answers.encoder_panicked(sender, stream, output_bytes);
            }
            Outcome::Deferred if !panicked => {
                calls.call(stream).phase = Phase::Deferred(fields.map(Box::new));
                self.watch(stream);
            }
            Outcome::Nothing | Outcome::Deferred => {
                let why = if panicked {
                    "panicked"
                } else {
                    "gave no answer"
                };
                let status = internal(format!("the handler {why}"));
                calls.answers.fail(sender, stream, &status);
            }
        }
    }
}
