//! Calls that end before their handlers do: at their deadline, when their request stalls, or when
//! their time is up.

use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::call::CallPhase;
use super::table::{CallId, CallTable, RequestProgress};
use super::visitor::RequestVisitor;
use crate::limits::{Limits, TIGHT_PROGRESS_BYTES, TIGHT_REQUEST_TIMEOUT_NS};
use crate::status;

/// How long requests may make no progress, at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub now_ns: u64,
    /// Those of which nothing is held.
    pub request_ns: u64,
    /// Those of which a part is held.
    pub held_ns: u64,
    /// Less than this is no progress.
    pub progress_bytes: usize,
}

impl Patience {
    /// What the limits allow; `is_tight` while the server has little memory left. `None` where they
    /// allow everything.
    pub fn of(limits: &Limits, is_tight: bool, now_ns: u64) -> Option<Self> {
        let request_ns = limits.request_timeout_ns?;
        let (held_ns, progress_bytes) = if is_tight {
            (request_ns.min(TIGHT_REQUEST_TIMEOUT_NS), TIGHT_PROGRESS_BYTES)
        } else {
            (request_ns, 1)
        };
        Some(Patience { now_ns, request_ns, held_ns, progress_bytes })
    }
}

impl RequestVisitor<'_> {
    /// Notes the deadline of a call that waits for something, if it has one.
    pub(super) fn watch_deadline(&mut self, stream: StreamKey) {
        if let Some(at_ns) = self.calls.call(stream).deadline_ns {
            let id = self.calls.origin.reply_to.id;
            self.environment.deadlines.push(at_ns, CallId { id, stream });
        }
    }
}

impl CallTable {
    /// Ends a call whose deadline has passed, if it is still open.
    pub fn expire(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        self.end_early(sender, stream, status::deadline_exceeded, limits);
    }

    /// Ends all open calls with `UNAVAILABLE`, whatever their handlers do. Returns how many.
    pub fn cut_off(&mut self, sender: &mut Sender, why: &str, limits: &Limits) -> u64 {
        let mut ended = 0;
        for index in 0..self.calls.len() {
            let stream = self.stream_at(index);
            let status = || Status::new(Code::Unavailable, why);
            ended += u64::from(self.end_early(sender, stream, status, limits));
        }
        ended
    }

    /// Ends a call before its handler does. False if it is over already.
    pub(super) fn end_early(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        status: impl FnOnce() -> Status,
        limits: &Limits,
    ) -> bool {
        if !self.is_open(stream) {
            return false;
        }
        match &mut self.call(stream).phase {
            CallPhase::Over { .. } => {}
            CallPhase::Awaiting | CallPhase::Receiving(_) | CallPhase::Preparing(_) => {
                self.fail(sender, stream, &status());
            }
            CallPhase::Deferred(fields) => {
                let fields = fields.take();
                self.leave(stream);
                self.responses.deferred(sender, stream, fields.as_deref(), &Err(status()));
            }
            CallPhase::Streaming(_) if sender.blocked_bytes(stream) > 0 => {
                // The status would have to wait behind what the client does not read.
                self.leave(stream);
                self.responses.counts.error += 1;
                sender.reset(stream, ErrorCode::CANCEL);
            }
            CallPhase::Streaming(_) => {
                self.step_stream(sender, stream, limits, |call, writer, _| {
                    call.fail(writer, status());
                });
            }
        }
        true
    }

    /// Ends the calls of which a message has made no progress for as long as `patience` allows, and
    /// those whose deadline has passed before any of it came. Between messages, streams may be
    /// silent.
    ///
    /// Streams that were answered before their request had ended are reset after the same time.
    pub fn end_stalled(&mut self, sender: &mut Sender, patience: Patience, limits: &Limits) {
        let now_ns = patience.now_ns;
        for index in 0..self.calls.len() {
            let stream = self.stream_at(index);
            let Some(received_bytes) = self.received_bytes(sender, stream) else {
                if let Some(seen) = self.request_progress.get_mut(index) {
                    *seen = RequestProgress::default();
                }
                continue;
            };
            let is_held = received_bytes > 0 && self.is_open(stream);
            let timeout_ns = if is_held { patience.held_ns } else { patience.request_ns };
            if self.stalled_ns(stream, received_bytes, patience) >= timeout_ns {
                self.end_early(sender, stream, status::request_stalled, limits);
                // RFC 9113 section 8.1: the answer is out, and the rest is not needed.
                sender.reset(stream, ErrorCode::NO_ERROR);
            } else if self.is_open(stream) && self.is_overdue(stream, now_ns) {
                self.end_early(sender, stream, status::deadline_exceeded, limits);
            }
        }
    }

    /// Requests that make no progress now are not their client's fault.
    pub fn restart_request_timeouts(&mut self) {
        self.request_progress.clear();
    }

    fn stream_at(&self, index: usize) -> StreamKey {
        StreamKey { index: index as u32, id: self.calls[index].stream_id }
    }

    /// How much has come on a stream that waits for nothing but its client to go on or to end.
    fn received_bytes(&mut self, sender: &mut Sender, stream: StreamKey) -> Option<usize> {
        let received_bytes = match &self.call(stream).phase {
            CallPhase::Awaiting => 0,
            CallPhase::Receiving(request) => request.len(),
            CallPhase::Over { discarded_bytes } => *discarded_bytes,
            CallPhase::Streaming(streaming) => streaming.half_received_bytes()?,
            CallPhase::Preparing(_) | CallPhase::Deferred(_) => return None,
        };
        // An answer that waits for the client's windows has a timeout of its own.
        let waits = stream.id != 0 && sender.is_open(stream) && sender.blocked_bytes(stream) == 0;
        waits.then_some(received_bytes)
    }

    fn stalled_ns(&mut self, stream: StreamKey, received_bytes: usize, patience: Patience) -> u64 {
        let now_ns = patience.now_ns;
        let index = stream.index as usize;
        if self.request_progress.len() <= index {
            self.request_progress.resize(index + 1, RequestProgress::default());
        }
        let seen = &mut self.request_progress[index];
        let progress_bytes = received_bytes.wrapping_sub(seen.received_bytes);
        if seen.stream_id != stream.id || progress_bytes >= patience.progress_bytes {
            *seen = RequestProgress { stream_id: stream.id, received_bytes, since_ns: now_ns };
        }
        now_ns - seen.since_ns
    }

    fn is_overdue(&mut self, stream: StreamKey, now_ns: u64) -> bool {
        let deadline_ns = self.call(stream).deadline_ns;
        deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
    }
}
