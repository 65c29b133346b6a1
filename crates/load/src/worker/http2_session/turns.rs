//! How a worker drives a connection of HTTP/2.

use super::Http2Session;
use crate::call::LoadCall;
use crate::plan::{GrpcCall, LoadPlan};
use crate::record::{CallSink, WorkerMeasurements};
use crate::worker::connect::why_closed;
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::direct_output::DirectOutput;
use crate::worker::request::RequestSource;
use crate::worker::session::{Expired, Session, SessionPlace, SessionState};
use crate::worker::state::WorkerState;
use bookend_io::{Closed, IoContext};
use bookend_wire::grpc::Status;
use bookend_wire::{ConnectionError, HeaderBlock, Keepalive};
use std::sync::Arc;

/// A long read is handled in slices of this size: the responses in one, then the calls in their
/// place. That is about two hundred small ones, whose streams stay in the first-level cache.
const SLICE_BYTES: usize = 8 << 10;

/// The start of a TLS alert, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
/// The start of what a server of HTTP/1 answers to anything else.
const HTTP_1: &[u8] = b"HTTP/1.";
const SPEAKS_HTTP_1: &str = "the server speaks HTTP/1, and gRPC needs HTTP/2";

/// What the connections of a worker share.
#[derive(Debug)]
pub(crate) struct Http2Common {
    source: RequestSource,
    /// The head of every request without the varying field, by the number of the target.
    heads: Vec<HeaderBlock>,
    /// When the next connection sends PINGs; `None` for never.
    keepalive: Option<Keepalive>,
}

impl Http2Common {
    /// That of a worker that has made no connection, in a run of `threads` workers.
    pub fn new(call: &Arc<GrpcCall>, threads: u32) -> Self {
        let source = RequestSource { call: Arc::clone(call), threads };
        Self { source, heads: Vec::new(), keepalive: call.keepalive }
    }
}

impl Session for Http2Session {
    type Common = Http2Common;
    type Fault = ConnectionError;

    const GREETING: Option<&'static str> = Some("SETTINGS");

    fn begin(
        place: SessionPlace,
        name: usize,
        common: &mut Http2Common,
        plan: &LoadPlan,
        io: &mut IoContext,
    ) -> Self {
        let call = &*common.source.call;
        while common.heads.len() <= name {
            common.heads.push(plan.head(call, common.heads.len()));
        }
        let mut session = Self::new(place, call, &common.heads[name], common.keepalive);
        session.flush_output(place.id, io);
        session
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
        self.state
    }

    /// An alert is shorter than a frame header: HTTP/2 would wait for the rest of one.
    fn wrong_greeting(bytes: &[u8], plan: &LoadPlan) -> Option<String> {
        if bytes.starts_with(TLS_ALERT) {
            return Some(format!("the server wants TLS: {}", plan.tls_advice.encrypt));
        }
        bytes.starts_with(HTTP_1).then(|| SPEAKS_HTTP_1.to_owned())
    }

    #[inline]
    fn exchange(
        &mut self,
        common: &Http2Common,
        bytes: &[u8],
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> Result<usize, ConnectionError> {
        let now_ns = io.now_ns();
        self.with_output(self.place.id, io, |session| {
            session.take_turn(&common.source, bytes, now_ns, state)
        })
    }

    fn refill(&mut self, common: &Http2Common, state: &mut WorkerState, io: &mut IoContext) {
        let now_ns = io.now_ns();
        self.with_output(self.place.id, io, |session| {
            session.make_calls(&common.source, now_ns, state);
            session.follow_streams(&common.source, now_ns, state);
        });
    }

    #[inline]
    fn has_room(&self) -> bool {
        let is_open = self.state == SessionState::Open && !self.is_at_stream_limit;
        is_open && self.in_flight < self.place.concurrency
    }

    fn is_at_stream_limit(&self) -> bool {
        self.is_at_stream_limit
    }

    fn make_due_call(
        &mut self,
        common: &Http2Common,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> bool {
        let now_ns = io.now_ns();
        self.with_output(self.place.id, io, |session| {
            let is_made = session.open_due_call(&common.source, now_ns, state);
            session.send_messages(&common.source, now_ns, state);
            is_made
        })
    }

    /// Messages of streams are written at a time, or once what was written is gone.
    #[inline]
    fn finish_turn(&mut self, _: &Http2Common, sink: &mut CallSink, io: &IoContext) -> u64 {
        self.stamp_starts(sink, io);
        let Some(streams) = &self.streams else {
            return u64::MAX;
        };
        if streams.has_ready() {
            // Asking for the backlog has `writable` called once nothing is unwritten.
            io.backlog(self.place.id);
        }
        streams.due_ns()
    }

    fn expire(&mut self, limit_ns: u64, sink: &mut CallSink, io: &mut IoContext) -> Expired {
        if self.in_flight == 0 && self.resets.is_empty() {
            return Expired::Nothing;
        }
        let now_ns = io.now_ns();
        self.with_output(self.place.id, io, |session| session.expire_calls(limit_ns, now_ns, sink));
        Expired::Calls
    }

    fn first_liveness_check_ns(&self, now_ns: u64) -> u64 {
        self.keepalive.map_or(u64::MAX, |it| now_ns.saturating_add(it.check_interval_ns()))
    }

    fn check_liveness(&mut self, io: &mut IoContext) -> Result<u64, String> {
        self.send_due_ping(io)
    }

    fn begins_ns(&self) -> impl Iterator<Item = u64> {
        self.calls.iter().filter(|call| call.stream_id != 0).map(LoadCall::begin_ns)
    }

    fn made_no_call(&self) -> bool {
        self.calls.is_empty()
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.state == SessionState::Draining && self.in_flight == 0
    }

    /// Where the server went away before any response, or because of us, it is not made again at
    /// once.
    fn end(&self) -> ConnectionEnd {
        let is_error = self.goaway.as_ref().is_some_and(|said| said.is_error);
        if !self.has_answered {
            ConnectionEnd::Unanswered
        } else if self.is_done() && !is_error {
            ConnectionEnd::Finished
        } else {
            ConnectionEnd::Broken
        }
    }

    fn why_closed(&self, why: &Closed, _: &Http2Common, state: &WorkerState) -> String {
        match self.state {
            SessionState::AwaitingGreeting => state.why_closed_at_once(why),
            _ => why_closed(why).into_owned(),
        }
    }

    fn why_lost(&self, text: &str) -> String {
        match &self.goaway {
            _ if self.has_vanished => text.to_owned(),
            Some(goaway) => goaway.to_string(),
            None if self.is_done() => "the server left too many calls without an end".to_owned(),
            None => text.to_owned(),
        }
    }

    fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink) {
        sink.at_peer(self.place.peer);
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

    fn note_end(&self, measured: &mut WorkerMeasurements) {
        if let Some(goaway) = &self.goaway {
            measured.note_goaway(&goaway.text);
        }
        measured.note_stream_limit(self.streams_allowed);
        measured.connections_given_up += u64::from(self.gave_up_too_many);
    }

    /// Where its server received too many PINGs, the next ones get half as many as it did, which is
    /// one step for all connections that end so at a time.
    fn teach(&self, common: &mut Http2Common) {
        let too_many_pings = self.goaway.as_ref().is_some_and(|goaway| goaway.too_many_pings);
        if let Some(used) = self.keepalive.filter(|_| too_many_pings) {
            let slower = used.at_half_rate();
            let next = common.keepalive.filter(|next| next.time_ns > slower.time_ns);
            common.keepalive = next.or(Some(slower));
        }
    }
}

impl Http2Session {
    #[inline]
    fn take_turn(
        &mut self,
        source: &RequestSource,
        bytes: &[u8],
        now_ns: u64,
        state: &mut WorkerState,
    ) -> Result<usize, ConnectionError> {
        let mut consumed = 0;
        let mut slice_bytes = SLICE_BYTES;
        loop {
            let rest = &bytes[consumed..];
            let slice = &rest[..rest.len().min(slice_bytes)];
            let used = self.receive(slice, now_ns, &mut state.calls)?;
            consumed += used;
            self.make_calls(source, now_ns, state);
            self.send_messages(source, now_ns, state);
            if slice.len() == rest.len() {
                return Ok(consumed);
            }
            // A frame may be longer than a slice.
            slice_bytes = if used == 0 { rest.len() } else { SLICE_BYTES };
        }
    }
}
