//! A worker whose calls go by Thrift. Driven by `bookend-io`.
//!
//! A connection of Thrift has no streams: its calls are answered in the order in which they were
//! sent. So most runs have one call in flight on each of many connections, and a call that is given
//! up takes its connection with it. Otherwise this worker is as `load_shard` is.

mod connection;
mod connections;
mod open_loop;

use super::connect::why_closed;
use super::connect_schedule::{CONNECTING_MAX, ConnectSchedule};
use super::lifecycle::WorkerLifecycle;
use super::source_addresses::ConnectToken;
use super::start_barrier::StartBarrier;
use super::state::WorkerState;
use crate::plan::{Connecting, LoadPlan};
use crate::record::{InFlightAges, WorkerMeasurements};
use crate::thrift::{ReplyFault, ThriftCall};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use connection::ThriftConnection;
use std::sync::Arc;

/// One worker of a run by Thrift.
#[derive(Debug)]
pub(crate) struct ThriftShard {
    state: WorkerState,
    call: Arc<ThriftCall>,
    /// Calls to keep in flight, by connection of this worker.
    concurrency: Vec<u32>,
    schedule: ConnectSchedule,
    /// By [`ConnectionId::index`].
    connections: Vec<Option<ThriftConnection>>,
    /// The connection on which the next call of an open loop is tried first.
    next_connection: usize,
    /// Connections with calls of an open loop whose start is not stamped yet.
    unstamped: Vec<usize>,
    /// When [`ThriftShard::attend_to_connections`] has something to do.
    connections_due_ns: u64,
}

impl ThriftShard {
    /// Worker `worker` of a run, which makes that call.
    pub fn new(
        plan: Arc<LoadPlan>,
        call: Arc<ThriftCall>,
        barrier: Arc<StartBarrier>,
        worker: u32,
    ) -> Self {
        let share = plan.share(worker);
        let first = plan.concurrency_steps.first().map_or(plan.concurrency, |step| step.calls);
        Self {
            concurrency: plan.streams(worker, first),
            schedule: ConnectSchedule::new(share.streams.len(), CONNECTING_MAX),
            state: WorkerState::new(plan, barrier, worker, &share),
            call,
            connections: Vec::new(),
            next_connection: 0,
            unstamped: Vec::new(),
            connections_due_ns: 0,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        self.state.name_of(ConnectToken::of(token).number as usize)
    }

    /// Makes the calls that are missing on a connection.
    fn refill(&mut self, index: usize, io: &mut IoContext) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        connection.make_calls(&self.call, &mut self.state, io);
        connection.stamp_starts(&self.call, &mut self.state.calls, io);
        self.make_due_calls(Some(index), io);
    }

    /// Keeps as many calls in flight as the plan says from now on, if that has changed.
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

    /// Whether what has come of replies on all connections may be kept.
    fn check_parts(&self, index: usize) -> Result<(), ReplyFault> {
        let all = self.connections.iter().flatten().map(|connection| &connection.replies);
        match &self.connections[index] {
            Some(own) => own.replies.check_parts(all, &self.state.plan),
            None => Ok(()),
        }
    }

    /// Gives up on calls whose deadline has passed. A reply that comes too late would be taken for
    /// that of the next call, so the connection goes as well.
    fn expire(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let Some(limit_ns) = self.state.expiry_limit_ns(now_ns) else {
            return;
        };
        for index in 0..self.connections.len() {
            let is_late = |connection: &mut ThriftConnection| connection.is_late(limit_ns);
            if let Some(connection) = self.connections[index].take_if(is_late) {
                self.give_up(connection, limit_ns, io);
            }
        }
    }
}

impl WorkerLifecycle for ThriftShard {
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
            let open = self.connections.iter().flatten().count();
            self.state.arrive(open as u32, now_ns);
        }
    }

    fn make_calls(&mut self, io: &mut IoContext) {
        for index in 0..self.connections.len() {
            self.refill(index, io);
        }
    }

    fn in_flight_ages(&self, now_ns: u64) -> InFlightAges {
        let connections = self.connections.iter().flatten();
        InFlightAges::at(now_ns, connections.flat_map(ThriftConnection::begins_ns))
    }

    fn fail_all(&mut self, io: &mut IoContext) {
        let status = Status::new(Code::Unavailable, "the client connection is closing");
        for connection in self.connections.iter_mut().flatten() {
            connection.fail_all(&status, io.now_ns(), &mut self.state.calls);
        }
    }

    fn close_all(&mut self, io: &mut IoContext) {
        for connection in self.connections.iter().flatten() {
            io.close(connection.id);
        }
    }
}

impl Shard for ThriftShard {
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
            return Received { consumed: bytes.len(), after: AfterRead::Close };
        };
        let result = connection.receive(&self.call, bytes, now_ns, &mut self.state.calls);
        let has_much = connection.replies.has_much();
        let mut after = match result {
            Ok(()) => {
                connection.make_calls(&self.call, &mut self.state, io);
                connection.stamp_starts(&self.call, &mut self.state.calls, io);
                self.make_due_calls(Some(index), io);
                AfterRead::Continue
            }
            Err(fault) => {
                self.lost(id, &fault.to_string(), io);
                AfterRead::Close
            }
        };
        if has_much && let Err(fault) = self.check_parts(index) {
            self.lost(id, &fault.to_string(), io);
            after = AfterRead::Close;
        }
        if self.state.may_end_with_a_call() {
            self.advance(io);
        }
        Received { consumed: bytes.len(), after }
    }

    /// Calls that get no reply have ended.
    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        let index = id.index as usize;
        let connection = self.connections.get_mut(index).and_then(Option::as_mut);
        if let Some(connection) = connection
            && self.call.is_oneway()
        {
            let now_ns = io.clock_ns();
            self.state.tick(now_ns);
            connection.note_written(now_ns, &mut self.state.calls);
            self.advance(io);
        }
        self.refill(index, io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, io),
            why => {
                let text = self.why_silent(id, &why_closed(&why));
                self.lost(id, &text, io);
            }
        }
        self.attend_to_connections(io);
        self.advance(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.attend_to_connections(io);
        self.expire(io);
        self.advance(io);
        self.follow_concurrency(io);
        self.make_due_calls(None, io);
        self.leave_if_stopping(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        self.state.next_deadline(self.connections_due_ns)
    }

    fn has_outstanding(&self) -> bool {
        self.state.may_be_woken()
    }
}
