//! What a few outliers hardly move: medians, and means of values of which those far away are moved
//! nearer.
//!
//! Two starts of one program differ, by where the kernel and the loader put it, and all rounds of a
//! start share that. So a start is one value, however many rounds it has; that a neighbour disturbs
//! some of these is distinguished from it here.

/// Values farther from the median than this multiple of the median distance are moved to there: two
/// standard deviations of normal values, of which one in twenty is farther away.
const DISTANCE_MAX: f64 = 3.0;

/// The number of values from which on their median says something.
const VALUES_MIN: usize = 8;

/// The middle value, or the mean of the two in the middle. `None` for no values or for values
/// that are not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which the share `q` of the values lies, interpolated linearly between order
/// statistics (type 7 of Hyndman and Fan, the default of R and NumPy). `None` for no values, for
/// values that are not finite, or for `q` outside 0 to 1.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_ascending(&sorted(values)?, q)
}

/// [`quantile`] of finite values that are in ascending order.
fn quantile_of_ascending(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let position = q * (values.len() - 1) as f64;
    let below = values[position.floor() as usize];
    let above = values[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

/// The median of times in whole nanoseconds, rounded to one. `None` for no times.
pub fn median_ns(times_ns: impl IntoIterator<Item = u64>) -> Option<u64> {
    let times: Vec<f64> = times_ns.into_iter().map(|time_ns| time_ns as f64).collect();
    Some(median(&times)?.round() as u64)
}

/// The smallest of the values that at least `percent` percent of all do not exceed: a percentile of
/// calls, as histograms count it. `None` for no values.
pub fn nearest_rank<T: Copy + Ord>(percent: f64, values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (percent * sorted.len() as f64 / 100.0).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Sorts values in ascending order, so that sums do not depend on the order of rounds. `None` for
/// no values or for values that are not finite.
pub(super) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    Some(values)
}

/// The value, at most [`DISTANCE_MAX`] median distances from the center. `None`: however far.
fn nearer(value: f64, center: f64, median_distance: Option<f64>) -> f64 {
    let most = median_distance.map_or(f64::INFINITY, |distance| DISTANCE_MAX * distance);
    value.clamp(center - most, center + most)
}

/// Moves values nearer to those before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Clipping {
    /// All values, in ascending order.
    values: Vec<f64>,
    /// How many of them were moved.
    moved: u64,
    /// The distance of each from the median of those before it, in ascending order.
    distances: Vec<f64>,
}

impl Clipping {
    /// Where the next value counts.
    pub(super) fn nearer(&mut self, value: f64) -> f64 {
        // Only what came before decides what is too far away.
        let center = quantile_of_ascending(&self.values, 0.5).unwrap_or(value);
        let distance = quantile_of_ascending(&self.distances, 0.5);
        let near = nearer(value, center, distance.filter(|_| self.values.len() >= VALUES_MIN));
        self.moved += u64::from(near != value);
        insert(&mut self.values, value);
        insert(&mut self.distances, (value - center).abs());
        near
    }

    /// How many values were moved.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }
}

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
        // The median of a start of one or two rounds is as far from them as they are apart.
        let distance = median(&self.distances).filter(|_| rounds.len() > 2);
        let near = rounds.iter().map(|round| nearer(*round, center, distance));
        Some(near.sum::<f64>() / rounds.len() as f64)
    }
}

fn insert(ascending: &mut Vec<f64>, value: f64) {
    let place = ascending.partition_point(|before| *before < value);
    ascending.insert(place, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_times_in_the_middle_the_median_is_the_mean() {
        assert_eq!(median_ns([40, 10, 30, 20]), Some(25));
        assert_eq!(median_ns([10, 20, 90]), Some(20));
        assert_eq!(median_ns([]), None);
    }

    /// 0.07 is a little more than 7 of a hundred in a floating-point number.
    #[test]
    fn a_percentile_is_the_smallest_value_that_so_many_do_not_exceed() {
        let hundred: Vec<u64> = (1..=100).rev().collect();
        for (percent, value) in [(7.0, 7), (50.0, 50), (99.0, 99), (99.9, 100), (100.0, 100)] {
            assert_eq!(nearest_rank(percent, &hundred), Some(value), "p{percent}");
        }
        assert_eq!(nearest_rank(50.0, &[3, 1]), Some(1));
        assert_eq!(nearest_rank::<u64>(50.0, &[]), None);
    }

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
