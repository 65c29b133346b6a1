//! Rules that any row, ours or a published one, must obey: a row that breaks one cannot be true.
//!
//! A finding does not remove a row. It means that at least one figure of the row is not what its
//! heading claims.

mod audited_row;
mod counts;
mod finding;
mod row;
mod rule;
mod span;

pub use audited_row::AuditedRow;
pub use counts::{COUNT_TOLERANCE, CallCounts, CountMismatch, Counter};
pub use finding::{Finding, finding};
pub use row::{RowFigures, count};
pub use rule::Rule;
pub use span::{Rounding, Span};

/// Returns everything about `row` that cannot be true.
pub fn audit(row: &AuditedRow) -> Vec<Finding> {
    let numbers = not_a_number(row);
    if !numbers.is_empty() {
        return numbers;
    }
    RowFigures::from(row).findings()
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
    let single = single.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let percentiles = row.percentiles_ns.iter().map(|&(_, value)| ("percentile", value));
    single
        .chain(percentiles)
        .filter(|(_, value)| !(value.is_finite() && *value >= 0.0))
        .map(|(name, value)| finding(Rule::NotANumber, format!("{name} is {value}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 streams, each making one call of 1 ms after another: 100,000 calls a second.
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
        assert_eq!(broken(|row| row.latency_mean_ns = Some(1.2e6)), [Rule::TooManyInFlight]);
        assert_eq!(broken(|row| row.requests_per_second = Some(4e4)), [Rule::TooFewInFlight]);
        assert_eq!(broken(|row| row.percentiles_ns[2].1 = 1e6), [Rule::PercentileOrder]);
        assert_eq!(broken(|row| row.percentiles_ns[2].1 = 5e6), [Rule::OutsideRange]);
        assert_eq!(
            broken(|row| row.latency_min_ns = Some(1.1e6)).first(),
            Some(&Rule::OutsideRange)
        );
        assert_eq!(broken(|row| row.server_cpu = Some(1.06)), [Rule::CpuAboveLimit]);
        assert_eq!(broken(|row| row.memory_bytes = Some(2e7)), [Rule::MemoryAboveLimit]);
        assert_eq!(broken(|row| row.requests_per_second = Some(f64::NAN)), [Rule::NotANumber]);
        assert_eq!(broken(|row| row.percentiles_ns[0].1 = -1.0), [Rule::NotANumber]);
    }

    #[test]
    fn a_mean_over_failed_calls_beside_percentiles_of_good_ones_is_found() {
        // The mean counts timed-out calls and exceeds the slowest successful one.
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
}
