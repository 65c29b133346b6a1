//! Ratios of one cell to another, from the rounds that measured both.

use crate::measurement::{CellId, Row};
use crate::round::{RoundFigures, cost_ratio_of, paired_figures, ratio_of};
use crate::statistics::{NoRatio, Ratio};
use crate::text::significant_text;
use serde::Serialize;
use std::fmt;

/// The ratios of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratios {
    /// Requests per CPU-second over those of the baseline.
    pub cost_ratio: RatioOutcome,
    /// Requests per second over those of the baseline.
    pub rate_ratio: RatioOutcome,
    /// Against the same subject over plain text TCP connections.
    pub over_h2c: ComparedPair,
    /// Against the same subject with connections that outlive their calls.
    pub over_lasting: ComparedPair,
    /// Requests per CPU-second of the instrument over those of the first instrument that measured
    /// this subject and case.
    pub instrument_cost_ratio: RatioOutcome,
}

/// One cell over another: its cost and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedPair {
    /// Requests per CPU-second over those of the other.
    pub cost: RatioOutcome,
    /// Requests per second over those of the other.
    pub rate: RatioOutcome,
}

/// A ratio to another cell, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioOutcome {
    /// There is nothing to compare with, or others are compared with this cell.
    NotCompared,
    /// The ratio.
    Of(Ratio),
    /// A round of one of the two yielded nothing, or no round has both.
    Impossible,
    /// An end spins while it waits: [`NoRatio::Spinning`].
    Spinning,
}

impl Ratios {
    /// The ratios of a cell that has not been compared yet.
    pub const NOTHING: Self = Self {
        cost_ratio: RatioOutcome::NotCompared,
        rate_ratio: RatioOutcome::NotCompared,
        over_h2c: ComparedPair::NOTHING,
        over_lasting: ComparedPair::NOTHING,
        instrument_cost_ratio: RatioOutcome::NotCompared,
    };
}

impl ComparedPair {
    /// A comparison without another cell.
    pub const NOTHING: Self =
        Self { cost: RatioOutcome::NotCompared, rate: RatioOutcome::NotCompared };

    /// `own` over `other`, from the rounds that have both.
    pub fn of(own: &CellId, other: &CellId, rows: &[Row]) -> Self {
        let both = paired_figures((own, rows), (other, rows));
        let rate = ratio_of(&both, |figures| figures.requests_per_second);
        Self { cost: cost_ratio_of(&both).into(), rate: rate.into() }
    }
}

impl RatioOutcome {
    /// The same comparison with the two cells exchanged.
    pub fn reciprocal(&self) -> Self {
        match self {
            Self::Of(ratio) => Self::Of(ratio.reciprocal()),
            other => *other,
        }
    }

    /// The ratio, if there is one.
    pub fn ratio(&self) -> Option<&Ratio> {
        match self {
            Self::Of(ratio) => Some(ratio),
            Self::NotCompared | Self::Impossible | Self::Spinning => None,
        }
    }
}

/// Prints the ratio as tables do: `~` marks a ratio that cannot be distinguished from 1.
impl fmt::Display for RatioOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCompared => f.write_str("-"),
            Self::Impossible => f.write_str("no ratio"),
            Self::Spinning => f.write_str("spins"),
            Self::Of(ratio) => f.write_str(&ratio_text(ratio)),
        }
    }
}

/// A ratio as tables print it: `~` marks one that cannot be distinguished from 1.
pub fn ratio_text(ratio: &Ratio) -> String {
    let sign = if ratio.is_indistinct() { "~" } else { "" };
    format!("{sign}{}", significant_text(ratio.median))
}

impl From<Result<Ratio, NoRatio>> for RatioOutcome {
    fn from(ratio: Result<Ratio, NoRatio>) -> Self {
        match ratio {
            Ok(ratio) => Self::Of(ratio),
            Err(NoRatio::Spinning) => Self::Spinning,
            Err(NoRatio::NoPairs | NoRatio::NotPositive) => Self::Impossible,
        }
    }
}

/// The ratio of requests per CPU-second of two instruments, round by round.
pub fn instrument_ratio(own: &CellId, other: &CellId, rows: &[Row]) -> RatioOutcome {
    let both = paired_figures((own, rows), (other, rows));
    let spins = |figures: &RoundFigures| figures.spinning.generator;
    if both.iter().any(|(a, b)| spins(a) || spins(b)) {
        return Err(NoRatio::Spinning).into();
    }
    ratio_of(&both, RoundFigures::requests_per_client_cpu_second).into()
}
