//! Where the machine's CPU time went: the account of the whole machine next to those of the two
//! ends.

use crate::measurement::Measurement;
use crate::round::MeasuredRound;
use serde::Serialize;

/// CPU of the whole machine, pooled over the windows of all rounds, in CPUs (1.0 = one CPU busy
/// all the time).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuAccount {
    /// CPUs of the machine.
    pub cpus: f64,
    /// The server's process tree.
    pub server: f64,
    /// The generator's process tree.
    pub generator: f64,
    /// All time except idle and steal.
    pub busy: f64,
    /// Busy in user mode.
    pub user: f64,
    /// Busy in the kernel on behalf of a process.
    pub system: f64,
    /// Busy with soft interrupts, including the network's receive work that no process is charged
    /// for.
    pub softirq: f64,
    /// Busy with hard interrupts.
    pub irq: f64,
    /// Taken by the hypervisor for others.
    pub steal: f64,
    /// Idle, or waiting for input or output.
    pub idle: f64,
    /// Busy time that neither end accounts for: other processes, kernel threads, interrupts.
    /// Slightly below zero where the machine's clock ticks are coarser than the ends' nanoseconds.
    pub unattributed: f64,
}

impl CpuAccount {
    /// Pools the rounds. `None` when the machine kept no account.
    pub(super) fn pooled(rounds: &[MeasuredRound<'_>]) -> Option<Self> {
        let sum = |of: fn(&Measurement) -> f64| -> f64 {
            rounds.iter().map(|round| of(round.window)).sum()
        };
        let window = sum(|round| round.window_seconds);
        let busy = sum(|round| round.machine.busy_seconds());
        let total = sum(|round| round.machine.total_seconds());
        if window.is_nan() || window <= 0.0 || total.is_nan() || total <= 0.0 {
            return None;
        }
        let server = sum(|round| round.ends.server.cpu_seconds);
        let generator = sum(|round| round.ends.caller.cpu_seconds);
        Some(Self {
            cpus: total / window,
            server: server / window,
            generator: generator / window,
            busy: busy / window,
            user: sum(|round| round.machine.user_seconds) / window,
            system: sum(|round| round.machine.system_seconds) / window,
            softirq: sum(|round| round.machine.softirq_seconds) / window,
            irq: sum(|round| round.machine.irq_seconds) / window,
            steal: sum(|round| round.machine.steal_seconds) / window,
            idle: sum(|round| round.machine.idle_seconds) / window,
            unattributed: (busy - server - generator) / window,
        })
    }
}
