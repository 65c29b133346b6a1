//! Calls one by one, for the formats that list them: those that one worker has logged.

use super::errors::{OTHER_TEXTS, in_go, shortened};
use super::serialized::code;
use bookend_wire::grpc::Code;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls that a log makes room for at a time: 256 KiB.
const BLOCK_CALLS: usize = 16 << 10;

/// Different failures that a log tells apart. A server can put anything into `grpc-message`.
const FAILURES_MAX: usize = 1_000;

/// Bytes of a call's failure that are kept, as JSON writes them: the text is written for each call
/// that failed so. Among the counted errors it stands once, and is whole there.
const ERROR_MAX_BYTES: usize = 256;

/// Low bits of [`LoggedCall::outcome`] that number its failure.
const FAILURE_BITS: u32 = 10;
/// What the other bits can hold: 208 days in nanoseconds.
const LATENCY_MAX_NS: u64 = u64::MAX >> FAILURE_BITS;

// Beyond the limit each code has one more text: [`OTHER_TEXTS`].
const _: () = assert!(FAILURES_MAX + Code::ALL.len() < 1 << FAILURE_BITS);

/// One call that has ended. A run may keep millions, so it has 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoggedCall {
    /// When it ended, nanoseconds of the drivers' clock.
    pub end_ns: u64,
    /// Its latency in nanoseconds, and below it the number of its failure, counted from 1; 0 for
    /// OK.
    outcome: u64,
}

impl LoggedCall {
    /// How long it took, nanoseconds.
    pub fn latency_ns(self) -> u64 {
        self.outcome >> FAILURE_BITS
    }
}

/// The first calls of a window that one worker has seen end, up to a number.
///
/// It cannot know whether those are the first of all workers as well, so it makes room block by
/// block until all logs together have filled `calls_max`. No call that ends later is among the
/// first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "SentLog", try_from = "SentLog")]
pub struct CallLog {
    pub(super) calls_max: usize,
    pub(super) calls: Vec<LoggedCall>,
    /// Calls that there is room for, those of the last block among them.
    room: usize,
    block: usize,
    is_full: bool,
    /// Calls in the blocks that the workers of the run have filled.
    filled: Arc<AtomicUsize>,
    /// Number and code of each failure, by its text.
    failures: BTreeMap<String, (u64, Code)>,
}

impl CallLog {
    /// A log that keeps `calls_max` calls. `filled`: what the logs of all workers of the run share.
    pub fn new(calls_max: usize, filled: Arc<AtomicUsize>) -> Self {
        Self { calls_max, filled, ..Self::default() }
    }

    /// A call has ended OK.
    #[inline]
    pub fn ok(&mut self, end_ns: u64, latency_ns: u64) {
        self.push(end_ns, latency_ns, 0);
    }

    /// A call has failed; `error` is why, as grpc-go prints it.
    pub fn failed(&mut self, end_ns: u64, latency_ns: u64, code: Code, error: &str) {
        let number = self.number(code, error);
        self.push(end_ns, latency_ns, number);
    }

    #[inline]
    fn push(&mut self, end_ns: u64, latency_ns: u64, failure: u64) {
        if self.calls.len() == self.room && (self.is_full || !self.makes_room()) {
            return;
        }
        let outcome = latency_ns.min(LATENCY_MAX_NS) << FAILURE_BITS | failure;
        self.calls.push(LoggedCall { end_ns, outcome });
    }

    /// Makes room for another block, if calls are missing.
    #[cold]
    fn makes_room(&mut self) -> bool {
        let filled = self.filled.fetch_add(self.block, Ordering::Relaxed) + self.block;
        self.block = BLOCK_CALLS.min(self.calls_max.saturating_sub(filled));
        self.room += self.block;
        self.is_full = self.block == 0;
        !self.is_full
    }

    /// The number of a failure.
    fn number(&mut self, code: Code, error: &str) -> u64 {
        if let Some((number, _)) = self.failures.get(error) {
            return *number;
        }
        let mut kept = shortened(error, ERROR_MAX_BYTES);
        if self.failures.len() >= FAILURES_MAX && !self.failures.contains_key(&*kept) {
            kept = in_go(code, OTHER_TEXTS).into();
        }
        let next = self.failures.len() as u64 + 1;
        self.failures.entry(kept.into_owned()).or_insert((next, code)).0
    }

    /// The failures by number, counted from 0.
    pub(super) fn failures(&self) -> Vec<(Code, &str)> {
        let mut numbered: Vec<_> = self.failures.iter().collect();
        numbered.sort_unstable_by_key(|(_, (number, _))| *number);
        numbered.into_iter().map(|(text, (_, code))| (*code, text.as_str())).collect()
    }
}

/// A log as it goes to another process: each call as its two numbers, each failure as code and
/// text.
#[derive(Serialize, Deserialize)]
struct SentLog {
    calls_max: usize,
    calls: Vec<(u64, u64)>,
    failures: Vec<(u8, String)>,
}

impl From<CallLog> for SentLog {
    fn from(log: CallLog) -> Self {
        let failures = log.failures().into_iter();
        Self {
            failures: failures.map(|(code, text)| (code as u8, text.to_owned())).collect(),
            calls_max: log.calls_max,
            calls: log.calls.iter().map(|call| (call.end_ns, call.outcome)).collect(),
        }
    }
}

impl TryFrom<SentLog> for CallLog {
    type Error = &'static str;

    fn try_from(sent: SentLog) -> Result<Self, Self::Error> {
        let calls = sent.calls.into_iter().map(|(end_ns, outcome)| LoggedCall { end_ns, outcome });
        let mut log = Self { calls_max: sent.calls_max, is_full: true, ..Self::default() };
        log.calls = calls.collect();
        log.room = log.calls.len();
        for (number, (code_number, text)) in (1..).zip(sent.failures) {
            let code = code(code_number).ok_or("no such gRPC code")?;
            log.failures.insert(text, (number, code));
        }
        Ok(log)
    }
}

/// How a logged call failed, among the failures of its log.
pub(super) fn failure_of<'a>(
    call: LoggedCall,
    failures: &[(Code, &'a str)],
) -> Option<(Code, &'a str)> {
    let number = call.outcome & ((1 << FAILURE_BITS) - 1);
    failures.get((number as usize).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(log: &CallLog) -> Vec<Option<(Code, &str)>> {
        let failures = log.failures();
        log.calls.iter().map(|call| failure_of(*call, &failures)).collect()
    }

    #[test]
    fn a_call_takes_sixteen_bytes_and_keeps_its_nanoseconds_for_months() {
        assert_eq!(size_of::<LoggedCall>(), 16);
        let mut log = CallLog::new(3, Arc::default());
        let months_ns = 200 * 24 * 3600 * 1_000_000_000 + 1;
        log.failed(7, months_ns, Code::Internal, "slow");
        log.ok(8, 9);
        log.ok(8, u64::MAX);
        let latencies: Vec<u64> = log.calls.iter().map(|call| call.latency_ns()).collect();
        assert_eq!(latencies, [months_ns, 9, LATENCY_MAX_NS]);
        assert_eq!(logged(&log), [Some((Code::Internal, "slow")), None, None]);
    }

    #[test]
    fn workers_together_keep_few_more_calls_than_are_wanted() {
        const WANTED: usize = 10 * BLOCK_CALLS + 7;
        let filled = Arc::default();
        let mut logs = [(); 8].map(|()| CallLog::new(WANTED, Arc::clone(&filled)));
        // The first makes as many calls as six others together, and the last a single one.
        for end_ns in 0..WANTED as u64 {
            logs[0].ok(end_ns, 1);
            logs[1 + end_ns as usize % 6].ok(end_ns, 1);
        }
        logs[7].ok(WANTED as u64, 1);
        let kept: usize = logs.iter().map(|log| log.calls.len()).sum();
        assert!((WANTED..WANTED + 8 * BLOCK_CALLS).contains(&kept), "{kept} of {WANTED}");
        let lost_ns = logs[..7].iter().map(|log| log.calls.last().unwrap().end_ns).min().unwrap();
        let earlier = logs.iter().flat_map(|log| &log.calls).filter(|call| call.end_ns <= lost_ns);
        assert!(earlier.count() >= WANTED, "one of the first was left out at {lost_ns}");
        let mut alone = CallLog::new(WANTED, Arc::default());
        (0..2 * WANTED as u64).for_each(|end_ns| alone.ok(end_ns, 1));
        assert_eq!(alone.calls.len(), WANTED);
    }

    #[test]
    fn failures_beyond_the_limit_keep_their_code_and_lose_their_text() {
        let mut log = CallLog::new(FAILURES_MAX * 2, Arc::default());
        let texts: Vec<String> = (0..FAILURES_MAX).map(|number| number.to_string()).collect();
        texts.iter().for_each(|text| log.failed(1, 1, Code::Internal, text));
        for code in Code::ALL {
            log.failed(1, 1, code, "one more");
        }
        log.failed(1, 1, Code::Internal, "999");
        let logged = logged(&log);
        assert_eq!(logged[999], Some((Code::Internal, "999")));
        for (code, failure) in Code::ALL.into_iter().zip(&logged[FAILURES_MAX..]) {
            assert_eq!(failure.unwrap(), (code, in_go(code, OTHER_TEXTS).as_str()));
        }
        assert_eq!(logged.last(), Some(&Some((Code::Internal, "999"))));
    }

    #[test]
    fn long_failures_are_bounded_in_number_and_in_size() {
        let mut log = CallLog::new(5_000, Arc::default());
        for number in 0..5_000 {
            let text = format!("{number:04}{}", "\u{1}\u{e9}".repeat(2_048));
            log.failed(number, 1, Code::Internal, &text);
        }
        let bytes: usize = log.failures.keys().map(String::len).sum();
        assert!(bytes <= (FAILURES_MAX + 1) * (ERROR_MAX_BYTES + "…".len()), "{bytes} bytes");
        assert_eq!(log.failures.len(), FAILURES_MAX + 1);
    }
}
