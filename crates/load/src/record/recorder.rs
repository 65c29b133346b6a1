//! What is recorded of the calls of one phase: of the warm-up, or of the window.

use super::call_log::CallLog;
use super::errors::ErrorCounts;
use super::interval_details::IntervalDetails;
use super::interval_feed::Counted;
use super::latencies::Latencies;
use super::open_loop::OpenLoopCalls;
use super::setup::SetupLatencies;
use super::stream_messages::StreamMessages;
use serde::{Deserialize, Serialize};

/// Latencies and outcomes of the calls of one phase. Its size does not depend on their number.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    latencies: Latencies,
    /// Calls of one batch tend to have the same latency. The last one, and how many in a row had
    /// it: they are recorded together.
    run_latency_ns: u64,
    run_count: u64,
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub errors: ErrorCounts,
    /// The parts of calls with connections of their own, where there were any.
    pub setup: Option<SetupLatencies>,
    /// When calls should have been made, in an open loop.
    pub open_loop: Option<Box<OpenLoopCalls>>,
    /// The messages of streaming calls, where there are such.
    pub streams: Option<Box<StreamMessages>>,
    /// The calls one by one, where they are listed.
    pub log: Option<Box<CallLog>>,
    /// The target whose calls are being recorded, and what had been recorded when that began.
    target: u32,
    before_target: TargetCounts,
    by_target: Vec<TargetCounts>,
}

/// What a recorder records besides latencies and outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderKind {
    /// Whether it is said of each call when it should have been made.
    pub is_open_loop: bool,
    /// Whether calls are streams of messages.
    pub has_streams: bool,
    /// Whether the latencies of failed calls count.
    pub counts_errors: bool,
    /// Calls that are kept one by one.
    pub calls_listed: u64,
    /// A call that took longer has failed, whatever its response was; `None` for no deadline.
    pub timeout_ns: Option<u64>,
}

/// The calls of one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetCounts {
    /// Calls that were answered OK.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
}

impl Recorder {
    /// Records what that kind records.
    pub fn new(kind: RecorderKind) -> Self {
        Self {
            open_loop: kind.is_open_loop.then(Box::default),
            streams: kind.has_streams.then(Box::default),
            ..Self::default()
        }
    }

    /// What is recorded from here on belongs to that target. All calls of a batch have the same.
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
            self.by_target.resize(target + 1, TargetCounts::default());
        }
        let now = TargetCounts { ok: self.ok, failed: self.errors.total() };
        self.by_target[target].ok += now.ok - self.before_target.ok;
        self.by_target[target].failed += now.failed - self.before_target.failed;
        self.before_target = now;
    }

    /// The calls of each target, by number, up to the last target that had any.
    pub fn by_target(&mut self) -> &[TargetCounts] {
        self.settle_target();
        &self.by_target
    }

    /// A call was answered OK after `latency_ns`.
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
        let count = std::mem::take(&mut self.run_count);
        if count > 0 {
            self.latencies.record_n(self.run_latency_ns, count);
        }
    }

    /// What has been recorded so far, with all of it if `details`.
    pub(crate) fn counted(&mut self, details: bool) -> Counted {
        self.flush();
        let details = details.then(|| IntervalDetails {
            errors: self.errors.clone(),
            from_start: self.latencies.clone(),
            open_loop: self.open_loop.as_deref().cloned(),
            streams: self.streams.as_deref().cloned(),
        });
        let latencies = match &self.open_loop {
            Some(open_loop) => &open_loop.from_intended,
            None => &self.latencies,
        };
        let messages = self.streams.as_ref().map_or(0, |streams| streams.sent + streams.received);
        Counted {
            ok: self.ok,
            failed: self.errors.total(),
            messages,
            latencies: Some(latencies.histogram.clone()),
            details: details.map(Box::new),
        }
    }

    /// The latencies of all calls that were recorded.
    pub fn finish(mut self) -> Latencies {
        self.flush();
        self.latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::latencies::LATENCY_MAX_NS;
    use bookend_wire::grpc::Code;

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
}
