//! A second estimate of the cost ratio, from work that two servers share.
//!
//! Two handlers that format the same text spend the same CPU time on it in each call. So the
//! smaller the share of formatting among all samples, the more a call costs: the ratio of the
//! shares of two servers is the ratio of their calls per CPU-second.

use super::split::{SAMPLES_MIN, Split};
use crate::statistics::{Interval, NORMAL_QUANTILE};
use serde::{Deserialize, Serialize};

/// Calls per CPU-second of one server over those of another, estimated from its samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostRatio {
    /// The ratio of the two shares.
    pub ratio: f64,
    /// The range of the true ratio in 95 of 100 recordings, if samples are independent.
    pub interval: Interval,
}

impl CostRatio {
    /// Compares `subject` with `baseline`. `None` when one of them has too few samples of shared
    /// work.
    pub fn of(subject: &Split, baseline: &Split) -> Option<CostRatio> {
        let few = |split: &Split| split.shared_work < SAMPLES_MIN;
        if few(subject) || few(baseline) {
            return None;
        }
        let ratio = subject.shared_work_share() / baseline.shared_work_share();
        // The logarithm of a ratio of two binomial shares is nearly normal (Katz et al. 1978).
        let deviation = (log_variance(subject) + log_variance(baseline)).sqrt();
        let factor = (NORMAL_QUANTILE * deviation).exp();
        Some(CostRatio { ratio, interval: Interval { low: ratio / factor, high: ratio * factor } })
    }
}

fn log_variance(split: &Split) -> f64 {
    (1.0 - split.shared_work_share()) / split.shared_work as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn split(shared_work: u64, samples: u64) -> Split {
        Split { samples, shared_work, ..Split::default() }
    }

    #[test]
    fn a_larger_part_of_shared_work_means_cheaper_calls() {
        let ratio = CostRatio::of(&split(290, 10_000), &split(31, 10_000)).unwrap();
        assert!((ratio.ratio - 9.3548).abs() < 1e-3, "{ratio:?}");
        assert!(ratio.interval.contains(9.4), "{ratio:?}");
        assert!(ratio.interval.low > 6.4 && ratio.interval.high < 13.7, "{ratio:?}");
    }

    #[test]
    fn swapping_the_two_gives_the_reciprocal() {
        let (a, b) = (split(290, 10_000), split(31, 5_000));
        let (one, other) = (CostRatio::of(&a, &b).unwrap(), CostRatio::of(&b, &a).unwrap());
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-12);
        assert!((one.interval.low * other.interval.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn with_few_samples_nothing_can_be_told() {
        assert_eq!(CostRatio::of(&split(9, 10_000), &split(500, 10_000)), None);
        assert_eq!(CostRatio::of(&split(500, 10_000), &split(0, 10_000)), None);
        assert!(CostRatio::of(&split(10, 10_000), &split(10, 10_000)).is_some());
    }

    fn recording(random: &mut Rng, samples: u64, share: f64) -> Split {
        let shared = (0..samples).filter(|_| random.f64() < share).count();
        split(shared as u64, samples)
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        const RECORDINGS: u32 = 2_000;
        let mut random = Rng::with_seed(7);
        let (subject, baseline) = (0.06, 0.02);
        let mut covered = 0;
        for _ in 0..RECORDINGS {
            let a = recording(&mut random, 2_000, subject);
            let b = recording(&mut random, 2_000, baseline);
            let ratio = CostRatio::of(&a, &b).expect("forty samples are enough");
            covered += u32::from(ratio.interval.contains(subject / baseline));
        }
        let coverage = f64::from(covered) / f64::from(RECORDINGS);
        assert!((0.93..=0.97).contains(&coverage), "{coverage}");
    }
}
