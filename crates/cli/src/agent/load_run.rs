//! An agent's share of the calls of a run.

use super::kept::KeptShare;
use super::run_link::{Order, RunLink, Told, raw};
use super::share::Share;
use crate::fleet::task::{AgentResult, LoadReady, LoadTask};
use crate::load::no_call::no_call;
use crate::terminal::Failure;
use bookend_fleet::message::FromAgent;
use bookend_load::flags::LoadFlags;
use bookend_load::record::RunInterval;
use bookend_load::run::{LoadError, LoadOutcome, RunObserver, StartGate, WindowEdge, observe_from};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::UnboundedSender;

/// Length of the intervals of which the coordinator hears.
const SECOND: Duration = Duration::from_secs(1);

/// How often it is looked whether the run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Makes ready, makes the calls when the coordinator says so, and reports.
///
/// # Errors
/// [`Failure`] when it cannot make them, or nothing was measured.
pub fn make(task: &LoadTask, link: &RunLink) -> Result<KeptShare, Failure> {
    let share = Share::prepare(task, link.coordinator)?;
    let (plan, of_all) = (Arc::clone(&share.plan), share.of_all.clone());
    let gate = Arc::new(StartGate::default());
    let mut running = Some(start(&share, &gate, link, task.probe_rate.is_none())?);
    while gate.wait(LOOK).is_none() {
        if let Some(ended) = running.take_if(|thread| thread.is_finished()) {
            let error = joined(ended).err();
            return Err(error.map_or_else(interrupted, |error| no_call(&plan, &error)));
        }
    }
    let ready = LoadReady {
        plan: of_all,
        calls_skipped: task.calls_skipped(&share.flags),
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

/// Starts the run, which waits for its start.
fn start(
    share: &Share,
    gate: &Arc<StartGate>,
    link: &RunLink,
    tells_seconds: bool,
) -> Result<JoinHandle<Result<LoadOutcome, LoadError>>, Failure> {
    let (plan, gate, stop) = (Arc::clone(&share.plan), Arc::clone(gate), Arc::clone(&link.stop));
    let mut observer = Seconds { tell: tells_seconds.then(|| link.tell.clone()) };
    thread::Builder::new()
        .name("agent-load".to_owned())
        .spawn(move || observe_from(plan, gate, &stop, &mut observer))
        .map_err(Failure::nothing_measured)
}

impl LoadTask {
    /// Calls of the window of all generators that are not counted.
    fn calls_skipped(&self, flags: &LoadFlags) -> u64 {
        if self.probe_rate.is_some() { 0 } else { flags.skip_first }
    }
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
