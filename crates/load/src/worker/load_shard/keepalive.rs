//! Servers that are silent while calls wait for them: when they are sent a PING, and given up.

use super::LoadShard;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use std::time::Duration;

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
