//! The machine as a race sees it.

use super::error::RaceRunError;
use crate::control_group::{ControlGroups, ResourceLimits};
use crate::cpu::Placement;
use crate::invocation::Invocation;
use crate::process::{Process, tree};
use crate::spawner::Spawner;
use std::io;

/// What all processes of a race share.
#[derive(Debug)]
pub struct RaceHost {
    /// How processes are started.
    pub spawner: Spawner,
    /// Where accounting comes from.
    pub groups: ControlGroups,
    /// Which CPUs servers run on, and which those that call them.
    pub placement: Placement,
    /// How many CPUs a server was to have.
    pub server_cpus: u32,
}

impl RaceHost {
    /// This machine, with that many CPUs for a server and up to that many for those that call it.
    pub fn new(spawner: Spawner, server_cpus: u32, generator_cpus_max: Option<u32>) -> RaceHost {
        let placement = Placement::on_this_machine(server_cpus.into(), generator_cpus_max);
        let groups = ControlGroups::prepare(tree::kill_group);
        RaceHost { spawner, groups, placement, server_cpus }
    }

    /// CPUs that callers have.
    pub fn generator_cpus(&self) -> u32 {
        u32::try_from(self.placement.generator.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Starts a command line of the shell that is called `name`, in a control group of its own.
    pub(super) fn start(
        &self,
        name: &str,
        command: &str,
        invocation: &Invocation<'_>,
    ) -> Result<Process, RaceRunError> {
        let limits = ResourceLimits { cpus: invocation.cpus.clone(), ..ResourceLimits::default() };
        let group = self
            .groups
            .create(&limits)
            .map_err(|error| RaceRunError::Machine(name.to_owned(), io::Error::other(error)))?;
        self.spawner
            .spawn_as_is(["/bin/sh", "-c", command], invocation, group)
            .map_err(|error| RaceRunError::Start(name.to_owned(), error.into()))
    }
}
