//! Streaming calls of a connection: each goes on as far as there is room, and then waits for its
//! turn or for its client.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::{Code, Status};
use bookend_wire::{Sender, StreamKey};

use super::deadlines::exceeded;
use super::{Calls, Handling};
use crate::Context;
use crate::budgets::{CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, INFLATED_TURN_BYTES};
use crate::call::Phase;
use crate::heads::HeadIndex;
use crate::limits::Limits;
use crate::reply::internal;
use crate::stream_call::{Machine, StreamCall, Waits};
use crate::stream_reply::{Outlet, Progress};
use crate::unary;

impl Handling<'_> {
    pub(super) fn open_stream(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
    ) {
        self.held = None;
        let now_ns = deadline_ns.map_or(0, |_| self.io.now_ns());
        if deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
            return self.calls.fail(sender, stream, &exceeded());
        }
        let head = self.calls.heads.head(index);
        let target = self.router.target(head.route);
        let context = Context {
            head,
            compressed: false,
            response: &self.calls.metadata,
            deadline_ns,
            now_ns,
        };
        let open = || target.service.open(target.method, &context);
        let opened = catch_unwind(AssertUnwindSafe(open));
        let (encoding, accepts_gzip) = (head.encoding, head.accepts_gzip);
        // In any case: what one handler has said must not go with the answer of the next.
        let fields = self.calls.metadata.take();
        match opened {
            Ok(Some(handler)) => {
                if let Some(mistake) = fields.mistake {
                    return self.calls.fail(sender, stream, &internal(mistake));
                }
                let progress = Progress::new(fields, accepts_gzip);
                let machine = Machine::inline(handler);
                let call = Box::new(StreamCall::new(machine, encoding, progress));
                self.calls.call(stream).phase = Phase::Streaming(call);
                self.watch(stream);
            }
            Ok(None) => {
                let status = Status::new(Code::Unimplemented, "unknown method");
                self.calls.fail(sender, stream, &status);
            }
            Err(_) => {
                self.calls.panics += 1;
                let status = internal("the handler panicked");
                self.calls.fail(sender, stream, &status);
            }
        }
    }

    /// Lets a streaming call go on, now that something has come for it.
    pub(super) fn stream_step(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        step: impl FnOnce(&mut StreamCall, Outlet<'_>, usize),
    ) {
        self.held = None;
        self.calls.stream_step(sender, stream, self.limits, step);
    }
}

impl Calls {
    /// Whether streams wait for their turn and could make use of it.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty() && self.held_bytes < CONNECTION_SEND_BUFFER_BYTES
    }

    /// A handler on another thread has left something, or has made room.
    pub fn look(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        if self.has(stream) {
            self.stream_step(sender, stream, limits, StreamCall::look);
        }
    }

    /// Gives each stream that waits for it one turn, as long as the connection's output has room.
    pub fn take_turns(&mut self, sender: &mut Sender, limits: &Limits) {
        for _ in 0..self.ready.len() {
            let has_inflated = self.answers.tally.inflated_bytes > INFLATED_TURN_BYTES;
            let is_full = sender.output.len() >= CONNECTION_OUTPUT_BYTES;
            if !self.is_ready() || is_full || has_inflated {
                return;
            }
            let Some(stream) = self.ready.pop_front() else {
                return;
            };
            if self.has(stream) {
                self.stream_step(sender, stream, limits, |call, outlet, limit_bytes| {
                    call.in_ready = false;
                    call.take_turn(outlet, limit_bytes);
                });
            }
        }
    }

    /// Lets a streaming call go on; takes it out once it has ended.
    pub(super) fn stream_step(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        limits: &Limits,
        step: impl FnOnce(&mut StreamCall, Outlet<'_>, usize),
    ) {
        let call = &mut self.calls[stream.index as usize];
        let Phase::Streaming(streaming) = &mut call.phase else {
            return;
        };
        let others_held_bytes = self.held_bytes - streaming.held_bytes;
        let mut outlet = Outlet {
            sender,
            answers: &mut self.answers,
            stream,
            others_held_bytes,
        };
        let run = || step(streaming, outlet.again(), limits.max_message_bytes);
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            self.panics += 1;
            streaming.fail(outlet.again(), internal("the handler panicked"));
        }
        self.unfinished_bytes -= streaming.charged_bytes;
        streaming.charged_bytes = streaming.unfinished_bytes();
        self.unfinished_bytes += streaming.charged_bytes;
        streaming.held_bytes = sender.blocked_bytes(stream);
        self.held_bytes = others_held_bytes + streaming.held_bytes;
        sender.release(stream, streaming.take_releasable());
        if streaming.has_ended() {
            self.leave_stream(sender, stream);
        } else if streaming.waits() == Waits::ForTurn && !streaming.in_ready {
            streaming.in_ready = true;
            self.ready.push_back(stream);
        }
        if self.unfinished_bytes > limits.max_unfinished_bytes {
            self.make_room(sender, stream, limits);
        }
    }

    /// Ends a streaming call if there is indeed too much of requests, and it had brought the last.
    #[cold]
    pub(super) fn make_room(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        if self.recount_unfinished() <= limits.max_unfinished_bytes {
            return;
        }
        let Phase::Streaming(streaming) = &mut self.calls[stream.index as usize].phase else {
            return;
        };
        let outlet = Outlet {
            sender,
            answers: &mut self.answers,
            stream,
            others_held_bytes: 0,
        };
        streaming.fail(outlet, unary::no_room(limits.max_unfinished_bytes));
        self.leave_stream(sender, stream);
    }

    /// Counts again what is kept of requests: handlers on the pool take theirs without a word.
    #[cold]
    pub(super) fn recount_unfinished(&mut self) -> usize {
        for call in &mut self.calls {
            if let Phase::Streaming(streaming) = &mut call.phase {
                self.unfinished_bytes -= streaming.charged_bytes;
                streaming.charged_bytes = streaming.unfinished_bytes();
                self.unfinished_bytes += streaming.charged_bytes;
            }
        }
        self.unfinished_bytes
    }

    /// A streaming call is over; what it was not handed is no longer charged to its client.
    fn leave_stream(&mut self, sender: &mut Sender, stream: StreamKey) {
        if let Phase::Streaming(mut streaming) = self.leave(stream) {
            sender.release(stream, streaming.take_unreleased());
        }
    }
}
