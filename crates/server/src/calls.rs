//! The calls of one connection: their states, and what they have in common.

mod body;
mod deadlines;
mod handling;
mod pool;
mod stalled;
mod streams;

use std::collections::VecDeque;

use bookend_wire::grpc::Status;
use bookend_wire::keepalive::TOO_MANY_PINGS;
use bookend_wire::{ErrorCode, Sender, StreamKey};

use crate::call::{Call, Phase};
use crate::heads::Heads;
use crate::limits::Limits;
use crate::patience::Budget;
use crate::reply::Answers;
use crate::responder::{Letter, News, ReturnAddress};
use crate::response_metadata::ResponseMetadata;
use crate::shard::Counts;

pub(crate) use deadlines::CallOf;
pub(crate) use handling::{FAREWELL_PING, Handling};

/// What a connection's calls have in common, and their states by the key of their stream.
pub(crate) struct Calls {
    pub answers: Answers,
    pub address: ReturnAddress,
    /// The client's SETTINGS have come.
    pub greeted: bool,
    /// The client does what it may not: the connection is to be closed.
    pub too_much: bool,
    /// The client has read that the connection takes no more calls.
    pub farewell_heard: bool,
    resets: Budget,
    glitches: Budget,
    panics: u64,
    heads: Heads,
    metadata: ResponseMetadata,
    calls: Vec<Call>,
    /// Of streams, as it was when each of them was last looked at: never less than there is.
    unfinished_bytes: usize,
    /// What the streams of this connection have in their send buffers, as it was when each of them
    /// was last looked at: never less than there is.
    held_bytes: usize,
    /// Streams that wait for their turn, the one that waits longest first.
    ready: VecDeque<StreamKey>,
    /// By the key of their stream, of requests that are waited for.
    standstills: Vec<stalled::Standstill>,
}

impl Calls {
    pub fn new(address: ReturnAddress, limits: &Limits) -> Self {
        Calls {
            answers: Answers::new(),
            address,
            greeted: false,
            too_much: false,
            farewell_heard: false,
            resets: Budget::new(limits.resets),
            glitches: Budget::new(limits.glitches),
            panics: 0,
            heads: Heads::default(),
            metadata: ResponseMetadata::default(),
            calls: Vec::new(),
            unfinished_bytes: 0,
            held_bytes: 0,
            ready: VecDeque::new(),
            standstills: Vec::new(),
        }
    }

    /// Acts on what another thread says about a call. False if it came too late.
    pub fn receive(&mut self, sender: &mut Sender, letter: Letter, limits: &Limits) -> bool {
        let stream = letter.stream;
        match letter.news {
            News::Answer(result) => {
                self.answers.waiting -= 1;
                self.deliver(sender, stream, &result)
            }
            News::Look => {
                self.look(sender, stream, limits);
                true
            }
            News::HandlerEnded { late, .. } => {
                self.answers.waiting -= 1;
                self.look(sender, stream, limits);
                !late
            }
        }
    }

    /// Sends an answer that was put off. False if the call is over already.
    fn deliver(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        result: &Result<Vec<u8>, Status>,
    ) -> bool {
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
            .deferred(sender, stream, fields.as_deref(), result);
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

    /// Counts what the client has done that was wrong or of no use.
    #[cold]
    pub fn take_glitches(&mut self, sender: &mut Sender, now_ns: impl FnOnce() -> u64) {
        let what = match sender.glitches_are_pings() {
            true => TOO_MANY_PINGS,
            false => "too much that was wrong or useless",
        };
        let glitches = sender.take_glitches();
        if !self.glitches.take(glitches, now_ns) {
            self.is_too_much(sender, what);
        }
    }

    /// The client has used up what it may do: it is told so, once, and the connection closed.
    fn is_too_much(&mut self, sender: &mut Sender, what: &str) {
        if !std::mem::replace(&mut self.too_much, true) {
            sender.goaway(ErrorCode::ENHANCE_YOUR_CALM, what.as_bytes());
        }
    }

    /// Whether the call of that stream is known: not if the wire ended it at its head.
    fn has(&self, stream: StreamKey) -> bool {
        self.calls
            .get(stream.index as usize)
            .is_some_and(|call| call.is(stream))
    }

    #[inline]
    fn call(&mut self, stream: StreamKey) -> &mut Call {
        &mut self.calls[stream.index as usize]
    }

    /// Puts a call in its place. What stood there belonged to a stream that has ended.
    #[inline]
    fn enter(&mut self, stream: StreamKey, call: Call) {
        match self.calls.get_mut(stream.index as usize) {
            Some(place) => *place = call,
            None => self.enter_new(stream, call),
        }
    }

    #[cold]
    fn enter_new(&mut self, stream: StreamKey, call: Call) {
        self.calls
            .resize_with(stream.index as usize + 1, Call::none);
        self.calls[stream.index as usize] = call;
    }

    /// Takes a call out of its phase: it is over, whatever still comes on its stream.
    fn leave(&mut self, stream: StreamKey) -> Phase {
        let call = self.call(stream);
        let head = call.head.take();
        let phase = std::mem::replace(&mut call.phase, Phase::OVER);
        if let Some(head) = head {
            self.heads.give_back(head);
        }
        match &phase {
            Phase::Gathering(gathered) => self.unfinished_bytes -= gathered.len(),
            Phase::Streaming(streaming) => {
                self.unfinished_bytes -= streaming.charged_bytes;
                self.held_bytes -= streaming.held_bytes;
            }
            Phase::Over { .. } | Phase::Awaiting | Phase::Deferred(_) => {}
        }
        phase
    }
}
