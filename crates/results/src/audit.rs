//! Rules that any row, ours or a published one, must obey: a row that breaks one cannot be true.
//!
//! A finding does not remove a row. It means that at least one figure of the row is not what its
//! heading claims.

mod counts;
mod finding;
mod row;
mod rule;
mod span;

pub use counts::{COUNT_TOLERANCE, CallCounts, CountMismatch, Counter};
pub use finding::{Finding, finding};
pub use row::{Checked, HISTOGRAM_SLACK, RowFigures, count};
pub use rule::Rule;
pub use span::{Rounding, Span};

/// Returns everything about `row` that cannot be true.
pub fn audit(row: &RowFigures) -> Vec<Finding> {
    let numbers = not_a_number(row);
    if !numbers.is_empty() {
        return numbers;
    }
    row.checks().filter_map(|(rule, check)| Some(finding(rule, check.err()?))).collect()
}

fn not_a_number(row: &RowFigures) -> Vec<Finding> {
    let single = [
        ("window", row.window_seconds.map(Span::exact)),
        ("req/s", row.requests_per_second),
        ("mean latency", row.mean_ns),
        ("shortest latency", row.min_ns),
        ("longest latency", row.max_ns),
        ("cpu", row.cpu),
        ("memory", row.memory_bytes),
    ];
    let percentiles = row.percentiles_ns.iter().map(|&(_, span)| ("percentile", Some(span)));
    single
        .into_iter()
        .chain(percentiles)
        .filter_map(|(name, span)| Some((name, span.filter(|span| !span.is_plausible())?.value)))
        .map(|(name, value)| finding(Rule::NotANumber, format!("{name} is {value}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut_off::{Ages, CutOff};
    use crate::window::WindowFigures;

    fn exact(value: f64) -> Option<Span> {
        Some(Span::exact(value))
    }

    /// 100 streams, each making one call of 1 ms after another: 100,000 calls a second.
    fn sound() -> RowFigures {
        RowFigures {
            streams: Some(100.0),
            window_seconds: Some(1.0),
            cut_off: Some(CutOff { counted: 100_000.0, calls: 100.0, ..CutOff::default() }),
            window: Some(WindowFigures {
                seconds: 1.0,
                answered: 100_000.0,
                mean_seconds: Some(0.001),
                streams: 100.0,
            }),
            requests_per_second: exact(100_000.0),
            mean_ns: exact(1e6),
            latency_slack: HISTOGRAM_SLACK,
            min_ns: exact(5e5),
            max_ns: exact(4e6),
            percentiles_ns: [(50.0, 0.9e6), (90.0, 1.5e6), (99.0, 3e6)]
                .map(|(percent, value)| (percent, Span::exact(value)))
                .to_vec(),
            cpu: exact(0.99),
            cpu_limit: Some(1.0),
            memory_bytes: exact(1e6),
            memory_limit_bytes: Some(1e7),
        }
    }

    fn broken(change: impl FnOnce(&mut RowFigures)) -> Vec<Rule> {
        let mut row = sound();
        change(&mut row);
        audit(&row).iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_sound_row_breaks_no_rule_and_an_empty_one_neither() {
        assert_eq!(broken(|_| ()), []);
        assert_eq!(audit(&RowFigures::default()), []);
    }

    #[test]
    fn each_rule_is_broken_by_what_it_names() {
        assert_eq!(broken(|row| row.mean_ns = exact(1.2e6)), [Rule::TooManyInFlight]);
        assert_eq!(broken(|row| row.requests_per_second = exact(4e4)), [Rule::TooFewInFlight]);
        assert_eq!(
            broken(|row| row.percentiles_ns[2].1 = Span::exact(1e6)),
            [Rule::PercentileOrder]
        );
        assert_eq!(broken(|row| row.percentiles_ns[2].1 = Span::exact(5e6)), [Rule::OutsideRange]);
        assert_eq!(broken(|row| row.min_ns = exact(1.1e6)).first(), Some(&Rule::OutsideRange));
        assert_eq!(broken(|row| row.cpu = exact(1.06)), [Rule::CpuAboveLimit]);
        assert_eq!(broken(|row| row.memory_bytes = exact(2e7)), [Rule::MemoryAboveLimit]);
        assert_eq!(broken(|row| row.requests_per_second = exact(f64::NAN)), [Rule::NotANumber]);
        assert_eq!(broken(|row| row.percentiles_ns[0].1 = Span::exact(-1.0)), [Rule::NotANumber]);
    }

    #[test]
    fn a_mean_over_failed_calls_beside_percentiles_of_good_ones_is_found() {
        // The mean counts timed-out calls and exceeds the slowest successful one.
        let rules = broken(|row| {
            row.streams = None;
            row.mean_ns = exact(2e6);
        });
        assert_eq!(rules, [Rule::MeanAbovePercentiles]);
    }

    #[test]
    fn rounding_and_the_edges_of_the_window_are_allowed_for() {
        let printed = |row: &mut RowFigures| {
            row.mean_ns = Some(Span::around(1.2e6, 2e5));
            for (_, percentile) in &mut row.percentiles_ns {
                *percentile = Span::around(percentile.value, 2e5);
            }
        };
        assert_eq!(broken(printed), []);
        let slow = |row: &mut RowFigures| {
            row.mean_ns = exact(1.2e6);
            row.window_seconds = Some(0.005);
        };
        assert_eq!(broken(slow), []);
    }

    /// A window of 0.7 s that counted `counted` calls of that mean latency and cut the rest off.
    fn cut_window(streams: f64, counted: f64, mean_ns: f64, ages: Option<Ages>) -> RowFigures {
        let seconds = 0.7;
        RowFigures {
            streams: Some(streams),
            window_seconds: Some(seconds),
            requests_per_second: exact(counted / seconds),
            mean_ns: exact(mean_ns),
            cut_off: Some(CutOff { counted, calls: streams, ages, ..CutOff::default() }),
            window: Some(WindowFigures {
                seconds,
                answered: counted,
                mean_seconds: Some(mean_ns / 1e9),
                streams,
            }),
            ..RowFigures::default()
        }
    }

    fn evidence(row: &RowFigures, rule: Rule) -> String {
        audit(row)
            .into_iter()
            .find(|finding| finding.rule == rule)
            .unwrap_or_else(|| panic!("{rule} is not broken"))
            .evidence
    }

    #[test]
    fn streams_that_were_busy_with_calls_that_the_window_cut_off_are_not_called_idle() {
        let old = Some(Ages { mean_ns: 6e8, max_ns: 7e8 });
        // tonic with a hundred connections, and thrift-go with ten thousand.
        let tonic = [(15_000.0, 23e6), (26_000.0, 135e6)].map(|figures| (100_000.0, figures));
        let go = [(2_000.0, 45e7), (5_500.0, 6e8)].map(|figures| (10_000.0, figures));
        for (streams, (counted, mean_ns)) in tonic.into_iter().chain(go) {
            for ages in [None, old] {
                let row = cut_window(streams, counted, mean_ns, ages);
                let text = evidence(&row, Rule::TooFewInFlight);
                assert!(text.contains("the streams were busy with calls longer than"), "{text}");
                assert!(text.contains(&format!(" and cut off {streams}")), "{text}");
                assert_eq!(text.contains(", 600 ms old on average,"), ages.is_some(), "{text}");
                evidence(&row, Rule::WindowTooShort);
            }
        }
    }

    #[test]
    fn a_client_that_left_its_streams_idle_is_told_so() {
        // 66 of a thousand streams were in use, and as many were when the window ended.
        let mut row = sound();
        row.streams = Some(1000.0);
        row.requests_per_second = exact(66_000.0);
        let young = Some(Ages { mean_ns: 5e5, max_ns: 2e6 });
        let cut_off = CutOff { counted: 66_000.0, calls: 66.0, ..CutOff::default() };
        for ages in [None, young] {
            row.cut_off = Some(CutOff { ages, ..cut_off });
            let text = evidence(&row, Rule::TooFewInFlight);
            let expected = "66.0 calls in flight on 1000 streams: the client did not keep its \
                            streams busy, with 66 calls in flight at the end of the window";
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn without_a_window_both_causes_are_named() {
        let mut row = cut_window(1000.0, 66_000.0, 7e5, None);
        (row.window_seconds, row.cut_off, row.window) = (None, None, None);
        let text = evidence(&row, Rule::TooFewInFlight);
        let start = "66.0 calls in flight on 1000 streams: the client left streams idle, or";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("nobody can tell which"), "{text}");
    }
}
