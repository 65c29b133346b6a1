//! The user of a connection: sends what the plan says, checks what it hears, and keeps a log of it.

use crate::exchange::{Exchange, Progress};
use crate::fields::{self, Blocks, Fields};
use crate::plan::Plan;
use crate::planted::Planted;
use crate::speech::{Answer, CallPlan, Leftover, Release, Speech, Style, When};
use bookend_wire::{
    CannotOpen, ErrorCode, HeaderList, Initiator, PreparedRequest, Sender, Side, StreamKey,
    Visitor, WholeRequest,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What an end was told, as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Headers { id: u32, fields: Fields, end_stream: bool },
    HeadersAgain { id: u32, token: u32, end_stream: bool },
    Data { id: u32, bytes: Vec<u8>, end_stream: bool },
    Reset { id: u32, code: ErrorCode, by: Initiator },
    Goaway { last_stream_id: u32, code: ErrorCode },
    Settings,
    SettingsAcknowledged,
    Pong([u8; 8]),
    Drained { id: u32 },
}

impl Event {
    /// The stream that it concerns; 0 for those of the connection.
    pub fn stream_id(&self) -> u32 {
        match self {
            Self::Headers { id, .. }
            | Self::HeadersAgain { id, .. }
            | Self::Data { id, .. }
            | Self::Reset { id, .. }
            | Self::Drained { id } => *id,
            Self::Goaway { .. } | Self::Settings | Self::SettingsAcknowledged | Self::Pong(_) => 0,
        }
    }
}

/// How a call ended for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Waiting,
    Open,
    Completed,
    Cancelled,
    Expired,
    Reset(ErrorCode),
    GivenUp,
}

/// What an end does of its own accord, between reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Open(usize),
    Say(u32),
    Release(u32, usize),
    Cancel(u32),
    Expire(u32),
    /// The answer is said, and the rest of the request is not wanted.
    Leave(u32),
    GiveUp(u32),
    Ping,
    Goaway,
}

/// How often a refused call is tried.
const ATTEMPTS: usize = 3;

/// Which call is on which stream: in a real system the path says it.
pub type Routes = Rc<RefCell<BTreeMap<u32, usize>>>;

pub struct App {
    side: Side,
    plan: Rc<Plan>,
    planted: Planted,
    routes: Routes,
    pub now: u64,
    pub exchanges: BTreeMap<u32, Exchange>,
    pub log: Vec<Event>,
    /// The first thing that was not as it has to be.
    pub fault: Option<String>,
    pub outcomes: Vec<Outcome>,
    attempts: Vec<usize>,
    pub pings: usize,
    pub pongs: usize,
    /// Pieces of which a part had to be held back.
    pub held_pieces: usize,
    /// Blocks that were known, and not decoded again.
    pub recalled: usize,
    /// Requests that came whole in what was read.
    pub whole_requests: usize,
    /// Of them, those that were answered at once.
    pub whole_answers: usize,
    pub refusals: usize,
    /// Heads that were told after that of a later stream: they waited for a body that did not come
    /// with them.
    pub late_heads: usize,
    /// Streams that were begun here, by their ids.
    met: BTreeSet<u32>,
    blocks: Blocks,
    again: PreparedRequest,
    tokens: Vec<Fields>,
}

impl App {
    pub fn new(side: Side, plan: Rc<Plan>, routes: Routes, planted: Planted) -> Self {
        let calls = plan.calls.len();
        Self {
            side,
            planted,
            routes,
            now: 0,
            exchanges: BTreeMap::new(),
            log: Vec::new(),
            fault: None,
            outcomes: vec![Outcome::Waiting; calls],
            attempts: vec![0; calls],
            pings: 0,
            pongs: 0,
            held_pieces: 0,
            recalled: 0,
            whole_requests: 0,
            whole_answers: 0,
            refusals: 0,
            late_heads: 0,
            met: BTreeSet::new(),
            blocks: Blocks::new(side),
            again: PreparedRequest::new(fields::head_block(Side::Client), vec![b'a'; 40]),
            tokens: Vec::new(),
            plan,
        }
    }

    pub fn act(&mut self, sender: &mut Sender, act: Act) {
        match act {
            Act::Open(call) => self.open(sender, call),
            Act::Say(id) => self.say(sender, id),
            Act::Release(id, bytes) => self.release(sender, id, bytes),
            Act::Cancel(id) => self.end(sender, id, ErrorCode::CANCEL, Outcome::Cancelled),
            Act::GiveUp(id) => self.end(sender, id, ErrorCode::CANCEL, Outcome::GivenUp),
            Act::Leave(id) => self.end(sender, id, ErrorCode::NO_ERROR, Outcome::Completed),
            Act::Expire(id) => self.expire(sender, id),
            Act::Ping => {
                self.pings += 1;
                sender.ping([self.pings as u8; 8]);
            }
            Act::Goaway => sender.goaway(ErrorCode::NO_ERROR, b"enough"),
        }
    }

    fn complain(&mut self, what: String) {
        let side = self.side;
        self.fault.get_or_insert_with(|| format!("{side:?}: {what}"));
    }

    fn open(&mut self, sender: &mut Sender, call: usize) {
        let plan = Rc::clone(&self.plan);
        let (speech, ticks) = (&plan.calls[call].request, plan.calls[call].timeout_ticks);
        let timeout = ticks.map(fields::timeout_value);
        let extra = fields::extra_fields(&speech.extra, timeout.as_deref());
        let opened = match speech.style {
            Style::Whole => sender.request(&mut self.blocks.head, &extra, speech.piece(0)),
            Style::Again => sender.prepared_request(&mut self.again),
            Style::Pieces => sender.open(),
        };
        let stream = match opened {
            Ok(stream) => stream,
            Err(error) => return self.complain(format!("could not open: {error}")),
        };
        self.routes.borrow_mut().insert(stream.id, call);
        self.attempts[call] += 1;
        self.outcomes[call] = Outcome::Open;
        let mut exchange = Exchange::new(call, stream, self.now);
        exchange.may_speak = true;
        exchange.deadline = ticks.map(|ticks| self.now + ticks);
        if speech.style == Style::Pieces {
            let is_all = speech.is_head_only();
            sender.headers_with(stream, &mut self.blocks.head, &extra, is_all);
            exchange.said = Progress::behind(is_all);
        } else {
            exchange.said_all(speech);
            self.held_pieces += usize::from(sender.blocked_bytes(stream) > 0);
        }
        self.exchanges.insert(stream.id, exchange);
    }

    fn say(&mut self, sender: &mut Sender, id: u32) {
        let Some(mut exchange) = self.exchanges.remove(&id) else {
            return;
        };
        if exchange.can_say() {
            let plan = Rc::clone(&self.plan);
            let speech = plan.calls[exchange.call].speech(self.side);
            match exchange.said {
                Progress::Nothing => self.say_head(sender, &mut exchange, speech),
                _ => self.say_more(sender, &mut exchange, speech),
            }
            let held_bytes = sender.blocked_bytes(exchange.stream);
            self.held_pieces += usize::from(held_bytes > 0);
            exchange.waits_for_drained = held_bytes > self.plan.ends.of(self.side).high_water_bytes;
        }
        self.exchanges.insert(id, exchange);
    }

    fn say_head(&mut self, sender: &mut Sender, exchange: &mut Exchange, speech: &Speech) {
        if speech.style == Style::Whole {
            let mut head = fields::head_block(self.side);
            for extra in &speech.extra {
                head.push(&extra.name, &extra.value);
            }
            let message = speech.piece(0);
            let trailers = &mut self.blocks.trailers;
            sender.reply(exchange.stream, &mut head, trailers, |output| {
                output.extend_from_slice(message);
            });
            return exchange.said_all(speech);
        }
        let extra = fields::extra_fields(&speech.extra, None);
        let is_all = speech.is_head_only();
        sender.headers_with(exchange.stream, &mut self.blocks.head, &extra, is_all);
        exchange.said = Progress::behind(is_all);
    }

    fn say_more(&mut self, sender: &mut Sender, exchange: &mut Exchange, speech: &Speech) {
        let nth = exchange.said_pieces;
        if nth < speech.pieces.len() && self.planted.is_said_twice(self.side) {
            exchange.repeat_piece(sender, speech, nth, false);
        }
        if exchange.say_piece(sender, speech) {
            let extra = fields::extra_fields(&speech.extra, None);
            sender.headers_with(exchange.stream, &mut self.blocks.trailers, &extra, true);
        }
    }

    fn release(&mut self, sender: &mut Sender, id: u32, bytes: usize) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.unreleased_bytes -= bytes;
            if self.planted != Planted::NothingReleased {
                sender.release(exchange.stream, bytes);
            }
        }
    }

    /// Ends a call abruptly.
    fn end(&mut self, sender: &mut Sender, id: u32, code: ErrorCode, outcome: Outcome) {
        if let Some(exchange) = self.exchanges.remove(&id) {
            sender.reset(exchange.stream, code);
            self.settle(exchange.call, outcome);
        }
    }

    /// An outcome stands once it is there: what comes behind a whole response changes nothing.
    fn settle(&mut self, call: usize, outcome: Outcome) {
        if self.side == Side::Client && self.outcomes[call] == Outcome::Open {
            self.outcomes[call] = outcome;
        }
    }

    fn expire(&mut self, sender: &mut Sender, id: u32) {
        if self.side == Side::Client {
            return self.end(sender, id, ErrorCode::CANCEL, Outcome::Expired);
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        exchange.deadline = None;
        let (stream, said) = (exchange.stream, exchange.said);
        exchange.said = Progress::Ended;
        match said {
            Progress::Nothing => sender.headers(stream, &mut self.blocks.expired_head, true),
            Progress::Begun => sender.headers(stream, &mut self.blocks.expired, true),
            Progress::Ended => {}
        }
    }

    /// What follows from something heard on a stream.
    fn go_on(&mut self, sender: &mut Sender, id: u32) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        let call = &self.plan.calls[exchange.call];
        if self.side == Side::Server {
            exchange.may_speak = match call.answer {
                Answer::OnHead => true,
                Answer::AfterBytes(bytes) => exchange.heard_bytes >= bytes,
                Answer::AtEnd => exchange.heard == Progress::Ended,
                Answer::Never => false,
            };
        }
        let heard_bytes = exchange.heard_bytes;
        let is_enough = |when| matches!(when, When::Heard(bytes) if heard_bytes > bytes);
        if call.cancel.is_some_and(|cancel| cancel.by == self.side && is_enough(cancel.when)) {
            return self.end(sender, id, ErrorCode::CANCEL, Outcome::Cancelled);
        }
        self.speak_inside(sender, id);
    }

    fn speak_inside(&mut self, sender: &mut Sender, id: u32) {
        if !self.plan.ends.of(self.side).acts_inside {
            return;
        }
        while self.exchanges.get(&id).is_some_and(Exchange::can_say) {
            self.say(sender, id);
        }
    }

    /// A head or trailers.
    fn hear_fields(&mut self, sender: &mut Sender, stream: StreamKey, heard: Fields, end: bool) {
        let (id, is_new) = (stream.id, !self.exchanges.contains_key(&stream.id));
        if is_new && !(self.side == Side::Server && self.meet(stream, &heard)) {
            return self.complain(format!("headers on stream {id}, which had ended"));
        }
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        let speaker = crate::both::other(self.side);
        let call = &self.plan.calls[exchange.call];
        let speech = call.speech(speaker);
        let is_expired = speaker == Side::Server && fields::says_expired(&heard);
        let wanted = match exchange.heard {
            _ if is_expired => heard.clone(),
            Progress::Nothing if speaker == Side::Client => {
                fields::head_of(speaker, speech, call.timeout_ticks)
            }
            Progress::Nothing => fields::head_of(speaker, speech, None),
            _ => fields::trailers_of(speaker, speech),
        };
        let was = exchange.heard;
        let is_whole = exchange.heard_bytes == speech.bytes.len() || is_expired;
        exchange.heard = Progress::behind(end);
        let number = exchange.call;
        if heard != wanted {
            return self.complain(format!("stream {id}: heard {heard:?}, said was {wanted:?}"));
        }
        if was == Progress::Ended || (was == Progress::Begun && !end) || (end && !is_whole) {
            return self.complain(format!("stream {id}: headers in the wrong place"));
        }
        if end {
            let outcome = if is_expired { Outcome::Expired } else { Outcome::Completed };
            self.settle(number, outcome);
        }
        self.go_on(sender, id);
    }

    /// A call that the server has not heard of.
    fn meet(&mut self, stream: StreamKey, heard: &Fields) -> bool {
        let Some(call) = self.routes.borrow().get(&stream.id).copied() else {
            return false;
        };
        self.late_heads += usize::from(self.met.last().is_some_and(|last| *last > stream.id));
        let is_new = self.met.insert(stream.id);
        let mut exchange = Exchange::new(call, stream, self.now);
        exchange.deadline = fields::timeout_ticks(heard).map(|ticks| self.now + ticks);
        self.exchanges.insert(stream.id, exchange);
        is_new
    }

    fn hear_data(&mut self, sender: &mut Sender, stream: StreamKey, bytes: &[u8], end: bool) {
        let (id, speaker) = (stream.id, crate::both::other(self.side));
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return self.complain(format!("data on stream {id}, which had ended"));
        };
        let call = &self.plan.calls[exchange.call];
        let said = &call.speech(speaker).bytes;
        let start = exchange.heard_bytes;
        exchange.heard_bytes += bytes.len();
        exchange.unreleased_bytes += bytes.len();
        let is_as_said = said.get(start..exchange.heard_bytes) == Some(bytes);
        let is_in_place = exchange.heard == Progress::Begun;
        let is_whole = !end || exchange.heard_bytes == said.len();
        if end {
            exchange.heard = Progress::Ended;
        }
        if !is_as_said || !is_in_place || !is_whole {
            return self.complain(format!("stream {id}: bytes from {start} on were not said"));
        }
        let release_bytes = match call.release.of(self.side) {
            Release::AtOnce => exchange.unreleased_bytes,
            Release::InHalves => exchange.unreleased_bytes / 2,
            Release::Later | Release::Never => 0,
        };
        let number = exchange.call;
        self.release(sender, id, release_bytes);
        if end {
            self.settle(number, Outcome::Completed);
        }
        self.go_on(sender, id);
    }

    fn hear_reset(&mut self, id: u32, code: ErrorCode, by: Initiator) {
        let Some(exchange) = self.exchanges.remove(&id) else {
            return self.complain(format!("stream {id} was reset, and had ended or never begun"));
        };
        if by == Initiator::Library {
            self.complain(format!("stream {id}: the peer misbehaved, {code}"));
        }
        let call = exchange.call;
        self.refusals += usize::from(code == ErrorCode::REFUSED_STREAM);
        let is_tried_again = code == ErrorCode::REFUSED_STREAM && self.attempts[call] < ATTEMPTS;
        self.settle(
            call,
            match is_tried_again {
                true => Outcome::Waiting,
                false => Outcome::Reset(code),
            },
        );
    }

    /// Calls that are not begun, or were refused and are tried again.
    pub fn waiting_calls(&self) -> impl Iterator<Item = usize> + '_ {
        let outcomes = self.outcomes.iter().enumerate();
        outcomes.filter(|(_, outcome)| **outcome == Outcome::Waiting).map(|(call, _)| call)
    }

    /// Whether nothing but `reply` is done with the stream of a request that has come whole.
    fn answers_at_once(&self, id: u32) -> bool {
        let routes = self.routes.borrow();
        let Some(call) = routes.get(&id).and_then(|call| self.plan.calls.get(*call)) else {
            return false;
        };
        self.plan.ends.server.acts_inside
            && call.response.style == Style::Whole
            && call.answer == Answer::AtEnd
            && call.cancel.is_none()
            && gives_back_late(&call.release.server)
    }

    /// The plan of a call of which a server does nothing before it has heard all, if it is one.
    fn answers_at_the_end(&self, stream: StreamKey) -> Option<&CallPlan> {
        let call = *self.routes.borrow().get(&stream.id)?;
        let call = self.plan.calls.get(call)?;
        (self.side == Side::Server && call.answer == Answer::AtEnd).then_some(call)
    }

    /// What this end could do now with that call.
    pub fn choices(&self, exchange: &Exchange, held_bytes: usize, choices: &mut Vec<Act>) {
        let id = exchange.stream.id;
        let call = &self.plan.calls[exchange.call];
        if exchange.can_say() {
            choices.push(Act::Say(id));
        }
        if exchange.unreleased_bytes > 0 && *call.release.of(self.side) != Release::Never {
            choices.push(Act::Release(id, exchange.unreleased_bytes));
        }
        if self.cancels_at(exchange).is_some_and(|time| time <= self.now) {
            choices.push(Act::Cancel(id));
        }
        if exchange.deadline.is_some_and(|time| time <= self.now) {
            choices.push(Act::Expire(id));
        }
        let has_left = exchange.said == Progress::Ended && held_bytes == 0;
        let wants_no_more = self.side == Side::Server && call.leftover == Leftover::Reset;
        if has_left && wants_no_more && exchange.heard != Progress::Ended {
            choices.push(Act::Leave(id));
        }
    }

    pub fn cancels_at(&self, exchange: &Exchange) -> Option<u64> {
        let cancel = self.plan.calls[exchange.call].cancel?;
        match cancel.when {
            When::After(ticks) if cancel.by == self.side => Some(exchange.opened_at + ticks),
            _ => None,
        }
    }

    /// Whether what cannot be opened says so.
    pub fn why_it_cannot_open(sender: &mut Sender) -> Option<CannotOpen> {
        match sender.may_open() {
            0 => sender.open().err(),
            _ => None,
        }
    }
}

impl Visitor for App {
    const TAKES_WHOLE_REQUESTS: bool = true;

    fn head_may_wait(&self, stream: StreamKey, _: u32) -> bool {
        self.answers_at_the_end(stream).is_some()
    }

    fn end_may_join(&self, stream: StreamKey) -> bool {
        let call = self.answers_at_the_end(stream);
        call.is_some_and(|call| gives_back_late(&call.release.server))
    }

    fn takes_whole_request(&self, _: WholeRequest<'_>) -> bool {
        true
    }

    fn whole_request(&mut self, sender: &mut Sender, request: WholeRequest<'_>) {
        let WholeRequest { mut stream, head, body } = request;
        let id = stream.id;
        let is_answered = self.answers_at_once(id);
        self.whole_requests += 1;
        self.whole_answers += usize::from(is_answered);
        if !is_answered {
            stream = sender.enlist(stream);
        }
        self.cached_headers(sender, stream, head, false);
        self.data(sender, stream, body, true);
        // Where the answer is held back the stream has a place after all.
        if let (Some(exchange), Some(listed)) = (self.exchanges.get_mut(&id), sender.listed(stream))
        {
            exchange.stream = listed;
        }
    }

    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        list: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let heard = fields::listed(list);
        self.tokens.push(heard.clone());
        let (id, fields) = (stream.id, heard.clone());
        self.log.push(Event::Headers { id, fields, end_stream });
        self.hear_fields(sender, stream, heard, end_stream);
        Some(self.tokens.len() as u32 - 1)
    }

    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        let id = stream.id;
        self.recalled += 1;
        self.log.push(Event::HeadersAgain { id, token, end_stream });
        let heard = self.tokens[token as usize].clone();
        self.hear_fields(sender, stream, heard, end_stream);
    }

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let (id, bytes) = (stream.id, data.to_vec());
        self.log.push(Event::Data { id, bytes, end_stream });
        if self.planted == Planted::ToldTwice {
            self.hear_data(sender, stream, data, false);
        }
        self.hear_data(sender, stream, data, end_stream);
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        let id = stream.id;
        self.log.push(Event::Reset { id, code, by });
        self.hear_reset(id, code, by);
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, _: &[u8]) {
        self.log.push(Event::Goaway { last_stream_id, code });
    }

    fn settings(&mut self, _: &mut Sender) {
        self.log.push(Event::Settings);
    }

    fn settings_acknowledged(&mut self) {
        self.log.push(Event::SettingsAcknowledged);
    }

    fn pong(&mut self, payload: [u8; 8]) {
        self.pongs += 1;
        self.log.push(Event::Pong(payload));
    }

    fn drained(&mut self, sender: &mut Sender, stream: StreamKey) {
        let id = stream.id;
        self.log.push(Event::Drained { id });
        if self.planted == Planted::DrainedForgotten {
            return;
        }
        if sender.blocked_bytes(stream) > 0 {
            self.complain(format!(
                "stream {id} reports that it has drained, and holds something back"
            ));
        }
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.waits_for_drained = false;
        }
        self.speak_inside(sender, id);
    }
}

fn gives_back_late(release: &Release) -> bool {
    matches!(release, Release::Later | Release::Never)
}
