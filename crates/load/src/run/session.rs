//! A run that keeps its connections and makes calls in laps, when it is told to.
//!
//! Between two laps nothing is in flight. So what a server's process has used from before a lap
//! until after it belongs to the calls of that lap and to no others, and none of its threads is
//! on a processor when that is read.

use super::{
    EdgeObserver, Hold, LapCalls, LapGate, LoadError, LoadOutcome, WindowEdge, observe_held,
};
use crate::plan::{Connecting, DurationStop, LoadPlan};
use bookend_io::{Usage, clock_ns, usage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Between two looks at whether the run has failed or is to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A run whose connections are there. Dropping it ends the run.
#[derive(Debug)]
pub struct LoadSession {
    gate: Arc<LapGate>,
    cancelled: Arc<AtomicBool>,
    run: Option<JoinHandle<Result<LoadOutcome, LoadError>>>,
    window: LapSum,
}

/// The laps of the window together.
#[derive(Debug, Default)]
struct LapSum {
    length_ns: u64,
    cpu_user_seconds: f64,
    cpu_system_seconds: f64,
}

impl LoadSession {
    /// Makes the connections of `plan`, and no call yet. How long it makes calls is decided lap by
    /// lap; the schedule of an open loop begins with each lap, and each lap has what is recorded
    /// of it.
    ///
    /// # Errors
    /// There is no connection, or the machine gives no threads.
    pub fn start(plan: LoadPlan) -> Result<Self, LoadError> {
        let plan = LoadPlan {
            connecting: Connecting::BeforeRun,
            concurrency_steps: Vec::new(),
            warmup_ns: 0,
            window_ns: None,
            calls: None,
            duration_stop: DurationStop::Ignore,
            ..plan
        };
        let (gate, cancelled) = (Arc::new(LapGate::default()), Arc::new(AtomicBool::new(false)));
        let (begun, begins) = sync_channel(2);
        let (laps, interrupt) = (Arc::clone(&gate), Arc::clone(&cancelled));
        let follow = move || {
            let mut observer = EdgeObserver(|edge| {
                // Only the first matters, and nobody waits for the second.
                let _ = begun.try_send(edge);
            });
            let hold = Hold { laps: Some(laps), ..Hold::default() };
            observe_held(Arc::new(plan), hold, &interrupt, &mut observer)
        };
        let run = thread::Builder::new()
            .name("load-session".to_owned())
            .spawn(follow)
            .map_err(LoadError::Machine)?;
        let window = LapSum::default();
        let mut session = Self { gate, cancelled, run: Some(run), window };
        // Hung up where the run has ended, with its reason.
        match begins.recv() {
            Ok(WindowEdge::Start) => Ok(session),
            Ok(WindowEdge::End) | Err(_) => Err(session.why_ended()),
        }
    }

    /// Makes calls for `length`, then waits for those in flight. `None`: `interrupt` was raised.
    ///
    /// # Errors
    /// The run has ended, with its reason.
    pub fn lap(
        &mut self,
        length: Duration,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<LapCalls>, LoadError> {
        self.lap_at(clock_ns(), length, interrupt)
    }

    /// The same from `begin_ns` on, nanoseconds of the drivers' clock.
    ///
    /// # Errors
    /// As [`LoadSession::lap`].
    pub fn lap_at(
        &mut self,
        begin_ns: u64,
        length: Duration,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<LapCalls>, LoadError> {
        let before = usage();
        let calls = self.make_calls(begin_ns, length, true, interrupt)?;
        if let Some(calls) = &calls {
            self.window.add(calls.length_ns, &before, &usage());
        }
        Ok(calls)
    }

    /// The same before the first lap: these calls count as warm-up.
    ///
    /// # Errors
    /// As [`LoadSession::lap`].
    pub fn warm_up(
        &mut self,
        length: Duration,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<LapCalls>, LoadError> {
        self.warm_up_at(clock_ns(), length, interrupt)
    }

    /// The same from `begin_ns` on.
    ///
    /// # Errors
    /// As [`LoadSession::lap`].
    pub fn warm_up_at(
        &mut self,
        begin_ns: u64,
        length: Duration,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<LapCalls>, LoadError> {
        self.make_calls(begin_ns, length, false, interrupt)
    }

    fn make_calls(
        &mut self,
        begin_ns: u64,
        length: Duration,
        counts: bool,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<LapCalls>, LoadError> {
        let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.gate.begin(begin_ns, begin_ns.saturating_add(length_ns), counts);
        loop {
            if let Some(calls) = self.gate.wait(length + CHECK_INTERVAL) {
                return Ok(Some(calls));
            }
            if self.run.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(self.why_ended());
            }
            if interrupt() {
                return Ok(None);
            }
        }
    }

    /// Closes the connections and returns what the run has counted. Its window is that of all laps
    /// together, without the time between them.
    ///
    /// # Errors
    /// The run had failed.
    pub fn end(mut self) -> Result<LoadOutcome, LoadError> {
        let outcome = self.join()?;
        Ok(LoadOutcome {
            window_ns: self.window.length_ns,
            cpu_user_seconds: self.window.cpu_user_seconds,
            cpu_system_seconds: self.window.cpu_system_seconds,
            cancelled: false,
            // They would count the time between two laps.
            intervals: None,
            ..outcome
        })
    }

    fn why_ended(&mut self) -> LoadError {
        match self.join() {
            Err(error) => error,
            Ok(outcome) => LoadError::NoConnection(
                outcome.first_failure.unwrap_or_else(|| "the run has ended".to_owned()),
            ),
        }
    }

    fn join(&mut self) -> Result<LoadOutcome, LoadError> {
        self.cancelled.store(true, Ordering::Relaxed);
        let ended = self.run.take().map(JoinHandle::join);
        match ended {
            Some(Ok(outcome)) => outcome,
            // A panic in the run is a defect of ours: it continues here.
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(LoadError::NoConnection("the run has ended".to_owned())),
        }
    }
}

impl LapSum {
    fn add(&mut self, length_ns: u64, before: &Usage, after: &Usage) {
        self.length_ns += length_ns;
        self.cpu_user_seconds += after.user_seconds - before.user_seconds;
        self.cpu_system_seconds += after.system_seconds - before.system_seconds;
    }
}

impl Drop for LoadSession {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(run) = self.run.take() {
            let _ = run.join();
        }
    }
}
