//! How many starts an interval takes to exclude 1, by making comparisons of the starts of others.

use super::Method;
use fastrand::Rng;

/// How many comparisons are made of those that were run.
const RESAMPLED: u64 = 200;

/// Neighbouring starts that are taken together, so that what they share stays shared.
const BLOCK_STARTS: usize = 4;

/// The numbers of starts that are tried.
pub(super) const COUNTS: [usize; 13] = [8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200];

/// For each of [`COUNTS`] the share of comparisons of that number of starts whose interval is below
/// 1. `comparisons` are the logarithms of the starts of each that was run; none is empty.
pub(super) fn found_shares(comparisons: &[Vec<f64>], method: Method) -> [f64; COUNTS.len()] {
    let mut found = [0.0; COUNTS.len()];
    let mut random = Rng::with_seed(0);
    for _ in 0..RESAMPLED {
        let starts = resampled(comparisons, &mut random);
        for (share, count) in found.iter_mut().zip(COUNTS) {
            let interval = method.interval(&starts[..count]);
            let is_found = interval.is_some_and(|interval| interval.high < 1.0);
            *share += f64::from(u8::from(is_found)) / RESAMPLED as f64;
        }
    }
    found
}

/// The least of [`COUNTS`] from which on this share of comparisons finds the difference. `None`:
/// not even the largest does.
pub(super) fn needed_starts(found: &[f64; COUNTS.len()], share: f64) -> Option<usize> {
    let enough = found.iter().rev().take_while(|found| **found >= share - 1e-9).count();
    COUNTS.get(COUNTS.len() - enough).copied()
}

/// As many starts as the largest comparison needs.
fn resampled(comparisons: &[Vec<f64>], random: &mut Rng) -> Vec<f64> {
    let mut starts = Vec::new();
    while starts.len() < COUNTS[COUNTS.len() - 1] {
        let comparison = &comparisons[random.usize(..comparisons.len())];
        let first = random.usize(..comparison.len());
        starts.extend(comparison.iter().cycle().skip(first).take(BLOCK_STARTS));
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts that differ by about 1 %, of a server that is slower by `share`.
    fn comparisons(share: f64) -> Vec<Vec<f64>> {
        let mut random = Rng::with_seed(3);
        let mut noise = || (0..12).map(|_| random.f64() - 0.5).sum::<f64>() / 100.0;
        (0..6).map(|_| (0..12).map(|_| noise() - share).collect()).collect()
    }

    #[test]
    fn a_larger_difference_takes_fewer_starts_whoever_asks() {
        for method in [Method::Race, Method::Suite] {
            let needed =
                |share: f64| needed_starts(&found_shares(&comparisons(share), method), 0.9);
            let [one, three, ten] = [0.01, 0.03, 0.1].map(needed);
            assert!(three < one && ten <= three, "{one:?} {three:?} {ten:?}");
            assert_eq!(needed(0.0), None, "there is nothing to find");
        }
    }

    #[test]
    fn a_count_is_enough_only_if_larger_ones_are() {
        let mut found = [1.0; COUNTS.len()];
        assert_eq!(needed_starts(&found, 0.9), Some(8));
        found[2] = 0.8;
        assert_eq!(needed_starts(&found, 0.9), Some(15));
        found[COUNTS.len() - 1] = 0.5;
        assert_eq!(needed_starts(&found, 0.9), None);
    }
}
