//! One connection of a channel and the calls on it.

use super::calls::{Calls, Pending, Place, Ticket};
use super::heads::Heads;
use crate::call::{TIMEOUT, timeout_value};
use crate::exchange::{told_by_goaway, told_by_reset};
use crate::response::{Plain, Response};
use bookend_io::{HeldSignals, Session, Turn};
use bookend_wire::grpc::Code;
use bookend_wire::{
    Blame, CannotOpen, Config, Connection, ConnectionError, ErrorCode, ExtraField, HeaderList,
    Indexing, Role, Sender, Stream, Visitor,
};
use std::borrow::Cow;
use std::mem;
use std::time::Duration;

/// Unwritten output beyond which no further call is sent: enough to keep a write full, little
/// enough that calls wait in the queue, where they cost less and can be given up.
const BACKLOG_MAX_BYTES: usize = 256 << 10;

/// Answers that are handed out before other threads are signalled: some three hundred small ones.
/// Those threads then have enough to do for one write, and not long to wait for it.
const SLICE_BYTES: usize = 16 << 10;

/// A connection: asked for, greeted, or going away.
pub(crate) struct Link {
    pub session: Session,
    connection: Connection,
    heads: Heads,
    talk: Talk,
    /// When the server's SETTINGS must have come, once the connection is there.
    greet_by_ns: Option<u64>,
}

/// What the server's frames change.
struct Talk {
    /// By the key of their stream.
    in_flight: Vec<Option<InFlight>>,
    max_message_bytes: usize,
    greeted: bool,
    answered: bool,
    goaway: Option<String>,
}

struct InFlight {
    stream: Stream,
    ticket: Ticket,
    response: Response,
}

impl Link {
    /// A connection that was just asked for; its greeting is put in the output.
    pub fn new(
        session: Session,
        http2: &Config,
        authority: String,
        max_message_bytes: usize,
        turn: &mut Turn,
    ) -> Self {
        let mut connection = Connection::new(Role::Client, http2);
        turn.output(session).append(&mut connection.sender.output);
        Self {
            session,
            connection,
            heads: Heads::new(authority),
            talk: Talk {
                in_flight: Vec::new(),
                max_message_bytes,
                greeted: false,
                answered: false,
                goaway: None,
            },
            greet_by_ns: None,
        }
    }

    /// The connection is there: the server's SETTINGS must come by then.
    pub fn opened(&mut self, greet_by_ns: u64) {
        self.greet_by_ns = Some(greet_by_ns);
    }

    /// When the server's SETTINGS must have come, while they are awaited.
    pub fn greet_by_ns(&self) -> Option<u64> {
        self.greet_by_ns.filter(|_| !self.talk.greeted)
    }

    /// Whether the server has sent its SETTINGS.
    pub fn is_greeted(&self) -> bool {
        self.talk.greeted
    }

    /// Whether a call was answered since this was last asked.
    pub fn take_answered(&mut self) -> bool {
        mem::take(&mut self.talk.answered)
    }

    /// What the server's GOAWAY said.
    pub fn goaway(&self) -> Option<&str> {
        self.talk.goaway.as_deref()
    }

    /// Whether no call is in flight.
    pub fn is_idle(&self) -> bool {
        self.connection.sender.live_streams() == 0
    }

    /// Whether no call can ever be sent here again: the server goes away, or the ids are used up.
    pub fn is_spent(&mut self) -> bool {
        let sender = &mut self.connection.sender;
        // Where none may be opened, asking does nothing but say why.
        sender.may_open() == 0 && !matches!(sender.open(), Ok(_) | Err(CannotOpen::Concurrency))
    }

    /// Handles the first of what has come. Returns the octets used up, and whether there are more
    /// to be handled.
    ///
    /// # Errors
    /// The rule of HTTP/2 that the server broke: nothing more can be read here.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        calls: &mut Calls,
        turn: &mut Turn,
    ) -> Result<(usize, bool), ConnectionError> {
        let slice = bytes.len().min(SLICE_BYTES);
        let consumed = self.receive_slice(&bytes[..slice], calls, turn)?;
        match consumed {
            // A frame that is longer makes it the whole.
            0 if slice < bytes.len() => Ok((self.receive_slice(bytes, calls, turn)?, false)),
            _ => Ok((consumed, slice < bytes.len())),
        }
    }

    fn receive_slice(
        &mut self,
        bytes: &[u8],
        calls: &mut Calls,
        turn: &mut Turn,
    ) -> Result<usize, ConnectionError> {
        let talk = &mut self.talk;
        let _held = HeldSignals::begin();
        mem::swap(
            turn.output(self.session),
            &mut self.connection.sender.output,
        );
        let received = self.connection.receive(bytes, &mut Hearing { talk, calls });
        mem::swap(
            turn.output(self.session),
            &mut self.connection.sender.output,
        );
        received
    }

    /// Sends calls from the queue, as many as the server and the kernel take.
    pub fn send_waiting(&mut self, calls: &mut Calls, turn: &mut Turn) {
        if !self.talk.greeted || self.connection.sender.may_open() == 0 {
            return;
        }
        let Some(room_bytes) = BACKLOG_MAX_BYTES.checked_sub(turn.backlog(self.session)) else {
            return;
        };
        if calls.next_waiting().is_none() {
            return;
        }
        mem::swap(
            turn.output(self.session),
            &mut self.connection.sender.output,
        );
        let is_full = self.send_into(room_bytes, calls, turn);
        mem::swap(
            turn.output(self.session),
            &mut self.connection.sender.output,
        );
        if is_full {
            // Who asks for the backlog is told when it is gone, and then sends more.
            turn.backlog(self.session);
        }
    }

    /// Sends until the output has grown by `room_bytes`; true if that was what ended it.
    fn send_into(&mut self, room_bytes: usize, calls: &mut Calls, turn: &Turn) -> bool {
        let full_bytes = self.connection.sender.output.len() + room_bytes;
        while let Some((ticket, pending)) = calls.next_waiting() {
            if self.connection.sender.output.len() >= full_bytes {
                return true;
            }
            let Ok(stream) = self.send(pending, turn) else {
                return false;
            };
            pending.place = Place::Sent(self.session, stream);
            calls.sent();
            self.enter(stream, ticket);
        }
        false
    }

    fn send(&mut self, pending: &Pending, turn: &Turn) -> Result<Stream, CannotOpen> {
        let call = &pending.call;
        let head = self.heads.of(&call.path);
        let sender = &mut self.connection.sender;
        if pending.deadline_ns.is_none() && call.metadata.is_empty() {
            return sender.request(head, &[], &call.message);
        }
        let left = |deadline_ns: u64| deadline_ns.saturating_sub(turn.now_ns());
        let timeout = pending
            .deadline_ns
            .map(|at_ns| timeout_value(Duration::from_nanos(left(at_ns))));
        let timeout = timeout.map(|value| (TIMEOUT, Cow::Owned(value)));
        let varying: Vec<_> = timeout.into_iter().chain(call.metadata.encoded()).collect();
        let extra: Vec<_> = varying.iter().map(extra_field).collect();
        sender.request(head, &extra, &call.message)
    }

    fn enter(&mut self, stream: Stream, ticket: Ticket) {
        let in_flight = InFlight {
            stream,
            ticket,
            response: Response::default(),
        };
        let places = &mut self.talk.in_flight;
        if places.len() <= stream.key as usize {
            places.resize_with(stream.key as usize + 1, || None);
        }
        places[stream.key as usize] = Some(in_flight);
    }

    /// Tells the server that nobody waits for this call any more.
    pub fn cancel(&mut self, stream: Stream, turn: &mut Turn) {
        self.talk.take(stream);
        let sender = &mut self.connection.sender;
        mem::swap(turn.output(self.session), &mut sender.output);
        sender.reset(stream, ErrorCode::CANCEL);
        mem::swap(turn.output(self.session), &mut sender.output);
    }

    /// The connection is gone, and its calls with it.
    pub fn fail_all(self, calls: &mut Calls, text: &str) {
        for in_flight in self.talk.in_flight.into_iter().flatten() {
            calls.fail(in_flight.ticket, Code::Unavailable, text);
        }
    }
}

impl Talk {
    fn take(&mut self, stream: Stream) -> Option<InFlight> {
        self.in_flight
            .get_mut(stream.key as usize)?
            .take_if(|in_flight| in_flight.stream == stream)
    }
}

/// Varies from call to call: in the table it would push out what does not.
fn extra_field<'a>((name, value): &'a (&[u8], Cow<'_, [u8]>)) -> ExtraField<'a> {
    ExtraField {
        name,
        value,
        indexing: Indexing::Without,
    }
}

/// Turns what one read has brought into answers.
struct Hearing<'a> {
    talk: &'a mut Talk,
    calls: &'a mut Calls,
}

impl Hearing<'_> {
    /// Adds to the response on a stream, and ends its call if that was all of it.
    #[inline]
    fn hear(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        end_stream: bool,
        add: impl FnOnce(&mut Response),
    ) {
        let Some(place) = self.talk.in_flight.get_mut(stream.key as usize) else {
            return;
        };
        let Some(in_flight) = place.as_mut().filter(|call| call.stream == stream) else {
            return;
        };
        add(&mut in_flight.response);
        if !in_flight.response.has_ended() {
            return;
        }
        let in_flight = place.take();
        self.talk.answered = true;
        // The rest of the response, or of the request, is not wanted.
        if !end_stream || sender.held_back_bytes(stream) > 0 {
            sender.reset(stream, ErrorCode::CANCEL);
        }
        if let Some(InFlight {
            ticket, response, ..
        }) = in_flight
            && let Some(answer) = response.into_answer()
        {
            self.calls.answer(ticket, answer);
        }
    }
}

const MEMO_OF_HEAD: u32 = 0;
const MEMO_OF_OK: u32 = 1;

impl Visitor for Hearing<'_> {
    fn headers(
        &mut self,
        sender: &mut Sender,
        stream: Stream,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        let mut plain = None;
        self.hear(sender, stream, end_stream, |response| {
            plain = response.headers(fields, end_stream);
        });
        plain.map(|plain| match plain {
            Plain::Head => MEMO_OF_HEAD,
            Plain::Ok => MEMO_OF_OK,
        })
    }

    #[inline]
    fn headers_again(&mut self, sender: &mut Sender, stream: Stream, memo: u32, end_stream: bool) {
        let plain = match memo {
            MEMO_OF_HEAD => Plain::Head,
            _ => Plain::Ok,
        };
        self.hear(sender, stream, end_stream, |response| {
            response.plain(plain, end_stream);
        });
    }

    #[inline]
    fn data(&mut self, sender: &mut Sender, stream: Stream, data: &[u8], end_stream: bool) {
        sender.release(stream, data.len());
        let limit_bytes = self.talk.max_message_bytes;
        self.hear(sender, stream, end_stream, |response| {
            response.data(data, limit_bytes);
            response.refuse_second_message();
            if end_stream {
                response.end(None);
            }
        });
    }

    fn reset(&mut self, _: &mut Sender, stream: Stream, code: ErrorCode, by: Blame) {
        let Some(InFlight { ticket, .. }) = self.talk.take(stream) else {
            return;
        };
        let not_looked_at = code == ErrorCode::REFUSED_STREAM && by == Blame::Peer;
        if !(not_looked_at && self.calls.send_again(ticket)) {
            let text = told_by_reset(code, by);
            self.calls.fail(ticket, Code::of_reset(code), text);
        }
    }

    fn goaway(&mut self, _: &mut Sender, _: u32, code: ErrorCode, debug: &[u8]) {
        self.talk.goaway = Some(told_by_goaway(code, debug));
    }

    fn settings(&mut self, _: &mut Sender) {
        self.talk.greeted = true;
    }
}
