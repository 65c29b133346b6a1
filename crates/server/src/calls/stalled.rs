//! Requests of which nothing comes any more.

use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::Calls;
use super::deadlines::exceeded;
use crate::call::Phase;

/// How much of a request had come when it was last looked at, and since when that is so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standstill {
    stream_id: u32,
    came_bytes: usize,
    since_ns: u64,
}

impl Calls {
    /// Ends the calls whose one request has not come any further for so long, and those whose
    /// deadline has passed before any of it came. Streams of messages may be silent.
    ///
    /// What is left of calls that were answered early goes the same way: such a stream stays open
    /// until its client has ended its side.
    pub fn end_stalled(&mut self, sender: &mut Sender, timeout_ns: u64, now_ns: u64) {
        for index in 0..self.calls.len() {
            let stream = StreamKey {
                index: index as u32,
                id: self.calls[index].stream_id,
            };
            let Some(came_bytes) = self.came_bytes(sender, stream) else {
                continue;
            };
            if self.stands_still_ns(stream, came_bytes, now_ns) >= timeout_ns {
                if self.is_going_on(stream) {
                    self.fail(sender, stream, &stalled());
                }
                // RFC 9113 section 8.1: the answer is out, and nobody wants the rest.
                sender.reset(stream, ErrorCode::NO_ERROR);
            } else if self.is_going_on(stream) && self.is_overdue(stream, now_ns) {
                self.fail(sender, stream, &exceeded());
            }
        }
    }

    /// Nothing that stands still now is its client's fault.
    pub fn forgive_standstills(&mut self) {
        self.standstills.clear();
    }

    /// How much has come on a stream that waits for nothing but its client to go on or to end.
    fn came_bytes(&mut self, sender: &mut Sender, stream: StreamKey) -> Option<usize> {
        let came_bytes = match &self.call(stream).phase {
            Phase::Awaiting => 0,
            Phase::Gathering(gathered) => gathered.len(),
            Phase::Over { discarded_bytes } => *discarded_bytes,
            Phase::Deferred(_) | Phase::Streaming(_) => return None,
        };
        // An answer that waits for the client's windows has a limit of its own.
        let waits = stream.id != 0 && sender.is_open(stream) && sender.blocked_bytes(stream) == 0;
        waits.then_some(came_bytes)
    }

    fn stands_still_ns(&mut self, stream: StreamKey, came_bytes: usize, now_ns: u64) -> u64 {
        let index = stream.index as usize;
        if self.standstills.len() <= index {
            self.standstills.resize(index + 1, Standstill::default());
        }
        let seen = &mut self.standstills[index];
        if (seen.stream_id, seen.came_bytes) != (stream.id, came_bytes) {
            *seen = Standstill {
                stream_id: stream.id,
                came_bytes,
                since_ns: now_ns,
            };
        }
        now_ns - seen.since_ns
    }

    fn is_overdue(&mut self, stream: StreamKey, now_ns: u64) -> bool {
        let deadline_ns = self.call(stream).deadline_ns;
        deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
    }
}

fn stalled() -> Status {
    Status::new(
        Code::DeadlineExceeded,
        "nothing of the request has come for too long",
    )
}
