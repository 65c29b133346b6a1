//! One socket of the io_uring driver, and how far it is.

use crate::connection_state::{ClosedBy, ConnectionState, ConnectionStatus};
use crate::context::{IoContext, PendingOps};
use crate::kernel::{self, TryGrow};
use crate::ring::{Operation, Ring};
use crate::shard::{Closed, ConnectionId, Shard};
use crate::worker::Worker;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::mem;

/// A socket and what is in flight for it.
pub(super) struct UringConnection {
    pub socket: OwnedFd,
    pub state: ConnectionState,
    pub stage: Stage,
    pub receiving: ReadState,
    /// A poll for the end of a connect is in flight.
    pub is_connecting: bool,
    /// A poll for errors on an unread connection is in flight.
    pub is_watched: bool,
    /// The peer closed its side while it was not read: there is nothing left to watch for.
    pub is_half_closed: bool,
    /// It is in the queue of connections that may have output.
    pub is_queued: bool,
    /// A send is in flight, since that turn.
    sending_since: Option<u64>,
    /// The kernel did not take all output at the last try.
    blocked: bool,
    /// Writes fail; what the peer sent before is still read.
    broken: Option<Errno>,
    held: Held,
}

/// What a socket is open for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A connection of the shard.
    Live,
    /// Closed for the shard; read on so that the peer gets our last bytes.
    Lingering,
    /// Closed; waits until nothing is in flight.
    Gone,
}

/// Whether a multishot read is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadState {
    Off,
    On,
    /// Its cancellation is in flight.
    Stopping,
}

/// Why the kernel reads no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadEnd {
    /// The peer sends no more.
    Peer,
    /// It was cancelled, or no buffer was free: it can be started again.
    Interrupted,
    /// The network failed.
    Failed(Errno),
}

impl From<Errno> for ReadEnd {
    fn from(error: Errno) -> Self {
        match error {
            Errno::CANCELED | Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Self::Interrupted,
            error => Self::Failed(error),
        }
    }
}

/// Bytes that the kernel had read before it saw the cancellation. They are delivered first when
/// reading goes on.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    is_end: bool,
}

impl UringConnection {
    pub fn new(socket: OwnedFd, id: ConnectionId, connecting: Option<u64>) -> Self {
        Self {
            socket,
            state: ConnectionState::new(id, connecting),
            stage: Stage::Live,
            receiving: ReadState::Off,
            is_connecting: false,
            is_watched: false,
            is_half_closed: false,
            is_queued: false,
            sending_since: None,
            blocked: false,
            broken: None,
            held: Held::default(),
        }
    }

    #[inline]
    pub fn is_sending(&self) -> bool {
        self.sending_since.is_some()
    }

    pub fn has_something_in_flight(&self) -> bool {
        self.receiving != ReadState::Off
            || self.sending_since.is_some()
            || self.is_connecting
            || self.is_watched
    }

    /// Cancels everything in flight.
    pub fn cancel(&mut self, ring: &mut Ring) {
        let index = self.state.id.index;
        if self.receiving == ReadState::On {
            self.receiving = ReadState::Stopping;
            ring.cancel(Operation::Receive(index));
        }
        if self.sending_since.is_some() {
            ring.cancel(Operation::Send(index));
        }
        if self.is_connecting {
            ring.cancel(Operation::Connect(index));
        }
        if self.is_watched {
            ring.cancel(Operation::Watch(index));
        }
    }

    /// Whether the shard may be given bytes now.
    #[inline]
    fn may_deliver<S: Shard>(&self, worker: &Worker<S>) -> bool {
        let limit = worker.options.backlog_limit_bytes;
        self.state.wants_to_read()
            && (self.broken.is_some() || worker.io.pending_bytes(self.state.id) <= limit)
    }

    /// Starts or stops the multishot read, or watches an unread connection for its end.
    #[inline]
    pub fn update_reads<S: Shard>(&mut self, ring: &mut Ring, worker: &Worker<S>) {
        if self.receiving == ReadState::On && self.state.wants_to_read() && !self.blocked {
            return;
        }
        self.change_reads(ring, worker);
    }

    fn change_reads<S: Shard>(&mut self, ring: &mut Ring, worker: &Worker<S>) {
        let index = self.state.id.index;
        let is_wanted = match self.stage {
            Stage::Live => self.may_deliver(worker) && !self.is_holding(),
            Stage::Lingering => true,
            Stage::Gone => false,
        };
        match self.receiving {
            ReadState::Off if is_wanted && self.broken.is_none() => {
                self.receiving = ReadState::On;
                ring.receive(index, &self.socket);
            }
            ReadState::Off if self.is_to_be_watched() => {
                self.is_watched = true;
                ring.watch(index, &self.socket);
            }
            ReadState::On if !is_wanted => {
                self.receiving = ReadState::Stopping;
                self.state.drained = false;
                ring.cancel(Operation::Receive(index));
            }
            _ => {}
        }
    }

    fn is_to_be_watched(&self) -> bool {
        let is_unread = self.stage == Stage::Live && self.state.is_paused();
        is_unread && !self.is_watched && !self.is_half_closed
    }

    fn is_holding(&self) -> bool {
        self.held.is_end || !self.held.bytes.is_empty()
    }

    /// Bytes have arrived; `left_more` says whether the socket holds more.
    #[inline]
    pub fn received<S: Shard>(
        &mut self,
        bytes: &[u8],
        left_more: bool,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        worker.io.statistics.reads += 1;
        worker.io.statistics.received_bytes += bytes.len() as u64;
        self.state.drained = !left_more;
        if self.is_holding() || !self.may_deliver(worker) {
            return self.hold(bytes);
        }
        self.deliver(bytes, worker)
    }

    /// Keeps bytes until they may be delivered, unless they never may.
    #[cold]
    fn hold(&mut self, bytes: &[u8]) -> ConnectionStatus {
        self.state.drained = false;
        if self.state.is_ending() {
            return ConnectionStatus::Continue(());
        }
        if let Err(error) = self.held.bytes.try_grow(bytes.len()) {
            return ConnectionStatus::Break(Closed::Failed(error.into()));
        }
        self.held.bytes.extend_from_slice(bytes);
        ConnectionStatus::Continue(())
    }

    /// Presents bytes behind what the last ones left over.
    #[inline]
    fn deliver<S: Shard>(&mut self, bytes: &[u8], worker: &mut Worker<S>) -> ConnectionStatus {
        match self.state.leftover() {
            [] => self.present(bytes, &mut worker.shard, &mut worker.io),
            _ => self.deliver_joined(bytes, worker),
        }
    }

    fn deliver_joined<S: Shard>(
        &mut self,
        bytes: &[u8],
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        let mut rest = bytes;
        while !rest.is_empty() {
            if !self.may_deliver(worker) {
                return self.hold(rest);
            }
            let Worker { shard, io, buffer, .. } = &mut *worker;
            let leftover = self.state.leftover();
            let kept = leftover.len();
            let count = rest.len().min(buffer.len() - kept);
            buffer[..kept].copy_from_slice(leftover);
            buffer[kept..kept + count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            self.present(&buffer[..kept + count], shard, io)?;
        }
        ConnectionStatus::Continue(())
    }

    #[inline]
    fn present<S: Shard>(
        &mut self,
        bytes: &[u8],
        shard: &mut S,
        io: &mut IoContext,
    ) -> ConnectionStatus {
        let writes_early = self.sending_since.is_none();
        let (socket, id) = (&self.socket, self.state.id);
        let early = |io: &mut IoContext| write_early(socket, id, writes_early, io);
        self.state.deliver(bytes, shard, io, early)
    }

    /// Goes on with what was held, once it may be delivered.
    #[inline]
    pub fn catch_up<S: Shard>(&mut self, worker: &mut Worker<S>) -> ConnectionStatus {
        if !self.is_holding() || !self.may_deliver(worker) {
            return ConnectionStatus::Continue(());
        }
        let bytes = mem::take(&mut self.held.bytes);
        if !bytes.is_empty() {
            self.deliver(&bytes, worker)?;
        }
        if self.held.is_end && self.held.bytes.is_empty() && self.state.wants_to_read() {
            self.state.end(ClosedBy::Peer, &worker.io)
        } else {
            ConnectionStatus::Continue(())
        }
    }

    /// The kernel reads no more.
    pub fn receiving_ended<S: Shard>(
        &mut self,
        end: ReadEnd,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        if let Some(broken) = self.broken {
            return ConnectionStatus::Break(Closed::Failed(broken.into()));
        }
        match end {
            ReadEnd::Interrupted => ConnectionStatus::Continue(()),
            ReadEnd::Failed(error) => ConnectionStatus::Break(Closed::Failed(error.into())),
            ReadEnd::Peer if self.is_holding() || self.state.is_paused() => {
                self.held.is_end = true;
                ConnectionStatus::Continue(())
            }
            ReadEnd::Peer => self.state.end(ClosedBy::Peer, &worker.io),
        }
    }

    /// Applies what the shard asked for, except writing.
    #[inline]
    pub fn apply<S: Shard>(
        &mut self,
        pending: PendingOps,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        self.state.apply_end(pending, &self.socket)?;
        if pending.resume {
            self.resume(worker)?;
        }
        if pending.close {
            self.state.end(ClosedBy::Us, &worker.io)
        } else {
            ConnectionStatus::Continue(())
        }
    }

    fn resume<S: Shard>(&mut self, worker: &mut Worker<S>) -> ConnectionStatus {
        let writes_early = self.sending_since.is_none();
        let (socket, id) = (&self.socket, self.state.id);
        let early = |io: &mut IoContext| write_early(socket, id, writes_early, io);
        let Worker { shard, io, .. } = &mut *worker;
        self.state.resume(shard, io, early)?;
        self.catch_up(worker)
    }

    /// Hands what is in the output to the ring, unless a send is in flight.
    #[inline]
    pub fn write<S: Shard>(
        &mut self,
        turn_number: u64,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        let id = self.state.id;
        if self.state.connecting.is_some() || self.broken.is_some() {
            return ConnectionStatus::Continue(());
        }
        if self.sending_since.is_some() {
            worker.io.promise_writable(id);
            return ConnectionStatus::Continue(());
        }
        let bytes = worker.io.lend(id);
        if bytes.is_empty() {
            worker.io.recycle(bytes);
            return self.state.ended();
        }
        self.sending_since = Some(turn_number);
        ring.send(id.index, &self.socket, bytes);
        ConnectionStatus::Continue(())
    }

    /// The kernel has taken `taken` bytes of what was lent, and left `left`.
    #[inline]
    pub fn sent<S: Shard>(
        &mut self,
        (taken, left): (usize, usize),
        turn_number: u64,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        let id = self.state.id;
        self.blocked = left > 0;
        if left > 0 || self.sending_since != Some(turn_number) {
            worker.io.promise_writable(id);
        }
        let is_all = worker.io.settle_lent(id, taken);
        if left > 0 {
            self.state.drained &= !self.state.is_ending();
            ring.send_rest(id.index, &self.socket);
            return self.catch_up(worker);
        }
        self.sending_since = None;
        worker.io.recycle(ring.take_lent(id.index));
        if is_all && self.state.is_ending() { self.state.ended() } else { self.catch_up(worker) }
    }

    /// The kernel has taken nothing.
    pub fn not_sent<S: Shard>(
        &mut self,
        error: Errno,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        let index = self.state.id.index;
        if matches!(error, Errno::AGAIN | Errno::INTR) {
            ring.send_rest(index, &self.socket);
            return ConnectionStatus::Continue(());
        }
        self.drop_lent(ring, worker);
        if !self.state.wants_to_read() {
            return ConnectionStatus::Break(Closed::Failed(error.into()));
        }
        self.read_to_end(error, ring, worker)
    }

    /// The send that was in flight is over, whatever became of it.
    pub fn drop_lent<S: Shard>(&mut self, ring: &mut Ring, worker: &mut Worker<S>) {
        self.sending_since = None;
        let lent = ring.take_lent(self.state.id.index);
        worker.io.recycle(lent);
    }

    /// Writes fail, but the peer's last bytes (a GOAWAY, say) may be on their way: read them first.
    #[cold]
    fn read_to_end<S: Shard>(
        &mut self,
        error: Errno,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> ConnectionStatus {
        self.broken = Some(error);
        self.catch_up(worker)?;
        match self.receiving {
            ReadState::Off => ConnectionStatus::Break(Closed::Failed(error.into())),
            ReadState::Stopping => ConnectionStatus::Continue(()),
            ReadState::On => {
                self.receiving = ReadState::Stopping;
                ring.cancel(Operation::Receive(self.state.id.index));
                ConnectionStatus::Continue(())
            }
        }
    }

    /// Forgets what was held: the shard has closed.
    pub fn forget_input(&mut self) {
        self.held = Held::default();
        self.blocked = false;
    }
}

/// Writes between two calls for the bytes of one read. The write that ends the turn sees its
/// errors.
#[inline]
fn write_early(socket: &OwnedFd, id: ConnectionId, may_write: bool, io: &mut IoContext) {
    let bytes = io.unwritten(id);
    if may_write
        && !bytes.is_empty()
        && let Ok(count) = kernel::send(socket, bytes)
    {
        io.took(id, count);
    }
}
