//! A worker whose connections are kept: many calls go over each. Driven by `bookend-io`.
//!
//! What differs between HTTP/2 and Thrift is in the [`Session`] of a connection. The way of a call:
//! a session writes its request into the driver's buffer as far as the pace allows, and the driver
//! moves the bytes. `received` hands those that came to the session, which checks the response,
//! counts the call and makes the next one in its place.
//!
//! Everything else is in the files of this folder: `connections` makes and loses connections,
//! `open_loop` makes the calls of a schedule, and `advance`, which moves the worker from one phase
//! of the run to the next, is in `lifecycle`.

mod connections;
mod open_loop;
#[cfg(test)]
mod stories;

use super::connect_schedule::{CONNECTING_MAX, ConnectSchedule};
use super::lifecycle::WorkerLifecycle;
use super::session::{Expired, Session, SessionState};
use super::start_barrier::StartBarrier;
use super::state::WorkerState;
use crate::plan::{Connecting, LoadPlan};
use crate::record::{InFlightAges, WorkerMeasurements};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use std::sync::Arc;

/// One worker of a run whose connections are kept.
#[derive(Debug)]
pub(crate) struct WorkerShard<S: Session> {
    state: WorkerState,
    common: S::Common,
    /// Calls to keep in flight, by connection of this worker.
    concurrency: Vec<u32>,
    schedule: ConnectSchedule,
    /// By [`ConnectionId::index`].
    sessions: Vec<Option<S>>,
    /// The connection on which the next call of an open loop is tried first.
    next_connection: usize,
    /// Connections with calls of an open loop whose start is not stamped yet.
    unstamped: Vec<usize>,
    /// When a session has something to write by itself; `u64::MAX` for never.
    sessions_due_ns: u64,
    /// When all sessions see whether their servers are there; `u64::MAX` for never.
    liveness_due_ns: u64,
    /// When [`WorkerShard::attend_to_connections`] has something to do.
    connections_due_ns: u64,
}

impl<S: Session> WorkerShard<S> {
    /// Worker `worker` of a run, whose sessions share `common`.
    pub fn new(
        plan: Arc<LoadPlan>,
        common: S::Common,
        barrier: Arc<StartBarrier>,
        worker: u32,
    ) -> Self {
        let share = plan.share(worker);
        let first = plan.concurrency_steps.first().map_or(plan.concurrency, |step| step.calls);
        Self {
            concurrency: plan.streams(worker, first),
            schedule: ConnectSchedule::new(share.streams.len(), CONNECTING_MAX),
            state: WorkerState::new(plan, barrier, worker, &share),
            common,
            sessions: Vec::new(),
            next_connection: 0,
            unstamped: Vec::new(),
            sessions_due_ns: u64::MAX,
            liveness_due_ns: u64::MAX,
            connections_due_ns: 0,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    fn open_sessions(&self) -> u32 {
        let is_open = |session: &&S| session.state() == SessionState::Open;
        self.sessions.iter().flatten().filter(is_open).count() as u32
    }

    /// Makes the calls that are missing on a connection, outside of a read.
    fn refill(&mut self, index: usize, io: &mut IoContext) {
        let Some(session) = self.sessions.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        session.refill(&self.common, &mut self.state, io);
        let due_ns = session.finish_turn(&self.common, &mut self.state.calls, io);
        self.sessions_due_ns = self.sessions_due_ns.min(due_ns);
        // Nothing more will come on it, so `received` cannot close it.
        if session.is_done() {
            io.close(session.place().id);
        }
        self.make_due_calls(Some(index), io);
    }

    /// Has sessions write what has become due.
    fn follow_sessions(&mut self, io: &mut IoContext) {
        if io.now_ns() < self.sessions_due_ns {
            return;
        }
        self.sessions_due_ns = u64::MAX;
        self.make_calls(io);
    }

    /// Keeps as many calls in flight as the plan says from now on, if that has changed. Calls that
    /// are too many end by themselves.
    fn follow_concurrency(&mut self, io: &mut IoContext) {
        let Some(calls) = self.state.next_concurrency(io.now_ns()) else {
            return;
        };
        self.concurrency = self.state.plan.streams(self.state.worker, calls);
        for session in self.sessions.iter_mut().flatten() {
            let place = session.place_mut();
            place.concurrency = self.concurrency[place.number as usize];
        }
        self.make_calls(io);
    }

    /// Gives up on calls whose deadline has passed, and makes others.
    fn expire(&mut self, io: &mut IoContext) {
        let Some(limit_ns) = self.state.expiry_limit_ns(io.now_ns()) else {
            return;
        };
        for index in 0..self.sessions.len() {
            let Some(session) = &mut self.sessions[index] else {
                continue;
            };
            match session.expire(limit_ns, &mut self.state.calls, io) {
                Expired::Nothing => {}
                Expired::Calls => self.refill(index, io),
                Expired::Session(end) => self.give_up(index, end, io),
            }
        }
    }

    /// Whether what has come of replies on all connections may be kept.
    #[cold]
    fn check_kept(&self, index: usize) -> Result<(), S::Fault> {
        match &self.sessions[index] {
            Some(own) => own.check_kept(self.sessions.iter().flatten(), &self.common),
            None => Ok(()),
        }
    }
}

fn close(bytes: &[u8]) -> Received {
    Received { consumed: bytes.len(), after: AfterRead::Close }
}

impl<S: Session> WorkerLifecycle for WorkerShard<S> {
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
            self.state.arrive(self.open_sessions(), now_ns);
        }
    }

    fn make_calls(&mut self, io: &mut IoContext) {
        for index in 0..self.sessions.len() {
            self.refill(index, io);
        }
    }

    fn in_flight_ages(&self, now_ns: u64) -> InFlightAges {
        let sessions = self.sessions.iter().flatten();
        InFlightAges::at(now_ns, sessions.flat_map(S::begins_ns))
    }

    fn fail_all(&mut self, io: &mut IoContext) {
        let status = Status::new(Code::Unavailable, "the client connection is closing");
        for session in self.sessions.iter_mut().flatten() {
            session.fail_all(&status, io.now_ns(), &mut self.state.calls);
        }
    }

    fn close_all(&mut self, io: &mut IoContext) {
        for session in self.sessions.iter().flatten() {
            session.note_end(&mut self.state.measured);
            io.close(session.place().id);
        }
    }
}

impl<S: Session> Shard for WorkerShard<S> {
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
        let Some(session) = self.sessions.get_mut(index).and_then(Option::as_mut) else {
            return close(bytes);
        };
        let awaits_greeting = session.state() == SessionState::AwaitingGreeting;
        if awaits_greeting && let Some(text) = S::wrong_greeting(bytes, &self.state.plan) {
            self.lost(id, &text, io);
            return close(bytes);
        }
        let consumed = session.exchange(&self.common, bytes, &mut self.state, io);
        let due_ns = session.finish_turn(&self.common, &mut self.state.calls, io);
        self.sessions_due_ns = self.sessions_due_ns.min(due_ns);
        let (is_done, keeps_much) = (session.is_done(), session.keeps_much());
        if awaits_greeting {
            self.note_greeting(index, io);
        }
        let consumed = match consumed {
            Ok(_) if keeps_much => self.check_kept(index).map(|()| bytes.len()),
            consumed => consumed,
        };
        if let Err(fault) = &consumed {
            self.lost(id, &fault.to_string(), io);
        }
        self.make_due_calls(Some(index), io);
        if self.state.may_end_with_a_call() {
            self.advance(io);
        }
        match consumed {
            Ok(consumed) if !is_done => Received { consumed, after: AfterRead::Continue },
            Ok(consumed) => Received { consumed, after: AfterRead::Close },
            Err(_) => close(bytes),
        }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        let index = id.index as usize;
        if S::ends_calls_when_written(&self.common) {
            self.end_written_calls(index, io);
        }
        self.refill(index, io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, io),
            why => self.disconnected(id, &why, io),
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
        self.follow_sessions(io);
        self.make_due_calls(None, io);
        self.leave_if_stopping(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        self.state.next_deadline(self.connections_due_ns.min(self.sessions_due_ns))
    }

    fn has_outstanding(&self) -> bool {
        self.state.may_be_woken()
    }
}
