//! ResourceLimits and accounts of a process tree by the kernel's control groups, capability by capability:
//! whichever version has it below the group that this process is in, else none.

mod account;
mod discover;
mod prepare;

pub use account::{Account, PeakCounter};
pub use discover::Hierarchies;
pub use prepare::ControlGroups;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long an emptied group may take to be removable: its last process may still be ending.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// What a process tree may use. `None` leaves it without a limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceLimits {
    /// CPUs it may run on; none leaves them open.
    pub cpus: Vec<usize>,
    /// CPU time a second, in CPUs, where the CPUs themselves do not limit it enough.
    pub cpu_time: Option<f64>,
    /// Memory, bytes, page cache of its files included.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

/// What control groups can do for the lab, each for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Keep the tree on its CPUs.
    CpuSet,
    /// Tell the CPU time of the whole tree, ended threads included.
    CpuTime,
    /// Limit the CPU time of the whole tree to a share of its CPUs.
    CpuQuota,
    /// Tell and limit the memory of the whole tree.
    Memory,
    /// Count and limit processes and threads.
    Processes,
    /// Know every process of the tree, and kill them all.
    Kill,
}

/// Which version of control groups gives a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CgroupVersion {
    /// One hierarchy a controller.
    One,
    /// The unified hierarchy.
    Two,
}

/// What is used for each capability; those that are missing are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(Vec<(Capability, CgroupVersion)>);

/// The groups of one process tree, in every hierarchy that gives a capability. Dropping it removes
/// them, once the tree is gone.
#[derive(Debug)]
pub struct ControlGroup {
    /// One folder a hierarchy.
    folders: Vec<PathBuf>,
    account: Account,
}

impl Capability {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Capability; 6] = [
        Capability::CpuSet,
        Capability::CpuTime,
        Capability::CpuQuota,
        Capability::Memory,
        Capability::Processes,
        Capability::Kill,
    ];

    /// What the lab does without a control group.
    fn without(self) -> &'static str {
        match self {
            Capability::CpuSet => "affinity alone",
            Capability::CpuTime => "summed over threads",
            Capability::CpuQuota => "none",
            Capability::Memory => "no limit, summed resident sets",
            Capability::Processes => "no limit",
            Capability::Kill => "process by process",
        }
    }
}

impl Capabilities {
    /// Which version gives `capability`.
    pub fn of(&self, capability: Capability) -> Option<CgroupVersion> {
        let mut all = self.0.iter();
        let (_, version) = all.find(|(known, _)| *known == capability)?;
        Some(*version)
    }

    fn add(&mut self, capability: Capability, version: CgroupVersion) {
        if self.of(capability).is_none() {
            self.0.push((capability, version));
        }
    }
}

impl ControlGroup {
    /// The folders that a process must join.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.clone()
    }

    /// Where the kernel keeps the account of this tree.
    pub fn account(&self) -> &Account {
        &self.account
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            remove(folder);
        }
    }
}

/// Removes an empty group, waiting a little for its last process to be gone.
fn remove(folder: &Path) {
    let deadline = Instant::now() + REMOVE_TIMEOUT;
    while let Err(error) = std::fs::remove_dir(folder) {
        let is_busy = error.kind() == std::io::ErrorKind::ResourceBusy;
        if !is_busy || Instant::now() >= deadline {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl fmt::Display for CgroupVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            CgroupVersion::One => "cgroup v1",
            CgroupVersion::Two => "cgroup v2",
        })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Capability::CpuSet => "CPU set",
            Capability::CpuTime => "CPU time",
            Capability::CpuQuota => "CPU quota",
            Capability::Memory => "memory",
            Capability::Processes => "processes",
            Capability::Kill => "kill",
        })
    }
}

/// One line: `CPU set: cgroup v1; CPU time: cgroup v2; memory: no limit, ...`.
impl fmt::Display for Capabilities {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, capability) in Capability::ALL.into_iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(out, "{separator}{capability}: ")?;
            match self.of(capability) {
                Some(version) => write!(out, "{version}")?,
                None => out.write_str(capability.without())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_for_each_capability_where_it_comes_from() {
        let mut capabilities = Capabilities::default();
        capabilities.add(Capability::Memory, CgroupVersion::One);
        capabilities.add(Capability::Memory, CgroupVersion::Two);
        capabilities.add(Capability::Kill, CgroupVersion::Two);
        let expected = "CPU set: affinity alone; CPU time: summed over threads; CPU quota: none; \
                        memory: cgroup v1; processes: no limit; kill: cgroup v2";
        assert_eq!(capabilities.to_string(), expected);
    }
}
