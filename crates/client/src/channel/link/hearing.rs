//! What the server's frames change.

use super::receiving::Receiving;
use crate::channel::calls::{Calls, Ticket};
use crate::channel::loss::{DEADLINE_PASSED, goaway_text, reset_text};
use crate::verdict::Plain;
use bookend_io::clock_ns;
use bookend_wire::grpc::Code;
use bookend_wire::keepalive::TOO_MANY_PINGS;
use bookend_wire::{ErrorCode, HeaderList, Initiator, Sender, StreamKey, Visitor};

/// The calls on a connection, and what was heard of it.
pub(super) struct Talk {
    /// By the key of their stream.
    in_flight: Vec<Option<InFlight>>,
    calls: usize,
    max_message_bytes: usize,
    pub greeted: bool,
    pub answered: bool,
    pub goaway: Option<String>,
    /// The server had too many PINGs.
    pub asked_too_often: bool,
    /// Streams that may send on.
    pub drained: Vec<StreamKey>,
    /// Streams that are over for us and may not be for the server.
    pub given_up: Vec<StreamKey>,
    /// Streams that the server has ended, and we may not have.
    pub answered_early: Vec<StreamKey>,
}

struct InFlight {
    stream: StreamKey,
    ticket: Ticket,
    receiving: Receiving,
}

impl Talk {
    pub fn new(max_message_bytes: usize) -> Self {
        Self {
            in_flight: Vec::new(),
            calls: 0,
            max_message_bytes,
            greeted: false,
            answered: false,
            goaway: None,
            asked_too_often: false,
            drained: Vec::new(),
            given_up: Vec::new(),
            answered_early: Vec::new(),
        }
    }

    /// Whether no call waits for an answer here.
    pub fn is_idle(&self) -> bool {
        self.calls == 0
    }

    /// A call was sent.
    pub fn enter(&mut self, stream: StreamKey, ticket: Ticket, receiving: Receiving) {
        if self.in_flight.len() <= stream.index as usize {
            self.in_flight
                .resize_with(stream.index as usize + 1, || None);
        }
        self.calls += 1;
        self.in_flight[stream.index as usize] = Some(InFlight {
            stream,
            ticket,
            receiving,
        });
    }

    #[inline]
    fn find(&mut self, stream: StreamKey) -> Option<&mut InFlight> {
        let place = self.in_flight.get_mut(stream.index as usize)?;
        place.as_mut().filter(|call| call.stream == stream)
    }

    /// The answer that comes on a stream.
    #[inline]
    pub fn receiving(&mut self, stream: StreamKey) -> Option<&mut Receiving> {
        Some(&mut self.find(stream)?.receiving)
    }

    #[inline]
    fn take(&mut self, stream: StreamKey) -> Option<InFlight> {
        let place = self.in_flight.get_mut(stream.index as usize)?;
        let taken = place.take_if(|call| call.stream == stream)?;
        self.calls -= 1;
        Some(taken)
    }

    /// Nobody waits for the answer on that stream any more.
    pub fn forget(&mut self, stream: StreamKey) {
        drop(self.take(stream));
    }

    /// Whether something is to be done that could not be done while bytes were read.
    #[inline]
    pub fn calls_for_more(&self) -> bool {
        !(self.drained.is_empty() && self.given_up.is_empty() && self.answered_early.is_empty())
    }

    /// All calls that have no answer yet.
    pub fn into_tickets(self) -> impl Iterator<Item = Ticket> {
        let in_flight = self.in_flight.into_iter().flatten();
        in_flight.map(|call| call.ticket)
    }
}

/// Turns what one read has brought into answers.
pub(super) struct Hearing<'a> {
    pub talk: &'a mut Talk,
    pub calls: &'a mut Calls,
}

impl Hearing<'_> {
    /// Adds to the answer on a stream, and ends its call if that was all of it.
    #[inline]
    fn hear(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        end_stream: bool,
        add: impl FnOnce(&mut Receiving),
    ) {
        let Some(receiving) = self.talk.receiving(stream) else {
            return;
        };
        add(receiving);
        if receiving.has_ended() {
            self.end(sender, stream, end_stream);
        }
    }

    /// A server that keeps time as well resets a call that it cannot answer in time, and its reset
    /// may be read before we look at the clock.
    fn fail(&mut self, ticket: Ticket, code: ErrorCode, by: Initiator) {
        let (code, text) = match code {
            ErrorCode::CANCEL if self.calls.is_overdue(ticket, clock_ns()) => {
                (Code::DeadlineExceeded, DEADLINE_PASSED.to_owned())
            }
            _ => (Code::of_reset(code), reset_text(code, by)),
        };
        self.calls.fail(ticket, code, text);
    }

    #[inline]
    fn end(&mut self, sender: &mut Sender, stream: StreamKey, end_stream: bool) {
        let Some(call) = self.talk.take(stream) else {
            return;
        };
        self.talk.answered = true;
        // The rest of the response, or of the request, is not wanted.
        if !end_stream || sender.blocked_bytes(stream) > 0 {
            self.talk.given_up.push(stream);
        } else if matches!(call.receiving, Receiving::Streaming(_)) {
            self.talk.answered_early.push(stream);
        }
        if let Some(answer) = call.receiving.into_answer() {
            self.calls.answer(call.ticket, answer);
        }
    }
}

const MEMO_OF_HEAD: u32 = 0;
const MEMO_OF_OK: u32 = 1;

impl Visitor for Hearing<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let mut plain = None;
        self.hear(sender, stream, end_stream, |receiving| {
            plain = receiving.headers(fields, end_stream);
        });
        plain.map(|plain| match plain {
            Plain::Head => MEMO_OF_HEAD,
            Plain::Ok => MEMO_OF_OK,
        })
    }

    #[inline]
    fn cached_headers(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        token: u32,
        end_stream: bool,
    ) {
        let plain = match token {
            MEMO_OF_HEAD => Plain::Head,
            _ => Plain::Ok,
        };
        self.hear(sender, stream, end_stream, |receiving| {
            receiving.plain(plain, end_stream);
        });
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let limit_bytes = self.talk.max_message_bytes;
        // The window of a stream stands for what its readers have not read, and stays shut where
        // nobody reads. That of the connection is for all: it waits for none of them.
        match self.talk.receiving(stream) {
            Some(receiving) if receiving.is_consumed_at_once() => {
                sender.release(stream, data.len());
            }
            _ => sender.release_connection_of(stream, data.len()),
        }
        self.hear(sender, stream, end_stream, |receiving| {
            receiving.data(data, limit_bytes, end_stream);
        });
    }

    fn reset(&mut self, _: &mut Sender, stream: StreamKey, code: ErrorCode, by: Initiator) {
        let Some(call) = self.talk.take(stream) else {
            return;
        };
        let not_looked_at = code == ErrorCode::REFUSED_STREAM && by != Initiator::Library;
        let again =
            not_looked_at && call.receiving.take_back() && self.calls.send_again(call.ticket);
        if !again {
            self.fail(call.ticket, code, by);
        }
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        self.talk.asked_too_often |=
            code == ErrorCode::ENHANCE_YOUR_CALM && debug == TOO_MANY_PINGS.as_bytes();
        self.talk.goaway = Some(goaway_text(code, debug));
    }

    fn settings(&mut self, _: &mut Sender) {
        self.talk.greeted = true;
    }

    fn drained(&mut self, _: &mut Sender, stream: StreamKey) {
        self.talk.drained.push(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::calls::{OnAnswer, Pending, RequestHead, Work};
    use crate::channel::shared::CallLimit;
    use crate::encoding::Encoding;
    use crate::response::Response;
    use bookend_wire::grpc::Metadata;
    use bookend_wire::{Connection, ConnectionConfig, Side};
    use std::sync::{Arc, mpsc};

    fn code_of_reset(deadline_ns: Option<u64>, code: ErrorCode) -> Code {
        let (tell, told) = mpsc::channel();
        let head = RequestHead {
            path: "/a/b".into(),
            metadata: Metadata::new(),
            encoding: Encoding::Identity,
            waits_for_ready: false,
        };
        let on_answer = OnAnswer::new(move |answer| tell.send(answer.status.code).unwrap());
        let mut calls = Calls::new(Arc::new(CallLimit::new(1)));
        calls.add(Pending::new(
            head,
            Work::Unary(Vec::new(), on_answer),
            deadline_ns,
        ));
        let (ticket, _) = calls.next_waiting().expect("it was added");
        let mut talk = Talk::new(1);
        let stream = StreamKey { index: 0, id: 1 };
        talk.enter(stream, ticket, Receiving::Unary(Response::default()));
        let mut connection = Connection::new(Side::Client, &ConnectionConfig::trusted());
        let mut hearing = Hearing {
            talk: &mut talk,
            calls: &mut calls,
        };
        hearing.reset(&mut connection.sender, stream, code, Initiator::Peer);
        told.try_recv().expect("a reset ends the call")
    }

    #[test]
    fn a_server_that_cancels_a_call_at_its_deadline_keeps_the_deadline() {
        for (deadline_ns, code, status) in [
            (Some(0), ErrorCode::CANCEL, Code::DeadlineExceeded),
            (Some(u64::MAX), ErrorCode::CANCEL, Code::Cancelled),
            (None, ErrorCode::CANCEL, Code::Cancelled),
            (Some(0), ErrorCode::INTERNAL_ERROR, Code::Internal),
        ] {
            let ended_with = code_of_reset(deadline_ns, code);
            assert_eq!(ended_with, status, "{deadline_ns:?} {code}");
        }
    }
}
