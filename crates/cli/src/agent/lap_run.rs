//! An agent's share of the calls of a run that is made in laps.

use super::run_link::{Order, RunLink, raw};
use super::share::Share;
use crate::fleet::task::{AgentResult, LapOrder, LoadReady, LoadTask};
use crate::load::no_call::no_call;
use crate::terminal::Failure;
use bookend_fleet::message::FromAgent;
use bookend_load::plan::LoadPlan;
use bookend_load::run::LoadSession;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// How often it is looked whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

/// Makes ready, makes the calls of each lap, and reports.
///
/// # Errors
/// [`Failure`] when it cannot make them.
pub fn make(task: &LoadTask, link: &RunLink) -> Result<(), Failure> {
    let share = Share::prepare(task, link.coordinator)?;
    let plan = LoadPlan::clone(&share.plan);
    let failed = |error| no_call(&share.plan, &error);
    let mut session = LoadSession::start(plan).map_err(failed)?;
    let ready = LoadReady {
        plan: share.of_all.clone(),
        calls_skipped: 0,
        preparing_calls: share.preparing_calls,
    };
    link.say(FromAgent::Prepared { facts: raw(&ready)? });
    while !link.is_stopped() {
        let order = match link.orders.recv_timeout(LOOK) {
            Ok(Order::Command(order)) => order,
            Ok(_) | Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let order: LapOrder = serde_json::from_str(order.get()).map_err(Failure::usage)?;
        let LapOrder { begin_ns, length_ms, counts } = order;
        let length = Duration::from_millis(length_ms);
        let is_stopped = || link.is_stopped();
        let made = match counts {
            true => session.lap_at(begin_ns, length, is_stopped),
            false => session.warm_up_at(begin_ns, length, is_stopped),
        };
        if let Some(calls) = made.map_err(failed)? {
            link.say(FromAgent::Answer { answer: raw(&calls)? });
        }
    }
    let outcome = session.end().map_err(failed)?;
    link.say(FromAgent::Reported { result: raw(&AgentResult::Load(Box::new(outcome)))? });
    Ok(())
}
