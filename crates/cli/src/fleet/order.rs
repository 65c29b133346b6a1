//! What the agents of a run are to do, by the flags of the command.

use super::flags::FleetFlags;
use super::gathered::Member;
use super::task::{LoadTask, ServerTask, Task};
use crate::terminal::Failure;
use bookend_contract::duration::nanoseconds;
use bookend_fleet::AgentTask;
use bookend_fleet::message::AgentRole;
use bookend_load::capacity::Trial;
use bookend_load::flags::LoadFlags;
use bookend_load::flags::sent::SentFlags;
use serde_json::value::to_raw_value;
use std::net::{IpAddr, Ipv4Addr};

/// What the agents of a run are to do.
#[derive(Clone, Copy, Debug)]
pub struct FleetOrder<'a> {
    /// The run.
    pub flags: &'a LoadFlags,
    /// Which agents take part.
    pub fleet: &'a FleetFlags,
    /// The flags as they go to agents.
    pub sent: &'a SentFlags,
    /// The trial that is made in the place of the run.
    pub trial: Option<Trial>,
    /// Whether calls are made in laps, each when it is asked for.
    pub in_laps: bool,
}

impl<'a> FleetOrder<'a> {
    /// To make the run that the flags ask for.
    pub fn run(flags: &'a LoadFlags, fleet: &'a FleetFlags, sent: &'a SentFlags) -> Self {
        Self { flags, fleet, sent, trial: None, in_laps: false }
    }

    /// A task for each agent.
    ///
    /// # Errors
    /// [`Failure`] when the server's agent could not find the server.
    pub fn tasks(&self, members: &[Member]) -> Result<Vec<AgentTask>, Failure> {
        let load = |member: &&Member| member.facts.role == AgentRole::Load;
        let of = members.iter().filter(load).count() as u32;
        let caller = members.iter().find(load).map(|member| member.address);
        let caller = caller.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let seed = self.flags.pacing.seed.unwrap_or_else(|| fastrand::u64(..));
        let task = |(number, member): (usize, &Member)| {
            let role = member.facts.role;
            let task = match role {
                AgentRole::Server => Task::Server(self.server(caller)?),
                AgentRole::Load => Task::Load(self.load(seed, number as u32, of)),
                AgentRole::Probe => {
                    let probe_rate = self.fleet.probe_rate;
                    Task::Load(LoadTask { probe_rate, ..self.load(seed, 0, 1) })
                }
            };
            let task = to_raw_value(&task).map_err(Failure::nothing_measured)?;
            let goes_first = role == AgentRole::Server;
            Ok(AgentTask { task, goes_first, tells_seconds: role == AgentRole::Load })
        };
        members.iter().enumerate().map(task).collect()
    }

    /// Length of the window, nanoseconds; `None` where it ends otherwise.
    pub fn window_ns(&self) -> Option<u64> {
        match self.trial {
            Some(trial) => Some(trial.window_ns),
            None => self.flags.window().map(nanoseconds),
        }
    }

    /// Length of the warm-up, nanoseconds.
    pub fn warmup_ns(&self) -> u64 {
        let warmup_ns = nanoseconds(self.flags.warmup);
        self.trial.map_or(warmup_ns, |trial| trial.warmup_ns(warmup_ns))
    }

    fn load(&self, seed: u64, number: u32, of: u32) -> LoadTask {
        LoadTask {
            flags: self.sent.clone(),
            seed,
            number,
            of,
            trial: self.trial,
            probe_rate: None,
            servers_are_there: self.fleet.is_shared,
            in_laps: self.in_laps,
        }
    }

    fn server(&self, caller: IpAddr) -> Result<ServerTask, Failure> {
        let first = self.flags.call.targets.first().map_or("", String::as_str);
        let port = first.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = port.ok_or_else(|| {
            Failure::usage(format!(
                "an agent on the server's node finds the server by its port, and {first:?} has \
                 none: give the target as HOST:PORT"
            ))
        })?;
        Ok(ServerTask {
            command: self.fleet.start_server.clone(),
            port,
            caller,
            warmup_ns: self.warmup_ns(),
            window_ns: self.window_ns(),
        })
    }
}
