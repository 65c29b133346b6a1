//! The arithmetic behind every printed figure. Pure: no I/O, no clock, no randomness.

mod student;

pub use student::{student_t_cdf, student_t_quantile};

use serde::{Deserialize, Serialize};

/// 97.5 percent of a normal distribution lie below this many standard deviations.
pub const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The confidence of an interval: it covers the truth in 95 of 100 runs.
pub const CONFIDENCE: f64 = 0.95;

/// A range that covers the truth with [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Both ends as text: `0.95 - 1.02`.
    pub fn text(&self, figure: fn(f64) -> String) -> String {
        format!("{} - {}", figure(self.low), figure(self.high))
    }

    /// Whether the interval contains `value`, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The ratio of two subjects, from rounds in which both were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median of the paired ratios.
    pub median: f64,
    /// Student-t interval of the log ratios, as ratios. `None` for fewer than two pairs. It is the
    /// interval of the geometric mean: if one round is far off, the median, which outliers do not
    /// move, can lie outside.
    pub interval: Option<Interval>,
    /// The number of rounds in which both were measured.
    pub pairs: usize,
}

impl Ratio {
    /// Whether the two cannot be distinguished: the interval contains 1, or there is no interval.
    pub fn is_indistinct(&self) -> bool {
        self.interval.is_none_or(|interval| interval.contains(1.0))
    }

    /// The same ratio with the two exchanged.
    pub fn reciprocal(&self) -> Self {
        let turned =
            |interval: Interval| Interval { low: 1.0 / interval.high, high: 1.0 / interval.low };
        Self { median: 1.0 / self.median, interval: self.interval.map(turned), pairs: self.pairs }
    }
}

/// Why there is no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRatio {
    /// No round measured both.
    #[error("no round has both")]
    NoPairs,
    /// A value is zero, negative or not a number. One such round invalidates the ratio: leaving it
    /// out would flatter the subject that failed in it.
    #[error("a round yielded nothing")]
    NotPositive,
    /// An end spun while it waited. Its CPU time tells nothing, and the rate of an end that spins
    /// is not comparable with that of one that sleeps.
    #[error("one of them spins while it waits")]
    Spinning,
}

/// The ratio `a / b` from pairs `(a, b)` of the same round. Drift that affects both cancels out.
///
/// # Errors
/// When there are no pairs, or a value is not a positive number.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Result<Ratio, NoRatio> {
    if pairs.is_empty() {
        return Err(NoRatio::NoPairs);
    }
    let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if !pairs.iter().all(|&(a, b)| positive(a) && positive(b) && positive(a / b)) {
        return Err(NoRatio::NotPositive);
    }
    // In logarithms, so that swapping the two gives the reciprocal for an even number of pairs,
    // too.
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let median = median(&logs).ok_or(NoRatio::NoPairs)?;
    Ok(Ratio {
        median: median.exp(),
        interval: geometric_mean_interval(&ratios, CONFIDENCE),
        pairs: pairs.len(),
    })
}

/// Arithmetic mean. `None` for no values or for values that are not finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    let values = sorted(values)?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value, or the mean of the two in the middle. `None` for no values or for values
/// that are not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which the share `q` of the values lies, interpolated linearly between order
/// statistics (type 7 of Hyndman and Fan, the default of R and NumPy). `None` for no values, for
/// values that are not finite, or for `q` outside 0 to 1.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let values = sorted(values)?;
    let position = q * (values.len() - 1) as f64;
    let below = values[position.floor() as usize];
    let above = values[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

/// Standard deviation of a sample, with the divisor n - 1. `None` for fewer than two values or for
/// values that are not finite.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let degrees = values.len().checked_sub(1).filter(|&degrees| degrees > 0)?;
    let squares: f64 = sorted(values)?.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / degrees as f64).sqrt())
}

/// Student-t interval of the mean with a confidence between 0 and 1, exclusive, most often
/// [`CONFIDENCE`]. `None` for fewer than two values or for values that are not finite.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let mean = mean(values)?;
    let deviation = standard_deviation(values)?;
    let n = values.len() as f64;
    let t = student_t_quantile(0.5 + confidence / 2.0, n - 1.0)?;
    let half = t * deviation / n.sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

/// Student-t interval of the logarithms, converted back to values: for rates and ratios, which vary
/// by factors and cannot be negative. `None` for fewer than two values or for values that are not
/// positive.
pub fn geometric_mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    // The logarithm of zero is infinite and that of a negative number is NaN; both are rejected
    // below.
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let interval = mean_interval(&logs, confidence)?;
    Some(Interval { low: interval.low.exp(), high: interval.high.exp() })
}

/// Sorts values in ascending order, so that sums do not depend on the order of rounds. `None` for
/// no values or for values that are not finite.
fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    Some(values)
}
