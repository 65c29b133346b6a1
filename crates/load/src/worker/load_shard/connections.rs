//! Connections of a worker: made, made again, lost.

use super::LoadShard;
use crate::worker::connection_manager::ConnectionEnd;
use crate::worker::load_connection::{LoadConnection, LoadConnectionState};
use crate::worker::phases::Phase;
use crate::worker::source_addresses::ConnectToken;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};
use std::io;

impl LoadShard {
    /// Which of the targets' names a connection is for.
    pub(crate) fn name_of(&self, token: u64) -> usize {
        let number = ConnectToken::of(token).number;
        self.state.measured.peers.name(number as usize)
    }

    /// Makes the connections whose time has come, gives up greetings that take too long, and looks
    /// after servers that say nothing.
    pub(super) fn attend_to_connections(&mut self, io: &mut IoContext) {
        let now_ns = io.now_ns();
        if now_ns < self.connections_due_ns {
            return;
        }
        self.keep_alive(io);
        if self.state.will_make_calls() {
            while let Some(number) = self.dials.next(now_ns) {
                self.state.dial(number as usize, number, io);
            }
        }
        while let Some(id) = self.dials.overdue(now_ns) {
            let text = "the server accepted the connection and sent no SETTINGS";
            self.lost(id, text, io);
            io.abort(id);
        }
        self.reckon_due_time();
    }

    fn reckon_due_time(&mut self) {
        self.connections_due_ns = match self.state.will_make_calls() {
            true => self.dials.due_at_ns().min(self.patrol.at_ns),
            false => u64::MAX,
        };
    }

    pub(super) fn connected(&mut self, id: ConnectionId, token: u64, io: &mut IoContext) {
        let number = ConnectToken::of(token).number;
        self.state.sources.opened();
        let place = self.state.measured.peers.opened(number as usize);
        let plan = &self.state.plan;
        let timeout_ns = plan.connect_timeout_ns;
        while self.heads.len() <= place.name {
            self.heads.push(plan.head(self.heads.len()));
        }
        let (head, streams) = (&self.heads[place.name], self.streams[number as usize]);
        let mut link = LoadConnection::new(id, number, place, plan, head, streams, self.patrol.how);
        self.state.measured.connections_opened += 1;
        link.swap_output(io);
        let index = id.index as usize;
        if index >= self.links.len() {
            self.links.resize_with(index + 1, || None);
        }
        self.links[index] = Some(link);
        self.patrol.begin(io.now_ns());
        let by_ns = io.now_ns().saturating_add(timeout_ns);
        self.dials.opened(number, id, by_ns);
        self.reckon_due_time();
    }

    pub(super) fn not_connected(&mut self, token: u64, error: &io::Error, io: &mut IoContext) {
        let token = ConnectToken::of(token);
        let connection = token.number as usize;
        let state = &mut self.state;
        let again = state.dial_from_elsewhere(connection, token, error, io);
        if again.is_some() {
            return;
        }
        let text = state.explain(connection, &state.sources.explain(error));
        state.measured.note_failure(&text);
        state.lose_target(connection);
        state.count_attempt(connection, &text);
        self.dials
            .lost(token.number, io.now_ns(), ConnectionEnd::Useless);
        self.reckon_due_time();
    }

    /// Something has come on a connection whose greeting was awaited.
    #[cold]
    pub(super) fn note_greeting(&mut self, index: usize, io: &mut IoContext) {
        let stage = self.links[index]
            .as_ref()
            .map(|link| (link.stage, link.connection_number));
        if let Some((LoadConnectionState::Ready, number)) = stage {
            self.dials.greeted(number);
            self.reckon_due_time();
            self.attend_to_connections(io);
        }
    }

    /// A connection is of no use any more. Its calls fail; it is dialled again later.
    pub(super) fn lost(&mut self, id: ConnectionId, text: &str, io: &mut IoContext) {
        let now_ns = io.now_ns();
        let index = id.index as usize;
        let known = self.links.get_mut(index);
        let Some(mut link) = known.and_then(|link| link.take_if(|link| link.id == id)) else {
            return;
        };
        let end = end_of(&link);
        self.patrol.learn_from(&link);
        if self.state.phase() != Phase::Over {
            self.state.measured.note_end_of(&link);
        }
        if end != ConnectionEnd::WorkDone && self.state.phase() != Phase::Over {
            let number = link.connection_number as usize;
            let text = self.state.explain(number, &why_lost(&link, text));
            self.state.measured.note_failure(&text);
            if link.made_no_call() {
                self.state.lose_target(number);
                self.state.count_attempt(number, &text);
            }
            let fault = Status::new(Code::Unavailable, text);
            link.fail_all(&fault, self.state.ledger(now_ns));
        }
        self.dials.lost(link.connection_number, now_ns, end);
        self.reckon_due_time();
    }
}

/// How a connection that is gone has ended. A server that says goodbye before any answer, or
/// because of us, is not asked again at once.
fn end_of(link: &LoadConnection) -> ConnectionEnd {
    let complained = link.farewell.as_ref().is_some_and(|said| said.is_complaint);
    match link.was_of_use {
        false => ConnectionEnd::Useless,
        true if link.is_done() && !complained => ConnectionEnd::WorkDone,
        true => ConnectionEnd::Broken,
    }
}

fn why_lost(link: &LoadConnection, text: &str) -> String {
    match &link.farewell {
        _ if link.liveness.has_vanished() => text.to_owned(),
        Some(farewell) => farewell.to_string(),
        None if link.is_done() => "the server left too many calls without an end".to_owned(),
        None => text.to_owned(),
    }
}
