//! Ratios of one cell to another, from the rounds that measured both.

use crate::statistics::{NoRatio, Ratio};
use crate::text::significant_text;
use serde::Serialize;
use std::fmt;

/// The ratios of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ComparedPair {
    /// Requests per CPU-second over those of the other.
    pub cost: RatioOutcome,
    /// Requests per second over those of the other.
    pub rate: RatioOutcome,
}

/// A ratio to another cell, or the reason for its absence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioOutcome {
    /// There is nothing to compare with, or others are compared with this cell.
    #[default]
    NotCompared,
    /// The ratio.
    Of(Ratio),
    /// A round of one of the two yielded nothing, or no round has both.
    Impossible,
    /// An end spins while it waits: [`NoRatio::Spinning`].
    Spinning,
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

/// Prints the ratio as tables do.
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

/// A ratio as tables print it, behind its sign.
pub fn ratio_text(ratio: &Ratio) -> String {
    format!("{}{}", ratio.sign(), significant_text(ratio.median))
}

impl From<Result<Ratio, NoRatio>> for RatioOutcome {
    fn from(ratio: Result<Ratio, NoRatio>) -> Self {
        match ratio {
            Ok(ratio) => Self::Of(ratio),
            Err(NoRatio::Spinning) => Self::Spinning,
            Err(NoRatio::NoPairs | NoRatio::NotPositive | NoRatio::CutOff) => Self::Impossible,
        }
    }
}
