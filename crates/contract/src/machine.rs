//! Facts about the machine that a reader needs to judge a figure. No host and no user names.

use crate::printable;
use serde::{Deserialize, Serialize};
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
}

impl MachineFacts {
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
        writeln!(f, "Memory: {} GiB", (gibibytes * 10.0).round() / 10.0)
    }
}
