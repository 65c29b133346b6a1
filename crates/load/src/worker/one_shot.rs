//! One worker whose calls have a connection each: made, used for one call and closed inside the
//! call's clock. Driven by `bookend-io`.
//!
//! The client closes first. So it is this machine that keeps each connection's port for a minute
//! (TIME_WAIT): see `sources`.

mod call;

use crate::plan::LoadPlan;
use crate::record::measurements::WorkerMeasurements;
use crate::worker::Worker;
use crate::worker::connection_manager::{ConnectionEnd, ConnectionManager};
use crate::worker::load_connection::ReceivedGoAway;
use crate::worker::source_addresses::ConnectToken;
use crate::worker::start_barrier::StartBarrier;
use crate::worker::state::WorkerState;
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use bookend_wire::grpc::{Code, Status};
use call::{OneShotCall, RequestTemplate};
use std::io;
use std::sync::Arc;

/// The connection with which a worker finds out whether there is a server. No call is made on it.
const TRIAL: u32 = u32::MAX;

/// One worker of a run in which every call has a connection of its own.
#[derive(Debug)]
pub(crate) struct OneShotShard {
    state: WorkerState,
    /// By the name of the target.
    scripts: Vec<RequestTemplate>,
    /// As many as there may be calls in flight.
    attempts: Vec<OneShotCall>,
    /// When each of them is made again.
    dials: ConnectionManager,
    /// The attempt, by connection index.
    by_connection: Vec<u32>,
    trial: Option<ConnectionId>,
    /// When the next call is to be made.
    call_deadline_ns: u64,
}

impl OneShotShard {
    /// Worker `worker` of a run.
    pub fn new(plan: Arc<LoadPlan>, barrier: Arc<StartBarrier>, worker: u32) -> Self {
        let share = plan.share(worker);
        let attempts = share.streams.len();
        Self {
            scripts: Vec::new(),
            attempts: (0..attempts).map(|_| OneShotCall::new(&plan)).collect(),
            dials: ConnectionManager::new(attempts, attempts),
            by_connection: Vec::new(),
            trial: None,
            call_deadline_ns: u64::MAX,
            state: WorkerState::new(plan, barrier, worker, &share),
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        self.state.into_measured()
    }

    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        let number = ConnectToken::of(token).number;
        self.state.measured.peers.name(of_worker(number))
    }

    fn connect(&mut self, number: u32, io: &mut IoContext) -> ConnectionId {
        self.state.dial(of_worker(number), number, io)
    }

    /// The attempt that a connection belongs to.
    #[inline]
    fn number_of(&self, id: ConnectionId) -> Option<u32> {
        let number = *self.by_connection.get(id.index as usize)?;
        let attempt = self.attempts.get(number as usize)?;
        (attempt.id == Some(id)).then_some(number)
    }

    fn connected(&mut self, number: u32, id: ConnectionId, io: &mut IoContext) {
        let index = id.index as usize;
        if index >= self.by_connection.len() {
            self.by_connection.resize(index + 1, TRIAL);
        }
        self.by_connection[index] = number;
        self.state.measured.connections_opened += 1;
        let place = self.state.measured.peers.opened(number as usize);
        while self.scripts.len() <= place.name {
            let script = RequestTemplate::new(&self.state.plan, self.scripts.len());
            self.scripts.push(script);
        }
        let script = &mut self.scripts[place.name];
        let attempt = &mut self.attempts[number as usize];
        attempt.write_request(script, &mut self.state, id, io);
    }

    fn not_connected(&mut self, token: u64, error: &io::Error, io: &mut IoContext) {
        let token = ConnectToken::of(token);
        let number = token.number;
        let connection = of_worker(number);
        let again = self.state.dial_from_elsewhere(connection, token, error, io);
        if again.is_some() {
            match self.attempts.get_mut(number as usize) {
                Some(attempt) => attempt.id = again,
                None => self.trial = again,
            }
            return;
        }
        let text = self.state.sources.explain(error);
        if number != TRIAL {
            return self.end_call(number, &text, ConnectionEnd::Useless, io);
        }
        let text = self.state.explain(connection, &text);
        self.state.measured.note_failure(&text);
        self.end_trial(false, io);
    }

    fn disconnected(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        let Some(number) = self.number_of(id) else {
            return;
        };
        let end = self.attempts[number as usize].end();
        match why {
            Closed::Failed(error) => {
                self.end_call(number, &format!("connection error: {error}"), end, io);
            }
            Closed::Us => self.end_call(number, "the client closed the connection", end, io),
            _ => self.end_call(number, "the server closed the connection", end, io),
        }
    }

    /// A call is over, and its connection gone. `text` says why where nothing else does.
    fn end_call(&mut self, number: u32, text: &str, end: ConnectionEnd, io: &mut IoContext) {
        let end_ns = io.clock_ns();
        self.state.tick(end_ns);
        let attempt = &mut self.attempts[number as usize];
        if attempt.id.take().is_none() {
            return;
        }
        let farewell = attempt.farewell.take();
        let connection = number as usize;
        let outcome = attempt.outcome.take().unwrap_or_else(|| {
            let said = farewell.as_ref().map(ReceivedGoAway::to_string);
            let text = said.unwrap_or_else(|| text.to_owned());
            let text = self.state.explain(connection, &text);
            self.state.measured.note_failure(&text);
            self.state.lose_target(connection);
            Err(Status::new(Code::Unavailable, text))
        });
        let mut ledger = self.state.ledger_of(connection, end_ns);
        match &outcome {
            Ok(()) => ledger.ok_with(&attempt.call, attempt.parts()),
            Err(fault) => ledger.failed(&attempt.call, fault),
        }
        if let Some(said) = farewell {
            self.state.measured.note_goaway(said.text);
        }
        self.dials.lost(number, end_ns, end);
    }

    fn expire(&mut self, io: &mut IoContext) {
        let Some(limit_ns) = self.state.expiry_limit_ns(io.now_ns()) else {
            return;
        };
        for attempt in &mut self.attempts {
            attempt.expire(limit_ns, io);
        }
    }

    fn end_trial(&mut self, answered: bool, io: &mut IoContext) {
        if let Some(id) = self.trial.take() {
            io.close(id);
        }
        self.state.arrive(u32::from(answered), io.now_ns());
    }
}

/// Which of the worker's targets that connection has.
fn of_worker(number: u32) -> usize {
    if number == TRIAL { 0 } else { number as usize }
}

impl Worker for OneShotShard {
    fn state(&mut self) -> &mut WorkerState {
        &mut self.state
    }

    /// It waits until it knows whether there is a server.
    fn try_to_arrive(&mut self, io: &mut IoContext) {
        if self.trial.is_none() && !self.state.has_arrived() {
            self.trial = Some(self.connect(TRIAL, io));
        }
    }

    /// They start now.
    fn make_calls(&mut self, io: &mut IoContext) {
        if !self.state.makes_calls() {
            return;
        }
        let start_ns = io.clock_ns();
        while self.state.budget(start_ns) > 0
            && let Some(number) = self.dials.next(start_ns)
        {
            self.attempts[number as usize].begin(start_ns, self.state.by_number());
            self.state.made(1);
            let id = self.connect(number, io);
            self.attempts[number as usize].id = Some(id);
        }
        self.call_deadline_ns = match self.state.budget(start_ns) {
            0 => u64::MAX,
            _ => self.dials.due_at_ns(),
        };
    }

    /// Their connections are closed as well.
    fn fail_everything(&mut self, io: &mut IoContext) {
        let fault = Status::new(Code::Unavailable, "the client connection is closing");
        let now_ns = io.now_ns();
        for (number, attempt) in self.attempts.iter_mut().enumerate() {
            if let Some(id) = attempt.id.take() {
                let mut ledger = self.state.ledger_of(number, now_ns);
                ledger.failed(&attempt.call, &fault);
                io.close(id);
            }
        }
    }

    fn close_everything(&mut self, io: &mut IoContext) {
        let open = self
            .attempts
            .iter_mut()
            .filter_map(|attempt| attempt.id.take());
        open.chain(self.trial.take()).for_each(|id| io.close(id));
    }
}

impl Shard for OneShotShard {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        let Opened::Connected(token) = how else {
            return;
        };
        self.state.sources.opened();
        match ConnectToken::of(token).number {
            TRIAL => self.end_trial(true, io),
            number => self.connected(number, id, io),
        }
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        if self.state.tick(io.now_ns()) {
            self.advance(io);
        }
        let Some(number) = self.number_of(id) else {
            return Received {
                consumed: bytes.len(),
                after: AfterRead::Close,
            };
        };
        self.attempts[number as usize].hear(id, bytes, io)
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
        let deadline_ns = self.state.next_deadline_ns().min(self.call_deadline_ns);
        Some(deadline_ns).filter(|deadline_ns| *deadline_ns != u64::MAX)
    }
}
