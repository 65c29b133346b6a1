//! What a connection may do only so often or so late.

mod lapses;

use std::collections::VecDeque;

use bookend_io::ConnectionId;

use crate::limits::Rate;

pub(crate) use lapses::{Lapse, Lapses, Signs};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Tokens, one for each event, that fill up with time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit: Option<Rate>,
    /// When it was, or would have been, full: a bucket that needs one number.
    full_at_ns: u64,
}

impl Budget {
    pub fn new(limit: Option<Rate>) -> Self {
        Budget {
            limit,
            full_at_ns: 0,
        }
    }

    /// Takes a token for each of so many events; false, and none is taken, if there are too few.
    pub fn take(&mut self, events: u32, now_ns: impl FnOnce() -> u64) -> bool {
        let Some(limit) = self.limit else { return true };
        let now_ns = now_ns();
        let token_ns = NS_PER_SECOND / u64::from(limit.per_second.max(1));
        let full_at_ns = self.full_at_ns.max(now_ns) + token_ns * u64::from(events);
        let allowed = full_at_ns - now_ns <= token_ns * u64::from(limit.burst);
        if allowed {
            self.full_at_ns = full_at_ns;
        }
        allowed
    }
}

/// Connections that have not greeted yet, in the order in which their time runs out.
#[derive(Debug, Default)]
pub(crate) struct Greetings {
    waiting: VecDeque<(u64, ConnectionId)>,
}

impl Greetings {
    pub fn add(&mut self, deadline_ns: u64, id: ConnectionId) {
        self.waiting.push_back((deadline_ns, id));
    }

    /// When the first one's time runs out.
    pub fn next_deadline(&self) -> Option<u64> {
        self.waiting.front().map(|(deadline_ns, _)| *deadline_ns)
    }

    /// Forgets those in front that need not be waited for any more.
    pub fn forget(&mut self, mut is_settled: impl FnMut(ConnectionId) -> bool) {
        while self.waiting.front().is_some_and(|(_, id)| is_settled(*id)) {
            self.waiting.pop_front();
        }
    }

    /// The next connection whose time has run out.
    pub fn take_due(&mut self, now_ns: u64) -> Option<ConnectionId> {
        self.next_deadline()
            .filter(|deadline_ns| *deadline_ns <= now_ns)?;
        self.waiting.pop_front().map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_a_rate() {
        let limit = Rate {
            burst: 3,
            per_second: 2,
        };
        let mut budget = Budget::new(Some(limit));
        let start_ns = 77 * NS_PER_SECOND;
        let mut taken = |after_ms: u64| budget.take(1, || start_ns + after_ms * 1_000_000);
        assert!(taken(0) && taken(0) && taken(0));
        assert!(!taken(0) && !taken(499));
        assert!(taken(500) && !taken(500));
        assert!(taken(60_000) && taken(60_000) && taken(60_000));
        assert!(!taken(60_000), "no more than a burst is saved up");
        assert!(budget.take(2, || start_ns + 61_000_000_000));
        assert!(!budget.take(2, || start_ns + 61_000_000_000));
    }

    #[test]
    fn without_a_limit_no_clock_is_read() {
        let mut budget = Budget::new(None);
        assert!(budget.take(1, || panic!("not needed")));
    }

    #[test]
    fn greetings_are_due_in_order_and_the_settled_are_forgotten() {
        let id = |index| ConnectionId {
            index,
            generation: 0,
        };
        let mut greetings = Greetings::default();
        for index in 0..3 {
            greetings.add(u64::from(index) * 10, id(index));
        }
        greetings.forget(|id| id.index == 0);
        assert_eq!(greetings.next_deadline(), Some(10));
        assert_eq!(greetings.take_due(9), None);
        assert_eq!(greetings.take_due(30), Some(id(1)));
        assert_eq!(greetings.take_due(30), Some(id(2)));
        assert_eq!(greetings.next_deadline(), None);
    }
}
