//! Calls one by one, for the formats that list them.

use bookend_wire::grpc::Code;

/// Different failures that a log tells apart. A server can put anything into `grpc-message`.
const FAILURES_MAX: usize = 1_000;

/// One call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// When it ended, nanoseconds of the drivers' clock.
    pub end_ns: u64,
    /// Its latency, nanoseconds.
    pub latency_ns: u64,
    /// Which of [`CallLog::failures`] it is, counted from 1; 0 for OK.
    failure: u32,
}

/// The first calls of a window, up to a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallLog {
    calls_max: usize,
    calls: Vec<LoggedCall>,
    failures: Vec<(Code, String)>,
}

impl CallLog {
    /// A log that keeps so many calls.
    pub fn new(calls_max: usize) -> Self {
        Self { calls_max, ..Self::default() }
    }

    /// A call has ended: OK, or with that failure.
    pub fn log(&mut self, end_ns: u64, latency_ns: u64, failure: Option<(Code, &str)>) {
        if self.calls.len() < self.calls_max {
            let number = failure.map_or(0, |(code, text)| self.failure(code, text));
            self.calls.push(LoggedCall { end_ns, latency_ns, failure: number });
        }
    }

    /// The number of a failure. Beyond the limit, that of the last one.
    fn failure(&mut self, code: Code, text: &str) -> u32 {
        let index = self
            .failures
            .iter()
            .position(|known| known.0 == code && known.1 == text)
            .unwrap_or_else(|| {
                if self.failures.len() < FAILURES_MAX {
                    self.failures.push((code, text.to_owned()));
                }
                self.failures.len() - 1
            });
        index as u32 + 1
    }

    /// Adds what another worker has logged.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.calls_max = self.calls_max.max(other.calls_max);
        for call in &other.calls {
            let failure = match other.failure_of(call) {
                None => 0,
                Some((code, text)) => self.failure(code, text),
            };
            self.calls.push(LoggedCall { failure, ..*call });
        }
    }

    /// The calls in the order in which they ended, each with its failure.
    pub fn in_order(&self) -> impl Iterator<Item = (LoggedCall, Option<(Code, &str)>)> {
        let mut calls = self.calls.clone();
        calls.sort_by_key(|call| call.end_ns);
        calls.into_iter().take(self.calls_max).map(|call| (call, self.failure_of(&call)))
    }

    fn failure_of(&self, call: &LoggedCall) -> Option<(Code, &str)> {
        let index = (call.failure as usize).checked_sub(1)?;
        self.failures.get(index).map(|(code, text)| (*code, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_calls_of_all_workers_are_kept_in_their_order() {
        let mut first = CallLog::new(3);
        first.log(10, 1, None);
        first.log(30, 2, Some((Code::NotFound, "no")));
        let mut second = CallLog::new(3);
        second.log(20, 3, Some((Code::Internal, "broken")));
        second.log(40, 4, None);
        second.log(50, 5, None);
        second.log(60, 6, None);
        first.merge(&second);
        let calls: Vec<_> = first
            .in_order()
            .map(|(call, failure)| (call.latency_ns, failure.map(|(code, _)| code)))
            .collect();
        assert_eq!(calls, [(1, None), (3, Some(Code::Internal)), (2, Some(Code::NotFound))]);
    }

    #[test]
    fn failures_are_bounded() {
        let mut log = CallLog::new(FAILURES_MAX * 2);
        for number in 0..FAILURES_MAX as u64 * 2 {
            log.log(number, 1, Some((Code::Internal, &number.to_string())));
        }
        assert_eq!(log.failures.len(), FAILURES_MAX);
        assert_eq!(
            log.in_order().filter(|(_, failure)| failure.is_some()).count(),
            FAILURES_MAX * 2
        );
    }
}
