//! Whether both ends agree on how many calls there were.

use super::client_report::ClientReport;
use bookend_results::measurement::Row;
use std::fmt;

/// A server whose count is off by more than this share did not count, or did not answer: its rows
/// cannot be believed. A smaller difference is marked.
pub const MISMATCH_LIMIT: f64 = 0.01;

/// What the calling ends of one server know together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls that were answered.
    answered: u64,
    /// Those of them that ended OK in a window.
    ok: u64,
    /// Calls that may have been answered: errors, and those of which nothing is known.
    uncertain: u64,
    /// A caller that told nothing has called as well.
    is_open: bool,
}

/// `served N` is not what the calling ends know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountMismatch {
    /// Who said so.
    pub counter: Counter,
    /// Calls that it says it answered.
    pub served: u64,
    /// Calls that it must have answered.
    pub at_least: u64,
    /// Calls that it can have answered at most.
    pub at_most: u64,
}

/// Who counts the calls that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The server that is called.
    Server,
    /// What stands behind it.
    Backend,
}

impl CallCounts {
    /// Calls of the probe.
    pub fn add_probe(&mut self, calls: u64) {
        self.answered += calls;
    }

    /// Calls of one run of an instrument or a client.
    pub fn add(&mut self, said: &ClientReport) {
        self.answered += said.warmup + said.ok + said.drained;
        self.ok += said.ok;
        self.uncertain += said.error_count() + said.unfinished;
    }

    /// A run of which nothing is known.
    pub fn add_unknown(&mut self) {
        self.is_open = true;
    }

    /// Calls of a row's window and its warm-up.
    pub fn add_row(&mut self, row: &Row) {
        if let Some(window) = row.outcome.window() {
            self.answered += window.warmup + window.ok + window.drained;
            self.ok += window.ok;
            self.uncertain += window.errors.values().sum::<u64>() + window.unfinished;
        }
    }

    /// Answered calls that are not among `in_rows`. Of those that may have been answered, as many
    /// count as the server says.
    pub fn beyond(&self, in_rows: &CallCounts, served: Option<u64>) -> u64 {
        let certain = self.answered.saturating_sub(in_rows.answered);
        let possible = certain + self.uncertain.saturating_sub(in_rows.uncertain);
        let told = served.map_or(certain, |served| served.saturating_sub(in_rows.answered));
        told.clamp(certain, possible)
    }

    /// Compares with what the server says.
    pub fn check(&self, served: u64) -> Option<CountMismatch> {
        let at_most = match self.is_open {
            true => u64::MAX,
            false => self.answered.saturating_add(self.uncertain),
        };
        let agrees = (self.answered..=at_most).contains(&served);
        (!agrees).then_some(CountMismatch {
            counter: Counter::Server,
            served,
            at_least: self.answered,
            at_most,
        })
    }

    /// Compares with what the backend says. A server may ask it for calls that then failed, but
    /// none can end OK that did not go through it.
    pub fn check_backend(&self, served: u64) -> Option<CountMismatch> {
        (served < self.ok).then_some(CountMismatch {
            counter: Counter::Backend,
            served,
            at_least: self.ok,
            at_most: u64::MAX,
        })
    }
}

impl CountMismatch {
    /// Whether the difference is too large for the rows to be believed.
    pub fn is_grave(&self) -> bool {
        let (low, high) = (self.at_least as f64, self.at_most as f64);
        let served = self.served as f64;
        served < low * (1.0 - MISMATCH_LIMIT) || served > high * (1.0 + MISMATCH_LIMIT)
    }
}

impl fmt::Display for CountMismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CountMismatch {
            counter,
            served,
            at_least,
            at_most,
        } = self;
        match counter {
            Counter::Server => write!(
                out,
                "counts differ: the server served {served}, the other end supports_method "
            )?,
            Counter::Backend => write!(
                out,
                "counts differ: the backend served {served}, its server answered OK "
            )?,
        }
        match at_most {
            most if most == at_least => write!(out, "{at_least}"),
            &u64::MAX => write!(out, "at least {at_least}"),
            most => write!(out, "{at_least} to {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counts() -> CallCounts {
        let mut counts = CallCounts::default();
        counts.add_probe(1);
        counts.add(&ClientReport {
            ok: 900,
            warmup: 90,
            drained: 9,
            errors: BTreeMap::from([("UNAVAILABLE".to_owned(), 5)]),
            unfinished: 3,
            ..ClientReport::default()
        });
        counts
    }

    #[test]
    fn errors_and_unfinished_calls_may_have_been_served_or_not() {
        assert_eq!(counts().check(1000), None);
        assert_eq!(counts().check(1008), None);
        let mismatch = counts().check(999).unwrap();
        let text =
            "counts differ: the server served 999, the other end supports_method 1000 to 1008";
        assert_eq!(mismatch.to_string(), text);
        assert!(counts().check(1009).is_some());
    }

    #[test]
    fn a_small_difference_is_marked_and_a_large_one_is_grave() {
        assert!(!counts().check(990).unwrap().is_grave());
        assert!(!counts().check(1018).unwrap().is_grave());
        assert!(counts().check(989).unwrap().is_grave());
        assert!(counts().check(1019).unwrap().is_grave());
        assert!(counts().check(0).unwrap().is_grave());
    }

    #[test]
    fn every_call_that_ended_ok_went_through_the_backend() {
        assert_eq!(counts().check_backend(900), None);
        assert_eq!(counts().check_backend(5000), None);
        let mismatch = counts().check_backend(899).unwrap();
        let text = "counts differ: the backend served 899, its server answered OK at least 900";
        assert_eq!(mismatch.to_string(), text);
        assert!(!mismatch.is_grave() && counts().check_backend(0).unwrap().is_grave());
    }

    #[test]
    fn calls_that_are_in_no_row_are_as_many_as_the_server_says() {
        let rows = CallCounts {
            answered: 900,
            uncertain: 6,
            ..CallCounts::default()
        };
        assert_eq!(counts().beyond(&rows, None), 100);
        assert_eq!(counts().beyond(&rows, Some(1001)), 101);
        assert_eq!(counts().beyond(&rows, Some(1008)), 102);
        assert_eq!(counts().beyond(&rows, Some(1)), 100);
    }

    #[test]
    fn a_caller_that_told_nothing_leaves_the_upper_end_open() {
        let mut counts = counts();
        counts.add_unknown();
        assert_eq!(counts.check(1_000_000), None);
        let mismatch = counts.check(10).unwrap();
        assert!(
            mismatch.to_string().ends_with("at least 1000"),
            "{mismatch}"
        );
    }
}
