//! Connections of a worker: made, made again, lost.

use super::ThriftShard;
use super::connection::ThriftConnection;
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::lifecycle::WorkerLifecycle;
use crate::worker::phases::RunPhase;
use crate::worker::source_addresses::ConnectToken;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use std::io;

impl ThriftShard {
    /// Makes the connections whose time has come.
    pub(super) fn attend_to_connections(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if now_ns < self.connections_due_ns {
            return;
        }
        if self.state.will_make_calls() {
            while let Some(number) = self.schedule.next(now_ns) {
                self.state.connect(number as usize, number, io);
            }
        }
        self.update_due_time();
    }

    fn update_due_time(&mut self) {
        let makes_more = self.state.will_make_calls();
        self.connections_due_ns = if makes_more { self.schedule.due_at_ns() } else { u64::MAX };
    }

    /// A server of Thrift says nothing before it is asked: calls may be made at once.
    pub(super) fn connected(&mut self, id: ConnectionId, token: u64, io: &mut IoContext) {
        let number = ConnectToken::of(token).number;
        let state = &mut self.state;
        state.sources.opened();
        state.opened(number as usize);
        let connection = ThriftConnection::new(
            id,
            number,
            state.measured.peers.index(number as usize),
            self.concurrency[number as usize],
            state.plan.response_max_bytes,
        );
        let index = id.index as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(connection);
        self.schedule.established(number);
        self.update_due_time();
        self.attend_to_connections(io);
        self.advance(io);
        self.refill(index, io);
    }

    pub(super) fn not_connected(&mut self, token: u64, error: &io::Error, io: &mut IoContext) {
        let token = ConnectToken::of(token);
        let connection = token.number as usize;
        let state = &mut self.state;
        if state.connect_from_elsewhere(connection, token, error, io).is_some() {
            return;
        }
        let text = state.explain(connection, &state.why_not_connected(connection, error));
        state.measured.note_failure(&text);
        state.lose_target(connection);
        state.count_failed_connection(connection, &text);
        self.schedule.closed(token.number, io.now_ns(), ConnectionEnd::Unanswered);
        self.update_due_time();
    }

    /// Why a connection is gone. Where nothing was ever answered on it, the server may speak
    /// otherwise.
    pub(super) fn why_silent(&self, id: ConnectionId, text: &str) -> String {
        match self.connections.get(id.index as usize).and_then(Option::as_ref) {
            Some(connection) if connection.made_calls && !connection.has_answered => {
                format!("{text} and answered nothing: does it speak {}?", self.call.spoken())
            }
            _ => text.to_owned(),
        }
    }

    /// A connection is of no use any more. Its calls fail; it is made again later.
    pub(super) fn lost(&mut self, id: ConnectionId, text: &str, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let slot = self.connections.get_mut(id.index as usize);
        let Some(mut connection) = slot.and_then(|slot| slot.take_if(|known| known.id == id))
        else {
            return;
        };
        let number = connection.number;
        let state = &mut self.state;
        if state.phase() != RunPhase::Over {
            let text = state.explain(number as usize, text);
            state.measured.note_failure(&text);
            if !connection.made_calls {
                state.lose_target(number as usize);
                state.count_failed_connection(number as usize, &text);
            }
            let status = Status::new(Code::Unavailable, text);
            connection.fail_all(&status, now_ns, &mut state.calls);
        }
        let end =
            if connection.has_answered { ConnectionEnd::Broken } else { ConnectionEnd::Unanswered };
        self.schedule.closed(number, now_ns, end);
        self.update_due_time();
    }

    /// A call on that connection has passed its deadline.
    pub(super) fn give_up(
        &mut self,
        mut connection: ThriftConnection,
        limit_ns: u64,
        io: &mut IoContext,
    ) {
        let now_ns = io.now_ns();
        connection.fail_late(limit_ns, now_ns, &mut self.state.calls);
        io.abort(connection.id);
        let end = if connection.has_answered {
            ConnectionEnd::Finished
        } else {
            ConnectionEnd::Unanswered
        };
        self.schedule.closed(connection.number, now_ns, end);
        self.update_due_time();
    }
}
