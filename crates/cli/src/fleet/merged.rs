//! One result of what several agents tell.

use super::ended::{EndedRun, row};
use super::gathered::{Gathered, Member, RunHandler};
use super::order::FleetOrder;
use super::task::{AgentResult, LoadReady, understood};
use crate::load::Observer;
use crate::terminal::{Failure, print_error};
use bookend_contract::duration::nanoseconds;
use bookend_contract::fleet::{AgentReport, FleetReport, ServerReport};
use bookend_fleet::message::{AgentFacts, AgentRole};
use bookend_fleet::{CoordinatedRun, LossRule, RunEnd, RunEvent};
use bookend_load::plan::ReportedPlan;
use bookend_load::record::RunInterval;
use bookend_load::run::{LoadOutcome, RunObserver as _, WindowEdge, clock_ns, wall_clock_ahead_ns};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// What several agents have measured together.
pub struct MergedRun {
    /// What a report says of the plan of all.
    pub plan: ReportedPlan,
    /// All of them added up.
    pub outcome: LoadOutcome,
    /// What there is to say of the machines.
    pub fleet: FleetReport,
    /// Calls of the window that are not counted.
    pub calls_skipped: u64,
    /// Why the run ended before its time, where it did so by the loss of an agent.
    pub lost: Option<Failure>,
}

/// Has the agents make a run.
///
/// # Errors
/// [`Failure`] when nothing was measured, and on which agent that lies.
pub fn measure(
    gathered: &mut Gathered,
    order: FleetOrder,
    interrupt: &AtomicBool,
    observer: &mut Observer,
) -> Result<MergedRun, Failure> {
    let tasks = order.tasks(&gathered.members)?;
    let mut merging = Merging::new(order, &gathered.members, observer);
    let connect_ns = nanoseconds(order.flags.call.connect_timeout);
    let rule = LossRule::from(order.fleet.on_loss);
    let run = CoordinatedRun::new(tasks, rule, connect_ns, clock_ns());
    let run = gathered.run(run, interrupt, &mut merging);
    merging.finish(&run)
}

/// What is known so far.
struct Merging<'a> {
    order: FleetOrder<'a>,
    facts: Vec<AgentFacts>,
    observer: &'a mut Observer,
    ready: Vec<Option<LoadReady>>,
    /// The seconds that all have told.
    total: Option<RunInterval>,
    /// The row of each agent that makes calls and has reported.
    rows: Vec<Option<AgentReport>>,
    /// What those have reported, added up.
    merged: Option<LoadOutcome>,
    probed: Option<LoadOutcome>,
    server: Option<ServerReport>,
    /// What an agent said that is no message of ours.
    fault: Option<Failure>,
    end: Option<RunEnd>,
    /// The ends of the window that lie ahead, nanoseconds of this clock, the next one last.
    edges: Vec<(u64, WindowEdge)>,
}

impl RunHandler for Merging<'_> {
    fn event(&mut self, run: &mut CoordinatedRun, event: RunEvent) {
        match event {
            RunEvent::Prepared(facts) => {
                for (agent, facts) in facts.iter().enumerate() {
                    if self.facts[agent].role != AgentRole::Server {
                        self.ready[agent] = self.read(agent, facts);
                    }
                }
            }
            RunEvent::Starting(start_ns) => self.starting(start_ns),
            RunEvent::Second(_, told) => self.second(&told),
            RunEvent::Lost(loss) => {
                let name = &self.facts[loss.agent].name;
                print_error(&format!("bookend: agent {name} is lost: {}", loss.reason));
            }
            RunEvent::Reported(agent, result) => self.report(run, agent, &result),
            RunEvent::Over(end) => {
                while let Some((_, edge)) = self.edges.pop() {
                    self.observer.edge(edge);
                }
                self.end = Some(end);
            }
            RunEvent::Send(..) | RunEvent::Answer(..) => {}
        }
        if self.fault.is_some() {
            run.stop(clock_ns());
        }
    }

    fn look(&mut self, _: &mut CoordinatedRun) {
        let now_ns = clock_ns();
        while let Some((_, edge)) = self.edges.pop_if(|(at_ns, _)| *at_ns <= now_ns) {
            self.observer.edge(edge);
        }
    }

    fn due_ns(&self) -> u64 {
        self.edges.last().map_or(u64::MAX, |(at_ns, _)| *at_ns)
    }
}

impl<'a> Merging<'a> {
    fn new(order: FleetOrder<'a>, members: &[Member], observer: &'a mut Observer) -> Self {
        let count = members.len();
        Self {
            order,
            facts: members.iter().map(|member| member.facts.clone()).collect(),
            observer,
            ready: (0..count).map(|_| None).collect(),
            total: None,
            rows: vec![None; count],
            merged: None,
            probed: None,
            server: None,
            fault: None,
            end: None,
            edges: Vec::new(),
        }
    }

    /// Reads what an agent said.
    fn read<T: DeserializeOwned>(&mut self, agent: usize, content: &RawValue) -> Option<T> {
        let read = understood(&self.facts[agent].name, content);
        read.map_err(|failure| self.fault.get_or_insert(failure)).ok()
    }

    fn starting(&mut self, start_ns: u64) {
        let begin_ns = start_ns + self.order.warmup_ns();
        let window_ns = self.order.window_ns().unwrap_or(u64::MAX);
        let end_ns = begin_ns.saturating_add(window_ns);
        self.edges = vec![(end_ns, WindowEdge::End), (begin_ns, WindowEdge::Start)];
        let ahead_ns = begin_ns.saturating_sub(clock_ns());
        self.observer.window_begins(SystemTime::now() + Duration::from_nanos(ahead_ns));
    }

    fn second(&mut self, told: &[(usize, Box<RawValue>)]) {
        let mut sum: Option<RunInterval> = None;
        for (agent, content) in told {
            if let Some(interval) = self.read::<RunInterval>(*agent, content) {
                match &mut sum {
                    Some(sum) => sum.merge(&interval),
                    sum => *sum = Some(interval),
                }
            }
        }
        let Some(sum) = sum.map(RunInterval::with_latencies) else {
            return;
        };
        self.observer.interval(&sum);
        match &mut self.total {
            Some(total) => total.merge(&sum),
            total => *total = Some(sum),
        }
    }

    fn report(&mut self, run: &mut CoordinatedRun, agent: usize, result: &RawValue) {
        match self.read(agent, result) {
            Some(AgentResult::Load(outcome)) => self.add(run, agent, *outcome),
            Some(AgentResult::Server(server)) => self.server = Some(*server),
            None => {}
        }
        // The others have nothing to wait for once all calls are made.
        let is_load = |agent: &usize| self.facts[*agent].role == AgentRole::Load;
        let count = self.facts.len();
        let lost: BTreeSet<usize> = run.losses().iter().map(|loss| loss.agent).collect();
        let is_done = |agent: usize| self.rows[agent].is_some() || lost.contains(&agent);
        if (0..count).filter(is_load).all(is_done) {
            // A window by number ends with its last call.
            while let Some((_, edge)) = self.edges.pop() {
                self.observer.edge(edge);
            }
            run.stop_agents((0..count).filter(|agent| !is_load(agent)));
        }
    }

    fn finish(mut self, run: &CoordinatedRun) -> Result<MergedRun, Failure> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let end = self.end.take();
        if let Some(RunEnd::NotBegun { agent, reason, status }) = &end {
            let name = &self.facts[*agent].name;
            return Err(match status {
                // Of a search, there is what the trials before have found.
                None if self.order.trial.is_some() => {
                    Failure::agent_lost(format!("agent {name} was lost: {reason}"))
                }
                status => Failure::of_agent(name, *status, reason),
            });
        }
        let first = self.ready.iter().flatten().next();
        let Some(first) = first.filter(|_| end != Some(RunEnd::Interrupted)) else {
            return Err(Failure::nothing_measured("interrupted before the run began"));
        };
        let (mut plan, calls_skipped) = (first.plan.clone(), first.calls_skipped);
        self.order.sent.rename_files(&mut plan.labels.options);
        plan.threads =
            self.load_agents().filter_map(|at| Some(self.ready[at].as_ref()?.plan.threads)).sum();
        plan.generators = 1;
        let mut report = self.ended(run).report();
        let lost = (end == Some(RunEnd::Lost)).then(|| self.loss(run));
        let total = self.total.take();
        let outcome = match (&lost, &total) {
            (Some(_), Some(total)) => LoadOutcome::of_interval(total),
            (Some(lost), None) => return Err(lost.clone()),
            (None, total) => {
                let outcome = self.merged.take().unwrap_or_default();
                let is_partial = !run.losses().is_empty();
                match total.as_ref().filter(|_| is_partial) {
                    Some(total) => outcome.with_calls_of(total),
                    None => outcome,
                }
            }
        };
        if let Some(server) = &mut report.server {
            let mut ok = outcome.ok as f64;
            if lost.is_some() {
                // The server's window ends with the run, and that of the calls with a second.
                ok *= server.node.seconds * 1e9 / outcome.window_ns as f64;
            }
            server.requests_per_cpu_second =
                if server.cpu_seconds > 0.0 { ok / server.cpu_seconds } else { 0.0 };
        }
        Ok(MergedRun { plan, outcome, fleet: report, calls_skipped, lost })
    }

    fn load_agents(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.facts.len()).filter(|agent| self.facts[*agent].role == AgentRole::Load)
    }

    fn ended<'r>(&'r self, run: &'r CoordinatedRun) -> EndedRun<'r> {
        EndedRun {
            run,
            facts: &self.facts,
            ready: &self.ready,
            rows: &self.rows,
            server: self.server.as_ref(),
            probed: self.probed.as_ref().zip(self.order.fleet.probe_rate),
        }
    }

    /// Adds what an agent has reported, by this machine's clock.
    fn add(&mut self, run: &CoordinatedRun, agent: usize, mut outcome: LoadOutcome) {
        if self.facts[agent].role == AgentRole::Probe {
            self.probed = Some(outcome);
            return;
        }
        let ready = self.ready[agent].as_ref();
        self.rows[agent] = row(run, agent, &self.facts[agent], ready, &outcome);
        if let (Some(calls), Some(offset)) = (&mut outcome.calls, run.offset(agent)) {
            calls.move_by(offset.ahead_ns.saturating_neg(), wall_clock_ahead_ns());
        }
        match &mut self.merged {
            Some(merged) => merged.merge(outcome),
            merged => *merged = Some(outcome),
        }
    }

    /// Why the run ended before its time.
    fn loss(&self, run: &CoordinatedRun) -> Failure {
        let loss = run.losses().first();
        let name = loss.map_or("", |loss| self.facts[loss.agent].name.as_str());
        let why = loss.map_or("", |loss| loss.reason.as_str());
        let seconds = run.complete_seconds();
        Failure::agent_lost(format!(
            "agent {name} was lost ({why}), and the run ended with it: the result is of the \
             {seconds} s that all agents had told of"
        ))
    }
}
