//! What every driver keeps about a connection, however its bytes are moved.

use crate::context::{IoContext, PendingOps};
use crate::kernel::{self, TryGrow};
use crate::shard::{AfterRead, Closed, ConnectionId, Received, Shard};
use crate::socket;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::io;
use std::mem;
use std::ops::ControlFlow;

/// What one read can bring, and the largest piece of input a shard may ask to see whole.
///
/// A quarter of a MiB holds a thousand small calls, stays in a core's second-level cache and is the
/// point beyond which larger reads bought nothing. There is one a thread, shared by its
/// connections.
pub const RECEIVE_BUFFER_BYTES: usize = 256 << 10;

/// How long a connection that we closed is read on, and what comes dropped, so that the kernel does
/// not answer late bytes of the peer with a reset that would overtake our last ones. nginx waits
/// 5 s between two reads; a benchmark's peers answer in a round trip.
pub(crate) const LINGER_NS: u64 = 1_000_000_000;

/// A connection between two partial frames keeps this much; 10,000 of them keep 5 MiB.
const LEFTOVER_CAPACITY_KEPT: usize = 512;

/// The buffer of leftover input has at most this multiple of its length, or that capacity.
const LEFTOVER_SPARE: usize = 4;

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub id: ConnectionId,
    /// The token, while the connect is in progress.
    pub connecting: Option<u64>,
    paused: bool,
    ending: Option<ClosedBy>,
    /// The last read took all there was, and reads have not been put off since (or what has not
    /// been read does not matter any more).
    pub drained: bool,
    leftover: Vec<u8>,
}

/// Which end closes a connection that still has output to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedBy {
    Peer,
    Us,
}

/// Whether a connection goes on, or is gone and why.
pub(crate) type ConnectionStatus = ControlFlow<Closed>;

impl ConnectionState {
    pub fn new(id: ConnectionId, connecting: Option<u64>) -> Self {
        Self { id, connecting, paused: false, ending: None, drained: true, leftover: Vec::new() }
    }

    /// Whether to read, as far as the shard and the peer are concerned.
    #[inline]
    pub fn wants_to_read(&self) -> bool {
        self.connecting.is_none() && self.ending.is_none() && !self.paused
    }

    #[cfg(feature = "uring")]
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether closing the socket now might have the kernel answer with a reset, which can overtake
    /// the last bytes written.
    pub fn may_have_unread_bytes(&self) -> bool {
        !self.drained && self.connecting.is_none()
    }

    #[inline]
    pub fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether we close it once its output is written.
    #[inline]
    pub fn is_ours_to_end(&self) -> bool {
        self.ending == Some(ClosedBy::Us)
    }

    /// What the shard has not used up of what it was presented.
    #[inline]
    pub fn leftover(&self) -> &[u8] {
        &self.leftover
    }

    /// The reason as the shard gets it: a connection that never opened ends with its token.
    pub fn reason_for_shard(&self, why: Closed) -> Closed {
        match (self.connecting, why) {
            (None, why) => why,
            (Some(token), Closed::Failed(error)) => Closed::NotConnected(token, error),
            (Some(token), _) => Closed::NotConnected(token, socket::given_up()),
        }
    }

    /// Presents bytes, which begin with what was left over, to the shard and keeps what it leaves
    /// over now. `write_early` writes in the middle of it.
    #[inline(always)]
    pub fn deliver<S: Shard>(
        &mut self,
        bytes: &[u8],
        shard: &mut S,
        io: &mut IoContext,
        write_early: impl FnMut(&mut IoContext),
    ) -> ConnectionStatus {
        let received = shard.received(self.id, bytes, io);
        if received.consumed >= bytes.len() && received.after == AfterRead::Continue {
            self.keep_nothing();
            return ConnectionStatus::Continue(());
        }
        self.deliver_rest(bytes, received, shard, io, write_early)
    }

    /// Goes on after a call for the first of these bytes.
    fn deliver_rest<S: Shard>(
        &mut self,
        bytes: &[u8],
        first: Received,
        shard: &mut S,
        io: &mut IoContext,
        write_early: impl FnMut(&mut IoContext),
    ) -> ConnectionStatus {
        let (rest, after) = self.offer_rest(bytes, first, shard, io, write_early);
        if let Err(error) = self.keep(rest) {
            return ConnectionStatus::Break(Closed::Failed(error.into()));
        }
        match after {
            AfterRead::Continue | AfterRead::Again if rest.len() == RECEIVE_BUFFER_BYTES => {
                ConnectionStatus::Break(stuck())
            }
            AfterRead::Continue | AfterRead::Again => ConnectionStatus::Continue(()),
            AfterRead::Pause => {
                self.paused = true;
                self.drained = false;
                ConnectionStatus::Continue(())
            }
            AfterRead::Close => self.end(ClosedBy::Us, io),
            AfterRead::LingeringClose => {
                // The peer may be saying more than what was read.
                self.drained = false;
                self.end(ClosedBy::Us, io)
            }
        }
    }

    /// Hands over the bytes until the shard wants no more of them. Returns what is left.
    #[inline]
    fn offer_rest<'a, S: Shard>(
        &self,
        bytes: &'a [u8],
        first: Received,
        shard: &mut S,
        io: &mut IoContext,
        mut write_early: impl FnMut(&mut IoContext),
    ) -> (&'a [u8], AfterRead) {
        let mut rest = bytes;
        let mut received = first;
        loop {
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.after != AfterRead::Again || !goes_on {
                return (rest, received.after);
            }
            write_early(io);
            received = shard.received(self.id, rest, io);
        }
    }

    #[inline]
    fn keep(&mut self, rest: &[u8]) -> Result<(), Errno> {
        if rest.is_empty() {
            self.keep_nothing();
            return Ok(());
        }
        self.leftover.clear();
        let worth_keeping_bytes = LEFTOVER_CAPACITY_KEPT.max(rest.len()) * LEFTOVER_SPARE;
        if self.leftover.capacity() > worth_keeping_bytes {
            self.leftover = Vec::new();
        }
        // The peer says how long its frames are.
        self.leftover.try_grow(rest.len())?;
        self.leftover.extend_from_slice(rest);
        Ok(())
    }

    #[inline]
    fn keep_nothing(&mut self) {
        self.leftover.clear();
        if self.leftover.capacity() > LEFTOVER_CAPACITY_KEPT {
            self.leftover = Vec::new();
        }
    }

    /// Goes on reading, first with what was left over when the shard paused.
    pub fn resume<S: Shard>(
        &mut self,
        shard: &mut S,
        io: &mut IoContext,
        write_early: impl FnMut(&mut IoContext),
    ) -> ConnectionStatus {
        if !mem::take(&mut self.paused) || self.leftover.is_empty() {
            return ConnectionStatus::Continue(());
        }
        let leftover = mem::take(&mut self.leftover);
        self.deliver(&leftover, shard, io, write_early)
    }

    /// Ends a connection at once where the shard asked for that: before its connect has ended, or
    /// with a reset.
    #[inline]
    pub fn apply_end(&mut self, pending: PendingOps, socket: impl AsFd) -> ConnectionStatus {
        if pending.close && self.connecting.is_some() {
            return ConnectionStatus::Break(Closed::Us);
        }
        if pending.abort {
            self.drained = true;
            // Where that is refused the socket closes in the ordinary way.
            let _ = kernel::reset_on_close(socket);
            return ConnectionStatus::Break(Closed::Us);
        }
        ConnectionStatus::Continue(())
    }

    /// Reads no more; the connection is gone once the output is written.
    pub fn end(&mut self, ending: ClosedBy, io: &IoContext) -> ConnectionStatus {
        let ending = *self.ending.get_or_insert(ending);
        if io.has_output(self.id) {
            ConnectionStatus::Continue(())
        } else {
            ConnectionStatus::Break(ending.into())
        }
    }

    /// The output is written: a connection that was only waiting for that is gone.
    #[inline]
    pub fn ended(&self) -> ConnectionStatus {
        self.ending
            .map_or(ConnectionStatus::Continue(()), |ending| ConnectionStatus::Break(ending.into()))
    }
}

impl From<ClosedBy> for Closed {
    fn from(ending: ClosedBy) -> Self {
        match ending {
            ClosedBy::Peer => Self::Peer,
            ClosedBy::Us => Self::Us,
        }
    }
}

/// A full buffer of which the shard can use nothing will never become usable.
fn stuck() -> Closed {
    let text = "the receive buffer is full and nothing in it can be used";
    Closed::Failed(io::Error::new(io::ErrorKind::InvalidData, text))
}
