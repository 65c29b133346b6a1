//! An agent's share of the calls of a run.

use super::kept::KeptShare;
use super::run_link::{Order, RunLink, Told, raw};
use crate::fleet::task::{AgentResult, LoadReady, LoadTask};
use crate::lab;
use crate::load::no_call::no_call;
use crate::terminal::Failure;
use bookend_fleet::message::FromAgent;
use bookend_lab::held_folder::HeldFolder;
use bookend_load::descriptors;
use bookend_load::flags::LoadFlags;
use bookend_load::options::CallOptions;
use bookend_load::pace::{ArrivalProcess, Part};
use bookend_load::plan::{LoadPlan, ReportedPlan};
use bookend_load::probe::{self, ProbeDepth, ProbeRequest};
use bookend_load::record::RunInterval;
use bookend_load::run::{LoadError, LoadOutcome, RunObserver, StartGate, WindowEdge, observe_from};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::UnboundedSender;

/// Length of the intervals of which the coordinator hears.
const SECOND: Duration = Duration::from_secs(1);

/// How often it is looked whether the run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// How long a probe goes on at most: the coordinator ends it.
const PROBE_MAX: Duration = Duration::from_secs(24 * 3600);

/// Calls of a probe that may be in flight: a server that stalls for some seconds still gets them
/// when they are due.
const PROBE_CONCURRENCY: u32 = 4_096;

/// Numbers the folders of this process.
static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// Makes ready, makes the calls when the coordinator says so, and reports.
///
/// # Errors
/// [`Failure`] when it cannot make them, or nothing was measured.
pub fn make(task: &LoadTask, link: &RunLink) -> Result<KeptShare, Failure> {
    let share = Share::prepare(task)?;
    let (plan, of_all) = (Arc::clone(&share.plan), share.of_all.clone());
    let gate = Arc::new(StartGate::default());
    let mut running = Some(share.start(&gate, link, task.tells_seconds)?);
    let connections = loop {
        if let Some(connections) = gate.wait(LOOK) {
            break connections;
        }
        if let Some(ended) = running.take_if(|thread| thread.is_finished()) {
            let error = joined(ended).err();
            return Err(error.map_or_else(interrupted, |error| no_call(&plan, &error)));
        }
    };
    let ready = LoadReady {
        plan: of_all,
        calls_skipped: task.calls_skipped(&share.flags),
        connections,
        preparing_calls: share.preparing_calls,
    };
    link.say(FromAgent::Prepared { facts: raw(&ready)? });
    let mut started = SystemTime::now();
    let ended = loop {
        match link.orders.recv_timeout(LOOK) {
            Ok(Order::Start(start_ns)) => {
                gate.start_at(start_ns);
                started = SystemTime::now();
            }
            // Nothing more is ordered once the coordinator is gone, and it has ended the run then.
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK),
        }
        if let Some(ended) = running.take_if(|thread| thread.is_finished()) {
            break joined(ended);
        }
    };
    let outcome = ended.map_err(|error| no_call(&plan, &error))?;
    link.say(FromAgent::Reported { result: raw(&AgentResult::Load(Box::new(outcome.clone())))? });
    Ok(KeptShare { plan: plan.reported(), started, outcome })
}

fn interrupted() -> Failure {
    Failure::nothing_measured("it was ended before the run began")
}

fn joined(thread: JoinHandle<Result<LoadOutcome, LoadError>>) -> Result<LoadOutcome, LoadError> {
    // A panic in the run is a defect of ours: it continues here.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What falls to this agent, ready to be run.
struct Share {
    flags: LoadFlags,
    plan: Arc<LoadPlan>,
    of_all: ReportedPlan,
    preparing_calls: u64,
    /// Where the files are that came with the flags.
    _folder: HeldFolder,
}

impl Share {
    /// Reads the flags, and makes one call, whose answer is verified.
    fn prepare(task: &LoadTask) -> Result<Share, Failure> {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("bookend-run.{}.agent-{number}", std::process::id());
        let folder = HeldFolder::create(&std::env::temp_dir().join(name));
        let folder = folder.map_err(Failure::nothing_measured)?;
        let (mut flags, input) =
            task.flags.flags(folder.path()).map_err(Failure::nothing_measured)?;
        flags.pacing.seed.get_or_insert(task.seed);
        if let Some(rate) = task.probe_rate {
            probe_only(&mut flags, rate);
        }
        let part = Part { number: task.number, of: task.of };
        let made = LoadPlan::of_part(&flags, part, &mut input.as_slice(), lab::cpus());
        let (mut plan, of_all) = made.map_err(Failure::unprepared)?;
        // Where io_uring is refused, the report says which driver was used instead.
        plan.fall_back();
        descriptors::provide(plan.connections, plan.threads).map_err(Failure::nothing_measured)?;
        let preparing_calls = verify(&flags, &input)?;
        Ok(Share { flags, plan: Arc::new(plan), of_all, preparing_calls, _folder: folder })
    }

    fn start(
        &self,
        gate: &Arc<StartGate>,
        link: &RunLink,
        tells_seconds: bool,
    ) -> Result<JoinHandle<Result<LoadOutcome, LoadError>>, Failure> {
        let (plan, gate, stop) = (Arc::clone(&self.plan), Arc::clone(gate), Arc::clone(&link.stop));
        let mut observer = Seconds { tell: tells_seconds.then(|| link.tell.clone()) };
        thread::Builder::new()
            .name("agent-load".to_owned())
            .spawn(move || observe_from(plan, gate, &stop, &mut observer))
            .map_err(Failure::nothing_measured)
    }
}

impl LoadTask {
    /// Calls of the window of all generators that are not counted.
    fn calls_skipped(&self, flags: &LoadFlags) -> u64 {
        if self.probe_rate.is_some() { 0 } else { flags.skip_first }
    }
}

/// A constant rate over one connection, whatever the others do.
fn probe_only(flags: &mut LoadFlags, rate: f64) {
    flags.pacing = bookend_load::flags::pacing::PacingFlags {
        rps: rate,
        arrivals: ArrivalProcess::Even,
        ..LoadFlags::of_words::<&str>([]).expect("no flag is required").pacing
    };
    (flags.connections, flags.concurrency, flags.threads) = (1, PROBE_CONCURRENCY, None);
    flags.skip_first = 0;
    (flags.format, flags.output, flags.debug) = (None, None, None);
    if flags.duration.is_none() && flags.max_duration.is_none() {
        flags.duration = Some(PROBE_MAX);
    }
}

/// Makes one call and verifies its answer. Returns how many calls the server was asked for: those
/// by which it told its schema are among them, here and for the plan.
fn verify(flags: &LoadFlags, mut input: &[u8]) -> Result<u64, Failure> {
    if flags.thrift.file.is_some() {
        // Its servers describe nothing, and the calls of the run are checked as all are.
        return Ok(0);
    }
    let options = CallOptions::from_flags(&flags.call).map_err(Failure::usage)?;
    let request = ProbeRequest::of_first_call(&options, &mut input).map_err(Failure::unprepared)?;
    let report = probe::probe(&request, ProbeDepth::Call);
    if let Err(error) = report.call {
        return Err(Failure::nothing_measured(format!("its first call failed: {error}")));
    }
    Ok(report.calls_made + request.call.reflection_calls)
}

/// Tells the coordinator what was done in each second.
struct Seconds {
    tell: Option<UnboundedSender<Told>>,
}

impl RunObserver for Seconds {
    fn edge(&mut self, _: WindowEdge) {}

    fn interval_length(&self) -> Option<Duration> {
        self.tell.is_some().then_some(SECOND)
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn interval(&mut self, interval: &RunInterval) {
        if let (Some(tell), Ok(content)) = (&self.tell, raw(interval)) {
            let _ = tell.send(Told::Second(content));
        }
    }
}
