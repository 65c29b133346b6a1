//! Connections of a worker: asked for, and what it means that one could not be made.

use crate::worker::source_addresses::ConnectToken;
use crate::worker::state::WorkerState;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::Code;
use std::io;

impl WorkerState {
    /// Asks for a connection; the driver gives `number` back with it.
    pub fn dial(&mut self, connection: usize, number: u32, io: &mut IoContext) -> ConnectionId {
        let of_run = self.first_connection + connection;
        let endpoint = self.plan.targets.endpoint(of_run);
        let (target, token) = self.sources.target(&endpoint.target, number);
        self.measured.peers.dial(connection, endpoint);
        io.connect(target, token.to_number())
    }

    /// Asks once more for a connection that could not be made, if there is another address of this
    /// machine that it can come from.
    pub fn dial_from_elsewhere(
        &mut self,
        connection: usize,
        token: ConnectToken,
        error: &io::Error,
        io: &mut IoContext,
    ) -> Option<ConnectionId> {
        let target = self.measured.peers.target(connection);
        if !self.will_make_calls() || !self.sources.has_another(target, token, error) {
            return None;
        }
        Some(self.dial(connection, token.number, io))
    }

    /// What has happened to a connection. Where there are several targets, which one it was.
    pub fn explain(&self, connection: usize, text: &str) -> String {
        let several = self.plan.targets.count() > 1;
        self.measured.peers.explain(connection, several, text)
    }

    /// A target of which nothing has come: its name may have other addresses by now.
    pub fn lose_target(&self, connection: usize) {
        let address = self.measured.peers.address(connection);
        self.plan.targets.lost(address);
    }

    /// A connection that could not be made costs one error: the call that asked for it. Where all
    /// calls have been made, none did.
    pub fn count_attempt(&mut self, connection: usize, text: &str) {
        let all_made = self.calls.is_some_and(|calls| self.counted_made >= calls);
        if self.makes_calls() && !(self.by_number() && all_made) {
            self.recorder.at(self.measured.peers.entry(connection));
            self.recorder.errors.add(Code::Unavailable, text, 1);
            if self.by_number() {
                self.counted_made += 1;
                self.counted_done += 1;
            }
        }
    }
}
