//! The sessions of one thread and how far each is.

use super::super::engine::Engine;
use super::super::fault::Fault;
use crate::shard::{Opened, Session};
use std::collections::VecDeque;
use std::fmt;

/// How far the TLS of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The shard inside has not heard that it is there.
    Handshake(Opened),
    /// The shard inside has it.
    Open,
}

/// A session and its TLS.
pub(super) struct Secure {
    session: Session,
    pub phase: Phase,
    pub engine: Engine,
    /// Decrypted, and not used up by the shard inside.
    pub leftover: Vec<u8>,
    /// Put out by the shard inside before the handshake was over.
    early: Vec<u8>,
    /// The shard inside is to hear that its output was written, once it has heard of the session.
    pub owes_writable: bool,
    /// Why it cannot go on.
    pub fault: Option<Fault>,
}

impl Secure {
    /// The handshake is over. Gives what was put off until then.
    pub fn open(&mut self) -> (Option<Opened>, Vec<u8>, bool) {
        let how = match std::mem::replace(&mut self.phase, Phase::Open) {
            Phase::Handshake(how) => Some(how),
            Phase::Open => None,
        };
        let early = std::mem::take(&mut self.early);
        (how, early, std::mem::take(&mut self.owes_writable))
    }

    pub fn put_off(&mut self, put_out: &[u8]) {
        self.early.extend_from_slice(put_out);
    }
}

/// A session without TLS.
#[derive(Debug)]
pub(super) struct Waiting {
    session: Session,
    /// Put out by the shard inside before the transport was there.
    early: Vec<u8>,
    /// Why it gets none.
    pub refused: Option<(Opened, Fault)>,
}

/// What a session has.
pub(super) enum Entry {
    Waiting(Waiting),
    Secure(Box<Secure>),
}

impl Entry {
    fn session(&self) -> Session {
        match self {
            Self::Waiting(waiting) => waiting.session,
            Self::Secure(secure) => secure.session,
        }
    }
}

/// All sessions of a thread of which this layer knows something.
#[derive(Default)]
pub(super) struct Sessions {
    /// By [`Session::index`].
    entries: Vec<Option<Entry>>,
    /// When handshakes have taken too long, in order, since all may take equally long.
    late: VecDeque<(u64, Session)>,
}

impl Sessions {
    #[inline]
    pub fn find(&mut self, session: Session) -> Option<&mut Secure> {
        match self.entries.get_mut(session.index as usize)? {
            Some(Entry::Secure(secure)) if secure.session == session => Some(secure),
            _ => None,
        }
    }

    /// The transport is there: from here on the session has TLS.
    pub fn begin(&mut self, session: Session, how: Opened, engine: Engine, late_at_ns: u64) {
        let early = match self.take(session) {
            Some(Entry::Waiting(waiting)) => waiting.early,
            _ => Vec::new(),
        };
        let secure = Secure {
            session,
            phase: Phase::Handshake(how),
            engine,
            leftover: Vec::new(),
            early,
            owes_writable: false,
            fault: None,
        };
        self.put(session, Entry::Secure(Box::new(secure)));
        if late_at_ns != u64::MAX {
            self.late.push_back((late_at_ns, session));
        }
    }

    /// The session gets no TLS.
    pub fn refuse(&mut self, session: Session, how: Opened, fault: Fault) {
        self.waiting(session).refused = Some((how, fault));
    }

    /// The shard inside puts something out for a session whose handshake is not over, or has not
    /// even begun.
    pub fn put_off(&mut self, session: Session, put_out: &[u8]) {
        match self.find(session) {
            Some(secure) => secure.put_off(put_out),
            None => self.waiting(session).early.extend_from_slice(put_out),
        }
    }

    fn waiting(&mut self, session: Session) -> &mut Waiting {
        if !matches!(self.entries.get(session.index as usize),
            Some(Some(Entry::Waiting(waiting))) if waiting.session == session)
        {
            let waiting = Waiting {
                session,
                early: Vec::new(),
                refused: None,
            };
            self.put(session, Entry::Waiting(waiting));
        }
        match &mut self.entries[session.index as usize] {
            Some(Entry::Waiting(waiting)) => waiting,
            _ => unreachable!("it was put there just now"),
        }
    }

    fn put(&mut self, session: Session, entry: Entry) {
        let index = session.index as usize;
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, || None);
        }
        self.entries[index] = Some(entry);
    }

    /// What there was of a session that is gone.
    pub fn take(&mut self, session: Session) -> Option<Entry> {
        let entry = self.entries.get_mut(session.index as usize)?;
        entry.take_if(|entry| entry.session() == session)
    }

    /// The peer has said in TLS that it sends no more.
    pub fn peer_has_ended(&mut self, session: Session) -> bool {
        self.find(session)
            .is_some_and(|secure| secure.engine.has_ended())
    }

    /// A handshake that should have been over by now.
    pub fn take_late(&mut self, now_ns: u64) -> Option<Session> {
        self.forget_ended();
        let &(at_ns, session) = self.late.front()?;
        if at_ns > now_ns {
            return None;
        }
        self.late.pop_front();
        Some(session)
    }

    /// When the next handshake has taken too long.
    pub fn next_late_ns(&self) -> Option<u64> {
        self.late.front().map(|(at_ns, _)| *at_ns)
    }

    /// Looks no more after handshakes that are over.
    pub fn forget_ended(&mut self) {
        while let Some(&(_, session)) = self.late.front() {
            let goes_on = |secure: &mut Secure| matches!(secure.phase, Phase::Handshake(_));
            if self.find(session).is_some_and(goes_on) {
                return;
            }
            self.late.pop_front();
        }
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.entries.iter().flatten().count();
        f.debug_struct("Sessions")
            .field("there", &there)
            .finish_non_exhaustive()
    }
}
