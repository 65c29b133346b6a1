//! Which figures the end of a window makes lower bounds.

use super::{ALL, Metric, MetricDefinition, millipercent, percent};
use crate::cut_off::CutOff;
use crate::round::{MeasuredRound, MeasuredRounds};
use hdrhistogram::Histogram;

/// Figures that follow the mean latency.
const OF_THE_MEAN: [&str; 3] = ["latency_mean", "latency_mean_all", "in_flight_share"];

impl MetricDefinition {
    /// Whether the figure of a cell over all its rounds is a lower bound, because calls were in
    /// flight at the ends of its windows that could move it.
    pub fn is_cut_off(&self, rounds: &MeasuredRounds<'_>) -> bool {
        reaches(self.name, rounds.cut_off(), rounds.latencies())
    }

    /// The same of one round.
    pub fn is_cut_off_in(&self, round: &MeasuredRound<'_>) -> bool {
        reaches(self.name, round.cut_off(), round.latencies())
    }
}

impl Metric {
    /// Whether the figure of a cell over all its rounds is a lower bound, as above.
    pub fn is_cut_off(&self, rounds: &MeasuredRounds<'_>) -> bool {
        reaches(&self.to_string(), rounds.cut_off(), rounds.latencies())
    }

    /// The same of one round.
    pub fn is_cut_off_in(&self, round: &MeasuredRound<'_>) -> bool {
        reaches(&self.to_string(), round.cut_off(), round.latencies())
    }
}

/// The metrics of the catalogue that are lower bounds in a cell.
pub fn cut_off_metrics(rounds: &MeasuredRounds<'_>) -> Vec<&'static MetricDefinition> {
    ALL.iter().copied().filter(|metric| metric.is_cut_off(rounds)).collect()
}

fn reaches(name: &str, cut_off: Option<CutOff>, latencies: Option<&Histogram<u64>>) -> bool {
    let (Some(cut_off), Some(latencies)) = (cut_off, latencies) else {
        return false;
    };
    let longest_ns = latencies.max() as f64;
    if OF_THE_MEAN.contains(&name) {
        return cut_off.reaches_mean(latencies.mean(), longest_ns);
    }
    if name == "latency_max" {
        return cut_off.reaches_longest(longest_ns);
    }
    let percent = name.strip_prefix("latency_p").and_then(millipercent).map(percent);
    percent.is_some_and(|percent| {
        let value_ns = latencies.value_at_percentile(percent) as f64;
        cut_off.reaches(percent, value_ns, longest_ns)
    })
}
