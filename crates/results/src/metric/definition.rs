//! The entries of the catalogue of metrics.

use crate::ratio::{RatioOutcome, Ratios};
use crate::round::{MeasuredRound, MeasuredRounds};
use crate::statistics::median;
use crate::text::{cpu_text, memory_text, precise_latency_text, rate_text, significant_text};
use hdrhistogram::Histogram;
use std::fmt;

/// A metric of the catalogue. Two are equal if their names are.
pub struct MetricDefinition {
    /// Its name, without the unit.
    pub name: &'static str,
    /// The unit of its figures.
    pub unit: Unit,
    /// Its meaning, a clause in Markdown.
    pub meaning: &'static str,
    /// How a round yields it, and a cell.
    pub(super) pooling: Pooling,
}

/// Base units, for the figures of metrics and of published columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds: `[ns]`.
    Nanoseconds,
    /// Bytes: `[bytes]`.
    Bytes,
    /// Events per second: `[1/s]`.
    PerSecond,
    /// CPUs: `[cpu]`, 1 is one CPU busy all the time.
    Cpus,
    /// A count, a ratio or a share of the whole: `[1]`.
    Number,
}

/// How a round yields a metric, and how the rounds of a cell are pooled. `Display` prints what the
/// documentation calls it.
#[derive(Clone, Copy)]
pub(super) enum Pooling {
    /// The median of the rounds' figures.
    Median(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// The largest of the rounds' figures: the peak over all rounds is the largest peak of a round.
    Largest(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// The sum of the rounds' figures.
    Sum(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// A figure of a histogram of latencies; over several rounds, of the merged one.
    Latencies(fn(&Histogram<u64>) -> f64),
    /// A quotient, over the time or the calls; over several rounds, the quotient of the sums.
    Quotient(fn(&MeasuredRound<'_>) -> Option<(f64, f64)>),
    /// The median of the ratios to another cell, one for each round that measured both. A single
    /// round has none.
    Ratio(fn(&Ratios) -> &RatioOutcome),
}

impl MetricDefinition {
    /// Its heading in exports: the name, with its unit if that is a time or memory.
    pub fn column(&self) -> String {
        let unit = match self.unit {
            Unit::Nanoseconds => "_ns",
            Unit::Bytes => "_bytes",
            Unit::PerSecond | Unit::Cpus | Unit::Number => "",
        };
        format!("{}{unit}", self.name)
    }

    /// Whether it is a rate, whose rounds have an interval: rates vary by factors.
    pub fn has_interval(&self) -> bool {
        self.unit == Unit::PerSecond && matches!(self.pooling, Pooling::Median(_))
    }

    /// The figure of one round, which need not be finite. `None` where the round has none.
    pub fn of_round(&self, round: &MeasuredRound<'_>) -> Option<f64> {
        match self.pooling {
            Pooling::Median(of) | Pooling::Largest(of) | Pooling::Sum(of) => of(round),
            Pooling::Latencies(of) => round.latencies().map(of),
            Pooling::Quotient(of) => of(round).map(|(dividend, divisor)| dividend / divisor),
            Pooling::Ratio(_) => None,
        }
    }

    /// The figure of a cell over all its rounds. `None` where no round has one, or the figure of a
    /// round is not finite.
    pub fn pooled(&self, rounds: &MeasuredRounds<'_>) -> Option<f64> {
        let figure = match self.pooling {
            Pooling::Median(of) => median(&figures(rounds, of)),
            Pooling::Largest(of) => figures(rounds, of).into_iter().reduce(f64::max),
            Pooling::Sum(of) => Some(figures(rounds, of).iter().sum()),
            Pooling::Latencies(of) => rounds.latencies().map(of),
            Pooling::Quotient(of) => quotient(rounds.each().iter().map(of)),
            Pooling::Ratio(_) => None,
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// Whether the metric is a ratio of two cells, which has an interval too.
    pub fn is_ratio(&self) -> bool {
        matches!(self.pooling, Pooling::Ratio(_))
    }

    /// The ratio of a cell to another, if the metric is a ratio.
    pub fn ratio<'a>(&self, ratios: &'a Ratios) -> Option<&'a RatioOutcome> {
        match self.pooling {
            Pooling::Ratio(of) => Some(of(ratios)),
            _ => None,
        }
    }
}

fn figures(rounds: &MeasuredRounds<'_>, of: fn(&MeasuredRound<'_>) -> Option<f64>) -> Vec<f64> {
    rounds.each().iter().filter_map(of).collect()
}

/// `None` where a round has no account.
fn quotient(mut terms: impl Iterator<Item = Option<(f64, f64)>>) -> Option<f64> {
    terms
        .try_fold((0.0, 0.0), |sums, term| {
            let (dividend, divisor) = term?;
            Some((sums.0 + dividend, sums.1 + divisor))
        })
        .map(|(dividend, divisor)| dividend / divisor)
}

impl PartialEq for MetricDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for MetricDefinition {}

impl fmt::Debug for MetricDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Median(_) => "median",
            Self::Largest(_) => "largest",
            Self::Sum(_) => "sum",
            Self::Latencies(_) => "merged histogram",
            Self::Quotient(_) => "all together",
            Self::Ratio(_) => "median of the paired ratios",
        })
    }
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 5] =
        [Self::Nanoseconds, Self::Bytes, Self::PerSecond, Self::Cpus, Self::Number];

    /// The unit in brackets, as headings print it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::PerSecond => "1/s",
            Self::Cpus => "cpu",
            Self::Number => "1",
        }
    }

    /// A figure in this unit as reports print it.
    pub fn text(self, value: f64) -> String {
        match self {
            // Zero needs neither more digits nor a smaller unit.
            Self::Nanoseconds if value == 0.0 => "0 s".to_owned(),
            Self::Nanoseconds => precise_latency_text(value),
            Self::Bytes => memory_text(value),
            Self::PerSecond => rate_text(value),
            Self::Cpus => cpu_text(value),
            Self::Number if value.fract() == 0.0 => rate_text(value),
            Self::Number => significant_text(value),
        }
    }
}
