//! How a run goes for one worker: when calls may be made, where those that end are counted, and
//! how connections are asked for.

use crate::plan::{DurationStop, LoadPlan, Share};
use crate::record::Recorder;
use crate::record::measurements::WorkerMeasurements;
use crate::worker::load_connection::{CallSink, Source};
use crate::worker::phases::{Phase, PhaseTimes};
use crate::worker::source_addresses::SourceAddresses;
use crate::worker::start_barrier::{RunStart, StartBarrier};
use bookend_io::{IoContext, IoStatistics};
use std::sync::Arc;

/// How long calls in flight may take to end after the window. The lab kills a process two seconds
/// after it asked it to end.
pub const DRAIN_NS: u64 = 1_500_000_000;
/// A deadline of calls is looked at so often within its length: calls end at most 6 % late.
const LOOKS_PER_TIMEOUT: u64 = 16;
/// Looks at deadlines are no nearer to each other than this.
const LOOK_MIN_NS: u64 = 1_000_000;

/// The state of one worker.
#[derive(Debug)]
pub(crate) struct WorkerState {
    pub plan: Arc<LoadPlan>,
    /// What it measured.
    pub measured: WorkerMeasurements,
    /// Where its connections come from.
    pub sources: SourceAddresses,
    /// Number of its first connection among those of the run.
    pub(super) first_connection: usize,
    barrier: Arc<StartBarrier>,
    /// Calls of the window that fall to this worker, where those are counted.
    pub(super) calls: Option<u64>,
    times: PhaseTimes,
    phase: Phase,
    arrived: bool,
    /// Calls of the window that have been made, where those are counted.
    pub(super) counted_made: u64,
    pub(super) counted_done: u64,
    next_number: u64,
    in_flight: u64,
    next_expiry_ns: u64,
    /// What the driver had counted when the window began.
    window_began: IoStatistics,
    pub(super) recorder: Recorder,
}

impl WorkerState {
    /// The state of worker `worker`, to which that share of the run falls.
    pub fn new(
        plan: Arc<LoadPlan>,
        barrier: Arc<StartBarrier>,
        worker: u32,
        share: &Share,
    ) -> Self {
        Self {
            times: PhaseTimes::of(&plan),
            plan,
            measured: WorkerMeasurements::default(),
            sources: SourceAddresses::default(),
            first_connection: share.first_connection as usize,
            barrier,
            calls: share.calls,
            phase: Phase::Connecting,
            arrived: false,
            counted_made: 0,
            counted_done: 0,
            next_number: u64::from(worker) << 40,
            in_flight: 0,
            next_expiry_ns: u64::MAX,
            window_began: IoStatistics::default(),
            recorder: Recorder::default(),
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        WorkerMeasurements {
            sources_used: self.sources.used(),
            ..self.measured
        }
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether calls are made now.
    #[inline]
    pub fn makes_calls(&self) -> bool {
        matches!(self.phase, Phase::WarmUp | Phase::Window)
    }

    /// Whether calls are made now or later.
    pub fn will_make_calls(&self) -> bool {
        !matches!(self.phase, Phase::Draining | Phase::Over)
    }

    /// It is `now_ns`: to be told before a batch is recorded. True where the phase may change.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) -> bool {
        if self.makes_calls() {
            let ended_ok = self.ended_ok();
            self.measured.timeline.tick(now_ns, ended_ok);
        }
        self.phase != Phase::Window || now_ns >= self.times.window_end_ns
    }

    /// Whether a window may end with any call.
    #[inline]
    pub fn may_end_with_a_call(&self) -> bool {
        self.phase != Phase::Window || self.plan.calls.is_some()
    }

    /// This worker has so many connections, and waits for no more before the run begins. Only the
    /// first time counts.
    pub fn arrive(&mut self, connections: u32, now_ns: u64) {
        if !std::mem::replace(&mut self.arrived, true) {
            self.barrier.arrive(connections, now_ns);
        }
    }

    /// Whether the worker waits for others.
    pub fn has_arrived(&self) -> bool {
        self.arrived
    }

    /// Begins the run if all workers are there. False where it never will.
    pub fn try_to_begin(&mut self, now_ns: u64) -> bool {
        match self.barrier.start() {
            RunStart::At(start_ns) => {
                // The last worker to arrive may have read its clock after this one. Calls that are
                // made now belong to the run all the same.
                let start_ns = start_ns.min(now_ns);
                self.times.begin(start_ns);
                let window_start_ns = self.times.window_start_ns;
                self.measured.timeline.begin(start_ns, window_start_ns);
                self.phase = Phase::WarmUp;
                self.next_expiry_ns = self.expiry_after(now_ns);
                true
            }
            RunStart::Never => false,
            RunStart::NotYet => !self.barrier.is_cancelled(),
        }
    }

    /// Begins the window if it is time to.
    pub fn try_to_open_window(&mut self, io: &IoContext) {
        let now_ns = io.now_ns();
        let is_warm = now_ns >= self.times.window_start_ns;
        if self.phase != Phase::WarmUp || !(is_warm || self.barrier.is_cancelled()) {
            return;
        }
        self.measured.timeline.carry(self.recorder.ok);
        self.measured.warmup = std::mem::take(&mut self.recorder);
        self.measured.window_start_ns = self.times.window_start_ns.min(now_ns);
        self.window_began = io.statistics();
        self.phase = Phase::Window;
    }

    #[inline]
    pub fn window_is_over(&self, now_ns: u64) -> bool {
        if self.phase != Phase::Window {
            return false;
        }
        let all_made = self.calls.is_some_and(|calls| self.counted_done >= calls);
        let out_of_time = now_ns >= self.times.window_end_ns;
        let waits = self.plan.duration_stop == DurationStop::Wait && self.in_flight > 0;
        all_made || (out_of_time && !waits) || self.barrier.is_cancelled()
    }

    /// Whether the calls in flight at the window's end fail there.
    pub fn closes_at_end(&self) -> bool {
        self.plan.duration_stop == DurationStop::Close
    }

    /// The window is over.
    pub fn end_window(&mut self, io: &IoContext) {
        let now_ns = io.now_ns();
        // By number, the window ends with its last call; by time, on time.
        let on_time = self.calls.is_none() && !self.barrier.is_cancelled();
        self.measured.window_end_ns = match self.plan.duration_stop {
            DurationStop::Wait => now_ns,
            _ if on_time => self.times.window_end_ns,
            _ => now_ns,
        };
        let window_end_ns = self.measured.window_end_ns;
        let ended_ok = self.ended_ok();
        self.measured.timeline.tick(window_end_ns, ended_ok);
        self.measured.timeline.carry(ended_ok);
        self.measured.window = std::mem::take(&mut self.recorder);
        self.measured.driver = io.statistics() - self.window_began;
        self.measured.cancelled = self.barrier.is_cancelled();
        self.times.drain_end_ns = now_ns + DRAIN_NS;
        self.phase = Phase::Draining;
    }

    pub fn may_leave(&self, now_ns: u64) -> bool {
        let is_late = now_ns >= self.times.drain_end_ns;
        self.phase == Phase::Draining && (self.in_flight == 0 || is_late)
    }

    /// The worker ends. What is in flight has no end.
    pub fn end(&mut self) {
        self.measured.unfinished = self.in_flight;
        self.measured.drained = std::mem::take(&mut self.recorder);
        self.phase = Phase::Over;
    }

    /// Calls that ended OK since the recorder was new, whenever they were made.
    #[inline]
    fn ended_ok(&self) -> u64 {
        self.recorder.ok + self.measured.stragglers.ok
    }

    /// Whether calls count by when they were made: in a window that is measured by number.
    #[inline]
    pub fn by_number(&self) -> bool {
        self.phase == Phase::Window && self.plan.calls.is_some()
    }

    /// Calls that may be made now.
    #[inline]
    pub fn budget(&self, now_ns: u64) -> u64 {
        match self.calls {
            _ if !self.makes_calls() => 0,
            Some(calls) if self.by_number() => calls - self.counted_made.min(calls),
            _ if now_ns >= self.times.window_end_ns => 0,
            _ => u64::MAX,
        }
    }

    /// What requests are made of.
    #[inline]
    pub fn source(&mut self) -> Source<'_> {
        Source {
            counted: self.by_number(),
            plan: &self.plan,
            next_number: &mut self.next_number,
        }
    }

    /// The number of a call that is made.
    pub fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// So many calls were made.
    #[inline]
    pub fn made(&mut self, calls: u64) {
        self.in_flight += calls;
        if self.by_number() {
            self.counted_made += calls;
        }
    }

    /// Where calls that end now are counted.
    #[inline]
    pub fn ledger(&mut self, now_ns: u64) -> CallSink<'_> {
        CallSink {
            by_number: self.by_number(),
            recorder: &mut self.recorder,
            in_flight: &mut self.in_flight,
            now_ns,
            counted_done: &mut self.counted_done,
            stragglers: &mut self.measured.stragglers,
            count_errors: self.plan.count_errors,
        }
    }

    /// As [`WorkerState::ledger`], for calls of that connection.
    pub fn ledger_of(&mut self, connection: usize, now_ns: u64) -> CallSink<'_> {
        self.recorder.at(self.measured.peers.entry(connection));
        self.ledger(now_ns)
    }

    /// Calls that started before this have waited too long, if it is time to look for such.
    pub fn expiry_limit_ns(&mut self, now_ns: u64) -> Option<u64> {
        let timeout_ns = self.plan.timeout_ns;
        let timeout_ns = timeout_ns.filter(|_| now_ns >= self.next_expiry_ns)?;
        self.next_expiry_ns = self.expiry_after(now_ns);
        Some(now_ns.saturating_sub(timeout_ns))
    }

    fn expiry_after(&self, now_ns: u64) -> u64 {
        let look_ns = |timeout_ns: u64| now_ns + (timeout_ns / LOOKS_PER_TIMEOUT).max(LOOK_MIN_NS);
        self.plan.timeout_ns.map_or(u64::MAX, look_ns)
    }

    /// When the phase ends by itself or deadlines of calls are looked at; `u64::MAX` for never.
    #[inline]
    pub fn next_deadline_ns(&self) -> u64 {
        let phase_ns = self.times.end_of(self.phase).unwrap_or(u64::MAX);
        phase_ns.min(self.next_expiry_ns)
    }
}
