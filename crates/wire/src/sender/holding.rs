//! What the peer's windows hold back: which streams, in which order, and how much.

use crate::streams::{Stream, Streams};
use alloc::collections::VecDeque;

/// Streams in the queue of those that hold something back and have ended, beyond as many as are
/// alive, before they are swept out: 8 KiB.
pub(super) const STALE_MAX: usize = 1_024;

/// The streams of one connection that hold something back.
#[derive(Debug)]
pub(crate) struct Holding {
    /// In the order in which they get their turn.
    queue: VecDeque<Stream>,
    bytes: usize,
    moved_bytes: u64,
    max_bytes: usize,
}

impl Holding {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            queue: VecDeque::new(),
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

    /// Puts a stream at the end of the queue. Streams that are reset while they wait stay in it until
    /// their turn, which may never come: once they are more than those alive, they are swept out.
    pub fn push(&mut self, stream: Stream, streams: &Streams) {
        self.queue.push_back(stream);
        if self.queue.len() > 2 * streams.len() + STALE_MAX {
            self.queue.retain(|&stream| streams.contains(stream));
        }
    }

    pub fn pop(&mut self) -> Option<Stream> {
        self.queue.pop_front()
    }

    /// Takes that stream out of the queue; false if it is not in it.
    pub fn take(&mut self, stream: Stream) -> bool {
        let at = self.queue.iter().position(|&other| other == stream);
        at.is_some_and(|at| self.queue.remove(at).is_some())
    }

    /// A stream is gone that held back so much.
    pub fn abandon(&mut self, bytes: usize) {
        self.bytes -= bytes;
    }
}
