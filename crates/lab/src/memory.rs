//! Memory of a process tree: the control group's charge where there is one, else the sum of the
//! resident sets, which counts shared pages once for every process.

use crate::control_group::Account;
use crate::key_values::kilobytes;
use crate::process::Process;
use crate::process::tree::ProcessTree;

/// Tells memory and threads of one process tree.
#[derive(Debug)]
pub struct MemoryMeter {
    /// The account, for the kernel's own record of the peak.
    pub account: Account,
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
        MemoryMeter { account: process.account().clone(), tree: process.tree().clone() }
    }

    /// A meter for a tree that the lab has not started.
    pub fn of_tree(tree: ProcessTree) -> MemoryMeter {
        MemoryMeter { account: Account::default(), tree }
    }

    /// Where the figures come from: `cgroup` or `rss`.
    pub fn source(&self) -> &'static str {
        if self.account.memory.is_some() { "cgroup" } else { "rss" }
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

    fn read_processes(&self) -> Footprint {
        let mut sum = Footprint::default();
        for process in self.tree.members() {
            let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid))
                .unwrap_or_default();
            sum.memory_bytes += kilobytes(&status, "VmRSS");
            sum.threads += process.threads;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
