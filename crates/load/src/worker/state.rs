//! What a worker is about, whatever its connections are used for: its phase, when calls may be
//! made, and where those that end are counted.

use super::laps::{LapBegin, WorkerLaps};
use super::phases::{PhaseTimes, RunPhase};
use super::source_addresses::SourceAddresses;
use super::start_barrier::{RunStart, StartBarrier};
use crate::pace::{Arrivals, Pace};
use crate::plan::{DurationStop, LoadPlan, Share};
use crate::record::{CallSink, Counted, InFlightAges, Obstacle, RecorderKind, WorkerMeasurements};
use bookend_io::{IoContext, IoStatistics};
use std::sync::Arc;
use std::time::Duration;

/// How long calls in flight may take to end after the window. The lab kills a process two seconds
/// after it asked it to end.
pub const DRAIN_NS: u64 = 1_500_000_000;
/// Deadlines of calls are checked this number of times within their length: calls end at most 6 %
/// late.
const EXPIRY_CHECKS_PER_TIMEOUT: u64 = 16;
/// Two checks of deadlines are no nearer to each other than this.
const EXPIRY_INTERVAL_MIN_NS: u64 = 1_000_000;

/// The state of one worker.
#[derive(Debug)]
pub(crate) struct WorkerState {
    pub plan: Arc<LoadPlan>,
    /// Its number.
    pub worker: u32,
    /// When the next call may be made.
    pub pace: Pace,
    /// Where calls are counted.
    pub calls: CallSink,
    /// Whether calls of an open loop find room.
    pub room: Room,
    /// What it has measured so far.
    pub measured: WorkerMeasurements,
    /// Where its connections come from.
    pub sources: SourceAddresses,
    /// Number of its first connection among those of the run.
    pub(super) first_connection: usize,
    barrier: Arc<StartBarrier>,
    /// The laps of a run that makes calls in laps only.
    laps: Option<WorkerLaps>,
    has_arrived: bool,
    phase: RunPhase,
    times: PhaseTimes,
    /// Calls of the window that fall to this worker, where the window is measured by number.
    window_calls: Option<u64>,
    next_expiry_ns: u64,
    /// The next change in the number of calls in flight.
    next_concurrency_step: usize,
    /// What the driver had counted when the window began.
    driver_at_window_start: IoStatistics,
    /// When what was counted is reported next; `u64::MAX` for never.
    interval_due_ns: u64,
    /// What was counted in this phase when it was last told.
    told: Counted,
}

impl WorkerState {
    /// The state of worker `worker`, to which that share of the run falls.
    pub fn new(
        plan: Arc<LoadPlan>,
        barrier: Arc<StartBarrier>,
        worker: u32,
        share: &Share,
    ) -> Self {
        let arrivals = arrivals(&plan, worker);
        Self {
            calls: CallSink::new(recorder_kind(&plan)),
            pace: Pace::new(plan.part.number, worker, arrivals),
            room: Room::default(),
            measured: WorkerMeasurements::default(),
            sources: SourceAddresses::default(),
            first_connection: share.first_connection as usize,
            laps: barrier.laps().cloned().map(WorkerLaps::new),
            barrier,
            has_arrived: false,
            phase: RunPhase::Connecting,
            times: PhaseTimes::UNKNOWN,
            window_calls: share.calls,
            next_expiry_ns: u64::MAX,
            next_concurrency_step: 0,
            worker,
            driver_at_window_start: IoStatistics::default(),
            interval_due_ns: u64::MAX,
            told: Counted::default(),
            plan,
        }
    }

    /// What it measured.
    pub fn into_measured(self) -> WorkerMeasurements {
        WorkerMeasurements {
            late_warmup: self.calls.late_warmup(),
            sources_used: self.sources.used(),
            ..self.measured
        }
    }

    #[inline]
    pub fn phase(&self) -> RunPhase {
        self.phase
    }

    /// Whether calls are made now.
    #[inline]
    pub fn makes_calls(&self) -> bool {
        matches!(self.phase, RunPhase::WarmUp | RunPhase::Window)
    }

    /// Whether calls are made now or later.
    pub fn will_make_calls(&self) -> bool {
        !matches!(self.phase, RunPhase::Draining | RunPhase::Over)
    }

    /// It is `now_ns`: called before a batch is recorded. True where the phase may change.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) -> bool {
        if self.makes_calls() {
            self.measured.timeline.tick(now_ns, self.calls.ended_ok());
        }
        self.follow_intervals(now_ns);
        self.phase != RunPhase::Window
            || now_ns >= self.times.window_end_ns
            || self.lap_is_due(now_ns)
    }

    /// Tells what was counted in the interval, if that is over.
    #[inline]
    pub fn follow_intervals(&mut self, now_ns: u64) {
        if now_ns >= self.interval_due_ns {
            self.tell_interval();
            let length_ns = self.barrier.intervals.as_ref().map_or(u64::MAX, |it| it.length_ns);
            let over = (now_ns - self.interval_due_ns) / length_ns + 1;
            self.interval_due_ns = self.interval_due_ns.saturating_add(over * length_ns);
        }
    }

    #[cold]
    fn tell_interval(&mut self) {
        if let Some(intervals) = &self.barrier.intervals {
            let counted = self.calls.counted(intervals.has_details);
            intervals.add(self.worker, &self.told, &counted, self.calls.in_flight());
            self.told = counted;
        }
    }

    /// Whether the end of any call may be the end of the window.
    #[inline]
    pub fn may_end_with_a_call(&self) -> bool {
        self.phase != RunPhase::Window || self.plan.calls.is_some() || self.laps.is_some()
    }

    /// Begins a lap if one was asked for. True where calls are to be made now.
    pub fn try_to_begin_lap(&mut self, io: &IoContext) -> bool {
        if self.phase != RunPhase::Window {
            return false;
        }
        let Some(laps) = &mut self.laps else {
            return false;
        };
        let Some(LapBegin { begin_ns, end_ns, opens_window }) = laps.begin(io.now_ns()) else {
            return false;
        };
        // Nothing is in flight between two laps, so each call belongs to one of the two phases.
        if opens_window {
            self.measured.warmup = self.calls.open_window(false, &self.barrier.calls_logged);
            self.driver_at_window_start = io.statistics();
        }
        laps.count_from(self.calls.ended_ok(), self.calls.ended_failed());
        self.room = Room::default();
        self.pace.start(begin_ns, end_ns);
        true
    }

    /// Ends the lap if its time is over, nothing is in flight, and every call that was due has been
    /// made. Those for which there is no room are given up: a server that is too slow for a rate
    /// would take for ever.
    pub fn try_to_end_lap(&mut self, now_ns: u64) {
        if !self.lap_is_due(now_ns) {
            return;
        }
        if let Some(obstacle) = self.room.obstacle() {
            let calls = self.pace.pass_all_due_before(u64::MAX);
            self.calls.not_made(calls, obstacle);
        }
        let Some(laps) = &mut self.laps else {
            return;
        };
        if self.calls.in_flight() > 0 || self.pace.due_ns() != u64::MAX {
            laps.await_calls();
        } else {
            let ended = (self.calls.ended_ok(), self.calls.ended_failed());
            laps.end(ended, self.calls.take_open_loop(), now_ns);
        }
    }

    /// Whether another thread may wake this worker at any time: the last worker to be ready, once
    /// this one is, or whoever asks for a lap.
    pub fn may_be_woken(&self) -> bool {
        let waits_for_start = self.has_arrived && self.phase == RunPhase::Connecting;
        let waits_for_lap = self.laps.as_ref().is_some_and(WorkerLaps::waits);
        waits_for_start || waits_for_lap && self.makes_calls()
    }

    #[inline]
    fn lap_is_due(&self, now_ns: u64) -> bool {
        self.laps.as_ref().is_some_and(|laps| laps.is_due(now_ns))
    }

    /// This worker has `connections` connections, and is ready for the run to begin. Only the first
    /// time counts.
    pub fn arrive(&mut self, connections: u32, now_ns: u64) {
        if !std::mem::replace(&mut self.has_arrived, true) {
            self.barrier.arrive(connections, now_ns);
        }
    }

    /// Whether the worker waits for the others.
    pub fn has_arrived(&self) -> bool {
        self.has_arrived
    }

    /// Begins the run if all workers have arrived. False where it never will begin.
    pub fn try_to_begin(&mut self, now_ns: u64) -> bool {
        match self.barrier.start() {
            RunStart::At(start_ns) if self.barrier.is_held() && now_ns < start_ns => {
                self.times.start_ns = start_ns;
                !self.barrier.is_cancelled()
            }
            RunStart::At(start_ns) => {
                self.measured.start_late_ns = now_ns.saturating_sub(start_ns);
                // The last worker to arrive may have read its clock after this one. Calls that are
                // made now belong to the run all the same.
                let start_ns = start_ns.min(now_ns);
                self.times.begin(&self.plan, start_ns);
                if self.laps.is_none() {
                    self.pace.start(start_ns, self.times.window_end_ns);
                }
                let window_start_ns = self.times.window_start_ns;
                self.measured.timeline.begin(start_ns, window_start_ns);
                self.phase = RunPhase::WarmUp;
                self.next_expiry_ns = self.expiry_after(now_ns);
                true
            }
            RunStart::Never => false,
            RunStart::NotYet => !self.barrier.is_cancelled(),
        }
    }

    /// A template gives nothing that can be sent: the run ends early, and what was measured is
    /// kept.
    #[cold]
    pub fn fail_template(&mut self, why: String) {
        self.measured.template_failure.get_or_insert(why);
        self.barrier.cancel();
    }

    /// The call of an open loop that is due next finds no room. True where it is given up: it has
    /// waited for as long as a call may last.
    pub fn hold_back(&mut self, obstacle: Obstacle, now_ns: u64) -> bool {
        self.room.miss(obstacle);
        let is_late = now_ns >= self.due_call_ns();
        if is_late {
            self.pace.pass_due_call();
            self.calls.not_made(1, obstacle);
        }
        is_late
    }

    /// When the call of an open loop that is due next has to be looked at: when it is due or, where
    /// there is no room, when it is given up. `u64::MAX` for never.
    #[inline]
    pub fn due_call_ns(&self) -> u64 {
        let due_ns = self.pace.due_ns();
        if self.room.obstacle().is_none() {
            return due_ns;
        }
        due_ns.saturating_add(self.plan.timeout_ns.unwrap_or(u64::MAX))
    }

    /// The calls to keep in flight over all workers from now on, if that changes now.
    pub fn next_concurrency(&mut self, now_ns: u64) -> Option<u32> {
        let mut calls = None;
        while self.concurrency_step_ns() <= now_ns {
            calls = Some(self.plan.concurrency_steps[self.next_concurrency_step].calls);
            self.next_concurrency_step += 1;
        }
        calls
    }

    /// When the number of calls in flight changes next; `u64::MAX` for never.
    fn concurrency_step_ns(&self) -> u64 {
        let step = self
            .plan
            .concurrency_steps
            .get(self.next_concurrency_step)
            .filter(|_| self.phase == RunPhase::Window);
        step.map_or(u64::MAX, |step| self.measured.window_start_ns.saturating_add(step.at_ns))
    }

    /// Begins the window if its time has come.
    pub fn try_to_open_window(&mut self, io: &IoContext) {
        let now_ns = io.now_ns();
        let is_warm = now_ns >= self.times.window_start_ns;
        if self.phase != RunPhase::WarmUp || !(is_warm || self.barrier.is_cancelled()) {
            return;
        }
        let warmup =
            self.calls.open_window(self.window_calls.is_some(), &self.barrier.calls_logged);
        if let Some(calls) = self.window_calls {
            self.pace.limit(calls);
        }
        self.calls.skip_first(self.plan.calls_skipped_by(self.worker));
        self.measured.timeline.carry(warmup.ok);
        self.measured.warmup = warmup;
        self.measured.window_start_ns = self.times.window_start_ns.min(now_ns);
        self.driver_at_window_start = io.statistics();
        if let Some(intervals) = &self.barrier.intervals {
            let start_ns = self.measured.window_start_ns;
            self.interval_due_ns = start_ns.saturating_add(intervals.length_ns);
        }
        self.phase = RunPhase::Window;
    }

    #[inline]
    pub fn window_is_over(&self, now_ns: u64) -> bool {
        if self.phase != RunPhase::Window {
            return false;
        }
        let ended = self.calls.counted_ended();
        let all_ended = self.window_calls.is_some_and(|calls| ended >= calls);
        let out_of_time = now_ns >= self.times.window_end_ns;
        let waits = self.plan.duration_stop == DurationStop::Wait && self.calls.in_flight() > 0;
        all_ended || (out_of_time && !waits) || self.barrier.is_cancelled()
    }

    /// Whether the calls in flight at the window's end fail there.
    pub fn closes_at_end(&self) -> bool {
        self.plan.duration_stop == DurationStop::Close
    }

    /// The window is over, with `in_flight` not ended.
    pub fn end_window(&mut self, in_flight: InFlightAges, io: &IoContext) {
        let now_ns = io.now_ns();
        let is_cancelled = self.barrier.is_cancelled();
        // By number, the window ends with its last call; by time, on time.
        let on_time = self.window_calls.is_none() && !is_cancelled;
        let window_end_ns = if on_time && self.plan.duration_stop != DurationStop::Wait {
            self.times.window_end_ns
        } else {
            now_ns
        };
        let late_calls = self.pace.pass_all_due_before(window_end_ns.min(now_ns));
        let obstacle = self.room.obstacle().unwrap_or(Obstacle::Generator);
        self.calls.not_made(late_calls, obstacle);
        let ended_ok = self.calls.ended_ok();
        self.measured.timeline.tick(window_end_ns, ended_ok);
        self.measured.timeline.carry(ended_ok);
        self.measured.window_end_ns = window_end_ns;
        self.measured.in_flight_at_end = in_flight;
        self.tell_interval();
        self.interval_due_ns = u64::MAX;
        self.measured.window = self.calls.begin_phase(false);
        self.measured.driver = io.statistics() - self.driver_at_window_start;
        self.measured.cancelled = is_cancelled;
        self.pace.stop();
        self.times.drain_end_ns = now_ns + DRAIN_NS;
        self.phase = RunPhase::Draining;
    }

    /// Whether nothing is left to wait for after the window.
    pub fn may_leave(&self, now_ns: u64) -> bool {
        let is_late = now_ns >= self.times.drain_end_ns;
        self.phase == RunPhase::Draining && (self.calls.in_flight() == 0 || is_late)
    }

    /// The worker ends. Calls in flight have no outcome.
    pub fn end(&mut self, in_flight: InFlightAges) {
        self.measured.unanswered = in_flight;
        self.measured.drained = self.calls.begin_phase(false);
        self.pace.stop();
        self.phase = RunPhase::Over;
    }

    /// Calls that started before this have waited too long, if it is time to check for such.
    pub fn expiry_limit_ns(&mut self, now_ns: u64) -> Option<u64> {
        let timeout_ns = self.plan.timeout_ns.filter(|_| now_ns >= self.next_expiry_ns)?;
        self.next_expiry_ns = self.expiry_after(now_ns);
        Some(now_ns.saturating_sub(timeout_ns))
    }

    fn expiry_after(&self, now_ns: u64) -> u64 {
        self.plan.timeout_ns.map_or(u64::MAX, |timeout_ns| {
            now_ns + (timeout_ns / EXPIRY_CHECKS_PER_TIMEOUT).max(EXPIRY_INTERVAL_MIN_NS)
        })
    }

    /// When the worker is to be woken: where the phase ends by itself, where deadlines of calls are
    /// checked, or at `other_ns`, `u64::MAX` for never.
    #[inline]
    pub fn next_deadline(&self, other_ns: u64) -> Option<u64> {
        let phase_end_ns = self.times.end_of(self.phase);
        let call_ns = self.due_call_ns();
        let of_calls_ns = self.next_expiry_ns.min(call_ns).min(self.concurrency_step_ns());
        let lap_end_ns = self.laps.as_ref().map_or(u64::MAX, WorkerLaps::deadline_ns);
        let of_watch_ns = self.interval_due_ns.min(lap_end_ns);
        let deadline_ns = phase_end_ns.min(of_calls_ns).min(of_watch_ns).min(other_ns);
        (deadline_ns != u64::MAX).then_some(deadline_ns)
    }
}

fn recorder_kind(plan: &LoadPlan) -> RecorderKind {
    RecorderKind {
        is_open_loop: plan.pacing.open().is_some(),
        has_streams: plan.call.grpc().is_some_and(|call| call.streaming.is_some()),
        counts_errors: plan.count_errors,
        calls_listed: plan.calls_listed,
        timeout_ns: plan.timeout_ns,
    }
}

/// When calls of that worker are due. While the run warms up, the first rate is held.
fn arrivals(plan: &LoadPlan, worker: u32) -> Option<Arrivals> {
    let open_loop = plan.pacing.open()?;
    let schedule = open_loop.schedule.delayed(Duration::from_nanos(plan.warmup_ns));
    let process = open_loop.arrivals;
    let (seed, part, threads) = (open_loop.seed, plan.part, plan.threads);
    Some(Arrivals::new(Arc::new(schedule), process, seed, part, worker, threads))
}

/// What keeps due calls from being made, and since when.
#[derive(Debug, Default)]
pub(crate) struct Room {
    obstacle: Option<Obstacle>,
    /// Calls that were due until then found no room when they were.
    missing_until_ns: u64,
}

impl Room {
    /// A call finds no room.
    pub fn miss(&mut self, obstacle: Obstacle) {
        self.obstacle = Some(obstacle);
    }

    /// What keeps calls from being made.
    #[inline]
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.obstacle
    }

    /// There is some at `now_ns`, for a call that was due at `intended_ns`. Says whether the call
    /// had to wait for it.
    #[inline]
    pub fn find(&mut self, intended_ns: u64, now_ns: u64) -> bool {
        if self.obstacle.take().is_some() {
            self.missing_until_ns = now_ns;
        }
        intended_ns <= self.missing_until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_due_while_there_was_no_room_have_waited() {
        let mut room = Room::default();
        assert!(!room.find(5, 5));
        room.miss(Obstacle::StreamLimit);
        assert!(room.find(10, 50));
        assert!(room.find(50, 51), "due before there was room");
        assert!(!room.find(52, 53));
    }
}
