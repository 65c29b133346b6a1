//! What a shard can ask of its driver during a call.

mod layer;

use crate::address::Target;
use crate::clock;
use crate::kernel::TryGrow;
use crate::shard::ConnectionId;
use crate::statistics::IoStatistics;
use rustix::io::Errno;
use std::cell::Cell;
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

/// How many empty output buffers a thread keeps: connections that write in the same turn borrow one
/// each, and a turn of epoll brings at most this many events.
const POOLED_BUFFERS_MAX: usize = 256;

/// An empty buffer that has grown larger than this is given back to the allocator: 1 MiB holds the
/// answers to some ten thousand small calls.
const POOLED_CAPACITY_MAX: usize = 1 << 20;

/// How many buffers may be large, and how large the others are: clients that do not read make
/// buffers grow, and a thread must not hoard more than 24 MiB of what it once needed for them.
const LARGE_BUFFERS_MAX: usize = 8;
const SMALL_CAPACITY_MAX: usize = 64 << 10;

/// What a shard can ask of its driver during a call. The driver does it after the call returns.
///
/// Requests for a connection that is gone (a stale [`ConnectionId`]) are ignored.
#[derive(Debug, Default)]
pub struct IoContext {
    slots: Vec<Slot>,
    free: Vec<u32>,
    pool: Vec<Vec<u8>>,
    discarded: Vec<u8>,
    touched: Vec<u32>,
    connects: Vec<Connect>,
    writable: Vec<ConnectionId>,
    now_ns: Cell<u64>,
    /// Whether the clock is one that is not running.
    stands: bool,
    stopping: bool,
    drain_is_over: bool,
    pub(crate) statistics: IoStatistics,
}

/// The other end of an accepted connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Where it connected from; `None` for a unix socket.
    pub address: Option<SocketAddr>,
    /// The certificates that it has shown, in DER, its own first; none without mutual TLS.
    ///
    /// They were verified: a handshake with others fails.
    pub certificates: Arc<[Box<[u8]>]>,
}

/// A connection that a shard asked for.
#[derive(Debug)]
pub(crate) struct Connect {
    pub id: ConnectionId,
    pub target: Target,
    pub token: u64,
}

/// What a shard has asked of one of its connections and the driver has not done yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingOps {
    pub close: bool,
    pub abort: bool,
    pub resume: bool,
}

impl PendingOps {
    #[inline]
    pub fn is_nothing(self) -> bool {
        !self.close && !self.abort && !self.resume
    }
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    taken: bool,
    touched: bool,
    pending: PendingOps,
    /// The shard knows of a backlog, so it is called when all of it has been written.
    promised: Cell<bool>,
    /// The kernel has taken the bytes before this one.
    written: usize,
    /// Bytes taken out of the output that the kernel has not taken yet.
    lent_bytes: usize,
    /// All that the kernel has taken so far.
    sent_bytes: u64,
    /// Length of the output when the shard first touched it in this call.
    untouched_bytes: usize,
    /// When the transport below TLS was established; 0 without TLS.
    transport_opened_ns: u64,
    peer: Peer,
    output: Vec<u8>,
}

impl IoContext {
    /// The clock as it was read once for this turn, nanoseconds of [`crate::clock_ns`].
    ///
    /// It is read on the first call of a turn, so a shard that never asks costs no clock read. For
    /// the time at which a read returned, call this before handling the bytes.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        if self.now_ns.get() == 0 {
            self.now_ns.set(clock::clock_ns());
        }
        self.now_ns.get()
    }

    /// The clock now, nanoseconds.
    #[inline]
    pub fn clock_ns(&self) -> u64 {
        if self.stands { self.now_ns() } else { clock::clock_ns() }
    }

    /// Memory held for the output of that connection, bytes: for what waits to be written, for what
    /// was written before it, and for what may follow.
    pub fn output_capacity(&self, id: ConnectionId) -> usize {
        self.find(id).map_or(0, |slot| slot.output.capacity())
    }

    /// The bytes that wait to be written. Append to them, or swap the whole `Vec` out, append and
    /// swap it back; its front may be with the kernel already, so never change or measure what is
    /// in it. Bytes for a connection that is gone are dropped.
    #[inline]
    pub fn output(&mut self, id: ConnectionId) -> &mut Vec<u8> {
        match self.slots.get_mut(id.index as usize) {
            Some(slot) if slot.is_of(id) => {
                // Once a call: a shard that swaps the buffer out gets back what it left, not a
                // second one.
                if slot.touch(id.index, &mut self.touched)
                    && slot.output.capacity() == 0
                    && let Some(buffer) = self.pool.pop()
                {
                    slot.output = buffer;
                }
                &mut slot.output
            }
            _ => {
                self.discarded.clear();
                &mut self.discarded
            }
        }
    }

    /// Bytes that were appended and that the kernel has not taken yet; 0 where the connection is
    /// gone.
    ///
    /// If it is not 0, [`crate::Shard::writable`] is called once the output has been written.
    #[inline]
    pub fn backlog(&self, id: ConnectionId) -> usize {
        let Some(slot) = self.find(id) else {
            return 0;
        };
        let backlog = slot.backlog();
        if backlog > 0 {
            slot.promised.set(true);
        }
        backlog
    }

    /// Bytes of this connection that the kernel has taken since it began; 0 where it is gone. As
    /// long as this stands still while there is a backlog, the peer reads nothing.
    pub fn sent_bytes(&self, id: ConnectionId) -> u64 {
        self.find(id).map_or(0, |slot| slot.sent_bytes)
    }

    /// When the transport of this connection was established, before its TLS handshake, nanoseconds
    /// of [`crate::clock_ns`]. `None` without TLS.
    pub fn transport_opened_ns(&self, id: ConnectionId) -> Option<u64> {
        let slot = self.find(id)?;
        (slot.transport_opened_ns > 0).then_some(slot.transport_opened_ns)
    }

    /// The other end of this connection. Unknown if this end made the connection, or if it is gone.
    pub fn peer(&self, id: ConnectionId) -> Peer {
        self.find(id).map_or_else(Peer::default, |slot| slot.peer.clone())
    }

    /// Connects; ends in [`crate::Shard::opened`] or [`crate::Shard::closed`] with the token.
    /// Output appended before then is sent as soon as the connection is established.
    pub fn connect(&mut self, target: impl Into<Target>, token: u64) -> ConnectionId {
        let id = self.reserve();
        self.connects.push(Connect { id, target: target.into(), token });
        id
    }

    /// Writes the output, then closes cleanly; nothing more is read. A connect in progress is
    /// aborted.
    pub fn close(&mut self, id: ConnectionId) {
        self.request(id, |pending| pending.close = true);
    }

    /// Resets the connection; its output is dropped.
    pub fn abort(&mut self, id: ConnectionId) {
        self.request(id, |pending| pending.abort = true);
    }

    /// Resumes reading after [`crate::AfterRead::Pause`]. Bytes left over then are presented again
    /// even if no more have arrived.
    pub fn resume(&mut self, id: ConnectionId) {
        self.request(id, |pending| pending.resume = true);
    }

    /// Stops the driver once all output is written and nothing is outstanding from other threads,
    /// or when the drain time has passed.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Whether the driver is stopping: [`IoContext::stop`] or [`crate::Waker::stop`] was called.
    #[inline]
    pub fn stopping(&self) -> bool {
        self.stopping
    }

    /// Whether the drain time of a stopping driver has passed. The shard is woken then; what it
    /// appends to its outputs is still written if the peers take it within
    /// [`crate::FINAL_FLUSH_NS`].
    #[inline]
    pub fn drain_is_over(&self) -> bool {
        self.drain_is_over
    }

    /// What the driver has counted so far; the busy time of this turn is not yet in it.
    #[inline]
    pub fn statistics(&self) -> IoStatistics {
        self.statistics
    }
}

impl IoContext {
    /// Begins a turn of a clock that is not running.
    pub(crate) fn stand_at(&mut self, now_ns: u64) {
        self.now_ns.set(now_ns);
        self.stands = true;
    }

    /// What is known of the other end, to be filled in before the shard hears of the connection.
    pub(crate) fn peer_mut(&mut self, id: ConnectionId) -> Option<&mut Peer> {
        self.find(id)?;
        Some(&mut self.slots[id.index as usize].peer)
    }

    /// From here on [`IoContext::drain_is_over`].
    pub(crate) fn end_drain(&mut self) {
        self.drain_is_over = true;
    }

    /// Forgets the clock reading of the turn before.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.now_ns.set(0);
    }

    /// Takes a free slot for a connection that a peer asks for, if there is memory for one.
    pub(crate) fn try_reserve(&mut self) -> Result<ConnectionId, Errno> {
        if self.free.is_empty() {
            self.slots.try_grow(1)?;
        }
        Ok(self.reserve())
    }

    /// Takes a free slot.
    pub(crate) fn reserve(&mut self) -> ConnectionId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.taken = true;
        ConnectionId { index, generation: slot.generation }
    }

    /// Makes an id stale. Its slot is not free yet.
    pub(crate) fn retire(&mut self, id: ConnectionId) {
        let slot = &mut self.slots[id.index as usize];
        slot.taken = false;
        slot.generation = slot.generation.wrapping_add(1);
        slot.written = 0;
        slot.lent_bytes = 0;
        slot.sent_bytes = 0;
        slot.transport_opened_ns = 0;
        slot.peer = Peer::default();
        slot.pending = PendingOps::default();
        slot.promised.set(false);
        let output = mem::take(&mut slot.output);
        self.recycle(output);
    }

    /// Gives a retired slot to the next connection.
    pub(crate) fn release(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The next connection for which something was asked since the last call, each once.
    #[inline]
    pub(crate) fn next_touched(&mut self) -> Option<(ConnectionId, PendingOps)> {
        loop {
            let index = self.touched.pop()?;
            let slot = &mut self.slots[index as usize];
            slot.touched = false;
            if slot.taken {
                let id = ConnectionId { index, generation: slot.generation };
                return Some((id, mem::take(&mut slot.pending)));
            }
        }
    }

    /// Whether something was asked of the connection at that index.
    #[inline]
    pub(crate) fn is_touched(&self, index: u32) -> bool {
        self.slots[index as usize].touched
    }

    /// Whether connections were asked for since they were last taken.
    #[inline]
    pub(crate) fn has_connects(&self) -> bool {
        !self.connects.is_empty()
    }

    /// Connections asked for since the last call.
    pub(crate) fn take_connects(&mut self) -> Vec<Connect> {
        mem::take(&mut self.connects)
    }

    /// Takes back a connect that has not begun; its token.
    pub(crate) fn withdraw_connect(&mut self, id: ConnectionId) -> Option<u64> {
        let position = self.connects.iter().position(|connect| connect.id == id)?;
        Some(self.connects.remove(position).token)
    }

    /// Calls the shard's `writable` once the output has been written.
    #[inline]
    pub(crate) fn promise_writable(&self, id: ConnectionId) {
        self.slots[id.index as usize].promised.set(true);
    }

    /// Connections whose shard is to hear that their output has been written whole. They wait for
    /// the next turn, so that a fast reader of an endless stream does not keep the thread to
    /// itself.
    pub(crate) fn take_writable(&mut self) -> Vec<ConnectionId> {
        mem::take(&mut self.writable)
    }

    /// Whether a connection is still there.
    pub(crate) fn is_live(&self, id: ConnectionId) -> bool {
        self.find(id).is_some()
    }

    /// Whether something waits to be done before the driver may sleep.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.has_requests() || !self.writable.is_empty()
    }

    /// Whether something was asked for that is not done yet.
    #[inline]
    pub(crate) fn has_requests(&self) -> bool {
        !self.touched.is_empty() || !self.connects.is_empty()
    }

    /// Whether there is output that the kernel has not taken yet, lent or not.
    #[inline]
    pub(crate) fn has_output(&self, id: ConnectionId) -> bool {
        self.pending_bytes(id) > 0
    }

    /// [`IoContext::backlog`] that promises nothing.
    #[inline]
    pub(crate) fn pending_bytes(&self, id: ConnectionId) -> usize {
        self.find(id).map_or(0, Slot::backlog)
    }

    /// What the kernel has not taken yet, but for what is lent.
    #[inline]
    pub(crate) fn unwritten(&self, id: ConnectionId) -> &[u8] {
        self.find(id).map_or(&[], |slot| &slot.output[slot.written.min(slot.output.len())..])
    }

    /// The kernel has taken that many bytes. True if that was all.
    #[inline(always)]
    pub(crate) fn took(&mut self, id: ConnectionId, taken: usize) -> bool {
        self.statistics.writes += 1;
        self.statistics.sent_bytes += taken as u64;
        let slot = &mut self.slots[id.index as usize];
        slot.written += taken;
        slot.sent_bytes += taken as u64;
        if slot.backlog() > 0 {
            slot.compact();
            return false;
        }
        slot.written = 0;
        let output = mem::take(&mut slot.output);
        if slot.promised.replace(false) {
            self.writable.push(id);
        }
        self.recycle(output);
        true
    }

    /// Takes the whole output out of its connection, for a ring that must own the bytes until they
    /// are with the kernel. Until [`IoContext::settle_lent`] they count as backlog; the buffer
    /// comes back by [`IoContext::recycle`]. Empty where there is no output or the connection is
    /// gone.
    #[cfg(feature = "uring")]
    #[inline]
    pub(crate) fn lend(&mut self, id: ConnectionId) -> Vec<u8> {
        if self.find(id).is_none() {
            return Vec::new();
        }
        let slot = &mut self.slots[id.index as usize];
        let mut output = mem::take(&mut slot.output);
        let written = mem::take(&mut slot.written).min(output.len());
        if written > 0 {
            output.drain(..written);
        }
        slot.lent_bytes += output.len();
        output
    }

    /// The kernel has taken `bytes` of the lent bytes. Returns true if nothing is left to write.
    /// Nothing happens where the connection is gone.
    #[cfg(feature = "uring")]
    #[inline]
    pub(crate) fn settle_lent(&mut self, id: ConnectionId, bytes: usize) -> bool {
        if self.find(id).is_none() {
            return true;
        }
        self.statistics.writes += 1;
        self.statistics.sent_bytes += bytes as u64;
        let slot = &mut self.slots[id.index as usize];
        debug_assert!(bytes <= slot.lent_bytes, "more went than was lent");
        slot.lent_bytes = slot.lent_bytes.saturating_sub(bytes);
        slot.sent_bytes += bytes as u64;
        if slot.backlog() > 0 {
            return false;
        }
        if slot.promised.replace(false) {
            self.writable.push(id);
        }
        true
    }

    /// Takes back the buffer of a connection that had nothing to write.
    #[inline]
    pub(crate) fn reclaim(&mut self, id: ConnectionId) {
        let slot = &mut self.slots[id.index as usize];
        if slot.output.capacity() > 0 && slot.output.is_empty() {
            let output = mem::take(&mut slot.output);
            self.recycle(output);
        }
    }

    /// Keeps an output buffer that is not needed any more for the next connection that writes.
    #[inline(always)]
    pub(crate) fn recycle(&mut self, mut buffer: Vec<u8>) {
        let worth_keeping = (1..=POOLED_CAPACITY_MAX).contains(&buffer.capacity());
        if worth_keeping && self.pool.len() < LARGE_BUFFERS_MAX {
            buffer.clear();
            self.pool.push(buffer);
        } else if worth_keeping {
            self.recycle_small(buffer);
        }
    }

    #[inline(never)]
    fn recycle_small(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= SMALL_CAPACITY_MAX && self.pool.len() < POOLED_BUFFERS_MAX {
            buffer.clear();
            self.pool.push(buffer);
        }
    }

    #[inline]
    fn find(&self, id: ConnectionId) -> Option<&Slot> {
        self.slots.get(id.index as usize).filter(|slot| slot.is_of(id))
    }

    fn request(&mut self, id: ConnectionId, request: impl FnOnce(&mut PendingOps)) {
        if let Some(slot) = self.slots.get_mut(id.index as usize)
            && slot.is_of(id)
        {
            slot.touch(id.index, &mut self.touched);
            request(&mut slot.pending);
        }
    }
}

impl Slot {
    /// Whether it is the one of that connection, which is still there.
    #[inline]
    fn is_of(&self, id: ConnectionId) -> bool {
        self.taken && self.generation == id.generation
    }

    /// Enters it, at that index, among those that the driver looks at. False where it is there
    /// already.
    #[inline]
    fn touch(&mut self, index: u32, touched: &mut Vec<u32>) -> bool {
        if self.touched {
            return false;
        }
        self.touched = true;
        self.untouched_bytes = self.output.len();
        touched.push(index);
        true
    }

    #[inline]
    fn backlog(&self) -> usize {
        self.lent_bytes + self.output.len().saturating_sub(self.written)
    }

    /// Moves the rest to the front once the written part is the larger one, so that a buffer that
    /// is never quite empty stays bounded and each byte is moved at most once on average.
    fn compact(&mut self) {
        if self.written > self.output.len() / 2 {
            self.output.drain(..self.written);
            self.written = 0;
            // The rest may wait for as long as the peer likes.
            self.output.shrink_to(2 * self.output.len());
        }
    }
}

#[cfg(test)]
mod tests;
