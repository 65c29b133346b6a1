//! Latency by percentile, as points of a curve on which the tail has as much room as the rest.

use crate::chart::LinePoint;
use hdrhistogram::Histogram;

/// Points of a curve for each factor of ten by which fewer calls took longer.
const POINTS_A_DECADE: u32 = 6;

/// Beyond five nines a curve shows single calls.
const DECADES_MAX: u32 = 5;

/// Up to where ten calls took longer: beyond that a point is an accident.
pub(crate) fn points_by_percentile(latencies: &Histogram<u64>) -> Vec<LinePoint> {
    let calls = latencies.len() as f64;
    let steps = (0..=POINTS_A_DECADE * DECADES_MAX).map(|step| {
        let share_longer = 10_f64.powf(-f64::from(step) / f64::from(POINTS_A_DECADE));
        (1.0 / share_longer, 100.0 * (1.0 - share_longer))
    });
    steps
        .take_while(|(x, _)| *x <= (calls / 10.0).max(1.0))
        .map(|(x, percent)| LinePoint {
            x,
            y: latencies.value_at_percentile(percent) as f64,
            interval: None,
            is_bound: false,
            failed: None,
        })
        .collect()
}
