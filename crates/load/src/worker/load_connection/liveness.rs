//! Whether the server of a connection is still there, while calls wait for it.

use super::LoadConnection;
use bookend_io::IoContext;
use bookend_wire::Keepalive;
use bookend_wire::keepalive::{Silence, Vigil};

/// What was heard of the server.
#[derive(Debug)]
pub(crate) struct Liveness {
    /// `None`: nobody asks.
    how: Option<Keepalive>,
    heard_bytes: u64,
    vigil: Vigil,
    /// It gave no sign of life.
    has_vanished: bool,
}

impl Liveness {
    pub fn new(how: Option<Keepalive>) -> Self {
        Self {
            how,
            heard_bytes: 0,
            vigil: Vigil::default(),
            has_vanished: false,
        }
    }

    /// So many octets have come.
    #[inline]
    pub fn heard(&mut self, bytes: usize) {
        self.heard_bytes += bytes as u64;
    }

    /// How the server is asked.
    pub fn how(&self) -> Option<Keepalive> {
        self.how
    }

    /// Whether it was asked for a sign of life and gave none.
    pub fn has_vanished(&self) -> bool {
        self.has_vanished
    }
}

impl LoadConnection {
    /// Asks a silent server for a sign of life, if calls wait for it: servers take PINGs without
    /// calls for an attack. Returns when to look again; `None` where it has given no sign.
    pub fn look_for_life(&mut self, io: &mut IoContext) -> Option<u64> {
        let Some(how) = self.liveness.how else {
            return Some(u64::MAX);
        };
        let now_ns = io.now_ns();
        let signs = self.signs_of_life(io);
        let vigil = &mut self.liveness.vigil;
        if self.in_flight == 0 {
            vigil.rest();
            return Some(vigil.next_ns(how, now_ns));
        }
        let silence = vigil.look(signs, how, now_ns);
        let next_ns = vigil.next_ns(how, now_ns);
        match silence {
            None => Some(next_ns),
            Some(Silence::Ask) => {
                self.swap_output(io);
                self.connection.sender.ping([0; 8]);
                self.swap_output(io);
                Some(next_ns)
            }
            Some(Silence::Unanswered) => {
                self.liveness.has_vanished = true;
                None
            }
        }
    }

    /// Grows as long as the server is there. While it is slow to take what is sent, it may not be
    /// read from: then what it takes is a sign of life as well, and else what the kernel takes is
    /// none.
    fn signs_of_life(&self, io: &IoContext) -> u64 {
        let taken_bytes = match io.backlog(self.id) {
            0 => 0,
            _ => io.sent_bytes(self.id),
        };
        self.liveness.heard_bytes + taken_bytes
    }
}
