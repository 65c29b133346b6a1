//! A session as its shard sees it, whichever way its bytes come and go: what every driver does.

use crate::kernel::Grows;
use crate::shard::{Closed, Session, Shard, Then};
use crate::socket;
use crate::turn::{Turn, Wishes};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::io;
use std::mem;

/// What one read can bring, and the largest piece of input a shard may ask to see whole.
///
/// A quarter of a MiB holds a thousand small calls, stays in a core's second-level cache and is the
/// point beyond which larger reads bought nothing. There is one a thread, shared by its sessions.
pub const RECEIVE_BUFFER_BYTES: usize = 256 << 10;

/// How long a connection that we closed is read on, and what comes dropped, so that the kernel does
/// not answer late bytes of the peer with a reset that would overtake our last ones. nginx waits
/// 5 s between two reads; a benchmark's peers answer in a round trip.
pub(crate) const LINGER_NS: u64 = 1_000_000_000;

/// A session between two partial frames keeps this much; 10,000 of them keep 5 MiB.
const LEFTOVER_CAPACITY_KEPT: usize = 512;

/// A session and how far it is.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub session: Session,
    /// Asked for, not there yet: the token.
    pub connecting: Option<u64>,
    paused: bool,
    ending: Option<Ending>,
    /// The last read took all there was, and reads have not been put off since (or what has not
    /// been read does not matter any more).
    pub drained: bool,
    leftover: Vec<u8>,
}

/// Who ends a connection that still has output to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Peer,
    Us,
}

/// Whether a connection goes on.
#[must_use]
pub(crate) enum Fate {
    Alive,
    Gone(Closed),
}

impl Exchange {
    pub fn new(session: Session, connecting: Option<u64>) -> Self {
        Self {
            session,
            connecting,
            paused: false,
            ending: None,
            drained: true,
            leftover: Vec::new(),
        }
    }

    /// Whether the next bytes are wanted, as far as the shard and the peer are concerned.
    #[inline]
    pub fn wants_to_read(&self) -> bool {
        self.connecting.is_none() && self.ending.is_none() && !self.paused
    }

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
        self.ending == Some(Ending::Us)
    }

    /// What the shard has not used up of what it was presented.
    #[inline]
    pub fn leftover(&self) -> &[u8] {
        &self.leftover
    }

    /// What the shard is told: a connection that never opened ends with its token.
    pub fn told(&self, why: Closed) -> Closed {
        match (self.connecting, why) {
            (None, why) => why,
            (Some(token), Closed::Failed(error)) => Closed::NotConnected(token, error),
            (Some(token), _) => Closed::NotConnected(token, socket::given_up()),
        }
    }

    /// Presents bytes, which begin with what was left over, to the shard and keeps what it leaves
    /// over now. `write_early` writes in the middle of it.
    #[inline]
    pub fn deliver<S: Shard>(
        &mut self,
        bytes: &[u8],
        shard: &mut S,
        turn: &mut Turn,
        write_early: impl FnMut(&mut Turn),
    ) -> Fate {
        let (rest, then) = self.offer(bytes, shard, turn, write_early);
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
            Then::BreakOff => {
                // The peer may be saying more than what was read.
                self.drained = false;
                self.end(Ending::Us, turn)
            }
        }
    }

    /// Hands over the bytes until the shard wants no more of them. Returns what is left.
    #[inline]
    fn offer<'a, S: Shard>(
        &self,
        bytes: &'a [u8],
        shard: &mut S,
        turn: &mut Turn,
        mut write_early: impl FnMut(&mut Turn),
    ) -> (&'a [u8], Then) {
        let mut rest = bytes;
        loop {
            let received = shard.received(self.session, rest, turn);
            rest = &rest[received.consumed.min(rest.len())..];
            let goes_on = received.consumed > 0 && !rest.is_empty();
            if received.then != Then::Again || !goes_on {
                return (rest, received.then);
            }
            write_early(turn);
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
    pub fn resume<S: Shard>(
        &mut self,
        shard: &mut S,
        turn: &mut Turn,
        write_early: impl FnMut(&mut Turn),
    ) -> Fate {
        if !mem::take(&mut self.paused) || self.leftover.is_empty() {
            return Fate::Alive;
        }
        let leftover = mem::take(&mut self.leftover);
        self.deliver(&leftover, shard, turn, write_early)
    }

    /// Ends a session at once where the shard wishes that: before its connect has ended, or with a
    /// reset.
    #[inline]
    pub fn grant_end(&mut self, wishes: Wishes, socket: impl AsFd) -> Fate {
        if wishes.close && self.connecting.is_some() {
            return Fate::Gone(Closed::Us);
        }
        if wishes.abort {
            self.drained = true;
            socket::reset_on_close(socket);
            return Fate::Gone(Closed::Us);
        }
        Fate::Alive
    }

    /// Reads no more; the connection is gone once the output is written.
    pub fn end(&mut self, ending: Ending, turn: &Turn) -> Fate {
        let ending = *self.ending.get_or_insert(ending);
        match turn.has_output(self.session) {
            false => Fate::Gone(ending.into()),
            true => Fate::Alive,
        }
    }

    /// The output is written: was that what the connection still had to do?
    #[inline]
    pub fn ended(&self) -> Fate {
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
