//! When calls are given up, and when connections have an appointment.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bookend_io::ConnectionId;
use bookend_wire::StreamKey;

/// How exactly deadlines are kept: what is due is looked at once a millisecond, all of it together,
/// however many deadlines lie between. Clients count in milliseconds, and their own timers are no
/// finer.
const TICK_NS: u64 = 1_000_000;

/// Deadlines of what is over, beyond as many as mattered when they were last swept out,
/// before that is done again.
const STALE_MAX: usize = 1_024;

/// The deadlines of what a thread has that waits for something, and of some that is over: to take
/// each one out as it ends would cost more than to sweep them out together.
#[derive(Debug)]
pub(crate) struct Deadlines<Whose> {
    heap: BinaryHeap<Reverse<Deadline<Whose>>>,
    mattered: usize,
}

/// When something is due, and whose it is. Ordered by the time alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline<Whose> {
    pub at_ns: u64,
    pub whose: Whose,
}

/// One call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallOf {
    pub id: ConnectionId,
    pub stream: StreamKey,
}

impl<Whose> Default for Deadlines<Whose> {
    fn default() -> Self {
        Deadlines {
            heap: BinaryHeap::new(),
            mattered: 0,
        }
    }
}

impl<Whose> Deadlines<Whose> {
    pub fn add(&mut self, deadline: Deadline<Whose>) {
        self.heap.push(Reverse(deadline));
    }

    /// When to look again.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        let Reverse(first) = self.heap.peek()?;
        Some(first.at_ns.div_ceil(TICK_NS).saturating_mul(TICK_NS))
    }

    /// What is due by now, if it is not over.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Deadline<Whose>> {
        let Reverse(first) = self.heap.peek()?;
        if first.at_ns > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(first)| first)
    }

    /// Whether so many were added since the last sweep that the next one is worth its cost.
    #[inline]
    pub fn are_to_be_swept(&self) -> bool {
        self.heap.len() > 2 * self.mattered + STALE_MAX
    }

    /// Forgets what is over.
    pub fn sweep(&mut self, mut matters: impl FnMut(&Deadline<Whose>) -> bool) {
        self.heap.retain(|Reverse(deadline)| matters(deadline));
        self.mattered = self.heap.len();
    }
}

impl<Whose> PartialEq for Deadline<Whose> {
    fn eq(&self, other: &Self) -> bool {
        self.at_ns == other.at_ns
    }
}

impl<Whose> Eq for Deadline<Whose> {}

impl<Whose> PartialOrd for Deadline<Whose> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Whose> Ord for Deadline<Whose> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_ns.cmp(&other.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(at_ns: u64, index: u32) -> Deadline<CallOf> {
        let id = ConnectionId {
            index: 0,
            generation: 0,
        };
        let stream = StreamKey { index, id: 1 };
        let whose = CallOf { id, stream };
        Deadline { at_ns, whose }
    }

    #[test]
    fn calls_come_due_in_the_order_of_their_deadlines() {
        let mut deadlines = Deadlines::default();
        for (at_ns, index) in [(30, 3), (10, 1), (20, 2)] {
            deadlines.add(deadline(at_ns, index));
        }
        assert_eq!(deadlines.take_due(9), None);
        let due = std::iter::from_fn(|| deadlines.take_due(20)).map(|due| due.whose.stream.index);
        assert_eq!(due.collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn deadlines_of_one_tick_are_looked_at_together_and_never_too_early() {
        let mut deadlines = Deadlines::default();
        deadlines.add(deadline(3 * TICK_NS + 7, 1));
        assert_eq!(deadlines.next(), Some(4 * TICK_NS));
        deadlines.add(deadline(2 * TICK_NS, 2));
        assert_eq!(deadlines.next(), Some(2 * TICK_NS));
    }

    #[test]
    fn what_is_over_is_swept_out_and_sweeping_stays_cheap() {
        let mut deadlines = Deadlines::default();
        let (mut added, mut looked_at) = (0_u64, 0_u64);
        for waiting in [1, 100_000] {
            for _ in 0..500_000 {
                deadlines.add(deadline(u64::MAX - added, 0));
                added += 1;
                if deadlines.are_to_be_swept() {
                    deadlines.sweep(|deadline| {
                        looked_at += 1;
                        u64::MAX - deadline.at_ns >= added - waiting.min(added)
                    });
                }
                assert!(deadlines.heap.len() <= 2 * waiting as usize + STALE_MAX + 1);
            }
        }
        assert!(looked_at <= 3 * added, "{looked_at}");
    }
}
