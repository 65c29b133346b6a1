//! A run: workers are started, watched and added up.

mod cpu_quota;
mod outcome;
mod session;
mod worker_threads;

pub use bookend_io::clock_ns;
pub use outcome::{LoadOutcome, wall_clock_ahead_ns};
pub use session::LoadSession;

use crate::plan::LoadPlan;
use crate::record::{IntervalFeed, RunInterval, WorkerMeasurements};
pub use crate::worker::{LapCalls, StartGate};
use crate::worker::{LapGate, RunStart, StartBarrier};
use bookend_contract::duration::nanoseconds;
use bookend_contract::generator_stops::GeneratorStops;
use bookend_io::{Usage, Waker, usage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};
use thiserror::Error;

/// How often the run checks whether it was interrupted. When a worker ends, it checks at once.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How long after the end of an interval workers may take to say what they did in it.
const INTERVAL_DELAY_NS: u64 = 30_000_000;

/// The two ends of the window, which a run reports as it passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEdge {
    /// The window begins.
    Start,
    /// The window is over.
    End,
}

/// Someone who wants to know of a run while it goes on.
pub trait RunObserver {
    /// The run passes an end of its window.
    fn edge(&mut self, edge: WindowEdge);

    /// How long the intervals are that are reported; `None` without any.
    fn interval_length(&self) -> Option<Duration> {
        None
    }

    /// Whether the intervals have all that was recorded of their calls.
    fn wants_details(&self) -> bool {
        false
    }

    /// An interval is over.
    fn interval(&mut self, _: &RunInterval) {}
}

/// Why nothing could be measured.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The machine gave no threads or descriptors.
    #[error("this machine cannot run the workers: {0}")]
    Machine(io::Error),
    /// No connection could be made, or none spoke HTTP/2.
    #[error("{0}")]
    NoConnection(String),
}

/// Makes the calls of `plan`. `interrupt` ends the run early: what was measured is returned.
///
/// # Errors
/// When nothing could be measured.
pub fn run(
    plan: impl Into<Arc<LoadPlan>>,
    interrupt: &AtomicBool,
    progress: impl FnMut(WindowEdge),
) -> Result<LoadOutcome, LoadError> {
    observe(plan, interrupt, &mut EdgeObserver(progress))
}

/// As [`run`], watched by someone who wants to know more.
///
/// # Errors
/// When nothing could be measured.
pub fn observe(
    plan: impl Into<Arc<LoadPlan>>,
    interrupt: &AtomicBool,
    observer: &mut impl RunObserver,
) -> Result<LoadOutcome, LoadError> {
    observe_held(plan.into(), Hold::default(), interrupt, observer)
}

/// The same of a run that begins when `gate` says so, once it has its connections.
///
/// # Errors
/// When nothing could be measured.
pub fn observe_from(
    plan: impl Into<Arc<LoadPlan>>,
    gate: Arc<StartGate>,
    interrupt: &AtomicBool,
    observer: &mut impl RunObserver,
) -> Result<LoadOutcome, LoadError> {
    let hold = Hold { gate: Some(gate), ..Hold::default() };
    observe_held(plan.into(), hold, interrupt, observer)
}

/// What decides when calls are made, where that is not the run itself.
#[derive(Default)]
struct Hold {
    /// Calls are made in laps only.
    laps: Option<Arc<LapGate>>,
    /// The run begins when it says so.
    gate: Option<Arc<StartGate>>,
}

fn observe_held(
    plan: Arc<LoadPlan>,
    hold: Hold,
    interrupt: &AtomicBool,
    observer: &mut impl RunObserver,
) -> Result<LoadOutcome, LoadError> {
    let has_details = observer.wants_details();
    let intervals = observer
        .interval_length()
        .map(|length| IntervalFeed::new(nanoseconds(length), has_details));
    let wakers = (0..plan.threads)
        .map(|_| Waker::new())
        .collect::<Result<Vec<_>, _>>()
        .map_err(LoadError::Machine)?;
    let mut barrier = StartBarrier::new(wakers.clone()).with_intervals(intervals);
    if let Some(laps) = hold.laps {
        barrier = barrier.in_laps(laps);
    }
    if let Some(gate) = hold.gate {
        barrier = barrier.held_by(gate);
    }
    let barrier = Arc::new(barrier);
    let workers = worker_threads::spawn_all(&plan, &barrier, wakers).map_err(LoadError::Machine)?;
    let mut watch = Watch {
        barrier: &barrier,
        interrupt,
        observer,
        window_start_ns: u64::MAX,
        told_ns: 0,
        stops: GeneratorStops::default(),
    };
    let usage = watch.follow(&plan);
    let measured = worker_threads::join_all(workers).map_err(LoadError::Machine)?;
    watch.tell_rest(&measured);
    let first_failure = measured.iter().find_map(|worker| worker.first_failure.clone());
    if let RunStart::At(_) = barrier.start() {
        let outcome = LoadOutcome::add_up(measured, usage, first_failure);
        return Ok(LoadOutcome { stops: watch.stops, ..outcome });
    }
    let interrupted = || "interrupted before the run began".to_owned();
    let reason = first_failure.unwrap_or_else(interrupted);
    Err(LoadError::NoConnection(reason))
}

/// Observes only the ends of the window.
struct EdgeObserver<F>(F);

impl<F: FnMut(WindowEdge)> RunObserver for EdgeObserver<F> {
    fn edge(&mut self, edge: WindowEdge) {
        (self.0)(edge);
    }
}

/// Follows a run from outside its workers.
struct Watch<'a, O> {
    barrier: &'a StartBarrier,
    interrupt: &'a AtomicBool,
    observer: &'a mut O,
    /// When the window begins, nanoseconds; `u64::MAX` before the run does.
    window_start_ns: u64,
    /// Since then, until when intervals have been told, nanoseconds.
    told_ns: u64,
    stops: GeneratorStops,
}

impl<O: RunObserver> Watch<'_, O> {
    /// Sleeps through the run; reads the usage at both ends of the window.
    fn follow(&mut self, plan: &LoadPlan) -> (Usage, Usage) {
        while self.barrier.start() == RunStart::NotYet && self.sleep(u64::MAX) {}
        let RunStart::At(start_ns) = self.barrier.start() else {
            return (usage(), usage());
        };
        let window_start_ns = start_ns.saturating_add(plan.warmup_ns);
        self.window_start_ns = window_start_ns;
        while self.sleep(window_start_ns) {}
        let start = usage();
        self.observer.edge(WindowEdge::Start);
        let window_end_ns =
            plan.window_ns.map_or(u64::MAX, |length_ns| window_start_ns.saturating_add(length_ns));
        while self.sleep(window_end_ns) {}
        let end = usage();
        self.observer.edge(WindowEdge::End);
        (start, end)
    }

    /// Sleeps for a while. False where there is nothing to wait for any more.
    fn sleep(&mut self, until_ns: u64) -> bool {
        self.tell_interval();
        if self.interrupt.load(Ordering::Relaxed) {
            self.barrier.cancel();
            return false;
        }
        if self.barrier.is_over() || clock_ns() >= until_ns {
            return false;
        }
        self.park(until_ns);
        true
    }

    /// Sleeps until then, but no longer than [`CHECK_INTERVAL`]. This thread does next to nothing
    /// else, so that it tells when the whole process did not run, at no cost to the workers.
    fn park(&mut self, until_ns: u64) {
        let now_ns = clock_ns();
        let asked_ns = until_ns.min(now_ns + nanoseconds(CHECK_INTERVAL));
        thread::park_timeout(Duration::from_nanos(asked_ns.saturating_sub(now_ns)));
        let woken_ns = clock_ns();
        if woken_ns >= self.window_start_ns {
            self.stops.woken(asked_ns, woken_ns);
        }
    }

    /// Tells what was done in the interval that is over, once the workers have said so.
    fn tell_interval(&mut self) {
        let Some(intervals) = &self.barrier.intervals else {
            return;
        };
        let end_ns = self.told_ns + intervals.length_ns;
        if clock_ns().saturating_sub(self.window_start_ns) >= end_ns + INTERVAL_DELAY_NS {
            self.tell(end_ns);
        }
    }

    /// Tells what was done after the last whole interval.
    fn tell_rest(&mut self, measured: &[WorkerMeasurements]) {
        let end_ns = measured
            .iter()
            .map(|worker| worker.window_end_ns)
            .max()
            .unwrap_or(0)
            .saturating_sub(self.window_start_ns);
        if end_ns > self.told_ns {
            self.tell(end_ns);
        }
    }

    fn tell(&mut self, end_ns: u64) {
        if let Some(intervals) = &self.barrier.intervals {
            let interval = RunInterval { start_ns: self.told_ns, end_ns, ..intervals.take() };
            self.observer.interval(&interval);
            self.told_ns = end_ns;
        }
    }
}
