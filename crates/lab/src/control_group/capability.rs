//! What control groups can do for the lab, and which version does it here.

use std::fmt;

/// One thing that control groups can do for the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Keep the tree on its CPUs.
    CpuSet,
    /// Count the CPU time of the whole tree, ended threads included.
    CpuTime,
    /// Limit the CPU time of the whole tree to a share of its CPUs.
    CpuQuota,
    /// Count and limit the memory of the whole tree.
    Memory,
    /// Count and limit processes and threads.
    Processes,
    /// List every process of the tree, and kill them all.
    Kill,
}

/// Which version of control groups gives a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CgroupVersion {
    /// One hierarchy for each controller.
    One,
    /// The unified hierarchy.
    Two,
}

/// The version that gives each capability. A capability that is not listed is not available.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(Vec<(Capability, CgroupVersion)>);

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
    fn fallback(self) -> &'static str {
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

    /// Adds a capability. The version that was added first is the one that is used.
    pub fn add(&mut self, capability: Capability, version: CgroupVersion) {
        if self.of(capability).is_none() {
            self.0.push((capability, version));
        }
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
                None => out.write_str(capability.fallback())?,
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
