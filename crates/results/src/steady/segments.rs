//! Finds where the mean of a series changes.

use crate::statistics::median;
use std::ops::Range;

/// A shorter segment is an outlier rather than a change.
const SEGMENT_MIN: usize = 3;

/// Each value is replaced by the median of this many values around it: this hides a stall of up to
/// two intervals, which any neighbour can cause, but does not move a step.
const MEDIAN_WIDTH: usize = 5;

/// Noise is taken to be at least this share of the mean: smaller changes do not matter.
const NOISE_MIN: f64 = 0.01;

/// Converts the median of the absolute values of a normal distribution to its standard deviation.
const MEDIAN_TO_DEVIATION: f64 = 1.482_602_218_505_602;

/// Cuts `values` where their mean changes, so that the sum of the squared distances from the
/// segments' means, in units of the noise, and of a penalty for each cut is smallest. The solution
/// is exact, by optimal partitioning (Jackson et al., 2005). The pruning of PELT would save little
/// time with a few thousand values, and is not exact where segments have a minimum length.
///
/// The penalty is three times the logarithm of the number of values: a cut must gain more than the
/// position and the mean that it adds cost.
pub fn segments(values: &[f64]) -> Vec<Range<usize>> {
    let sums = Sums::of(&medians(values));
    let noise = noise(values);
    let penalty = 3.0 * (values.len().max(2) as f64).ln();
    // The least cost of the values before each position, and the start of their last segment.
    let mut least = vec![-penalty; values.len() + 1];
    let mut begins = vec![0; values.len() + 1];
    for end in SEGMENT_MIN..=values.len() {
        let last_segments = std::iter::once(0).chain(SEGMENT_MIN..=end - SEGMENT_MIN);
        (least[end], begins[end]) = last_segments
            .map(|begin| {
                let distance = sums.distance(begin..end) / noise;
                (least[begin] + distance + penalty, begin)
            })
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .expect("one segment is always possible");
    }
    let mut segments = Vec::new();
    let mut end = values.len();
    while end > 0 {
        segments.push(begins[end]..end);
        end = begins[end];
    }
    segments.reverse();
    segments
}

fn medians(values: &[f64]) -> Vec<f64> {
    let reach = MEDIAN_WIDTH / 2;
    let around = |i: usize| {
        // Near either end there are fewer, the same number before a value as after it.
        let reach = reach.min(i).min(values.len() - 1 - i);
        median(&values[i - reach..=i + reach]).unwrap_or(values[i])
    };
    (0..values.len()).map(around).collect()
}

/// The variance of the noise, from the differences of neighbours: a change of the mean affects only
/// one of them.
fn noise(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // The difference of two values has twice the variance of one.
    let deviation = median(&steps).unwrap_or(0.0) * MEDIAN_TO_DEVIATION / std::f64::consts::SQRT_2;
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    deviation.max(NOISE_MIN * mean).max(1.0).powi(2)
}

/// Prefix sums of a series and of its squares.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let running = |term: fn(f64) -> f64| {
            let mut sum = 0.0;
            let sums = values.iter().map(|value| {
                // Distances do not depend on the origin; near it, sums of squares stay exact.
                sum += term(value - mean);
                sum
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        Sums { values: running(|value| value), squares: running(|value| value * value) }
    }

    /// The sum of the squared distances of the values of `range` from their mean.
    fn distance(&self, range: Range<usize>) -> f64 {
        let sum = self.values[range.end] - self.values[range.start];
        let squares = self.squares[range.end] - self.squares[range.start];
        (squares - sum * sum / range.len().max(1) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(values: &[f64]) -> Vec<usize> {
        segments(values).into_iter().map(|segment| segment.end).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values: Vec<f64> = (0..100).map(|i| if i < 37 { 1_000.0 } else { 1_200.0 }).collect();
        assert_eq!(ends(&values), [37, 100]);
    }

    /// The least cost of any cuts of the values from `begin` on, found by exhaustive search.
    fn least_by_trial(sums: &Sums, [noise, penalty]: [f64; 2], range: Range<usize>) -> f64 {
        let whole = sums.distance(range.clone()) / noise;
        let cuts = range.start + SEGMENT_MIN..(range.end + 1).saturating_sub(SEGMENT_MIN);
        cuts.map(|cut| {
            let first = sums.distance(range.start..cut) / noise + penalty;
            first + least_by_trial(sums, [noise, penalty], cut..range.end)
        })
        .fold(whole, f64::min)
    }

    #[test]
    fn no_other_cuts_cost_less() {
        let mut state = 1_u64;
        for _ in 0..200 {
            // Steps of every height, from a generator that yields the same numbers on every
            // machine.
            let values: Vec<f64> = (0..18)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (1_000 + (state >> 40) % 4 * 40 + state % 3) as f64
                })
                .collect();
            let sums = Sums::of(&medians(&values));
            let noise = noise(&values);
            let penalty = 3.0 * (values.len() as f64).ln();
            let found = segments(&values);
            let distances = found.iter().map(|range| sums.distance(range.clone()) / noise);
            let cost = distances.sum::<f64>() + penalty * (found.len() - 1) as f64;
            let least = least_by_trial(&sums, [noise, penalty], 0..values.len());
            assert!((cost - least).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn the_noise_of_two_steps_is_between_them() {
        let deviation = 200.0 * MEDIAN_TO_DEVIATION / std::f64::consts::SQRT_2;
        assert!((noise(&[0.0, 100.0, 400.0]).sqrt() / deviation - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_outlier_is_no_segment() {
        let mut values = vec![1_000.0; 100];
        values[50] = 2_000.0;
        assert_eq!(ends(&values), [100]);
    }

    #[test]
    fn a_short_series_is_one_segment_or_none() {
        assert_eq!(ends(&[]), [0; 0]);
        assert_eq!(ends(&[1.0, 5.0]), [2]);
        assert_eq!(ends(&[9.0; 5]), [5]);
    }
}
