//! A run: workers are started, watched and added up.

mod outcome;
mod worker_threads;

pub use outcome::LoadOutcome;

use crate::plan::LoadPlan;
use crate::worker::{RunStart, StartBarrier};
use bookend_io::{Usage, Waker, clock_ns, usage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};
use thiserror::Error;

/// How often the run checks whether it was interrupted. When a worker ends, it checks at once.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The two ends of the window, which a run reports as it passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEdge {
    /// The window begins.
    Start,
    /// The window is over.
    End,
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
    mut progress: impl FnMut(WindowEdge),
) -> Result<LoadOutcome, LoadError> {
    let plan = plan.into();
    let wakers: Result<Vec<_>, _> = (0..plan.threads).map(|_| Waker::new()).collect();
    let wakers = wakers.map_err(LoadError::Machine)?;
    let barrier = Arc::new(StartBarrier::new(wakers.clone()));
    let workers = worker_threads::spawn_all(&plan, &barrier, wakers).map_err(LoadError::Machine)?;
    let usage = watch(&plan, &barrier, interrupt, &mut progress);
    let measured = worker_threads::join_all(workers).map_err(LoadError::Machine)?;
    let first_failure = measured.iter().find_map(|worker| worker.first_failure.clone());
    if let RunStart::At(_) = barrier.start() {
        return Ok(LoadOutcome::add_up(measured, usage, first_failure));
    }
    let interrupted = || "interrupted before the run began".to_owned();
    let reason = first_failure.unwrap_or_else(interrupted);
    Err(LoadError::NoConnection(reason))
}

/// Sleeps through the run; reads the usage at both ends of the window.
fn watch(
    plan: &LoadPlan,
    barrier: &StartBarrier,
    interrupt: &AtomicBool,
    progress: &mut impl FnMut(WindowEdge),
) -> (Usage, Usage) {
    let sleep = |until_ns: u64| {
        if interrupt.load(Ordering::Relaxed) {
            barrier.cancel();
            return false;
        }
        if barrier.is_over() || clock_ns() >= until_ns {
            return false;
        }
        let left = Duration::from_nanos(until_ns.saturating_sub(clock_ns()));
        thread::park_timeout(left.min(CHECK_INTERVAL));
        true
    };
    while barrier.start() == RunStart::NotYet && sleep(u64::MAX) {}
    let RunStart::At(start_ns) = barrier.start() else {
        return (usage(), usage());
    };
    let window_start_ns = start_ns.saturating_add(plan.warmup_ns);
    while sleep(window_start_ns) {}
    let start = usage();
    progress(WindowEdge::Start);
    let window_end_ns =
        plan.window_ns.map_or(u64::MAX, |length_ns| window_start_ns.saturating_add(length_ns));
    while sleep(window_end_ns) {}
    let end = usage();
    progress(WindowEdge::End);
    (start, end)
}
