//! Laps that several machines make together: the lab says on standard input when, as it does to one
//! generator.

use super::flags::Agents;
use super::gathered::{Gathered, RunHandler};
use super::order::FleetOrder;
use super::task::{AgentResult, LapOrder, LoadReady, understood};
use crate::load::{interrupt, rated, report_lines};
use crate::terminal::Failure;
use bookend_contract::duration::nanoseconds;
use bookend_contract::exit;
use bookend_contract::laps::{LapCommand, LapFigures};
use bookend_contract::lines::Line;
use bookend_fleet::{CoordinatedRun, LossRule, RunEnd, RunEvent};
use bookend_load::output;
use bookend_load::plan::ReportedPlan;
use bookend_load::report::report_of;
use bookend_load::run::{LapCalls, LoadOutcome, clock_ns};
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;

/// A lap begins no sooner than this after agents were asked for it, nanoseconds.
const LEAD_MIN_NS: u64 = 5_000_000;

/// Or this number of the longest round trips.
const LEAD_ROUND_TRIPS: u64 = 4;

/// Gathers agents, and has them call as commands on standard input say; prints the report when they
/// end. The number is the exit status.
///
/// # Errors
/// [`Failure`] when agents are missing, or one of them cannot make the calls or is lost.
pub fn run(order: FleetOrder, agents: Agents) -> Result<u8, Failure> {
    let interrupt = interrupt::watch(false).map_err(Failure::nothing_measured)?;
    let Some(mut gathered) = Gathered::gather(order.fleet, agents, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    let tasks = FleetOrder { in_laps: true, ..order }.tasks(&gathered.members)?;
    let names = gathered.members.iter().map(|member| member.facts.name.clone()).collect();
    let mut laps = Laps::new(names, commands(&gathered.wake)?);
    let connect_ns = nanoseconds(order.flags.call.connect_timeout);
    let run = CoordinatedRun::new(tasks, LossRule::Fail, connect_ns, clock_ns()).commanded();
    gathered.run(run, &interrupt, &mut laps);
    drop(gathered);
    laps.finish()
}

/// The commands on standard input, as they come.
fn commands(wake: &Arc<Notify>) -> Result<Receiver<String>, Failure> {
    let (say, heard) = channel();
    let wake = Arc::clone(wake);
    let read = move || {
        // An input that cannot be read is as good as closed.
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if say.send(line).is_err() {
                return;
            }
            wake.notify_one();
        }
        drop(say);
        wake.notify_one();
    };
    let thread = thread::Builder::new().name("commands".to_owned()).spawn(read);
    thread.map_err(Failure::nothing_measured)?;
    Ok(heard)
}

/// The laps of a run.
struct Laps {
    names: Vec<String>,
    commands: Receiver<String>,
    /// The command that is being done, and what agents have answered.
    current: Option<(LapCommand, Vec<Option<LapCalls>>)>,
    is_running: bool,
    plan: Option<ReportedPlan>,
    threads: u32,
    /// Calls that agents have made to get ready.
    preparing_calls: u64,
    warmup: Duration,
    outcome: Option<LoadOutcome>,
    started: SystemTime,
    end: Option<RunEnd>,
    fault: Option<Failure>,
}

impl Laps {
    fn new(names: Vec<String>, commands: Receiver<String>) -> Self {
        Self {
            names,
            commands,
            current: None,
            is_running: false,
            plan: None,
            threads: 0,
            preparing_calls: 0,
            warmup: Duration::ZERO,
            outcome: None,
            started: SystemTime::now(),
            end: None,
            fault: None,
        }
    }

    fn fail(&mut self, run: &mut CoordinatedRun, failure: Failure) {
        self.fault.get_or_insert(failure);
        run.stop(clock_ns());
    }

    fn read<T: DeserializeOwned>(
        &mut self,
        run: &mut CoordinatedRun,
        agent: usize,
        content: &RawValue,
    ) -> Option<T> {
        let read = understood(&self.names[agent], content);
        read.map_err(|failure| self.fail(run, failure)).ok()
    }

    fn prepared(&mut self, run: &mut CoordinatedRun, facts: &[Box<RawValue>]) {
        for (agent, facts) in facts.iter().enumerate() {
            if let Some(ready) = self.read::<LoadReady>(run, agent, facts) {
                self.threads += ready.plan.threads;
                self.preparing_calls += ready.preparing_calls;
                self.plan.get_or_insert(ready.plan);
            }
        }
    }

    /// Asks for the next lap, if one is wanted and none is being made.
    fn ask(&mut self, run: &mut CoordinatedRun) -> Result<(), Failure> {
        if !self.is_running || self.current.is_some() {
            return Ok(());
        }
        let words = match self.commands.try_recv() {
            Ok(words) => words,
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => {
                self.is_running = false;
                run.stop_agents(0..self.names.len());
                return Ok(());
            }
        };
        let command = words.parse::<LapCommand>().map_err(Failure::usage)?;
        let (length_ms, counts) = match command {
            LapCommand::WarmUp(length_ms) => (length_ms, false),
            LapCommand::Lap(length_ms) => (length_ms, true),
        };
        let offsets: Vec<_> =
            (0..self.names.len()).map(|agent| run.offset(agent).copied()).collect();
        let slowest_ns = offsets.iter().flatten().map(|offset| offset.round_trip_median_ns).max();
        let lead_ns = LEAD_MIN_NS.max(slowest_ns.unwrap_or(0) * LEAD_ROUND_TRIPS);
        let begin_ns = clock_ns() + lead_ns;
        for (agent, offset) in offsets.into_iter().enumerate() {
            let begin_ns = offset.map_or(begin_ns, |offset| offset.of_other(begin_ns));
            let order = LapOrder { begin_ns, length_ms, counts };
            run.command(agent, to_raw_value(&order).map_err(Failure::nothing_measured)?);
        }
        self.current = Some((command, vec![None; self.names.len()]));
        Ok(())
    }

    /// An agent has made its part of a lap; the last one ends it.
    fn answer(&mut self, agent: usize, calls: LapCalls) -> Result<(), Failure> {
        let Some((command, answers)) = &mut self.current else {
            return Ok(());
        };
        answers[agent] = Some(calls);
        if answers.iter().any(Option::is_none) {
            return Ok(());
        }
        let mut sum = LapCalls::default();
        answers.drain(..).flatten().for_each(|calls| sum.merge(calls));
        let line = match *command {
            LapCommand::WarmUp(length_ms) => {
                self.warmup += Duration::from_millis(length_ms);
                Line::Warmup(sum.ok)
            }
            LapCommand::Lap(_) => {
                let rated = sum.open_loop.as_deref().map(rated);
                let LapCalls { ok, failed, length_ns, .. } = sum;
                Line::Lap(LapFigures { ok, failed, length_ns, rated })
            }
        };
        self.current = None;
        output::write(&format!("{line}\n"), None).map_err(Failure::not_delivered)
    }

    fn reported(&mut self, result: AgentResult) {
        if let AgentResult::Load(outcome) = result {
            match &mut self.outcome {
                Some(sum) => sum.merge(*outcome),
                sum => *sum = Some(*outcome),
            }
        }
    }

    fn finish(self) -> Result<u8, Failure> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        match self.end {
            Some(RunEnd::NotBegun { agent, reason, status }) => {
                return Err(Failure::of_agent(&self.names[agent], status, &reason));
            }
            Some(RunEnd::Whole) => {}
            Some(RunEnd::Interrupted) | None => return Ok(exit::INTERRUPTED),
            Some(RunEnd::Lost) => return Err(Failure::agent_lost("an agent was lost")),
        }
        let (Some(plan), Some(mut outcome)) = (self.plan, self.outcome) else {
            return Ok(exit::INTERRUPTED);
        };
        // The lab counts every call that its server has answered.
        outcome.warmup += self.preparing_calls;
        let warmup_ns = nanoseconds(self.warmup);
        let (threads, generators) = (self.threads, 1);
        let plan = ReportedPlan { warmup_ns, calls: None, threads, generators, ..plan };
        let lines = report_lines(report_of(&plan, self.started, &outcome));
        output::write(&lines, None).map_err(Failure::not_delivered)?;
        Ok(exit::MEASURED)
    }
}

impl RunHandler for Laps {
    fn event(&mut self, run: &mut CoordinatedRun, event: RunEvent) {
        match event {
            RunEvent::Prepared(facts) => self.prepared(run, &facts),
            RunEvent::Starting(_) => self.is_running = true,
            RunEvent::Answer(agent, answer) => {
                if let Some(calls) = self.read(run, agent, &answer)
                    && let Err(failure) = self.answer(agent, calls)
                {
                    self.fail(run, failure);
                }
            }
            RunEvent::Reported(agent, result) => {
                if let Some(result) = self.read(run, agent, &result) {
                    self.reported(result);
                }
            }
            RunEvent::Lost(loss) => {
                let name = &self.names[loss.agent];
                let text = format!("agent {name} was lost: {}", loss.reason);
                self.fault.get_or_insert(Failure::agent_lost(text));
            }
            RunEvent::Over(end) => self.end = Some(end),
            RunEvent::Send(..) | RunEvent::Second(..) => {}
        }
    }

    fn look(&mut self, run: &mut CoordinatedRun) {
        if let Err(failure) = self.ask(run) {
            self.fail(run, failure);
        }
    }
}
