//! The arithmetic behind every printed figure. Pure: no I/O, no clock, no randomness.
//!
//! Three kinds: of a sample whose size is fixed beforehand, of one that may be looked at after each
//! value, and what outliers hardly move. There is one [`median`], and every median is that; of
//! ratios it is [`median_of_ratios`].

mod any_time;
mod fixed_sample;
mod robust;

pub use any_time::{ALPHA, ConfidenceSequence};
pub use fixed_sample::{
    NoRatio, Ratio, lag_one_autocorrelation, median_interval, median_of_ratios, paired_ratio,
};
pub use robust::{StartMeans, median, median_ns, nearest_rank, quantile};

use serde::{Deserialize, Serialize};

/// 97.5 percent of a normal distribution lie below this many standard deviations.
pub const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The confidence of an interval: it covers the truth in at least 95 of 100 runs.
pub const CONFIDENCE: f64 = 0.95;

/// A range that covers the truth with [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Both ends as text: `0.95 - 1.02`.
    pub fn text(&self, figure: fn(f64) -> String) -> String {
        format!("{} - {}", figure(self.low), figure(self.high))
    }

    /// Whether the interval contains `value`, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
