//! The rules that need only one row, measured or published.

use super::audited_row::AuditedRow;
use super::finding::{Finding, finding};
use super::rule::Rule;
use super::span::Span;
use crate::text::precise_latency_text;

/// Calls in flight may exceed the streams by this share: latencies are recorded to 0.1 %, and each
/// edge of the window depends on a clock reading.
const IN_FLIGHT_EXCESS: f64 = 0.05;

/// In a closed loop, streams must not be idle for more than this share of the time.
const IN_FLIGHT_LACK: f64 = 0.50;

/// CPU time may exceed the limit by this share: a quota is enforced in slices of 100 ms, and
/// pollers such as `docker stats` measure their own interval unevenly.
const CPU_EXCESS: f64 = 0.05;

/// A histogram of three digits is off by up to 0.1 %, and a comparison involves two of its values.
const HISTOGRAM_SLACK: f64 = 0.002;

/// Percentiles that people print. A figure that cannot be the 99th percentile is most likely the
/// next of these.
const CUSTOMARY_PERCENTILES: [f64; 9] =
    [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

/// A row's figures with the ranges in which they are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFigures {
    /// Total calls in flight of a closed loop.
    pub streams: Option<f64>,
    /// Length of the window, seconds.
    pub window_seconds: Option<f64>,
    /// Answered calls a second.
    pub requests_per_second: Option<Span>,
    /// Mean latency, nanoseconds.
    pub mean_ns: Option<Span>,
    /// How far the mean and the percentiles may be apart because they were recorded in buckets, as
    /// a share.
    pub latency_slack: f64,
    /// Shortest latency, nanoseconds.
    pub min_ns: Option<Span>,
    /// Longest latency, nanoseconds.
    pub max_ns: Option<Span>,
    /// Latencies by percentile, nanoseconds, in ascending order of percent.
    pub percentiles_ns: Vec<(f64, Span)>,
    /// Mean CPU of the server, 1.0 = one CPU.
    pub cpu: Option<Span>,
    /// CPU that the server may use, 1.0 = one CPU.
    pub cpu_limit: Option<f64>,
    /// Memory of the server, bytes.
    pub memory_bytes: Option<Span>,
    /// Memory that the server may use, bytes.
    pub memory_limit_bytes: Option<f64>,
}

impl From<&AuditedRow> for RowFigures {
    fn from(row: &AuditedRow) -> Self {
        let latency = |value| Span::around(value, row.latency_resolution_ns);
        let percentiles = row.percentiles_ns.iter();
        Self {
            streams: row.concurrency.map(f64::from),
            window_seconds: row.window_seconds,
            requests_per_second: row.requests_per_second.map(Span::exact),
            mean_ns: row.latency_mean_ns.map(latency),
            latency_slack: HISTOGRAM_SLACK,
            min_ns: row.latency_min_ns.map(Span::exact),
            max_ns: row.latency_max_ns.map(Span::exact),
            percentiles_ns: percentiles
                .map(|&(percent, value)| (percent, latency(value)))
                .collect(),
            cpu: row.server_cpu.map(Span::exact),
            cpu_limit: row.server_cpu_limit,
            memory_bytes: row.memory_bytes.map(Span::exact),
            memory_limit_bytes: row.memory_limit_bytes,
        }
    }
}

impl RowFigures {
    /// Returns the findings of the rules for a single row.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        findings.extend(self.in_flight());
        findings.extend(self.percentile_order());
        findings.extend(self.outside_range());
        findings.extend(self.mean_above_percentiles());
        findings.extend(self.not_that_percentile());
        findings.extend(self.cpu_above_limit());
        findings.extend(self.memory_above_limit());
        findings
    }

    /// The rules of [`RowFigures::findings`] for which these figures suffice.
    pub fn applicable(&self) -> Vec<Rule> {
        let mean = self.mean_ns.is_some();
        let percentiles = self.percentiles_ns.len();
        let ends = self.min_ns.is_some() || self.max_ns.is_some();
        let in_flight = self.calls_in_flight().is_some() && self.streams.is_some();
        [
            (Rule::TooManyInFlight, in_flight),
            (Rule::TooFewInFlight, in_flight),
            (Rule::PercentileOrder, percentiles > 1),
            (Rule::OutsideRange, ends && (mean || percentiles > 0)),
            (Rule::MeanAbovePercentiles, mean && percentiles > 0 && self.max_ns.is_some()),
            (Rule::NotThatPercentile, mean && percentiles > 0),
            (Rule::CpuAboveLimit, self.cpu.is_some() && self.cpu_limit.is_some()),
            (
                Rule::MemoryAboveLimit,
                self.memory_bytes.is_some() && self.memory_limit_bytes.is_some(),
            ),
        ]
        .into_iter()
        .filter_map(|(rule, applies)| applies.then_some(rule))
        .collect()
    }

    /// Little's law: rate times mean latency is the mean number of calls in flight.
    pub fn calls_in_flight(&self) -> Option<Span> {
        let seconds = self.mean_ns?.times(Span::exact(1e-9));
        Some(self.requests_per_second?.times(seconds))
    }

    fn in_flight(&self) -> Option<Finding> {
        let streams = self.streams?;
        let in_flight = self.calls_in_flight()?;
        let mean_seconds = self.mean_ns?.value / 1e9;
        // A call that crosses an edge of the window is counted where it ends.
        let edges = self.window_seconds.map_or(0.0, |window| mean_seconds / window);
        let evidence = || format!("{} calls in flight on {streams} streams", count(in_flight));
        if in_flight.low > streams * (1.0 + IN_FLIGHT_EXCESS + edges) {
            Some(finding(Rule::TooManyInFlight, evidence()))
        } else if in_flight.high < streams * (1.0 - IN_FLIGHT_LACK - edges) {
            Some(finding(Rule::TooFewInFlight, evidence()))
        } else {
            None
        }
    }

    fn percentile_order(&self) -> Option<Finding> {
        let mut pairs = self.percentiles_ns.windows(2);
        let falls = |pair: &[(f64, Span)]| pair[1].1.high < pair[0].1.low;
        let (lower, higher) = pairs.find_map(|pair| falls(pair).then_some((pair[0], pair[1])))?;
        let evidence =
            format!("p{} is {} ns, p{} is {} ns", lower.0, lower.1.value, higher.0, higher.1.value);
        Some(finding(Rule::PercentileOrder, evidence))
    }

    fn outside_range(&self) -> Option<Finding> {
        let least = self.min_ns.map_or(0.0, |min| min.low);
        let most = self.max_ns.map_or(f64::INFINITY, |max| max.high);
        let percentiles = self.percentiles_ns.iter();
        let named = percentiles.map(|&(percent, value)| (format!("p{percent}"), value));
        let mean = self.mean_ns.map(|mean| ("the mean".to_owned(), mean));
        let mut all = mean.into_iter().chain(named);
        let (name, value) = all.find(|(_, span)| span.high < least || span.low > most)?;
        let value = value.value;
        let evidence = format!("{name} is {value} ns, outside {least} to {most} ns");
        Some(finding(Rule::OutsideRange, evidence))
    }

    /// The mean is largest when every call is as slow as its percentile allows and all others as
    /// slow as the longest. A mean above that bound is not of the calls that the percentiles
    /// describe.
    fn mean_above_percentiles(&self) -> Option<Finding> {
        let (mean, longest) = (self.mean_ns?, self.max_ns?);
        let mut below = 0.0;
        let mut bound = 0.0;
        for &(percent, value) in &self.percentiles_ns {
            bound += (percent - below) / 100.0 * value.high;
            below = percent;
        }
        bound += (100.0 - below) / 100.0 * longest.high;
        if self.percentiles_ns.is_empty() || mean.low <= bound * (1.0 + self.latency_slack) {
            return None;
        }
        let mean = mean.value;
        let evidence = format!("the mean is {mean} ns, the percentiles allow {bound:.0} ns");
        Some(finding(Rule::MeanAbovePercentiles, evidence))
    }

    /// The first percentile that fewer calls can reach than its name requires.
    fn not_that_percentile(&self) -> Option<Finding> {
        let mean_ns = self.mean_ns?.high * (1.0 + self.latency_slack);
        // The least time that the calls below this percentile take, summed over their shares.
        let mut mass_below = 0.0;
        let mut lower = (0.0, 0.0);
        for &(percent, value) in &self.percentiles_ns {
            let rest = 1.0 - lower.0 / 100.0;
            let most = (mean_ns - mass_below - rest * lower.1) / (value.low - lower.1);
            if value.low > lower.1 && most < 1.0 - percent / 100.0 {
                return Some(no_such_percentile(percent, value, mean_ns, most.max(0.0)));
            }
            mass_below += (percent - lower.0) / 100.0 * lower.1;
            lower = (percent, value.low);
        }
        None
    }

    fn cpu_above_limit(&self) -> Option<Finding> {
        let (used, limit) = (self.cpu?, self.cpu_limit?);
        (used.low > limit * (1.0 + CPU_EXCESS)).then(|| {
            let percent = |share: f64| share * 100.0;
            let (used, limit) = (percent(used.value), percent(limit));
            let evidence = format!("{used:.1} % of the {limit:.0} % given");
            finding(Rule::CpuAboveLimit, evidence)
        })
    }

    fn memory_above_limit(&self) -> Option<Finding> {
        let (used, limit) = (self.memory_bytes?, self.memory_limit_bytes?);
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        (used.low > limit).then(|| {
            let (used, limit) = (mebibytes(used.value), mebibytes(limit));
            finding(Rule::MemoryAboveLimit, format!("{used:.1} of {limit:.1} MiB"))
        })
    }
}

fn no_such_percentile(percent: f64, value: Span, mean_ns: f64, most: f64) -> Finding {
    let (slow, mean) = (precise_latency_text(value.low), precise_latency_text(mean_ns));
    let possible =
        CUSTOMARY_PERCENTILES.into_iter().find(|customary| 1.0 - customary / 100.0 <= most);
    let next = possible.map_or(String::new(), |percent| {
        format!("; the first customary percentile that it can be is p{percent}")
    });
    let evidence = format!(
        "with a mean of at most {mean}, at most {:.2} % of the calls took {slow} or longer: this \
         is no p{percent}{next}",
        most * 100.0
    );
    finding(Rule::NotThatPercentile, evidence)
}

/// A number of calls: one figure where the range is narrow, otherwise both ends of the range.
pub fn count(span: Span) -> String {
    if span.high - span.low <= 0.02 * span.value {
        format!("{:.1}", span.value)
    } else {
        format!("{:.0} to {:.0}", span.low, span.high)
    }
}
