//! Streaming calls of a connection: each goes on as far as there is room, and then waits for its
//! turn or for its client.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::{Sender, StreamKey};

use super::call::CallPhase;
use super::table::CallTable;
use super::visitor::RequestVisitor;
use crate::Context;
use crate::head_cache::HeadIndex;
use crate::limits::{CONNECTION_OUTPUT_BYTES, Limits, TURN_WORK_BYTES};
use crate::status;
use crate::stream_reply::{Blocked, ResponseState, StreamWriter};
use crate::streaming_call::{CallHandler, StreamingCall};

impl RequestVisitor<'_> {
    pub(super) fn open_stream(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
    ) {
        self.wake_batch = None;
        let now_ns = deadline_ns.map_or(0, |_| self.environment.io.now_ns());
        if deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
            return self.calls.fail(sender, stream, &status::deadline_exceeded());
        }
        if !self.environment.interceptors.is_empty()
            && let Err(status) = self.intercept(stream, index, deadline_ns, false)
        {
            return self.refuse(sender, stream, &status);
        }
        let head = self.calls.heads.head(index);
        let method = self.environment.router.method(head.route);
        let context = Context {
            head,
            path: &method.path,
            compressed: false,
            response: &self.calls.metadata,
            deadline_ns,
            now_ns,
            connection: &self.calls.origin,
            stream,
        };
        let open = || method.service.open(method.number, &context);
        let opened = catch_unwind(AssertUnwindSafe(open));
        let (encoding, accepts_gzip) = (head.encoding, head.accepts_gzip);
        // In any case: what one handler has added must not go with the answer of the next.
        let fields = self.calls.metadata.take();
        let result = match opened {
            Ok(Some(handler)) => fields.checked().map(|fields| (handler, fields)),
            Ok(None) => Err(status::unknown_method()),
            Err(_) => {
                self.calls.panics += 1;
                Err(status::handler_panicked())
            }
        };
        match result {
            Ok((handler, fields)) => {
                let response = ResponseState::new(fields, accepts_gzip);
                let handler = CallHandler::inline(handler);
                let mut call = Box::new(StreamingCall::new(handler, encoding, response));
                call.charge(&mut self.calls.kept);
                self.calls.call(stream).phase = CallPhase::Streaming(call);
                self.watch_deadline(stream);
            }
            Err(status) => self.calls.fail(sender, stream, &status),
        }
    }

    /// Lets a streaming call go on, now that something has come for it.
    pub(super) fn step_stream(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        step: impl FnOnce(&mut StreamingCall, StreamWriter<'_>, usize),
    ) {
        self.wake_batch = None;
        self.calls.step_stream(sender, stream, self.environment.limits, step);
    }
}

impl CallTable {
    /// A handler on another thread has left something, or has made room.
    pub(super) fn poll_stream(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        if self.has(stream) {
            self.step_stream(sender, stream, limits, StreamingCall::poll_handler);
        }
    }

    /// Gives each stream that waits for it one turn, as long as the connection's output has room.
    pub fn run_ready_streams(&mut self, sender: &mut Sender, limits: &Limits) {
        for _ in 0..self.ready.len() {
            let has_worked = self.responses.counts.work_bytes > TURN_WORK_BYTES;
            let is_full = sender.output.len() >= CONNECTION_OUTPUT_BYTES;
            if !self.is_ready() || is_full || has_worked {
                return;
            }
            let Some(stream) = self.ready.pop_front() else {
                return;
            };
            if self.has(stream) {
                self.step_stream(sender, stream, limits, |call, writer, limit_bytes| {
                    call.is_queued = false;
                    call.take_turn(writer, limit_bytes);
                });
            }
        }
    }

    /// Lets a streaming call go on; takes it out once it has ended.
    pub(super) fn step_stream(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        limits: &Limits,
        step: impl FnOnce(&mut StreamingCall, StreamWriter<'_>, usize),
    ) {
        let call = &mut self.calls[stream.index as usize];
        let CallPhase::Streaming(streaming) = &mut call.phase else {
            return;
        };
        let others_blocked_bytes = self.blocked_bytes - streaming.blocked_bytes;
        let mut writer = StreamWriter {
            sender,
            responses: &mut self.responses,
            stream,
            origin: &self.origin,
            others_blocked_bytes,
        };
        let run = || {
            step(streaming, writer.reborrow(), limits.max_message_bytes);
            streaming.note_handler();
        };
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            self.panics += 1;
            streaming.fail(writer, status::handler_panicked());
        }
        streaming.charge(&mut self.kept);
        streaming.blocked_bytes = sender.blocked_bytes(stream);
        self.blocked_bytes = others_blocked_bytes + streaming.blocked_bytes;
        sender.release(stream, streaming.take_releasable());
        if streaming.has_ended() {
            self.leave_stream(sender, stream);
        } else if streaming.blocked() == Blocked::OnTurn && !streaming.is_queued {
            streaming.is_queued = true;
            self.ready.push_back(stream);
        }
        if self.kept.unfinished_bytes > limits.max_unfinished_bytes {
            self.make_room(sender, stream, limits);
        }
    }

    /// Ends a streaming call if there is indeed too much of requests, and it brought the last.
    #[cold]
    pub(super) fn make_room(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        if self.recount_unfinished() <= limits.max_unfinished_bytes {
            return;
        }
        let CallPhase::Streaming(streaming) = &mut self.calls[stream.index as usize].phase else {
            return;
        };
        let writer = StreamWriter {
            sender,
            responses: &mut self.responses,
            stream,
            origin: &self.origin,
            others_blocked_bytes: 0,
        };
        let status = status::too_much_unfinished(limits.max_unfinished_bytes);
        streaming.fail(writer, status);
        self.leave_stream(sender, stream);
    }

    /// Counts again what is kept of requests: handlers on the pool take theirs without notice.
    #[cold]
    pub(super) fn recount_unfinished(&mut self) -> usize {
        for call in &mut self.calls {
            if let CallPhase::Streaming(streaming) = &mut call.phase {
                streaming.charge(&mut self.kept);
            }
        }
        self.kept.unfinished_bytes
    }

    /// A streaming call is over; bytes that its handler did not get are no longer charged to the
    /// client.
    fn leave_stream(&mut self, sender: &mut Sender, stream: StreamKey) {
        if let CallPhase::Streaming(mut streaming) = self.leave(stream) {
            sender.release(stream, streaming.take_unreleased());
        }
    }
}
