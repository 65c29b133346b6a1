//! Where the calls of a worker are counted, from the moment they are made until they end.
//!
//! A window that is measured by time counts the calls that end in it, whenever they were made. A
//! window that is measured by number counts the calls that are made in it, whenever they end.

use super::call_log::CallLog;
use super::errors::in_go;
use super::interval_feed::Counted;
use super::measurements::LateWarmupCalls;
use super::open_loop::{Obstacle, OpenLoopCalls};
use super::recorder::{Recorder, RecorderKind};
use super::setup::SetupTimes;
use crate::call::LoadCall;
use bookend_wire::grpc::{Code, Status};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// What grpc-go says of a call whose deadline has passed.
pub(crate) const DEADLINE_EXCEEDED: &str = "context deadline exceeded";

/// Counts the calls of one worker. Each call of [`CallSink::began`] is followed by one of
/// [`CallSink::ok`] or [`CallSink::failed`] for every call that ends.
#[derive(Debug, Default)]
pub(crate) struct CallSink {
    recorder: Recorder,
    in_flight: u64,
    /// Calls of a window by number that have ended.
    counted_ended: u64,
    late_warmup: LateWarmupCalls,
    /// The window is open, and is measured by number: only calls that were made in it count.
    by_number: bool,
    kind: RecorderKind,
    /// Calls that are still to end without being counted.
    skip_left: u64,
}

impl CallSink {
    pub fn new(kind: RecorderKind) -> Self {
        Self { kind, recorder: Recorder::new(kind), ..Self::default() }
    }

    /// A phase begins; what was recorded in the last one is returned. `by_number`: only calls that
    /// are made in this phase count in it.
    pub fn begin_phase(&mut self, by_number: bool) -> Recorder {
        self.by_number = by_number;
        std::mem::replace(&mut self.recorder, Recorder::new(self.kind))
    }

    /// The window begins, as a phase does. Calls are listed from here on until the next phase;
    /// `filled` is what the logs of all workers share.
    pub fn open_window(&mut self, by_number: bool, filled: &Arc<AtomicUsize>) -> Recorder {
        let warmup = self.begin_phase(by_number);
        let calls_max = usize::try_from(self.kind.calls_listed).unwrap_or(usize::MAX);
        let log = || Box::new(CallLog::new(calls_max, Arc::clone(filled)));
        self.recorder.log = (calls_max > 0).then(log);
        warmup
    }

    /// What has been recorded of an open loop since this was called last.
    pub fn take_open_loop(&mut self) -> Option<Box<OpenLoopCalls>> {
        let empty = self.kind.is_open_loop.then(Box::default);
        std::mem::replace(&mut self.recorder.open_loop, empty)
    }

    /// The next `calls` calls that end are not counted.
    pub fn skip_first(&mut self, calls: u64) {
        self.skip_left = calls;
    }

    /// What has been counted in this phase so far, with all that was recorded if `details`.
    pub fn counted(&mut self, details: bool) -> Counted {
        self.recorder.counted(details)
    }

    /// Whether it is said of each call when it should have been made.
    #[inline]
    pub fn is_open_loop(&self) -> bool {
        self.kind.is_open_loop
    }

    /// Whether calls that are made now are counted by number.
    #[inline]
    pub fn by_number(&self) -> bool {
        self.by_number
    }

    /// Calls that have begun and not ended.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Calls of a window by number that have ended.
    #[inline]
    pub fn counted_ended(&self) -> u64 {
        self.counted_ended
    }

    /// Calls that ended OK in this phase, whenever they were made.
    #[inline]
    pub fn ended_ok(&self) -> u64 {
        self.recorder.ok + self.late_warmup.ok
    }

    /// Calls that failed in this phase, whenever they were made.
    pub fn ended_failed(&self) -> u64 {
        self.recorder.errors.total() + self.late_warmup.failed
    }

    pub fn late_warmup(&self) -> LateWarmupCalls {
        self.late_warmup
    }

    /// Calls that end from here on were made to that peer. Those of one batch have the same.
    #[inline]
    pub fn at_peer(&mut self, peer: u32) {
        self.recorder.at(peer);
    }

    /// `calls` calls were made.
    #[inline]
    pub fn began(&mut self, calls: u64) {
        self.in_flight += calls;
    }

    /// A call of an open loop starts.
    pub fn started(&mut self, call: &LoadCall) {
        if let Some(open_loop) = &mut self.recorder.open_loop {
            open_loop.record_made(call.intended_ns, call.start_ns, call.has_waited);
        }
    }

    /// `calls` calls of an open loop, which were due, are never made.
    pub fn not_made(&mut self, calls: u64, obstacle: Obstacle) {
        if let Some(open_loop) = &mut self.recorder.open_loop {
            open_loop.record_not_made(calls, obstacle);
        }
        if self.by_number {
            self.counted_ended += calls;
        }
    }

    /// A call was answered OK. After its deadline that is too late.
    #[inline]
    pub fn ok(&mut self, call: &LoadCall, now_ns: u64) {
        let latency_ns = now_ns.saturating_sub(call.start_ns);
        if self.kind.timeout_ns.is_some_and(|timeout_ns| latency_ns > timeout_ns) {
            return self.too_late(call, now_ns);
        }
        if self.end(call) {
            self.recorder.ok(latency_ns);
            self.record_from_intended(call, now_ns);
            if let Some(log) = &mut self.recorder.log {
                log.ok(now_ns, call.latency_ns(now_ns));
            }
        } else {
            self.late_warmup.ok += 1;
        }
    }

    #[cold]
    fn too_late(&mut self, call: &LoadCall, now_ns: u64) {
        self.failed(call, &Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED), now_ns);
    }

    /// A call was answered OK on a connection of its own.
    pub fn ok_with_setup(&mut self, call: &LoadCall, times: SetupTimes, now_ns: u64) {
        let ok_before = self.recorder.ok;
        self.ok(call, now_ns);
        if self.recorder.ok > ok_before {
            let setup = self.recorder.setup.get_or_insert_default();
            setup.record(times);
        }
    }

    /// A call failed.
    pub fn failed(&mut self, call: &LoadCall, status: &Status, now_ns: u64) {
        // Its connection was lost before its start was stamped: it was made all the same.
        if call.start_ns == 0
            && let Some(open_loop) = &mut self.recorder.open_loop
        {
            open_loop.record_made(call.intended_ns, now_ns, call.has_waited);
        }
        if !self.end(call) {
            self.late_warmup.failed += 1;
            return;
        }
        let error = in_go(status.code, &status.message);
        if let Some(log) = &mut self.recorder.log {
            log.failed(now_ns, call.latency_ns(now_ns), status.code, &error);
        }
        self.recorder.errors.add_in_go(status.code, error, 1);
        if self.kind.counts_errors {
            let latency_ns = now_ns.saturating_sub(call.start_ns);
            self.recorder.latency(latency_ns);
            self.record_from_intended(call, now_ns);
        }
    }

    #[inline]
    fn record_from_intended(&mut self, call: &LoadCall, now_ns: u64) {
        if let Some(open_loop) = &mut self.recorder.open_loop {
            open_loop.from_intended.record(now_ns.saturating_sub(call.intended_ns));
        }
    }

    /// A call failed before it could be made: there was no connection for it.
    pub fn failed_to_begin(&mut self, text: &str) {
        self.recorder.errors.add(Code::Unavailable, text, 1);
        self.counted_ended += u64::from(self.by_number);
    }

    /// Whether the call counts in this phase.
    #[inline]
    fn end(&mut self, call: &LoadCall) -> bool {
        self.in_flight -= 1;
        self.counted_ended += u64::from(call.counted);
        let is_of_this_phase = call.counted || !self.by_number;
        is_of_this_phase && (self.skip_left == 0 || self.is_behind_the_skipped())
    }

    #[cold]
    fn is_behind_the_skipped(&mut self) -> bool {
        self.skip_left -= 1;
        false
    }

    /// A request message of a streaming call was written.
    #[inline]
    pub fn sent_message(&mut self) {
        if let Some(streams) = &mut self.recorder.streams {
            streams.sent += 1;
        }
    }

    /// Response messages of a call have come, see [`StreamMessages`](super::StreamMessages).
    #[inline]
    pub fn received_messages(&mut self, messages: u64, start_ns: u64, last_ns: u64, now_ns: u64) {
        if let Some(streams) = &mut self.recorder.streams {
            streams.record_received(messages, start_ns, last_ns, now_ns);
        }
    }

    /// A message of a bidirectional call was answered after `latency_ns`.
    #[inline]
    pub fn answered_message(&mut self, latency_ns: u64) {
        if let Some(streams) = &mut self.recorder.streams {
            streams.answers.record(latency_ns);
        }
    }

    /// Flow control has kept a message from being written for `stall_ns`.
    pub fn stalled(&mut self, stall_ns: u64) {
        if let Some(streams) = &mut self.recorder.streams {
            streams.stalls.record(stall_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(counted: bool) -> LoadCall {
        let mut call = LoadCall::new(1, counted);
        call.start_ns = 10;
        call
    }

    #[test]
    fn by_number_a_call_of_the_warm_up_that_ends_in_the_window_counts_nowhere() {
        let mut sink = CallSink::new(RecorderKind::default());
        sink.began(3);
        sink.ok(&call(false), 15);
        assert_eq!(sink.begin_phase(true).ok, 1);
        sink.ok(&call(false), 15);
        sink.failed(&call(false), &Status::new(Code::Internal, ""), 15);
        assert_eq!((sink.ended_ok(), sink.counted_ended()), (1, 0));
        sink.began(1);
        sink.ok(&call(true), 15);
        assert_eq!((sink.counted_ended(), sink.in_flight()), (1, 0));
        let late = LateWarmupCalls { ok: 1, failed: 1 };
        assert_eq!((sink.late_warmup(), sink.begin_phase(false).ok), (late, 1));
    }

    #[test]
    fn a_call_that_was_lost_before_its_start_was_stamped_was_due_and_made() {
        let mut sink = CallSink::new(RecorderKind { is_open_loop: true, ..Default::default() });
        sink.began(1);
        let mut call = LoadCall::new(1, false);
        call.intended_ns = 10;
        sink.failed(&call, &Status::new(Code::Unavailable, "lost"), 15);
        let recorder = sink.begin_phase(false);
        let open_loop = recorder.open_loop.expect("it is one");
        assert_eq!((open_loop.due(), open_loop.made, recorder.errors.total()), (1, 1, 1));
    }

    #[test]
    fn an_answer_after_the_deadline_is_a_failure() {
        let kind = RecorderKind { timeout_ns: Some(5), ..RecorderKind::default() };
        let mut sink = CallSink::new(kind);
        sink.began(2);
        sink.ok(&call(true), 15);
        sink.ok(&call(true), 16);
        let recorder = sink.begin_phase(false);
        assert_eq!((recorder.ok, recorder.errors.by_code[&Code::DeadlineExceeded]), (1, 1));
    }

    #[test]
    fn calls_of_the_window_alone_are_listed() {
        let mut sink = CallSink::new(RecorderKind { calls_listed: 5, ..RecorderKind::default() });
        sink.began(3);
        sink.ok(&call(false), 15);
        assert!(sink.open_window(false, &Arc::default()).log.is_none());
        sink.ok(&call(false), 15);
        assert!(sink.begin_phase(false).log.is_some());
        sink.ok(&call(false), 15);
        assert!(sink.begin_phase(false).log.is_none());
    }

    #[test]
    fn calls_that_are_skipped_end_and_are_not_counted() {
        let mut sink = CallSink::new(RecorderKind::default());
        sink.begin_phase(true);
        sink.skip_first(2);
        sink.began(3);
        sink.ok(&call(true), 15);
        sink.failed(&call(true), &Status::new(Code::Internal, ""), 15);
        sink.ok(&call(true), 15);
        assert_eq!(sink.counted_ended(), 3, "the window by number is over");
        let late = LateWarmupCalls { ok: 1, failed: 1 };
        let recorder = sink.begin_phase(false);
        assert_eq!((sink.late_warmup(), recorder.ok, recorder.errors.total()), (late, 1, 0));
    }
}
