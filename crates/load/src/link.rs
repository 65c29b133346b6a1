//! One connection of the generator: requests go out, answers come in and are checked.

use crate::call::{Call, Fault, memo};
use crate::metadata::varying_value;
use crate::plan::Plan;
use crate::recorder::Recorder;
use bookend_io::{Session, Turn};
use bookend_wire::grpc::Code;
use bookend_wire::{
    Blame, Block, CannotOpen, Connection, ConnectionError, ErrorCode, ExtraField, HeaderList,
    Indexing, Request, Role, Sender, Stream, Visitor,
};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The server's SETTINGS have not come.
    Greeting,
    /// Calls are made.
    Ready,
    /// No more calls: its ids are used up, or the server is going away.
    Retiring,
}

/// One connection and its calls in flight.
#[derive(Debug)]
pub(crate) struct Link {
    pub session: Session,
    /// Which of the worker's connections this is.
    pub connection_number: usize,
    pub connection: Connection,
    pub stage: Stage,
    pub in_flight: u32,
    /// Calls to be kept in flight.
    pub streams: u32,
    /// What the server said when it went away, if it did.
    pub farewell: Option<String>,
    /// Whether any call has ended on it.
    pub was_of_use: bool,
    calls: Vec<Call>,
    head: Block,
    /// The requests whole, one a message, where they are small and do not vary.
    requests: Vec<Request>,
    issued: Vec<u32>,
}

/// Messages of a run beyond this are not kept whole by each connection: ten thousand of those may
/// be there.
const KEPT_MESSAGES_BYTES: usize = 4 << 10;

/// Where answers are counted.
pub(crate) struct Ledger<'a> {
    pub recorder: &'a mut Recorder,
    pub now_ns: u64,
    /// Calls that are counted by number and have ended.
    pub counted_done: &'a mut u64,
    /// Calls of the warm-up that ended in a window that is measured by number.
    pub stragglers: &'a mut Stragglers,
    pub count_errors: bool,
    /// Only calls that were issued in the window count.
    pub by_number: bool,
}

/// Calls that ended where they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// Those that ended OK.
    pub ok: u64,
    /// Those that failed.
    pub failed: u64,
}

/// What requests are made of.
pub(crate) struct Source<'a> {
    pub plan: &'a Plan,
    /// Calls made so far by this worker, which numbers payloads and varying metadata.
    pub next_number: &'a mut u64,
    pub counted: bool,
}

impl Link {
    pub fn new(session: Session, connection_number: usize, plan: &Plan, streams: u32) -> Self {
        Self {
            session,
            connection_number,
            connection: Connection::new(Role::Client, &plan.config),
            stage: Stage::Greeting,
            in_flight: 0,
            streams,
            farewell: None,
            was_of_use: false,
            calls: Vec::new(),
            head: plan.head(),
            requests: kept_requests(plan),
            issued: Vec::new(),
        }
    }

    /// Lets the connection write into the driver's buffer, or gives that back: called in pairs.
    #[inline]
    pub fn swap_output(&mut self, turn: &mut Turn) {
        std::mem::swap(
            &mut self.connection.sender.output,
            turn.output(self.session),
        );
    }

    /// Bytes have come: answers are checked and counted. Returns the bytes used up.
    #[inline]
    pub fn receive(&mut self, bytes: &[u8], ledger: Ledger<'_>) -> Result<usize, ConnectionError> {
        let mut answers = Answers {
            ledger,
            calls: &mut self.calls,
            ended: 0,
            settings_came: false,
            farewell: None,
        };
        let consumed = self.connection.receive(bytes, &mut answers);
        let Answers {
            ended,
            settings_came,
            farewell,
            ..
        } = answers;
        self.in_flight -= ended;
        self.was_of_use |= ended > 0;
        if settings_came && self.stage == Stage::Greeting {
            self.stage = Stage::Ready;
        }
        if farewell.is_some() {
            self.farewell = farewell;
            self.stage = Stage::Retiring;
        }
        consumed
    }

    /// Makes up to `most` calls, as many as are missing. Returns how many. Their start is stamped
    /// by [`Link::stamp`], just before they are written.
    #[inline]
    pub fn issue(&mut self, most: u64, source: &mut Source<'_>) -> u64 {
        if self.stage != Stage::Ready {
            return 0;
        }
        let missing = u64::from(self.streams - self.in_flight.min(self.streams)).min(most);
        let mut made = 0;
        while made < missing {
            match self.request(source) {
                Ok(stream) => self.enter(stream, source.counted),
                Err(CannotOpen::Concurrency) => break,
                Err(CannotOpen::IdsUsedUp | CannotOpen::GoingAway) => {
                    self.stage = Stage::Retiring;
                    break;
                }
            }
            *source.next_number += 1;
            made += 1;
        }
        self.in_flight += made as u32;
        made
    }

    #[inline]
    fn request(&mut self, source: &Source<'_>) -> Result<Stream, CannotOpen> {
        let plan = source.plan;
        let sender = &mut self.connection.sender;
        let at = match plan.messages.len() {
            1 => 0,
            many => (*source.next_number % many as u64) as usize,
        };
        if let Some(request) = self.requests.get_mut(at) {
            return sender.request_again(request);
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
    fn enter(&mut self, stream: Stream, counted: bool) {
        let key = stream.key as usize;
        if key >= self.calls.len() {
            self.calls.resize(key + 1, Call::default());
        }
        self.calls[key] = Call::new(stream.id, counted);
        self.issued.push(stream.key);
    }

    /// The calls that were made since the last stamp start at what `clock_ns` says.
    #[inline]
    pub fn stamp(&mut self, clock_ns: impl FnOnce() -> u64) {
        if self.issued.is_empty() {
            return;
        }
        let start_ns = clock_ns();
        for key in self.issued.drain(..) {
            self.calls[key as usize].start_ns = start_ns;
        }
    }

    /// Gives up on calls that started before `limit_ns`.
    pub fn expire(&mut self, limit_ns: u64, mut ledger: Ledger<'_>) {
        for (key, call) in self.calls.iter_mut().enumerate() {
            if call.stream_id == 0 || call.start_ns == 0 || call.start_ns > limit_ns {
                continue;
            }
            let stream = Stream {
                key: key as u32,
                id: call.stream_id,
            };
            self.connection.sender.reset(stream, ErrorCode::CANCEL);
            ledger.failed(
                call,
                &Fault::new(Code::DeadlineExceeded, "context deadline exceeded"),
            );
            *call = Call::default();
            self.in_flight -= 1;
        }
    }

    /// The connection is gone: every call in flight failed.
    pub fn fail_all(&mut self, fault: &Fault, mut ledger: Ledger<'_>) {
        for call in self.calls.iter_mut().filter(|call| call.stream_id != 0) {
            ledger.failed(call, fault);
            *call = Call::default();
        }
        self.in_flight = 0;
    }
}

fn kept_requests(plan: &Plan) -> Vec<Request> {
    let total_bytes: usize = plan.messages.iter().map(Vec::len).sum();
    if plan.varying_metadata.is_some() || total_bytes > KEPT_MESSAGES_BYTES {
        return Vec::new();
    }
    let request = |message: &Vec<u8>| Request::new(plan.head(), message.clone());
    plan.messages.iter().map(request).collect()
}

impl Ledger<'_> {
    #[inline]
    fn belongs(&mut self, call: &Call) -> bool {
        *self.counted_done += u64::from(call.counted);
        call.counted || !self.by_number
    }

    #[inline]
    fn ok(&mut self, call: &Call) {
        if self.belongs(call) {
            self.recorder.ok(self.now_ns.saturating_sub(call.start_ns));
        } else {
            self.stragglers.ok += 1;
        }
    }

    fn failed(&mut self, call: &Call, fault: &Fault) {
        if !self.belongs(call) {
            self.stragglers.failed += 1;
            return;
        }
        self.recorder.errors.add(fault.code, &fault.text, 1);
        if self.count_errors {
            self.recorder
                .latency(self.now_ns.saturating_sub(call.start_ns));
        }
    }
}

/// Checks answers as they come.
struct Answers<'a> {
    ledger: Ledger<'a>,
    calls: &'a mut [Call],
    ended: u32,
    settings_came: bool,
    farewell: Option<String>,
}

impl Answers<'_> {
    #[inline]
    fn call(&mut self, stream: Stream) -> Option<&mut Call> {
        self.calls
            .get_mut(stream.key as usize)
            .filter(|call| call.stream_id == stream.id)
    }

    #[inline]
    fn end(&mut self, sender: &mut Sender, stream: Stream, outcome: Result<(), Fault>) {
        let Some(slot) = self.calls.get_mut(stream.key as usize) else {
            return;
        };
        match outcome {
            Ok(()) => self.ledger.ok(slot),
            Err(fault) => self.ledger.failed(slot, &fault),
        }
        slot.stream_id = 0;
        self.ended += 1;
        // A server may answer before it has read the whole request: what is held back is moot.
        if sender.holds_back() && sender.held_back_bytes(stream) > 0 {
            sender.reset(stream, ErrorCode::CANCEL);
        }
    }
}

impl Visitor for Answers<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let call = self.call(stream)?;
        let mut meaning = None;
        if !call.head_came() {
            meaning = call.head(fields).then_some(memo::HEAD);
            if !end_stream {
                return meaning;
            }
        }
        let outcome = call.trailers(fields);
        let is_trailers = meaning.is_none() && outcome.is_ok();
        self.end(sender, stream, outcome);
        is_trailers.then_some(memo::TRAILERS)
    }

    #[inline]
    fn headers_again(&mut self, sender: &mut Sender, stream: Stream, memo: u32, end_stream: bool) {
        let Some(call) = self.call(stream) else {
            return;
        };
        if memo == memo::HEAD {
            call.good_head();
            if end_stream {
                let fault = Fault::new(Code::Unknown, "the server sent no grpc-status");
                self.end(sender, stream, Err(fault));
            }
            return;
        }
        let outcome = call.check_body();
        self.end(sender, stream, outcome);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool) {
        let Some(call) = self.call(stream) else {
            return;
        };
        call.body(data);
        if end_stream {
            let text = "server closed the stream without sending trailers";
            self.end(sender, stream, Err(Fault::new(Code::Internal, text)));
        } else if data.len() > RELEASE_AT_ONCE_BYTES {
            sender.release(stream, data.len());
        }
    }

    fn reset(&mut self, sender: &mut Sender, stream: Stream, code: ErrorCode, by: Blame) {
        if self.call(stream).is_none() {
            return;
        }
        let text = match by {
            Blame::Peer => format!("stream terminated by RST_STREAM with error code: {code}"),
            Blame::PeerMisbehaved => format!("the server broke HTTP/2 on a stream: {code}"),
        };
        self.end(sender, stream, Err(Fault::new(Code::of_reset(code), text)));
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        let debug = String::from_utf8_lossy(debug);
        self.farewell = Some(format!(
            "the server sent GOAWAY {code}, debug data: {debug:?}"
        ));
    }

    fn settings(&mut self, _: &mut Sender) {
        self.settings_came = true;
    }
}

/// Smaller pieces are given back to the server's windows when their stream ends, which is at once.
const RELEASE_AT_ONCE_BYTES: usize = 8_192;
