//! What one thread of a server owns.

mod farewell;
mod overdue;
mod patrol;
mod stalled;
mod turns;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bookend_io::{
    AfterRead, BACKLOG_LIMIT_BYTES, Closed, ConnectionId, DeadlineHeap, IoContext, Mailbox, Opened,
    Received, Shard, TimeoutQueue, Waker,
};
use bookend_wire::keepalive::Vigil;
use bookend_wire::{Connection, ConnectionError, ErrorCode, Sender, Side};

use crate::budgets::INFLATED_TURN_BYTES;
use crate::calls::CallOf;
use crate::calls::{Calls, Handling};
use crate::limits::Limits;
use crate::patience::Lapses;
use crate::pool::Pool;
use crate::responder::{Letter, ReturnAddress};
use crate::router::Router;
use crate::services::{Services, Totals};
use farewell::Leave;
use patrol::Input;
use turns::Turns;

/// One thread's share of a server: connections that it accepted and their calls.
pub struct ServerShard {
    router: Arc<Router>,
    limits: Limits,
    pool: Arc<Pool>,
    mailbox: Mailbox<Letter>,
    inbox: Vec<Letter>,
    connections: Vec<Option<Box<Accepted>>>,
    /// Of connections that are gone, for the next ones.
    spare: Vec<Connection>,
    /// Connections that are there.
    open: u32,
    greetings: TimeoutQueue<ConnectionId>,
    deadlines: DeadlineHeap<CallOf>,
    /// When connections are too old, or have taken too long to leave.
    appointments: DeadlineHeap<ConnectionId>,
    /// Which age the next connection is given.
    next_draw: u64,
    turns: Turns,
    outstanding: u64,
    counts: Counts,
    totals: Totals,
    ending: Ending,
    /// When connections are looked at next.
    patrol_at_ns: Option<u64>,
}

/// How far a shard has come on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    NotYet,
    /// Calls come to their end.
    Draining,
    /// What had not by then was cut off: nothing is waited for any more.
    Over,
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
    /// Calls that were ended with `UNAVAILABLE` because the time for them was over when the server
    /// stopped or their connection had reached its age. They are among the errors.
    pub cut_off: u64,
    /// Connections whose clients were asked to make another one, because this one had reached its
    /// age or had no call for too long.
    pub retired_connections: u64,
    /// Connections whose clients answered no keepalive PING.
    pub vanished_connections: u64,
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
        self.cut_off += other.cut_off;
        self.retired_connections += other.retired_connections;
        self.vanished_connections += other.vanished_connections;
    }
}

/// A connection and its calls.
struct Accepted {
    id: ConnectionId,
    connection: Connection,
    calls: Calls,
    /// It stands in the queue of connections that are to have a turn.
    in_turns: bool,
    /// It is not read from until its output is written.
    is_stopped: bool,
    /// It is over once its output is written.
    is_ending: bool,
    /// How far it has come on its way out, if it is.
    leave: Option<Box<Leave>>,
    input: Input,
    lapses: Lapses,
    vigil: Vigil,
}

impl ServerShard {
    /// `waker` is the one of the driver that will run this shard.
    pub(crate) fn new(services: Services, waker: Waker) -> Self {
        let Services {
            router,
            limits,
            pool,
            totals,
            shards,
        } = services;
        let number = shards.fetch_add(1, Ordering::Relaxed);
        ServerShard {
            router,
            limits,
            pool,
            mailbox: Mailbox::new(waker),
            inbox: Vec::new(),
            connections: Vec::new(),
            spare: Vec::new(),
            open: 0,
            greetings: TimeoutQueue::default(),
            deadlines: DeadlineHeap::default(),
            appointments: DeadlineHeap::default(),
            // Connections of different threads draw different ages.
            next_draw: number << 32,
            turns: Turns::default(),
            outstanding: 0,
            counts: Counts::default(),
            totals,
            ending: Ending::NotYet,
            patrol_at_ns: None,
        }
    }

    /// What this thread has done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Acts on what other threads say about calls.
    fn read_letters(&mut self, io: &mut IoContext) {
        let mut inbox = std::mem::take(&mut self.inbox);
        self.mailbox.drain_into(&mut inbox);
        for letter in inbox.drain(..) {
            self.outstanding -= u64::from(letter.news.is_last());
            self.counts.panics += u64::from(letter.news.is_panic());
            let late = match find(&mut self.connections, letter.id) {
                None => letter.news.is_late(),
                Some(accepted) => {
                    let in_time = accepted.receive(letter, &self.limits, io);
                    accepted.calls.report(&mut self.counts);
                    self.turns.add_if_ready(accepted);
                    accepted.leave_if_done(io);
                    !in_time
                }
            };
            self.counts.late += u64::from(late);
        }
        self.inbox = inbox;
    }

    /// Closes connections whose client has not said that it speaks HTTP/2.
    fn hang_up_on_silent(&mut self, io: &mut IoContext) {
        self.forget_greetings();
        if self.greetings.next_ns().is_none() {
            return;
        }
        while let Some(id) = self.greetings.pop_due(io.now_ns()) {
            if !is_settled(&mut self.connections, id) {
                self.is_broken(id);
                io.close(id);
            }
        }
    }

    /// A connection is to be closed for what its client does.
    #[cold]
    fn is_broken(&mut self, id: ConnectionId) {
        if let Some(accepted) = find(&mut self.connections, id) {
            self.counts.broken_connections += u64::from(!accepted.is_ending);
            accepted.is_ending = true;
        }
    }

    /// What a read has brought asks for more than the driver would let wait: the rest of it comes
    /// when that is written. See `go_on`.
    #[cold]
    fn stop_reading(&mut self, id: ConnectionId, io: &IoContext) -> AfterRead {
        match find(&mut self.connections, id) {
            Some(accepted) if io.backlog(id) > BACKLOG_LIMIT_BYTES => {
                accepted.is_stopped = true;
                AfterRead::Pause
            }
            _ => AfterRead::Again,
        }
    }

    /// A connection as new, in the memory of one that is gone where there is such: clients that
    /// make one for each call would have it allocated each time.
    fn fresh_connection(&mut self) -> Connection {
        match self.spare.pop() {
            Some(mut connection) => {
                connection.renew(&self.limits.http2);
                connection
            }
            None => Connection::new(Side::Server, &self.limits.http2),
        }
    }

    fn forget_greetings(&mut self) {
        self.greetings
            .forget_over(|id| is_settled(&mut self.connections, id));
    }
}

/// Connections whose memory a thread keeps: as many as it accepts in a turn. What each keeps is
/// bounded by the limits of header lists; its table of streams is given back if it has grown.
const SPARE_CONNECTIONS_MAX: usize = 64;

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
    fn opened(&mut self, id: ConnectionId, _how: Opened, io: &mut IoContext) {
        let index = id.index as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        let address = ReturnAddress {
            mailbox: self.mailbox.clone(),
            id,
        };
        let mut accepted = Box::new(Accepted {
            id,
            connection: self.fresh_connection(),
            calls: Calls::new(address, &self.limits),
            in_turns: false,
            is_stopped: false,
            is_ending: false,
            leave: None,
            input: Input::default(),
            lapses: Lapses::default(),
            vigil: Vigil::default(),
        });
        io.output(id).append(&mut accepted.connection.sender.output);
        self.connections[index] = Some(accepted);
        self.open += 1;
        self.begin_patrols(io);
        if self.limits.connection_age.is_some() {
            self.limit_age(id, io);
        }
        if self.ending != Ending::NotYet {
            self.welcome_late(id, io);
        }
        if let Some(timeout_ns) = self.limits.greeting_timeout_ns {
            self.greetings.push(io.now_ns() + timeout_ns, id);
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let Some(accepted) = find(&mut self.connections, id) else {
            return Received {
                consumed: bytes.len(),
                after: AfterRead::Close,
            };
        };
        let Accepted {
            connection, calls, ..
        } = &mut **accepted;
        std::mem::swap(io.output(id), &mut connection.sender.output);
        let mut handling = Handling {
            calls,
            router: &self.router,
            limits: &self.limits,
            io,
            deadlines: &mut self.deadlines,
            pool: &self.pool,
            held: None,
        };
        let (slice, result) = receive_slice(connection, bytes, &mut handling);
        drop(handling);
        if connection.sender.has_glitches() {
            calls.take_glitches(&mut connection.sender, || io.now_ns());
        }
        let output_bytes = connection.sender.output.len();
        std::mem::swap(io.output(id), &mut connection.sender.output);
        self.outstanding += calls.answers.tally.deferred;
        let has_inflated = calls.answers.tally.inflated_bytes > INFLATED_TURN_BYTES;
        calls.report(&mut self.counts);
        let too_much = calls.too_much;
        accepted
            .input
            .note(*result.as_ref().unwrap_or(&0), bytes.len());
        self.turns.add_if_ready(accepted);
        if accepted.leave.is_some() {
            self.see_off(id, io);
        }
        if self.deadlines.needs_sweep() {
            self.sweep_deadlines();
        }
        if self.greetings.next_ns().is_some() {
            self.forget_greetings();
        }
        match result {
            Ok(consumed) if !too_much => Received {
                consumed,
                after: match slice < bytes.len() {
                    true if has_inflated => self.turns.rest(id),
                    true if output_bytes > BACKLOG_LIMIT_BYTES => self.stop_reading(id, io),
                    true => AfterRead::Again,
                    false => AfterRead::Continue,
                },
            },
            _ => {
                self.is_broken(id);
                Received {
                    consumed: bytes.len(),
                    after: AfterRead::LingeringClose,
                }
            }
        }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.go_on(id, io);
    }

    fn closed(&mut self, id: ConnectionId, _why: Closed, _turn: &mut IoContext) {
        if find(&mut self.connections, id).is_some()
            && let Some(accepted) = self.connections[id.index as usize].take()
        {
            self.open -= 1;
            if self.spare.len() < SPARE_CONNECTIONS_MAX {
                self.spare.push(accepted.connection);
            }
        }
        self.forget_greetings();
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.read_letters(io);
        self.end_overdue(io);
        self.take_turns(io);
        self.hang_up_on_silent(io);
        self.patrol(io);
        self.keep_appointments(io);
        if io.stopping() {
            self.go_away(io);
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        if self.turns.are_due() {
            return Some(AT_ONCE);
        }
        let (greeting, call) = (self.greetings.next_ns(), self.deadlines.next_ns());
        let due = [
            greeting,
            call,
            self.appointments.next_ns(),
            self.patrol_at_ns,
        ];
        due.into_iter().flatten().min()
    }

    fn has_outstanding(&self) -> bool {
        let is_busy = self.outstanding > 0 || self.turns.are_due();
        match self.ending {
            Ending::NotYet => is_busy,
            Ending::Draining => is_busy || self.open > 0,
            Ending::Over => false,
        }
    }
}

impl Accepted {
    fn receive(&mut self, letter: Letter, limits: &Limits, io: &mut IoContext) -> bool {
        self.with_output(io, |sender, calls| calls.receive(sender, letter, limits))
    }

    fn say_goodbye(&mut self, code: ErrorCode, why: &str, io: &mut IoContext) {
        self.with_output(io, |sender, _| sender.goaway(code, why.as_bytes()));
    }

    /// Has `write` write to the connection's own output, in place.
    #[inline]
    fn with_output<R>(
        &mut self,
        io: &mut IoContext,
        write: impl FnOnce(&mut Sender, &mut Calls) -> R,
    ) -> R {
        let sender = &mut self.connection.sender;
        std::mem::swap(io.output(self.id), &mut sender.output);
        let written = write(sender, &mut self.calls);
        std::mem::swap(io.output(self.id), &mut sender.output);
        written
    }
}

#[inline]
fn find(connections: &mut [Option<Box<Accepted>>], id: ConnectionId) -> Option<&mut Box<Accepted>> {
    let accepted = connections.get_mut(id.index as usize)?.as_mut()?;
    (accepted.id == id).then_some(accepted)
}

/// Whether the connection's greeting need not be waited for: it has come, or the connection is
/// gone.
fn is_settled(connections: &mut [Option<Box<Accepted>>], id: ConnectionId) -> bool {
    find(connections, id).is_none_or(|accepted| accepted.calls.greeted)
}
