//! Data that waits for the peer's windows: of which streams, in which order, and how much.

use crate::streams::{StreamKey, Streams};
use alloc::collections::VecDeque;

/// The streams of one connection that have data waiting.
#[derive(Debug)]
pub(crate) struct BlockedStreams {
    /// In the order of their turns. Some may have been reset since: removing each from the middle
    /// at once would be slow.
    queue: VecDeque<StreamKey>,
    /// How many streams in the queue have been reset.
    abandoned: usize,
    bytes: usize,
    /// Memory held for them, sent or not.
    held_bytes: usize,
    unblocked_bytes: u64,
    max_bytes: usize,
}

impl BlockedStreams {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            abandoned: 0,
            bytes: 0,
            held_bytes: 0,
            unblocked_bytes: 0,
            max_bytes,
        }
    }

    /// Bytes that wait now.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory held for bytes that wait, and for those of the same streams that have gone out.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The memory of a stream's waiting bytes has changed from `before_bytes` to `now_bytes`.
    pub fn note_held(&mut self, before_bytes: usize, now_bytes: usize) {
        self.held_bytes = self.held_bytes + now_bytes - before_bytes;
    }

    /// No stream is left: gives back the queue's memory.
    pub fn give_back(&mut self) {
        debug_assert!(self.is_empty());
        self.queue = VecDeque::new();
        self.abandoned = 0;
    }

    /// Memory held for the queue itself.
    pub fn queue_bytes(&self) -> usize {
        self.queue.capacity() * size_of::<StreamKey>()
    }

    /// Bytes that had to wait and have since gone out.
    pub fn unblocked_bytes(&self) -> u64 {
        self.unblocked_bytes
    }

    /// Whether more bytes wait than are allowed to.
    pub fn is_too_much(&self) -> bool {
        self.bytes > self.max_bytes
    }

    /// Whether no stream waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.len() == self.abandoned
    }

    /// Number of streams in the queue, including those that have been reset.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Counts bytes that have to wait.
    pub fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Counts bytes that go out after waiting.
    pub fn moved(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.unblocked_bytes += bytes as u64;
    }

    /// Puts a stream at the end of the queue.
    pub fn push(&mut self, stream: StreamKey) {
        self.queue.push_back(stream);
    }

    pub fn pop(&mut self) -> Option<StreamKey> {
        self.queue.pop_front()
    }

    /// Removes a stream from the queue; false if it is not in it.
    pub fn take(&mut self, stream: StreamKey) -> bool {
        let at = self.queue.iter().position(|&other| other == stream);
        at.is_some_and(|at| self.queue.remove(at).is_some())
    }

    /// A stream has ended with `bytes` still waiting. Its turn may never come, so ended streams are
    /// removed from the queue once they are more than half of it.
    #[cold]
    pub fn abandon(&mut self, bytes: usize, streams: &Streams) {
        self.bytes -= bytes;
        self.abandoned += 1;
        if self.abandoned > self.queue.len() / 2 {
            self.queue.retain(|&stream| streams.contains(stream));
            self.abandoned = 0;
        }
    }

    /// [`BlockedStreams::pop`] has returned a stream that had ended.
    pub fn gone(&mut self) {
        self.abandoned -= 1;
    }
}
