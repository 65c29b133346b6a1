//! CPU time of a process tree, to the nanosecond, and of the machine, CPU by CPU.
//!
//! A tree's time is its control group's account where there is one. Else it is the sum of its
//! processes' CPU clocks, to the nanosecond, and of the ticks of 10 ms in which the kernel tells
//! the time of processes that have ended.

mod list;
mod placement;
mod threads;
mod times;
mod tree_account;
mod tree_clock;

pub use list::{list, parse_list};
pub use placement::{Placement, allowed_cpus, whole_cpus};
pub use threads::ThreadMeter;
pub use times::{CpuTimes, CpuTimesDelta};

use crate::control_group::Account;
use crate::process::Process;
use crate::process::tree::ProcessTree;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use tree_clock::TreeClock;

/// What is not exact in the CPU time of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuGaps {
    /// How much of it is known in ticks of 10 ms alone, nanoseconds: what processes used after the
    /// last reading before their end.
    pub in_ticks_ns: u64,
    /// Whether a process ignores how its children end. Then what they used after the last reading
    /// before their end is lost.
    pub ignores_children: bool,
}

/// Tells the CPU time of one process tree.
#[derive(Debug)]
pub struct CpuMeter {
    account: Account,
    clock: TreeClock,
}

/// CPU time of this process so far.
pub fn own_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

impl CpuMeter {
    /// A meter for everything that `process` started.
    pub fn of(process: &Process) -> CpuMeter {
        let clock = TreeClock::new(process.tree().clone());
        CpuMeter { account: process.account().clone(), clock }
    }

    /// A meter for a tree that the lab has not started.
    pub fn of_tree(tree: ProcessTree) -> CpuMeter {
        CpuMeter { account: Account::default(), clock: TreeClock::new(tree) }
    }

    /// CPU time since the tree's start, nanoseconds. It never goes back.
    pub fn read_ns(&mut self) -> u64 {
        self.account.cpu_ns().unwrap_or_else(|| self.clock.read_ns())
    }

    /// Whether a control group knows it.
    pub fn is_in_control_group(&self) -> bool {
        self.account.cpu.is_some()
    }

    /// What is not exact in what was read. With a control group all of it is.
    pub fn gaps(&self) -> CpuGaps {
        match self.account.cpu {
            Some(_) => CpuGaps::default(),
            None => CpuGaps {
                in_ticks_ns: self.clock.in_ticks_ns(),
                ignores_children: self.clock.ignores_children(),
            },
        }
    }
}
