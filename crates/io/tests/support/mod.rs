//! Shards and peers that several tests use.

use bookend_io::{Closed, Opened, Received, Session, Shard, Then, Turn};
use std::net::SocketAddr;

pub fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Gives back what it is given.
#[derive(Debug, Default)]
pub struct Echo {
    pub opened: usize,
    pub closed: usize,
}

impl Shard for Echo {
    fn opened(&mut self, _: Session, _: Opened, _: &mut Turn) {
        self.opened += 1;
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        turn.output(session).extend_from_slice(bytes);
        Received {
            consumed: bytes.len(),
            then: Then::Continue,
        }
    }

    fn writable(&mut self, _: Session, _: &mut Turn) {}

    fn closed(&mut self, _: Session, _: Closed, _: &mut Turn) {
        self.closed += 1;
    }

    fn woken(&mut self, _: &mut Turn) {}

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}
