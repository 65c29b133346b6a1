//! Whether the server is still there while calls wait for it.

use super::ChannelConnection;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use bookend_wire::keepalive::{Silence, Vigil};

/// What was heard of the server, and when to look whether more was.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    heard_bytes: u64,
    vigil: Vigil,
    /// `None` while no call waits.
    look_at_ns: Option<u64>,
}

impl Liveness {
    /// So many octets have come.
    #[inline]
    pub fn heard(&mut self, bytes: usize) {
        self.heard_bytes += bytes as u64;
    }
}

impl ChannelConnection {
    /// Asks a silent server for a sign of life, if calls wait for it. True if it has given none.
    #[cold]
    pub fn has_vanished(&mut self, how: Keepalive, io: &mut IoContext) -> bool {
        let Liveness {
            heard_bytes,
            vigil,
            look_at_ns,
        } = &mut self.liveness;
        if self.in_flight.is_empty() {
            vigil.rest();
            *look_at_ns = None;
            return false;
        }
        let now_ns = io.now_ns();
        if look_at_ns.is_some_and(|at_ns| now_ns < at_ns) {
            return false;
        }
        let silence = vigil.look(*heard_bytes, how, now_ns);
        *look_at_ns = Some(vigil.next_ns(how, now_ns));
        if silence == Some(Silence::Ask) {
            self.with_output(io, |connection, _| connection.http2.sender.ping([0; 8]));
        }
        silence == Some(Silence::Unanswered)
    }

    /// When to look whether the server is still there, while calls wait for it.
    pub fn next_look_ns(&self) -> Option<u64> {
        self.liveness.look_at_ns
    }

    /// Whether the server has said that it was asked too often, since this was last asked.
    pub fn take_too_many_pings(&mut self) -> bool {
        std::mem::take(&mut self.in_flight.too_many_pings)
    }
}
