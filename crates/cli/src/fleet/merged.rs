//! One result of what several agents tell.

use super::flags::FleetFlags;
use super::gathered::{Gathered, Member, RunHandler};
use super::task::{AgentResult, LoadReady, LoadTask, ServerTask, Task, understood};
use crate::load::Observer;
use crate::terminal::{Failure, print_error};
use bookend_contract::duration::nanoseconds;
use bookend_contract::fleet::{
    AgentReport, FleetReport, LostAgent, ProbeAgentReport, ServerReport, StartSkew,
};
use bookend_contract::machine::MachineFacts;
use bookend_fleet::message::AgentRole;
use bookend_fleet::{AgentTask, CoordinatedRun, LossRule, RunEnd, RunEvent};
use bookend_load::flags::LoadFlags;
use bookend_load::flags::sent::SentFlags;
use bookend_load::plan::ReportedPlan;
use bookend_load::record::RunInterval;
use bookend_load::report::report_of;
use bookend_load::run::{LoadOutcome, RunObserver as _, WindowEdge, clock_ns, wall_clock_ahead_ns};
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// Has the agents make the run that the flags ask for.
///
/// # Errors
/// [`Failure`] when nothing was measured, and on which agent that lies.
pub fn measure(
    gathered: &mut Gathered,
    flags: &LoadFlags,
    fleet: &FleetFlags,
    sent: &SentFlags,
    interrupt: &AtomicBool,
    observer: &mut Observer,
) -> Result<MergedRun, Failure> {
    let tasks = tasks(gathered, flags, fleet, sent)?;
    let names = gathered.members.iter().map(|member| member.facts.name.clone()).collect();
    let roles = gathered.members.iter().map(|member| member.facts.role).collect();
    let machines = gathered.members.iter().map(|member| member.facts.machine.clone()).collect();
    let mut merging =
        Merging::new(names, roles, machines, flags.window().map(nanoseconds), observer);
    let (rule, connect_ns) =
        (LossRule::from(fleet.on_loss), nanoseconds(flags.call.connect_timeout));
    let run = CoordinatedRun::new(tasks, rule, connect_ns, clock_ns());
    let run = gathered.run(run, interrupt, &mut merging);
    merging.finish(&run, &gathered.members, sent, fleet)
}

/// A task for each agent.
fn tasks(
    gathered: &Gathered,
    flags: &LoadFlags,
    fleet: &FleetFlags,
    sent: &SentFlags,
) -> Result<Vec<AgentTask>, Failure> {
    let load = |member: &&Member| member.facts.role == AgentRole::Load;
    let of = gathered.members.iter().filter(load).count() as u32;
    let caller = gathered.members.iter().find(load).map(|member| member.address);
    let caller = caller.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let seed = flags.pacing.seed.unwrap_or_else(|| fastrand::u64(..));
    let task = |(number, member): (usize, &Member)| {
        let goes_first = member.facts.role == AgentRole::Server;
        let task = match member.facts.role {
            AgentRole::Server => Task::Server(server_task(flags, fleet, caller)?),
            role => {
                let is_probe = role == AgentRole::Probe;
                Task::Load(LoadTask {
                    flags: sent.clone(),
                    seed,
                    number: if is_probe { 0 } else { number as u32 },
                    of: if is_probe { 1 } else { of },
                    probe_rate: fleet.probe_rate.filter(|_| is_probe),
                    servers_are_there: fleet.is_shared,
                    in_laps: false,
                })
            }
        };
        let task = to_raw_value(&task).map_err(Failure::nothing_measured)?;
        Ok(AgentTask { task, goes_first })
    };
    gathered.members.iter().enumerate().map(task).collect()
}

fn server_task(
    flags: &LoadFlags,
    fleet: &FleetFlags,
    caller: IpAddr,
) -> Result<ServerTask, Failure> {
    let first = flags.call.targets.first().map_or("", String::as_str);
    let port = first.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let port = port.ok_or_else(|| {
        Failure::usage(format!(
            "an agent on the server's node finds the server by its port, and {first:?} has none: \
             give the target as HOST:PORT"
        ))
    })?;
    Ok(ServerTask {
        command: fleet.start_server.clone(),
        port,
        caller,
        warmup_ns: nanoseconds(flags.warmup),
        window_ns: flags.window().map(nanoseconds),
    })
}

/// What is known so far.
struct Merging<'a> {
    names: Vec<String>,
    roles: Vec<AgentRole>,
    machines: Vec<MachineFacts>,
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
    window_ns: Option<u64>,
}

impl RunHandler for Merging<'_> {
    fn event(&mut self, run: &mut CoordinatedRun, event: RunEvent) {
        match event {
            RunEvent::Prepared(facts) => {
                for (agent, facts) in facts.iter().enumerate() {
                    if self.roles[agent] != AgentRole::Server {
                        self.ready[agent] = self.read(agent, facts);
                    }
                }
            }
            RunEvent::Starting(start_ns) => self.starting(start_ns),
            RunEvent::Second(_, told) => self.second(&told),
            RunEvent::Lost(loss) => {
                let name = &self.names[loss.agent];
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
    fn new(
        names: Vec<String>,
        roles: Vec<AgentRole>,
        machines: Vec<MachineFacts>,
        window_ns: Option<u64>,
        observer: &'a mut Observer,
    ) -> Self {
        let count = names.len();
        Self {
            names,
            roles,
            machines,
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
            window_ns,
        }
    }

    /// Reads what an agent said.
    fn read<T: DeserializeOwned>(&mut self, agent: usize, content: &RawValue) -> Option<T> {
        let read = understood(&self.names[agent], content);
        read.map_err(|failure| self.fault.get_or_insert(failure)).ok()
    }

    fn starting(&mut self, start_ns: u64) {
        let warmup_ns = self.ready.iter().flatten().next().map_or(0, |ready| ready.plan.warmup_ns);
        let begin_ns = start_ns + warmup_ns;
        let end_ns =
            self.window_ns.map_or(u64::MAX, |length_ns| begin_ns.saturating_add(length_ns));
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
        let is_load = |agent: &usize| self.roles[*agent] == AgentRole::Load;
        let count = self.roles.len();
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

    fn finish(
        mut self,
        run: &CoordinatedRun,
        members: &[Member],
        sent: &SentFlags,
        fleet: &FleetFlags,
    ) -> Result<MergedRun, Failure> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let end = self.end.take();
        if let Some(RunEnd::NotBegun { agent, reason, status }) = &end {
            return Err(Failure::of_agent(&self.names[*agent], *status, reason));
        }
        let first = self.ready.iter().flatten().next();
        let Some(first) = first.filter(|_| end != Some(RunEnd::Interrupted)) else {
            return Err(Failure::nothing_measured("interrupted before the run began"));
        };
        let (mut plan, calls_skipped) = (first.plan.clone(), first.calls_skipped);
        sent.rename_files(&mut plan.labels.options);
        plan.threads =
            self.load_agents().filter_map(|at| Some(self.ready[at].as_ref()?.plan.threads)).sum();
        plan.generators = 1;
        let mut report = self.fleet_report(run, members, fleet);
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
            let ok = outcome.ok as f64;
            server.requests_per_cpu_second =
                if server.cpu_seconds > 0.0 { ok / server.cpu_seconds } else { 0.0 };
        }
        Ok(MergedRun { plan, outcome, fleet: report, calls_skipped, lost })
    }

    fn load_agents(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|agent| self.roles[*agent] == AgentRole::Load)
    }

    /// Adds what an agent has reported, by this machine's clock.
    fn add(&mut self, run: &CoordinatedRun, agent: usize, mut outcome: LoadOutcome) {
        if self.roles[agent] == AgentRole::Probe {
            self.probed = Some(outcome);
            return;
        }
        self.rows[agent] = self.row(run, agent, &outcome);
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
        let name = loss.map_or("", |loss| self.names[loss.agent].as_str());
        let why = loss.map_or("", |loss| loss.reason.as_str());
        let seconds = run.complete_seconds();
        Failure::agent_lost(format!(
            "agent {name} was lost ({why}), and the run ended with it: the result is of the \
             {seconds} s that all agents had told of"
        ))
    }

    fn fleet_report(
        &self,
        run: &CoordinatedRun,
        members: &[Member],
        flags: &FleetFlags,
    ) -> FleetReport {
        let rows: Vec<AgentReport> = self.rows.iter().flatten().cloned().collect();
        let late = || rows.iter().map(|row| row.start_late_ns);
        let mut errors: Vec<u64> = rows.iter().map(|row| row.clock_error_ns).collect();
        errors.sort_unstable();
        let start = StartSkew {
            bound_ns: errors.iter().rev().take(2).sum(),
            reached_ns: late().max().unwrap_or(0) - late().min().unwrap_or(0),
        };
        let probe = (0..self.roles.len()).find(|agent| self.roles[*agent] == AgentRole::Probe);
        FleetReport {
            start,
            preparing_calls: self.ready.iter().flatten().map(|ready| ready.preparing_calls).sum(),
            lost: self.lost(run),
            server: self.server.clone().map(|server| self.named_server(server)),
            probe: probe.and_then(|agent| self.probe(agent, flags.probe_rate?)),
            doubts: self.doubts(run, members),
            agents: rows,
        }
    }

    fn named_server(&self, server: ServerReport) -> ServerReport {
        let place = self.roles.iter().position(|role| *role == AgentRole::Server);
        ServerReport { name: place.map_or_else(String::new, |at| self.names[at].clone()), ..server }
    }

    fn row(
        &self,
        run: &CoordinatedRun,
        agent: usize,
        outcome: &LoadOutcome,
    ) -> Option<AgentReport> {
        let ready = self.ready[agent].as_ref()?;
        let report = report_of(&ready.plan, UNIX_EPOCH, outcome);
        let offset = run.offset(agent)?;
        let latencies = outcome.latencies_to_report();
        Some(AgentReport {
            name: self.names[agent].clone(),
            machine: self.machines[agent].clone(),
            threads: ready.plan.threads,
            connections_opened: outcome.connections_opened,
            ok: outcome.ok,
            failed: outcome.errors.total(),
            requests_per_second: report.rps,
            p50_ns: latencies.at(50.0),
            p99_ns: latencies.at(99.0),
            lag_p99_ns: outcome.open_loop.as_ref().map(|calls| calls.lag.at(99.0)),
            cpu_seconds: outcome.cpu_user_seconds + outcome.cpu_system_seconds,
            busy_share: report.bookend.busy_share(),
            start_late_ns: outcome.start_late_ns,
            clock_error_ns: offset.error_max_ns(),
            round_trip_min_ns: offset.round_trip_min_ns,
            round_trip_median_ns: offset.round_trip_median_ns,
        })
    }

    fn probe(&self, agent: usize, rate: f64) -> Option<ProbeAgentReport> {
        let outcome = self.probed.as_ref()?;
        let latencies = outcome.latencies_to_report();
        Some(ProbeAgentReport {
            name: self.names[agent].clone(),
            rate,
            ok: outcome.ok,
            failed: outcome.errors.total(),
            p50_ns: latencies.at(50.0),
            p99_ns: latencies.at(99.0),
            max_ns: latencies.max_ns,
        })
    }

    fn lost(&self, run: &CoordinatedRun) -> Vec<LostAgent> {
        let agents = self.load_agents().count() as f64;
        let lost = |loss: &bookend_fleet::Loss| {
            let makes_calls = self.roles[loss.agent] == AgentRole::Load;
            LostAgent {
                name: self.names[loss.agent].clone(),
                at_seconds: loss.at_ns.unwrap_or(0) as f64 / 1e9,
                seconds_told: loss.seconds,
                share: if makes_calls { 1.0 / agents } else { 0.0 },
                reason: loss.reason.clone(),
            }
        };
        run.losses().iter().map(lost).collect()
    }

    fn doubts(&self, run: &CoordinatedRun, members: &[Member]) -> Vec<String> {
        let jumped = (0..self.names.len()).filter_map(|agent| {
            let seconds = run.clock_jump_ns(agent)? as f64 / 1e9;
            let name = &self.names[agent];
            Some(format!(
                "the clock of {name} jumped by {seconds:.3} s in the course of the run: its \
                 seconds are not those of the others"
            ))
        });
        let differing = differences(members);
        let lost = (!run.losses().is_empty())
            .then(|| "an agent was lost: figures of this run are not to be quoted".to_owned());
        jumped.chain(differing).chain(lost).collect()
    }
}

/// In what the machines of agents that make calls differ: a sentence each.
fn differences(members: &[Member]) -> Vec<String> {
    let load = || members.iter().filter(|member| member.facts.role == AgentRole::Load);
    let differing = |what: &str, of: &dyn Fn(&Member) -> String| {
        let values: BTreeSet<String> = load().map(of).collect();
        let values: Vec<String> = values.into_iter().collect();
        (values.len() > 1).then(|| format!("agents have different {what}: {}", values.join("; ")))
    };
    let facts = |member: &Member| member.facts.clone();
    [
        differing("kernels", &|member| facts(member).machine.kernel),
        differing("CPU models", &|member| facts(member).machine.cpu_model),
        differing("numbers of CPUs", &|member| facts(member).cpus.to_string()),
        differing("clock sources", &|member| {
            facts(member).clock_source.unwrap_or_else(|| "unknown".to_owned())
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
