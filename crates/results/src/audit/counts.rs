//! Whether both ends agree on the number of calls: one rule, which the lab checks as soon as a
//! server has ended, and the tables check for every record.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;

/// The contract asks for equal counts, and every difference is marked. Beyond this share the rows
/// are rejected: a server that is killed while its threads still add up their counts can miss a few
/// calls; one that does not count, or does not answer, is off by far more.
pub const COUNT_TOLERANCE: f64 = 0.01;

/// What all calling ends of one server know together about the calls of its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls that were answered: before, in and after a window, and the lab's own.
    pub answered: u64,
    /// Answered calls that ended OK in a window.
    pub ok: u64,
    /// Calls that may have been answered: failed ones, and those without an outcome at the end.
    pub uncertain: u64,
    /// Whether another caller made calls without reporting them.
    pub is_open: bool,
}

/// A `served N` that contradicts the counts of the calling ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountMismatch {
    /// The end that reported it.
    pub counter: Counter,
    /// Calls that this end reports as answered.
    pub served: u64,
    /// Calls that it must have answered.
    pub at_least: u64,
    /// Upper bound of the calls that it can have answered, where one is known.
    pub at_most: Option<u64>,
}

/// An end that counts the calls that it answers. `Display` prints `the server` or `the backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counter {
    /// The server that is called.
    Server,
    /// The process behind the server.
    Backend,
}

impl CallCounts {
    /// Answered calls that are not among `in_rows`. Of the uncertain calls, as many are included as
    /// the server reports.
    pub fn beyond(&self, in_rows: &Self, served: Option<u64>) -> u64 {
        let certain = self.answered.saturating_sub(in_rows.answered);
        let possible = certain + self.uncertain.saturating_sub(in_rows.uncertain);
        let told = served.map_or(certain, |served| served.saturating_sub(in_rows.answered));
        told.clamp(certain, possible)
    }

    /// Compares with the server's report: it must have answered every call that its callers saw
    /// answered, and no call that they do not know of.
    pub fn check(&self, served: u64) -> Option<CountMismatch> {
        let at_most = self.answered.saturating_add(self.uncertain);
        let at_most = (!self.is_open).then_some(at_most);
        let agrees = served >= self.answered && at_most.is_none_or(|at_most| served <= at_most);
        (!agrees).then_some(CountMismatch {
            counter: Counter::Server,
            served,
            at_least: self.answered,
            at_most,
        })
    }

    /// Compares with the backend's report. Calls that the server forwarded may still have failed,
    /// but no call can end OK without having reached the backend.
    pub fn check_backend(&self, served: u64) -> Option<CountMismatch> {
        (served < self.ok).then_some(CountMismatch {
            counter: Counter::Backend,
            served,
            at_least: self.ok,
            at_most: None,
        })
    }
}

impl AddAssign for CallCounts {
    fn add_assign(&mut self, other: Self) {
        // There may be any number of rows.
        *self = CallCounts {
            answered: self.answered.saturating_add(other.answered),
            ok: self.ok.saturating_add(other.ok),
            uncertain: self.uncertain.saturating_add(other.uncertain),
            is_open: self.is_open || other.is_open,
        };
    }
}

impl CountMismatch {
    /// Whether the difference is too large to trust the rows.
    pub fn exceeds_tolerance(&self) -> bool {
        let served = self.served as f64;
        let exceeds = |most| served > most as f64 * (1.0 + COUNT_TOLERANCE);
        served < self.at_least as f64 * (1.0 - COUNT_TOLERANCE) || self.at_most.is_some_and(exceeds)
    }
}

impl fmt::Display for CountMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self.counter {
            Counter::Server => "the other end knows",
            Counter::Backend => "its server answered OK",
        };
        write!(f, "{} served {}, {known} ", self.counter, self.served)?;
        match self.at_most {
            None => write!(f, "at least {}", self.at_least),
            Some(most) if most == self.at_least => write!(f, "{most}"),
            Some(most) => write!(f, "{} to {most}", self.at_least),
        }
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ")?;
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: CallCounts = CallCounts { answered: 1000, ok: 900, uncertain: 8, is_open: false };

    #[test]
    fn errors_and_unfinished_calls_may_have_been_served_or_not() {
        assert_eq!(KNOWN.check(1000), None);
        assert_eq!(KNOWN.check(1008), None);
        let mismatch = KNOWN.check(999).expect("a difference");
        let text = "the server served 999, the other end knows 1000 to 1008";
        assert_eq!(mismatch.to_string(), text);
        assert!(KNOWN.check(1009).is_some());
    }

    #[test]
    fn a_small_difference_is_marked_and_a_large_one_is_beyond_tolerance() {
        let exceeds = |served| KNOWN.check(served).expect("differs").exceeds_tolerance();
        assert!(!exceeds(990) && !exceeds(1018));
        assert!(exceeds(989) && exceeds(1019) && exceeds(0));
    }

    #[test]
    fn every_call_that_ended_ok_went_through_the_backend() {
        assert_eq!(KNOWN.check_backend(900), None);
        assert_eq!(KNOWN.check_backend(5000), None);
        let mismatch = KNOWN.check_backend(899).expect("a difference");
        let text = "the backend served 899, its server answered OK at least 900";
        assert_eq!(mismatch.to_string(), text);
        let none = KNOWN.check_backend(0).expect("a difference");
        assert!(!mismatch.exceeds_tolerance() && none.exceeds_tolerance());
    }

    #[test]
    fn calls_that_are_in_no_row_are_as_many_as_the_server_says() {
        let rows = CallCounts { answered: 900, uncertain: 6, ..CallCounts::default() };
        assert_eq!(KNOWN.beyond(&rows, None), 100);
        assert_eq!(KNOWN.beyond(&rows, Some(1001)), 101);
        assert_eq!(KNOWN.beyond(&rows, Some(1008)), 102);
        assert_eq!(KNOWN.beyond(&rows, Some(1)), 100);
    }

    #[test]
    fn a_caller_that_told_nothing_leaves_the_upper_end_open() {
        let mut open = KNOWN;
        open += CallCounts { is_open: true, ..CallCounts::default() };
        assert_eq!(open.check(1_000_000), None);
        let mismatch = open.check(10).expect("a difference").to_string();
        assert!(mismatch.ends_with("at least 1000"), "{mismatch}");
    }
}
