//! Shards that do the wrong thing when a connection fails: what the checks must find.

use bookend_io::{Closed, Opened, Received, Session, Shard, Then, Turn};
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
    sessions: Vec<Session>,
    spins: bool,
}

impl<S> Mistaken<S> {
    pub fn new(shard: S, mistake: Mistake) -> Self {
        Self {
            shard,
            mistake,
            sessions: Vec::new(),
            spins: false,
        }
    }

    fn err(&mut self, turn: &mut Turn) {
        match self.mistake {
            Mistake::None => {}
            Mistake::StopsTheServer => turn.stop(),
            Mistake::LosesAnotherConnection => {
                self.sessions
                    .iter()
                    .for_each(|session| turn.abort(*session));
            }
            Mistake::LeaksADescriptor => mem::forget(File::open("/dev/null")),
            Mistake::Spins => self.spins = true,
            Mistake::Panics => panic!("on purpose"),
        }
    }
}

impl<S: Shard> Shard for Mistaken<S> {
    fn opened(&mut self, session: Session, how: Opened, turn: &mut Turn) {
        self.sessions.push(session);
        self.shard.opened(session, how, turn);
    }

    fn received(&mut self, session: Session, bytes: &[u8], turn: &mut Turn) -> Received {
        match self.sessions.contains(&session) {
            true => self.shard.received(session, bytes, turn),
            false => Received {
                consumed: bytes.len(),
                then: Then::Close,
            },
        }
    }

    fn writable(&mut self, session: Session, turn: &mut Turn) {
        self.shard.writable(session, turn);
    }

    fn closed(&mut self, session: Session, why: Closed, turn: &mut Turn) {
        self.sessions.retain(|open| *open != session);
        let has_failed = matches!(why, Closed::Failed(_));
        self.shard.closed(session, why, turn);
        if has_failed {
            self.err(turn);
        }
    }

    fn woken(&mut self, turn: &mut Turn) {
        self.shard.woken(turn);
    }

    fn next_deadline(&self) -> Option<u64> {
        match self.spins {
            true => Some(0),
            false => self.shard.next_deadline(),
        }
    }

    fn awaits_others(&self) -> bool {
        self.shard.awaits_others()
    }
}
