//! The figures of one case, round by round, and what is estimated from them.

use super::known::{Known, Limit};
use bookend_results::audit::Span;
use bookend_results::statistics::{self, CONFIDENCE, Interval};
use std::collections::BTreeMap;

/// A figure for each round, or one that is known within bounds, from a document or a profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Series {
    Rounds(BTreeMap<u32, f64>),
    /// Of figures that were divided round by round.
    Ratios(BTreeMap<u32, f64>),
    Bounded(Span),
}

/// A figure of one case, or of several cases taken together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The case or cases: words that follow the figure. Empty if there is no case.
    pub(super) place: String,
    /// Median of the rounds or of their ratios, or as printed.
    pub(super) value: f64,
    /// The least and the largest of the rounds, or what the printed digits leave open.
    pub(super) extremes: Interval,
    /// The number of rounds. `None`: a printed figure, or a profile's.
    pub(super) rounds: Option<usize>,
    /// 95 % interval of the median, or what the printed digits leave open. `None` for few rounds.
    pub(super) interval: Option<Interval>,
    /// The same, but wide enough that all estimates of the quantity lie within their intervals in
    /// 95 of 100 runs (Bonferroni's correction).
    pub(super) joint_interval: Option<Interval>,
    /// The number of rounds, if all gave exactly this figure: an interval of no width is no
    /// certainty. `None`: rounds differ, or there is only one.
    pub(super) equal_rounds: Option<usize>,
    /// What a client at its limit leaves of it.
    pub(super) known: Known,
    /// How far the client was at its limit, if that touches the figure.
    pub(super) limit: Option<Limit>,
}

impl Series {
    /// Divided round by round.
    pub(super) fn over(&self, divisor: &Series) -> Option<Series> {
        match (self, divisor) {
            (Self::Bounded(own), Self::Bounded(divisor)) => own.over(*divisor).map(Self::Bounded),
            (
                Self::Rounds(own) | Self::Ratios(own),
                Self::Rounds(divisor) | Self::Ratios(divisor),
            ) => {
                let quotients: BTreeMap<u32, f64> = own
                    .iter()
                    .filter_map(|(round, own)| {
                        let divisor = divisor.get(round)?;
                        Some((*round, own / divisor))
                    })
                    .collect();
                let sound = quotients.values().all(|quotient| quotient.is_finite());
                (sound && !quotients.is_empty()).then_some(Self::Ratios(quotients))
            }
            (Self::Rounds(own) | Self::Ratios(own), Self::Bounded(divisor)) => {
                let quotient = |(round, own): (&u32, &f64)| (*round, own / divisor.value);
                Some(Self::Ratios(own.iter().map(quotient).collect()))
            }
            (Self::Bounded(_), Self::Rounds(_) | Self::Ratios(_)) => None,
        }
    }

    /// The figure with this rank, round by round; for bounded figures, bound by bound.
    pub(super) fn ranked(all: &[&Series], rank: usize) -> Option<Series> {
        let of_rank = |figure: &dyn Fn(&Series) -> Option<f64>| {
            let mut figures: Vec<f64> = all.iter().map(|one| figure(one)).collect::<Option<_>>()?;
            figures.sort_by(f64::total_cmp);
            figures.get(rank).copied()
        };
        let bound = |of: fn(&Span) -> f64| of_rank(&|one| one.span().map(of));
        match all.first()? {
            Self::Bounded(_) => Some(Self::Bounded(Span {
                low: bound(|span| span.low)?,
                value: bound(|span| span.value)?,
                high: bound(|span| span.high)?,
            })),
            first @ (Self::Rounds(rounds) | Self::Ratios(rounds)) => {
                let of_round = |round: &u32| Some((*round, of_rank(&|one| one.round(*round))?));
                let ranked = rounds.keys().filter_map(of_round).collect();
                Some(first.with(ranked))
            }
        }
    }

    fn span(&self) -> Option<&Span> {
        match self {
            Self::Bounded(span) => Some(span),
            Self::Rounds(_) | Self::Ratios(_) => None,
        }
    }

    /// Other figures of the same kind.
    fn with(&self, rounds: BTreeMap<u32, f64>) -> Self {
        match self {
            Self::Ratios(_) => Self::Ratios(rounds),
            Self::Rounds(_) | Self::Bounded(_) => Self::Rounds(rounds),
        }
    }

    /// The median of figures of rounds. Of ratios it is that of tables, except of negative ones,
    /// which have no geometric mean.
    fn median(&self, figures: &[f64]) -> Option<f64> {
        let of_ratios = || statistics::median_of_ratios(figures);
        matches!(self, Self::Ratios(_))
            .then(of_ratios)
            .flatten()
            .or_else(|| statistics::median(figures))
    }

    fn round(&self, round: u32) -> Option<f64> {
        match self {
            Self::Bounded(_) => None,
            Self::Rounds(rounds) | Self::Ratios(rounds) => rounds.get(&round).copied(),
        }
    }

    /// The estimate, as one of `count`.
    pub(super) fn estimate(&self, place: String, count: usize) -> Option<Estimate> {
        match self {
            Self::Bounded(Span { low, value, high }) => {
                let extremes = Interval { low: *low, high: *high };
                Some(Estimate {
                    place,
                    value: *value,
                    extremes,
                    rounds: None,
                    interval: Some(extremes),
                    joint_interval: Some(extremes),
                    equal_rounds: None,
                    known: Known::Exactly,
                    limit: None,
                })
            }
            Self::Rounds(rounds) | Self::Ratios(rounds) => {
                let values: Vec<f64> = rounds.values().copied().collect();
                Some(Estimate {
                    place,
                    value: self.median(&values)?,
                    extremes: extremes(&values)?,
                    rounds: Some(values.len()),
                    interval: interval(&values, CONFIDENCE),
                    joint_interval: interval(&values, 1.0 - (1.0 - CONFIDENCE) / count as f64),
                    equal_rounds: all_equal(&values).then_some(values.len()),
                    known: Known::Exactly,
                    limit: None,
                })
            }
        }
    }
}

fn extremes(values: &[f64]) -> Option<Interval> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(Interval { low, high })
}

fn all_equal(values: &[f64]) -> bool {
    values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The interval of the median. Equal values need no number: two of them leave nothing between.
fn interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if all_equal(values) {
        let (low, high) = (values[0], values[0]);
        Some(Interval { low, high })
    } else {
        statistics::median_interval(values, confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(figures: &[f64]) -> Series {
        Series::Rounds((0..).zip(figures.iter().copied()).collect())
    }

    fn value(series: &Series) -> f64 {
        series.estimate(String::new(), 1).expect("there are rounds").value
    }

    #[test]
    fn an_even_number_of_ratios_has_the_median_of_tables() {
        let (own, other) = (rounds(&[1.0, 4.0, 16.0, 25.0]), rounds(&[1.0; 4]));
        let ratio = own.over(&other).expect("both have all rounds");
        let pairs = [(1.0, 1.0), (4.0, 1.0), (16.0, 1.0), (25.0, 1.0)];
        let of_tables = statistics::paired_ratio(&pairs).expect("positive").median;
        assert_eq!((value(&ratio), of_tables), (8.0, 8.0));
        let swapped = other.over(&own).expect("both have all rounds");
        assert_eq!(value(&swapped), 0.125);
        // The middle of several cases is a ratio as well, and something that is not a figure is
        // not.
        let middle = Series::ranked(&[&ratio, &ratio], 0).expect("both have all rounds");
        assert_eq!((value(&middle), value(&own)), (8.0, 10.0));
    }
}
