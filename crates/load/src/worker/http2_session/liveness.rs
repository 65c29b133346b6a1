//! Whether the server of a connection is still there, while calls wait for it.

use super::Http2Session;
use crate::worker::direct_output::DirectOutput;
use bookend_io::IoContext;
use bookend_wire::keepalive::KeepaliveAction;
use std::time::Duration;

impl Http2Session {
    /// Sends a PING to a silent server, if calls wait for it: servers take PINGs without calls for
    /// an attack. Returns when to check again.
    ///
    /// # Errors
    /// Nothing has come after the PING: why the calls have failed.
    pub(super) fn send_due_ping(&mut self, io: &mut IoContext) -> Result<u64, String> {
        let Some(keepalive) = self.keepalive else {
            return Ok(u64::MAX);
        };
        let now_ns = io.now_ns();
        let progress = self.progress_bytes(io);
        if self.in_flight == 0 {
            self.keepalive_state.pause();
            return Ok(self.keepalive_state.next_ns(keepalive, now_ns));
        }
        match self.keepalive_state.check(progress, keepalive, now_ns) {
            None => {}
            Some(KeepaliveAction::SendPing) => {
                self.with_output(self.place.id, io, |session| {
                    session.http2.sender.ping([0; 8]);
                });
            }
            Some(KeepaliveAction::GiveUp) => {
                self.has_vanished = true;
                let waited = Duration::from_nanos(keepalive.timeout_ns);
                return Err(format!(
                    "nothing came for {waited:?} after a keepalive PING: the server is gone, \
                     or the network to it"
                ));
            }
        }
        Ok(self.keepalive_state.next_ns(keepalive, now_ns))
    }

    /// Grows as long as the server is there. While it is slow to read what we send, we may not read
    /// from it: then what it reads shows that it is there. Else what the kernel takes from us shows
    /// nothing.
    fn progress_bytes(&self, io: &IoContext) -> u64 {
        let sent_bytes =
            if io.backlog(self.place.id) > 0 { io.sent_bytes(self.place.id) } else { 0 };
        self.received_bytes + sent_bytes
    }
}
