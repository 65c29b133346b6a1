//! The streaming calls of one connection: request messages are written when they are due and the
//! peer's windows are open, and response messages are counted as they come.

mod message_counter;

use super::request::{self, NotWritten, RequestSource};
use crate::call::{LoadCall, RELEASE_BYTES};
use crate::plan::{GrpcCall, Streaming};
use crate::record::CallSink;
use bookend_wire::{HeaderBlock, Sender, StreamKey};
use message_counter::{BadFlag, MessageCounter};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What one turn of a connection writes of messages, so that responses are read between them.
const TURN_BYTES: usize = 64 << 10;
/// Request messages of a call that may wait for their answers: beyond, answers are not timed.
const ANSWERS_AWAITED_MAX: usize = 1 << 16;

/// Timers of calls that have ended stay until they are due, or until they exceed those of live
/// calls by this number: removing each would cost more.
const STALE_TIMERS_MAX: usize = 1_024;
/// Of a live call: its end, and its next message.
const TIMERS_PER_CALL: usize = 2;

/// The streaming calls of one connection.
#[derive(Debug)]
pub(super) struct StreamCalls {
    streaming: Streaming,
    /// By stream index.
    calls: Vec<StreamCall>,
    /// Calls whose next message may be written at once, in turn.
    ready: VecDeque<StreamKey>,
    /// When calls have something to do, earliest first, with stream index and id.
    timers: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

/// A call in flight.
#[derive(Debug, Default)]
struct StreamCall {
    /// 0 while the slot is not in use.
    stream_id: u32,
    incoming: MessageCounter,
    received: u64,
    /// When the last response message came; 0 before the first.
    last_message_ns: u64,
    unreleased_bytes: u32,
    outgoing: Option<Outgoing>,
    /// Since when flow control has held a message back; 0 where it does not.
    stalled_since_ns: u64,
    /// When the flags end it; `u64::MAX` for never.
    ends_ns: u64,
}

/// The messages of a call that are not written yet.
#[derive(Debug, Default)]
struct Outgoing {
    /// The call's number among those of its worker.
    number: u64,
    /// The call's own messages, where there is a template.
    rendered: Option<Vec<Vec<u8>>>,
    sent: u64,
    /// When the next one is due.
    next_ns: u64,
    /// When messages whose answer has not come were written.
    awaiting_since_ns: VecDeque<u64>,
}

/// What a piece of a response means for its call.
pub(super) enum AfterData {
    /// Nothing.
    Nothing,
    /// The server's windows are to be opened again.
    Release,
    /// All messages that were asked for have come.
    Enough,
}

impl StreamCalls {
    /// Those of a connection; `None` where the method is unary.
    pub fn new(call: &GrpcCall) -> Option<Box<Self>> {
        Some(Box::new(Self {
            streaming: call.streaming?,
            calls: Vec::new(),
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
        }))
    }

    /// Whether requests are streams of messages.
    #[inline]
    pub fn send_many(&self) -> bool {
        self.streaming.client
    }

    /// Whether responses are streams of messages.
    #[inline]
    pub fn receive_many(&self) -> bool {
        self.streaming.server
    }

    /// Opens the stream of a call whose request is a stream of messages. They are written by
    /// [`StreamCalls::send_due`].
    pub fn open(
        &mut self,
        sender: &mut Sender,
        head: &mut HeaderBlock,
        source: &RequestSource,
        number: u64,
        connection: u32,
    ) -> Result<StreamKey, NotWritten> {
        let stream = sender.open()?;
        let facts = request::facts(source, number, connection, stream);
        request::write_head(sender, stream, head, &source.call, number, &facts)?;
        Ok(stream)
    }

    /// A call begins on that stream, at about `now_ns`.
    pub fn begin(
        &mut self,
        stream: StreamKey,
        source: &RequestSource,
        number: u64,
        connection: u32,
        now_ns: u64,
    ) -> Result<(), NotWritten> {
        let index = stream.index as usize;
        if index >= self.calls.len() {
            self.calls.resize_with(index + 1, StreamCall::default);
        }
        let call = &mut self.calls[index];
        let before = call.outgoing.take();
        let ends_ns = self
            .streaming
            .duration_ns
            .map_or(u64::MAX, |length_ns| now_ns.saturating_add(length_ns));
        *call = StreamCall { stream_id: stream.id, ends_ns, ..StreamCall::default() };
        if self.streaming.client {
            let facts = request::facts(source, number, connection, stream);
            let template = source.call.template.as_ref().filter(|_| !self.streaming.is_dynamic);
            let rendered = template
                .map(|template| request::templated_messages(template, &source.call, &facts))
                .transpose()?;
            let mut awaiting_since_ns =
                before.map(|outgoing| outgoing.awaiting_since_ns).unwrap_or_default();
            awaiting_since_ns.clear();
            call.outgoing = Some(Outgoing {
                number,
                rendered,
                next_ns: now_ns,
                awaiting_since_ns,
                ..Outgoing::default()
            });
            self.ready.push_back(stream);
        }
        if ends_ns != u64::MAX {
            self.set_timer(ends_ns, stream);
        }
        Ok(())
    }

    /// A piece of a response has come.
    #[inline]
    pub fn receive(
        &mut self,
        stream: StreamKey,
        body: &[u8],
        whole: &LoadCall,
        now_ns: u64,
        sink: &mut CallSink,
    ) -> Result<AfterData, String> {
        let Some(call) = self.calls.get_mut(stream.index as usize) else {
            return Ok(AfterData::Nothing);
        };
        let messages = call
            .incoming
            .count(body, whole.may_be_compressed())
            .map_err(|BadFlag(flag)| whole.fault_of_flag(flag))?;
        if messages > 0 {
            call.received += messages;
            sink.received_messages(messages, whole.start_ns, call.last_message_ns, now_ns);
            call.last_message_ns = now_ns;
            if let Some(outgoing) = &mut call.outgoing {
                let answered = outgoing.awaiting_since_ns.len().min(messages as usize);
                for sent_ns in outgoing.awaiting_since_ns.drain(..answered) {
                    sink.answered_message(now_ns.saturating_sub(sent_ns));
                }
            }
        }
        call.unreleased_bytes = call.unreleased_bytes.saturating_add(body.len() as u32);
        let asked_for = self.streaming.messages.filter(|_| !self.streaming.client);
        if asked_for.is_some_and(|messages| call.received >= messages) {
            return Ok(AfterData::Enough);
        }
        if call.unreleased_bytes >= RELEASE_BYTES {
            call.unreleased_bytes = 0;
            return Ok(AfterData::Release);
        }
        Ok(AfterData::Nothing)
    }

    /// Whether a response may end here.
    pub fn is_between_messages(&self, stream: StreamKey) -> bool {
        let call = self.calls.get(stream.index as usize);
        call.is_none_or(|call| call.incoming.is_between_messages())
    }

    /// What flow control held back of a stream has gone out.
    pub fn drained(&mut self, stream: StreamKey, now_ns: u64, sink: &mut CallSink) {
        let Some(call) = self.calls.get_mut(stream.index as usize) else {
            return;
        };
        if call.stream_id != stream.id || call.stalled_since_ns == 0 {
            return;
        }
        sink.stalled(now_ns.saturating_sub(call.stalled_since_ns));
        call.stalled_since_ns = 0;
        if call.outgoing.as_ref().is_some_and(|outgoing| outgoing.next_ns != u64::MAX) {
            self.schedule(stream, now_ns);
        }
    }

    /// The call is over. True where its request is not at its end.
    pub fn end(&mut self, stream_index: u32) -> bool {
        let Some(call) = self.calls.get_mut(stream_index as usize) else {
            return false;
        };
        call.stream_id = 0;
        let outgoing = call.outgoing.as_ref();
        outgoing.is_some_and(|outgoing| outgoing.next_ns != u64::MAX)
    }

    /// When the next message is due, or a call ends; `u64::MAX` for never.
    pub fn due_ns(&self) -> u64 {
        self.timers.peek().map_or(u64::MAX, |Reverse((due_ns, _, _))| *due_ns)
    }

    /// Whether messages could be written at once.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn set_timer(&mut self, due_ns: u64, stream: StreamKey) {
        self.timers.push(Reverse((due_ns, stream.index, stream.id)));
        if self.timers.len() > 2 * TIMERS_PER_CALL * self.calls.len() + STALE_TIMERS_MAX {
            let calls = &self.calls;
            self.timers.retain(|Reverse((_, index, id))| calls[*index as usize].stream_id == *id);
        }
    }

    /// Calls whose time is over: of these, whose requests are single messages, the caller wants no
    /// more. Requests that are streams end here, and messages that have become due are ready.
    pub fn follow_timers(&mut self, now_ns: u64, sender: &mut Sender) -> Vec<StreamKey> {
        let mut over = Vec::new();
        while let Some(&Reverse((due_ns, index, id))) = self.timers.peek()
            && due_ns <= now_ns
        {
            self.timers.pop();
            let stream = StreamKey { index, id };
            let call = &mut self.calls[index as usize];
            if call.stream_id != id {
                continue;
            }
            if call.ends_ns > now_ns {
                self.ready.push_back(stream);
            } else if let Some(outgoing) = &mut call.outgoing {
                outgoing.next_ns = u64::MAX;
                sender.data(stream, &[], true);
            } else {
                over.push(stream);
            }
        }
        over
    }

    /// Writes the messages that are due, up to what one turn may write.
    ///
    /// # Errors
    /// When a template gives no message.
    pub fn send_due(
        &mut self,
        now_ns: u64,
        source: &RequestSource,
        connection: u32,
        sender: &mut Sender,
        sink: &mut CallSink,
    ) -> Result<(), NotWritten> {
        let start = sender.output.len();
        while sender.output.len() - start < TURN_BYTES
            && let Some(stream) = self.ready.pop_front()
        {
            self.send_next(stream, now_ns, source, connection, sender, sink)?;
        }
        Ok(())
    }

    fn send_next(
        &mut self,
        stream: StreamKey,
        now_ns: u64,
        source: &RequestSource,
        connection: u32,
        sender: &mut Sender,
        sink: &mut CallSink,
    ) -> Result<(), NotWritten> {
        let call = &mut self.calls[stream.index as usize];
        let Some(outgoing) = call.outgoing.as_mut().filter(|_| call.stream_id == stream.id) else {
            return Ok(());
        };
        if outgoing.next_ns == u64::MAX {
            return Ok(());
        }
        if source.call.messages.is_empty() {
            outgoing.next_ns = u64::MAX;
            sender.data(stream, &[], true);
            return Ok(());
        }
        let is_last = self.streaming.is_last(outgoing.sent, source.call.messages.len());
        if self.streaming.is_dynamic
            && let Some(template) = &source.call.template
        {
            let facts = request::facts(source, outgoing.number, connection, stream);
            let messages = request::templated_messages(template, &source.call, &facts)?;
            write_message(sender, stream, &source.call, is_last, &messages, outgoing.sent);
        } else {
            let messages = outgoing.rendered.as_ref().unwrap_or(&source.call.messages);
            write_message(sender, stream, &source.call, is_last, messages, outgoing.sent);
        }
        outgoing.sent += 1;
        sink.sent_message();
        if self.streaming.server && outgoing.awaiting_since_ns.len() < ANSWERS_AWAITED_MAX {
            outgoing.awaiting_since_ns.push_back(now_ns);
        }
        outgoing.next_ns = if is_last {
            u64::MAX
        } else {
            outgoing.next_ns.saturating_add(self.streaming.interval_ns)
        };
        if sender.is_blocked() && sender.blocked_bytes(stream) > 0 {
            call.stalled_since_ns = now_ns;
        } else if !is_last {
            self.schedule(stream, now_ns);
        }
        Ok(())
    }

    /// The next message of the call is written when it is due.
    fn schedule(&mut self, stream: StreamKey, now_ns: u64) {
        let call = &self.calls[stream.index as usize];
        let next_ns = call.outgoing.as_ref().map_or(u64::MAX, |outgoing| outgoing.next_ns);
        if next_ns <= now_ns {
            self.ready.push_back(stream);
        } else {
            self.set_timer(next_ns, stream);
        }
    }
}

fn write_message(
    sender: &mut Sender,
    stream: StreamKey,
    call: &GrpcCall,
    is_last: bool,
    messages: &[Vec<u8>],
    number: u64,
) {
    let message = &messages[(number % messages.len() as u64) as usize];
    sender.flagged_message(stream, call.is_compressed, is_last, |bytes| {
        bytes.extend_from_slice(message);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_calls_that_have_ended_do_not_pile_up() {
        let mut streams = StreamCalls {
            streaming: Streaming::default(),
            calls: vec![StreamCall::default(), StreamCall::default()],
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
        };
        let live = StreamKey { index: 0, id: 1 };
        streams.calls[0].stream_id = live.id;
        streams.set_timer(7, live);
        for id in (3..1_000_003).step_by(2) {
            streams.calls[1].stream_id = id;
            streams.set_timer(u64::from(id), StreamKey { index: 1, id });
            assert!(streams.timers.len() <= 2 * STALE_TIMERS_MAX);
            streams.end(1);
        }
        assert_eq!(streams.due_ns(), 7, "the live call's timer");
    }
}
