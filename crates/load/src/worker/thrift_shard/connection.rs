//! One connection of Thrift: requests go out, replies come in the same order and are checked.

use crate::call::LoadCall;
use crate::record::{CallSink, DEADLINE_EXCEEDED};
use crate::thrift::{ReplyFault, SequenceIds, ThriftCall};
use crate::worker::state::WorkerState;
use crate::worker::thrift_replies::ThriftReplies;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use std::collections::VecDeque;

const BEHIND_A_LATE_ONE: &str =
    "the connection was closed, because a call before this one on it had passed its deadline";

/// One connection and its calls in flight.
#[derive(Debug)]
pub(super) struct ThriftConnection {
    pub id: ConnectionId,
    /// Which of the worker's connections this is.
    pub number: u32,
    /// Calls to keep in flight; in an open loop, at most.
    pub concurrency: u32,
    /// Whether any call was answered on it.
    pub has_answered: bool,
    /// Whether a call was made on it.
    pub made_calls: bool,
    /// The server's place in the worker's `PeerTable`.
    peer: u32,
    sequence_ids: SequenceIds,
    /// In the order in which they were sent. Their ids are sequence ids.
    calls: VecDeque<LoadCall>,
    /// The number of these, from the end, that have no start yet.
    unstamped: usize,
    pub replies: ThriftReplies,
}

impl ThriftConnection {
    pub fn new(
        id: ConnectionId,
        number: u32,
        peer: u32,
        concurrency: u32,
        reply_max_bytes: u32,
    ) -> Self {
        Self {
            id,
            number,
            concurrency,
            has_answered: false,
            made_calls: false,
            peer,
            sequence_ids: SequenceIds::default(),
            calls: VecDeque::new(),
            unstamped: 0,
            replies: ThriftReplies::new(reply_max_bytes),
        }
    }

    /// Bytes have come: replies are checked and counted.
    ///
    /// # Errors
    /// They are no replies to calls in flight: the connection is of no use any more.
    #[inline]
    pub fn receive(
        &mut self,
        call: &ThriftCall,
        bytes: &[u8],
        now_ns: u64,
        sink: &mut CallSink,
    ) -> Result<(), ReplyFault> {
        sink.at_peer(self.peer);
        let Self { replies, calls, has_answered, .. } = self;
        replies.receive(call, bytes, |sequence_id, outcome| {
            *has_answered |= !calls.is_empty();
            end_call(calls, sequence_id, outcome, now_ns, sink)
        })
    }

    /// Makes the calls that are missing, as far as the pace allows. Their start is stamped by
    /// [`ThriftConnection::stamp_starts`], just before they are written.
    #[inline]
    pub fn make_calls(&mut self, call: &ThriftCall, state: &mut WorkerState, io: &mut IoContext) {
        let missing = u64::from(self.concurrency).saturating_sub(self.calls.len() as u64);
        let count = state.pace.allowed(io.now_ns()).min(missing);
        if count > 0 {
            self.write_calls(call, count, state, io);
            state.pace.made(count);
        }
    }

    /// Whether a call of an open loop may be made on it.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.calls.len() < self.concurrency as usize
    }

    /// Makes the call of an open loop that is due next. Its start is stamped by
    /// [`ThriftConnection::stamp_starts`].
    pub fn make_due_call(
        &mut self,
        call: &ThriftCall,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) {
        let intended_ns = state.pace.due_ns();
        let has_waited = state.room.find(intended_ns, io.now_ns());
        self.write_calls(call, 1, state, io);
        if let Some(made) = self.calls.back_mut() {
            made.set_due(intended_ns, has_waited);
        }
        state.pace.pass_due_call();
    }

    #[inline]
    fn write_calls(
        &mut self,
        call: &ThriftCall,
        count: u64,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) {
        let output = io.output(self.id);
        for _ in 0..count {
            let sequence_id = self.sequence_ids.take();
            call.write(state.pace.next_number(), sequence_id, output);
            state.pace.advance_number(1);
            self.calls.push_back(LoadCall::new(sequence_id, state.calls.by_number()));
        }
        self.unstamped += count as usize;
        self.made_calls = true;
        state.calls.began(count);
    }

    /// The calls that were made since the last time start now: their bytes are about to be written.
    /// Where they get no reply, `writable` is called once they are.
    #[inline]
    pub fn stamp_starts(&mut self, call: &ThriftCall, sink: &mut CallSink, io: &IoContext) {
        if self.unstamped == 0 {
            return;
        }
        let start_ns = io.clock_ns();
        let first = self.calls.len() - std::mem::take(&mut self.unstamped);
        for call in self.calls.range_mut(first..) {
            call.start_ns = start_ns;
            if sink.is_open_loop() {
                sink.started(call);
            }
        }
        if call.is_oneway() {
            io.backlog(self.id);
        }
    }

    /// Everything was written: calls without replies have ended.
    pub fn note_written(&mut self, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        self.has_answered |= !self.calls.is_empty();
        self.calls.drain(..).for_each(|call| sink.ok(&call, now_ns));
    }

    /// When its calls in flight began.
    pub fn begins_ns(&self) -> impl Iterator<Item = u64> {
        self.calls.iter().map(LoadCall::begin_ns)
    }

    /// Whether a call that started before `limit_ns` is not answered.
    pub fn is_late(&self, limit_ns: u64) -> bool {
        self.calls.front().is_some_and(|call| call.start_ns != 0 && call.start_ns <= limit_ns)
    }

    /// Calls that started before `limit_ns` are late; the others cannot be answered any more.
    pub fn fail_late(&mut self, limit_ns: u64, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        let late = Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED);
        while self.is_late(limit_ns)
            && let Some(call) = self.calls.pop_front()
        {
            sink.failed(&call, &late, now_ns);
        }
        self.fail_all(&Status::new(Code::Unavailable, BEHIND_A_LATE_ONE), now_ns, sink);
    }

    /// The connection is gone: every call in flight failed.
    pub fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        self.unstamped = 0;
        self.calls.drain(..).for_each(|call| sink.failed(&call, status, now_ns));
    }
}

/// The first call in flight has been answered.
#[inline]
fn end_call(
    calls: &mut VecDeque<LoadCall>,
    sequence_id: u32,
    outcome: Result<(), Box<Status>>,
    now_ns: u64,
    sink: &mut CallSink,
) -> Result<(), ReplyFault> {
    let Some(call) = calls.pop_front() else {
        return Err(ReplyFault::unasked());
    };
    let fault = (call.stream_id != sequence_id)
        .then(|| ReplyFault::out_of_order(sequence_id, call.stream_id));
    match (outcome, fault) {
        (Ok(()), None) => sink.ok(&call, now_ns),
        (Err(status), None) => sink.failed(&call, &status, now_ns),
        (outcome, Some(fault)) => {
            let own = || Box::new(Status::new(Code::Internal, fault.to_string()));
            sink.failed(&call, &outcome.err().unwrap_or_else(own), now_ns);
            return Err(fault);
        }
    }
    Ok(())
}
