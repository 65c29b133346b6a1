//! Latencies of a cell, from the histograms of all its rounds.

use super::round::Round;
use bookend_contract::latency;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies of a merged histogram, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Shortest.
    pub min_ns: f64,
    /// What 50 % of the calls did not exceed.
    pub p50_ns: f64,
    /// What 90 % of the calls did not exceed.
    pub p90_ns: f64,
    /// What 95 % of the calls did not exceed.
    pub p95_ns: f64,
    /// What 99 % of the calls did not exceed.
    pub p99_ns: f64,
    /// What 99.9 % of the calls did not exceed.
    pub p99_9_ns: f64,
    /// Longest.
    pub max_ns: f64,
}

impl LatencySummary {
    /// `None` for an empty histogram.
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let at = |percent| histogram.value_at_percentile(percent) as f64;
        Some(Self {
            mean_ns: histogram.mean(),
            min_ns: histogram.min() as f64,
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p95_ns: at(95.0),
            p99_ns: at(99.0),
            p99_9_ns: at(99.9),
            max_ns: histogram.max() as f64,
        })
    }

    /// Percent and nanoseconds, in ascending order of percent.
    pub fn percentiles(&self) -> Vec<(f64, f64)> {
        vec![
            (50.0, self.p50_ns),
            (90.0, self.p90_ns),
            (95.0, self.p95_ns),
            (99.0, self.p99_ns),
            (99.9, self.p99_9_ns),
        ]
    }
}

/// The latencies of all rounds together, and a clause for each histogram that cannot be read.
pub(super) fn merged(rounds: &[Round<'_>]) -> (Option<LatencySummary>, Vec<String>) {
    let mut merged = latency::empty();
    let mut unreadable = Vec::new();
    for round in rounds {
        let reason = match &round.histogram {
            Ok(histogram) => match merged.add(histogram) {
                Ok(()) => continue,
                Err(_) => "the latency histogram is of another range".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        unreadable.push(format!("{reason} (round {})", round.number));
    }
    (LatencySummary::of(&merged), unreadable)
}
