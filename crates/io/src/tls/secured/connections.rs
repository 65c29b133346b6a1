//! The connections of one thread and the state of their TLS.

use super::super::engine::Engine;
use super::super::fault::TlsFault;
use super::super::held_memory::HeldMemory;
use super::super::shared_limits::CountedHandshake;
use crate::deadlines::TimeoutQueue;
use crate::shard::{ConnectionId, Opened};
use std::fmt;

/// How far a connection has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsPhase {
    /// The shard inside does not know of it yet.
    Handshake(Opened),
    /// The shard inside got its `opened`.
    Open,
}

/// A connection and its TLS.
pub(super) struct TlsConnection {
    id: ConnectionId,
    pub phase: TlsPhase,
    pub engine: Engine,
    /// Decrypted, and not used up by the shard inside.
    pub leftover: Vec<u8>,
    /// Put out by the shard inside before the handshake was over.
    early: Vec<u8>,
    /// The shard inside gets a `writable` right after its `opened`.
    pub owes_writable: bool,
    /// What its TLS holds.
    pub held: HeldMemory,
    /// Its handshake, until that is over.
    counted: Option<CountedHandshake>,
    /// Why it cannot go on.
    pub fault: Option<TlsFault>,
}

impl TlsConnection {
    /// The handshake is over. Returns what was kept until then.
    pub fn open(&mut self) -> (Option<Opened>, Vec<u8>, bool) {
        let how = match std::mem::replace(&mut self.phase, TlsPhase::Open) {
            TlsPhase::Handshake(how) => Some(how),
            TlsPhase::Open => None,
        };
        self.counted = None;
        let early = std::mem::take(&mut self.early);
        (how, early, std::mem::take(&mut self.owes_writable))
    }
}

impl TlsConnection {
    /// Nothing more is done with the connection: gives back what it holds.
    pub fn give_back(&mut self) {
        self.engine.abandon();
        self.early = Vec::new();
        self.held = HeldMemory::of_session(None);
    }
}

/// A connection without TLS.
#[derive(Debug)]
pub(super) struct Waiting {
    id: ConnectionId,
    /// Put out by the shard inside before the transport was there.
    early: Vec<u8>,
    /// Why it gets no TLS.
    pub refused: Option<(Opened, TlsFault)>,
}

/// What is known of a connection.
pub(super) enum TlsEntry {
    Waiting(Waiting),
    Secure(Box<TlsConnection>),
}

impl TlsEntry {
    fn id(&self) -> ConnectionId {
        match self {
            Self::Waiting(waiting) => waiting.id,
            Self::Secure(secure) => secure.id,
        }
    }
}

/// All connections of a thread that this layer knows of.
#[derive(Default)]
pub(super) struct TlsConnections {
    /// By [`ConnectionId::index`].
    entries: Vec<Option<TlsEntry>>,
    /// When handshakes have taken too long, in order, since all may take equally long.
    late: TimeoutQueue<ConnectionId>,
}

impl TlsConnections {
    #[inline]
    pub fn find(&mut self, id: ConnectionId) -> Option<&mut TlsConnection> {
        find(&mut self.entries, id)
    }

    /// The transport is there: from here on the connection has TLS.
    pub fn begin(
        &mut self,
        id: ConnectionId,
        how: Opened,
        (engine, held, counted): (Engine, HeldMemory, CountedHandshake),
        late_at_ns: u64,
    ) {
        let early = match self.take(id) {
            Some(TlsEntry::Waiting(waiting)) => waiting.early,
            _ => Vec::new(),
        };
        let secure = TlsConnection {
            id,
            phase: TlsPhase::Handshake(how),
            engine,
            leftover: Vec::new(),
            early,
            owes_writable: false,
            held,
            counted: Some(counted),
            fault: None,
        };
        self.put(id, TlsEntry::Secure(Box::new(secure)));
        if late_at_ns != u64::MAX {
            self.late.push(late_at_ns, id);
        }
    }

    /// The connection gets no TLS.
    pub fn refuse(&mut self, id: ConnectionId, how: Opened, fault: TlsFault) {
        self.waiting(id).refused = Some((how, fault));
    }

    /// The shard inside puts something out for a connection whose handshake is not over, or has not
    /// even begun.
    pub fn put_off(&mut self, id: ConnectionId, put_out: &[u8]) {
        match self.find(id) {
            Some(secure) => secure.early.extend_from_slice(put_out),
            None => self.waiting(id).early.extend_from_slice(put_out),
        }
    }

    fn waiting(&mut self, id: ConnectionId) -> &mut Waiting {
        if !matches!(self.entries.get(id.index as usize),
            Some(Some(TlsEntry::Waiting(waiting))) if waiting.id == id)
        {
            let waiting = Waiting { id, early: Vec::new(), refused: None };
            self.put(id, TlsEntry::Waiting(waiting));
        }
        match &mut self.entries[id.index as usize] {
            Some(TlsEntry::Waiting(waiting)) => waiting,
            _ => unreachable!("it was put there just now"),
        }
    }

    fn put(&mut self, id: ConnectionId, entry: TlsEntry) {
        let index = id.index as usize;
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, || None);
        }
        self.entries[index] = Some(entry);
    }

    /// What there was of a connection that is gone.
    pub fn take(&mut self, id: ConnectionId) -> Option<TlsEntry> {
        let entry = self.entries.get_mut(id.index as usize)?;
        entry.take_if(|entry| entry.id() == id)
    }

    /// The peer has said in TLS that it sends no more.
    pub fn peer_has_ended(&mut self, id: ConnectionId) -> bool {
        self.find(id).is_some_and(|secure| secure.engine.has_ended())
    }

    /// A handshake that should have been over by now.
    pub fn take_late(&mut self, now_ns: u64) -> Option<ConnectionId> {
        self.forget_ended();
        self.late.pop_due(now_ns)
    }

    /// When the next handshake has taken too long.
    pub fn next_late_ns(&self) -> Option<u64> {
        self.late.next_ns()
    }

    /// Looks no more after handshakes that are over.
    pub fn forget_ended(&mut self) {
        self.late.forget_over(|id| {
            !find(&mut self.entries, id)
                .is_some_and(|secure| matches!(secure.phase, TlsPhase::Handshake(_)))
        });
    }
}

#[inline]
fn find(entries: &mut [Option<TlsEntry>], id: ConnectionId) -> Option<&mut TlsConnection> {
    match entries.get_mut(id.index as usize)? {
        Some(TlsEntry::Secure(secure)) if secure.id == id => Some(secure),
        _ => None,
    }
}

impl fmt::Debug for TlsConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.entries.iter().flatten().count();
        f.debug_struct("Connections").field("there", &there).finish_non_exhaustive()
    }
}
