//! The result of a run.

use super::cpu_quota;
use crate::record::{
    ErrorCounts, InFlightAges, IoStatisticsShape, Latencies, ListedCalls, OpenLoopCalls,
    RunInterval, SetupLatencies, StreamMessages, TargetOutcome, Timeline, WorkerMeasurements,
    count_text, smaller,
};
use bookend_contract::generator_stops::GeneratorStops;
use bookend_contract::report::Intervals;
use bookend_io::{IoStatistics, Usage, clock_ns};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The result of a run: all workers added up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// Latencies of the window, from when each call was made.
    pub latencies: Latencies,
    /// When the calls of the window should have been made, in an open loop.
    pub open_loop: Option<OpenLoopCalls>,
    /// Calls of the window that were answered OK.
    pub ok: u64,
    /// Calls of the window that failed.
    pub errors: ErrorCounts,
    /// Calls answered OK before the window; in a window by number also those that were made before
    /// it.
    pub warmup: u64,
    /// Calls answered OK after the window.
    pub drained: u64,
    /// Calls that may have been answered and are in none of the other counts: they had not ended
    /// when the run did, or failed outside the window.
    pub unfinished: u64,
    /// Calls in flight when the window ended, however they ended later.
    pub in_flight_at_end: InFlightAges,
    /// Calls that had neither been answered nor failed when the run ended.
    pub unanswered: InFlightAges,
    /// Calls that failed after the window.
    pub failed_after_window: u64,
    /// Calls of the window one by one, where they are listed.
    pub calls: Option<ListedCalls>,
    /// Length of the window, nanoseconds.
    pub window_ns: u64,
    /// What the drivers did in the window.
    #[serde(with = "IoStatisticsShape")]
    pub driver: IoStatistics,
    /// CPU time of this process in the window, user mode, seconds.
    pub cpu_user_seconds: f64,
    /// CPU time of this process in the window, kernel, seconds.
    pub cpu_system_seconds: f64,
    /// CPUs that this process gets at most, where they are rationed.
    pub cpu_quota: Option<f64>,
    /// Times in the window in which this process did not run.
    pub stops: GeneratorStops,
    /// The largest resident set of this process, bytes.
    pub memory_peak_bytes: u64,
    /// What the OK calls of the window were made of, where each had a connection of its own.
    pub setup: Option<SetupLatencies>,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// Connections that were replaced because more calls were given up on them than a server lets
    /// be reset.
    pub connections_given_up: u64,
    /// Addresses besides the first that connections of a worker came from, because that was out of
    /// ports.
    pub sources_used: u32,
    /// What each address has done, in the order of the names.
    pub targets: Vec<TargetOutcome>,
    /// The messages of streaming calls of the window, where there were such.
    pub streams: Option<Box<StreamMessages>>,
    /// Why a template gave nothing that can be sent, which has ended the run.
    pub template_failure: Option<String>,
    /// How long after the start of the run its last worker began, nanoseconds.
    pub start_late_ns: u64,
    /// Whether the run was interrupted.
    pub cancelled: bool,
    /// Why a connection failed, the first time one did.
    pub first_failure: Option<String>,
    /// Connections that the server ended with GOAWAY, by its code and debug data.
    pub goaways: BTreeMap<String, u64>,
    /// The server's limit of streams a connection, where it kept calls from being made.
    pub streams_allowed: Option<u32>,
    /// Calls that ended OK in each interval of warm-up and window, whenever they were made; `None`
    /// for a run too short.
    pub intervals: Option<Intervals>,
}

impl LoadOutcome {
    /// The result of a run of which no more is known than what it did in `interval`.
    pub fn of_interval(interval: &RunInterval) -> Self {
        let details = interval.details.as_deref().cloned().unwrap_or_default();
        Self {
            latencies: details.from_start,
            open_loop: details.open_loop,
            ok: interval.ok,
            errors: details.errors,
            streams: details.streams.map(Box::new),
            window_ns: interval.end_ns - interval.start_ns,
            cancelled: true,
            ..Self::default()
        }
    }

    /// The same with the calls of `interval` in the place of its own, which are a part of them.
    pub fn with_calls_of(self, interval: &RunInterval) -> Self {
        let calls = Self::of_interval(interval);
        Self {
            latencies: calls.latencies,
            open_loop: calls.open_loop,
            ok: calls.ok,
            errors: calls.errors,
            streams: calls.streams,
            ..self
        }
    }

    /// Latencies as a user has them: in an open loop from when each call was due.
    pub fn latencies_to_report(&self) -> &Latencies {
        match &self.open_loop {
            Some(open_loop) => &open_loop.from_intended,
            None => &self.latencies,
        }
    }

    /// Calls that failed, were due and never made, or never came back: none of them has a latency,
    /// and each counts as slower than any bound.
    pub fn failed(&self) -> u64 {
        self.errors.total() + self.not_made() + self.never_came_back()
    }

    /// Those of [`LoadOutcome::failed`], and the calls that were cut off when they had been in
    /// flight for longer than `bound_ns`.
    pub fn failed_or_longer_than(&self, bound_ns: u64) -> u64 {
        let longer = match self.streams {
            Some(_) => 0,
            None => self.in_flight_at_end.longer_than(bound_ns),
        };
        self.errors.total() + self.not_made() + longer.max(self.never_came_back())
    }

    /// Calls that failed after the window, and those that had no answer at the end of the run when
    /// they had been in flight for longer than any that has one. Of the others it is not known: a
    /// server may be as slow as that. A streaming call may go on for ever.
    pub fn never_came_back(&self) -> u64 {
        let longest_ns = self.latencies_to_report().max_ns;
        match self.streams {
            Some(_) => 0,
            None => self.failed_after_window + self.unanswered.longer_than(longest_ns),
        }
    }

    /// Calls of an open loop that were due and never made.
    pub fn not_made(&self) -> u64 {
        self.open_loop.iter().flat_map(OpenLoopCalls::not_made).map(|(_, calls)| calls).sum()
    }

    /// Adds up what the workers have measured. `start` and `end` are what this process had used at
    /// either end of the window.
    pub(super) fn add_up(
        workers: Vec<WorkerMeasurements>,
        (start, end): (Usage, Usage),
        first_failure: Option<String>,
    ) -> Self {
        let mut outcome = Self {
            window_ns: window_ns(&workers),
            cpu_user_seconds: end.user_seconds - start.user_seconds,
            cpu_system_seconds: end.system_seconds - start.system_seconds,
            cpu_quota: cpu_quota::of_this_process(),
            memory_peak_bytes: bookend_io::usage().memory_peak_bytes,
            cancelled: workers.iter().any(|worker| worker.cancelled),
            first_failure,
            ..Self::default()
        };
        let mut timeline = Timeline::default();
        for mut worker in workers {
            timeline.merge(std::mem::take(&mut worker.timeline));
            outcome.add(worker);
        }
        outcome.targets.sort_by_key(|target| target.name);
        outcome.intervals = timeline.intervals();
        outcome
    }

    fn add(&mut self, mut worker: WorkerMeasurements) {
        self.ok += worker.window.ok;
        self.warmup += worker.warmup.ok + worker.late_warmup.ok;
        self.drained += worker.drained.ok;
        self.unfinished += worker.unanswered.calls() + worker.failed_outside_window();
        self.unanswered.merge(std::mem::take(&mut worker.unanswered));
        self.failed_after_window += worker.drained.errors.total();
        self.in_flight_at_end.merge(std::mem::take(&mut worker.in_flight_at_end));
        self.start_late_ns = self.start_late_ns.max(worker.start_late_ns);
        self.driver += worker.driver;
        self.connections_opened += worker.connections_opened;
        self.connections_given_up += worker.connections_given_up;
        self.sources_used = self.sources_used.max(worker.sources_used);
        self.streams_allowed = smaller(self.streams_allowed, worker.streams_allowed);
        if let Some(setup) = &worker.window.setup {
            self.setup.get_or_insert_default().merge(setup);
        }
        if let Some(open_loop) = &worker.window.open_loop {
            self.open_loop.get_or_insert_default().merge(open_loop);
        }
        if let Some(streams) = &worker.window.streams {
            self.streams.get_or_insert_default().merge(streams);
        }
        if self.template_failure.is_none() {
            self.template_failure = worker.template_failure.take();
        }
        if let Some(log) = worker.window.log.take() {
            let calls = self.calls.get_or_insert_with(|| ListedCalls::new(wall_clock_ahead_ns()));
            calls.add(*log);
        }
        let targets = worker.peers.into_outcomes(worker.window.by_target());
        targets.into_iter().for_each(|target| self.add_target(target));
        for (text, count) in worker.goaways {
            count_text(&mut self.goaways, text, count);
        }
        self.errors.merge(std::mem::take(&mut worker.window.errors));
        self.latencies.merge(&worker.window.finish());
    }

    /// Adds what another generator of the same run has measured. Its calls one by one have times of
    /// this machine's clock ([`ListedCalls::move_by`]).
    pub fn merge(&mut self, other: Self) {
        self.latencies.merge(&other.latencies);
        self.errors.merge(other.errors);
        self.ok += other.ok;
        self.warmup += other.warmup;
        self.drained += other.drained;
        self.unfinished += other.unfinished;
        self.in_flight_at_end.merge(other.in_flight_at_end);
        self.unanswered.merge(other.unanswered);
        self.failed_after_window += other.failed_after_window;
        self.window_ns = self.window_ns.max(other.window_ns);
        self.driver += other.driver;
        self.cpu_user_seconds += other.cpu_user_seconds;
        self.cpu_system_seconds += other.cpu_system_seconds;
        self.cpu_quota = self.cpu_quota.zip(other.cpu_quota).map(|(own, others)| own + others);
        self.stops.count += other.stops.count;
        self.stops.longest_ns = self.stops.longest_ns.max(other.stops.longest_ns);
        self.memory_peak_bytes = self.memory_peak_bytes.max(other.memory_peak_bytes);
        self.connections_opened += other.connections_opened;
        self.connections_given_up += other.connections_given_up;
        self.sources_used = self.sources_used.max(other.sources_used);
        self.start_late_ns = self.start_late_ns.max(other.start_late_ns);
        self.cancelled |= other.cancelled;
        self.template_failure = self.template_failure.take().or(other.template_failure);
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.streams_allowed = smaller(self.streams_allowed, other.streams_allowed);
        if let Some(calls) = &other.open_loop {
            self.open_loop.get_or_insert_default().merge(calls);
        }
        if let Some(setup) = &other.setup {
            self.setup.get_or_insert_default().merge(setup);
        }
        if let Some(streams) = &other.streams {
            self.streams.get_or_insert_default().merge(streams);
        }
        match (&mut self.calls, other.calls) {
            (Some(calls), Some(others)) => calls.merge(others),
            (calls, others) => *calls = calls.take().or(others),
        }
        other.targets.into_iter().for_each(|target| self.add_target(target));
        self.targets.sort_by_key(|target| target.name);
        for (text, count) in other.goaways {
            count_text(&mut self.goaways, text, count);
        }
        self.intervals = self.intervals.take().zip(other.intervals).and_then(added);
    }

    /// Adds what an address has done for one worker.
    fn add_target(&mut self, target: TargetOutcome) {
        let mut known = self.targets.iter_mut();
        match known.find(|known| (known.name, &known.address) == (target.name, &target.address)) {
            Some(known) => {
                known.connections_opened += target.connections_opened;
                known.calls.ok += target.calls.ok;
                known.calls.failed += target.calls.failed;
            }
            None => self.targets.push(target),
        }
    }
}

/// The intervals of two generators together; none where they differ in width, which only those of
/// runs by number can.
fn added((mut one, mut other): (Intervals, Intervals)) -> Option<Intervals> {
    let place = |intervals: &Intervals| (intervals.interval_ms, intervals.window_start);
    if place(&one) != place(&other) {
        return None;
    }
    if one.counts.len() < other.counts.len() {
        std::mem::swap(&mut one, &mut other);
    }
    one.counts.iter_mut().zip(other.counts).for_each(|(own, others)| *own += others);
    Some(one)
}

/// What the wall clock (nanoseconds since 1970) is ahead of the drivers' clock.
pub fn wall_clock_ahead_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX).saturating_sub_unsigned(clock_ns())
}

/// From the first worker's start to the last one's end.
fn window_ns(measured: &[WorkerMeasurements]) -> u64 {
    let counted = || measured.iter().filter(|worker| worker.window_end_ns > 0);
    let start_ns = counted().map(|worker| worker.window_start_ns).min();
    let end_ns = counted().map(|worker| worker.window_end_ns).max();
    end_ns.zip(start_ns).map_or(0, |(end_ns, start_ns)| end_ns.saturating_sub(start_ns))
}
