//! One connection of the generator: requests go out, responses come in and are checked.

mod liveness;

use super::direct_output::DirectOutput;
use super::received_goaway::ReceivedGoAway;
use super::request::{self, NotWritten};
use super::response_visitor::ResponseVisitor;
use super::state::WorkerState;
use super::stream_calls::StreamCalls;
use crate::call::LoadCall;
use crate::plan::LoadPlan;
use crate::record::{CallSink, DEADLINE_EXCEEDED, WorkerMeasurements};
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::keepalive::KeepaliveState;
use bookend_wire::reset_queue::RESETS_WAITING_MAX;
use bookend_wire::{
    CannotOpen, Connection, ConnectionError, HeaderBlock, Keepalive, PreparedRequest, ResetQueue,
    Side, StreamKey,
};

/// Messages of a run beyond this are not prepared by each connection: there may be ten thousand.
const PREPARED_MESSAGES_MAX_BYTES: usize = 4 << 10;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadConnectionState {
    /// The server's SETTINGS have not come.
    AwaitingSettings,
    /// Calls are made.
    Open,
    /// No more calls: the stream ids are used up, the server is going away, or too many streams
    /// that we gave up wait to be reset.
    Draining,
}

/// One connection and its calls in flight.
#[derive(Debug)]
pub(super) struct LoadConnection {
    pub id: ConnectionId,
    /// Which of the worker's connections this is.
    pub number: u32,
    pub state: LoadConnectionState,
    /// What the server said when it went away, if it did.
    pub goaway: Option<ReceivedGoAway>,
    /// Whether any call was answered on it.
    pub has_answered: bool,
    /// The server's limit of streams, once it has kept a call from being made.
    pub streams_allowed: Option<u32>,
    /// When PINGs are sent; `None` for never.
    pub keepalive: Option<Keepalive>,
    /// Whether the server allows no more streams than there are.
    pub is_at_stream_limit: bool,
    /// Whether the server was sent a PING and answered nothing.
    pub has_vanished: bool,
    /// Whether more calls were given up on it than may be reset.
    gave_up_too_many: bool,
    http2: Connection,
    /// The server's place in the worker's `PeerTable`.
    peer: u32,
    in_flight: u32,
    received_bytes: u64,
    keepalive_state: KeepaliveState,
    /// Calls to keep in flight; in an open loop, at most.
    pub concurrency: u32,
    /// By stream index.
    calls: Vec<LoadCall>,
    /// Stream indices of the calls whose start is not stamped yet.
    unstamped: Vec<u32>,
    /// Where calls are streams of messages.
    streams: Option<Box<StreamCalls>>,
    response_max_bytes: u32,
    resets: ResetQueue,
    head: HeaderBlock,
    /// Whole requests, one for each message, where they are small and do not vary.
    prepared: Vec<PreparedRequest>,
}

impl LoadConnection {
    pub fn new(
        id: ConnectionId,
        number: u32,
        peer: u32,
        plan: &LoadPlan,
        head: &HeaderBlock,
        concurrency: u32,
        keepalive: Option<Keepalive>,
    ) -> Self {
        Self {
            id,
            number,
            state: LoadConnectionState::AwaitingSettings,
            goaway: None,
            has_answered: false,
            streams_allowed: None,
            keepalive,
            is_at_stream_limit: false,
            has_vanished: false,
            gave_up_too_many: false,
            received_bytes: 0,
            keepalive_state: KeepaliveState::default(),
            http2: Connection::new(Side::Client, &plan.config),
            peer,
            in_flight: 0,
            concurrency,
            calls: Vec::new(),
            unstamped: Vec::new(),
            streams: StreamCalls::new(plan),
            response_max_bytes: plan.response_max_bytes,
            resets: ResetQueue::new(RESETS_WAITING_MAX.max(concurrency as usize)),
            head: head.clone(),
            prepared: prepared_requests(plan, head),
        }
    }

    /// Whether no call was ever made on it.
    pub fn made_no_call(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether it has nothing left to do.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.state == LoadConnectionState::Draining && self.in_flight == 0
    }

    /// Bytes have come: responses are checked and counted. Returns the bytes used up.
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        sink: &mut CallSink,
    ) -> Result<usize, ConnectionError> {
        sink.at_peer(self.peer);
        let mut visitor = ResponseVisitor::new(
            now_ns,
            sink,
            &mut self.calls,
            self.streams.as_deref_mut(),
            self.response_max_bytes,
            &mut self.resets,
        );
        let consumed = self.http2.receive(bytes, &mut visitor);
        let seen = visitor.into_seen();
        self.in_flight -= seen.ended;
        self.has_answered |= seen.ended > seen.unanswered;
        self.is_at_stream_limit &= seen.ended == 0 && !seen.settings;
        if seen.settings && self.state == LoadConnectionState::AwaitingSettings {
            self.state = LoadConnectionState::Open;
        }
        if seen.goaway.is_some() {
            self.goaway = seen.goaway;
            self.state = LoadConnectionState::Draining;
        }
        if seen.gave_up {
            self.reset_streams(now_ns);
        }
        if let Ok(consumed) = consumed {
            self.received_bytes += consumed as u64;
        }
        consumed
    }

    /// Resets the streams that were given up, no faster than servers tolerate.
    #[cold]
    fn reset_streams(&mut self, now_ns: u64) {
        self.resets.reset_due(now_ns, &mut self.http2.sender);
        if self.resets.has_overflowed() {
            self.state = LoadConnectionState::Draining;
            self.gave_up_too_many = true;
        }
    }

    /// Makes the calls that are missing, as far as the pace allows. Their start is stamped by
    /// [`LoadConnection::stamp_starts`], just before they are written.
    #[inline]
    pub fn make_calls(&mut self, now_ns: u64, state: &mut WorkerState) {
        if self.state != LoadConnectionState::Open {
            return;
        }
        let missing = self.concurrency - self.in_flight.min(self.concurrency);
        let most = state.pace.allowed(now_ns).min(u64::from(missing));
        let made = self.open_streams(most as u32, now_ns, state);
        self.in_flight += made;
        state.calls.began(u64::from(made));
        state.pace.made(u64::from(made));
        state.pace.advance_number(u64::from(made));
    }

    /// Whether a call of an open loop may be made on it.
    #[inline]
    pub fn has_room(&self) -> bool {
        let is_open = self.state == LoadConnectionState::Open && !self.is_at_stream_limit;
        is_open && self.in_flight < self.concurrency
    }

    /// Makes the call of an open loop that is due next. False where there is no room for it after
    /// all. Its start is stamped by [`LoadConnection::stamp_starts`].
    pub fn make_due_call(&mut self, now_ns: u64, state: &mut WorkerState) -> bool {
        let made = self.open_streams(1, now_ns, state);
        if made == 0 {
            return false;
        }
        let intended_ns = state.pace.due_ns();
        let has_waited = state.room.find(intended_ns, now_ns);
        if let Some(index) = self.unstamped.last() {
            self.calls[*index as usize].set_due(intended_ns, has_waited);
        }
        self.in_flight += 1;
        state.calls.began(1);
        state.pace.pass_due_call();
        state.pace.advance_number(1);
        true
    }

    /// Returns how many streams could be opened.
    #[inline]
    fn open_streams(&mut self, most: u32, now_ns: u64, state: &mut WorkerState) -> u32 {
        if let ([_], None) = (self.prepared.as_slice(), &self.streams) {
            return self.repeat_request(most, state);
        }
        for made in 0..most {
            let number = state.pace.next_number() + u64::from(made);
            match self.open_stream(&state.plan, number, now_ns) {
                Ok(stream) => {
                    let by_number = state.calls.by_number();
                    begin_call(&mut self.calls, &mut self.unstamped, stream, by_number);
                }
                Err(why) => {
                    self.meet_end_of_streams(why, self.in_flight + made, state);
                    return made;
                }
            }
        }
        most
    }

    /// As [`LoadConnection::open_streams`], where every request is the same.
    #[inline]
    fn repeat_request(&mut self, most: u32, state: &mut WorkerState) -> u32 {
        let by_number = state.calls.by_number();
        let (calls, unstamped) = (&mut self.calls, &mut self.unstamped);
        let begin = |stream| begin_call(calls, unstamped, stream, by_number);
        let sender = &mut self.http2.sender;
        let (made, all) = sender.prepared_requests(&mut self.prepared[0], most, begin);
        if let Err(why) = all {
            self.meet_end_of_streams(NotWritten::CannotOpen(why), self.in_flight + made, state);
        }
        made
    }

    #[inline]
    fn open_stream(
        &mut self,
        plan: &LoadPlan,
        number: u64,
        now_ns: u64,
    ) -> Result<StreamKey, NotWritten> {
        let sender = &mut self.http2.sender;
        let index = request::message_index(plan, number);
        let stream = match (self.prepared.get_mut(index), &mut self.streams) {
            (Some(prepared), None) => return Ok(sender.prepared_request(prepared)?),
            (Some(prepared), Some(_)) => sender.prepared_request(prepared)?,
            (None, Some(streams)) if streams.send_many() => {
                streams.open(sender, &mut self.head, plan, number, self.number)?
            }
            (None, _) => request::write(sender, &mut self.head, plan, number, self.number)?,
        };
        if let Some(streams) = &mut self.streams {
            streams.begin(stream, plan, number, self.number, now_ns)?;
        }
        Ok(stream)
    }

    #[cold]
    fn meet_end_of_streams(&mut self, why: NotWritten, in_flight: u32, state: &mut WorkerState) {
        match why {
            NotWritten::CannotOpen(CannotOpen::Concurrency) => self.meet_stream_limit(in_flight),
            NotWritten::CannotOpen(CannotOpen::IdsUsedUp | CannotOpen::GoingAway) => {
                self.state = LoadConnectionState::Draining;
            }
            NotWritten::Template(why) => state.fail_template(why),
        }
    }

    /// Ends streaming calls whose time is over, makes those that are missing, and writes the
    /// messages that are due.
    pub fn follow_streams(&mut self, now_ns: u64, state: &mut WorkerState) {
        let Some(streams) = &mut self.streams else {
            return;
        };
        for stream in streams.follow_timers(now_ns, &mut self.http2.sender) {
            let call = &mut self.calls[stream.index as usize];
            state.calls.at_peer(self.peer);
            state.calls.ok(call, now_ns);
            *call = LoadCall::default();
            streams.end(stream.index);
            self.resets.add(stream, &self.http2.sender);
            self.in_flight -= 1;
        }
        if !self.resets.is_empty() {
            self.reset_streams(now_ns);
        }
        self.make_calls(now_ns, state);
        self.send_messages(now_ns, state);
    }

    /// Writes the messages of streams that are due.
    #[inline]
    pub fn send_messages(&mut self, now_ns: u64, state: &mut WorkerState) {
        let Some(streams) = &mut self.streams else {
            return;
        };
        let (plan, sink) = (&state.plan, &mut state.calls);
        let sent = streams.send_due(now_ns, plan, self.number, &mut self.http2.sender, sink);
        if let Err(NotWritten::Template(why)) = sent {
            state.fail_template(why);
        }
    }

    /// When a message of a stream is due; `u64::MAX` for never.
    pub fn streams_due_ns(&self) -> u64 {
        self.streams.as_ref().map_or(u64::MAX, |streams| streams.due_ns())
    }

    /// Whether messages of streams could be written at once.
    #[inline]
    pub fn has_messages_to_send(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.has_ready())
    }

    /// The server allows no more streams. Where most of them are given up, a new connection has
    /// room for more calls.
    #[cold]
    fn meet_stream_limit(&mut self, in_flight: u32) {
        self.is_at_stream_limit = true;
        self.streams_allowed = Some(self.http2.sender.live_streams() as u32);
        if self.resets.len() > in_flight as usize {
            self.state = LoadConnectionState::Draining;
        }
    }

    /// The calls that were made since the last time start now: their bytes are about to be written.
    #[inline]
    pub fn stamp_starts(&mut self, sink: &mut CallSink, io: &IoContext) {
        if self.unstamped.is_empty() {
            return;
        }
        let start_ns = io.clock_ns();
        let is_open_loop = sink.is_open_loop();
        for index in self.unstamped.drain(..) {
            let call = &mut self.calls[index as usize];
            call.start_ns = start_ns;
            if is_open_loop {
                sink.started(call);
            }
        }
    }

    /// When its calls in flight began; 0 for those about to be written.
    pub fn begins_ns(&self) -> impl Iterator<Item = u64> {
        self.calls.iter().filter(|call| call.stream_id != 0).map(LoadCall::begin_ns)
    }

    /// Whether there are calls that may have waited too long, or streams that are to be reset.
    pub fn may_expire(&self) -> bool {
        self.in_flight > 0 || !self.resets.is_empty()
    }

    /// Gives up on calls that started before `limit_ns`.
    pub fn expire(&mut self, limit_ns: u64, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        let status = Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED);
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.stream_id == 0 || call.start_ns == 0 || call.start_ns > limit_ns {
                continue;
            }
            let stream = StreamKey { index: index as u32, id: call.stream_id };
            self.resets.add(stream, &self.http2.sender);
            sink.failed(call, &status, now_ns);
            *call = LoadCall::default();
            if let Some(streams) = &mut self.streams {
                streams.end(stream.index);
            }
            self.in_flight -= 1;
        }
        if !self.resets.is_empty() {
            self.reset_streams(now_ns);
        }
    }

    /// The connection is gone: every call in flight failed.
    pub fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.stream_id == 0 {
                continue;
            }
            sink.failed(call, status, now_ns);
            *call = LoadCall::default();
            if let Some(streams) = &mut self.streams {
                streams.end(index as u32);
            }
        }
        self.in_flight = 0;
    }

    /// What the connection, which has ended, says of its server.
    pub fn note_end(&self, measured: &mut WorkerMeasurements) {
        if let Some(goaway) = &self.goaway {
            measured.note_goaway(&goaway.text);
        }
        measured.note_stream_limit(self.streams_allowed);
        measured.connections_given_up += u64::from(self.gave_up_too_many);
    }
}

impl DirectOutput for LoadConnection {
    #[inline]
    fn output(&mut self) -> &mut Vec<u8> {
        &mut self.http2.sender.output
    }
}

/// A call was made on that stream. Its start is stamped when its bytes are written.
#[inline]
fn begin_call(
    calls: &mut Vec<LoadCall>,
    unstamped: &mut Vec<u32>,
    stream: StreamKey,
    counted: bool,
) {
    let index = stream.index as usize;
    if index >= calls.len() {
        calls.resize(index + 1, LoadCall::default());
    }
    calls[index] = LoadCall::new(stream.id, counted);
    unstamped.push(stream.index);
}

fn prepared_requests(plan: &LoadPlan, head: &HeaderBlock) -> Vec<PreparedRequest> {
    if !request::can_be_prepared(plan, PREPARED_MESSAGES_MAX_BYTES) {
        return Vec::new();
    }
    let request = |message: &Vec<u8>| PreparedRequest::new(head.clone(), message.clone());
    plan.messages.iter().map(request).collect()
}
