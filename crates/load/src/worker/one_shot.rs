//! A worker whose calls have a connection each: made, used for one call and closed inside the
//! call's clock. Driven by `bookend-io`.
//!
//! The client closes first. So it is this machine that keeps each connection's port for a minute
//! (TIME_WAIT): see `source_addresses`.

mod call;
mod protocol;
mod request_template;
#[cfg(test)]
mod stories;

use super::connect::why_closed;
use super::connect_schedule::{ConnectSchedule, ConnectionEnd};
use super::lifecycle::WorkerLifecycle;
use super::received_goaway::ReceivedGoAway;
use super::source_addresses::ConnectToken;
use super::start_barrier::StartBarrier;
use super::state::WorkerState;
use crate::plan::LoadPlan;
use crate::record::{InFlightAges, Obstacle, WorkerMeasurements};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use call::OneShotCall;
use protocol::OneShotProtocol;
use std::io;
use std::sync::Arc;

/// The number of the connection with which a worker finds out whether there is a server. No call is
/// made on it.
const PREFLIGHT: u32 = u32::MAX;

/// One worker of a run in which every call has a connection of its own.
#[derive(Debug)]
pub(crate) struct OneShotShard {
    state: WorkerState,
    protocol: OneShotProtocol,
    /// As many as there may be calls in flight.
    calls: Vec<OneShotCall>,
    /// When each of them is made again.
    schedule: ConnectSchedule,
    /// The call, by the index of its connection's id.
    by_connection: Vec<u32>,
    preflight: Option<ConnectionId>,
    /// When the next call is to be made.
    next_call_ns: u64,
}

impl OneShotShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<LoadPlan>, barrier: Arc<StartBarrier>, worker: u32) -> Self {
        let share = plan.share(worker);
        let calls = share.streams.len();
        Self {
            protocol: OneShotProtocol::new(&plan, calls),
            calls: (0..calls).map(|_| OneShotCall::default()).collect(),
            schedule: ConnectSchedule::new(calls, calls),
            by_connection: Vec::new(),
            preflight: None,
            next_call_ns: u64::MAX,
            state: WorkerState::new(plan, barrier, worker, &share),
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        self.state.name_of(connection_of(ConnectToken::of(token).number))
    }

    fn connect(&mut self, number: u32, io: &mut IoContext) -> ConnectionId {
        self.state.connect(connection_of(number), number, io)
    }

    fn begin_call(&mut self, number: u32, start_ns: u64, io: &mut IoContext) {
        self.calls[number as usize].begin(start_ns, self.state.calls.by_number());
        self.protocol.begin(number);
        self.state.calls.began(1);
        let id = self.connect(number, io);
        self.calls[number as usize].connection = Some(id);
    }

    /// Begins the call of an open loop that is due next.
    fn begin_due_call(&mut self, number: u32, start_ns: u64, io: &mut IoContext) {
        self.begin_call(number, start_ns, io);
        let intended_ns = self.state.pace.due_ns();
        let has_waited = self.state.room.find(intended_ns, start_ns);
        let call = &mut self.calls[number as usize].call;
        call.set_due(intended_ns, has_waited);
        self.state.calls.started(call);
        self.state.pace.pass_due_call();
    }

    /// The number of the call that a connection belongs to.
    #[inline]
    fn number_of(&self, id: ConnectionId) -> Option<u32> {
        let number = *self.by_connection.get(id.index as usize)?;
        let call = self.calls.get(number as usize)?;
        (call.connection == Some(id)).then_some(number)
    }

    fn connected(&mut self, number: u32, id: ConnectionId, io: &mut IoContext) {
        let index = id.index as usize;
        if index >= self.by_connection.len() {
            self.by_connection.resize(index + 1, PREFLIGHT);
        }
        self.by_connection[index] = number;
        let name = self.state.opened(number as usize);
        let call = &mut self.calls[number as usize];
        self.protocol.write_request((number, call), name, &mut self.state, id, io);
    }

    fn not_connected(&mut self, token: u64, error: &io::Error, io: &mut IoContext) {
        let token = ConnectToken::of(token);
        let number = token.number;
        let connection = connection_of(number);
        let state = &mut self.state;
        let again = state.connect_from_elsewhere(connection, token, error, io);
        if again.is_some() {
            match self.calls.get_mut(number as usize) {
                Some(call) => call.connection = again,
                None => self.preflight = again,
            }
            return;
        }
        let text = state.why_not_connected(connection, error);
        if number != PREFLIGHT {
            return self.end_call(number, &text, ConnectionEnd::Unanswered, io);
        }
        let text = state.explain(connection, &text);
        state.measured.note_failure(&text);
        self.end_preflight(false, io);
    }

    fn disconnected(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        let Some(number) = self.number_of(id) else {
            return;
        };
        let call = &self.calls[number as usize];
        let end = call.connection_end();
        match call.has_heard() {
            true => self.end_call(number, &why_closed(&why), end, io),
            false => self.end_call(number, &self.protocol.why_silent(&why, &self.state), end, io),
        }
    }

    /// A call is over, and its connection gone. `text` says why where nothing else does.
    fn end_call(&mut self, number: u32, text: &str, end: ConnectionEnd, io: &mut IoContext) {
        let end_ns = io.clock_ns();
        self.state.tick(end_ns);
        let ended = &mut self.calls[number as usize];
        if ended.connection.take().is_none() {
            return;
        }
        let goaway = ended.goaway.take();
        let connection = number as usize;
        let state = &mut self.state;
        let outcome = ended.outcome.take().unwrap_or_else(|| {
            let text =
                goaway.as_ref().map(ReceivedGoAway::to_string).unwrap_or_else(|| text.to_owned());
            let text = state.explain(connection, &text);
            state.measured.note_failure(&text);
            state.lose_target(connection);
            Err(Status::new(Code::Unavailable, text))
        });
        state.calls.at_peer(state.measured.peers.index(connection));
        match &outcome {
            Ok(()) => {
                let times = ended.setup_times();
                state.calls.ok_with_setup(&ended.call, times, end_ns);
            }
            Err(status) => state.calls.failed(&ended.call, status, end_ns),
        }
        if let Some(goaway) = goaway {
            state.measured.note_goaway(&goaway.text);
        }
        self.schedule.closed(number, end_ns, end);
    }

    fn expire(&mut self, io: &mut IoContext) {
        let Some(limit_ns) = self.state.expiry_limit_ns(io.now_ns()) else {
            return;
        };
        for (number, call) in (0..).zip(&mut self.calls) {
            call.expire(limit_ns, io, |stream_id, id, io| {
                self.protocol.cancel(number, stream_id, id, io);
            });
        }
    }

    fn end_preflight(&mut self, is_connected: bool, io: &mut IoContext) {
        if let Some(id) = self.preflight.take() {
            io.close(id);
        }
        self.state.arrive(u32::from(is_connected), io.now_ns());
    }
}

/// Which of the worker's connections has that number: the preflight goes where the first one does.
fn connection_of(number: u32) -> usize {
    if number == PREFLIGHT { 0 } else { number as usize }
}

impl WorkerLifecycle for OneShotShard {
    fn state(&mut self) -> &mut WorkerState {
        &mut self.state
    }

    /// It is ready once it knows whether there is a server.
    fn try_to_arrive(&mut self, io: &mut IoContext) {
        if self.preflight.is_none() && !self.state.has_arrived() {
            self.preflight = Some(self.connect(PREFLIGHT, io));
        }
    }

    /// They start now.
    fn make_calls(&mut self, io: &mut IoContext) {
        if !self.state.makes_calls() {
            return;
        }
        let start_ns = io.clock_ns();
        while self.state.pace.allowed(start_ns) > 0
            && let Some(number) = self.schedule.next(start_ns)
        {
            self.begin_call(number, start_ns, io);
            self.state.pace.made(1);
        }
        while self.state.pace.due_ns() <= start_ns {
            match self.schedule.next(start_ns) {
                Some(number) => self.begin_due_call(number, start_ns, io),
                None if self.state.hold_back(Obstacle::InFlightLimit, start_ns) => {}
                None => break,
            }
        }
        let has_calls =
            self.state.pace.allowed(start_ns) > 0 || self.state.room.obstacle().is_some();
        self.next_call_ns = if has_calls { self.schedule.due_at_ns() } else { u64::MAX };
    }

    fn in_flight_ages(&self, now_ns: u64) -> InFlightAges {
        let calls = self.calls.iter().filter(|call| call.connection.is_some());
        InFlightAges::at(now_ns, calls.map(|call| call.call.begin_ns()))
    }

    /// Their connections are closed as well.
    fn fail_all(&mut self, io: &mut IoContext) {
        let status = Status::new(Code::Unavailable, "the client connection is closing");
        let now_ns = io.now_ns();
        let state = &mut self.state;
        for (connection, call) in self.calls.iter_mut().enumerate() {
            if let Some(id) = call.connection.take() {
                state.calls.at_peer(state.measured.peers.index(connection));
                state.calls.failed(&call.call, &status, now_ns);
                io.close(id);
            }
        }
    }

    fn close_all(&mut self, io: &mut IoContext) {
        self.calls
            .iter_mut()
            .filter_map(|call| call.connection.take())
            .chain(self.preflight.take())
            .for_each(|id| io.close(id));
    }
}

impl Shard for OneShotShard {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        let Opened::Connected(token) = how else {
            return;
        };
        self.state.sources.opened();
        match ConnectToken::of(token).number {
            PREFLIGHT => self.end_preflight(true, io),
            number => self.connected(number, id, io),
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        if self.state.tick(io.now_ns()) {
            self.advance(io);
        }
        let Some(number) = self.number_of(id) else {
            return Received { consumed: bytes.len(), after: AfterRead::Close };
        };
        let call = &mut self.calls[number as usize];
        self.protocol.receive((number, call), id, bytes, io)
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        match why {
            Closed::NotConnected(token, error) => self.not_connected(token, &error, io),
            why => self.disconnected(id, why, io),
        }
        self.advance(io);
        self.make_calls(io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.expire(io);
        self.advance(io);
        self.make_calls(io);
        self.leave_if_stopping(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        self.state.next_deadline(self.next_call_ns)
    }
}
