//! What one thread of a server owns.

mod overdue;
mod turns;

use std::sync::Arc;

use bookend_io::{Closed, Mailbox, Opened, Received, Session, Shard, Then, Turn, Waker};
use bookend_wire::{Connection, ConnectionError, ErrorCode, Role};

use crate::calls::{Calls, Handling};
use crate::deadlines::Deadlines;
use crate::limits::Limits;
use crate::patience::Greetings;
use crate::pool::Pool;
use crate::responder::{Letter, ReturnAddress};
use crate::router::Router;
use crate::services::{Services, Totals};
use turns::Turns;

/// One thread's share of a server: connections that it accepted and their calls.
pub struct ServerShard {
    router: Arc<Router>,
    limits: Limits,
    pool: Arc<Pool>,
    mailbox: Mailbox<Letter>,
    inbox: Vec<Letter>,
    sessions: Vec<Option<Box<Accepted>>>,
    greetings: Greetings,
    deadlines: Deadlines,
    turns: Turns,
    outstanding: u64,
    counts: Counts,
    totals: Totals,
    going_away: bool,
}

/// What a server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls answered with `OK`.
    pub answered_ok: u64,
    /// Calls answered with another code.
    pub answered_error: u64,
    /// Answers of deferred calls, and of handlers on the pool, that nobody waited for any more.
    pub late: u64,
    /// Handlers that panicked. Their calls are among the errors.
    pub panics: u64,
    /// Connections that were closed because the client broke HTTP/2, did not speak it in time, or
    /// reset too many streams.
    pub broken_connections: u64,
}

impl Counts {
    /// All calls that were answered.
    pub fn served(&self) -> u64 {
        self.answered_ok + self.answered_error
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.answered_ok += other.answered_ok;
        self.answered_error += other.answered_error;
        self.late += other.late;
        self.panics += other.panics;
        self.broken_connections += other.broken_connections;
    }
}

/// A connection and its calls.
struct Accepted {
    session: Session,
    connection: Connection,
    calls: Calls,
    /// It stands in the queue of connections that are to have a turn.
    in_turns: bool,
}

impl ServerShard {
    /// `waker` is the one of the driver that will run this shard.
    pub(crate) fn new(services: Services, waker: Waker) -> Self {
        let Services {
            router,
            limits,
            pool,
            totals,
        } = services;
        ServerShard {
            router,
            limits,
            pool,
            mailbox: Mailbox::new(waker),
            inbox: Vec::new(),
            sessions: Vec::new(),
            greetings: Greetings::default(),
            deadlines: Deadlines::default(),
            turns: Turns::default(),
            outstanding: 0,
            counts: Counts::default(),
            totals,
            going_away: false,
        }
    }

    /// What this thread has done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Acts on what other threads say about calls.
    fn read_letters(&mut self, turn: &mut Turn) {
        let mut inbox = std::mem::take(&mut self.inbox);
        self.mailbox.drain_into(&mut inbox);
        for letter in inbox.drain(..) {
            self.outstanding -= u64::from(letter.news.is_last());
            self.counts.panics += u64::from(letter.news.is_panic());
            let late = match find(&mut self.sessions, letter.session) {
                None => letter.news.is_late(),
                Some(accepted) => {
                    let in_time = accepted.receive(letter, &self.limits, turn);
                    accepted.calls.report(&mut self.counts);
                    self.turns.add_if_ready(accepted);
                    !in_time
                }
            };
            self.counts.late += u64::from(late);
        }
        self.inbox = inbox;
    }

    /// Closes connections whose client has not said that it speaks HTTP/2.
    fn hang_up_on_silent(&mut self, turn: &mut Turn) {
        self.forget_greetings();
        if self.greetings.next_deadline().is_none() {
            return;
        }
        while let Some(session) = self.greetings.take_due(turn.now_ns()) {
            if !is_settled(&mut self.sessions, session) {
                self.counts.broken_connections += 1;
                turn.close(session);
            }
        }
    }

    fn forget_greetings(&mut self) {
        self.greetings
            .forget(|session| is_settled(&mut self.sessions, session));
    }

    /// Tells every client that its connection takes no more calls.
    fn go_away(&mut self, turn: &mut Turn) {
        if std::mem::replace(&mut self.going_away, true) {
            return;
        }
        for accepted in self.sessions.iter_mut().flatten() {
            accepted.say_goodbye(turn);
        }
    }
}

impl Drop for ServerShard {
    fn drop(&mut self) {
        self.totals.add(self.counts);
    }
}

/// Requests that are answered before the answers are written: about two hundred small calls. The
/// client goes on with those while the rest of a long read is handled, so that neither end sleeps.
const SLICE_BYTES: usize = 8 << 10;

/// A deadline that has passed: the driver calls again as soon as it has seen what else there is.
const AT_ONCE: u64 = 0;

/// Handles the next slice of what a read has brought; a frame that is longer makes it the whole.
/// Returns the slice's length.
#[inline]
fn receive_slice(
    connection: &mut Connection,
    bytes: &[u8],
    handling: &mut Handling<'_>,
) -> (usize, Result<usize, ConnectionError>) {
    let slice = bytes.len().min(SLICE_BYTES);
    match connection.receive(&bytes[..slice], handling) {
        Ok(0) if slice < bytes.len() => (bytes.len(), connection.receive(bytes, handling)),
        result => (slice, result),
    }
}

impl Shard for ServerShard {
    fn opened(&mut self, session: Session, _how: Opened, turn: &mut Turn) {
        let index = session.index as usize;
        if self.sessions.len() <= index {
            self.sessions.resize_with(index + 1, || None);
        }
        let address = ReturnAddress {
            mailbox: self.mailbox.clone(),
            session,
        };
        let mut accepted = Box::new(Accepted {
            session,
            connection: Connection::new(Role::Server, &self.limits.http2),
            calls: Calls::new(address, &self.limits),
            in_turns: false,
        });
        turn.output(session)
            .append(&mut accepted.connection.sender.output);
        if self.going_away {
            accepted.say_goodbye(turn);
        }
        self.sessions[index] = Some(accepted);
        if let Some(timeout_ns) = self.limits.greeting_timeout_ns {
            self.greetings.add(turn.now_ns() + timeout_ns, session);
        }
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let Some(accepted) = find(&mut self.sessions, session) else {
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        };
        let Accepted {
            connection, calls, ..
        } = &mut **accepted;
        std::mem::swap(turn.output(session), &mut connection.sender.output);
        let mut handling = Handling {
            calls,
            router: &self.router,
            limits: &self.limits,
            turn,
            deadlines: &mut self.deadlines,
            pool: &self.pool,
            held: None,
        };
        let (slice, result) = receive_slice(connection, bytes, &mut handling);
        drop(handling);
        std::mem::swap(turn.output(session), &mut connection.sender.output);
        self.outstanding += calls.answers.tally.deferred;
        calls.report(&mut self.counts);
        let too_much = calls.too_much;
        self.turns.add_if_ready(accepted);
        if self.deadlines.are_to_be_swept() {
            self.sweep_deadlines();
        }
        if self.greetings.next_deadline().is_some() {
            self.forget_greetings();
        }
        match result {
            Ok(consumed) if !too_much => Received {
                consumed,
                then: match slice < bytes.len() {
                    true => Then::Again,
                    false => Then::Continue,
                },
            },
            _ => {
                self.counts.broken_connections += 1;
                Received {
                    consumed: bytes.len(),
                    then: Then::Close,
                }
            }
        }
    }

    fn writable(&mut self, session: Session, _turn: &mut Turn) {
        self.go_on(session);
    }

    fn closed(&mut self, session: Session, _why: Closed, _turn: &mut Turn) {
        if find(&mut self.sessions, session).is_some() {
            self.sessions[session.index as usize] = None;
        }
        self.forget_greetings();
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.read_letters(turn);
        self.end_overdue(turn);
        self.take_turns(turn);
        self.hang_up_on_silent(turn);
        if turn.stopping() {
            self.go_away(turn);
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        if self.turns.are_due() {
            return Some(AT_ONCE);
        }
        let (greeting, call) = (self.greetings.next_deadline(), self.deadlines.next());
        greeting.into_iter().chain(call).min()
    }

    fn awaits_others(&self) -> bool {
        self.outstanding > 0 || self.turns.are_due()
    }
}

impl Accepted {
    fn receive(&mut self, letter: Letter, limits: &Limits, turn: &mut Turn) -> bool {
        let sender = &mut self.connection.sender;
        std::mem::swap(turn.output(self.session), &mut sender.output);
        let in_time = self.calls.receive(sender, letter, limits);
        std::mem::swap(turn.output(self.session), &mut sender.output);
        in_time
    }

    fn say_goodbye(&mut self, turn: &mut Turn) {
        let sender = &mut self.connection.sender;
        std::mem::swap(turn.output(self.session), &mut sender.output);
        sender.goaway(ErrorCode::NO_ERROR, b"the server is stopping");
        std::mem::swap(turn.output(self.session), &mut sender.output);
    }
}

#[inline]
fn find(sessions: &mut [Option<Box<Accepted>>], session: Session) -> Option<&mut Box<Accepted>> {
    let accepted = sessions.get_mut(session.index as usize)?.as_mut()?;
    (accepted.session == session).then_some(accepted)
}

/// Whether the connection's greeting need not be waited for: it has come, or the connection is
/// gone.
fn is_settled(sessions: &mut [Option<Box<Accepted>>], session: Session) -> bool {
    find(sessions, session).is_none_or(|accepted| accepted.calls.greeted)
}
