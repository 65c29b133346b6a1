//! One socket and how far it is: what both drivers do with it.

use crate::kernel::{self, Grows};
use crate::shard::{Closed, Session, Shard, Then};
use crate::socket;
use crate::turn::{Turn, Wishes};
use crate::worker::Worker;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;

/// What one read can bring, and the largest piece of input a shard may ask to see whole.
///
/// A quarter of a MiB holds a thousand small calls, stays in a core's second-level cache and is the
/// point beyond which larger reads bought nothing. There is one a thread, shared by its sessions.
pub const RECEIVE_BUFFER_BYTES: usize = 256 << 10;

/// How long a connection that we closed is read on, and what comes dropped, so that the kernel does
/// not answer late bytes of the peer with a reset that would overtake our last ones. nginx waits
/// 5 s between two reads; a benchmark's peers answer in a round trip.
pub(crate) const LINGER_NS: u64 = 1_000_000_000;

/// Reads of a connection that cannot be written to. So many hold what the kernel does (6 MiB where
/// nobody has raised `tcp_rmem`); a peer that goes on sending does not keep the thread to itself.
const LAST_READS_MAX: usize = 32;

/// A session between two partial frames keeps this much; 10,000 of them keep 5 MiB.
const LEFTOVER_CAPACITY_KEPT: usize = 512;

/// A socket and how far it is.
#[derive(Debug)]
pub(crate) struct Connection {
    pub socket: OwnedFd,
    pub session: Session,
    /// Asked for, not there yet: the token.
    pub connecting: Option<u64>,
    /// The kernel did not take all output at the last try.
    pub blocked: bool,
    /// The last read took all there was, and reads have not been put off since (or what has not
    /// been read does not matter any more).
    drained: bool,
    paused: bool,
    ending: Option<Ending>,
    leftover: Vec<u8>,
}

/// Who ends a connection that still has output to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Peer,
    Us,
}

/// What the kernel says about a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// Reset, or closed in both directions.
    pub broken: bool,
}

/// What one read brought.
pub(crate) enum Read {
    /// So many bytes stand at the front of the buffer.
    Bytes(usize),
    /// Nothing has come.
    Nothing,
    /// The peer sends no more.
    End,
    /// The network failed.
    Failed(Errno),
}

/// Whether a connection goes on.
#[must_use]
pub(crate) enum Fate {
    Alive,
    Gone(Closed),
}

impl Connection {
    pub fn new(socket: OwnedFd, session: Session, connecting: Option<u64>) -> Self {
        Self {
            socket,
            session,
            connecting,
            blocked: false,
            drained: true,
            paused: false,
            ending: None,
            leftover: Vec::new(),
        }
    }

    /// Whether the next bytes are wanted.
    #[inline]
    pub fn wants_to_read(&self, turn: &Turn, backlog_limit_bytes: usize) -> bool {
        let idle = self.connecting.is_none() && self.ending.is_none() && !self.paused;
        idle && (!self.blocked || turn.unwritten(self.session).len() <= backlog_limit_bytes)
    }

    /// Whether the socket is to say when it can be written.
    #[inline]
    pub fn wants_to_write(&self) -> bool {
        self.blocked || self.connecting.is_some()
    }

    /// Writes and reads, once each, as far as the socket lets it.
    #[inline]
    pub fn advance<S: Shard>(&mut self, ready: Readiness, worker: &mut Worker<S>) -> Fate {
        if self.blocked
            && ready.writable
            && let Fate::Gone(why) = self.write(worker)
        {
            return Fate::Gone(why);
        }
        if self.wants_to_read(&worker.turn, worker.options.backlog_limit_bytes) {
            if !ready.readable && !ready.broken {
                return Fate::Alive;
            }
            let read = self.read(&mut worker.buffer, RecvFlags::DONTWAIT, &mut worker.turn);
            worker.turn.begin();
            return self.handle(read, worker);
        }
        if ready.broken {
            return Fate::Gone(Closed::Failed(socket::pending_error(&self.socket)));
        }
        Fate::Alive
    }

    /// Does what the shard has asked for, and writes what is in the output.
    #[inline]
    pub fn grant<S: Shard>(&mut self, wishes: Wishes, worker: &mut Worker<S>) -> Fate {
        if wishes.close && self.connecting.is_some() {
            return Fate::Gone(Closed::Us);
        }
        if wishes.abort {
            self.drained = true;
            socket::reset_on_close(&self.socket);
            return Fate::Gone(Closed::Us);
        }
        if wishes.resume
            && let Fate::Gone(why) = self.resume(&mut worker.shard, &mut worker.turn)
        {
            return Fate::Gone(why);
        }
        if wishes.close
            && let Fate::Gone(why) = self.end(Ending::Us, &worker.turn)
        {
            return Fate::Gone(why);
        }
        if self.blocked {
            Fate::Alive
        } else {
            self.write(worker)
        }
    }

    /// What the shard is told: a connection that never opened ends with its token.
    pub fn told(&self, why: Closed) -> Closed {
        match (self.connecting, why) {
            (None, why) => why,
            (Some(token), Closed::Failed(error)) => Closed::NotConnected(token, error),
            (Some(token), _) => Closed::NotConnected(token, socket::given_up()),
        }
    }

    /// Whether closing the socket now might have the kernel answer with a reset, which can overtake
    /// the last bytes written.
    pub fn may_have_unread_bytes(&self) -> bool {
        !self.drained && self.connecting.is_none()
    }

    /// Reads once, behind what the last call left over.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8], flags: RecvFlags, turn: &mut Turn) -> Read {
        let kept = self.leftover.len();
        buffer[..kept].copy_from_slice(&self.leftover);
        let space = &mut buffer[kept..];
        let space_bytes = space.len();
        match kernel::receive(&self.socket, space, flags) {
            Ok(0) => Read::End,
            Ok(count) => {
                self.drained = count < space_bytes;
                turn.statistics.reads += 1;
                turn.statistics.received_bytes += count as u64;
                Read::Bytes(kept + count)
            }
            Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
            Err(error) => Read::Failed(error),
        }
    }

    /// Acts on a read.
    #[inline]
    pub fn handle<S: Shard>(&mut self, read: Read, worker: &mut Worker<S>) -> Fate {
        let Worker {
            shard,
            turn,
            buffer,
            ..
        } = worker;
        match read {
            Read::Bytes(count) => self.deliver(&buffer[..count], shard, turn),
            Read::Nothing => Fate::Alive,
            Read::End => self.end(Ending::Peer, turn),
            Read::Failed(error) => Fate::Gone(Closed::Failed(error.into())),
        }
    }

    /// Presents bytes to the shard and keeps what it leaves over.
    #[inline]
    fn deliver<S: Shard>(&mut self, bytes: &[u8], shard: &mut S, turn: &mut Turn) -> Fate {
        let (rest, then) = self.offer(bytes, shard, turn);
        if let Err(error) = self.keep(rest) {
            return Fate::Gone(Closed::Failed(error.into()));
        }
        match then {
            Then::Continue | Then::Again if rest.len() == RECEIVE_BUFFER_BYTES => {
                Fate::Gone(stuck())
            }
            Then::Continue | Then::Again => Fate::Alive,
            Then::Pause => {
                self.paused = true;
                self.drained = false;
                Fate::Alive
            }
            Then::Close => self.end(Ending::Us, turn),
        }
    }

    /// Hands over the bytes until the shard wants no more of them. Returns what is left.
    #[inline]
    fn offer<'a, S: Shard>(
        &mut self,
        bytes: &'a [u8],
        shard: &mut S,
        turn: &mut Turn,
    ) -> (&'a [u8], Then) {
        let mut rest = bytes;
        loop {
            let received = shard.received(self.session, rest, turn);
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.then != Then::Again || !goes_on {
                return (rest, received.then);
            }
            self.write_early(turn);
        }
    }

    #[inline]
    fn keep(&mut self, rest: &[u8]) -> Result<(), Errno> {
        self.leftover.clear();
        if !rest.is_empty() {
            // The peer says how long its frames are.
            self.leftover.try_grow(rest.len())?;
            self.leftover.extend_from_slice(rest);
        } else if self.leftover.capacity() > LEFTOVER_CAPACITY_KEPT {
            self.leftover = Vec::new();
        }
        Ok(())
    }

    /// Goes on reading, first with what was left over when the shard paused.
    fn resume<S: Shard>(&mut self, shard: &mut S, turn: &mut Turn) -> Fate {
        if !self.paused {
            return Fate::Alive;
        }
        self.paused = false;
        if self.leftover.is_empty() {
            return Fate::Alive;
        }
        let leftover = std::mem::take(&mut self.leftover);
        self.deliver(&leftover, shard, turn)
    }

    /// Reads no more; the connection is gone once the output is written.
    fn end(&mut self, ending: Ending, turn: &Turn) -> Fate {
        let ending = *self.ending.get_or_insert(ending);
        match turn.unwritten(self.session) {
            [] => Fate::Gone(ending.into()),
            _ => Fate::Alive,
        }
    }

    /// Writes in the middle of what one read brought. What goes wrong is seen by the write that
    /// ends the turn.
    #[inline]
    fn write_early(&mut self, turn: &mut Turn) {
        let bytes = turn.unwritten(self.session);
        if !bytes.is_empty()
            && !self.blocked
            && let Ok(count) = kernel::send(&self.socket, bytes)
        {
            self.blocked = !turn.took(self.session, count);
        }
    }

    /// Writes once what is in the output.
    #[inline]
    pub fn write<S: Shard>(&mut self, worker: &mut Worker<S>) -> Fate {
        if self.connecting.is_some() {
            return Fate::Alive;
        }
        let turn = &mut worker.turn;
        let bytes = turn.unwritten(self.session);
        if bytes.is_empty() {
            turn.reclaim(self.session);
            return self.ended();
        }
        let sent = match self.ending {
            Some(Ending::Us) => kernel::send_before_close(&self.socket, bytes),
            _ => kernel::send(&self.socket, bytes),
        };
        match sent {
            Ok(count) => self.blocked = !turn.took(self.session, count),
            Err(Errno::AGAIN | Errno::INTR) => self.blocked = true,
            Err(error) => return self.hear_out(error, worker),
        }
        if self.blocked {
            self.drained &= self.ending.is_none();
            turn.promise_writable(self.session);
            return Fate::Alive;
        }
        self.ended()
    }

    /// Nothing can be written any more, but the peer's last words (why it went) may wait.
    #[cold]
    fn hear_out<S: Shard>(&mut self, error: Errno, worker: &mut Worker<S>) -> Fate {
        for _ in 0..LAST_READS_MAX {
            if self.ending.is_some() || self.paused {
                break;
            }
            match self.read(&mut worker.buffer, RecvFlags::DONTWAIT, &mut worker.turn) {
                Read::Bytes(count) => {
                    let Worker {
                        shard,
                        turn,
                        buffer,
                        ..
                    } = worker;
                    if let Fate::Gone(why) = self.deliver(&buffer[..count], shard, turn) {
                        return Fate::Gone(why);
                    }
                }
                Read::Nothing | Read::End | Read::Failed(_) => break,
            }
        }
        Fate::Gone(Closed::Failed(error.into()))
    }

    /// The output is written: was that what the connection still had to do?
    #[inline]
    fn ended(&self) -> Fate {
        self.ending
            .map_or(Fate::Alive, |ending| Fate::Gone(ending.into()))
    }
}

impl From<Ending> for Closed {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Peer => Self::Peer,
            Ending::Us => Self::Us,
        }
    }
}

/// A whole buffer of which the shard can use nothing will not become more useful.
fn stuck() -> Closed {
    let text = "the receive buffer is full and nothing in it can be used";
    Closed::Failed(io::Error::new(io::ErrorKind::InvalidData, text))
}
