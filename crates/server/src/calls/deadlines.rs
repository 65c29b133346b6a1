//! Deadlines of a connection's calls.

use bookend_io::ConnectionId;
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::{Calls, Handling};
use crate::call::Phase;
use crate::heads::HeadIndex;
use crate::limits::Limits;

/// One call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallOf {
    pub id: ConnectionId,
    pub stream: StreamKey,
}

impl Handling<'_> {
    /// Has a call that waits for something end at its deadline, if it has one.
    pub(super) fn watch(&mut self, stream: StreamKey) {
        if let Some(at_ns) = self.calls.call(stream).deadline_ns {
            let id = self.calls.address.id;
            self.deadlines.push(at_ns, CallOf { id, stream });
        }
    }

    /// Answers a call whose deadline has passed before its handler could begin.
    #[cold]
    pub(super) fn too_late(&mut self, sender: &mut Sender, stream: StreamKey, index: HeadIndex) {
        self.calls.heads.give_back(index);
        self.calls.answers.fail(sender, stream, &exceeded());
    }
}

impl Calls {
    /// Whether that call is not over yet.
    pub fn is_going_on(&self, stream: StreamKey) -> bool {
        let call = self.calls.get(stream.index as usize);
        call.is_some_and(|call| call.is(stream) && !matches!(call.phase, Phase::Over { .. }))
    }

    /// Ends a call whose deadline has passed, if it is still going on.
    pub fn expire(&mut self, sender: &mut Sender, stream: StreamKey, limits: &Limits) {
        self.end_early(sender, stream, exceeded, limits);
    }

    /// Ends all calls that are going on, whatever their handlers do. Returns how many.
    pub fn cut_off(
        &mut self,
        sender: &mut Sender,
        status: impl Fn() -> Status,
        limits: &Limits,
    ) -> u64 {
        let mut ended = 0;
        for index in 0..self.calls.len() {
            let id = self.calls[index].stream_id;
            let index = index as u32;
            let was_going_on = self.end_early(sender, StreamKey { index, id }, &status, limits);
            ended += u64::from(was_going_on);
        }
        ended
    }

    /// Ends a call before its handler does. False if it is over already.
    fn end_early(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        status: impl FnOnce() -> Status,
        limits: &Limits,
    ) -> bool {
        if !self.is_going_on(stream) {
            return false;
        }
        match &mut self.call(stream).phase {
            Phase::Over { .. } => {}
            Phase::Awaiting | Phase::Gathering(_) => self.fail(sender, stream, &status()),
            Phase::Deferred(fields) => {
                let fields = fields.take();
                self.leave(stream);
                self.answers
                    .deferred(sender, stream, fields.as_deref(), &Err(status()));
            }
            Phase::Streaming(_) if sender.blocked_bytes(stream) > 0 => {
                // The status would have to wait behind what the client does not read.
                self.leave(stream);
                self.answers.tally.error += 1;
                sender.reset(stream, ErrorCode::CANCEL);
            }
            Phase::Streaming(_) => self.stream_step(sender, stream, limits, |call, outlet, _| {
                call.fail(outlet, status());
            }),
        }
        true
    }
}

pub(super) fn exceeded() -> Status {
    Status::new(Code::DeadlineExceeded, "the deadline has passed")
}
