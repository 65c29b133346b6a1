//! What a report says of the plan of its run.

use super::{LoadPlan, ReportLabels};
use crate::pace::RateSchedule;
use serde::{Deserialize, Serialize};

/// What a report says of the plan of its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportedPlan {
    /// How the report describes the run.
    pub labels: ReportLabels,
    /// Number of calls of the window; `None` is as many as there was time for.
    pub calls: Option<u64>,
    /// Worker threads.
    pub threads: u32,
    /// The driver: `blocking`, `epoll` or `uring`.
    pub driver: String,
    /// How its threads wait: `sleep` or `spin`.
    pub wait: String,
    /// Length of the warm-up, nanoseconds.
    pub warmup_ns: u64,
    /// When calls were due, in an open loop.
    pub schedule: Option<RateSchedule>,
    /// Of how many generators this one makes its share of the schedule's calls.
    pub generators: u32,
}

impl LoadPlan {
    /// What a report says of it.
    pub fn reported(&self) -> ReportedPlan {
        ReportedPlan {
            labels: self.labels.clone(),
            calls: self.calls,
            threads: self.threads,
            driver: self.driver.to_string(),
            wait: self.wait.name().to_owned(),
            warmup_ns: self.warmup_ns,
            schedule: self.pacing.open().map(|open_loop| open_loop.schedule.clone()),
            generators: self.part.of,
        }
    }
}
