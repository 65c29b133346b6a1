//! What one worker has measured.

use crate::record::SetupLatencies;
use bookend_wire::grpc::Code;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// The longest latency that is told apart, nanoseconds: one hour. Longer ones are counted there.
pub const LATENCY_MAX_NS: u64 = 3_600_000_000_000;
/// Digits that the histogram keeps: a latency is known to one in a thousand.
pub const LATENCY_DIGITS: u8 = 3;
/// Error texts that are kept apart. A server can put anything into `grpc-message`, and nothing here
/// may grow with the run.
const ERROR_TEXTS_MAX: usize = 100;
/// Where the texts beyond that are counted.
const OTHER_TEXTS: &str = "other messages";

/// An empty latency histogram.
pub fn latency_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_MAX_NS, LATENCY_DIGITS)
        .expect("the bounds are constants that the crate allows")
}

/// Failed calls by code and by text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Calls by gRPC code.
    pub by_code: BTreeMap<Code, u64>,
    /// Calls by code and text as grpc-go prints them.
    pub by_text: BTreeMap<String, u64>,
}

impl ErrorCounts {
    /// Counts `count` calls that ended with that status.
    pub fn add(&mut self, code: Code, text: &str, count: u64) {
        if count == 0 {
            return;
        }
        *self.by_code.entry(code).or_default() += count;
        let text = format!("rpc error: code = {} desc = {text}", code.name_in_go());
        count_text(&mut self.by_text, text, count);
    }

    /// Takes over what another worker counted.
    pub fn merge(&mut self, other: Self) {
        for (code, count) in other.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        for (text, count) in other.by_text {
            count_text(&mut self.by_text, text, count);
        }
    }

    /// Failed calls.
    pub fn total(&self) -> u64 {
        self.by_code.values().sum()
    }
}

/// Counts what a server has said, text by text as far as there is room.
pub(crate) fn count_text(texts: &mut BTreeMap<String, u64>, text: String, count: u64) {
    let is_new = !texts.contains_key(&text);
    let is_full = texts.len() >= ERROR_TEXTS_MAX;
    let text = if is_new && is_full {
        OTHER_TEXTS.to_owned()
    } else {
        text
    };
    *texts.entry(text).or_default() += count;
}

/// Latencies and outcomes of the calls of one window. Its size does not depend on their number.
#[derive(Clone, Debug)]
pub struct Recorder {
    histogram: Histogram<u64>,
    /// Calls of one batch tend to have the same latency: they are recorded together.
    run_latency_ns: u64,
    run_count: u64,
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub errors: ErrorCounts,
    /// What calls with connections of their own were made of, where there were any.
    pub setup: Option<SetupLatencies>,
    latency_sum_ns: u128,
    latency_min_ns: u64,
    latency_max_ns: u64,
    /// Whose calls are being recorded, and what had been recorded when that began.
    target: u32,
    before_target: TargetCounts,
    by_target: Vec<TargetCounts>,
}

/// What one target has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetCounts {
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            histogram: latency_histogram(),
            run_latency_ns: 0,
            run_count: 0,
            ok: 0,
            errors: ErrorCounts::default(),
            setup: None,
            latency_sum_ns: 0,
            latency_min_ns: u64::MAX,
            latency_max_ns: 0,
            target: 0,
            before_target: TargetCounts::default(),
            by_target: Vec::new(),
        }
    }
}

impl Recorder {
    /// What is recorded from here on is that target's. Calls of one batch are of one.
    #[inline]
    pub fn at(&mut self, target: u32) {
        if target != self.target {
            self.settle_target();
            self.target = target;
        }
    }

    #[cold]
    fn settle_target(&mut self) {
        let target = self.target as usize;
        if self.by_target.len() <= target {
            let none = TargetCounts::default();
            self.by_target.resize(target + 1, none);
        }
        let now = TargetCounts {
            ok: self.ok,
            failed: self.errors.total(),
        };
        self.by_target[target].ok += now.ok - self.before_target.ok;
        self.by_target[target].failed += now.failed - self.before_target.failed;
        self.before_target = now;
    }

    /// What each target has done, by number, as far as any of them did something.
    pub fn by_target(&mut self) -> &[TargetCounts] {
        self.settle_target();
        &self.by_target
    }

    /// A call was answered OK after so long.
    #[inline]
    pub fn ok(&mut self, latency_ns: u64) {
        self.ok += 1;
        self.latency(latency_ns);
    }

    /// Records a latency alone.
    #[inline]
    pub fn latency(&mut self, latency_ns: u64) {
        if latency_ns != self.run_latency_ns {
            self.flush();
            self.run_latency_ns = latency_ns;
        }
        self.run_count += 1;
    }

    #[inline]
    fn flush(&mut self) {
        let (latency_ns, count) = (self.run_latency_ns, std::mem::take(&mut self.run_count));
        if count == 0 {
            return;
        }
        self.latency_sum_ns += u128::from(latency_ns) * u128::from(count);
        self.latency_min_ns = self.latency_min_ns.min(latency_ns);
        self.latency_max_ns = self.latency_max_ns.max(latency_ns);
        self.histogram.saturating_record_n(latency_ns, count);
    }

    /// The finished record.
    pub fn finish(mut self) -> Latencies {
        self.flush();
        Latencies {
            histogram: self.histogram,
            sum_ns: self.latency_sum_ns,
            min_ns: self.latency_min_ns,
            max_ns: self.latency_max_ns,
        }
    }
}

/// Latencies of one or more workers.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// All of them, to three digits.
    pub histogram: Histogram<u64>,
    /// Their sum, exact, nanoseconds.
    pub sum_ns: u128,
    /// The smallest, exact, nanoseconds; `u64::MAX` where there is none.
    pub min_ns: u64,
    /// The largest, exact, nanoseconds.
    pub max_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            histogram: latency_histogram(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Latencies {
    /// Records one.
    pub fn record(&mut self, latency_ns: u64) {
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.saturating_record(latency_ns);
    }

    /// Takes over those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("all workers' histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_batch_are_recorded_together_and_lose_nothing() {
        let mut recorder = Recorder::default();
        for latency_ns in [500, 500, 500, 700, 500, 0] {
            recorder.ok(latency_ns);
        }
        let latencies = recorder.finish();
        assert_eq!(latencies.histogram.len(), 6);
        assert_eq!(latencies.sum_ns, 2_700);
        assert_eq!((latencies.min_ns, latencies.max_ns), (0, 700));
        assert_eq!(latencies.histogram.count_at(500), 4);
    }

    #[test]
    fn calls_are_counted_for_the_target_they_were_made_to() {
        let mut recorder = Recorder::default();
        recorder.ok(5);
        for target in [2, 0, 2] {
            recorder.at(target);
            recorder.ok(5);
            recorder.errors.add(Code::Internal, "no", 2);
            recorder.at(target);
            recorder.ok(5);
        }
        let counts = |ok, failed| TargetCounts { ok, failed };
        let all = [counts(3, 2), counts(0, 0), counts(4, 4)];
        assert_eq!(recorder.by_target(), all);
        assert_eq!(recorder.by_target(), all, "looking changes nothing");
        assert_eq!(recorder.ok, 7);
    }

    #[test]
    fn workers_add_up() {
        let mut first = Recorder::default();
        first.ok(10);
        let mut second = Recorder::default();
        second.ok(30);
        second.ok(LATENCY_MAX_NS * 2);
        let mut sum = first.finish();
        sum.merge(&second.finish());
        assert_eq!(sum.histogram.len(), 3);
        assert_eq!((sum.min_ns, sum.max_ns), (10, LATENCY_MAX_NS * 2));
    }

    #[test]
    fn error_texts_are_bounded_and_no_error_is_lost() {
        let mut errors = ErrorCounts::default();
        for number in 0..1_000 {
            errors.add(Code::Internal, &number.to_string(), 2);
        }
        assert_eq!(errors.by_text.len(), ERROR_TEXTS_MAX + 1);
        assert_eq!(errors.by_text.values().sum::<u64>(), 2_000);
        assert_eq!(errors.total(), 2_000);
    }
}
