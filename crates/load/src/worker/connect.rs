//! Connections of a worker: how they are requested, and what it means that one failed.

use super::source_addresses::ConnectToken;
use super::state::WorkerState;
use bookend_io::{Closed, ConnectionId, IoContext};
use std::borrow::Cow;
use std::io;

impl WorkerState {
    /// Requests a connection. The driver hands back a [`ConnectToken`] with `number`.
    pub fn connect(&mut self, connection: usize, number: u32, io: &mut IoContext) -> ConnectionId {
        let of_run = self.first_connection + connection;
        let endpoint = self.plan.targets.endpoint(of_run);
        let (target, token) = self.sources.target(&endpoint.target, number);
        self.measured.peers.connect(connection, endpoint);
        io.connect(target, token.to_number())
    }

    /// A connection is established. Returns which of the targets' names it is for.
    pub fn opened(&mut self, connection: usize) -> usize {
        self.measured.connections_opened += 1;
        self.measured.peers.opened(connection);
        self.name_of(connection)
    }

    /// Which of the targets' names a connection is for.
    pub fn name_of(&self, connection: usize) -> usize {
        self.measured.peers.endpoint(connection).name
    }

    /// Requests a connection again that failed, if it can come from another address of this
    /// machine.
    pub fn connect_from_elsewhere(
        &mut self,
        connection: usize,
        token: ConnectToken,
        error: &io::Error,
        io: &mut IoContext,
    ) -> Option<ConnectionId> {
        let target = &self.measured.peers.endpoint(connection).target;
        if !self.will_make_calls() || !self.sources.has_another(target, token, error) {
            return None;
        }
        Some(self.connect(connection, token.number, io))
    }

    /// What has happened to a connection, with its address where there are several targets.
    pub fn explain(&self, connection: usize, text: &str) -> String {
        let several = self.plan.targets.count() > 1;
        self.measured.peers.explain(connection, several, text)
    }

    /// A target has answered nothing on a connection: its name may have other addresses by now.
    pub fn lose_target(&self, connection: usize) {
        let endpoint = self.measured.peers.endpoint(connection);
        self.plan.targets.report_unreachable(&endpoint.target.address);
    }

    /// A connection that failed costs one error, that of the call which needed it. Where all calls
    /// have been made, none did.
    pub fn count_failed_connection(&mut self, connection: usize, text: &str) {
        if self.pace.has_calls_left() {
            self.calls.at_peer(self.measured.peers.index(connection));
            self.calls.failed_to_begin(text);
            self.pace.made(1);
        }
    }
}

/// Why a connection that was established is gone.
pub(super) fn why_closed(why: &Closed) -> Cow<'static, str> {
    match why {
        Closed::Failed(error) => format!("connection error: {error}").into(),
        Closed::Us => "the client closed the connection".into(),
        _ => "the server closed the connection".into(),
    }
}
