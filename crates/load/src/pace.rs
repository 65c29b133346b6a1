//! When the next call may be made.
//!
//! In a closed loop each connection keeps a fixed number of calls in flight, so that the end of one
//! call makes room for the next. The pace says how many calls are left to make: all that fit into a
//! time, or a number.
//!
//! In an open loop a [`RateSchedule`] says when each call is due, whether or not others have ended.
//! A call that finds no room when it is due waits for it, and its latency is counted from when it
//! was due all the same; the schedule waits for nothing.

mod arrivals;
mod part;
mod schedule;

pub use arrivals::ArrivalProcess;
pub(crate) use arrivals::Arrivals;
pub use part::Part;
pub use schedule::RateSchedule;

/// How many bits of a call's number are the call's place among those of its worker: a worker that
/// makes a million calls a second uses them up in twelve days.
const INDEX_BITS: u32 = 40;
/// How many bits of a worker's number are its place among those of its generator.
const WORKER_BITS: u32 = 12;

/// How many calls a worker may make, when, and how they are numbered.
#[derive(Debug)]
pub(crate) struct Pace {
    allowance: Allowance,
    next_number: u64,
    /// When calls are due, in an open loop.
    arrivals: Option<Arrivals>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// No calls: the run has not begun, or its window is over.
    Nothing,
    /// As many as there is room for until that time, nanoseconds.
    Until(u64),
    /// This number of calls, whatever the time.
    Calls(u64),
}

impl Pace {
    /// The pace of worker `worker` of generator `generator`, which makes no calls yet: in an open
    /// loop where there are arrivals, else in a closed one. No call of another worker has the
    /// number of one of its calls.
    pub fn new(generator: u32, worker: u32, arrivals: Option<Arrivals>) -> Self {
        let worker = u64::from(generator) << WORKER_BITS | u64::from(worker);
        let next_number = worker << INDEX_BITS;
        Self { allowance: Allowance::Nothing, next_number, arrivals }
    }

    /// From now, `start_ns`, on calls are made until `end_ns`; `u64::MAX` for no end.
    pub fn start(&mut self, start_ns: u64, end_ns: u64) {
        self.allowance = Allowance::Until(end_ns);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin(start_ns);
        }
    }

    /// From now on `calls` calls are made, whatever the time: the end that [`Pace::start`] set no
    /// longer holds.
    pub fn limit(&mut self, calls: u64) {
        self.allowance = Allowance::Calls(calls);
    }

    /// No more calls are made.
    pub fn stop(&mut self) {
        self.allowance = Allowance::Nothing;
    }

    /// Whether calls are made by a schedule.
    pub fn is_open_loop(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Calls of a closed loop that may be made now.
    #[inline]
    pub fn allowed(&self, now_ns: u64) -> u64 {
        if self.is_open_loop() {
            return 0;
        }
        match self.allowance {
            Allowance::Calls(calls) => calls,
            Allowance::Until(end_ns) if now_ns < end_ns => u64::MAX,
            Allowance::Until(_) | Allowance::Nothing => 0,
        }
    }

    /// When the next call of an open loop is due, nanoseconds; `u64::MAX` if no call is due.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        let Some(arrivals) = &self.arrivals else {
            return u64::MAX;
        };
        let due_ns = arrivals.due_ns();
        match self.allowance {
            Allowance::Nothing | Allowance::Calls(0) => u64::MAX,
            Allowance::Until(end_ns) if due_ns >= end_ns => u64::MAX,
            Allowance::Until(_) | Allowance::Calls(_) => due_ns,
        }
    }

    /// The call that is due next is made, or never will be.
    #[inline]
    pub fn pass_due_call(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.advance();
        }
        self.made(1);
    }

    /// Passes over all calls that are due before `end_ns`, and returns how many there were.
    pub fn pass_all_due_before(&mut self, end_ns: u64) -> u64 {
        let mut calls = 0;
        while self.due_ns() < end_ns {
            self.pass_due_call();
            calls += 1;
        }
        calls
    }

    /// Whether there are calls left to make, without regard to the time.
    pub fn has_calls_left(&self) -> bool {
        !matches!(self.allowance, Allowance::Nothing | Allowance::Calls(0))
    }

    /// `calls` of the calls that were allowed have been made.
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

    /// Marks `calls` more numbers as used.
    #[inline]
    pub fn advance_number(&mut self, calls: u64) {
        self.next_number += calls;
    }
}

/// The worker of the call with that number, and the call's place among those of the worker.
#[inline]
pub(crate) fn worker_and_index(number: u64) -> (u64, u64) {
    (number >> INDEX_BITS, number & ((1 << INDEX_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const MS: u64 = 1_000_000;

    fn a_thousand_a_second() -> Pace {
        let schedule = Arc::new(RateSchedule::constant(1_000.0));
        Pace::new(
            0,
            0,
            Some(Arrivals::new(schedule, ArrivalProcess::Even, 0, Part::default(), 0, 1)),
        )
    }

    #[test]
    fn by_time_calls_are_made_until_the_end_and_by_number_until_the_last() {
        let mut pace = Pace::new(0, 0, None);
        assert_eq!((pace.allowed(0), pace.has_calls_left()), (0, false));
        pace.start(0, 100);
        pace.made(5);
        assert_eq!((pace.allowed(99), pace.allowed(100)), (u64::MAX, 0));
        assert!(pace.has_calls_left(), "time alone is up");
        pace.limit(3);
        pace.made(2);
        assert_eq!(pace.allowed(u64::MAX), 1);
        pace.made(1);
        assert_eq!((pace.allowed(0), pace.has_calls_left()), (0, false));
        assert_eq!(pace.due_ns(), u64::MAX, "a closed loop has no schedule");
    }

    #[test]
    fn numbers_of_workers_do_not_meet() {
        let mut first = Pace::new(0, 0, None);
        first.advance_number(1 << 39);
        assert!(first.next_number() < Pace::new(0, 1, None).next_number());
        assert_eq!(worker_and_index(first.next_number()), (0, 1 << 39));
        assert_eq!(worker_and_index(Pace::new(0, 3, None).next_number()), (3, 0));
        assert_eq!(worker_and_index(Pace::new(2, 3, None).next_number()), (2 * 4096 + 3, 0));
    }

    #[test]
    fn an_open_loop_is_due_by_the_clock_and_allows_no_call_beside() {
        let mut pace = a_thousand_a_second();
        assert_eq!(pace.due_ns(), u64::MAX, "before the run");
        pace.start(7 * MS, 10 * MS);
        let mut due = Vec::new();
        while pace.due_ns() != u64::MAX {
            due.push(pace.due_ns());
            pace.pass_due_call();
        }
        assert_eq!(due, [7 * MS, 8 * MS, 9 * MS]);
        assert_eq!(pace.allowed(8 * MS), 0);
    }

    #[test]
    fn an_open_loop_by_number_ends_with_its_last_call() {
        let mut pace = a_thousand_a_second();
        pace.start(0, u64::MAX);
        pace.pass_due_call();
        pace.limit(2);
        assert_eq!(pace.pass_all_due_before(u64::MAX), 2);
        assert!(!pace.has_calls_left());
    }

    #[test]
    fn calls_that_are_passed_over_are_counted() {
        let mut pace = a_thousand_a_second();
        pace.start(0, 100 * MS);
        assert_eq!(pace.pass_all_due_before(20 * MS), 20);
        assert_eq!(pace.due_ns(), 20 * MS);
        assert_eq!(pace.pass_all_due_before(u64::MAX), 80);
    }
}
