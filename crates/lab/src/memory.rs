//! Memory of a process tree: the control group's charge where there is one, else the sum of the
//! resident sets, which counts shared pages once for every process.

use crate::control_group::Account;
use crate::process::Process;
use crate::process::tree::ProcessTree;

/// Tells memory and threads of one process tree.
#[derive(Debug)]
pub struct MemoryMeter {
    account: Account,
    tree: ProcessTree,
}

/// What a tree takes at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Threads.
    pub threads: u32,
}

impl MemoryMeter {
    /// A meter for everything that `process` started.
    pub fn of(process: &Process) -> MemoryMeter {
        let account = process.group().map(|group| group.account().clone());
        MemoryMeter { account: account.unwrap_or_default(), tree: process.tree().clone() }
    }

    /// Where the figures come from: `cgroup` or `rss`.
    pub fn source(&self) -> &'static str {
        match self.account.memory {
            Some(_) => "cgroup",
            None => "rss",
        }
    }

    /// What the tree takes now.
    pub fn read(&self) -> Footprint {
        let (memory_bytes, threads) = (self.account.memory_bytes(), self.account.tasks());
        if let (Some(memory_bytes), Some(threads)) = (memory_bytes, threads) {
            return Footprint { memory_bytes, threads };
        }
        let seen = self.read_processes();
        Footprint {
            memory_bytes: memory_bytes.unwrap_or(seen.memory_bytes),
            threads: threads.unwrap_or(seen.threads),
        }
    }

    /// The account, for the kernel's own record of the peak.
    pub fn account(&self) -> &Account {
        &self.account
    }

    fn read_processes(&self) -> Footprint {
        let mut sum = Footprint::default();
        for process in self.tree.members() {
            let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid));
            sum.memory_bytes += resident_bytes(&status.unwrap_or_default());
            sum.threads += process.threads;
        }
        sum
    }
}

/// The line `VmRSS:  1234 kB` of `/proc/PID/status`.
fn resident_bytes(status: &str) -> u64 {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = value.and_then(|value| value.trim().strip_suffix(" kB"));
    let kibibytes = kibibytes.and_then(|number| number.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_kilobytes_are_kibibytes() {
        let status = "Name:\tx\nVmHWM:\t    9000 kB\nVmRSS:\t    1234 kB\nThreads:\t3\n";
        assert_eq!(resident_bytes(status), 1234 * 1024);
        assert_eq!(resident_bytes("VmRSS:\tmany kB\n"), 0);
        assert_eq!(resident_bytes("Name:\tkthreadd\n"), 0);
    }

    #[test]
    fn this_process_holds_memory_and_threads() {
        let meter = MemoryMeter {
            account: Account::default(),
            tree: ProcessTree::new(std::process::id(), "none".into(), vec![]),
        };
        let held = meter.read();
        assert!(held.memory_bytes > 0 && held.threads > 0);
        assert_eq!(meter.source(), "rss");
    }
}
