//! CPU time of a process tree, to the nanosecond, and of the machine, CPU by CPU.
//!
//! A tree's time is its control group's account where there is one. Else it is the sum of
//! `schedstat` over its threads: what a thread used after the last look at it before it ended is
//! then missing, at most 100 ms of each thread that ends inside the window. The ticks of
//! `/proc/PID/stat` are never used: at 10 ms they are coarser than what is measured.

mod list;
mod placement;
mod threads;
mod times;

pub use list::{list, parse_list};
pub use placement::{Placement, allowed_cpus, whole_cpus};
pub use threads::{ContextSwitches, ThreadClock};
pub use times::{CpuTimes, CpuTimesDelta};

use crate::control_group::Account;
use crate::process::Process;
use crate::process::tree::ProcessTree;

/// Tells the CPU time of one process tree.
#[derive(Debug)]
pub struct CpuMeter {
    account: Account,
    threads: ThreadClock,
}

impl CpuMeter {
    /// A meter for everything that `process` started.
    pub fn of(process: &Process) -> CpuMeter {
        let threads = ThreadClock::new(process.tree().clone());
        CpuMeter { account: process.account().clone(), threads }
    }

    /// A meter for a tree that the lab has not started.
    pub fn of_tree(tree: ProcessTree) -> CpuMeter {
        CpuMeter { account: Account::default(), threads: ThreadClock::new(tree) }
    }

    /// CPU time since the tree's start, nanoseconds. It never goes back.
    pub fn read_ns(&mut self) -> u64 {
        self.account.cpu_ns().unwrap_or_else(|| self.threads.read_ns())
    }
}
