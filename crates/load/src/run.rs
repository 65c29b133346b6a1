//! A run: workers are started, watched and added up.

use crate::plan::{Connecting, LoadPlan};
use crate::record::SetupLatencies;
use crate::record::measurements::{WorkerMeasurements, smaller};
use crate::record::peer_table::PeerTable;
use crate::record::timeline::Timeline;
use crate::record::{ErrorCounts, Latencies, Recorder, TargetCounts, count_text};
use crate::targets::Endpoint;
use crate::worker::load_shard::LoadShard;
use crate::worker::one_shot::OneShotShard;
use crate::worker::start_barrier::{RunStart, StartBarrier};
use bookend_contract::report::Intervals;
use bookend_io::Driver;
use bookend_io::tls::Secured;
use bookend_io::{
    Epoll, IoOptions, IoStatistics, Shard, Uring, Usage, Waker, blocking, clock_ns, usage,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;
use std::{fmt, io, thread};

/// How often the run looks whether it was interrupted. When a worker ends, it looks at once.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The two ends of the window, which a run reports as it passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEdge {
    /// The window begins.
    Start,
    /// The window is over.
    End,
}

/// The result of a run: all workers added up.
#[derive(Clone, Debug)]
pub struct LoadOutcome {
    /// Latencies of the window.
    pub latencies: Latencies,
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
    /// Length of the window, nanoseconds.
    pub window_ns: u64,
    /// What the drivers did in the window.
    pub driver: IoStatistics,
    /// CPU time of this process in the window, user mode, seconds.
    pub cpu_user_seconds: f64,
    /// CPU time of this process in the window, kernel, seconds.
    pub cpu_system_seconds: f64,
    /// The largest resident set of this process, bytes.
    pub memory_peak_bytes: u64,
    /// What the OK calls of the window were made of, where each had a connection of its own.
    pub setup: Option<SetupLatencies>,
    /// Connections made in the whole run.
    pub connections_opened: u64,
    /// Addresses beside the first that connections of a worker came from, because that was out of
    /// ports.
    pub sources_used: u32,
    /// What each address has done, in the order of the names.
    pub targets: Vec<TargetOutcome>,
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

/// What one address has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetOutcome {
    /// The address, and which of the targets' names it belongs to.
    pub endpoint: Endpoint,
    /// Connections made to it in the whole run.
    pub connections_opened: u64,
    /// Calls of the window that it answered, and that failed.
    pub calls: TargetCounts,
}

/// Why nothing could be measured.
#[derive(Debug)]
pub enum LoadError {
    /// The machine gave no threads or descriptors.
    Machine(io::Error),
    /// No connection could be made, or none spoke HTTP/2.
    NoConnection(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(error) => write!(f, "this machine cannot run the workers: {error}"),
            Self::NoConnection(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for LoadError {}

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
    let workers = spawn_all(&plan, &barrier, wakers).map_err(LoadError::Machine)?;
    let bills = watch(&plan, &barrier, interrupt, &mut progress);
    let measured = join_all(workers).map_err(LoadError::Machine)?;
    add_up(measured, bills, barrier.start())
}

type Worker = JoinHandle<io::Result<WorkerMeasurements>>;

/// Starts all workers or, where one cannot be had, none.
fn spawn_all(
    plan: &Arc<LoadPlan>,
    barrier: &Arc<StartBarrier>,
    wakers: Vec<Waker>,
) -> io::Result<Vec<Worker>> {
    let mut workers = Vec::new();
    for (number, waker) in (0..).zip(wakers) {
        match spawn(plan, barrier, number, waker) {
            Ok(worker) => workers.push(worker),
            Err(error) => {
                barrier.cancel();
                let _ = join_all(workers);
                return Err(error);
            }
        }
    }
    Ok(workers)
}

fn spawn(
    plan: &Arc<LoadPlan>,
    barrier: &Arc<StartBarrier>,
    number: u32,
    waker: Waker,
) -> io::Result<Worker> {
    let (plan, for_shard) = (Arc::clone(plan), Arc::clone(barrier));
    let mut end = WorkerEnd {
        barrier: Arc::clone(barrier),
        run: thread::current(),
        in_order: false,
    };
    thread::Builder::new()
        .name(format!("load-{number}"))
        .spawn(move || {
            let measured = match plan.connecting {
                Connecting::PerCall => {
                    let shard = OneShotShard::new(Arc::clone(&plan), for_shard, number);
                    drive(shard, OneShotShard::name_of, &plan, waker)?.into_measured()
                }
                Connecting::BeforeRun | Connecting::InRun => {
                    let shard = LoadShard::new(Arc::clone(&plan), for_shard, number);
                    drive(shard, LoadShard::name_of, &plan, waker)?.into_measured()
                }
            };
            end.is_in_order();
            Ok(measured)
        })
}

/// Runs a worker's shard, inside of TLS where the plan says so. `name_of` says which of the
/// targets' names the connection with that token is for.
fn drive<S: Shard>(
    shard: S,
    name_of: fn(&S, u64) -> usize,
    plan: &LoadPlan,
    waker: Waker,
) -> io::Result<S> {
    match &plan.tls {
        None => drive_plain(shard, plan, waker),
        Some(connectors) => {
            let shard = Secured::connecting_each(shard, connectors.clone(), name_of);
            Ok(drive_plain(shard, plan, waker)?.into_inner())
        }
    }
}

fn drive_plain<S: Shard>(shard: S, plan: &LoadPlan, waker: Waker) -> io::Result<S> {
    let options = IoOptions {
        connect_timeout_ns: plan.connect_timeout_ns,
        wait: plan.wait,
        ..IoOptions::default()
    };
    let ended = match plan.driver {
        Driver::Blocking => blocking::run(shard, waker, options),
        Driver::Epoll => Epoll::new(waker, options)?.run(shard),
        Driver::Uring => Uring::new(waker, options)?.run(shard),
    };
    ended.map(|(shard, _)| shard)
}

/// However a worker ends, the run looks. One that fails or panics never comes to the barrier: the
/// others must not wait for it.
struct WorkerEnd {
    barrier: Arc<StartBarrier>,
    run: Thread,
    in_order: bool,
}

impl WorkerEnd {
    fn is_in_order(&mut self) {
        self.in_order = true;
    }
}

impl Drop for WorkerEnd {
    fn drop(&mut self) {
        if !self.in_order {
            self.barrier.cancel();
        }
        self.barrier.end();
        self.run.unpark();
    }
}

/// Waits for all workers; the first failure is the run's.
fn join_all(workers: Vec<Worker>) -> io::Result<Vec<WorkerMeasurements>> {
    let ended: Vec<_> = workers.into_iter().map(join).collect();
    ended.into_iter().collect()
}

fn join(worker: Worker) -> io::Result<WorkerMeasurements> {
    match worker.join() {
        Ok(result) => result,
        // A panic in a worker is a defect of ours: it goes on where it came from.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What this process had cost at the start and the end of the window.
struct Bills {
    start: Usage,
    end: Usage,
}

/// Sleeps through the run; reads the bill at both ends of the window.
fn watch(
    plan: &LoadPlan,
    barrier: &StartBarrier,
    interrupt: &AtomicBool,
    progress: &mut impl FnMut(WindowEdge),
) -> Bills {
    let look = |until_ns: u64| {
        if interrupt.load(Ordering::Relaxed) {
            barrier.cancel();
            return false;
        }
        if barrier.is_over() || clock_ns() >= until_ns {
            return false;
        }
        let left = Duration::from_nanos(until_ns.saturating_sub(clock_ns()));
        thread::park_timeout(left.min(LOOK_EVERY));
        true
    };
    while barrier.start() == RunStart::NotYet && look(u64::MAX) {}
    let RunStart::At(start_ns) = barrier.start() else {
        return Bills {
            start: usage(),
            end: usage(),
        };
    };
    let window_start_ns = start_ns.saturating_add(plan.warmup_ns);
    while look(window_start_ns) {}
    let start = usage();
    progress(WindowEdge::Start);
    let window_end_ns = plan.window_ns.map_or(u64::MAX, |length_ns| {
        window_start_ns.saturating_add(length_ns)
    });
    while look(window_end_ns) {}
    let end = usage();
    progress(WindowEdge::End);
    Bills { start, end }
}

fn add_up(
    measured: Vec<WorkerMeasurements>,
    bills: Bills,
    start: RunStart,
) -> Result<LoadOutcome, LoadError> {
    let first_failure = measured
        .iter()
        .find_map(|worker| worker.first_failure.clone());
    if let RunStart::Never | RunStart::NotYet = start {
        let interrupted = || "interrupted before the run began".to_owned();
        return Err(LoadError::NoConnection(
            first_failure.unwrap_or_else(interrupted),
        ));
    }
    let mut latencies = Recorder::default().finish();
    let mut outcome = LoadOutcome {
        latencies: latencies.clone(),
        ok: 0,
        errors: ErrorCounts::default(),
        warmup: 0,
        drained: 0,
        unfinished: 0,
        window_ns: window_ns(&measured),
        driver: IoStatistics::default(),
        cpu_user_seconds: bills.end.user_seconds - bills.start.user_seconds,
        cpu_system_seconds: bills.end.system_seconds - bills.start.system_seconds,
        memory_peak_bytes: usage().memory_peak_bytes,
        setup: None,
        connections_opened: 0,
        sources_used: 0,
        targets: Vec::new(),
        cancelled: measured.iter().any(|worker| worker.cancelled),
        first_failure,
        goaways: BTreeMap::new(),
        streams_allowed: None,
        intervals: None,
    };
    let mut timeline = Timeline::default();
    for mut worker in measured {
        outcome.ok += worker.window.ok;
        outcome.errors.merge(worker.window.errors.clone());
        outcome.warmup += worker.warmup.ok + worker.stragglers.ok;
        outcome.drained += worker.drained.ok;
        outcome.unfinished += worker.unfinished + worker.failed_outside_window();
        outcome.driver += worker.driver;
        outcome.connections_opened += worker.connections_opened;
        outcome.sources_used = outcome.sources_used.max(worker.sources_used);
        if let Some(setup) = &worker.window.setup {
            outcome.setup.get_or_insert_default().merge(setup);
        }
        let calls = worker.window.by_target().to_vec();
        add_targets(&mut outcome.targets, worker.peers, &calls);
        for (text, count) in worker.goaways {
            count_text(&mut outcome.goaways, text, count);
        }
        outcome.streams_allowed = smaller(outcome.streams_allowed, worker.streams_allowed);
        latencies.merge(&worker.window.finish());
        timeline.merge(worker.timeline);
    }
    outcome.targets.sort_by_key(|target| target.endpoint.name);
    outcome.latencies = latencies;
    outcome.intervals = timeline.intervals();
    Ok(outcome)
}

/// Adds what one worker has seen of each address.
fn add_targets(targets: &mut Vec<TargetOutcome>, peers: PeerTable, calls: &[TargetCounts]) {
    for (number, entry) in peers.into_entries().into_iter().enumerate() {
        let calls = calls.get(number).copied().unwrap_or_default();
        let known = |target: &&mut TargetOutcome| target.endpoint == entry.endpoint;
        match targets.iter_mut().find(known) {
            Some(target) => {
                target.connections_opened += entry.connections_opened;
                target.calls.ok += calls.ok;
                target.calls.failed += calls.failed;
            }
            None => targets.push(TargetOutcome {
                endpoint: entry.endpoint,
                connections_opened: entry.connections_opened,
                calls,
            }),
        }
    }
}

/// From the first worker's start to the last one's end.
fn window_ns(measured: &[WorkerMeasurements]) -> u64 {
    let counted = || measured.iter().filter(|worker| worker.window_end_ns > 0);
    let start_ns = counted()
        .map(|worker| worker.window_start_ns)
        .min()
        .unwrap_or(0);
    let end_ns = counted()
        .map(|worker| worker.window_end_ns)
        .max()
        .unwrap_or(0);
    end_ns.saturating_sub(start_ns)
}
