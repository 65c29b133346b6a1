//! CPU time of a tree of processes that has no control group.
//!
//! A process has a clock of its CPU time (`clock_getcpuclockid`): nanoseconds of all its threads,
//! those that have ended too. When it has ended, it keeps its clock until its parent waits for it;
//! then the kernel adds its time to that of the parent's ended children, `cutime` and `cstime` of
//! `/proc/PID/stat`. Those count ticks, rounded down, so up to 20 ms of each parent's sum are
//! missing so far; [`TreeAccount`] says what becomes of the rest. The sum of all clocks and all
//! ended children is what the tree used, where every process is waited for.
//!
//! What nobody waits for is lost but for what was read while it was there:
//!
//! - children of a process that ignores SIGCHLD, of which [`TreeClock::ignores_children`] tells;
//!   one with `SA_NOCLDWAIT` does not show that;
//! - in a tree that the lab has not started, processes that outlive their parent;
//! - a daemon with a session of its own that begins and ends between two readings. Any other
//!   orphan comes to the lab, which reads its clock once it has ended and only then waits for it.

use super::times::TICKS_PER_SECOND;
use super::tree_account::{ProcessReading, TreeAccount};
use crate::process::interrupt::ignores;
use crate::process::stat::ProcessStat;
use crate::process::tree::ProcessTree;
use nix::time::ClockId;
use nix::unistd::Pid;
use signal_hook::consts::SIGCHLD;
use std::time::Duration;

/// Nanoseconds of a tick.
const TICK_NS: u64 = 1_000_000_000 / TICKS_PER_SECOND;

/// Tells the CPU time of one process tree.
#[derive(Debug)]
pub(super) struct TreeClock {
    tree: ProcessTree,
    account: TreeAccount,
}

impl TreeClock {
    /// A clock that has seen nothing yet.
    pub fn new(tree: ProcessTree) -> TreeClock {
        TreeClock { tree, account: TreeAccount::default() }
    }

    /// CPU time of the tree so far, nanoseconds. It never goes back.
    pub fn read_ns(&mut self) -> u64 {
        // A process that was of the tree still is, whichever its parent has become.
        let has_seen = |stat: &ProcessStat| self.account.has_seen((stat.pid, stat.start_time));
        let family = self.tree.family(has_seen);
        // The clocks come after all ticks: what is in a clock is in no parent's ticks yet.
        let readings: Vec<ProcessReading> = family.iter().filter_map(reading).collect();
        self.account.look(&readings);
        let ended = family.iter().filter(|stat| !stat.is_alive());
        ended.for_each(|stat| self.tree.reap(stat.pid));
        self.account.total_ns()
    }

    /// How much of that was used by processes that ended after the last look at them, nanoseconds:
    /// it is known in ticks of 10 ms.
    pub fn in_ticks_ns(&self) -> u64 {
        self.account.in_ticks_ns()
    }

    /// Whether a process lets its children end unheard, so that their CPU time may be lost.
    pub fn ignores_children(&self) -> bool {
        self.account.pids().any(|pid| ignores(&pid.to_string(), SIGCHLD))
    }
}

/// `None`: it is gone by now.
fn reading(stat: &ProcessStat) -> Option<ProcessReading> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(stat.pid)).ok()?;
    let own = Duration::from(clock.now().ok()?);
    Some(ProcessReading {
        id: (stat.pid, stat.start_time),
        parent: stat.parent,
        own_ns: own.as_nanos() as u64,
        waited_ns: stat.waited_ticks * TICK_NS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn what_an_ended_thread_has_used_is_not_lost() {
        let mut clock = TreeClock::new(ProcessTree::new(std::process::id(), "none".into(), vec![]));
        let before = clock.read_ns();
        let used = || ClockId::CLOCK_THREAD_CPUTIME_ID.now().map(Duration::from).unwrap();
        let work = Duration::from_millis(30);
        thread::spawn(move || while used() < work {}).join().unwrap();
        let used_ns = clock.read_ns() - before;
        assert!(used_ns >= work.as_nanos() as u64, "{used_ns} ns");
    }
}
