//! What the rounds of one start of the servers come to.
//!
//! Two starts of one program differ, by where the kernel and the loader put it, and all rounds of a
//! start share that. So a start is one value, however many rounds it has; that a neighbour disturbs
//! some of these is told apart from it here.

use crate::statistics::median;

/// Rounds farther from the median of their start than this multiple of the median distance are
/// moved to there, as in a confidence sequence.
const DISTANCE_MAX: f64 = 3.0;

/// The means of starts, one after the other.
#[derive(Clone, Debug, Default)]
pub struct StartMeans {
    /// Of each round from the median of its start.
    distances: Vec<f64>,
}

impl StartMeans {
    /// The mean of the rounds of the next start, those far away moved nearer.
    pub fn of_start(&mut self, rounds: &[f64]) -> Option<f64> {
        let center = median(rounds)?;
        self.distances.extend(rounds.iter().map(|round| (round - center).abs()));
        // The median of a start of one or two rounds is as far from them as they tell of.
        let most = match rounds.len() {
            1 | 2 => f64::INFINITY,
            _ => DISTANCE_MAX * median(&self.distances)?,
        };
        let near = rounds.iter().map(|round| round.clamp(center - most, center + most));
        Some(near.sum::<f64>() / rounds.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_round_hardly_moves_its_start() {
        let mut means = StartMeans::default();
        assert_eq!(means.of_start(&[0.01, 0.02, 0.03]), Some(0.02));
        let mean = means.of_start(&[0.01, 0.02, 0.03, 0.02, 0.9]).unwrap();
        assert!((0.02..0.03).contains(&mean), "{mean}");
    }

    #[test]
    fn the_mirror_image_of_a_start_has_the_mirror_image_of_its_mean() {
        let rounds = [0.01, -0.4, 0.02, 0.05];
        let mirrored = rounds.map(|round| -round);
        let mean = |rounds: &[f64]| StartMeans::default().of_start(rounds).unwrap();
        assert!((mean(&rounds) + mean(&mirrored)).abs() < 1e-12);
    }

    #[test]
    fn a_start_without_rounds_has_no_mean() {
        assert_eq!(StartMeans::default().of_start(&[]), None);
    }
}
