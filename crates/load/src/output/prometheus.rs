//! Prometheus' text format, with ghz's metrics.
//!
//! Other than ghz's the histogram is cumulative, its sum is that of the latencies and not the
//! length of the run, and the names of labels are such as Prometheus takes: with `_` for `-`.

use super::options::Options;
use bookend_contract::report::LoadReport;
use std::fmt::Write as _;

const NANOSECONDS_A_SECOND: f64 = 1e9;

pub(super) fn text(report: &LoadReport) -> String {
    let labels = labels(report);
    let mut text = String::new();
    let errors: u64 = report.error_distribution.values().sum();
    gauge(&mut text, "ghz_run_count", &labels, report.count as f64);
    gauge(&mut text, "ghz_run_total", &labels, report.total as f64);
    gauge(&mut text, "ghz_run_average", &labels, report.average as f64);
    gauge(&mut text, "ghz_run_fastest", &labels, report.fastest as f64);
    gauge(&mut text, "ghz_run_slowest", &labels, report.slowest as f64);
    gauge(&mut text, "ghz_run_rps", &labels, report.rps);
    histogram(&mut text, report, &labels);
    summary(&mut text, report, &labels);
    gauge(&mut text, "ghz_run_errors", &labels, errors as f64);
    text
}

fn gauge(text: &mut String, name: &str, labels: &str, value: f64) {
    let _ = writeln!(text, "# TYPE {name} gauge\n{name}{{{labels}}} {value}");
}

/// In seconds, as ghz has the edges.
fn histogram(text: &mut String, report: &LoadReport, labels: &str) {
    const NAME: &str = "ghz_run_histogram";
    let _ = writeln!(text, "# TYPE {NAME} histogram");
    let mut calls = 0;
    for bucket in &report.histogram {
        calls += bucket.count;
        let _ = writeln!(text, "{NAME}_bucket{{{labels},le=\"{}\"}} {calls}", bucket.mark);
    }
    let sum_seconds = report.average as f64 * calls as f64 / NANOSECONDS_A_SECOND;
    let _ = writeln!(text, "{NAME}_bucket{{{labels},le=\"+Inf\"}} {calls}");
    let _ =
        writeln!(text, "{NAME}_sum{{{labels}}} {sum_seconds}\n{NAME}_count{{{labels}}} {calls}");
}

/// In nanoseconds, as ghz has the latencies.
fn summary(text: &mut String, report: &LoadReport, labels: &str) {
    const NAME: &str = "ghz_run_latency";
    let _ = writeln!(text, "# TYPE {NAME} summary");
    for point in &report.latency_distribution {
        let quantile = quantile(point.percentage);
        let _ = writeln!(text, "{NAME}{{{labels},quantile=\"{quantile}\"}} {}", point.latency);
    }
    let calls: u64 = report.histogram.iter().map(|bucket| bucket.count).sum();
    let sum_ns = u128::from(report.average) * u128::from(calls);
    let _ = writeln!(text, "{NAME}_sum{{{labels}}} {sum_ns}\n{NAME}_count{{{labels}}} {calls}");
}

/// A hundredth of a percentage in the digits that it has: divided as binary fractions, 99.9 % would
/// be 0.9990000000000001, another label than what its readers ask for.
fn quantile(percentage: f64) -> f64 {
    /// Finer than any percentage that is reported.
    const STEPS: f64 = 1e6;
    (percentage * STEPS).round() / (STEPS * 100.0)
}

/// The run's name, how it ended, and its options but for data and metadata, as in ghz.
fn labels(report: &LoadReport) -> String {
    let name = report.name.clone().unwrap_or_default();
    let own = [("name", name), ("end_reason", report.end_reason.clone())];
    let hidden = ["data", "metadata", "name"];
    let options = Options(&report.options).all().filter(|(name, _)| !hidden.contains(name));
    let label = |(name, value): (&str, String)| {
        format!(
            "{}=\"{}\"",
            name.replace(|letter: char| !letter.is_alphanumeric(), "_"),
            escaped(&value)
        )
    };
    own.into_iter().chain(options).map(label).collect::<Vec<_>>().join(",")
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_has_the_digits_of_its_percentage() {
        let shown = |percentage: &str| quantile(percentage.parse().unwrap()).to_string();
        assert_eq!(shown("99.9"), "0.999");
        for thousandths in 1..1_000 {
            let percentage = format!("{}.{}", thousandths / 10, thousandths % 10);
            let digits = format!("0.{thousandths:03}");
            assert_eq!(shown(&percentage), digits.trim_end_matches('0'));
        }
        let rare = ["0", "100", "99.99", "99.999"].map(shown);
        assert_eq!(rare, ["0", "1", "0.9999", "0.99999"]);
    }

    #[test]
    fn a_label_cannot_be_left() {
        assert_eq!(escaped("a\"} 1\n\\"), "a\\\"} 1\\n\\\\");
    }
}
