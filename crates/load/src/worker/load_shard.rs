//! One worker: its connections and their calls. Driven by `bookend-io`.

mod connections;
mod keepalive;
#[cfg(test)]
mod stories;

use crate::plan::{Connecting, LoadPlan};
use crate::record::measurements::WorkerMeasurements;
use crate::worker::Worker;
use crate::worker::connection_manager::{ConnectionManager, DIALS_AT_ONCE};
use crate::worker::load_connection::{LoadConnection, LoadConnectionState};
use crate::worker::start_barrier::StartBarrier;
use crate::worker::state::WorkerState;
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ConnectionError, HeaderBlock};
use keepalive::KeepaliveSweep;
use std::sync::Arc;

/// ResponseVisitor that are handled before the calls in their place are made: about two hundred small ones.
/// The states of so few streams stay in the first-level cache.
const SLICE_BYTES: usize = 8 << 10;

/// The start of an alert of TLS, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
const WANTS_TLS: &str = "the server wants TLS: leave --insecure out";

/// One worker of a run whose connections are kept.
#[derive(Debug)]
pub struct LoadShard {
    state: WorkerState,
    /// The head of every request without what varies, by the name of the target.
    heads: Vec<HeaderBlock>,
    /// Calls in flight, by connection of this worker.
    streams: Vec<u32>,
    dials: ConnectionManager,
    /// By connection index.
    links: Vec<Option<LoadConnection>>,
    patrol: KeepaliveSweep,
    /// When a connection is to be made or looked at, or a greeting is overdue.
    connections_due_ns: u64,
}

impl LoadShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<LoadPlan>, barrier: Arc<StartBarrier>, worker: u32) -> Self {
        let share = plan.share(worker);
        Self {
            dials: ConnectionManager::new(share.streams.len(), DIALS_AT_ONCE),
            patrol: KeepaliveSweep::new(plan.keepalive),
            state: WorkerState::new(plan, barrier, worker, &share),
            streams: share.streams,
            heads: Vec::new(),
            links: Vec::new(),
            connections_due_ns: 0,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    fn ready_links(&self) -> u32 {
        let ready = |link: &&LoadConnection| link.stage == LoadConnectionState::Ready;
        self.links.iter().flatten().filter(ready).count() as u32
    }

    /// Makes the calls that are missing on one connection.
    #[inline]
    fn fill(&mut self, index: usize, io: &IoContext) {
        if !self.state.makes_calls() {
            return;
        }
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        let most = self.state.budget(io.now_ns());
        let made = link.issue(most, &mut self.state.source());
        self.state.made(made);
    }

    /// The calls that were made start now: their octets are about to be written.
    #[inline]
    fn stamp(&mut self, index: usize, io: &IoContext) {
        if let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) {
            link.stamp(|| io.clock_ns());
        }
    }

    /// Handles what has come on one connection, and makes calls in the place of those that ended.
    #[inline]
    fn converse(
        &mut self,
        index: usize,
        bytes: &[u8],
        io: &IoContext,
    ) -> Result<usize, ConnectionError> {
        let now_ns = io.now_ns();
        let mut consumed = 0;
        let mut slice_bytes = SLICE_BYTES;
        loop {
            let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
                return Ok(bytes.len());
            };
            let rest = &bytes[consumed..];
            let slice = &rest[..rest.len().min(slice_bytes)];
            let used = link.receive(slice, self.state.ledger(now_ns))?;
            link.liveness.heard(used);
            consumed += used;
            self.fill(index, io);
            if slice.len() == rest.len() {
                return Ok(consumed);
            }
            // A frame may be longer than a slice.
            slice_bytes = if used == 0 { rest.len() } else { SLICE_BYTES };
        }
    }

    /// Makes the calls that are missing on a connection on which nothing has come.
    fn refill(&mut self, index: usize, io: &mut IoContext) {
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        link.swap_output(io);
        self.fill(index, io);
        self.stamp(index, io);
        if let Some(link) = &mut self.links[index] {
            link.swap_output(io);
            // No bytes that come would have it closed.
            if link.is_done() {
                io.close(link.id);
            }
        }
    }

    /// Gives up on calls whose deadline has passed, and makes others.
    fn expire(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let Some(limit_ns) = self.state.expiry_limit_ns(now_ns) else {
            return;
        };
        for index in 0..self.links.len() {
            let Some(link) = &mut self.links[index] else {
                continue;
            };
            if !link.may_expire() {
                continue;
            }
            link.swap_output(io);
            link.expire(limit_ns, self.state.ledger(now_ns));
            link.swap_output(io);
            self.refill(index, io);
        }
    }
}

impl Worker for LoadShard {
    #[inline]
    fn state(&mut self) -> &mut WorkerState {
        &mut self.state
    }

    /// It waits until every connection has greeted or failed; where connections are made in the
    /// window, for none.
    fn try_to_arrive(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if self.state.plan.connecting == Connecting::InRun {
            self.state.arrive(self.streams.len() as u32, now_ns);
        } else if self.dials.are_settled() && !self.state.has_arrived() {
            self.state.arrive(self.ready_links(), now_ns);
        }
    }

    fn make_calls(&mut self, io: &mut IoContext) {
        for index in 0..self.links.len() {
            self.refill(index, io);
        }
    }

    fn fail_everything(&mut self, io: &mut IoContext) {
        let fault = Status::new(Code::Unavailable, "the client connection is closing");
        for link in self.links.iter_mut().flatten() {
            link.fail_all(&fault, self.state.ledger(io.now_ns()));
        }
    }

    fn close_everything(&mut self, io: &mut IoContext) {
        for link in self.links.iter().flatten() {
            self.state.measured.note_end_of(link);
            io.close(link.id);
        }
    }
}

impl Shard for LoadShard {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        if let Opened::Connected(token) = how {
            self.connected(id, token, io);
        }
    }

    #[inline]
    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let now_ns = io.now_ns();
        if self.state.tick(now_ns) {
            self.advance(io);
        }
        let index = id.index as usize;
        let Some(link) = self.links.get_mut(index).and_then(Option::as_mut) else {
            return Received {
                consumed: bytes.len(),
                after: AfterRead::Close,
            };
        };
        let greeting = link.stage == LoadConnectionState::Greeting;
        // Shorter than a frame's header, so that HTTP/2 would wait for more of it.
        if greeting && bytes.starts_with(TLS_ALERT) {
            self.lost(id, WANTS_TLS, io);
            return Received {
                consumed: bytes.len(),
                after: AfterRead::Close,
            };
        }
        link.swap_output(io);
        let consumed = self.converse(index, bytes, io);
        self.stamp(index, io);
        let mut is_done = false;
        if let Some(link) = &mut self.links[index] {
            link.swap_output(io);
            is_done = link.is_done();
        }
        if greeting {
            self.note_greeting(index, io);
        }
        if self.state.may_end_with_a_call() {
            self.advance(io);
        }
        match consumed {
            Ok(consumed) => {
                let after = if is_done {
                    AfterRead::Close
                } else {
                    AfterRead::Continue
                };
                Received { consumed, after }
            }
            Err(error) => {
                let text = error.to_string();
                self.lost(id, &text, io);
                Received {
                    consumed: bytes.len(),
                    after: AfterRead::Close,
                }
            }
        }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.refill(id.index as usize, io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, io),
            Closed::Peer => self.lost(id, "the server closed the connection", io),
            Closed::Us => self.lost(id, "the client closed the connection", io),
            Closed::Failed(error) => {
                self.lost(id, &format!("connection error: {error}"), io);
            }
        }
        self.attend_to_connections(io);
        self.advance(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.attend_to_connections(io);
        self.expire(io);
        self.advance(io);
        self.leave_if_stopping(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        let deadline_ns = self.state.next_deadline_ns().min(self.connections_due_ns);
        Some(deadline_ns).filter(|deadline_ns| *deadline_ns != u64::MAX)
    }
}
