//! Whether the server of a connection is still there, while calls wait for it.

use super::LoadConnection;
use crate::worker::direct_output::DirectOutput;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use bookend_wire::keepalive::{Silence, Vigil};

/// What has come from the server.
#[derive(Debug)]
pub(in crate::worker) struct Liveness {
    /// `None`: no PING is ever sent.
    keepalive: Option<Keepalive>,
    received_bytes: u64,
    vigil: Vigil,
    /// It answered neither the calls nor a PING.
    has_vanished: bool,
}

impl Liveness {
    pub fn new(keepalive: Option<Keepalive>) -> Self {
        Self {
            keepalive,
            received_bytes: 0,
            vigil: Vigil::default(),
            has_vanished: false,
        }
    }

    /// So many bytes have come.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.received_bytes += bytes as u64;
    }

    /// When PINGs are sent.
    pub fn keepalive(&self) -> Option<Keepalive> {
        self.keepalive
    }

    /// Whether it was sent a PING and answered nothing.
    pub fn has_vanished(&self) -> bool {
        self.has_vanished
    }
}

impl LoadConnection {
    /// Sends a PING to a silent server, if calls wait for it: servers take PINGs without calls for
    /// an attack. Returns when to check again; `None` where nothing has come after the PING.
    pub fn check_liveness(&mut self, io: &mut IoContext) -> Option<u64> {
        let Some(keepalive) = self.liveness.keepalive else {
            return Some(u64::MAX);
        };
        let now_ns = io.now_ns();
        let progress = self.progress_bytes(io);
        let vigil = &mut self.liveness.vigil;
        if self.in_flight == 0 {
            vigil.rest();
            return Some(vigil.next_ns(keepalive, now_ns));
        }
        let silence = vigil.look(progress, keepalive, now_ns);
        let next_ns = vigil.next_ns(keepalive, now_ns);
        match silence {
            None => Some(next_ns),
            Some(Silence::Ask) => {
                self.with_output(self.id, io, |connection| {
                    connection.http2.sender.ping([0; 8]);
                });
                Some(next_ns)
            }
            Some(Silence::Unanswered) => {
                self.liveness.has_vanished = true;
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
        self.liveness.received_bytes + sent_bytes
    }
}
