//! Shards that do the wrong thing when a connection fails: what the checks must find.

use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Opened, Received, Shard};
use std::fs::File;
use std::mem;

/// What is done wrong when a connection has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    StopsTheServer,
    LosesAnotherConnection,
    LeaksADescriptor,
    Spins,
    Panics,
}

/// A shard that makes a mistake.
pub struct Mistaken<S> {
    shard: S,
    mistake: Mistake,
    connections: Vec<ConnectionId>,
    spins: bool,
}

impl<S> Mistaken<S> {
    pub fn new(shard: S, mistake: Mistake) -> Self {
        Self { shard, mistake, connections: Vec::new(), spins: false }
    }

    fn err(&mut self, io: &mut IoContext) {
        match self.mistake {
            Mistake::None => {}
            Mistake::StopsTheServer => io.stop(),
            Mistake::LosesAnotherConnection => {
                self.connections.iter().for_each(|id| io.abort(*id));
            }
            Mistake::LeaksADescriptor => mem::forget(File::open("/dev/null")),
            Mistake::Spins => self.spins = true,
            Mistake::Panics => panic!("on purpose"),
        }
    }
}

impl<S: Shard> Shard for Mistaken<S> {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        self.connections.push(id);
        self.shard.opened(id, how, io);
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        match self.connections.contains(&id) {
            true => self.shard.received(id, bytes, io),
            false => Received { consumed: bytes.len(), after: AfterRead::Close },
        }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.shard.writable(id, io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        self.connections.retain(|open| *open != id);
        let has_failed = matches!(why, Closed::Failed(_));
        self.shard.closed(id, why, io);
        if has_failed {
            self.err(io);
        }
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.shard.woken(io);
    }

    fn next_deadline(&self) -> Option<u64> {
        match self.spins {
            true => Some(0),
            false => self.shard.next_deadline(),
        }
    }

    fn has_outstanding(&self) -> bool {
        self.shard.has_outstanding()
    }
}
