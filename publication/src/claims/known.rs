//! What is known of a server's figure where the client was at its limit.

use super::statement::{Band, Favour};
use bookend_contract::verdict::GENERATOR_SATURATED;
use bookend_results::measurement::Row;
use bookend_results::metric::{Metric, Unit};
use bookend_results::round::MeasuredRound;
use bookend_results::statistics::{Interval, median};
use bookend_results::suite::TestedEnd;

/// A figure, or only one of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is the server's.
    Exactly,
    /// The server's is at least this: a rate, or calls for a CPU-second.
    AtLeast,
    /// The server's is at most this: a latency, which has the client's own queue in it.
    AtMost,
    /// It says nothing of a server that has something to do.
    Nothing,
}

/// How far a client was at its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    /// Median of the share of its CPU that it used.
    share: f64,
    /// Rounds in which that was [`GENERATOR_SATURATED`] or more.
    at_limit: usize,
    rounds: usize,
}

impl Limit {
    /// Of the rows of one cell. `None`: the client had CPU time left in half of the rounds, or is
    /// itself under test.
    pub(super) fn of(rows: &[&Row]) -> Option<Self> {
        let measured = rows.iter().filter_map(|row| MeasuredRound::of(row, None));
        let shares: Vec<f64> = measured
            .filter(|round| round.window.ends.side == TestedEnd::Server)
            .map(|round| round.generator_worked() / round.generator_could())
            .collect();
        let at_limit = shares.iter().filter(|share| **share >= GENERATOR_SATURATED).count();
        let limit = Self { share: median(&shares)?, at_limit, rounds: shares.len() };
        (at_limit * 2 > shares.len()).then_some(limit)
    }

    /// A sentence behind a figure.
    pub(super) fn sentence(self) -> String {
        let Self { share, at_limit, rounds } = self;
        format!(
            "The client was the limit: it used {:.0} % of its CPU, and {:.0} % or more in {at_limit} \
             of {rounds} rounds.",
            share.min(1.0) * 100.0,
            GENERATOR_SATURATED * 100.0
        )
    }
}

impl Known {
    /// What such a client leaves of a metric. Memory, threads and notes do not follow the load of
    /// one moment, and calls in flight are what the client is asked about.
    pub(super) fn with_client_at_its_limit(metric: &Metric) -> Self {
        match metric {
            Metric::Profile(_) | Metric::Errors(_) => Self::Nothing,
            Metric::Note(_) | Metric::ServerNote(_) => Self::Exactly,
            Metric::Percentile { .. } => Self::AtMost,
            Metric::Listed(listed) => match (listed.unit, listed.name) {
                (Unit::PerSecond, "requests_per_client_cpu_second") => Self::Exactly,
                (Unit::PerSecond, _) => Self::AtLeast,
                (Unit::Nanoseconds, _) => Self::AtMost,
                (_, "errors" | "error_share" | "ok" | "server_cpu_mean" | "server_cpu_max") => {
                    Self::Nothing
                }
                _ => Self::Exactly,
            },
        }
    }

    /// Of one over such a figure.
    pub(super) fn inverse(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            other => other,
        }
    }

    /// Of a product of two.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly, one) | (one, Self::Exactly) => one,
            (one, same) if one == same => one,
            _ => Self::Nothing,
        }
    }

    /// Whether the whole range of what the server's figure may be lies in the band.
    pub(super) fn supports(self, band: Band) -> bool {
        match self {
            Self::Exactly => true,
            Self::AtLeast => band.most == f64::INFINITY || band.favour == Some(Favour::Larger),
            Self::AtMost => band.least <= 0.0 || band.favour == Some(Favour::Smaller),
            Self::Nothing => false,
        }
    }

    /// Whether it lies outside, where the measured interval does.
    pub(super) fn refutes(self, band: Band, Interval { low, high }: Interval) -> bool {
        match self {
            Self::Exactly => true,
            Self::AtLeast => low > band.most,
            Self::AtMost => high < band.least,
            Self::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::statement::Statement;

    fn known(metric: &str) -> Known {
        Known::with_client_at_its_limit(&metric.parse().expect("a metric"))
    }

    #[test]
    fn a_client_at_its_limit_leaves_a_bound_of_what_it_slows_down() {
        assert_eq!(known("requests_per_second"), Known::AtLeast);
        assert_eq!(known("requests_per_cpu_second"), Known::AtLeast);
        assert_eq!(known("latency_p99_9"), Known::AtMost);
        assert_eq!(known("latency_p99_99"), Known::AtMost);
        assert_eq!(known("profile.network_in"), Known::Nothing);
        assert_eq!(known("errors"), Known::Nothing);
        assert_eq!(known("memory_peak"), Known::Exactly);
        assert_eq!(known("server_note.goroutines_peak"), Known::Exactly);
    }

    #[test]
    fn two_bounds_of_a_ratio_that_pull_apart_leave_nothing() {
        let (least, most) = (Known::AtLeast, Known::AtMost);
        assert_eq!(least.and(Known::Exactly.inverse()), least);
        assert_eq!(Known::Exactly.and(least.inverse()), most);
        assert_eq!(least.and(least.inverse()), Known::Nothing);
        assert_eq!(least.and(most.inverse()), least);
    }

    #[test]
    fn a_bound_answers_on_its_own_side_alone() {
        let more = Statement::More.band(1.0, Favour::Larger);
        let same = Statement::Same.band(1.0, Favour::Larger);
        let high = Interval { low: 2.0, high: 3.0 };
        assert!(Known::AtLeast.supports(more) && !Known::AtLeast.supports(same));
        assert!(!Known::AtMost.supports(more));
        assert!(Known::AtLeast.refutes(same, high) && !Known::AtMost.refutes(same, high));
        assert!(!Known::Nothing.supports(more) && !Known::Nothing.refutes(same, high));
    }
}
