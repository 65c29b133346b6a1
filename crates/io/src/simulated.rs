//! A driver without sockets, threads and clock, for tests of shards.
//!
//! Who holds a [`Simulated`] is the network, every peer, and the time: bytes arrive when they are
//! given, are taken as far as the peer likes to read, and deadlines pass when time is moved. What
//! the shard sees is what the other drivers let it see: it is not read from beyond the limit of its
//! backlog, gets what it left over again with more behind it, and is told when its output is
//! written.

use crate::exchange::RECEIVE_BUFFER_BYTES;
use crate::options::BACKLOG_LIMIT_BYTES;
use crate::shard::{Closed, Opened, Session, Shard, Then};
use crate::turn::{Connect, Turn, Wishes};
use std::mem;

/// What the network takes of a session's output although the peer reads nothing: a socket's usual
/// first send buffer.
pub const SOCKET_BYTES: usize = 16 << 10;

/// How a session ended, as its peer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All that was written can be read, then comes the end.
    Closed,
    /// The connection was reset.
    Reset,
}

/// A shard and everything around it.
#[derive(Debug)]
pub struct Simulated<S> {
    shard: S,
    turn: Turn,
    now_ns: u64,
    peers: Vec<Option<Peer>>,
    /// Connections that the shard has asked for and that are not there.
    dialled: Vec<Connect>,
}

/// One session as its peer and the network have it.
#[derive(Debug)]
struct Peer {
    session: Session,
    /// Sent by the peer and not read by the driver.
    sent: Vec<u8>,
    /// Presented to the shard, which used up what stood before it.
    leftover: Vec<u8>,
    /// Written by the driver and not read by the peer.
    socket: Vec<u8>,
    paused: bool,
    closing: bool,
    end: Option<End>,
}

impl<S: Shard> Simulated<S> {
    /// Wakes the shard for the first time, at `now_ns` of a clock that is not running.
    pub fn new(shard: S, now_ns: u64) -> Self {
        let mut simulated = Self {
            shard,
            turn: Turn::default(),
            now_ns,
            peers: Vec::new(),
            dialled: Vec::new(),
        };
        simulated.wake();
        simulated
    }

    /// The shard.
    pub fn shard(&self) -> &S {
        &self.shard
    }

    /// The time, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// A peer has connected.
    pub fn accept(&mut self) -> Session {
        let session = self.turn.reserve();
        self.join(session, Opened::Accepted);
        session
    }

    /// The connection is there that the shard asked for first, if it has asked for one.
    pub fn connect(&mut self) -> Option<Session> {
        if self.dialled.is_empty() {
            return None;
        }
        let Connect { session, token, .. } = self.dialled.remove(0);
        self.join(session, Opened::Connected(token));
        Some(session)
    }

    /// All connections are there that the shard has asked for so far.
    pub fn connect_all(&mut self) -> Vec<Session> {
        let asked_for = 0..self.dialled.len();
        asked_for.filter_map(|_| self.connect()).collect()
    }

    fn join(&mut self, session: Session, how: Opened) {
        let index = session.index as usize;
        if self.peers.len() <= index {
            self.peers.resize_with(index + 1, || None);
        }
        self.peers[index] = Some(Peer {
            session,
            sent: Vec::new(),
            leftover: Vec::new(),
            socket: Vec::new(),
            paused: false,
            closing: false,
            end: None,
        });
        self.begin_turn();
        self.shard.opened(session, how, &mut self.turn);
        self.settle();
    }

    /// The peer sends no more.
    pub fn hang_up(&mut self, session: Session) {
        if self.end(session).is_none() {
            self.end_with(session, End::Closed, Closed::Peer);
            self.settle();
        }
    }

    /// The peer sends `bytes`. Those that the driver does not read wait.
    pub fn give(&mut self, session: Session, bytes: &[u8]) {
        if let Some(peer) = self.peer(session).filter(|peer| peer.end.is_none()) {
            peer.sent.extend_from_slice(bytes);
            self.settle();
        }
    }

    /// The peer sends `bytes`, which are on their way until something else happens: so that what
    /// several peers send comes at once.
    pub fn give_later(&mut self, session: Session, bytes: &[u8]) {
        if let Some(peer) = self.peer(session).filter(|peer| peer.end.is_none()) {
            peer.sent.extend_from_slice(bytes);
        }
    }

    /// The peer reads up to `most` bytes of what the shard has written.
    pub fn take(&mut self, session: Session, most: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(peer) = self.peer(session) {
            let count = peer.socket.len().min(most - taken.len());
            taken.extend_from_slice(&peer.socket[..count]);
            peer.socket.drain(..count);
            self.settle();
            if count == 0 {
                break;
            }
        }
        taken
    }

    /// Bytes that the peer has sent and the driver has not read.
    pub fn unread_bytes(&self, session: Session) -> usize {
        let peer = self.peers.get(session.index as usize);
        peer.and_then(|peer| peer.as_ref())
            .map_or(0, |peer| peer.sent.len() + peer.leftover.len())
    }

    /// Bytes that the shard has put out and the network has not taken.
    pub fn unwritten_bytes(&self, session: Session) -> usize {
        self.turn.unwritten(session).len()
    }

    /// Whether and how the session has ended.
    pub fn end(&self, session: Session) -> Option<End> {
        self.peers.get(session.index as usize)?.as_ref()?.end
    }

    /// Lets time pass, and every deadline on the way.
    pub fn pass_ns(&mut self, time_ns: u64) {
        let until_ns = self.now_ns + time_ns;
        while let Some(due_ns) = self.shard.next_deadline().filter(|due| *due <= until_ns) {
            self.now_ns = self.now_ns.max(due_ns);
            self.wake();
        }
        self.now_ns = until_ns;
    }

    /// Another thread has called.
    pub fn wake(&mut self) {
        self.begin_turn();
        self.shard.woken(&mut self.turn);
        self.settle();
    }

    /// Has the shard say goodbye.
    pub fn stop(&mut self) {
        self.turn.stop();
        self.wake();
    }

    /// The time for what goes on after [`Simulated::stop`] has passed.
    pub fn end_drain(&mut self) {
        self.turn.end_drain();
        self.wake();
    }

    /// Whether a driver that is stopping would leave now: the shard awaits nothing, and the network
    /// has all that it wrote.
    pub fn may_leave(&self) -> bool {
        let sessions = self.peers.iter().flatten().map(|peer| peer.session);
        let mut unwritten = sessions.filter(|session| !self.turn.unwritten(*session).is_empty());
        !self.turn.has_work() && !self.shard.awaits_others() && unwritten.next().is_none()
    }

    fn begin_turn(&mut self) {
        self.turn.stand_at(self.now_ns);
    }

    fn peer(&mut self, session: Session) -> Option<&mut Peer> {
        let peer = self.peers.get_mut(session.index as usize)?.as_mut()?;
        (peer.session == session).then_some(peer)
    }

    /// Goes on until nothing is left to do before time passes or a peer does something.
    fn settle(&mut self) {
        loop {
            self.attend();
            let written = self.turn.take_writable();
            let any_written = !written.is_empty();
            for session in written {
                self.begin_turn();
                if self.turn.is_live(session) {
                    self.shard.writable(session, &mut self.turn);
                }
            }
            let mut any_read = false;
            for index in 0..self.peers.len() {
                any_read |= self.read(index);
            }
            let is_due = (self.shard.next_deadline()).is_some_and(|due| due <= self.now_ns);
            if is_due {
                self.begin_turn();
                self.shard.woken(&mut self.turn);
            }
            if !(any_written || any_read || is_due || self.turn.has_work()) {
                return;
            }
        }
    }

    /// Does what the shard has asked for, and writes.
    fn attend(&mut self) {
        self.dialled.append(&mut self.turn.take_connects());
        while let Some((session, wishes)) = self.turn.next_touched() {
            self.grant(session, wishes);
        }
        for index in 0..self.peers.len() {
            self.write(index);
        }
    }

    fn grant(&mut self, session: Session, wishes: Wishes) {
        let Some(peer) = self.peer(session) else {
            return;
        };
        peer.closing |= wishes.close;
        if wishes.abort {
            return self.end_with(session, End::Reset, Closed::Us);
        }
        if wishes.resume && mem::take(&mut peer.paused) {
            let leftover = mem::take(&mut peer.leftover);
            if !leftover.is_empty() {
                self.deliver(session, &leftover);
            }
        }
    }

    fn write(&mut self, index: usize) {
        let Some(Some(peer)) = self.peers.get_mut(index) else {
            return;
        };
        if peer.end.is_some() {
            return;
        }
        let session = peer.session;
        let unwritten = self.turn.unwritten(session);
        let count = unwritten.len().min(SOCKET_BYTES - peer.socket.len());
        peer.socket.extend_from_slice(&unwritten[..count]);
        let is_whole = count == unwritten.len();
        let closes = peer.closing && is_whole;
        if count > 0 {
            self.turn.took(session, count);
        } else if is_whole {
            self.turn.reclaim(session);
        }
        if !is_whole {
            self.turn.promise_writable(session);
        }
        if closes {
            self.end_with(session, End::Closed, Closed::Us);
        }
    }

    /// Reads once from a peer. False if there is nothing, or nothing may be read.
    fn read(&mut self, index: usize) -> bool {
        let Some(Some(peer)) = self.peers.get_mut(index) else {
            return false;
        };
        let backlog_bytes = self.turn.unwritten(peer.session).len();
        let is_open = peer.end.is_none() && !peer.closing && !peer.paused;
        if !is_open || peer.sent.is_empty() || backlog_bytes > BACKLOG_LIMIT_BYTES {
            return false;
        }
        let count = peer
            .sent
            .len()
            .min(RECEIVE_BUFFER_BYTES - peer.leftover.len());
        let mut bytes = mem::take(&mut peer.leftover);
        bytes.extend_from_slice(&peer.sent[..count]);
        peer.sent.drain(..count);
        let session = peer.session;
        self.begin_turn();
        self.deliver(session, &bytes);
        true
    }

    fn deliver(&mut self, session: Session, bytes: &[u8]) {
        let mut rest = bytes;
        let then = loop {
            let received = self.shard.received(session, rest, &mut self.turn);
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.then != Then::Again || !goes_on {
                break received.then;
            }
            self.write(session.index as usize);
        };
        let Some(peer) = self.peer(session) else {
            return;
        };
        peer.leftover.extend_from_slice(rest);
        peer.paused = then == Then::Pause;
        peer.closing |= matches!(then, Then::Close | Then::BreakOff);
        assert!(
            rest.len() < RECEIVE_BUFFER_BYTES || peer.paused || peer.closing,
            "the receive buffer is full and nothing in it can be used"
        );
    }

    fn end_with(&mut self, session: Session, end: End, why: Closed) {
        if let Some(peer) = self.peer(session) {
            peer.end = Some(end);
            peer.sent.clear();
            peer.leftover = Vec::new();
            self.turn.retire(session);
            self.shard.closed(session, why, &mut self.turn);
        }
    }
}
