//! One run of a search of the capacity.

use crate::pace::{ArrivalProcess, RateSchedule};
use crate::plan::pacing::{ASYNC_IN_FLIGHT_MAX, Loop, OpenLoop};
use crate::plan::{DurationStop, LoadPlan};
use serde::{Deserialize, Serialize};

/// What every trial leaves out, nanoseconds.
const WARMUP_NS: u64 = 200_000_000;

/// One run of a search of the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Length of its window, nanoseconds.
    pub window_ns: u64,
    /// Its calls.
    pub load: TrialLoad,
}

/// Which calls a trial makes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrialLoad {
    /// That number is in flight at any time.
    InFlight(u32),
    /// They are due at random times, whatever becomes of the others.
    Rate {
        /// Calls a second.
        per_second: f64,
        /// What the times are drawn from.
        seed: u64,
    },
}

impl Trial {
    /// Calls like those of a plan, as this trial makes them.
    pub fn plan(&self, plan: &LoadPlan) -> LoadPlan {
        let (pacing, concurrency) = match self.load {
            // Each connection carries at least one.
            TrialLoad::InFlight(in_flight) => (Loop::Closed, in_flight.max(plan.connections)),
            TrialLoad::Rate { per_second, seed } => {
                let schedule = RateSchedule::constant(per_second);
                let open_loop = OpenLoop { schedule, arrivals: ArrivalProcess::Poisson, seed };
                (Loop::Open(open_loop), ASYNC_IN_FLIGHT_MAX.max(plan.connections))
            }
        };
        LoadPlan {
            pacing,
            concurrency,
            warmup_ns: self.warmup_ns(plan.warmup_ns),
            window_ns: Some(self.window_ns),
            calls: None,
            concurrency_steps: Vec::new(),
            calls_listed: 0,
            duration_stop: DurationStop::Ignore,
            ..plan.clone()
        }
    }

    /// Length of its warm-up where that of the plan is `warmup_ns`, nanoseconds.
    pub fn warmup_ns(&self, warmup_ns: u64) -> u64 {
        warmup_ns.max(WARMUP_NS.min(self.window_ns / 2))
    }
}
