//! A confidence sequence for a mean: an interval that may be looked at after every value, and acted
//! upon, without being wrong more often than an interval that is looked at once.
//!
//! It is the set of means that a t-test which is valid at any time does not reject. The test
//! multiplies up evidence by a normal prior on the mean in standard deviations, and integrates the
//! unknown variance out by the right Haar prior: T. L. Lai, "On confidence sequences" (Annals of
//! Statistics, 1976); in today's terms H. Wang and A. Ramdas, "Anytime-valid t-tests and confidence
//! sequences for Gaussian means with unknown variance" (2023), and for the validity under optional
//! stopping A. Hendriksen, R. de Heide and P. Grünwald, "Optional stopping with Bayes factors"
//! (2021). For normal values it is exact from the second one on; means of other values become
//! normal as their number grows.
//!
//! A machine's neighbours disturb some rounds far more than others, and a mean follows those. So a
//! round that is farther from the median of those before it than three times their median distance
//! is moved to there. Of two servers that take turns by lot, neither is disturbed more than the
//! other, so the distances are alike to both sides, and the mean stays where it is. A moved value
//! says nothing of where the mean is, so the interval is wider by their share, as it is for every
//! estimate of P. J. Huber's kind ("Robust estimation of a location parameter", 1964).
//!
//! A start counts as it is ([`ConfidenceSequence::of_starts`]). A program may have two kinds of
//! starts, a rare one among them, and to move that one would be to leave it out of the mean.
//!
//! Values that follow each other may be alike, and then there is less to learn from them than from
//! as many that are not. So the sequence is kept on several scales, single values and means of
//! consecutive ones, and the widest interval holds: it is right where any of them is.

use super::Interval;
use super::robust::Clipping;

/// How often the sequence may be wrong, at any time, in all the looks together.
pub const ALPHA: f64 = 0.05;

/// Variance of the prior. With a smaller one there would be no interval for longer, 13 values at a
/// twentieth instead of 7, and it would be 4 % narrower after 150.
const PRIOR_VARIANCE: f64 = 0.25;

/// The same of starts, which are few, and each a mean: after eight the interval is 40 % narrower
/// than with that of many values, and after thirty 2 % wider.
const PRIOR_VARIANCE_OF_STARTS: f64 = 1.0;

/// How many consecutive values are taken as one, scale by scale.
const SCALES: [usize; 2] = [1, 6];

/// Nobody waits for more.
const VALUES_FORESEEN_MAX: u64 = 1_000_000;

/// A scale counts from this number of its means on: fewer say little of their variance.
const MEANS_MIN: u64 = 12;

/// The sequence after the values so far.
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    scales: [Scale; 2],
    /// `None`: values count as they are.
    clipping: Option<Clipping>,
}

/// Means of a number of consecutive values, summed up by Welford's method.
#[derive(Clone, Debug, Default)]
struct Scale {
    size: usize,
    prior_variance: f64,
    /// Values that do not make a whole mean yet.
    waiting: usize,
    waiting_sum: f64,
    count: u64,
    mean: f64,
    squares: f64,
}

impl Default for ConfidenceSequence {
    /// For rounds of one start, of which those far away are moved nearer.
    fn default() -> Self {
        Self::new(PRIOR_VARIANCE, Some(Clipping::default()))
    }
}

impl ConfidenceSequence {
    /// For means of starts: there are tens of them, not hundreds, and each counts as it is.
    pub fn of_starts() -> Self {
        Self::new(PRIOR_VARIANCE_OF_STARTS, None)
    }

    fn new(variance: f64, clipping: Option<Clipping>) -> Self {
        let scale =
            |size| Scale { size, prior_variance: variance * size as f64, ..Scale::default() };
        Self { scales: SCALES.map(scale), clipping }
    }

    /// Takes the next value.
    pub fn push(&mut self, value: f64) {
        let near = self.clipping.as_mut().map_or(value, |clipping| clipping.nearer(value));
        self.scales.iter_mut().for_each(|scale| scale.push(near));
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.scales[0].count
    }

    /// The mean of all values, of rounds with those far away moved nearer.
    pub fn mean(&self) -> f64 {
        self.scales[0].mean
    }

    /// The interval. `None` while there are so few values that it would be without an end.
    pub fn interval(&self) -> Option<Interval> {
        self.interval_of(ALPHA)
    }

    /// The same, wrong in the share `alpha` of all sequences.
    pub fn interval_of(&self, alpha: f64) -> Option<Interval> {
        let [values, means] = &self.scales;
        let half = values.half_width(alpha)?;
        let counts = means.count >= MEANS_MIN;
        let wider =
            means.half_width(alpha).filter(|_| counts).map_or(half, |other| half.max(other));
        let moved = self.clipping.as_ref().map_or(0, |clipping| clipping.moved());
        let half = wider * self.count() as f64 / (self.count() - moved) as f64;
        Some(Interval { low: self.mean() - half, high: self.mean() + half })
    }

    /// How many values it takes in all until the interval reaches no further than `half` to either
    /// side, if the next ones differ as those so far do. `None` while there is no interval, or
    /// where it takes more than a million.
    pub fn values_until(&self, half: f64, alpha: f64) -> Option<u64> {
        let interval = self.interval_of(alpha)?;
        let now = (interval.high - interval.low) / 2.0;
        let [values, _] = &self.scales;
        let deviations_now = values.deviations(alpha, self.count())?;
        let is_enough = |count: u64| {
            let deviations = values.deviations(alpha, count);
            deviations.is_some_and(|deviations| now * deviations / deviations_now <= half)
        };
        let (mut too_few, mut enough) = (self.count() - 1, self.count());
        while !is_enough(enough) {
            (too_few, enough) = (enough, enough * 2);
            if enough > VALUES_FORESEEN_MAX {
                return None;
            }
        }
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            *(if is_enough(middle) { &mut enough } else { &mut too_few }) = middle;
        }
        Some(enough)
    }
}

impl Scale {
    fn push(&mut self, value: f64) {
        self.waiting += 1;
        self.waiting_sum += value;
        if self.waiting < self.size {
            return;
        }
        let value = self.waiting_sum / self.size as f64;
        (self.waiting, self.waiting_sum) = (0, 0.0);
        self.count += 1;
        let difference = value - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (value - self.mean);
    }

    /// Half of the interval's width: where the evidence against its ends reaches 1 / alpha.
    fn half_width(&self, alpha: f64) -> Option<f64> {
        let deviations = self.deviations(alpha, self.count)?;
        Some(deviations * (self.squares / self.count as f64).sqrt())
    }

    /// The same in standard deviations of `count` values.
    fn deviations(&self, alpha: f64, count: u64) -> Option<f64> {
        if count < 2 {
            return None;
        }
        let count = count as f64;
        let shrinkage = 1.0 + count * self.prior_variance;
        let threshold = (shrinkage / (alpha * alpha)).powf(1.0 / count);
        let rest = 1.0 - threshold / shrinkage;
        // The squared statistic over its degrees of freedom, which bounds the mean's distance.
        (rest > 0.0).then(|| ((threshold - 1.0) / rest).sqrt())
    }
}
