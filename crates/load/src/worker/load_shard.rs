//! A worker whose connections are kept: many calls go over each. Driven by `bookend-io`.
//!
//! The way of a call: [`LoadConnection::make_calls`] writes its request into the driver's buffer as
//! far as the pace allows, and the driver moves the bytes. `received` hands those that came to the
//! connection, which checks the response and counts the call. Then the next one is made in its
//! place.
//!
//! Everything else is in the files of this folder: `connections` makes and loses connections,
//! `open_loop` makes the calls of a schedule, `keepalive` sends PINGs to silent servers, and
//! `advance`, which moves the worker from one phase of the run to the next, is in `lifecycle`.

mod connections;
mod keepalive;
mod open_loop;
#[cfg(test)]
mod stories;

use super::connect::why_closed;
use super::connect_schedule::{CONNECTING_MAX, ConnectSchedule};
use super::direct_output::DirectOutput;
use super::lifecycle::WorkerLifecycle;
use super::load_connection::{LoadConnection, LoadConnectionState};
use super::start_barrier::StartBarrier;
use super::state::WorkerState;
use crate::plan::{Connecting, LoadPlan};
use crate::record::{InFlightAges, WorkerMeasurements};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{ConnectionError, HeaderBlock, Keepalive};
use std::sync::Arc;

/// A long read is handled in slices of this size: the responses in one, then the calls in their
/// place. That is about two hundred small ones, whose streams stay in the first-level cache.
const SLICE_BYTES: usize = 8 << 10;

/// The start of a TLS alert, which is what a server with TLS answers to plain text.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
/// The start of what a server of HTTP/1 answers to anything else.
const HTTP_1: &[u8] = b"HTTP/1.";
const SPEAKS_HTTP_1: &str = "the server speaks HTTP/1, and gRPC needs HTTP/2";

/// One worker of a run whose connections are kept.
#[derive(Debug)]
pub(crate) struct LoadShard {
    state: WorkerState,
    /// The head of every request without the varying field, by the number of the target.
    heads: Vec<HeaderBlock>,
    /// Calls to keep in flight, by connection of this worker.
    concurrency: Vec<u32>,
    schedule: ConnectSchedule,
    /// By [`ConnectionId::index`].
    connections: Vec<Option<LoadConnection>>,
    keepalive: KeepaliveSweep,
    /// The connection on which the next call of an open loop is tried first.
    next_connection: usize,
    /// Connections with calls of an open loop whose start is not stamped yet.
    unstamped: Vec<usize>,
    /// When a message of a stream is due; `u64::MAX` for never.
    streams_due_ns: u64,
    /// When [`LoadShard::attend_to_connections`] has something to do.
    connections_due_ns: u64,
}

impl LoadShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<LoadPlan>, barrier: Arc<StartBarrier>, worker: u32) -> Self {
        let share = plan.share(worker);
        let first = plan.concurrency_steps.first().map_or(plan.concurrency, |step| step.calls);
        Self {
            concurrency: plan.streams(worker, first),
            schedule: ConnectSchedule::new(share.streams.len(), CONNECTING_MAX),
            keepalive: KeepaliveSweep::new(plan.keepalive),
            state: WorkerState::new(plan, barrier, worker, &share),
            heads: Vec::new(),
            connections: Vec::new(),
            next_connection: 0,
            unstamped: Vec::new(),
            streams_due_ns: u64::MAX,
            connections_due_ns: 0,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    fn open_connections(&self) -> u32 {
        let is_open = |connection: &&LoadConnection| connection.state == LoadConnectionState::Open;
        self.connections.iter().flatten().filter(is_open).count() as u32
    }

    /// Makes the calls that are missing on a connection, outside of a read.
    fn refill(&mut self, index: usize, io: &mut IoContext) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        let (state, now_ns) = (&mut self.state, io.now_ns());
        connection.with_output(connection.id, io, |connection| {
            connection.make_calls(now_ns, state);
            connection.follow_streams(now_ns, state);
        });
        connection.stamp_starts(&mut state.calls, io);
        note_streams(connection, &mut self.streams_due_ns, io);
        // Nothing more will come on it, so `received` cannot close it.
        if connection.is_done() {
            io.close(connection.id);
        }
        self.make_due_calls(Some(index), io);
    }

    /// Writes the messages of streams that have become due.
    fn follow_streams(&mut self, io: &mut IoContext) {
        if io.now_ns() < self.streams_due_ns {
            return;
        }
        self.streams_due_ns = u64::MAX;
        self.make_calls(io);
    }

    /// Keeps as many calls in flight as the plan says from now on, if that has changed. Calls that
    /// are too many end by themselves.
    fn follow_concurrency(&mut self, io: &mut IoContext) {
        let Some(calls) = self.state.next_concurrency(io.now_ns()) else {
            return;
        };
        self.concurrency = self.state.plan.streams(self.state.worker, calls);
        for connection in self.connections.iter_mut().flatten() {
            connection.concurrency = self.concurrency[connection.number as usize];
        }
        self.make_calls(io);
    }

    /// Gives up on calls whose deadline has passed, and makes others.
    fn expire(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let Some(limit_ns) = self.state.expiry_limit_ns(now_ns) else {
            return;
        };
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else {
                continue;
            };
            if connection.may_expire() {
                let sink = &mut self.state.calls;
                connection.with_output(connection.id, io, |connection| {
                    connection.expire(limit_ns, now_ns, sink);
                });
                self.refill(index, io);
            }
        }
    }
}

/// Handles what has come on a connection, and makes calls in the place of those that ended. Returns
/// the bytes used up.
#[inline]
fn exchange(
    connection: &mut LoadConnection,
    bytes: &[u8],
    now_ns: u64,
    state: &mut WorkerState,
) -> Result<usize, ConnectionError> {
    let mut consumed = 0;
    let mut slice_bytes = SLICE_BYTES;
    loop {
        let rest = &bytes[consumed..];
        let slice = &rest[..rest.len().min(slice_bytes)];
        let used = connection.receive(slice, now_ns, &mut state.calls)?;
        consumed += used;
        connection.make_calls(now_ns, state);
        connection.send_messages(now_ns, state);
        if slice.len() == rest.len() {
            return Ok(consumed);
        }
        // A frame may be longer than a slice.
        slice_bytes = if used == 0 { rest.len() } else { SLICE_BYTES };
    }
}

/// Notes when a connection has messages of streams to write: at a time, or once what it has written
/// is gone.
#[inline]
fn note_streams(connection: &LoadConnection, due_ns: &mut u64, io: &IoContext) {
    *due_ns = (*due_ns).min(connection.streams_due_ns());
    if connection.has_messages_to_send() {
        // Asking for the backlog has `writable` called once nothing is unwritten.
        io.backlog(connection.id);
    }
}

fn close(bytes: &[u8]) -> Received {
    Received { consumed: bytes.len(), after: AfterRead::Close }
}

impl WorkerLifecycle for LoadShard {
    #[inline]
    fn state(&mut self) -> &mut WorkerState {
        &mut self.state
    }

    /// It is ready once every connection has been established or has failed; where connections are
    /// made in the window, at once.
    fn try_to_arrive(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if self.state.plan.connecting == Connecting::InRun {
            self.state.arrive(self.concurrency.len() as u32, now_ns);
        } else if self.schedule.are_settled() && !self.state.has_arrived() {
            self.state.arrive(self.open_connections(), now_ns);
        }
    }

    fn make_calls(&mut self, io: &mut IoContext) {
        for index in 0..self.connections.len() {
            self.refill(index, io);
        }
    }

    fn in_flight_ages(&self, now_ns: u64) -> InFlightAges {
        let connections = self.connections.iter().flatten();
        InFlightAges::at(now_ns, connections.flat_map(LoadConnection::begins_ns))
    }

    fn fail_all(&mut self, io: &mut IoContext) {
        let status = Status::new(Code::Unavailable, "the client connection is closing");
        for connection in self.connections.iter_mut().flatten() {
            connection.fail_all(&status, io.now_ns(), &mut self.state.calls);
        }
    }

    fn close_all(&mut self, io: &mut IoContext) {
        for connection in self.connections.iter().flatten() {
            connection.note_end(&mut self.state.measured);
            io.close(connection.id);
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
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return close(bytes);
        };
        let awaits_settings = connection.state == LoadConnectionState::AwaitingSettings;
        // An alert is shorter than a frame header: HTTP/2 would wait for the rest of one.
        if awaits_settings && bytes.starts_with(TLS_ALERT) {
            let text = format!("the server wants TLS: {}", self.state.plan.tls_advice.encrypt);
            self.lost(id, &text, io);
            return close(bytes);
        }
        if awaits_settings && bytes.starts_with(HTTP_1) {
            self.lost(id, SPEAKS_HTTP_1, io);
            return close(bytes);
        }
        let state = &mut self.state;
        let consumed =
            connection.with_output(id, io, |connection| exchange(connection, bytes, now_ns, state));
        connection.stamp_starts(&mut state.calls, io);
        note_streams(connection, &mut self.streams_due_ns, io);
        let is_done = connection.is_done();
        if awaits_settings {
            self.note_settings(index, io);
        }
        self.make_due_calls(Some(index), io);
        if self.state.may_end_with_a_call() {
            self.advance(io);
        }
        match consumed {
            Ok(consumed) => Received {
                consumed,
                after: if is_done { AfterRead::Close } else { AfterRead::Continue },
            },
            Err(error) => {
                self.lost(id, &error.to_string(), io);
                close(bytes)
            }
        }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.refill(id.index as usize, io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, io),
            why if self.awaits_settings(id) => {
                let text = self.state.why_closed_at_once(&why);
                self.lost(id, &text, io);
            }
            why => self.lost(id, &why_closed(&why), io),
        }
        self.attend_to_connections(io);
        self.advance(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.attend_to_connections(io);
        self.expire(io);
        self.advance(io);
        if self.state.try_to_begin_lap(io) {
            self.make_calls(io);
        }
        self.follow_concurrency(io);
        self.follow_streams(io);
        self.make_due_calls(None, io);
        self.leave_if_stopping(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        self.state.next_deadline(self.connections_due_ns.min(self.streams_due_ns))
    }

    fn has_outstanding(&self) -> bool {
        self.state.may_be_woken()
    }
}

/// When the connections of a worker are checked for silent servers.
#[derive(Debug)]
struct KeepaliveSweep {
    /// What holds for the next connection.
    next: Option<Keepalive>,
    /// All connections are checked then; `u64::MAX` for never.
    at_ns: u64,
}

impl KeepaliveSweep {
    fn new(keepalive: Option<Keepalive>) -> Self {
        Self { next: keepalive, at_ns: u64::MAX }
    }

    /// There is a connection to check.
    fn begin(&mut self, now_ns: u64) {
        if let Some(keepalive) = self.next {
            let first_ns = now_ns.saturating_add(keepalive.check_interval_ns());
            self.at_ns = self.at_ns.min(first_ns);
        }
    }

    /// A connection is gone. Where its server received too many PINGs, the next ones get half as
    /// many as it did, which is one step for all connections that end so at a time.
    fn learn_from(&mut self, connection: &LoadConnection) {
        let goaway = connection.goaway.as_ref();
        let too_many_pings = goaway.is_some_and(|goaway| goaway.too_many_pings);
        if let Some(used) = connection.keepalive.filter(|_| too_many_pings) {
            let slower = used.at_half_rate();
            self.next = self.next.filter(|next| next.time_ns > slower.time_ns).or(Some(slower));
        }
    }
}
