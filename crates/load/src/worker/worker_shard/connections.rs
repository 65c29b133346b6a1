//! Connections of a worker: made, made again, lost.

use super::WorkerShard;
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::lifecycle::WorkerLifecycle;
use crate::worker::phases::RunPhase;
use crate::worker::session::{Session, SessionPlace, SessionState};
use crate::worker::source_addresses::ConnectToken;
use bookend_io::{Closed, ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use std::io;

impl<S: Session> WorkerShard<S> {
    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        self.state.name_of(ConnectToken::of(token).number as usize)
    }

    /// Makes the connections whose time has come, gives up those whose server takes too long to
    /// greet, and finds out which servers are gone.
    pub(super) fn attend_to_connections(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if now_ns < self.connections_due_ns {
            return;
        }
        self.check_liveness(io);
        if self.state.will_make_calls() {
            while let Some(number) = self.schedule.next(now_ns) {
                self.state.connect(number as usize, number, io);
            }
        }
        while let Some(id) = self.schedule.next_overdue(now_ns) {
            let greeting = S::GREETING.unwrap_or_default();
            let text = format!("the server accepted the connection and sent no {greeting}");
            self.lost(id, &text, io);
            io.abort(id);
        }
        self.update_due_time();
    }

    /// Has all sessions see whether their servers are there, if it is time to, and gives up those
    /// whose server is not.
    fn check_liveness(&mut self, io: &mut IoContext) {
        if io.now_ns() < self.liveness_due_ns {
            return;
        }
        self.liveness_due_ns = u64::MAX;
        for index in 0..self.sessions.len() {
            let Some(session) = &mut self.sessions[index] else {
                continue;
            };
            match session.check_liveness(io) {
                Ok(next_ns) => self.liveness_due_ns = self.liveness_due_ns.min(next_ns),
                Err(text) => {
                    let id = session.place().id;
                    self.lost(id, &text, io);
                    io.abort(id);
                }
            }
        }
    }

    fn update_due_time(&mut self) {
        self.connections_due_ns = if self.state.will_make_calls() {
            self.schedule.due_at_ns().min(self.liveness_due_ns)
        } else {
            u64::MAX
        };
    }

    pub(super) fn connected(&mut self, id: ConnectionId, token: u64, io: &mut IoContext) {
        let number = ConnectToken::of(token).number;
        let state = &mut self.state;
        state.sources.opened();
        let name = state.opened(number as usize);
        let place = SessionPlace {
            id,
            number,
            peer: state.measured.peers.index(number as usize),
            concurrency: self.concurrency[number as usize],
        };
        let session = S::begin(place, name, &mut self.common, &state.plan, io);
        let now_ns = io.now_ns();
        self.liveness_due_ns = self.liveness_due_ns.min(session.first_liveness_check_ns(now_ns));
        let index = id.index as usize;
        if index >= self.sessions.len() {
            self.sessions.resize_with(index + 1, || None);
        }
        self.sessions[index] = Some(session);
        if S::GREETING.is_some() {
            let by_ns = now_ns.saturating_add(state.plan.connect_timeout_ns);
            self.schedule.opened(number, id, by_ns);
            self.update_due_time();
        } else {
            self.established(number, io);
            self.advance(io);
            self.refill(index, io);
        }
    }

    pub(super) fn not_connected(&mut self, token: u64, error: &io::Error, io: &mut IoContext) {
        let token = ConnectToken::of(token);
        let connection = token.number as usize;
        let state = &mut self.state;
        let again = state.connect_from_elsewhere(connection, token, error, io);
        if again.is_some() {
            return;
        }
        let text = state.explain(connection, &state.why_not_connected(connection, error));
        state.measured.note_failure(&text);
        state.lose_target(connection);
        state.count_failed_connection(connection, &text);
        let end = ConnectionEnd::Unanswered;
        self.schedule.closed(token.number, io.now_ns(), end);
        self.update_due_time();
    }

    /// Something has come on a connection whose server had not greeted.
    #[cold]
    pub(super) fn note_greeting(&mut self, index: usize, io: &mut IoContext) {
        if let Some(session) = &self.sessions[index]
            && session.state() == SessionState::Open
        {
            self.established(session.place().number, io);
        }
    }

    fn established(&mut self, number: u32, io: &mut IoContext) {
        self.schedule.established(number);
        self.update_due_time();
        self.attend_to_connections(io);
    }

    /// Calls that get no response have ended.
    pub(super) fn end_written_calls(&mut self, index: usize, io: &mut IoContext) {
        if let Some(session) = self.sessions.get_mut(index).and_then(Option::as_mut) {
            let now_ns = io.clock_ns();
            self.state.tick(now_ns);
            session.end_written_calls(now_ns, &mut self.state.calls);
            self.advance(io);
        }
    }

    /// The driver has closed a connection.
    pub(super) fn disconnected(&mut self, id: ConnectionId, why: &Closed, io: &mut IoContext) {
        if let Some(session) = self.sessions.get(id.index as usize).and_then(Option::as_ref)
            && session.place().id == id
        {
            let text = session.why_closed(why, &self.common, &self.state);
            self.lost(id, &text, io);
        }
    }

    /// A connection is of no use any more. Its calls fail; it is made again later.
    pub(super) fn lost(&mut self, id: ConnectionId, text: &str, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let slot = self.sessions.get_mut(id.index as usize);
        let Some(mut session) = slot.and_then(|slot| slot.take_if(|known| known.place().id == id))
        else {
            return;
        };
        let end = session.end();
        session.teach(&mut self.common);
        let number = session.place().number;
        let state = &mut self.state;
        if state.phase() != RunPhase::Over {
            session.note_end(&mut state.measured);
        }
        if end != ConnectionEnd::Finished && state.phase() != RunPhase::Over {
            let text = state.explain(number as usize, &session.why_lost(text));
            state.measured.note_failure(&text);
            if session.made_no_call() {
                state.lose_target(number as usize);
                state.count_failed_connection(number as usize, &text);
            }
            let status = Status::new(Code::Unavailable, text);
            session.fail_all(&status, now_ns, &mut state.calls);
        }
        self.schedule.closed(number, now_ns, end);
        self.update_due_time();
    }

    /// A session cannot go on without the calls that have passed their deadline.
    pub(super) fn give_up(&mut self, index: usize, end: ConnectionEnd, io: &mut IoContext) {
        if let Some(session) = self.sessions[index].take() {
            io.abort(session.place().id);
            self.schedule.closed(session.place().number, io.now_ns(), end);
            self.update_due_time();
        }
    }
}
