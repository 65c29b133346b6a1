//! The machine as a race sees it.

use super::error::RaceRunError;
use crate::control_group::{ControlGroups, ResourceLimits};
use crate::cpu::Placement;
use crate::invocation::Invocation;
use crate::process::Process;
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
}

impl RaceHost {
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
        let words = ["/bin/sh", "-c", command].map(str::to_owned).to_vec();
        let process = Process::start(&self.spawner.launcher, words, invocation, group)
            .map_err(|error| RaceRunError::Start(name.to_owned(), error.into()))?;
        Ok(process.hurried_by(self.spawner.interrupt.hurry()))
    }
}
