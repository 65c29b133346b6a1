//! The phases of a run, and when they end.

use crate::plan::LoadPlan;

/// The phase of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunPhase {
    /// Connections are established; nothing is sent yet.
    Connecting,
    /// Calls are made and count as warm-up.
    WarmUp,
    /// Calls are made and count.
    Window,
    /// No more calls are made; those in flight may end.
    Draining,
    /// Nothing is left to do.
    Over,
}

/// When the phases end, nanoseconds of the drivers' clock; `u64::MAX` while that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhaseTimes {
    /// When a run begins whose start lies ahead.
    pub start_ns: u64,
    pub window_start_ns: u64,
    pub window_end_ns: u64,
    pub drain_end_ns: u64,
}

impl PhaseTimes {
    /// Before the run.
    pub const UNKNOWN: Self = Self {
        start_ns: u64::MAX,
        window_start_ns: u64::MAX,
        window_end_ns: u64::MAX,
        drain_end_ns: u64::MAX,
    };

    /// The run begins.
    pub fn begin(&mut self, plan: &LoadPlan, start_ns: u64) {
        self.window_start_ns = start_ns.saturating_add(plan.warmup_ns);
        let end_ns = |window_ns| self.window_start_ns.saturating_add(window_ns);
        self.window_end_ns = plan.window_ns.map_or(u64::MAX, end_ns);
    }

    /// When a phase ends by itself; `u64::MAX` for never.
    #[inline]
    pub fn end_of(&self, phase: RunPhase) -> u64 {
        match phase {
            RunPhase::Connecting => self.start_ns,
            RunPhase::Over => u64::MAX,
            RunPhase::WarmUp => self.window_start_ns,
            RunPhase::Window => self.window_end_ns,
            RunPhase::Draining => self.drain_end_ns,
        }
    }
}
