//! Where the calls of a worker are counted, from the moment they are made until they end.
//!
//! A window that is measured by time counts the calls that end in it, whenever they were made. A
//! window that is measured by number counts the calls that are made in it, whenever they end.

use super::measurements::LateWarmupCalls;
use super::open_loop::Obstacle;
use super::recorder::{Recorder, RecorderKind};
use super::setup::SetupTimes;
use crate::call::LoadCall;
use bookend_wire::grpc::{Code, Status};

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

    pub fn late_warmup(&self) -> LateWarmupCalls {
        self.late_warmup
    }

    /// Calls that end from here on were made to that peer. Those of one batch have the same.
    #[inline]
    pub fn at_peer(&mut self, peer: u32) {
        self.recorder.at(peer);
    }

    /// So many calls were made.
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

    /// So many calls of an open loop, which were due, are never made.
    pub fn not_made(&mut self, calls: u64, obstacle: Obstacle) {
        if let Some(open_loop) = &mut self.recorder.open_loop {
            open_loop.record_not_made(calls, obstacle);
        }
        if self.by_number {
            self.counted_ended += calls;
        }
    }

    /// A call was answered OK.
    #[inline]
    pub fn ok(&mut self, call: &LoadCall, now_ns: u64) {
        if self.end(call) {
            self.recorder.ok(now_ns.saturating_sub(call.start_ns));
            self.record_from_intended(call, now_ns);
            if let Some(log) = &mut self.recorder.log {
                log.log(now_ns, call.latency_ns(now_ns), None);
            }
        } else {
            self.late_warmup.ok += 1;
        }
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
        if !self.end(call) {
            self.late_warmup.failed += 1;
            return;
        }
        self.recorder.errors.add(status.code, &status.message, 1);
        if let Some(log) = &mut self.recorder.log {
            let failure = (status.code, status.message.as_str());
            log.log(now_ns, call.latency_ns(now_ns), Some(failure));
        }
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
        call.counted || !self.by_number
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
}
