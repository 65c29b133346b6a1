//! One socket of the io_uring driver, and how far it is.

use crate::exchange::{Ending, Exchange, Fate};
use crate::kernel::{self, Grows};
use crate::ring::{Operation, Ring};
use crate::shard::{Closed, Session, Shard};
use crate::turn::{Turn, Wishes};
use crate::worker::Worker;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::mem;

/// A socket and what is in flight for it.
pub(super) struct Entry {
    pub socket: OwnedFd,
    pub exchange: Exchange,
    pub stage: Stage,
    pub receiving: Receiving,
    /// A poll for the end of a connect is in flight.
    pub is_connecting: bool,
    /// A poll for the end of a connection that is not read is in flight.
    pub is_watched: bool,
    /// The peer has said all while it was not read: there is nothing to watch for any more.
    pub is_half_closed: bool,
    /// Stands among the sessions that may have output.
    pub is_queued: bool,
    /// A send is in flight, since that turn.
    sending_since: Option<u64>,
    /// The kernel did not take all output at the last try.
    blocked: bool,
    /// Nothing can be written any more; the peer is heard out.
    broken: Option<Errno>,
    held: Held,
}

/// What a socket is open for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A session of the shard.
    Live,
    /// Closed for the shard; read on so that the peer gets our last bytes.
    Lingering,
    /// Closed; waits until nothing is in flight.
    Gone,
}

/// Whether the kernel reads of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiving {
    No,
    Yes,
    /// Until the kernel has heard that it is not to any more.
    Ending,
}

/// Why the kernel reads no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer sends no more.
    Peer,
    /// We have asked for that, or there was no buffer: it can go on.
    Interrupted,
    /// The network failed.
    Failed(Errno),
}

impl From<Errno> for End {
    fn from(error: Errno) -> Self {
        match error {
            Errno::CANCELED | Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Self::Interrupted,
            error => Self::Failed(error),
        }
    }
}

/// What has come although reading had been put off: as much as was on its way.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    is_end: bool,
}

impl Entry {
    pub fn new(socket: OwnedFd, session: Session, connecting: Option<u64>) -> Self {
        Self {
            socket,
            exchange: Exchange::new(session, connecting),
            stage: Stage::Live,
            receiving: Receiving::No,
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
        self.receiving != Receiving::No
            || self.sending_since.is_some()
            || self.is_connecting
            || self.is_watched
    }

    /// Has all that is in flight end.
    pub fn cancel(&mut self, ring: &mut Ring) {
        let index = self.exchange.session.index;
        if self.receiving == Receiving::Yes {
            self.receiving = Receiving::Ending;
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
        self.exchange.wants_to_read()
            && (self.broken.is_some() || worker.turn.pending_bytes(self.exchange.session) <= limit)
    }

    /// Has the kernel read, or no longer, or say only when the connection breaks.
    #[inline]
    pub fn steer<S: Shard>(&mut self, ring: &mut Ring, worker: &Worker<S>) {
        if self.receiving == Receiving::Yes && self.exchange.wants_to_read() && !self.blocked {
            return;
        }
        self.turn_the_wheel(ring, worker);
    }

    fn turn_the_wheel<S: Shard>(&mut self, ring: &mut Ring, worker: &Worker<S>) {
        let index = self.exchange.session.index;
        let is_wanted = match self.stage {
            Stage::Live => self.may_deliver(worker) && !self.is_holding(),
            Stage::Lingering => true,
            Stage::Gone => false,
        };
        match self.receiving {
            Receiving::No if is_wanted && self.broken.is_none() => {
                self.receiving = Receiving::Yes;
                ring.receive(index, &self.socket);
            }
            Receiving::No if self.is_to_be_watched() => {
                self.is_watched = true;
                ring.watch(index, &self.socket);
            }
            Receiving::Yes if !is_wanted => {
                self.receiving = Receiving::Ending;
                self.exchange.drained = false;
                ring.cancel(Operation::Receive(index));
            }
            _ => {}
        }
    }

    fn is_to_be_watched(&self) -> bool {
        let is_unread = self.stage == Stage::Live && self.exchange.is_paused();
        is_unread && !self.is_watched && !self.is_half_closed
    }

    fn is_holding(&self) -> bool {
        self.held.is_end || !self.held.bytes.is_empty()
    }

    /// Bytes have come; `left_more`: and the socket has more.
    #[inline]
    pub fn received<S: Shard>(
        &mut self,
        bytes: &[u8],
        left_more: bool,
        worker: &mut Worker<S>,
    ) -> Fate {
        worker.turn.statistics.reads += 1;
        worker.turn.statistics.received_bytes += bytes.len() as u64;
        self.exchange.drained = !left_more;
        if self.is_holding() || !self.may_deliver(worker) {
            return self.hold(bytes);
        }
        self.deliver(bytes, worker)
    }

    /// Keeps bytes until they may be delivered, unless they never may.
    #[cold]
    fn hold(&mut self, bytes: &[u8]) -> Fate {
        self.exchange.drained = false;
        if self.exchange.is_ending() {
            return Fate::Alive;
        }
        if let Err(error) = self.held.bytes.try_grow(bytes.len()) {
            return Fate::Gone(Closed::Failed(error.into()));
        }
        self.held.bytes.extend_from_slice(bytes);
        Fate::Alive
    }

    /// Presents bytes behind what the last ones left over.
    #[inline]
    fn deliver<S: Shard>(&mut self, bytes: &[u8], worker: &mut Worker<S>) -> Fate {
        match self.exchange.leftover() {
            [] => self.present(bytes, &mut worker.shard, &mut worker.turn),
            _ => self.deliver_joined(bytes, worker),
        }
    }

    fn deliver_joined<S: Shard>(&mut self, bytes: &[u8], worker: &mut Worker<S>) -> Fate {
        let mut rest = bytes;
        while !rest.is_empty() {
            if !self.may_deliver(worker) {
                return self.hold(rest);
            }
            let Worker {
                shard,
                turn,
                buffer,
                ..
            } = &mut *worker;
            let leftover = self.exchange.leftover();
            let kept = leftover.len();
            let count = rest.len().min(buffer.len() - kept);
            buffer[..kept].copy_from_slice(leftover);
            buffer[kept..kept + count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            if let Fate::Gone(why) = self.present(&buffer[..kept + count], shard, turn) {
                return Fate::Gone(why);
            }
        }
        Fate::Alive
    }

    #[inline]
    fn present<S: Shard>(&mut self, bytes: &[u8], shard: &mut S, turn: &mut Turn) -> Fate {
        let writes_early = self.sending_since.is_none();
        let (socket, session) = (&self.socket, self.exchange.session);
        let early = |turn: &mut Turn| write_early(socket, session, writes_early, turn);
        self.exchange.deliver(bytes, shard, turn, early)
    }

    /// Goes on with what was held, once it may be delivered.
    #[inline]
    pub fn catch_up<S: Shard>(&mut self, worker: &mut Worker<S>) -> Fate {
        if !self.is_holding() || !self.may_deliver(worker) {
            return Fate::Alive;
        }
        let bytes = mem::take(&mut self.held.bytes);
        if !bytes.is_empty()
            && let Fate::Gone(why) = self.deliver(&bytes, worker)
        {
            return Fate::Gone(why);
        }
        match self.held.is_end && self.held.bytes.is_empty() && self.exchange.wants_to_read() {
            true => self.exchange.end(Ending::Peer, &worker.turn),
            false => Fate::Alive,
        }
    }

    /// The kernel reads no more.
    pub fn receiving_ended<S: Shard>(&mut self, end: End, worker: &mut Worker<S>) -> Fate {
        if let Some(broken) = self.broken {
            return Fate::Gone(Closed::Failed(broken.into()));
        }
        match end {
            End::Interrupted => Fate::Alive,
            End::Failed(error) => Fate::Gone(Closed::Failed(error.into())),
            End::Peer if self.is_holding() || self.exchange.is_paused() => {
                self.held.is_end = true;
                Fate::Alive
            }
            End::Peer => self.exchange.end(Ending::Peer, &worker.turn),
        }
    }

    /// Does what the shard has asked for, but for writing.
    #[inline]
    pub fn grant<S: Shard>(&mut self, wishes: Wishes, worker: &mut Worker<S>) -> Fate {
        if let Fate::Gone(why) = self.exchange.grant_end(wishes, &self.socket) {
            return Fate::Gone(why);
        }
        if wishes.resume
            && let Fate::Gone(why) = self.resume(worker)
        {
            return Fate::Gone(why);
        }
        match wishes.close {
            true => self.exchange.end(Ending::Us, &worker.turn),
            false => Fate::Alive,
        }
    }

    fn resume<S: Shard>(&mut self, worker: &mut Worker<S>) -> Fate {
        let writes_early = self.sending_since.is_none();
        let (socket, session) = (&self.socket, self.exchange.session);
        let early = |turn: &mut Turn| write_early(socket, session, writes_early, turn);
        let Worker { shard, turn, .. } = &mut *worker;
        match self.exchange.resume(shard, turn, early) {
            Fate::Alive => self.catch_up(worker),
            gone => gone,
        }
    }

    /// Hands what is in the output to the ring, unless a send is in flight.
    #[inline]
    pub fn write<S: Shard>(
        &mut self,
        turn_number: u64,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> Fate {
        let session = self.exchange.session;
        if self.exchange.connecting.is_some() || self.broken.is_some() {
            return Fate::Alive;
        }
        if self.sending_since.is_some() {
            worker.turn.promise_writable(session);
            return Fate::Alive;
        }
        let bytes = worker.turn.lend(session);
        if bytes.is_empty() {
            worker.turn.recycle(bytes);
            return self.exchange.ended();
        }
        self.sending_since = Some(turn_number);
        ring.send(session.index, &self.socket, bytes);
        Fate::Alive
    }

    /// The kernel has taken `taken` bytes of what was lent, and left `left`.
    #[inline]
    pub fn sent<S: Shard>(
        &mut self,
        (taken, left): (usize, usize),
        turn_number: u64,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> Fate {
        let session = self.exchange.session;
        self.blocked = left > 0;
        if left > 0 || self.sending_since != Some(turn_number) {
            worker.turn.promise_writable(session);
        }
        let is_all = worker.turn.settle_lent(session, taken);
        if left > 0 {
            self.exchange.drained &= !self.exchange.is_ending();
            ring.send_rest(session.index, &self.socket);
            return self.catch_up(worker);
        }
        self.sending_since = None;
        worker.turn.recycle(ring.take_lent(session.index));
        match is_all && self.exchange.is_ending() {
            true => self.exchange.ended(),
            false => self.catch_up(worker),
        }
    }

    /// The kernel has taken nothing.
    pub fn not_sent<S: Shard>(
        &mut self,
        error: Errno,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> Fate {
        let index = self.exchange.session.index;
        if matches!(error, Errno::AGAIN | Errno::INTR) {
            ring.send_rest(index, &self.socket);
            return Fate::Alive;
        }
        self.drop_lent(ring, worker);
        if !self.exchange.wants_to_read() {
            return Fate::Gone(Closed::Failed(error.into()));
        }
        self.hear_out(error, ring, worker)
    }

    /// The send that was in flight is over, whatever became of it.
    pub fn drop_lent<S: Shard>(&mut self, ring: &mut Ring, worker: &mut Worker<S>) {
        self.sending_since = None;
        let lent = ring.take_lent(self.exchange.session.index);
        worker.turn.recycle(lent);
    }

    /// Nothing can be written any more, but the peer's last words (why it went) may be on their
    /// way.
    #[cold]
    fn hear_out<S: Shard>(
        &mut self,
        error: Errno,
        ring: &mut Ring,
        worker: &mut Worker<S>,
    ) -> Fate {
        self.broken = Some(error);
        if let Fate::Gone(why) = self.catch_up(worker) {
            return Fate::Gone(why);
        }
        match self.receiving {
            Receiving::No => Fate::Gone(Closed::Failed(error.into())),
            Receiving::Ending => Fate::Alive,
            Receiving::Yes => {
                self.receiving = Receiving::Ending;
                ring.cancel(Operation::Receive(self.exchange.session.index));
                Fate::Alive
            }
        }
    }

    /// Forgets what was held: the shard has closed.
    pub fn forget_input(&mut self) {
        self.held = Held::default();
        self.blocked = false;
    }
}

/// Writes in the middle of what one read brought. What goes wrong is seen by the write that ends
/// the turn.
#[inline]
fn write_early(socket: &OwnedFd, session: Session, may_write: bool, turn: &mut Turn) {
    let bytes = turn.unwritten(session);
    if may_write
        && !bytes.is_empty()
        && let Ok(count) = kernel::send(socket, bytes)
    {
        turn.took(session, count);
    }
}
