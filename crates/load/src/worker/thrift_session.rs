//! One connection of Thrift: requests go out, replies come in the same order and are checked.
//!
//! It has no streams: calls are answered in the order in which they were sent. So most runs have
//! one call in flight on each of many connections, and a call that is given up takes its connection
//! with it: a reply that comes too late would be taken for that of the next call.

use super::connect::why_closed;
use super::connect_schedule::ConnectionEnd;
use super::session::{Expired, Session, SessionPlace, SessionState};
use super::state::WorkerState;
use super::thrift_replies::{ThriftCommon, ThriftReplies};
use crate::call::LoadCall;
use crate::plan::LoadPlan;
use crate::record::{CallSink, DEADLINE_EXCEEDED};
use bookend_io::{Closed, IoContext};
use bookend_payload::thrift::{ReplyFault, SequenceIds, ThriftCall};
use bookend_wire::grpc::{Code, Status};
use std::collections::VecDeque;

const BEHIND_A_LATE_ONE: &str =
    "the connection was closed, because a call before this one on it had passed its deadline";

/// One connection and its calls in flight.
#[derive(Debug)]
pub(crate) struct ThriftSession {
    place: SessionPlace,
    /// Whether any call was answered on it.
    has_answered: bool,
    /// Whether a call was made on it.
    made_calls: bool,
    sequence_ids: SequenceIds,
    /// In the order in which they were sent. Their ids are sequence ids.
    calls: VecDeque<LoadCall>,
    /// The number of these, from the end, that have no start yet.
    unstamped: usize,
    replies: ThriftReplies,
}

impl Session for ThriftSession {
    type Common = ThriftCommon;
    type Fault = ReplyFault;

    const GREETING: Option<&'static str> = None;

    fn begin(
        place: SessionPlace,
        _: usize,
        common: &mut ThriftCommon,
        _: &LoadPlan,
        _: &mut IoContext,
    ) -> Self {
        Self {
            place,
            has_answered: false,
            made_calls: false,
            sequence_ids: SequenceIds::default(),
            calls: VecDeque::new(),
            unstamped: 0,
            replies: ThriftReplies::new(common),
        }
    }

    #[inline]
    fn place(&self) -> &SessionPlace {
        &self.place
    }

    fn place_mut(&mut self) -> &mut SessionPlace {
        &mut self.place
    }

    #[inline]
    fn state(&self) -> SessionState {
        SessionState::Open
    }

    #[inline]
    fn exchange(
        &mut self,
        common: &ThriftCommon,
        bytes: &[u8],
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> Result<usize, ReplyFault> {
        let (now_ns, sink) = (io.now_ns(), &mut state.calls);
        sink.at_peer(self.place.peer);
        let Self { replies, calls, has_answered, .. } = self;
        replies.receive(&common.call, bytes, |sequence_id, outcome| {
            *has_answered |= !calls.is_empty();
            end_call(calls, sequence_id, outcome, now_ns, sink)
        })?;
        self.refill(common, state, io);
        Ok(bytes.len())
    }

    #[inline]
    fn refill(&mut self, common: &ThriftCommon, state: &mut WorkerState, io: &mut IoContext) {
        let missing = u64::from(self.place.concurrency).saturating_sub(self.calls.len() as u64);
        let count = state.pace.allowed(io.now_ns()).min(missing);
        if count > 0 {
            self.write_calls(&common.call, count, state, io);
            state.pace.made(count);
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.calls.len() < self.place.concurrency as usize
    }

    fn make_due_call(
        &mut self,
        common: &ThriftCommon,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> bool {
        let intended_ns = state.pace.due_ns();
        let has_waited = state.room.find(intended_ns, io.now_ns());
        self.write_calls(&common.call, 1, state, io);
        if let Some(made) = self.calls.back_mut() {
            made.set_due(intended_ns, has_waited);
        }
        state.pace.pass_due_call();
        true
    }

    /// Where calls get no reply, `writable` is called once they are written.
    #[inline]
    fn finish_turn(&mut self, common: &ThriftCommon, sink: &mut CallSink, io: &IoContext) -> u64 {
        if self.unstamped > 0 {
            self.stamp_starts(sink, io);
            if common.call.is_oneway() {
                io.backlog(self.place.id);
            }
        }
        u64::MAX
    }

    fn ends_calls_when_written(common: &ThriftCommon) -> bool {
        common.call.is_oneway()
    }

    fn end_written_calls(&mut self, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.place.peer);
        self.has_answered |= !self.calls.is_empty();
        self.calls.drain(..).for_each(|call| sink.ok(&call, now_ns));
    }

    fn keeps_much(&self) -> bool {
        self.replies.has_much()
    }

    fn check_kept<'a>(
        &self,
        all: impl Iterator<Item = &'a Self>,
        common: &ThriftCommon,
    ) -> Result<(), ReplyFault> {
        self.replies.check_parts(all.map(|session| &session.replies), common)
    }

    fn expire(&mut self, limit_ns: u64, sink: &mut CallSink, io: &mut IoContext) -> Expired {
        if !self.is_late(limit_ns) {
            return Expired::Nothing;
        }
        self.fail_late(limit_ns, io.now_ns(), sink);
        Expired::Session(match self.has_answered {
            true => ConnectionEnd::Finished,
            false => ConnectionEnd::Unanswered,
        })
    }

    fn begins_ns(&self) -> impl Iterator<Item = u64> {
        self.calls.iter().map(LoadCall::begin_ns)
    }

    fn made_no_call(&self) -> bool {
        !self.made_calls
    }

    fn end(&self) -> ConnectionEnd {
        if self.has_answered { ConnectionEnd::Broken } else { ConnectionEnd::Unanswered }
    }

    /// Where nothing was ever answered on it, the server may speak otherwise.
    fn why_closed(&self, why: &Closed, common: &ThriftCommon, _: &WorkerState) -> String {
        let text = why_closed(why);
        if self.made_calls && !self.has_answered {
            return format!("{text} and answered nothing: does it speak {}?", common.call.spoken());
        }
        text.into_owned()
    }

    fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.place.peer);
        self.unstamped = 0;
        self.calls.drain(..).for_each(|call| sink.failed(&call, status, now_ns));
    }
}

impl ThriftSession {
    #[inline]
    fn write_calls(
        &mut self,
        call: &ThriftCall,
        count: u64,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) {
        let output = io.output(self.place.id);
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

    #[inline]
    fn stamp_starts(&mut self, sink: &mut CallSink, io: &IoContext) {
        let start_ns = io.clock_ns();
        let first = self.calls.len() - std::mem::take(&mut self.unstamped);
        for call in self.calls.range_mut(first..) {
            call.start_ns = start_ns;
            if sink.is_open_loop() {
                sink.started(call);
            }
        }
    }

    /// Whether a call that started before `limit_ns` is not answered.
    fn is_late(&self, limit_ns: u64) -> bool {
        self.calls.front().is_some_and(|call| call.start_ns != 0 && call.start_ns <= limit_ns)
    }

    /// Calls that started before `limit_ns` are late; the others cannot be answered any more.
    fn fail_late(&mut self, limit_ns: u64, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.place.peer);
        let late = Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED);
        while self.is_late(limit_ns)
            && let Some(call) = self.calls.pop_front()
        {
            sink.failed(&call, &late, now_ns);
        }
        self.fail_all(&Status::new(Code::Unavailable, BEHIND_A_LATE_ONE), now_ns, sink);
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
