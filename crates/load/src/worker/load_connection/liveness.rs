//! Whether the server of a connection is still there, while calls wait for it.

use super::LoadConnection;
use crate::worker::direct_output::DirectOutput;
use bookend_io::IoContext;
use bookend_wire::keepalive::KeepaliveAction;

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
            self.keepalive_state.pause();
            return Some(self.keepalive_state.next_ns(keepalive, now_ns));
        }
        let action = self.keepalive_state.check(progress, keepalive, now_ns);
        let next_ns = self.keepalive_state.next_ns(keepalive, now_ns);
        match action {
            None => Some(next_ns),
            Some(KeepaliveAction::SendPing) => {
                self.with_output(self.id, io, |connection| {
                    connection.http2.sender.ping([0; 8]);
                });
                Some(next_ns)
            }
            Some(KeepaliveAction::GiveUp) => {
                self.has_vanished = true;
                None
            }
        }
    }

    /// Grows as long as the server is there. While it is slow to read what we send, we may not read
    /// from it: then what it reads shows that it is there. Else what the kernel takes from us shows
    /// nothing.
    fn progress_bytes(&self, io: &IoContext) -> u64 {
        let sent_bytes = if io.backlog(self.id) > 0 { io.sent_bytes(self.id) } else { 0 };
        self.received_bytes + sent_bytes
    }
}
