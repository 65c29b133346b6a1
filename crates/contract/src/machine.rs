//! Facts about the machine that a reader needs to judge a figure. No host and no user names.

use crate::printable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The machine on which something was measured. `Display` prints it as benchmark reports do, one
/// fact a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Distribution with its version: `Ubuntu 22.04.5 LTS`.
    pub os: String,
    /// Kernel with its version: `Linux 5.15.0-125-generic`.
    pub kernel: String,
    /// Model of the CPU as the CPU reports it.
    pub cpu_model: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// The governor of the clock frequency: `performance`. `None` where the system does not report
    /// one, as in most virtual machines.
    pub governor: Option<String>,
    /// Whether this is a virtual machine, by the CPU's own flag.
    pub virtual_machine: bool,
    /// What the machine is in more detail. `None`: measured before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareFacts>,
}

/// What tells a CPU by its numbers where its name does not, as in most virtual machines, and what
/// changes its speed. What the system does not show is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareFacts {
    /// What the CPU says of itself, by the names of `/proc/cpuinfo`: `vendor_id`, `cpu family`,
    /// `model`, `stepping`, `microcode`; on Arm `CPU implementer`, `CPU part` and others.
    pub cpu_id: BTreeMap<String, String>,
    /// The highest clock frequency that the kernel names, or the one that it runs at, MHz.
    pub clock_mhz: Option<u32>,
    /// The cache of a CPU as the kernel gives it: `1024 KB`.
    pub cache: Option<String>,
    /// Maker and model of the machine, as its firmware gives them.
    pub system: Option<String>,
    /// What runs the virtual machine: `KVM`, `Xen`, `Hyper-V`.
    pub hypervisor: Option<String>,
    /// What the lab ran in besides: `Docker`, `Podman`.
    pub container: Option<String>,
    /// Whether two threads share a core.
    pub smt: Option<bool>,
    /// Whether the clock may rise above its nominal frequency.
    pub turbo: Option<bool>,
}

impl MachineFacts {
    /// Whether figures of the two are those of different machines. What only one of them recorded
    /// tells nothing.
    pub fn is_other_than(&self, other: &MachineFacts) -> bool {
        let without = |facts: &MachineFacts| MachineFacts { hardware: None, ..facts.clone() };
        let (Some(own), Some(others)) = (&self.hardware, &other.hardware) else {
            return without(self) != without(other);
        };
        without(self) != without(other)
            || (&own.cpu_id, &own.hypervisor) != (&others.cpu_id, &others.hypervisor)
    }

    /// What tells it from other machines, in one line: CPU, how many of them, and kernel.
    pub fn line(&self) -> String {
        let kind = if self.virtual_machine { " of a virtual machine" } else { "" };
        let line = format!("{}, {} CPUs{kind}, {}", self.cpu_model, self.cpus, self.kernel);
        printable::line(&line).into_owned()
    }
}

impl fmt::Display for MachineFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gibibytes = self.memory_bytes as f64 / f64::from(1 << 30);
        let kind = if self.virtual_machine { " (virtual machine)" } else { "" };
        // The facts of another machine come out of a file.
        writeln!(f, "OS: {}", printable::line(&self.os))?;
        writeln!(f, "Kernel: {}", printable::line(&self.kernel))?;
        writeln!(f, "CPU: {}, {} CPUs{kind}", printable::line(&self.cpu_model), self.cpus)?;
        if let Some(governor) = &self.governor {
            writeln!(f, "Governor: {}", printable::line(governor))?;
        }
        writeln!(f, "Memory: {} GiB", (gibibytes * 10.0).round() / 10.0)?;
        match &self.hardware {
            Some(hardware) => hardware.fmt(f),
            None => writeln!(f, "CPU id, virtualisation, SMT and turbo: not recorded"),
        }
    }
}

impl fmt::Display for HardwareFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_id = self.cpu_id.iter().map(|(name, value)| format!("{name} {value}"));
        let clock = self.clock_mhz.map(|clock| format!("{clock} MHz"));
        let cache = self.cache.as_ref().map(|cache| format!("cache {cache}"));
        let id: Vec<String> = of_id.chain(clock).chain(cache).collect();
        let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "not shown".to_owned());
        let switch = |is_on: Option<bool>| match is_on {
            Some(true) => "on",
            Some(false) => "off",
            None => "not shown",
        };
        let container = self.container.as_ref().map(|name| format!(", in {name}"));
        let hypervisor = shown(&self.hypervisor) + &container.unwrap_or_default();
        let id = if id.is_empty() { "not shown".to_owned() } else { id.join(", ") };
        // The facts of another machine come out of a file.
        writeln!(f, "CPU id: {}", printable::line(&id))?;
        writeln!(f, "System: {}", printable::line(&shown(&self.system)))?;
        writeln!(f, "Hypervisor: {}", printable::line(&hypervisor))?;
        writeln!(f, "SMT: {}, turbo: {}", switch(self.smt), switch(self.turbo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As records have it that were made before there was more.
    const OLD: &str = r#"{"os":"Debian","kernel":"Linux 6.18","cpu_model":"AMD EPYC","cpus":2,
        "memory_bytes":0,"governor":null,"virtual_machine":true}"#;

    fn with_stepping(stepping: &str) -> MachineFacts {
        let cpu_id = BTreeMap::from([("stepping".to_owned(), stepping.to_owned())]);
        let hardware = HardwareFacts { cpu_id, ..HardwareFacts::default() };
        let old: MachineFacts = serde_json::from_str(OLD).expect("old facts are read");
        MachineFacts { hardware: Some(hardware), ..old }
    }

    #[test]
    fn old_facts_are_read_and_what_they_lack_is_said() {
        let old: MachineFacts = serde_json::from_str(OLD).expect("old facts are read");
        let last = "CPU id, virtualisation, SMT and turbo: not recorded\n";
        assert!(old.to_string().ends_with(last), "{old}");
        assert!(!serde_json::to_string(&old).expect("written").contains("hardware"));
    }

    #[test]
    fn cpus_of_one_name_are_told_apart_where_both_facts_have_their_numbers() {
        assert!(with_stepping("1").is_other_than(&with_stepping("2")));
        assert!(!with_stepping("1").is_other_than(&with_stepping("1")));
        let old = MachineFacts { hardware: None, ..with_stepping("1") };
        assert!(!old.is_other_than(&with_stepping("2")));
        let kernel = "Linux 7".to_owned();
        assert!(old.is_other_than(&MachineFacts { kernel, ..with_stepping("1") }));
    }
}
