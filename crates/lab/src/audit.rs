//! What cannot be true: rules that a row of any table, ours or a published one, must obey.
//!
//! A finding does not remove a row. It says that at least one of its figures is not what its
//! heading says.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The figures of a row, as far as they are known. Published tables know few of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditedRow {
    /// S: streams in flight in all, of a closed loop.
    pub concurrency: Option<u32>,
    /// Length of the window, seconds.
    pub window_seconds: Option<f64>,
    /// Answered calls a second.
    pub requests_per_second: Option<f64>,
    /// Mean latency, nanoseconds.
    pub latency_mean_ns: Option<f64>,
    /// Shortest latency, nanoseconds.
    pub latency_min_ns: Option<f64>,
    /// Longest latency, nanoseconds.
    pub latency_max_ns: Option<f64>,
    /// Latencies by percentile, nanoseconds: `(90.0, 130000.0)`, in ascending order of percent.
    pub percentiles_ns: Vec<(f64, f64)>,
    /// How far a printed latency may be off by rounding, nanoseconds.
    pub latency_resolution_ns: f64,
    /// Mean CPU of the server, 1.0 = one CPU.
    pub server_cpu: Option<f64>,
    /// CPU that the server may use, 1.0 = one CPU.
    pub server_cpu_limit: Option<f64>,
    /// Memory of the server, bytes.
    pub memory_bytes: Option<f64>,
    /// Memory that the server may use, bytes.
    pub memory_limit_bytes: Option<f64>,
}

/// What the two ends say about the calls of one server's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounts {
    /// Calls that the server says it answered.
    pub served: u64,
    /// Calls that were answered OK at the generator: warm-up, window, drain, and the probe's.
    pub answered: u64,
    /// Calls that failed at the generator; the server may have answered them or not.
    pub errors: u64,
    /// Calls that were neither answered nor failed when the generator stopped waiting.
    pub unfinished: u64,
}

/// The rules, by name. `Display` prints the name as it stands in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// More calls in flight (rate times mean latency) than there are streams.
    TooManyInFlight,
    /// Far fewer calls in flight than there are streams: the generator did not keep them busy.
    TooFewInFlight,
    /// A higher percentile is below a lower one.
    PercentileOrder,
    /// The mean, or a percentile, is outside the shortest and longest latency.
    OutsideRange,
    /// The mean is above what the percentiles allow.
    MeanAbovePercentiles,
    /// The two ends count different numbers of calls.
    CountsDiffer,
    /// The server used more CPU than it was given.
    CpuAboveLimit,
    /// The server used more memory than it was given.
    MemoryAboveLimit,
    /// A figure is negative or not a number.
    NotANumber,
}

impl Rule {
    /// Every rule, in the order in which reports explain them.
    pub const ALL: [Self; 9] = [
        Self::TooManyInFlight,
        Self::TooFewInFlight,
        Self::PercentileOrder,
        Self::OutsideRange,
        Self::MeanAbovePercentiles,
        Self::CountsDiffer,
        Self::CpuAboveLimit,
        Self::MemoryAboveLimit,
        Self::NotANumber,
    ];

    /// The name in reports and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooManyInFlight => "too-many-in-flight",
            Self::TooFewInFlight => "too-few-in-flight",
            Self::PercentileOrder => "percentile-order",
            Self::OutsideRange => "outside-range",
            Self::MeanAbovePercentiles => "mean-above-percentiles",
            Self::CountsDiffer => "counts-differ",
            Self::CpuAboveLimit => "cpu-above-limit",
            Self::MemoryAboveLimit => "memory-above-limit",
            Self::NotANumber => "not-a-number",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule that a row breaks, with the figures that show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// The figures, in one clause.
    pub evidence: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.evidence)
    }
}

/// Calls in flight may exceed the streams by this share: latencies are recorded to 0.1 %, and the
/// window's two edges are cut by two clock readings.
const IN_FLIGHT_EXCESS: f64 = 0.05;

/// A closed loop whose streams are idle more than half of the time is not what its name says.
const IN_FLIGHT_LACK: f64 = 0.50;

/// CPU time may exceed the limit by this share: a quota is enforced in slices of 100 ms, and
/// pollers such as `docker stats` measure their own interval unevenly.
const CPU_EXCESS: f64 = 0.05;

/// Everything about `row` that cannot be true.
pub fn audit(row: &AuditedRow) -> Vec<Finding> {
    let numbers = not_a_number(row);
    if !numbers.is_empty() {
        return numbers;
    }
    let mut findings = Vec::new();
    findings.extend(in_flight(row));
    findings.extend(percentile_order(row));
    findings.extend(outside_range(row));
    findings.extend(mean_above_percentiles(row));
    findings.extend(cpu_above_limit(row));
    findings.extend(memory_above_limit(row));
    findings
}

/// Whether the two ends agree: the server must have answered every call that was answered at the
/// generator, and none that the generator does not know of.
pub fn audit_counts(counts: &EndCounts) -> Option<Finding> {
    let least = counts.answered;
    let most = least
        .saturating_add(counts.errors)
        .saturating_add(counts.unfinished);
    if (least..=most).contains(&counts.served) {
        return None;
    }
    let evidence = format!(
        "the server answered {}, the generator got {least} and knows of {most}",
        counts.served
    );
    Some(finding(Rule::CountsDiffer, evidence))
}

fn finding(rule: Rule, evidence: String) -> Finding {
    Finding { rule, evidence }
}

fn not_a_number(row: &AuditedRow) -> Vec<Finding> {
    let single = [
        ("window", row.window_seconds),
        ("req/s", row.requests_per_second),
        ("mean latency", row.latency_mean_ns),
        ("shortest latency", row.latency_min_ns),
        ("longest latency", row.latency_max_ns),
        ("cpu", row.server_cpu),
        ("memory", row.memory_bytes),
    ];
    let single = single
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let percentiles = row
        .percentiles_ns
        .iter()
        .map(|&(_, value)| ("percentile", value));
    single
        .chain(percentiles)
        .filter(|(_, value)| !(value.is_finite() && *value >= 0.0))
        .map(|(name, value)| finding(Rule::NotANumber, format!("{name} is {value}")))
        .collect()
}

/// Little's law: rate times mean latency is the mean number of calls in flight.
fn in_flight(row: &AuditedRow) -> Option<Finding> {
    let streams = f64::from(row.concurrency?);
    let (rate, mean_ns) = (row.requests_per_second?, row.latency_mean_ns?);
    let in_flight = |latency_ns: f64| rate * latency_ns / 1e9;
    // Calls that cross an edge of the window are counted by their end alone.
    let mean_seconds = mean_ns / 1e9;
    let edges = row
        .window_seconds
        .map_or(0.0, |window| mean_seconds / window);
    let least = in_flight((mean_ns - row.latency_resolution_ns).max(0.0));
    let most = in_flight(mean_ns + row.latency_resolution_ns);
    let evidence = || {
        format!(
            "{:.1} calls in flight on {streams} streams",
            in_flight(mean_ns)
        )
    };
    if least > streams * (1.0 + IN_FLIGHT_EXCESS + edges) {
        Some(finding(Rule::TooManyInFlight, evidence()))
    } else if most < streams * (1.0 - IN_FLIGHT_LACK - edges) {
        Some(finding(Rule::TooFewInFlight, evidence()))
    } else {
        None
    }
}

fn percentile_order(row: &AuditedRow) -> Option<Finding> {
    let mut pairs = row.percentiles_ns.windows(2);
    let (lower, higher) =
        pairs.find_map(|pair| (pair[1].1 < pair[0].1).then_some((pair[0], pair[1])))?;
    let evidence = format!(
        "p{} is {} ns, p{} is {} ns",
        lower.0, lower.1, higher.0, higher.1
    );
    Some(finding(Rule::PercentileOrder, evidence))
}

fn outside_range(row: &AuditedRow) -> Option<Finding> {
    let slack = row.latency_resolution_ns;
    let least = row.latency_min_ns.unwrap_or(0.0) - slack;
    let most = row.latency_max_ns.unwrap_or(f64::INFINITY) + slack;
    let percentiles = row
        .percentiles_ns
        .iter()
        .map(|&(percent, value)| (format!("p{percent}"), value));
    let mean = row
        .latency_mean_ns
        .map(|mean| ("the mean".to_owned(), mean));
    let mut all = mean.into_iter().chain(percentiles);
    let (name, value) = all.find(|(_, value)| !(least..=most).contains(value))?;
    let evidence = format!("{name} is {value} ns, outside {least} to {most} ns");
    Some(finding(Rule::OutsideRange, evidence))
}

/// A mean is largest when every call is as slow as its percentile allows, and the rest as slow as
/// the longest: above that it belongs to other calls than the percentiles do.
fn mean_above_percentiles(row: &AuditedRow) -> Option<Finding> {
    let (mean, longest) = (row.latency_mean_ns?, row.latency_max_ns?);
    let mut below = 0.0;
    let mut bound = 0.0;
    for &(percent, value) in &row.percentiles_ns {
        bound += (percent - below) / 100.0 * value;
        below = percent;
    }
    bound += (100.0 - below) / 100.0 * longest;
    if row.percentiles_ns.is_empty() || mean <= bound * 1.001 + row.latency_resolution_ns {
        return None;
    }
    let evidence = format!("the mean is {mean} ns, the percentiles allow {bound:.0} ns");
    Some(finding(Rule::MeanAbovePercentiles, evidence))
}

fn cpu_above_limit(row: &AuditedRow) -> Option<Finding> {
    let (used, limit) = (row.server_cpu?, row.server_cpu_limit?);
    (used > limit * (1.0 + CPU_EXCESS)).then(|| {
        let evidence = format!("{:.1} % of the {:.0} % given", used * 100.0, limit * 100.0);
        finding(Rule::CpuAboveLimit, evidence)
    })
}

fn memory_above_limit(row: &AuditedRow) -> Option<Finding> {
    let (used, limit) = (row.memory_bytes?, row.memory_limit_bytes?);
    let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
    (used > limit).then(|| {
        let evidence = format!("{:.1} of {:.1} MiB", mebibytes(used), mebibytes(limit));
        finding(Rule::MemoryAboveLimit, evidence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 streams, each a call of 1 ms after the other: 100,000 calls a second.
    fn sound() -> AuditedRow {
        AuditedRow {
            concurrency: Some(100),
            window_seconds: Some(1.0),
            requests_per_second: Some(100_000.0),
            latency_mean_ns: Some(1e6),
            latency_min_ns: Some(5e5),
            latency_max_ns: Some(4e6),
            percentiles_ns: vec![(50.0, 0.9e6), (90.0, 1.5e6), (99.0, 3e6)],
            latency_resolution_ns: 0.0,
            server_cpu: Some(0.99),
            server_cpu_limit: Some(1.0),
            memory_bytes: Some(1e6),
            memory_limit_bytes: Some(1e7),
        }
    }

    fn broken(change: impl FnOnce(&mut AuditedRow)) -> Vec<Rule> {
        let mut row = sound();
        change(&mut row);
        audit(&row).iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_sound_row_breaks_no_rule_and_an_empty_one_neither() {
        assert_eq!(broken(|_| ()), []);
        assert_eq!(audit(&AuditedRow::default()), []);
    }

    #[test]
    fn each_rule_is_broken_by_what_it_names() {
        assert_eq!(
            broken(|row| row.latency_mean_ns = Some(1.2e6)),
            [Rule::TooManyInFlight]
        );
        assert_eq!(
            broken(|row| row.requests_per_second = Some(4e4)),
            [Rule::TooFewInFlight]
        );
        assert_eq!(
            broken(|row| row.percentiles_ns[2].1 = 1e6),
            [Rule::PercentileOrder]
        );
        assert_eq!(
            broken(|row| row.percentiles_ns[2].1 = 5e6),
            [Rule::OutsideRange]
        );
        assert_eq!(
            broken(|row| row.latency_min_ns = Some(1.1e6)).first(),
            Some(&Rule::OutsideRange)
        );
        assert_eq!(
            broken(|row| row.server_cpu = Some(1.06)),
            [Rule::CpuAboveLimit]
        );
        assert_eq!(
            broken(|row| row.memory_bytes = Some(2e7)),
            [Rule::MemoryAboveLimit]
        );
        assert_eq!(
            broken(|row| row.requests_per_second = Some(f64::NAN)),
            [Rule::NotANumber]
        );
        assert_eq!(
            broken(|row| row.percentiles_ns[0].1 = -1.0),
            [Rule::NotANumber]
        );
    }

    #[test]
    fn a_mean_over_failed_calls_beside_percentiles_of_good_ones_is_found() {
        // A mean that counts timed-out calls, above the slowest of the good ones.
        let rules = broken(|row| {
            row.concurrency = None;
            row.latency_mean_ns = Some(2e6);
        });
        assert_eq!(rules, [Rule::MeanAbovePercentiles]);
    }

    #[test]
    fn rounding_and_the_edges_of_the_window_are_allowed_for() {
        let printed = |row: &mut AuditedRow| {
            row.latency_mean_ns = Some(1.2e6);
            row.latency_resolution_ns = 2e5;
        };
        assert_eq!(broken(printed), []);
        let slow = |row: &mut AuditedRow| {
            row.latency_mean_ns = Some(1.2e6);
            row.window_seconds = Some(0.005);
        };
        assert_eq!(broken(slow), []);
    }

    #[test]
    fn both_ends_must_count_the_same_calls() {
        let counts = EndCounts {
            served: 105,
            answered: 100,
            errors: 3,
            unfinished: 2,
        };
        assert_eq!(audit_counts(&counts), None);
        for served in [99, 106] {
            let differing = EndCounts { served, ..counts };
            let rule = audit_counts(&differing).map(|finding| finding.rule);
            assert_eq!(rule, Some(Rule::CountsDiffer), "{served}");
        }
    }

    #[test]
    fn names_in_print_and_in_json_are_the_same() {
        for rule in Rule::ALL {
            let json = serde_json::to_string(&rule).expect("a word");
            assert_eq!(json, format!("\"{rule}\""));
        }
    }
}
