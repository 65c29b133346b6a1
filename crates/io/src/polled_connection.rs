//! One connection of a driver that waits for readiness and reads and writes itself.
//!
//! What each turn passes through is inlined whatever its size: with one call in flight, calls from
//! step to step would cost as much as the steps.

use crate::connection_state::{ClosedBy, ConnectionState, ConnectionStatus};
use crate::context::{IoContext, PendingOps};
use crate::kernel;
use crate::shard::{Closed, ConnectionId, Shard};
use crate::socket;
use crate::worker::Worker;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;

/// Reads of a connection that cannot be written to. This number holds what the kernel buffers (6
/// MiB unless `tcp_rmem` was raised); a peer that goes on sending does not keep the thread to
/// itself.
const LAST_READS_MAX: usize = 32;

/// A socket and how far it is.
#[derive(Debug)]
pub(crate) struct PolledConnection {
    pub socket: OwnedFd,
    pub state: ConnectionState,
    /// The kernel did not take all output at the last try.
    pub blocked: bool,
}

/// What epoll or poll reports of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// Reset, or closed in both directions.
    pub broken: bool,
    /// The peer has closed its side (RDHUP).
    pub ended: bool,
}

/// What one read brought.
pub(crate) enum Read {
    /// This number of bytes at the front of the buffer.
    Bytes(usize),
    /// Nothing has arrived.
    Nothing,
    /// The peer sends no more.
    End,
    /// The network failed.
    Failed(Errno),
}

impl PolledConnection {
    pub fn new(socket: OwnedFd, id: ConnectionId, connecting: Option<u64>) -> Self {
        Self { socket, state: ConnectionState::new(id, connecting), blocked: false }
    }

    /// Whether to read.
    #[inline]
    pub fn wants_to_read(&self, io: &IoContext, backlog_limit_bytes: usize) -> bool {
        let unwritten = || io.unwritten(self.state.id).len();
        self.state.wants_to_read() && (!self.blocked || unwritten() <= backlog_limit_bytes)
    }

    /// Whether to wait until the socket can be written.
    #[inline]
    pub fn wants_to_write(&self) -> bool {
        self.blocked || self.state.connecting.is_some()
    }

    /// Whether it is read, and nothing waits to be written: what nearly every connection is at
    /// nearly all times, so that one look at it saves many.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.blocked && self.state.wants_to_read()
    }

    /// Writes and reads, once each, as far as the socket lets it.
    #[inline(always)]
    pub fn advance<S: Shard>(
        &mut self,
        ready: Readiness,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        if self.is_plain() { self.read_once(ready, worker) } else { self.go_on(ready, worker) }
    }

    /// As [`PolledConnection::advance`], where something is unusual.
    fn go_on<S: Shard>(&mut self, ready: Readiness, worker: &mut Worker<S>) -> ConnectionStatus {
        if self.blocked && ready.writable {
            self.write(worker)?;
        }
        if self.wants_to_read(&worker.io, worker.options.backlog_limit_bytes) {
            return self.read_once(ready, worker);
        }
        if ready.broken {
            return ConnectionStatus::Break(Closed::Failed(socket::pending_error(&self.socket)));
        }
        ConnectionStatus::Continue(())
    }

    fn read_once<S: Shard>(
        &mut self,
        ready: Readiness,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        if !ready.readable && !ready.broken {
            return ConnectionStatus::Continue(());
        }
        let read = self.read(&mut worker.buffer, RecvFlags::DONTWAIT, &mut worker.io);
        worker.io.begin();
        let is_last = ready.ended && matches!(read, Read::Bytes(_));
        let status = self.handle(read, worker);
        if is_last && self.state.drained && self.state.wants_to_read() {
            // epoll has reported the end already: save the read that would only return 0.
            return self.state.end(ClosedBy::Peer, &worker.io);
        }
        status
    }

    /// Applies what the shard asked for, and writes the output.
    #[inline(always)]
    pub fn apply<S: Shard>(
        &mut self,
        pending: PendingOps,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        if pending.is_nothing() && self.is_plain() {
            self.write_output(worker)
        } else {
            self.apply_pending(pending, worker)
        }
    }

    fn apply_pending<S: Shard>(
        &mut self,
        pending: PendingOps,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        self.state.apply_end(pending, &self.socket)?;
        if pending.resume {
            self.resume(&mut worker.shard, &mut worker.io)?;
        }
        if pending.close {
            self.prepare_close(&mut worker.io);
            self.state.end(ClosedBy::Us, &worker.io)?;
        }
        if self.blocked { ConnectionStatus::Continue(()) } else { self.write(worker) }
    }

    /// The shard closes it at a time of its own: the peer may have sent more since the last read.
    /// So the output is not held back until the close, which over unread bytes would drop it, and
    /// such bytes are looked for.
    #[cold]
    fn prepare_close(&mut self, io: &mut IoContext) {
        write_early(&self.socket, self.state.id, &mut self.blocked, io);
        self.state.drained &= !self.blocked && !kernel::has_unread_bytes(&self.socket);
    }

    /// Reads once, behind what the last call left over.
    #[inline(always)]
    pub fn read(&mut self, buffer: &mut [u8], flags: RecvFlags, io: &mut IoContext) -> Read {
        let leftover = self.state.leftover();
        let kept = leftover.len();
        if kept > 0 {
            buffer[..kept].copy_from_slice(leftover);
        }
        let space = &mut buffer[kept..];
        let space_bytes = space.len();
        match kernel::receive(&self.socket, space, flags) {
            Ok(0) => Read::End,
            Ok(count) => {
                self.state.drained = count < space_bytes;
                io.statistics.reads += 1;
                io.statistics.received_bytes += count as u64;
                Read::Bytes(kept + count)
            }
            Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
            Err(error) => Read::Failed(error),
        }
    }

    /// Acts on a read.
    #[inline(always)]
    pub fn handle<S: Shard>(&mut self, read: Read, worker: &mut Worker<S>) -> ConnectionStatus {
        let Worker { shard, io, buffer, .. } = worker;
        match read {
            Read::Bytes(count) => self.deliver(&buffer[..count], shard, io),
            Read::Nothing => ConnectionStatus::Continue(()),
            Read::End => self.state.end(ClosedBy::Peer, io),
            Read::Failed(error) => ConnectionStatus::Break(Closed::Failed(error.into())),
        }
    }

    /// Presents bytes to the shard and keeps what it leaves over.
    #[inline(always)]
    fn deliver<S: Shard>(
        &mut self,
        bytes: &[u8],
        shard: &mut S,
        io: &mut IoContext,
    ) -> ConnectionStatus {
        let Self { socket, state, blocked, .. } = self;
        let id = state.id;
        let early = |io: &mut IoContext| write_early(socket, id, blocked, io);
        state.deliver(bytes, shard, io, early)
    }

    /// Goes on reading, first with what was left over when the shard paused.
    fn resume<S: Shard>(&mut self, shard: &mut S, io: &mut IoContext) -> ConnectionStatus {
        let Self { socket, state, blocked, .. } = self;
        let id = state.id;
        let early = |io: &mut IoContext| write_early(socket, id, blocked, io);
        state.resume(shard, io, early)
    }

    /// Writes once what is in the output.
    pub fn write<S: Shard>(&mut self, worker: &mut Worker<S>) -> ConnectionStatus {
        if self.state.connecting.is_some() {
            return ConnectionStatus::Continue(());
        }
        self.write_output(worker)
    }

    #[inline(always)]
    fn write_output<S: Shard>(&mut self, worker: &mut Worker<S>) -> ConnectionStatus {
        let id = self.state.id;
        let io = &mut worker.io;
        let bytes = io.unwritten(id);
        if bytes.is_empty() {
            io.reclaim(id);
            return self.state.ended();
        }
        let sent = if self.state.is_ours_to_end() {
            kernel::send_before_close(&self.socket, bytes)
        } else {
            kernel::send(&self.socket, bytes)
        };
        match sent {
            Ok(count) if io.took(id, count) => {
                self.blocked = false;
                self.state.ended()
            }
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => self.block(io),
            Err(error) => self.read_to_end(error, worker),
        }
    }

    /// The kernel did not take all of the output.
    #[cold]
    fn block(&mut self, io: &IoContext) -> ConnectionStatus {
        self.blocked = true;
        self.state.drained &= !self.state.is_ending();
        io.promise_writable(self.state.id);
        ConnectionStatus::Continue(())
    }

    /// Writing fails, but the peer's last bytes (a GOAWAY, say) may wait: read them first.
    #[cold]
    fn read_to_end<S: Shard>(&mut self, error: Errno, worker: &mut Worker<S>) -> ConnectionStatus {
        for _ in 0..LAST_READS_MAX {
            if !self.state.wants_to_read() {
                break;
            }
            match self.read(&mut worker.buffer, RecvFlags::DONTWAIT, &mut worker.io) {
                Read::Bytes(count) => {
                    let Worker { shard, io, buffer, .. } = worker;
                    self.deliver(&buffer[..count], shard, io)?;
                }
                Read::Nothing | Read::End | Read::Failed(_) => break,
            }
        }
        ConnectionStatus::Break(Closed::Failed(error.into()))
    }
}

/// Writes between two calls for the bytes of one read. The write that ends the turn sees its
/// errors.
#[inline]
fn write_early(socket: &OwnedFd, id: ConnectionId, blocked: &mut bool, io: &mut IoContext) {
    let bytes = io.unwritten(id);
    if !bytes.is_empty()
        && !*blocked
        && let Ok(count) = kernel::send(socket, bytes)
    {
        *blocked = !io.took(id, count);
    }
}
