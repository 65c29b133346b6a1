//! What the peer's windows hold back: which streams, in which order, and how much.

use crate::streams::{State, Stream, Streams};
use alloc::collections::VecDeque;

/// Streams that are gone may stand in the queue, up to as many as are alive and this number.
const STALE_MAX: usize = 64;

/// The streams of one connection that hold something back.
#[derive(Debug)]
pub(crate) struct Holding {
    /// In the order in which they get their turn.
    queue: VecDeque<Stream>,
    /// Streams in the queue that are gone.
    stale: usize,
    bytes: usize,
    moved_bytes: u64,
    max_bytes: usize,
}

impl Holding {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            stale: 0,
            bytes: 0,
            moved_bytes: 0,
            max_bytes,
        }
    }

    /// Octets that wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Octets that have waited and have gone out.
    pub fn moved_bytes(&self) -> u64 {
        self.moved_bytes
    }

    /// Whether more waits than may.
    pub fn is_too_much(&self) -> bool {
        self.bytes > self.max_bytes
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// That many octets have to wait.
    pub fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// That many octets go out.
    pub fn moved(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.moved_bytes += bytes as u64;
    }

    pub fn push(&mut self, stream: Stream) {
        self.queue.push_back(stream);
    }

    pub fn pop(&mut self) -> Option<Stream> {
        self.queue.pop_front()
    }

    /// Takes that stream out of the queue; false if it is not in it.
    pub fn take(&mut self, stream: Stream) -> bool {
        let at = self.queue.iter().position(|&other| other == stream);
        at.is_some_and(|at| self.queue.remove(at).is_some())
    }

    /// A stream is about to be freed, with what it holds back.
    #[cold]
    pub fn abandon(&mut self, state: &State) {
        self.bytes -= state.held_back_bytes();
        self.stale += 1;
    }

    /// Forgets streams that are gone, once they are as many as the others: so that it costs each of
    /// them one look.
    #[cold]
    pub fn tidy(&mut self, streams: &Streams) {
        if self.stale > self.queue.len() / 2 + STALE_MAX {
            self.queue.retain(|stream| streams.contains(*stream));
            self.stale = 0;
        }
    }
}
