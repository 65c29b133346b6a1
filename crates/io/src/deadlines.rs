//! Deadlines: in any order (a heap), or all after the same time (a queue).

use crate::kernel::TryGrow;
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Resolution of a [`DeadlineHeap`]: everything due within a millisecond is handled together.
/// gRPC's clients count in milliseconds, and their own timers are no finer.
const TICK_NS: u64 = 1_000_000;

/// Stale deadlines that may accumulate, beyond twice those kept by the last sweep, before the next.
const STALE_MAX: usize = 1_024;

/// Deadlines in any order. The deadline of something that has ended stays until it is due or swept
/// out: removing each one singly would cost more than a sweep.
#[derive(Debug)]
pub struct DeadlineHeap<T> {
    heap: BinaryHeap<Reverse<(u64, T)>>,
    kept_by_sweep: usize,
}

impl<T: Ord> DeadlineHeap<T> {
    /// Adds a deadline.
    pub fn push(&mut self, at_ns: u64, value: T) {
        self.heap.push(Reverse((at_ns, value)));
    }

    /// When to look again: the first deadline, rounded up to a whole millisecond.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let Reverse((at_ns, _)) = self.heap.peek()?;
        Some(at_ns.div_ceil(TICK_NS).saturating_mul(TICK_NS))
    }

    /// Removes a value that is due by now; it may be stale.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<T> {
        let Reverse((at_ns, _)) = self.heap.peek()?;
        if *at_ns > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((_, value))| value)
    }

    /// Whether enough was added since the last sweep for the next one to be worth its cost.
    #[inline]
    pub fn needs_sweep(&self) -> bool {
        self.heap.len() > 2 * self.kept_by_sweep + STALE_MAX
    }

    /// Removes what no longer matters.
    pub fn sweep(&mut self, mut matters: impl FnMut(&T) -> bool) {
        self.heap.retain(|Reverse((_, value))| matters(value));
        self.kept_by_sweep = self.heap.len();
    }
}

impl<T: Ord> Default for DeadlineHeap<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), kept_by_sweep: 0 }
    }
}

/// Timeouts of equal length, which therefore come in order.
#[derive(Debug)]
pub struct TimeoutQueue<T>(VecDeque<(u64, T)>);

impl<T: Copy> TimeoutQueue<T> {
    /// Adds a timeout, no earlier than those before it.
    pub fn push(&mut self, at_ns: u64, value: T) {
        self.0.push_back((at_ns, value));
    }

    /// Like [`TimeoutQueue::push`], if there is memory for it.
    pub(crate) fn try_push(&mut self, at_ns: u64, value: T) -> Result<(), Errno> {
        self.0.try_grow(1)?;
        self.push(at_ns, value);
        Ok(())
    }

    /// Whether no deadline is set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first timeout.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.0.front().map(|(at_ns, _)| *at_ns)
    }

    /// Removes stale timeouts from the front.
    #[inline]
    pub fn forget_over(&mut self, mut is_over: impl FnMut(T) -> bool) {
        while self.0.front().is_some_and(|(_, value)| is_over(*value)) {
            self.0.pop_front();
        }
    }

    /// Removes the first value if it is due by now; it may be stale.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<T> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.0.pop_front().map(|(_, value)| value)
    }
}

impl<T> Default for TimeoutQueue<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_due_in_the_order_of_their_deadlines() {
        let mut deadlines = DeadlineHeap::default();
        for at_ns in [30, 10, 20] {
            deadlines.push(at_ns, at_ns);
        }
        assert_eq!(deadlines.pop_due(9), None);
        let due: Vec<u64> = std::iter::from_fn(|| deadlines.pop_due(20)).collect();
        assert_eq!(due, [10, 20]);
    }

    #[test]
    fn deadlines_of_one_tick_are_looked_at_together_and_never_too_early() {
        let mut deadlines = DeadlineHeap::default();
        deadlines.push(3 * TICK_NS + 7, "first");
        assert_eq!(deadlines.next_ns(), Some(4 * TICK_NS));
        deadlines.push(2 * TICK_NS, "second");
        assert_eq!(deadlines.next_ns(), Some(2 * TICK_NS));
    }

    #[test]
    fn what_is_over_is_swept_out_and_sweeping_stays_cheap() {
        let mut deadlines = DeadlineHeap::default();
        let (mut added, mut looked_at) = (0_u64, 0_u64);
        for waiting in [1, 100_000] {
            for _ in 0..500_000 {
                deadlines.push(u64::MAX - added, added);
                added += 1;
                if deadlines.needs_sweep() {
                    deadlines.sweep(|&number| {
                        looked_at += 1;
                        number >= added - waiting.min(added)
                    });
                }
                assert!(deadlines.heap.len() <= 2 * waiting as usize + STALE_MAX + 1);
            }
        }
        assert!(looked_at <= 3 * added, "{looked_at}");
        let kept = std::iter::from_fn(|| deadlines.pop_due(u64::MAX));
        assert!(kept.into_iter().any(|number| number == added - 1));
    }

    #[test]
    fn timeouts_are_due_in_order_and_those_that_are_over_are_forgotten() {
        let mut timeouts = TimeoutQueue::default();
        for number in 0..3 {
            timeouts.push(number * 10, number);
        }
        timeouts.forget_over(|number| number == 0);
        assert_eq!(timeouts.next_ns(), Some(10));
        assert_eq!(timeouts.pop_due(9), None);
        assert_eq!(timeouts.pop_due(30), Some(1));
        assert_eq!(timeouts.pop_due(30), Some(2));
        assert_eq!(timeouts.next_ns(), None);
    }
}
