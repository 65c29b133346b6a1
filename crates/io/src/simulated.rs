//! A driver without sockets, threads and clock, for tests of shards.
//!
//! A test that holds a [`Simulated`] plays the network, every peer, and the clock: bytes arrive
//! when it gives them, leave as far as it takes them, and deadlines pass when it moves the time.
//! The shard sees what the other drivers show it: no reads beyond the limit of its backlog,
//! leftover bytes again with more behind them, and `writable` once its output is written.

use crate::connection_state::{ClosedBy, ConnectionState, ConnectionStatus, RECEIVE_BUFFER_BYTES};
use crate::context::{Connect, IoContext, PendingOps};
use crate::options::BACKLOG_LIMIT_BYTES;
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::socket;
use std::net::SocketAddr;

/// What the network takes of a connection's output although the peer reads nothing: a socket's
/// usual first send buffer.
pub const SOCKET_BYTES: usize = 16 << 10;

/// How a connection ended, as its peer sees it.
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
    io: IoContext,
    now_ns: u64,
    peers: Vec<Option<Peer>>,
    /// Connections that the shard has asked for and that are not there.
    dialled: Vec<Connect>,
}

/// One connection as its peer and the network have it.
#[derive(Debug)]
struct Peer {
    state: ConnectionState,
    /// Sent by the peer and not read by the driver.
    sent: Vec<u8>,
    /// Written by the driver and not read by the peer.
    socket: Vec<u8>,
    end: Option<End>,
}

impl<S: Shard> Simulated<S> {
    /// Wakes the shard for the first time, at `now_ns` of a clock that is not running.
    pub fn new(shard: S, now_ns: u64) -> Self {
        let mut simulated = Self {
            shard,
            io: IoContext::default(),
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
    pub fn accept(&mut self) -> ConnectionId {
        let id = self.io.reserve();
        self.join(id, Opened::Accepted);
        id
    }

    /// A peer has connected from that address.
    pub fn accept_from(&mut self, address: SocketAddr) -> ConnectionId {
        let id = self.io.reserve();
        if let Some(peer) = self.io.peer_mut(id) {
            peer.address = Some(address);
        }
        self.join(id, Opened::Accepted);
        id
    }

    /// The connection is there that the shard asked for first, if it has asked for one.
    pub fn connect(&mut self) -> Option<ConnectionId> {
        if self.dialled.is_empty() {
            return None;
        }
        let Connect { id, token, .. } = self.dialled.remove(0);
        self.join(id, Opened::Connected(token));
        Some(id)
    }

    /// All connections are there that the shard has asked for so far.
    pub fn connect_all(&mut self) -> Vec<ConnectionId> {
        (0..self.dialled.len()).filter_map(|_| self.connect()).collect()
    }

    fn join(&mut self, id: ConnectionId, how: Opened) {
        let index = id.index as usize;
        if self.peers.len() <= index {
            self.peers.resize_with(index + 1, || None);
        }
        let state = ConnectionState::new(id, None);
        self.peers[index] = Some(Peer { state, sent: Vec::new(), socket: Vec::new(), end: None });
        self.begin_turn();
        self.shard.opened(id, how, &mut self.io);
        self.settle();
    }

    /// The peer sends no more.
    pub fn hang_up(&mut self, id: ConnectionId) {
        if self.end(id).is_none() {
            self.end_with(id, End::Closed, Closed::Peer);
            self.settle();
        }
    }

    /// The peer sends `bytes`. Those that the driver does not read wait.
    pub fn give(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.give_later(id, bytes);
        self.settle();
    }

    /// The peer sends `bytes`, which are on their way until something else happens: so that what
    /// several peers send comes at once.
    pub fn give_later(&mut self, id: ConnectionId, bytes: &[u8]) {
        if let Some(peer) = self.peer(id).filter(|peer| peer.end.is_none()) {
            peer.sent.extend_from_slice(bytes);
        }
    }

    /// The peer reads up to `most` bytes of what the shard has written.
    pub fn take(&mut self, id: ConnectionId, most: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(peer) = self.peer(id) {
            let count = peer.socket.len().min(most - taken.len());
            taken.extend_from_slice(&peer.socket[..count]);
            peer.socket.drain(..count);
            // Tests that count memory count that of the shard.
            peer.socket.shrink_to(2 * peer.socket.len());
            self.settle();
            if count == 0 {
                break;
            }
        }
        taken
    }

    /// Bytes that the peer has sent and the driver has not read.
    pub fn unread_bytes(&self, id: ConnectionId) -> usize {
        let peer = self.peers.get(id.index as usize);
        let unread = |peer: &Peer| peer.sent.len() + peer.state.leftover().len();
        peer.and_then(Option::as_ref).map_or(0, unread)
    }

    /// Bytes that the shard has put out and the network has not taken.
    pub fn unwritten_bytes(&self, id: ConnectionId) -> usize {
        self.io.unwritten(id).len()
    }

    /// Whether and how the connection has ended.
    pub fn end(&self, id: ConnectionId) -> Option<End> {
        self.peers.get(id.index as usize)?.as_ref()?.end
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
        self.shard.woken(&mut self.io);
        self.settle();
    }

    /// Stops the shard.
    pub fn stop(&mut self) {
        self.io.stop();
        self.wake();
    }

    /// The time for what goes on after [`Simulated::stop`] has passed.
    pub fn end_drain(&mut self) {
        self.io.end_drain();
        self.wake();
    }

    /// Whether a driver that is stopping would leave now: the shard awaits nothing, and the network
    /// has all that it wrote.
    pub fn may_leave(&self) -> bool {
        let mut unwritten = self
            .peers
            .iter()
            .flatten()
            .map(|peer| peer.state.id)
            .filter(|id| !self.io.unwritten(*id).is_empty());
        !self.io.has_work() && !self.shard.has_outstanding() && unwritten.next().is_none()
    }

    fn begin_turn(&mut self) {
        self.io.stand_at(self.now_ns);
    }

    fn peer(&mut self, id: ConnectionId) -> Option<&mut Peer> {
        let peer = self.peers.get_mut(id.index as usize)?.as_mut()?;
        (peer.state.id == id).then_some(peer)
    }

    /// Goes on until nothing is left to do before time passes or a peer does something.
    fn settle(&mut self) {
        loop {
            self.apply_requests();
            let written = self.io.take_writable();
            let any_written = !written.is_empty();
            for id in written {
                self.begin_turn();
                if self.io.is_live(id) {
                    self.shard.writable(id, &mut self.io);
                }
            }
            let mut any_read = false;
            for index in 0..self.peers.len() {
                any_read |= self.read(index);
            }
            let is_due = (self.shard.next_deadline()).is_some_and(|due| due <= self.now_ns);
            if is_due {
                self.begin_turn();
                self.shard.woken(&mut self.io);
            }
            if !(any_written || any_read || is_due || self.io.has_work()) {
                return;
            }
        }
    }

    /// Does what the shard has asked for, and writes.
    fn apply_requests(&mut self) {
        self.dialled.append(&mut self.io.take_connects());
        while let Some((id, pending)) = self.io.next_touched() {
            self.apply(id, pending);
        }
        for index in 0..self.peers.len() {
            self.write(index);
        }
    }

    fn apply(&mut self, id: ConnectionId, pending: PendingOps) {
        if let Some(place) = self.dialled.iter().position(|connect| connect.id == id) {
            return self.apply_to_connect(place, pending);
        }
        if pending.abort {
            return self.end_with(id, End::Reset, Closed::Us);
        }
        let Self { shard, io, peers, .. } = self;
        let Some(Some(Peer { state, socket, .. })) = peers.get_mut(id.index as usize) else {
            return;
        };
        let mut status = ConnectionStatus::Continue(());
        if pending.resume {
            let early = |io: &mut IoContext| {
                write_what_goes(socket, id, io);
            };
            status = state.resume(shard, io, early);
        }
        if pending.close && status.is_continue() {
            status = state.end(ClosedBy::Us, io);
        }
        self.apply_status(id, status);
    }

    /// A connect that is closed or aborted is taken back.
    fn apply_to_connect(&mut self, place: usize, pending: PendingOps) {
        if pending.close || pending.abort {
            let Connect { id, token, .. } = self.dialled.remove(place);
            self.io.retire(id);
            let why = Closed::NotConnected(token, socket::given_up());
            self.shard.closed(id, why, &mut self.io);
        }
    }

    fn apply_status(&mut self, id: ConnectionId, status: ConnectionStatus) {
        match status {
            ConnectionStatus::Continue(()) => {}
            // The shard can use nothing of a full buffer.
            ConnectionStatus::Break(Closed::Failed(error)) => panic!("{error}"),
            ConnectionStatus::Break(why) => self.end_with(id, End::Closed, why),
        }
    }

    fn write(&mut self, index: usize) {
        let Some(Some(Peer { state, socket, end: None, .. })) = self.peers.get_mut(index) else {
            return;
        };
        let id = state.id;
        if write_what_goes(socket, id, &mut self.io) {
            let status = state.ended();
            self.apply_status(id, status);
        }
    }

    /// Reads once from a peer. False if there is nothing, or nothing may be read.
    fn read(&mut self, index: usize) -> bool {
        self.begin_turn();
        let Self { shard, io, peers, .. } = self;
        let Some(Some(Peer { state, sent, socket, end: None })) = peers.get_mut(index) else {
            return false;
        };
        let id = state.id;
        let backlog_bytes = io.unwritten(id).len();
        if !state.wants_to_read() || sent.is_empty() || backlog_bytes > BACKLOG_LIMIT_BYTES {
            return false;
        }
        let mut bytes = state.leftover().to_vec();
        let count = sent.len().min(RECEIVE_BUFFER_BYTES - bytes.len());
        bytes.extend(sent.drain(..count));
        sent.shrink_to(2 * sent.len());
        let early = |io: &mut IoContext| {
            write_what_goes(socket, id, io);
        };
        let status = state.deliver(&bytes, shard, io, early);
        self.apply_status(id, status);
        true
    }

    fn end_with(&mut self, id: ConnectionId, end: End, why: Closed) {
        if let Some(peer) = self.peer(id) {
            peer.end = Some(end);
            peer.sent = Vec::new();
            peer.state = ConnectionState::new(id, None);
            self.io.retire(id);
            self.shard.closed(id, why, &mut self.io);
        }
    }
}

/// The network takes what it has room for. True if that was all.
fn write_what_goes(socket: &mut Vec<u8>, id: ConnectionId, io: &mut IoContext) -> bool {
    let unwritten = io.unwritten(id);
    let count = unwritten.len().min(SOCKET_BYTES - socket.len());
    socket.extend_from_slice(&unwritten[..count]);
    let is_whole = count == unwritten.len();
    if count > 0 {
        io.took(id, count);
    } else if is_whole {
        io.reclaim(id);
    }
    if !is_whole {
        io.promise_writable(id);
    }
    is_whole
}
