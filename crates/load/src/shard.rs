//! One worker: its connections and their calls. Driven by `bookend-io`.

mod connections;
mod keepalive;
#[cfg(test)]
mod stories;

use crate::call::Fault;
use crate::course::Course;
use crate::dials::{DIALS_AT_ONCE, Dials};
use crate::gate::Gate;
use crate::link::{Link, Stage};
use crate::measured::Measured;
use crate::plan::{Connecting, Driver, Plan};
use crate::worker::Worker;
use bookend_io::{Closed, Opened, Received, Session, Shard, Then, Turn};
use bookend_wire::grpc::Code;
use bookend_wire::{ConnectionError, HeaderBlock};
use keepalive::Patrol;
use std::sync::Arc;

pub use crate::course::DRAIN_NS;

/// Answers that are handled before the calls in their place are made: about two hundred small ones.
/// The states of so few streams stay in the first-level cache.
const SLICE_BYTES: usize = 8 << 10;

/// The start of an alert of TLS, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
const WANTS_TLS: &str = "the server wants TLS: leave --insecure out";

/// One worker of a run whose connections are kept.
#[derive(Debug)]
pub struct LoadShard {
    course: Course,
    /// The head of every request without what varies, by the name of the target.
    heads: Vec<HeaderBlock>,
    /// Calls in flight, by connection of this worker.
    streams: Vec<u32>,
    dials: Dials,
    /// By session index.
    links: Vec<Option<Link>>,
    patrol: Patrol,
    /// When a connection is to be made or looked at, or a greeting is overdue.
    connections_due_ns: u64,
}

impl LoadShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<Plan>, gate: Arc<Gate>, worker: u32) -> Self {
        let share = plan.share(worker);
        Self {
            dials: Dials::new(share.streams.len(), DIALS_AT_ONCE),
            patrol: Patrol::new(plan.keepalive),
            course: Course::new(plan, gate, worker, &share),
            streams: share.streams,
            heads: Vec::new(),
            links: Vec::new(),
            connections_due_ns: 0,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> Measured {
        self.course.into_measured()
    }

    fn ready_links(&self) -> u32 {
        let ready = |link: &&Link| link.stage == Stage::Ready;
        self.links.iter().flatten().filter(ready).count() as u32
    }

    /// Makes the calls that are missing on one connection.
    #[inline]
    fn fill(&mut self, index: usize, turn: &Turn) {
        if !self.course.makes_calls() {
            return;
        }
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        let most = self.course.budget(turn.now_ns());
        let made = link.issue(most, &mut self.course.source());
        self.course.made(made);
    }

    /// The calls that were made start now: their octets are about to be written.
    #[inline]
    fn stamp(&mut self, index: usize, turn: &Turn) {
        if let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) {
            link.stamp(|| turn.clock_ns());
        }
    }

    /// Handles what has come on one connection, and makes calls in the place of those that ended.
    #[inline]
    fn converse(
        &mut self,
        index: usize,
        bytes: &[u8],
        turn: &Turn,
    ) -> Result<usize, ConnectionError> {
        let now_ns = turn.now_ns();
        let mut consumed = 0;
        let mut slice_bytes = SLICE_BYTES;
        loop {
            let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
                return Ok(bytes.len());
            };
            let rest = &bytes[consumed..];
            let slice = &rest[..rest.len().min(slice_bytes)];
            let used = link.receive(slice, self.course.ledger(now_ns))?;
            link.liveness.heard(used);
            consumed += used;
            self.fill(index, turn);
            if slice.len() == rest.len() {
                return Ok(consumed);
            }
            // A frame may be longer than a slice.
            slice_bytes = if used == 0 { rest.len() } else { SLICE_BYTES };
        }
    }

    /// Makes the calls that are missing on a connection on which nothing has come.
    fn refill(&mut self, index: usize, turn: &mut Turn) {
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        link.swap_output(turn);
        self.fill(index, turn);
        self.stamp(index, turn);
        if let Some(link) = &mut self.links[index] {
            link.swap_output(turn);
            // No bytes that come would have it closed.
            if link.is_done() {
                turn.close(link.session);
            }
        }
    }

    /// Gives up on calls whose deadline has passed, and makes others.
    fn expire(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        let Some(limit_ns) = self.course.expiry_limit_ns(now_ns) else {
            return;
        };
        for index in 0..self.links.len() {
            let Some(link) = &mut self.links[index] else {
                continue;
            };
            if !link.may_expire() {
                continue;
            }
            link.swap_output(turn);
            link.expire(limit_ns, self.course.ledger(now_ns));
            link.swap_output(turn);
            self.refill(index, turn);
        }
    }
}

impl Worker for LoadShard {
    #[inline]
    fn course(&mut self) -> &mut Course {
        &mut self.course
    }

    /// It waits until every connection has greeted or failed; where connections are made in the
    /// window, for none.
    fn try_to_arrive(&mut self, turn: &mut Turn) {
        let now_ns = turn.now_ns();
        if self.course.plan.connecting == Connecting::InRun {
            self.course.arrive(self.streams.len() as u32, now_ns);
        } else if self.dials.are_settled() && !self.course.has_arrived() {
            self.course.arrive(self.ready_links(), now_ns);
        }
    }

    fn make_calls(&mut self, turn: &mut Turn) {
        for index in 0..self.links.len() {
            self.refill(index, turn);
        }
    }

    fn fail_everything(&mut self, turn: &mut Turn) {
        let fault = Fault::new(Code::Unavailable, "the client connection is closing");
        for link in self.links.iter_mut().flatten() {
            link.fail_all(&fault, self.course.ledger(turn.now_ns()));
        }
    }

    fn close_everything(&mut self, turn: &mut Turn) {
        for link in self.links.iter().flatten() {
            self.course.measured.note_end_of(link);
            turn.close(link.session);
        }
    }
}

impl Shard for LoadShard {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        if let Opened::Connected(token) = how {
            self.connected(session, token, turn);
        }
    }

    #[inline]
    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        let now_ns = turn.now_ns();
        if self.course.tick(now_ns) {
            self.advance(turn);
        }
        let index = session.index as usize;
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        };
        let greeting = link.stage == Stage::Greeting;
        // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
        if greeting && bytes.starts_with(TLS_ALERT) {
            self.lost(session, WANTS_TLS, turn);
            return Received {
                consumed: bytes.len(),
                then: Then::Close,
            };
        }
        link.swap_output(turn);
        let consumed = self.converse(index, bytes, turn);
        self.stamp(index, turn);
        let mut is_done = false;
        if let Some(link) = &mut self.links[index] {
            link.swap_output(turn);
            is_done = link.is_done();
        }
        if greeting {
            self.note_greeting(index, turn);
        }
        if self.course.may_end_with_a_call() {
            self.advance(turn);
        }
        match consumed {
            Ok(consumed) => {
                let then = if is_done { Then::Close } else { Then::Continue };
                Received { consumed, then }
            }
            Err(error) => {
                let text = error.to_string();
                self.lost(session, &text, turn);
                Received {
                    consumed: bytes.len(),
                    then: Then::Close,
                }
            }
        }
    }

    fn writable(&mut self, session: Session, turn: &mut Turn) {
        self.refill(session.index as usize, turn);
    }

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, turn),
            Closed::Peer => self.lost(session, "the server closed the connection", turn),
            Closed::Us => self.lost(session, "the client closed the connection", turn),
            Closed::Failed(error) => {
                self.lost(session, &format!("connection error: {error}"), turn);
            }
        }
        self.attend_to_connections(turn);
        self.advance(turn);
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.attend_to_connections(turn);
        self.expire(turn);
        self.advance(turn);
        self.leave_if_stopping(turn);
    }

    fn next_deadline(&self) -> Option<u64> {
        let deadline_ns = self.course.next_deadline_ns().min(self.connections_due_ns);
        Some(deadline_ns).filter(|deadline_ns| *deadline_ns != u64::MAX)
    }
}

/// The driver that fits `connections` on `threads`.
pub fn driver_for(connections: u32, threads: u32) -> Driver {
    if connections == threads {
        Driver::Blocking
    } else {
        Driver::Epoll
    }
}
