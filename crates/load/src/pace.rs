//! When the next call may be made.
//!
//! The load is a closed loop: each connection keeps a fixed number of calls in flight, so the end
//! of one call makes room for the next. The pace says how many calls are left to make: all that fit
//! into a time, or a number. There is no open loop yet; its pace would answer the same question,
//! [`Pace::allowed`], from a schedule, whether or not calls have ended.

/// How many calls a worker may make, and how they are numbered.
#[derive(Debug)]
pub(crate) struct Pace {
    allowance: Allowance,
    next_number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// No calls: the run has not begun, or its window is over.
    Nothing,
    /// As many as there is room for until that time, nanoseconds.
    Until(u64),
    /// So many, whatever the time.
    Calls(u64),
}

impl Pace {
    /// The pace of worker `worker`, which makes no calls yet. No call of another worker has the
    /// number of one of its calls.
    pub fn new(worker: u32) -> Self {
        Self { allowance: Allowance::Nothing, next_number: u64::from(worker) << 40 }
    }

    /// From now on calls are made until `end_ns`; `u64::MAX` for no end.
    pub fn start(&mut self, end_ns: u64) {
        self.allowance = Allowance::Until(end_ns);
    }

    /// From now on so many calls are made, whatever the time: the end that
    /// [`Pace::start`] set no longer holds.
    pub fn limit(&mut self, calls: u64) {
        self.allowance = Allowance::Calls(calls);
    }

    /// No more calls are made.
    pub fn stop(&mut self) {
        self.allowance = Allowance::Nothing;
    }

    /// Calls that may be made now.
    #[inline]
    pub fn allowed(&self, now_ns: u64) -> u64 {
        match self.allowance {
            Allowance::Calls(calls) => calls,
            Allowance::Until(end_ns) if now_ns < end_ns => u64::MAX,
            Allowance::Until(_) | Allowance::Nothing => 0,
        }
    }

    /// Whether there are calls left to make, without regard to the time.
    pub fn has_calls_left(&self) -> bool {
        !matches!(self.allowance, Allowance::Nothing | Allowance::Calls(0))
    }

    /// So many of the calls that were allowed have been made.
    #[inline]
    pub fn made(&mut self, calls: u64) {
        if let Allowance::Calls(left) = &mut self.allowance {
            *left = left.saturating_sub(calls);
        }
    }

    /// The number of the next call, from which its payload and varying metadata are derived.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// So many numbers are in use.
    #[inline]
    pub fn advance_number(&mut self, calls: u64) {
        self.next_number += calls;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_calls_are_made_until_the_end_and_by_number_until_the_last() {
        let mut pace = Pace::new(0);
        assert_eq!((pace.allowed(0), pace.has_calls_left()), (0, false));
        pace.start(100);
        pace.made(5);
        assert_eq!((pace.allowed(99), pace.allowed(100)), (u64::MAX, 0));
        assert!(pace.has_calls_left(), "time alone is up");
        pace.limit(3);
        pace.made(2);
        assert_eq!(pace.allowed(u64::MAX), 1);
        pace.made(1);
        assert_eq!((pace.allowed(0), pace.has_calls_left()), (0, false));
    }

    #[test]
    fn numbers_of_workers_do_not_meet() {
        let mut first = Pace::new(0);
        first.advance_number(1 << 39);
        assert!(first.next_number() < Pace::new(1).next_number());
    }
}
