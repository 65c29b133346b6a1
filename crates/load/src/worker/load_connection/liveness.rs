//! Whether the server of a connection is still there, while calls wait for it.

use super::LoadConnection;
use crate::worker::direct_output::DirectOutput;
use bookend_io::IoContext;
use bookend_wire::keepalive::Silence;

impl LoadConnection {
    /// Sends a PING to a silent server, if calls wait for it: servers take PINGs without calls for
    /// an attack. Returns when to check again; `None` where nothing has come after the PING.
    pub fn check_liveness(&mut self, io: &mut IoContext) -> Option<u64> {
        let Some(keepalive) = self.keepalive else {
            return Some(u64::MAX);
        };
        let now_ns = io.now_ns();
        let progress = self.progress_bytes(io);
        if self.in_flight == 0 {
            self.vigil.rest();
            return Some(self.vigil.next_ns(keepalive, now_ns));
        }
        let silence = self.vigil.look(progress, keepalive, now_ns);
        let next_ns = self.vigil.next_ns(keepalive, now_ns);
        match silence {
            None => Some(next_ns),
            Some(Silence::Ask) => {
                self.with_output(self.id, io, |connection| {
                    connection.http2.sender.ping([0; 8]);
                });
                Some(next_ns)
            }
            Some(Silence::Unanswered) => {
                self.has_vanished = true;
                None
            }
        }
    }

    /// Grows as long as the server is there. While it is slow to read what we send, we may not read
    /// from it: then what it reads shows that it is there. Else what the kernel takes from us shows
    /// nothing.
    fn progress_bytes(&self, io: &IoContext) -> u64 {
        let sent_bytes = if io.backlog(self.id) > 0 {
            io.sent_bytes(self.id)
        } else {
            0
        };
        self.received_bytes + sent_bytes
    }
}
