//! One connection of the generator: requests go out, responses come in and are checked.

mod liveness;

use super::direct_output::DirectOutput;
use super::received_goaway::ReceivedGoAway;
use super::request;
use super::response_visitor::ResponseVisitor;
use super::state::WorkerState;
use crate::call::LoadCall;
use crate::pace::Pace;
use crate::plan::LoadPlan;
use crate::record::{CallSink, WorkerMeasurements};
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
            received_bytes: 0,
            keepalive_state: KeepaliveState::default(),
            http2: Connection::new(Side::Client, &plan.config),
            peer,
            in_flight: 0,
            concurrency,
            calls: Vec::new(),
            unstamped: Vec::new(),
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
        let mut visitor = ResponseVisitor::new(now_ns, sink, &mut self.calls, &mut self.resets);
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
        let made = self.open_streams(most as u32, &state.plan, &state.pace, &state.calls);
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
        let made = self.open_streams(1, &state.plan, &state.pace, &state.calls);
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
    fn open_streams(&mut self, most: u32, plan: &LoadPlan, pace: &Pace, sink: &CallSink) -> u32 {
        for made in 0..most {
            match self.open_stream(plan, pace.next_number() + u64::from(made)) {
                Ok(stream) => self.begin_call(stream, sink.by_number()),
                Err(CannotOpen::Concurrency) => {
                    self.meet_stream_limit(self.in_flight + made);
                    return made;
                }
                Err(CannotOpen::IdsUsedUp | CannotOpen::GoingAway) => {
                    self.state = LoadConnectionState::Draining;
                    return made;
                }
            }
        }
        most
    }

    #[inline]
    fn open_stream(&mut self, plan: &LoadPlan, number: u64) -> Result<StreamKey, CannotOpen> {
        let sender = &mut self.http2.sender;
        let index = request::message_index(plan, number);
        if let Some(prepared) = self.prepared.get_mut(index) {
            return sender.prepared_request(prepared);
        }
        request::write(sender, &mut self.head, plan, number)
    }

    #[inline]
    fn begin_call(&mut self, stream: StreamKey, counted: bool) {
        let index = stream.index as usize;
        if index >= self.calls.len() {
            self.calls.resize(index + 1, LoadCall::default());
        }
        self.calls[index] = LoadCall::new(stream.id, counted);
        self.unstamped.push(stream.index);
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

    /// When its calls in flight were made; 0 for those about to be written.
    pub fn starts_ns(&self) -> impl Iterator<Item = u64> {
        self.calls.iter().filter(|call| call.stream_id != 0).map(|call| call.start_ns)
    }

    /// Whether there are calls that may have waited too long, or streams that are to be reset.
    pub fn may_expire(&self) -> bool {
        self.in_flight > 0 || !self.resets.is_empty()
    }

    /// Gives up on calls that started before `limit_ns`.
    pub fn expire(&mut self, limit_ns: u64, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        let status = Status::new(Code::DeadlineExceeded, "context deadline exceeded");
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.stream_id == 0 || call.start_ns == 0 || call.start_ns > limit_ns {
                continue;
            }
            let stream = StreamKey { index: index as u32, id: call.stream_id };
            self.resets.add(stream, &self.http2.sender);
            sink.failed(call, &status, now_ns);
            *call = LoadCall::default();
            self.in_flight -= 1;
        }
        if !self.resets.is_empty() {
            self.reset_streams(now_ns);
        }
    }

    /// The connection is gone: every call in flight failed.
    pub fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.peer);
        for call in self.calls.iter_mut().filter(|call| call.stream_id != 0) {
            sink.failed(call, status, now_ns);
            *call = LoadCall::default();
        }
        self.in_flight = 0;
    }

    /// What the connection, which has ended, says of its server.
    pub fn note_end(&self, measured: &mut WorkerMeasurements) {
        if let Some(goaway) = &self.goaway {
            measured.note_goaway(&goaway.text);
        }
        measured.note_stream_limit(self.streams_allowed);
    }
}

impl DirectOutput for LoadConnection {
    #[inline]
    fn output(&mut self) -> &mut Vec<u8> {
        &mut self.http2.sender.output
    }
}

fn prepared_requests(plan: &LoadPlan, head: &HeaderBlock) -> Vec<PreparedRequest> {
    if !request::can_be_prepared(plan, PREPARED_MESSAGES_MAX_BYTES) {
        return Vec::new();
    }
    let request = |message: &Vec<u8>| PreparedRequest::new(head.clone(), message.clone());
    plan.messages.iter().map(request).collect()
}
