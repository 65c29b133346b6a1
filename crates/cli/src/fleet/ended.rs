//! What there is to say of the machines at the end of a run.

use super::task::LoadReady;
use bookend_contract::fleet::{
    AgentReport, FleetReport, LostAgent, ProbeAgentReport, ServerReport, StartSkew,
};
use bookend_fleet::message::{AgentFacts, AgentRole};
use bookend_fleet::{CoordinatedRun, Loss};
use bookend_load::report::report_of;
use bookend_load::run::LoadOutcome;
use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

/// A run that is over. What agents have told is by their numbers.
pub struct EndedRun<'a> {
    /// The run.
    pub run: &'a CoordinatedRun,
    /// What agents have said of themselves.
    pub facts: &'a [AgentFacts],
    /// How they made ready, if they make calls.
    pub ready: &'a [Option<LoadReady>],
    /// The rows of those that have reported, by [`row`].
    pub rows: &'a [Option<AgentReport>],
    /// What the agent on the server's node has reported.
    pub server: Option<&'a ServerReport>,
    /// What the agent that only probes has reported, and its calls a second.
    pub probed: Option<(&'a LoadOutcome, f64)>,
}

impl EndedRun<'_> {
    /// What a report says of the machines.
    pub fn report(&self) -> FleetReport {
        let mut rows: Vec<AgentReport> = self.rows.iter().flatten().cloned().collect();
        // Ten comes after nine.
        rows.sort_by(|one, other| {
            (one.name.len(), &one.name).cmp(&(other.name.len(), &other.name))
        });
        let late = || rows.iter().map(|row| row.start_late_ns);
        let mut errors: Vec<u64> = rows.iter().map(|row| row.clock_error_ns).collect();
        errors.sort_unstable();
        let start = StartSkew {
            bound_ns: errors.iter().rev().take(2).sum(),
            reached_ns: late().max().unwrap_or(0) - late().min().unwrap_or(0),
        };
        FleetReport {
            start,
            preparing_calls: self.ready.iter().flatten().map(|ready| ready.preparing_calls).sum(),
            lost: self.run.losses().iter().map(|loss| self.lost(loss)).collect(),
            server: self.server(),
            probe: self.probe(),
            doubts: self.doubts(),
            agents: rows,
        }
    }

    /// The name of the one agent that may have that role.
    fn only_name(&self, role: AgentRole) -> Option<String> {
        self.facts.iter().find(|facts| facts.role == role).map(|facts| facts.name.clone())
    }

    fn server(&self) -> Option<ServerReport> {
        let name = self.only_name(AgentRole::Server)?;
        Some(ServerReport { name, ..self.server?.clone() })
    }

    fn probe(&self) -> Option<ProbeAgentReport> {
        let (outcome, rate) = self.probed?;
        let latencies = outcome.latencies_to_report();
        Some(ProbeAgentReport {
            name: self.only_name(AgentRole::Probe)?,
            rate,
            ok: outcome.ok,
            failed: outcome.errors.total(),
            p50_ns: latencies.at(50.0),
            p99_ns: latencies.at(99.0),
            max_ns: latencies.max_ns,
        })
    }

    fn lost(&self, loss: &Loss) -> LostAgent {
        let makes_calls = |facts: &&AgentFacts| facts.role == AgentRole::Load;
        let agents = self.facts.iter().filter(makes_calls).count() as f64;
        let facts = &self.facts[loss.agent];
        LostAgent {
            name: facts.name.clone(),
            at_seconds: loss.at_ns.unwrap_or(0) as f64 / 1e9,
            seconds_told: loss.seconds,
            share: if makes_calls(&facts) { 1.0 / agents } else { 0.0 },
            reason: loss.reason.clone(),
        }
    }

    fn doubts(&self) -> Vec<String> {
        let jumped = self.facts.iter().enumerate().filter_map(|(agent, facts)| {
            let seconds = self.run.clock_jump_ns(agent)? as f64 / 1e9;
            Some(format!(
                "the clock of {} jumped by {seconds:.3} s in the course of the run: its seconds \
                 are not those of the others",
                facts.name
            ))
        });
        let lost = (!self.run.losses().is_empty())
            .then(|| "an agent was lost: figures of this run are not to be quoted".to_owned());
        jumped.chain(differences(self.facts)).chain(lost).collect()
    }
}

/// The row of an agent that makes calls and has reported; `None` where it has not made ready.
pub fn row(
    run: &CoordinatedRun,
    agent: usize,
    facts: &AgentFacts,
    ready: Option<&LoadReady>,
    outcome: &LoadOutcome,
) -> Option<AgentReport> {
    let plan = &ready?.plan;
    let report = report_of(plan, UNIX_EPOCH, outcome);
    let offset = run.offset(agent)?;
    let latencies = outcome.latencies_to_report();
    Some(AgentReport {
        name: facts.name.clone(),
        machine: facts.machine.clone(),
        threads: plan.threads,
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

/// In what the machines of agents that make calls differ: a sentence each.
fn differences(facts: &[AgentFacts]) -> impl Iterator<Item = String> + use<> {
    let differing = |what: &str, of: fn(&AgentFacts) -> String| {
        let load = facts.iter().filter(|facts| facts.role == AgentRole::Load);
        let values: BTreeSet<String> = load.map(of).collect();
        let values: Vec<String> = values.into_iter().collect();
        (values.len() > 1).then(|| format!("agents have different {what}: {}", values.join("; ")))
    };
    [
        differing("kernels", |facts| facts.machine.kernel.clone()),
        differing("CPU models", |facts| facts.machine.cpu_model.clone()),
        differing("numbers of CPUs", |facts| facts.cpus.to_string()),
        differing("clock sources", |facts| {
            facts.clock_source.clone().unwrap_or_else(|| "unknown".to_owned())
        }),
    ]
    .into_iter()
    .flatten()
}
