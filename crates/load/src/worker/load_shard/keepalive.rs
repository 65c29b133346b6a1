//! Servers that are silent while calls wait for them: when they are sent a PING, and given up.

use super::LoadShard;
use crate::worker::load_connection::LoadConnection;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use std::time::Duration;

/// When the connections of a worker are checked for silent servers.
#[derive(Debug)]
pub(super) struct KeepaliveSweep {
    /// What holds for the next connection.
    pub next: Option<Keepalive>,
    /// All connections are checked then; `u64::MAX` for never.
    pub at_ns: u64,
}

impl KeepaliveSweep {
    pub fn new(keepalive: Option<Keepalive>) -> Self {
        Self {
            next: keepalive,
            at_ns: u64::MAX,
        }
    }

    /// There is a connection to check.
    pub fn begin(&mut self, now_ns: u64) {
        if let Some(keepalive) = self.next {
            let first_ns = now_ns.saturating_add(keepalive.check_interval_ns());
            self.at_ns = self.at_ns.min(first_ns);
        }
    }

    /// A connection is gone. Where its server received too many PINGs, the next ones get half as
    /// many as it did, which is one step for all connections that end so at a time.
    pub fn learn_from(&mut self, connection: &LoadConnection) {
        let goaway = connection.goaway.as_ref();
        let too_many_pings = goaway.is_some_and(|goaway| goaway.too_many_pings);
        if let Some(used) = connection.keepalive.filter(|_| too_many_pings) {
            let slower = used.at_half_rate();
            self.next = self
                .next
                .filter(|next| next.time_ns > slower.time_ns)
                .or(Some(slower));
        }
    }
}

impl LoadShard {
    /// Checks all connections, if it is time to, and gives up those whose server has vanished.
    pub(super) fn keep_alive(&mut self, io: &mut IoContext) {
        if io.now_ns() < self.keepalive.at_ns {
            return;
        }
        self.keepalive.at_ns = u64::MAX;
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else {
                continue;
            };
            match connection.check_liveness(io) {
                Some(next_ns) => self.keepalive.at_ns = self.keepalive.at_ns.min(next_ns),
                None => {
                    let id = connection.id;
                    let text = vanished(connection.keepalive);
                    self.lost(id, &text, io);
                    io.abort(id);
                }
            }
        }
    }
}

/// Why the calls of such a connection have failed.
fn vanished(keepalive: Option<Keepalive>) -> String {
    let waited = Duration::from_nanos(keepalive.map_or(0, |keepalive| keepalive.timeout_ns));
    format!(
        "nothing came for {waited:?} after a keepalive PING: the server is gone, or the network to it"
    )
}
