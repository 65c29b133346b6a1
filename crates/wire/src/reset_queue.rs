//! Streams that a client has given up and will reset, at a pace that no server takes for an attack
//! ([`ResetPace`]).

use crate::reset_pace::ResetPace;
use crate::{ErrorCode, Sender, StreamKey};
use alloc::collections::VecDeque;
use alloc::collections::vec_deque::Drain;

/// Streams that may wait for their reset before the connection should be replaced: resetting these
/// takes more than six seconds, while closing the connection ends all of them at once.
pub const RESETS_WAITING_MAX: usize = 32;

/// The streams of one connection that will be reset. A full queue takes no more: the client ignores
/// the streams beyond it, their windows stay shut, a server that respects `grpc-timeout` ends them
/// by itself, and the connection should be replaced.
#[derive(Debug)]
pub struct ResetQueue {
    pace: ResetPace,
    streams: VecDeque<StreamKey>,
    capacity: usize,
    has_overflowed: bool,
}

impl ResetQueue {
    /// A queue for `capacity` streams. It grows only as far as it is used.
    pub fn new(capacity: usize) -> Self {
        Self {
            pace: ResetPace::default(),
            streams: VecDeque::new(),
            capacity,
            has_overflowed: false,
        }
    }

    /// Queues a stream to be reset when its turn comes.
    pub fn add(&mut self, stream: StreamKey, sender: &Sender) {
        self.add_to(stream, |stream| sender.is_open(stream));
    }

    fn add_to(&mut self, stream: StreamKey, is_open: impl Fn(StreamKey) -> bool) {
        if self.streams.len() == self.capacity && !self.has_overflowed {
            self.streams.retain(|&stream| is_open(stream));
            self.has_overflowed = self.streams.len() == self.capacity;
        }
        if !self.has_overflowed {
            self.streams.push_back(stream);
        }
    }

    /// Resets the streams whose turn has come, and drops those that have ended.
    pub fn reset_due(&mut self, now_ns: u64, sender: &mut Sender) {
        for stream in self.take_due(now_ns, |stream| sender.is_open(stream)) {
            sender.reset(stream, ErrorCode::CANCEL);
        }
    }

    fn take_due(
        &mut self,
        now_ns: u64,
        is_open: impl Fn(StreamKey) -> bool,
    ) -> Drain<'_, StreamKey> {
        self.streams.retain(|&stream| is_open(stream));
        let due = self.streams.len().min(self.pace.allowed(now_ns) as usize);
        (0..due).for_each(|_| self.pace.spend());
        self.streams.drain(..due)
    }

    /// When the next reset is due, if any stream waits for one.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        (!self.streams.is_empty()).then(|| self.pace.next_ns())
    }

    /// Number of waiting streams, some of which may have ended meanwhile.
    #[inline]
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether no stream waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Whether more streams had to be reset than the queue takes: a new connection then costs the
    /// server less.
    #[inline]
    pub fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reset_pace::RESETS_AT_ONCE;
    use crate::{Connection, ConnectionConfig, Side};
    use alloc::vec::Vec;

    const SECOND_NS: u64 = 1_000_000_000;

    fn stream(number: u32) -> StreamKey {
        StreamKey { index: number, id: 2 * number + 1 }
    }

    fn queue_of(streams: u32) -> ResetQueue {
        let mut queue = ResetQueue::new(RESETS_WAITING_MAX);
        (0..streams).for_each(|number| queue.add_to(stream(number), |_| true));
        queue
    }

    fn count_due(queue: &mut ResetQueue, now_ns: u64) -> usize {
        queue.take_due(now_ns, |_| true).count()
    }

    #[test]
    fn no_window_of_thirty_seconds_sees_what_netty_forbids() {
        let mut queue = queue_of(0);
        let start_ns = 77 * SECOND_NS;
        let mut number = 0;
        let mut reset_all = |now_ns| {
            // Keep the queue full.
            while queue.len() < RESETS_WAITING_MAX {
                number += 1;
                queue.add_to(stream(number), |_| true);
            }
            count_due(&mut queue, now_ns)
        };
        assert_eq!(reset_all(start_ns), RESETS_AT_ONCE as usize);
        assert_eq!(reset_all(start_ns), 0);
        let later = (1..=300).map(|step| reset_all(start_ns + step * SECOND_NS / 10));
        assert_eq!(later.sum::<usize>(), 150);
        let after_a_pause = reset_all(u64::MAX);
        assert_eq!(after_a_pause, RESETS_AT_ONCE as usize, "a pause saves no more");
    }

    #[test]
    fn what_has_ended_by_itself_costs_nothing() {
        let mut queue = queue_of(30);
        let is_last = |open: StreamKey| open == stream(29);
        let due: Vec<_> = queue.take_due(SECOND_NS, is_last).collect();
        assert_eq!(due, [stream(29)]);
        assert_eq!(queue.pace.allowed(SECOND_NS), RESETS_AT_ONCE - 1);
        assert_eq!(queue.next_ns(), None);
    }

    #[test]
    fn many_that_are_still_open_call_for_a_new_connection() {
        let mut queue = queue_of(RESETS_WAITING_MAX as u32);
        queue.add_to(stream(100), |open| open != stream(7));
        assert!(!queue.has_overflowed(), "one has ended meanwhile");
        let mut queue = queue_of(100_000);
        assert!(queue.has_overflowed());
        assert_eq!(queue.len(), RESETS_WAITING_MAX);
        assert_eq!(count_due(&mut queue, SECOND_NS), RESETS_AT_ONCE as usize);
        assert!(queue.has_overflowed(), "those that were not kept are still open");
    }

    #[test]
    fn the_next_one_is_due_when_it_may_go_out() {
        let mut queue = queue_of(RESETS_AT_ONCE + 1);
        count_due(&mut queue, SECOND_NS);
        let due_ns = queue.next_ns().unwrap();
        assert_eq!(count_due(&mut queue, due_ns - 1), 0);
        assert_eq!(count_due(&mut queue, due_ns), 1);
    }

    #[test]
    fn streams_are_reset_and_those_that_have_ended_are_not() {
        let mut sender = Connection::new(Side::Client, &ConnectionConfig::trusted()).sender;
        let mut queue = ResetQueue::new(RESETS_WAITING_MAX);
        for _ in 0..20 {
            let stream = sender.open().unwrap();
            queue.add(stream, &sender);
        }
        let (first, last) = (queue.streams[0], queue.streams[19]);
        queue.reset_due(SECOND_NS, &mut sender);
        assert_eq!(queue.len(), 20 - RESETS_AT_ONCE as usize);
        assert!(!sender.is_open(first) && sender.is_open(last));
        for stream in queue.streams.clone() {
            sender.reset(stream, ErrorCode::NO_ERROR);
        }
        sender.output.clear();
        queue.reset_due(2 * SECOND_NS, &mut sender);
        assert_eq!((queue.len(), sender.output.len()), (0, 0));
    }
}
