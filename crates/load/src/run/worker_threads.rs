//! The threads of a run: one a worker.

use crate::plan::{Call, Connecting, LoadPlan};
use crate::record::WorkerMeasurements;
use crate::worker::{
    Http2Common, Http2Session, OneShotShard, Session, StartBarrier, ThriftCommon, ThriftSession,
    WorkerShard,
};
use bookend_io::tls::Secured;
use bookend_io::{Driver, Epoll, IoOptions, Shard, Uring, Waker, blocking};
use std::sync::Arc;
use std::thread::{JoinHandle, Thread};
use std::{io, thread};

/// A worker that runs.
pub(super) type WorkerThread = JoinHandle<io::Result<WorkerMeasurements>>;

/// Starts all workers or, where one cannot be started, none.
pub(super) fn spawn_all(
    plan: &Arc<LoadPlan>,
    barrier: &Arc<StartBarrier>,
    wakers: Vec<Waker>,
) -> io::Result<Vec<WorkerThread>> {
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
) -> io::Result<WorkerThread> {
    let (plan, for_shard) = (Arc::clone(plan), Arc::clone(barrier));
    let end = WorkerEnd { barrier: Arc::clone(barrier), run: thread::current() };
    thread::Builder::new().name(format!("load-{number}")).spawn(move || {
        let measured = match (&plan.call, plan.connecting) {
            (_, Connecting::PerCall) => {
                let shard = OneShotShard::new(Arc::clone(&plan), for_shard, number);
                drive(shard, OneShotShard::name_of, &plan, waker).map(OneShotShard::into_measured)
            }
            (Call::Thrift(run), Connecting::BeforeRun | Connecting::InRun) => {
                let common = ThriftCommon::new(run, plan.threads);
                drive_kept::<ThriftSession>(&plan, common, for_shard, number, waker)
            }
            (Call::Grpc(call), Connecting::BeforeRun | Connecting::InRun) => {
                let common = Http2Common::new(call, plan.threads);
                drive_kept::<Http2Session>(&plan, common, for_shard, number, waker)
            }
        };
        measured.inspect_err(|_| end.barrier.cancel())
    })
}

/// Runs a worker whose connections are kept.
fn drive_kept<S: Session>(
    plan: &Arc<LoadPlan>,
    common: S::Common,
    barrier: Arc<StartBarrier>,
    number: u32,
    waker: Waker,
) -> io::Result<WorkerMeasurements> {
    let shard = WorkerShard::<S>::new(Arc::clone(plan), common, barrier, number);
    drive(shard, WorkerShard::name_of, plan, waker).map(WorkerShard::into_measured)
}

/// Runs the shard of a worker, with TLS where the plan says so. `name_of` says which of the
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

/// Wakes the run, however a worker ends. A worker that panics, as one that fails, never arrives at
/// the barrier: the others must not wait for it.
struct WorkerEnd {
    barrier: Arc<StartBarrier>,
    run: Thread,
}

impl Drop for WorkerEnd {
    fn drop(&mut self) {
        if thread::panicking() {
            self.barrier.cancel();
        }
        self.barrier.end();
        self.run.unpark();
    }
}

/// Waits for all workers; the first error is the run's.
pub(super) fn join_all(workers: Vec<WorkerThread>) -> io::Result<Vec<WorkerMeasurements>> {
    let ended: Vec<_> = workers.into_iter().map(join).collect();
    ended.into_iter().collect()
}

fn join(worker: WorkerThread) -> io::Result<WorkerMeasurements> {
    match worker.join() {
        Ok(result) => result,
        // A panic in a worker is a defect of ours: it continues in the run.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
