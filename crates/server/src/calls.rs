//! The calls of one connection: what the wire tells of them becomes work for services.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_io::{HeldSignals, Turn};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{Blame, ErrorCode, HeaderList, Sender, Stream, Visitor};

use crate::Context;
use crate::call::{Call, Phase};
use crate::heads::{HeadIndex, Heads};
use crate::limits::Limits;
use crate::metadata::ResponseMetadata;
use crate::patience::ResetBudget;
use crate::reply::{Answers, Outcome, Reply, internal};
use crate::responder::{Answer, ReturnAddress};
use crate::router::Router;
use crate::service::Kind;
use crate::shard::Counts;
use crate::stream_call::StreamCall;
use crate::unary::{self, Gathered};

/// What a connection's calls have in common, and their states by the key of their stream.
pub(crate) struct Calls {
    pub answers: Answers,
    pub address: ReturnAddress,
    /// The client's SETTINGS have come.
    pub greeted: bool,
    /// The client does what it may not: the connection is to be closed.
    pub too_much: bool,
    resets: ResetBudget,
    panics: u64,
    heads: Heads,
    metadata: ResponseMetadata,
    calls: Vec<Call>,
    unfinished_bytes: usize,
}

/// Handles what one read has brought.
pub(crate) struct Handling<'a> {
    pub calls: &'a mut Calls,
    pub router: &'a Router,
    pub limits: &'a Limits,
    pub turn: &'a Turn,
    /// While deferred handlers hand their calls to other threads: those are called once for all.
    pub held: Option<HeldSignals>,
}

impl Calls {
    pub fn new(address: ReturnAddress, limits: &Limits) -> Self {
        Calls {
            answers: Answers::new(),
            address,
            greeted: false,
            too_much: false,
            resets: ResetBudget::new(limits.resets),
            panics: 0,
            heads: Heads::default(),
            metadata: ResponseMetadata::default(),
            calls: Vec::new(),
            unfinished_bytes: 0,
        }
    }

    /// Sends an answer that was put off. False if the call is over already.
    pub fn deliver(&mut self, sender: &mut Sender, answer: Answer) -> bool {
        let stream = answer.stream;
        self.answers.waiting -= 1;
        if !self.has(stream) || !sender.is_open(stream) {
            return false;
        }
        let call = self.call(stream);
        let Phase::Deferred(fields) = &mut call.phase else {
            return false;
        };
        let fields = fields.take();
        call.phase = Phase::OVER;
        self.answers
            .deferred(sender, stream, fields.as_deref(), &answer.result);
        true
    }

    /// Moves what was counted since the last report to `counts`.
    #[inline]
    pub fn report(&mut self, counts: &mut Counts) {
        let tally = std::mem::take(&mut self.answers.tally);
        counts.answered_ok += tally.ok;
        counts.answered_error += tally.error;
        counts.panics += std::mem::take(&mut self.panics);
    }

    /// Whether the call of that stream is known: not if the wire ended it at its head.
    fn has(&self, stream: Stream) -> bool {
        self.calls
            .get(stream.key as usize)
            .is_some_and(|call| call.is(stream))
    }

    #[inline]
    fn call(&mut self, stream: Stream) -> &mut Call {
        &mut self.calls[stream.key as usize]
    }

    /// Puts a call in its place. What stood there belonged to a stream that has ended.
    #[inline]
    fn enter(&mut self, stream: Stream, call: Call) {
        match self.calls.get_mut(stream.key as usize) {
            Some(place) => *place = call,
            None => self.enter_new(stream, call),
        }
    }

    #[cold]
    fn enter_new(&mut self, stream: Stream, call: Call) {
        self.calls.resize_with(stream.key as usize + 1, Call::none);
        self.calls[stream.key as usize] = call;
    }

    /// Takes a call out of its phase: it is over, whatever still comes on its stream.
    fn leave(&mut self, stream: Stream) -> Phase {
        let call = self.call(stream);
        let head = call.head.take();
        let phase = std::mem::replace(&mut call.phase, Phase::OVER);
        if let Some(head) = head {
            self.heads.give_back(head);
        }
        self.unfinished_bytes -= match &phase {
            Phase::Gathering(gathered) => gathered.len(),
            Phase::Streaming(streaming) => streaming.unfinished_bytes(),
            Phase::Over { .. } | Phase::Awaiting | Phase::Deferred(_) => 0,
        };
        phase
    }
}

impl Visitor for Handling<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        if self.calls.has(stream) {
            // Trailers of a request carry nothing that gRPC reads.
            self.ended(sender, stream);
            return None;
        }
        let index = self.calls.heads.take();
        match self.calls.heads.head_mut(index).read(fields, self.router) {
            Ok(()) => {
                let known = self.calls.heads.recognise(index);
                self.begin(sender, stream, known.unwrap_or(index), end_stream);
                known.map(|index| index.0)
            }
            Err(refusal) => {
                self.calls.heads.give_back(index);
                self.calls.enter(stream, Call::over(stream));
                self.calls
                    .answers
                    .refuse(sender, stream, &refusal, self.router.page());
                None
            }
        }
    }

    #[inline]
    fn headers_again(&mut self, sender: &mut Sender, stream: Stream, memo: u32, end_stream: bool) {
        self.begin(sender, stream, HeadIndex(memo), end_stream);
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool) {
        let limit = self.limits.max_message_bytes;
        let call = self.calls.call(stream);
        if end_stream
            && let Phase::Awaiting = call.phase
            && let Some(head) = call.head
            && let Some(message) = unary::whole_message(data, limit)
        {
            call.head = None;
            call.phase = Phase::OVER;
            let deadline_ns = call.deadline_ns;
            self.handle(sender, stream, head, deadline_ns, message);
            // Of an answered call there is nothing left; one that waits is to cost no window.
            sender.release(stream, data.len());
        } else {
            self.data_slowly(sender, stream, data, end_stream);
        }
    }

    fn reset(&mut self, sender: &mut Sender, stream: Stream, _: ErrorCode, _: Blame) {
        if self.calls.has(stream) {
            self.calls.leave(stream);
        }
        if !self.calls.resets.take(|| self.turn.now_ns()) && !self.calls.too_much {
            self.calls.too_much = true;
            sender.goaway(ErrorCode::ENHANCE_YOUR_CALM, b"too many streams were reset");
        }
    }

    fn settings(&mut self, _: &mut Sender) {
        self.calls.greeted = true;
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}

    fn drained(&mut self, sender: &mut Sender, stream: Stream) {
        if self.calls.has(stream) {
            self.stream_step(sender, stream, |call, sender, answers| {
                call.drained(sender, answers, stream);
            });
        }
    }
}

impl Handling<'_> {
    #[inline]
    fn begin(&mut self, sender: &mut Sender, stream: Stream, index: HeadIndex, end_stream: bool) {
        let head = self.calls.heads.head(index);
        let until = |timeout_ns| self.turn.now_ns().saturating_add(timeout_ns);
        let (kind, deadline_ns) = (head.route.kind, head.timeout_ns.map(until));
        self.calls
            .enter(stream, Call::awaiting(stream, index, deadline_ns));
        match kind {
            Kind::Inline => {}
            Kind::Deferred => self.check_waiting(sender, stream),
            Kind::Stream => self.open_stream(sender, stream, index, deadline_ns),
        }
        if end_stream {
            self.ended(sender, stream);
        }
    }

    /// Handlers that have not answered count as long as they run: a client that resets its streams
    /// gets no more of them than one that waits.
    fn check_waiting(&mut self, sender: &mut Sender, stream: Stream) {
        let limit = self
            .limits
            .http2
            .settings
            .max_concurrent_streams
            .unwrap_or(u32::MAX);
        if self.calls.answers.waiting >= limit {
            let status = Status::new(Code::ResourceExhausted, "too many calls wait for an answer");
            self.fail(sender, stream, &status);
        }
    }

    /// Runs the handler of a unary call whose request is there.
    #[inline]
    fn handle(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        index: HeadIndex,
        deadline_ns: Option<u64>,
        message: &[u8],
    ) {
        let calls = &mut *self.calls;
        let head = calls.heads.head(index);
        match head.route.kind {
            Kind::Deferred => {
                self.held.get_or_insert_with(HeldSignals::begin);
            }
            // It should not wait for another thread. If it does, that one must have been called.
            Kind::Inline | Kind::Stream => self.held = None,
        }
        let target = self.router.target(head.route);
        let context = Context {
            metadata: &head.metadata,
            response: &calls.metadata,
            deadline_ns,
            now_ns: deadline_ns.map_or(0, |_| self.turn.now_ns()),
        };
        calls.answers.outcome = Outcome::Nothing;
        let reply = Reply {
            sender: &mut *sender,
            answers: &mut calls.answers,
            metadata: &calls.metadata,
            address: &calls.address,
            stream,
        };
        let call = || target.service.call(target.method, message, &context, reply);
        let panicked = catch_unwind(AssertUnwindSafe(call)).is_err();
        if panicked || calls.answers.outcome != Outcome::Answered {
            self.not_answered(sender, stream, panicked);
        }
        self.calls.heads.give_back(index);
    }

    #[cold]
    fn not_answered(&mut self, sender: &mut Sender, stream: Stream, panicked: bool) {
        let calls = &mut *self.calls;
        calls.panics += u64::from(panicked);
        let fields = calls.metadata.used().then(|| calls.metadata.take());
        match calls.answers.outcome {
            Outcome::Answered => {}
            Outcome::HeadSent { output_bytes } => {
                calls.answers.encoder_panicked(sender, stream, output_bytes);
            }
            Outcome::Deferred if !panicked => {
                calls.call(stream).phase = Phase::Deferred(fields.map(Box::new));
            }
            Outcome::Nothing | Outcome::Deferred => {
                let why = if panicked {
                    "panicked"
                } else {
                    "gave no answer"
                };
                let status = internal(format!("the handler {why}"));
                calls.answers.fail(sender, stream, &status);
            }
        }
    }

    fn data_slowly(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        match self.calls.call(stream).phase {
            Phase::Over { .. } => self.discard(sender, stream, data.len(), end_stream),
            Phase::Streaming(_) => {
                let limit = self.limits.max_message_bytes;
                self.stream_step(sender, stream, |call, sender, answers| {
                    call.received(sender, answers, stream, data, limit);
                });
            }
            Phase::Awaiting | Phase::Gathering(_) => self.gather(sender, stream, data),
            Phase::Deferred(_) => {}
        }
        if end_stream {
            self.ended(sender, stream);
        }
    }

    /// Adds to a request that did not come in one piece.
    fn gather(&mut self, sender: &mut Sender, stream: Stream, data: &[u8]) {
        self.calls.unfinished_bytes += data.len();
        let room = self.limits.max_unfinished_bytes;
        let enough_room = self.calls.unfinished_bytes <= room;
        let call = self.calls.call(stream);
        if let Phase::Awaiting = call.phase {
            call.phase = Phase::Gathering(Box::default());
        }
        let Phase::Gathering(gathered) = &mut call.phase else {
            return;
        };
        let result = match gathered.push(data, self.limits.max_message_bytes) {
            Ok(()) if !enough_room => Err(unary::no_room(room)),
            result => result,
        };
        if let Err(status) = result {
            self.fail(sender, stream, &status);
        }
    }

    /// The client sends no more on this stream.
    fn ended(&mut self, sender: &mut Sender, stream: Stream) {
        let call = self.calls.call(stream);
        match call.phase {
            Phase::Over { .. } | Phase::Deferred(_) => {}
            Phase::Awaiting => self.fail(sender, stream, &unary::no_message()),
            Phase::Streaming(_) => self.stream_step(sender, stream, |call, sender, answers| {
                call.ended(sender, answers, stream);
            }),
            Phase::Gathering(_) => {
                let (head, deadline_ns) = (call.head.take(), call.deadline_ns);
                let Some(head) = head else { return };
                let Phase::Gathering(gathered) = self.calls.leave(stream) else {
                    return;
                };
                self.handle_gathered(sender, stream, head, deadline_ns, &gathered);
            }
        }
    }

    fn handle_gathered(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        head: HeadIndex,
        deadline_ns: Option<u64>,
        gathered: &Gathered,
    ) {
        match gathered.message() {
            Ok(message) => self.handle(sender, stream, head, deadline_ns, message),
            Err(status) => {
                self.calls.heads.give_back(head);
                self.calls.answers.fail(sender, stream, &status);
            }
        }
    }

    fn fail(&mut self, sender: &mut Sender, stream: Stream, status: &Status) {
        self.calls.leave(stream);
        self.calls.answers.fail(sender, stream, status);
    }

    /// Throws away what comes after the answer, up to a bound: then the client is told to stop, as
    /// RFC 9113 section 8.1 provides.
    fn discard(&mut self, sender: &mut Sender, stream: Stream, bytes: usize, end_stream: bool) {
        /// A request whose rest is on its way already when the answer goes out: one usual window.
        const DISCARDED_BYTES_MAX: usize = 65_535;
        let Phase::Over { discarded_bytes } = &mut self.calls.call(stream).phase else {
            return;
        };
        *discarded_bytes += bytes;
        if *discarded_bytes > DISCARDED_BYTES_MAX && !end_stream {
            sender.reset(stream, ErrorCode::NO_ERROR);
        }
    }

    fn open_stream(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        index: HeadIndex,
        deadline_ns: Option<u64>,
    ) {
        self.held = None;
        let head = self.calls.heads.head(index);
        let target = self.router.target(head.route);
        let context = Context {
            metadata: &head.metadata,
            response: &self.calls.metadata,
            deadline_ns,
            now_ns: deadline_ns.map_or(0, |_| self.turn.now_ns()),
        };
        let open = || target.service.open(target.method, &context);
        match catch_unwind(AssertUnwindSafe(open)) {
            Ok(Some(handler)) => {
                let fields = self.calls.metadata.take();
                let call = Box::new(StreamCall::new(handler, fields));
                self.calls.call(stream).phase = Phase::Streaming(call);
            }
            Ok(None) => {
                let status = Status::new(Code::Unimplemented, "unknown method");
                self.fail(sender, stream, &status);
            }
            Err(_) => {
                self.calls.panics += 1;
                self.fail(sender, stream, &internal("the handler panicked"));
            }
        }
    }

    /// Lets a streaming call go on; takes it out once it has ended.
    fn stream_step(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        step: impl FnOnce(&mut StreamCall, &mut Sender, &mut Answers),
    ) {
        self.held = None;
        let calls = &mut *self.calls;
        let call = &mut calls.calls[stream.key as usize];
        let Phase::Streaming(streaming) = &mut call.phase else {
            return;
        };
        let answers = &mut calls.answers;
        calls.unfinished_bytes -= streaming.unfinished_bytes();
        let step = || step(streaming, sender, answers);
        if catch_unwind(AssertUnwindSafe(step)).is_err() {
            calls.panics += 1;
            streaming.fail(sender, answers, stream, internal("the handler panicked"));
        }
        calls.unfinished_bytes += streaming.unfinished_bytes();
        if calls.unfinished_bytes > self.limits.max_unfinished_bytes {
            let status = unary::no_room(self.limits.max_unfinished_bytes);
            streaming.fail(sender, answers, stream, status);
        }
        if streaming.has_ended() {
            calls.leave(stream);
        }
    }
}
