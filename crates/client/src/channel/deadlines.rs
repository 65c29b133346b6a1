//! When calls are given up.

use super::calls::Ticket;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How exactly deadlines are kept: calls are given up once a millisecond, all that are due
/// together, however many deadlines lie between.
const TICK_NS: u64 = 1_000_000;
/// Deadlines of calls that are over, beyond as many as still matter, before they are swept out.
const STALE_MAX: usize = 1_024;

/// The deadlines of all calls, and of some that are over: taking each one out as its call ends
/// would cost more than sweeping them out together.
#[derive(Debug, Default)]
pub(crate) struct Deadlines(BinaryHeap<Reverse<(u64, Ticket)>>);

impl Deadlines {
    pub fn add(&mut self, at_ns: u64, ticket: Ticket) {
        self.0.push(Reverse((at_ns, ticket)));
    }

    /// When to look again.
    pub fn next(&self) -> Option<u64> {
        let Reverse((at_ns, _)) = self.0.peek()?;
        Some(at_ns.div_ceil(TICK_NS).saturating_mul(TICK_NS))
    }

    /// A call that may be due by now, if it is not over.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Ticket> {
        let Reverse((at_ns, _)) = self.0.peek()?;
        if *at_ns > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse((_, ticket))| ticket)
    }

    /// Forgets calls that are over, once they are more than those that matter.
    #[inline]
    pub fn sweep(&mut self, mattering: usize, mut matters: impl FnMut(Ticket) -> bool) {
        if self.0.len() > 2 * mattering + STALE_MAX {
            self.0.retain(|Reverse((_, ticket))| matters(*ticket));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(index: u32) -> Ticket {
        Ticket {
            index,
            generation: 0,
        }
    }

    #[test]
    fn calls_come_due_in_the_order_of_their_deadlines() {
        let mut deadlines = Deadlines::default();
        for (at_ns, index) in [(30, 3), (10, 1), (20, 2)] {
            deadlines.add(at_ns, ticket(index));
        }
        assert_eq!(deadlines.take_due(9), None);
        let due: Vec<_> = std::iter::from_fn(|| deadlines.take_due(20)).collect();
        assert_eq!(due, [ticket(1), ticket(2)]);
    }

    #[test]
    fn deadlines_of_one_tick_are_looked_at_together_and_never_too_early() {
        let mut deadlines = Deadlines::default();
        deadlines.add(3 * TICK_NS + 7, ticket(1));
        assert_eq!(deadlines.next(), Some(4 * TICK_NS));
        deadlines.add(2 * TICK_NS, ticket(2));
        assert_eq!(deadlines.next(), Some(2 * TICK_NS));
    }

    #[test]
    fn what_is_over_is_swept_out() {
        let mut deadlines = Deadlines::default();
        for index in 0..100_000 {
            deadlines.add(u64::MAX - u64::from(index), ticket(index));
            deadlines.sweep(1, |kept| kept == ticket(7));
        }
        assert!(deadlines.0.len() <= STALE_MAX + 2);
        assert!(std::iter::from_fn(|| deadlines.take_due(u64::MAX)).any(|kept| kept == ticket(7)));
    }
}
