//! Connections of a worker: how they are requested, and what it means that one failed.

use super::source_addresses::ConnectToken;
use super::state::WorkerState;
use bookend_client::{ConnectError, likely_cause_of_close};
use bookend_io::{Closed, ConnectionId, IoContext, reason};
use std::borrow::Cow;
use std::io;
use std::time::Duration;

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

    /// Why a connection was not made, and what to do about it.
    pub fn why_not_connected(&self, connection: usize, error: &io::Error) -> String {
        if let Some(text) = self.sources.explain(error) {
            return format!("connection error: {text}");
        }
        // It has words of its own, such as those of TLS.
        if error.get_ref().is_some() {
            return format!("connection error: {error}");
        }
        let address = self.measured.peers.endpoint(connection).target.address.to_string();
        let timeout_ns = self.plan.connect_timeout_ns;
        if error.kind() == io::ErrorKind::TimedOut && timeout_ns == u64::MAX {
            return format!("{address} did not answer: is it up?");
        }
        let waited = Duration::from_nanos(timeout_ns);
        ConnectError::not_connected(address, error, waited).to_string()
    }

    /// What has become of a server that has closed a connection before it had sent anything.
    pub fn why_closed_at_once(&self, why: &Closed) -> String {
        let encrypt = self.plan.tls.is_none().then_some(self.plan.tls_advice.encrypt);
        match why_closed(why) {
            text if is_close(why) => {
                format!("{text} at once: {}", likely_cause_of_close(encrypt))
            }
            text => text.into_owned(),
        }
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
        Closed::Failed(error) if !is_reset(error) => {
            format!("connection error: {}", reason(error)).into()
        }
        Closed::Us => "the client closed the connection".into(),
        _ => "the server closed the connection".into(),
    }
}

/// Whether the server has closed the connection.
fn is_close(why: &Closed) -> bool {
    match why {
        Closed::Failed(error) => is_reset(error),
        Closed::Peer => true,
        _ => false,
    }
}

/// A reset is a close by a peer that had not read everything.
fn is_reset(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), ConnectionReset | BrokenPipe | ConnectionAborted)
}
