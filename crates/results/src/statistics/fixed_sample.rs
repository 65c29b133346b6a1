//! Of a sample whose size is fixed before it is looked at: intervals from order statistics, and
//! ratios from pairs.

use super::robust::sorted;
use super::{CONFIDENCE, Interval};
use serde::{Deserialize, Serialize};

/// The ratio of two subjects, from rounds in which both were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median of the paired ratios.
    pub median: f64,
    /// The interval of that median. `None` for fewer than six pairs.
    pub interval: Option<Interval>,
    /// The number of rounds in which both were measured.
    pub pairs: usize,
}

impl Ratio {
    /// Whether the two cannot be distinguished: the interval contains 1, or there is no interval.
    pub fn is_indistinct(&self) -> bool {
        self.interval.is_none_or(|interval| interval.contains(1.0))
    }

    /// The sign before it: `~` where it cannot be distinguished from 1, `?` where there are too few
    /// rounds to know.
    pub fn sign(&self) -> &'static str {
        match self.interval {
            None => "?",
            Some(interval) if interval.contains(1.0) => "~",
            Some(_) => "",
        }
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
    /// Calls were in flight at the end of a window that could move the figure: it is a lower bound.
    #[error("calls that the end of a window cut off could move it")]
    CutOff,
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
    Ok(Ratio {
        median: median_of_ratios(&ratios).ok_or(NoRatio::NotPositive)?,
        interval: median_interval(&ratios, CONFIDENCE),
        pairs: pairs.len(),
    })
}

/// The median of ratios: of an even number the geometric mean of the two in the middle, so that
/// swapping what is divided by what gives the reciprocal. `None` for no ratios, or for one that is
/// negative or not finite.
pub fn median_of_ratios(ratios: &[f64]) -> Option<f64> {
    let ratios = sorted(ratios)?;
    let middle = ratios.len() / 2;
    let median = match ratios.len() % 2 {
        // The root of each: the product of large ones could be infinite.
        0 => ratios[middle - 1].sqrt() * ratios[middle].sqrt(),
        _ => ratios[middle],
    };
    (ratios[0] >= 0.0).then_some(median)
}

/// The interval of the median that assumes no distribution, with at least `confidence`: from the
/// k-th smallest value to the k-th largest, where k is the largest number for which that is so. The
/// true median lies below the k-th smallest of n values only if at least n + 1 - k of n fair coins
/// show the same side. `None` for too few values, which at [`CONFIDENCE`] are five and fewer, or
/// for values that are not finite.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let values = sorted(values)?;
    let beyond = values_beyond(values.len(), confidence)?;
    Some(Interval { low: values[beyond], high: values[values.len() - 1 - beyond] })
}

/// How many of `n` values stay outside of the interval of the median on either side.
fn values_beyond(n: usize, confidence: f64) -> Option<usize> {
    // In logarithms: half to the power of some thousand is nothing.
    let mut log_probability = n as f64 * 0.5_f64.ln();
    let (mut below, mut beyond) = (0.0, None);
    for outside in 0..n.div_ceil(2) {
        below += log_probability.exp();
        if 1.0 - 2.0 * below < confidence {
            break;
        }
        beyond = Some(outside);
        log_probability += ((n - outside) as f64 / (outside + 1) as f64).ln();
    }
    beyond
}

/// How much each value says of the next: the autocorrelation at a distance of one, 0 where it says
/// nothing. `None` where the values do not differ.
pub fn lag_one_autocorrelation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
    (squares > 0.0).then(|| products.sum::<f64>() / squares)
}
