//! What one thread owns, and the calls that it gets. See docs/internals/shard.md.

use crate::context::IoContext;
use std::io;

/// Names a connection of this shard; stale once the connection is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    /// Dense index: shards keep their own state in a `Vec` by it.
    pub index: u32,
    /// Raised each time the index is used again.
    pub generation: u32,
}

impl ConnectionId {
    /// What the kernel gives back with an event: tells a connection from the next one at its index.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }
}

/// How a connection came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A listener accepted it.
    Accepted,
    /// [`IoContext::connect`] made it; the token that was given there.
    Connected(u64),
}

/// Why a connection is gone.
#[derive(Debug)]
pub enum Closed {
    /// The peer closed its side.
    Peer,
    /// We closed it.
    Us,
    /// The network failed in the middle.
    Failed(io::Error),
    /// A connection asked for with that token could not be made.
    NotConnected(u64, io::Error),
}

/// What the driver does after the bytes were handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRead {
    /// Read on.
    Continue,
    /// The bytes may hold more: write the output, so that the peer can go on meanwhile, and call
    /// again with the rest. Only together with bytes that were used up.
    Again,
    /// Do not read until [`IoContext::resume`].
    Pause,
    /// Write the output, then close. The peer should have sent everything: if it sends more, a
    /// reset may overtake our last bytes.
    Close,
    /// Like [`AfterRead::Close`] while the peer is still sending: its bytes are read and dropped
    /// for a while, so that our last bytes reach it.
    LingeringClose,
}

/// The answer of [`Shard::received`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes used up from the front. The rest is presented again with more behind it.
    pub consumed: usize,
    /// What the driver does next.
    pub after: AfterRead,
}

/// One thread's share of the work: its connections, its timers, its counters.
pub trait Shard {
    /// A connection is there.
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext);
    /// Bytes have come; they begin with what the last call left over.
    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received;
    /// Output that could not be written at once has now been written whole.
    fn writable(&mut self, id: ConnectionId, io: &mut IoContext);
    /// The connection is gone.
    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext);
    /// A deadline has passed, another thread has called, or the driver is stopping.
    fn woken(&mut self, io: &mut IoContext);
    /// When [`Shard::woken`] is wanted, nanoseconds of the driver's clock.
    fn next_deadline(&self) -> Option<u64>;
    /// Answers from other threads are outstanding.
    fn has_outstanding(&self) -> bool {
        false
    }
}
