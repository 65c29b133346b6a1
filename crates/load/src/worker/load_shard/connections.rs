//! Connections of a worker: made, made again, lost.

use super::LoadShard;
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::direct_output::DirectOutput;
use crate::worker::load_connection::{LoadConnection, LoadConnectionState};
use crate::worker::phases::RunPhase;
use crate::worker::source_addresses::ConnectToken;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use std::io;

impl LoadShard {
    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, token: u64) -> usize {
        self.state.name_of(ConnectToken::of(token).number as usize)
    }

    /// Makes the connections whose time has come, gives up those whose server takes too long to
    /// send SETTINGS, and sends PINGs to silent servers.
    pub(super) fn attend_to_connections(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if now_ns < self.connections_due_ns {
            return;
        }
        self.keep_alive(io);
        if self.state.will_make_calls() {
            while let Some(number) = self.schedule.next(now_ns) {
                self.state.connect(number as usize, number, io);
            }
        }
        while let Some(id) = self.schedule.next_overdue(now_ns) {
            let text = "the server accepted the connection and sent no SETTINGS";
            self.lost(id, text, io);
            io.abort(id);
        }
        self.update_due_time();
    }

    fn update_due_time(&mut self) {
        self.connections_due_ns = if self.state.will_make_calls() {
            self.schedule.due_at_ns().min(self.keepalive.at_ns)
        } else {
            u64::MAX
        };
    }

    pub(super) fn connected(&mut self, id: ConnectionId, token: u64, io: &mut IoContext) {
        let number = ConnectToken::of(token).number;
        let state = &mut self.state;
        state.sources.opened();
        let name = state.opened(number as usize);
        while self.heads.len() <= name {
            self.heads.push(state.plan.head(self.heads.len()));
        }
        let mut connection = LoadConnection::new(
            id,
            number,
            state.measured.peers.index(number as usize),
            &state.plan,
            &self.heads[name],
            self.concurrency[number as usize],
            self.keepalive.next,
        );
        connection.flush_output(id, io);
        let index = id.index as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(connection);
        let now_ns = io.now_ns();
        self.keepalive.begin(now_ns);
        let by_ns = now_ns.saturating_add(state.plan.connect_timeout_ns);
        self.schedule.opened(number, id, by_ns);
        self.update_due_time();
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

    /// Whether nothing has come on a connection.
    pub(super) fn awaits_settings(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(id.index as usize).and_then(Option::as_ref);
        connection.is_some_and(|connection| {
            connection.id == id && connection.state == LoadConnectionState::AwaitingSettings
        })
    }

    /// Something has come on a connection that waited for SETTINGS.
    #[cold]
    pub(super) fn note_settings(&mut self, index: usize, io: &mut IoContext) {
        if let Some(connection) = &self.connections[index]
            && connection.state == LoadConnectionState::Open
        {
            self.schedule.established(connection.number);
            self.update_due_time();
            self.attend_to_connections(io);
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
        let end = end_of(&connection);
        self.keepalive.learn_from(&connection);
        let state = &mut self.state;
        if state.phase() != RunPhase::Over {
            connection.note_end(&mut state.measured);
        }
        if end != ConnectionEnd::Finished && state.phase() != RunPhase::Over {
            let number = connection.number as usize;
            let text = state.explain(number, &why_lost(&connection, text));
            state.measured.note_failure(&text);
            if connection.made_no_call() {
                state.lose_target(number);
                state.count_failed_connection(number, &text);
            }
            let status = Status::new(Code::Unavailable, text);
            connection.fail_all(&status, now_ns, &mut state.calls);
        }
        self.schedule.closed(connection.number, now_ns, end);
        self.update_due_time();
    }
}

/// How a connection that is gone has ended. Where the server went away before any response, or
/// because of us, it is not made again at once.
fn end_of(connection: &LoadConnection) -> ConnectionEnd {
    let is_error = connection.goaway.as_ref().is_some_and(|said| said.is_error);
    if !connection.has_answered {
        ConnectionEnd::Unanswered
    } else if connection.is_done() && !is_error {
        ConnectionEnd::Finished
    } else {
        ConnectionEnd::Broken
    }
}

fn why_lost(connection: &LoadConnection, text: &str) -> String {
    match &connection.goaway {
        _ if connection.has_vanished => text.to_owned(),
        Some(goaway) => goaway.to_string(),
        None if connection.is_done() => "the server left too many calls without an end".to_owned(),
        None => text.to_owned(),
    }
}
