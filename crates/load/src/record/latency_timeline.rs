//! How latencies go over the window: a median and a tail for each second or, in a long run, for
//! more.

use super::interval_feed::RunInterval;
use super::latencies::Latencies;
use bookend_contract::latency::{decode, encode};
use bookend_contract::latency_intervals::LatencyIntervals;
use hdrhistogram::Histogram;
use std::time::Duration;

/// The most points that are kept: beyond that, two become one of twice the width, and so on. Each
/// is some kilobytes, and nothing may grow with the run.
const POINTS_MAX: usize = 300;

/// Latencies of a window in points of equal width. Percentiles of two points cannot be put
/// together, so that each keeps its whole histogram, encoded.
#[derive(Clone, Debug)]
pub struct LatencyTimeline {
    /// Length of the run's intervals.
    interval: Duration,
    /// Intervals of the run in a point.
    intervals_a_point: u64,
    points: Vec<String>,
    /// What becomes the next point.
    open: Latencies,
    open_intervals: u64,
}

impl LatencyTimeline {
    /// The latencies of a window whose intervals have that length.
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            intervals_a_point: 1,
            points: Vec::new(),
            open: Latencies::default(),
            open_intervals: 0,
        }
    }

    /// Adds the interval that follows the last one. The rest of a second at the end of a run is
    /// left out: its tail is that of few calls.
    pub fn add(&mut self, interval: &RunInterval) {
        let length = Duration::from_nanos(interval.end_ns.saturating_sub(interval.start_ns));
        // Workers begin and end a window some microseconds apart.
        if length < self.interval.mul_f64(0.9) {
            return;
        }
        self.open.add_histogram(&interval.latencies.histogram);
        self.open_intervals += 1;
        if self.open_intervals == self.intervals_a_point {
            self.points.push(encode(&std::mem::take(&mut self.open).histogram));
            self.open_intervals = 0;
            if self.points.len() == POINTS_MAX {
                self.widen();
            }
        }
    }

    /// Makes one point of two.
    fn widen(&mut self) {
        self.points = self.points.chunks(2).map(together).collect();
        self.intervals_a_point *= 2;
    }

    /// The points, as reports have them. `None` for a run without a whole one.
    pub fn intervals(&self) -> Option<LatencyIntervals> {
        let points: Vec<Histogram<u64>> = self.points.iter().map(|point| decoded(point)).collect();
        let at = |percentage: f64| {
            let of_point = |point: &Histogram<u64>| {
                (!point.is_empty()).then(|| point.value_at_percentile(percentage))
            };
            points.iter().map(of_point).collect()
        };
        let interval_ms = self.interval.as_millis() as u64 * self.intervals_a_point;
        (!points.is_empty()).then(|| LatencyIntervals {
            interval_ms,
            p50_ns: at(50.0),
            p99_ns: at(99.0),
        })
    }
}

fn together(points: &[String]) -> String {
    let mut sum = Latencies::default();
    points.iter().for_each(|point| sum.add_histogram(&decoded(point)));
    encode(&sum.histogram)
}

fn decoded(point: &str) -> Histogram<u64> {
    decode(point).expect("this process has encoded it")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A second in which calls took so long.
    fn second(number: u64, latencies_ns: &[u64]) -> RunInterval {
        let mut latencies = Latencies::default();
        latencies_ns.iter().for_each(|latency_ns| latencies.record(*latency_ns));
        let (start_ns, end_ns) = (number * SECOND_NS, (number + 1) * SECOND_NS);
        RunInterval { start_ns, end_ns, latencies, ..RunInterval::default() }
    }

    #[test]
    fn each_second_has_its_own_median_and_tail() {
        let mut timeline = LatencyTimeline::new(Duration::from_secs(1));
        assert_eq!(timeline.intervals(), None);
        timeline.add(&second(0, &[1_000, 1_000, 1_000, 2_000]));
        timeline.add(&second(1, &[]));
        let rest = RunInterval { end_ns: 2 * SECOND_NS + SECOND_NS / 2, ..second(2, &[9_000]) };
        timeline.add(&rest);
        let intervals = timeline.intervals().expect("two seconds");
        assert_eq!(intervals.interval_ms, 1_000);
        assert_eq!(intervals.p50_ns, [Some(1_000), None]);
        assert_eq!(intervals.p99_ns, [Some(2_000), None]);
    }

    #[test]
    fn a_long_run_has_wider_points_and_not_more() {
        let mut timeline = LatencyTimeline::new(Duration::from_secs(1));
        for number in 0..700 {
            let tail_ns = if number == 401 { 1_900 } else { 1_000 };
            timeline.add(&second(number, &[1_000, tail_ns]));
            assert!(timeline.points.len() < POINTS_MAX);
        }
        let intervals = timeline.intervals().expect("many seconds");
        assert_eq!((intervals.interval_ms, intervals.p99_ns.len()), (4_000, 175));
        assert!(intervals.p99_ns[100] > Some(1_800), "{:?}", intervals.p99_ns);
        assert_eq!(intervals.p50_ns[100], Some(1_000));
        let slow = intervals.p99_ns.iter().filter(|p99_ns| **p99_ns > Some(1_100)).count();
        assert_eq!(slow, 1);
    }
}
