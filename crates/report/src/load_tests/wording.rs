//! How times, shares and rates of load tests are written.

use bookend_results::text::{percent_text, precise_latency_text, rate_text, significant_text};

/// A time, nanoseconds. Messages that come in one read have none between them.
pub(super) fn time_text(time_ns: u64) -> String {
    if time_ns == 0 { "none".to_owned() } else { precise_latency_text(time_ns as f64) }
}

/// A part of a whole in percent, which is not called nothing while it is something.
pub(super) fn share_text(part: u64, whole: u64) -> String {
    /// What would be printed as `0.0 %`.
    const LEAST: f64 = 0.0005;
    let share = part as f64 / whole.max(1) as f64;
    if part > 0 && share < LEAST { "less than 0.1 %".to_owned() } else { percent_text(share) }
}

/// A figure of a file, which may hold any.
pub(super) fn figure_text(figure: f64) -> String {
    /// Further digits are those of no measurement.
    const LONGEST: f64 = 1e15;
    if figure.abs() < LONGEST { significant_text(figure) } else { format!("{figure:.2e}") }
}

/// Calls a second: whole ones, unless they are few.
pub(super) fn per_second_text(rate: f64) -> String {
    if (99.95..1e15).contains(&rate) { rate_text(rate) } else { figure_text(rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_not_nothing() {
        assert_eq!(share_text(0, 10), "0.0 %");
        assert_eq!(share_text(1, 1_000_000), "less than 0.1 %");
        assert_eq!(share_text(1, 1_000), "0.1 %");
        assert_eq!(time_text(0), "none");
        assert_eq!(time_text(57_849), "57.8 µs");
    }

    #[test]
    fn a_figure_of_a_file_is_short_whatever_it_is() {
        assert_eq!(per_second_text(2.5), "2.50");
        assert_eq!(per_second_text(43_419.6), "43420");
        for odd in [f64::MAX, f64::MIN, f64::INFINITY, f64::NAN] {
            assert!(per_second_text(odd).len() < 20 && figure_text(odd).len() < 20, "{odd}");
        }
    }
}
