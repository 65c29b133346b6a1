//! What control groups can do for the lab, and which version does it here.

use std::collections::BTreeMap;
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

/// The kernel's controllers that the lab has a use for, and what each can do. Version 2 counts CPU
/// time in every group and has no `cpuacct`.
pub const CONTROLLERS: [(&str, Capability); 5] = [
    ("cpuset", Capability::CpuSet),
    ("cpuacct", Capability::CpuTime),
    ("cpu", Capability::CpuQuota),
    ("memory", Capability::Memory),
    ("pids", Capability::Processes),
];

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
pub struct Capabilities(BTreeMap<Capability, CgroupVersion>);

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

    /// Its name, and what the lab does without a control group.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Capability::CpuSet => ("CPU set", "affinity alone"),
            Capability::CpuTime => ("CPU time", "summed over threads"),
            Capability::CpuQuota => ("CPU quota", "none"),
            Capability::Memory => ("memory", "no limit, summed resident sets"),
            Capability::Processes => ("processes", "no limit"),
            Capability::Kill => ("kill", "process by process"),
        }
    }
}

impl Capabilities {
    /// Which version gives `capability`.
    pub fn of(&self, capability: Capability) -> Option<CgroupVersion> {
        self.0.get(&capability).copied()
    }

    /// Adds a capability. The version that was added first is the one that is used.
    pub fn add(&mut self, capability: Capability, version: CgroupVersion) {
        self.0.entry(capability).or_insert(version);
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

/// One line: `CPU set: cgroup v1; CPU time: cgroup v2; memory: no limit, ...`.
impl fmt::Display for Capabilities {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = Capability::ALL.map(|capability| {
            let (name, fallback) = capability.words();
            let version = self.of(capability).map(|version| version.to_string());
            format!("{name}: {}", version.as_deref().unwrap_or(fallback))
        });
        out.write_str(&lines.join("; "))
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
