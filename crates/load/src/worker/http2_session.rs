//! One connection of HTTP/2: requests go out, responses come in and are checked.
//!
//! `turns` has what the worker calls, and `liveness` sends PINGs to silent servers.

mod liveness;
mod turns;

use super::direct_output::DirectOutput;
use super::received_goaway::ReceivedGoAway;
use super::request::{self, NotWritten, RequestSource};
use super::response_visitor::ResponseVisitor;
use super::session::{SessionPlace, SessionState};
use super::state::WorkerState;
use super::stream_calls::StreamCalls;
use crate::call::LoadCall;
use crate::plan::GrpcCall;
use crate::record::{CallSink, DEADLINE_EXCEEDED};
use bookend_io::IoContext;
use bookend_wire::grpc::{Code, Status};
use bookend_wire::keepalive::KeepaliveState;
use bookend_wire::reset_queue::RESETS_WAITING_MAX;
use bookend_wire::{
    CannotOpen, Connection, ConnectionError, HeaderBlock, Keepalive, PreparedRequest, ResetQueue,
    Side, StreamKey,
};
pub(crate) use turns::Http2Common;

/// Messages of a run beyond this are not prepared by each connection: there may be ten thousand.
const PREPARED_MESSAGES_MAX_BYTES: usize = 4 << 10;

/// One connection and its calls in flight.
#[derive(Debug)]
pub(crate) struct Http2Session {
    place: SessionPlace,
    state: SessionState,
    /// What the server said when it went away, if it did.
    goaway: Option<ReceivedGoAway>,
    /// Whether any call was answered on it.
    has_answered: bool,
    /// The server's limit of streams, once it has kept a call from being made.
    streams_allowed: Option<u32>,
    /// When PINGs are sent; `None` for never.
    keepalive: Option<Keepalive>,
    /// Whether the server allows no more streams than there are.
    is_at_stream_limit: bool,
    /// Whether the server was sent a PING and answered nothing.
    has_vanished: bool,
    /// Whether more calls were given up on it than may be reset.
    gave_up_too_many: bool,
    http2: Connection,
    in_flight: u32,
    received_bytes: u64,
    keepalive_state: KeepaliveState,
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

impl Http2Session {
    fn new(
        place: SessionPlace,
        call: &GrpcCall,
        head: &HeaderBlock,
        keepalive: Option<Keepalive>,
    ) -> Self {
        Self {
            place,
            state: SessionState::AwaitingGreeting,
            goaway: None,
            has_answered: false,
            streams_allowed: None,
            keepalive,
            is_at_stream_limit: false,
            has_vanished: false,
            gave_up_too_many: false,
            received_bytes: 0,
            keepalive_state: KeepaliveState::default(),
            http2: Connection::new(Side::Client, &call.config),
            in_flight: 0,
            calls: Vec::new(),
            unstamped: Vec::new(),
            streams: StreamCalls::new(call),
            response_max_bytes: call.response_max_bytes,
            resets: ResetQueue::new(RESETS_WAITING_MAX.max(place.concurrency as usize)),
            head: head.clone(),
            prepared: prepared_requests(call, head),
        }
    }

    /// Bytes have come: responses are checked and counted. Returns the bytes used up.
    #[inline]
    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        sink: &mut CallSink,
    ) -> Result<usize, ConnectionError> {
        sink.at_peer(self.place.peer);
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
        if seen.settings && self.state == SessionState::AwaitingGreeting {
            self.state = SessionState::Open;
        }
        if seen.goaway.is_some() {
            self.goaway = seen.goaway;
            self.state = SessionState::Draining;
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
            self.state = SessionState::Draining;
            self.gave_up_too_many = true;
        }
    }

    /// Makes the calls that are missing, as far as the pace allows. Their start is stamped by
    /// [`Http2Session::stamp_starts`], just before they are written.
    #[inline]
    fn make_calls(&mut self, source: &RequestSource, now_ns: u64, state: &mut WorkerState) {
        if self.state != SessionState::Open {
            return;
        }
        let missing = self.place.concurrency - self.in_flight.min(self.place.concurrency);
        let most = state.pace.allowed(now_ns).min(u64::from(missing));
        let made = self.open_streams(source, most as u32, now_ns, state);
        self.in_flight += made;
        state.calls.began(u64::from(made));
        state.pace.made(u64::from(made));
        state.pace.advance_number(u64::from(made));
    }

    /// Makes the call of an open loop that is due next. False where there is no room for it after
    /// all. Its start is stamped by [`Http2Session::stamp_starts`].
    fn open_due_call(
        &mut self,
        source: &RequestSource,
        now_ns: u64,
        state: &mut WorkerState,
    ) -> bool {
        let made = self.open_streams(source, 1, now_ns, state);
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
    fn open_streams(
        &mut self,
        source: &RequestSource,
        most: u32,
        now_ns: u64,
        state: &mut WorkerState,
    ) -> u32 {
        if let ([_], None) = (self.prepared.as_slice(), &self.streams) {
            return self.repeat_request(most, state);
        }
        for made in 0..most {
            let number = state.pace.next_number() + u64::from(made);
            match self.open_stream(source, number, now_ns) {
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

    /// As [`Http2Session::open_streams`], where every request is the same.
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
        source: &RequestSource,
        number: u64,
        now_ns: u64,
    ) -> Result<StreamKey, NotWritten> {
        let sender = &mut self.http2.sender;
        let index = request::message_index(&source.call, number);
        let stream = match (self.prepared.get_mut(index), &mut self.streams) {
            (Some(prepared), None) => return Ok(sender.prepared_request(prepared)?),
            (Some(prepared), Some(_)) => sender.prepared_request(prepared)?,
            (None, Some(streams)) if streams.send_many() => {
                streams.open(sender, &mut self.head, source, number, self.place.number)?
            }
            (None, _) => request::write(sender, &mut self.head, source, number, self.place.number)?,
        };
        if let Some(streams) = &mut self.streams {
            streams.begin(stream, source, number, self.place.number, now_ns)?;
        }
        Ok(stream)
    }

    #[cold]
    fn meet_end_of_streams(&mut self, why: NotWritten, in_flight: u32, state: &mut WorkerState) {
        match why {
            NotWritten::CannotOpen(CannotOpen::Concurrency) => self.meet_stream_limit(in_flight),
            NotWritten::CannotOpen(CannotOpen::IdsUsedUp | CannotOpen::GoingAway) => {
                self.state = SessionState::Draining;
            }
            NotWritten::Template(why) => state.fail_template(why),
        }
    }

    /// Ends streaming calls whose time is over, makes those that are missing, and writes the
    /// messages that are due.
    fn follow_streams(&mut self, source: &RequestSource, now_ns: u64, state: &mut WorkerState) {
        let Some(streams) = &mut self.streams else {
            return;
        };
        for stream in streams.follow_timers(now_ns, &mut self.http2.sender) {
            let call = &mut self.calls[stream.index as usize];
            state.calls.at_peer(self.place.peer);
            state.calls.ok(call, now_ns);
            *call = LoadCall::default();
            streams.end(stream.index);
            self.resets.add(stream, &self.http2.sender);
            self.in_flight -= 1;
        }
        if !self.resets.is_empty() {
            self.reset_streams(now_ns);
        }
        self.make_calls(source, now_ns, state);
        self.send_messages(source, now_ns, state);
    }

    /// Writes the messages of streams that are due.
    #[inline]
    fn send_messages(&mut self, source: &RequestSource, now_ns: u64, state: &mut WorkerState) {
        let Some(streams) = &mut self.streams else {
            return;
        };
        let (sender, sink) = (&mut self.http2.sender, &mut state.calls);
        let sent = streams.send_due(now_ns, source, self.place.number, sender, sink);
        if let Err(NotWritten::Template(why)) = sent {
            state.fail_template(why);
        }
    }

    /// The server allows no more streams. Where most of them are given up, a new connection has
    /// room for more calls.
    #[cold]
    fn meet_stream_limit(&mut self, in_flight: u32) {
        self.is_at_stream_limit = true;
        self.streams_allowed = Some(self.http2.sender.live_streams() as u32);
        if self.resets.len() > in_flight as usize {
            self.state = SessionState::Draining;
        }
    }

    /// The calls that were made since the last time start now: their bytes are about to be written.
    #[inline]
    fn stamp_starts(&mut self, sink: &mut CallSink, io: &IoContext) {
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

    /// Gives up on calls that started before `limit_ns`.
    fn expire_calls(&mut self, limit_ns: u64, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.place.peer);
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
}

impl DirectOutput for Http2Session {
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

fn prepared_requests(call: &GrpcCall, head: &HeaderBlock) -> Vec<PreparedRequest> {
    if !request::can_be_prepared(call, PREPARED_MESSAGES_MAX_BYTES) {
        return Vec::new();
    }
    let request = |message: &Vec<u8>| PreparedRequest::new(head.clone(), message.clone());
    call.messages.iter().map(request).collect()
}
