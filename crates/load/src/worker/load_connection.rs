//! One connection of the generator: requests go out, answers come in and are checked.

mod liveness;

use crate::call::{Call, token};
use crate::metadata::varying_value;
use crate::plan::LoadPlan;
use crate::record::Recorder;
use crate::record::SetupTimes;
use crate::record::peer_table::Place;
use crate::worker::reset_queue::GivenUp;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::response::final_status;
use bookend_wire::grpc::{Code, Status};
use bookend_wire::keepalive::TOO_MANY_PINGS;
use bookend_wire::{
    CannotOpen, Connection, ConnectionError, ErrorCode, ExtraField, HeaderBlock, HeaderList,
    Indexing, Initiator, Keepalive, PreparedRequest, Sender, Side, StreamKey, Visitor,
};
use liveness::Liveness;
use std::fmt;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadConnectionState {
    /// The server's SETTINGS have not come.
    Greeting,
    /// Calls are made.
    Ready,
    /// No more calls: its ids are used up, the server is going away, or it leaves too many calls
    /// without an end.
    Retiring,
}

/// One connection and its calls in flight.
#[derive(Debug)]
pub(crate) struct LoadConnection {
    pub id: ConnectionId,
    /// Which of the worker's connections this is.
    pub connection_number: u32,
    place: Place,
    pub connection: Connection,
    pub stage: LoadConnectionState,
    pub in_flight: u32,
    /// Calls to be kept in flight.
    pub streams: u32,
    /// What the server said when it went away, if it did.
    pub farewell: Option<ReceivedGoAway>,
    /// Whether any call was answered on it.
    pub was_of_use: bool,
    /// The server's limit of streams, once it has kept a call from being made.
    pub streams_allowed: Option<u32>,
    pub liveness: Liveness,
    calls: Vec<Call>,
    given_up: GivenUp,
    head: HeaderBlock,
    /// The requests whole, one a message, where they are small and do not vary.
    requests: Vec<PreparedRequest>,
    issued: Vec<u32>,
}

/// What a GOAWAY said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedGoAway {
    /// Its code and its debug data.
    pub text: String,
    /// Whether the server says that we did wrong.
    pub is_complaint: bool,
    /// Whether that is that it had too many PINGs.
    pub asked_too_often: bool,
}

impl ReceivedGoAway {
    pub fn new(code: ErrorCode, debug: &[u8]) -> Self {
        let asked_too_often =
            code == ErrorCode::ENHANCE_YOUR_CALM && debug == TOO_MANY_PINGS.as_bytes();
        let debug = String::from_utf8_lossy(debug);
        Self {
            text: format!("GOAWAY {code}, debug data: {debug:?}"),
            is_complaint: code != ErrorCode::NO_ERROR,
            asked_too_often,
        }
    }

    /// How a call failed that the server has not looked at.
    pub fn left_out(&self) -> Status {
        let text = format!("{self}, and had not looked at the call");
        Status::new(Code::Unavailable, text)
    }
}

impl fmt::Display for ReceivedGoAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server sent {}", self.text)
    }
}

/// Messages of a run beyond this are not kept whole by each connection: ten thousand of those may
/// be there.
const KEPT_MESSAGES_BYTES: usize = 4 << 10;

/// Where answers are counted.
pub(crate) struct CallSink<'a> {
    pub recorder: &'a mut Recorder,
    pub now_ns: u64,
    /// Calls of the worker that have not ended.
    pub in_flight: &'a mut u64,
    /// Calls that are counted by number and have ended.
    pub counted_done: &'a mut u64,
    /// Calls of the warm-up that ended in a window that is measured by number.
    pub stragglers: &'a mut LateWarmupCalls,
    pub count_errors: bool,
    /// Only calls that were issued in the window count.
    pub by_number: bool,
}

/// Calls that ended where they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateWarmupCalls {
    /// Those that ended OK.
    pub ok: u64,
    /// Those that failed.
    pub failed: u64,
}

/// What requests are made of.
pub(crate) struct Source<'a> {
    pub plan: &'a LoadPlan,
    /// Calls made so far by this worker, which numbers payloads and varying metadata.
    pub next_number: &'a mut u64,
    pub counted: bool,
}

impl LoadConnection {
    pub fn new(
        id: ConnectionId,
        connection_number: u32,
        place: Place,
        plan: &LoadPlan,
        head: &HeaderBlock,
        streams: u32,
        keepalive: Option<Keepalive>,
    ) -> Self {
        Self {
            id,
            connection_number,
            place,
            connection: Connection::new(Side::Client, &plan.config),
            stage: LoadConnectionState::Greeting,
            in_flight: 0,
            streams,
            farewell: None,
            was_of_use: false,
            streams_allowed: None,
            liveness: Liveness::new(keepalive),
            calls: Vec::new(),
            given_up: GivenUp::default(),
            head: head.clone(),
            requests: kept_requests(plan, head),
            issued: Vec::new(),
        }
    }

    /// Lets the connection write into the driver's buffer, or gives that back: called in pairs.
    #[inline]
    pub fn swap_output(&mut self, io: &mut IoContext) {
        std::mem::swap(&mut self.connection.sender.output, io.output(self.id));
    }

    /// Bytes have come: answers are checked and counted. Returns the bytes used up.
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        ledger: CallSink<'_>,
    ) -> Result<usize, ConnectionError> {
        let now_ns = ledger.now_ns;
        ledger.recorder.at(self.place.entry);
        let given_up_before = self.given_up.len();
        let mut answers = ResponseVisitor {
            ledger,
            calls: &mut self.calls,
            given_up: &mut self.given_up,
            ended: 0,
            unanswered: 0,
            settings_came: false,
            left_out: Vec::new(),
            farewell: None,
        };
        let consumed = self.connection.receive(bytes, &mut answers);
        let ResponseVisitor {
            ended,
            unanswered,
            settings_came,
            farewell,
            ..
        } = answers;
        self.in_flight -= ended;
        self.was_of_use |= ended > unanswered;
        if settings_came && self.stage == LoadConnectionState::Greeting {
            self.stage = LoadConnectionState::Ready;
        }
        if farewell.is_some() {
            self.farewell = farewell;
            self.stage = LoadConnectionState::Retiring;
        }
        if self.given_up.len() > given_up_before {
            self.reset_given_up(now_ns);
        }
        consumed
    }

    /// Tells the server of calls that nobody waits for, as far as it can bear that.
    #[cold]
    fn reset_given_up(&mut self, now_ns: u64) {
        let sender = &mut self.connection.sender;
        self.given_up.reset_due(now_ns, sender);
        if self.given_up.are_too_many(self.streams) {
            self.stage = LoadConnectionState::Retiring;
        }
    }

    /// Whether no call was ever made on it.
    pub fn made_no_call(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether it has nothing left to do.
    pub fn is_done(&self) -> bool {
        self.stage == LoadConnectionState::Retiring && self.in_flight == 0
    }

    /// Makes up to `most` calls, as many as are missing. Returns how many. Their start is stamped
    /// by [`LoadConnection::stamp`], just before they are written.
    #[inline]
    pub fn issue(&mut self, most: u64, source: &mut Source<'_>) -> u64 {
        if self.stage != LoadConnectionState::Ready {
            return 0;
        }
        let missing = u64::from(self.streams - self.in_flight.min(self.streams)).min(most);
        let mut made = 0;
        while made < missing {
            match self.request(source) {
                Ok(stream) => self.enter(stream, source.counted),
                Err(CannotOpen::Concurrency) => {
                    self.meet_limit(self.in_flight + made as u32);
                    break;
                }
                Err(CannotOpen::IdsUsedUp | CannotOpen::GoingAway) => {
                    self.stage = LoadConnectionState::Retiring;
                    break;
                }
            }
            *source.next_number += 1;
            made += 1;
        }
        self.in_flight += made as u32;
        made
    }

    /// The server allows no more streams. Where most of them are given up, a new connection has
    /// room for more calls.
    #[cold]
    fn meet_limit(&mut self, in_flight: u32) {
        self.streams_allowed = Some(self.connection.sender.live_streams() as u32);
        if self.given_up.len() > in_flight as usize {
            self.stage = LoadConnectionState::Retiring;
        }
    }

    #[inline]
    fn request(&mut self, source: &Source<'_>) -> Result<StreamKey, CannotOpen> {
        let plan = source.plan;
        let sender = &mut self.connection.sender;
        let at = match plan.messages.len() {
            1 => 0,
            many => (*source.next_number % many as u64) as usize,
        };
        if let Some(request) = self.requests.get_mut(at) {
            return sender.prepared_request(request);
        }
        let message = &plan.messages[at];
        let Some(name) = &plan.varying_metadata else {
            return sender.request(&mut self.head, &[], message);
        };
        let value = varying_value(*source.next_number);
        let extra = ExtraField {
            name,
            value: &value,
            indexing: Indexing::Never,
        };
        sender.request(&mut self.head, &[extra], message)
    }

    #[inline]
    fn enter(&mut self, stream: StreamKey, counted: bool) {
        let index = stream.index as usize;
        if index >= self.calls.len() {
            self.calls.resize(index + 1, Call::default());
        }
        self.calls[index] = Call::new(stream.id, counted);
        self.issued.push(stream.index);
    }

    /// The calls that were made since the last stamp start at what `clock_ns` says.
    #[inline]
    pub fn stamp(&mut self, clock_ns: impl FnOnce() -> u64) {
        if self.issued.is_empty() {
            return;
        }
        let start_ns = clock_ns();
        for index in self.issued.drain(..) {
            self.calls[index as usize].start_ns = start_ns;
        }
    }

    /// Whether there are calls that may have waited too long, or streams that are to be reset.
    pub fn may_expire(&self) -> bool {
        self.in_flight > 0 || self.given_up.len() > 0
    }

    /// Gives up on calls that started before `limit_ns`.
    pub fn expire(&mut self, limit_ns: u64, mut ledger: CallSink<'_>) {
        ledger.recorder.at(self.place.entry);
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.stream_id == 0 || call.start_ns == 0 || call.start_ns > limit_ns {
                continue;
            }
            let stream = StreamKey {
                index: index as u32,
                id: call.stream_id,
            };
            self.given_up.add(stream);
            ledger.failed(
                call,
                &Status::new(Code::DeadlineExceeded, "context deadline exceeded"),
            );
            *call = Call::default();
            self.in_flight -= 1;
        }
        if self.given_up.len() > 0 {
            self.reset_given_up(ledger.now_ns);
        }
    }

    /// The connection is gone: every call in flight failed.
    pub fn fail_all(&mut self, fault: &Status, mut ledger: CallSink<'_>) {
        ledger.recorder.at(self.place.entry);
        for call in self.calls.iter_mut().filter(|call| call.stream_id != 0) {
            ledger.failed(call, fault);
            *call = Call::default();
        }
        self.in_flight = 0;
    }
}

fn kept_requests(plan: &LoadPlan, head: &HeaderBlock) -> Vec<PreparedRequest> {
    let total_bytes: usize = plan.messages.iter().map(Vec::len).sum();
    if plan.varying_metadata.is_some() || total_bytes > KEPT_MESSAGES_BYTES {
        return Vec::new();
    }
    let request = |message: &Vec<u8>| PreparedRequest::new(head.clone(), message.clone());
    plan.messages.iter().map(request).collect()
}

impl CallSink<'_> {
    #[inline]
    fn belongs(&mut self, call: &Call) -> bool {
        *self.in_flight -= 1;
        *self.counted_done += u64::from(call.counted);
        call.counted || !self.by_number
    }

    /// A call was answered OK.
    #[inline]
    pub fn ok(&mut self, call: &Call) {
        if self.belongs(call) {
            self.recorder.ok(self.now_ns.saturating_sub(call.start_ns));
        } else {
            self.stragglers.ok += 1;
        }
    }

    /// A call was answered OK on a connection of its own.
    pub fn ok_with(&mut self, call: &Call, parts: SetupTimes) {
        let ok_before = self.recorder.ok;
        self.ok(call);
        if self.recorder.ok > ok_before {
            let setup = self.recorder.setup.get_or_insert_default();
            setup.record(parts);
        }
    }

    /// A call failed.
    pub fn failed(&mut self, call: &Call, fault: &Status) {
        if !self.belongs(call) {
            self.stragglers.failed += 1;
            return;
        }
        self.recorder.errors.add(fault.code, &fault.message, 1);
        if self.count_errors {
            self.recorder
                .latency(self.now_ns.saturating_sub(call.start_ns));
        }
    }
}

/// Checks answers as they come.
struct ResponseVisitor<'a> {
    ledger: CallSink<'a>,
    calls: &'a mut [Call],
    given_up: &'a mut GivenUp,
    ended: u32,
    /// How many of those the server did not answer.
    unanswered: u32,
    settings_came: bool,
    /// Calls that a GOAWAY leaves out. What it says comes behind them.
    left_out: Vec<StreamKey>,
    farewell: Option<ReceivedGoAway>,
}

impl ResponseVisitor<'_> {
    #[inline]
    fn call(&mut self, stream: StreamKey) -> Option<&mut Call> {
        self.calls
            .get_mut(stream.index as usize)
            .filter(|call| call.stream_id == stream.id)
    }

    #[inline]
    fn end(&mut self, sender: &mut Sender, stream: StreamKey, outcome: Result<(), Status>) {
        let Some(slot) = self.calls.get_mut(stream.index as usize) else {
            return;
        };
        match outcome {
            Ok(()) => self.ledger.ok(slot),
            Err(fault) => self.ledger.failed(slot, &fault),
        }
        slot.stream_id = 0;
        self.ended += 1;
        // A server may answer before it has read the whole request: what is held back is moot.
        if sender.is_blocked() && sender.blocked_bytes(stream) > 0 {
            self.given_up.add(stream);
        }
    }

    #[cold]
    fn end_unanswered(&mut self, sender: &mut Sender, stream: StreamKey, fault: Status) {
        self.unanswered += 1;
        self.end(sender, stream, Err(fault));
    }
}

impl Visitor for ResponseVisitor<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let call = self.call(stream)?;
        let mut meaning = None;
        if !call.head_came() {
            meaning = call.head(fields).then_some(token::HEAD);
            if !end_stream {
                return meaning;
            }
        }
        let outcome = call.trailers(fields);
        let is_trailers = meaning.is_none() && outcome.is_ok();
        self.end(sender, stream, outcome);
        is_trailers.then_some(token::TRAILERS)
    }

    #[inline]
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        let Some(call) = self.call(stream) else {
            return;
        };
        if token == token::HEAD {
            call.good_head();
            if end_stream {
                self.end(sender, stream, Err(final_status(None, None)));
            }
            return;
        }
        let outcome = call.check_body();
        self.end(sender, stream, outcome);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let Some(call) = self.call(stream) else {
            // Nobody waits for this answer: its own window stays shut, that of all others does not.
            return sender.release_connection_of(stream, data.len());
        };
        let is_due = call.body(data);
        if end_stream {
            let fault = call.no_trailers();
            self.end(sender, stream, Err(fault));
        } else if is_due {
            // All that has come since the last time.
            sender.release(stream, usize::MAX);
        }
    }

    fn reset(&mut self, sender: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        let Some(call) = self.call(stream) else {
            return;
        };
        match call.fault_of_reset(code, by) {
            Some(fault) => self.end_unanswered(sender, stream, fault),
            None => self.left_out.push(stream),
        }
    }

    fn goaway(&mut self, sender: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        let farewell = ReceivedGoAway::new(code, debug);
        for stream in std::mem::take(&mut self.left_out) {
            self.end_unanswered(sender, stream, farewell.left_out());
        }
        self.farewell = Some(farewell);
    }

    fn settings(&mut self, _: &mut Sender) {
        self.settings_came = true;
    }
}
