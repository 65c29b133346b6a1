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
    /// How a round yields it.
    pub(super) source: MetricSource,
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

/// How the figure of a cell follows from its rounds. `Display` prints what the documentation calls
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The median of the rounds' figures.
    Median,
    /// The largest of the rounds' figures: the peak over all rounds is the largest peak of a round.
    Largest,
    /// The sum of the rounds' figures.
    Sum,
    /// A figure of the merged histogram of all rounds.
    Merged,
    /// One quotient, over the time or the calls of all rounds.
    Quotient,
    /// The median of the ratios to another cell, one for each round that measured both.
    Paired,
}

/// How a round yields a metric, and how rounds are pooled.
#[derive(Clone, Copy)]
pub(super) enum MetricSource {
    /// The median of the rounds' figures.
    Median(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// The largest of the rounds' figures.
    Largest(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// The sum of the rounds' figures.
    Sum(fn(&MeasuredRound<'_>) -> Option<f64>),
    /// A figure of a histogram of latencies.
    Latencies(fn(&Histogram<u64>) -> f64),
    /// A quotient; over several rounds, the quotient of the sums.
    Quotient(fn(&MeasuredRound<'_>) -> Option<(f64, f64)>),
    /// A ratio of two cells, which a single round does not have.
    Ratio(fn(&Ratios) -> &RatioOutcome),
}

impl MetricDefinition {
    /// How the figure of a cell follows from its rounds.
    pub fn pooling(&self) -> Pooling {
        match self.source {
            MetricSource::Median(_) => Pooling::Median,
            MetricSource::Largest(_) => Pooling::Largest,
            MetricSource::Sum(_) => Pooling::Sum,
            MetricSource::Latencies(_) => Pooling::Merged,
            MetricSource::Quotient(_) => Pooling::Quotient,
            MetricSource::Ratio(_) => Pooling::Paired,
        }
    }

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
        self.unit == Unit::PerSecond && self.pooling() == Pooling::Median
    }

    /// The figure of one round, which need not be finite. `None` where the round has none.
    pub fn of_round(&self, round: &MeasuredRound<'_>) -> Option<f64> {
        match self.source {
            MetricSource::Median(of) | MetricSource::Largest(of) | MetricSource::Sum(of) => {
                of(round)
            }
            MetricSource::Latencies(of) => round.latencies().map(of),
            MetricSource::Quotient(of) => of(round).map(|(dividend, divisor)| dividend / divisor),
            MetricSource::Ratio(_) => None,
        }
    }

    /// The figure of a cell over all its rounds. `None` where no round has one, or the figure of a
    /// round is not finite.
    pub fn pooled(&self, rounds: &MeasuredRounds<'_>) -> Option<f64> {
        let figure = match self.source {
            MetricSource::Median(of) => median(&figures(rounds, of)),
            MetricSource::Largest(of) => figures(rounds, of).into_iter().reduce(f64::max),
            MetricSource::Sum(of) => Some(figures(rounds, of).iter().sum()),
            MetricSource::Latencies(of) => rounds.latencies().map(of),
            MetricSource::Quotient(of) => quotient(rounds.iter().map(of)),
            MetricSource::Ratio(_) => None,
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// The ratio of a cell to another, if the metric is a ratio.
    pub fn ratio<'a>(&self, ratios: &'a Ratios) -> Option<&'a RatioOutcome> {
        match self.source {
            MetricSource::Ratio(of) => Some(of(ratios)),
            _ => None,
        }
    }
}

fn figures(rounds: &MeasuredRounds<'_>, of: fn(&MeasuredRound<'_>) -> Option<f64>) -> Vec<f64> {
    rounds.iter().filter_map(of).collect()
}

/// `None` where a round has no account.
fn quotient(mut terms: impl Iterator<Item = Option<(f64, f64)>>) -> Option<f64> {
    let sums = terms.try_fold((0.0, 0.0), |sums, term| {
        let (dividend, divisor) = term?;
        Some((sums.0 + dividend, sums.1 + divisor))
    });
    sums.map(|(dividend, divisor)| dividend / divisor)
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
            Self::Median => "median",
            Self::Largest => "largest",
            Self::Sum => "sum",
            Self::Merged => "merged histogram",
            Self::Quotient => "all together",
            Self::Paired => "median of the paired ratios",
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
