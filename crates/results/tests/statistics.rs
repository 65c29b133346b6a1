//! The statistics against an oracle, by simulation, and by what must not change a result.

use bookend_results::random::Random;
use bookend_results::statistics::{
    CONFIDENCE, Interval, NoRatio, geometric_mean_interval, mean, mean_interval, median,
    paired_ratio, quantile, standard_deviation, student_t_cdf, student_t_quantile,
};

/// `scipy.stats.t.ppf(p, degrees)` of scipy 1.17.1, printed with 16 digits.
const T_QUANTILES: [(f64, f64, f64); 36] = [
    (0.9, 1.0, 3.077683537175254e+00),
    (0.9, 2.0, 1.885618083164127e+00),
    (0.9, 3.0, 1.637744353696209e+00),
    (0.9, 5.0, 1.475884048824482e+00),
    (0.9, 6.0, 1.439755747265148e+00),
    (0.9, 9.0, 1.383028738396633e+00),
    (0.9, 29.0, 1.311433647301551e+00),
    (0.9, 100.0, 1.290074761346516e+00),
    (0.9, 1e6, 1.281552412129939e+00),
    (0.975, 1.0, 1.270620473617469e+01),
    (0.975, 2.0, 4.302652729749462e+00),
    (0.975, 3.0, 3.182446305283708e+00),
    (0.975, 5.0, 2.570581835636315e+00),
    (0.975, 6.0, 2.446911851144979e+00),
    (0.975, 9.0, 2.262157162798205e+00),
    (0.975, 29.0, 2.045229642132703e+00),
    (0.975, 100.0, 1.983971518523552e+00),
    (0.975, 1e6, 1.959966356814107e+00),
    (0.995, 1.0, 6.365674116287153e+01),
    (0.995, 2.0, 9.924843200918287e+00),
    (0.995, 3.0, 5.840909309733355e+00),
    (0.995, 5.0, 4.032142983555228e+00),
    (0.995, 6.0, 3.707428021324807e+00),
    (0.995, 9.0, 3.249835541592126e+00),
    (0.995, 29.0, 2.756385903670605e+00),
    (0.995, 100.0, 2.625890521438017e+00),
    (0.995, 1e6, 2.575834220105334e+00),
    (0.9995, 1.0, 6.366192487687897e+02),
    (0.9995, 2.0, 3.159905457644536e+01),
    (0.9995, 3.0, 1.292397863668796e+01),
    (0.9995, 5.0, 6.868826625881276e+00),
    (0.9995, 6.0, 5.95881617881889e+00),
    (0.9995, 9.0, 4.780912585931217e+00),
    (0.9995, 29.0, 3.659405019466375e+00),
    (0.9995, 100.0, 3.390491311164263e+00),
    (0.9995, 1e6, 3.290536461248722e+00),
];

/// `scipy.stats.t.cdf(t, degrees)` of scipy 1.17.1.
const T_PROBABILITIES: [(f64, f64, f64); 6] = [
    (0.5, 1.0, 0.6475836176504333),
    (1.0, 4.0, 0.8130495168499705),
    (2.5, 9.0, 0.9830690861585072),
    (-3.0, 7.0, 0.009971063065996268),
    (10.0, 2.0, 0.9950737714883372),
    (40.0, 3.0, 0.9999828096596054),
];

/// Two subjects over seven rounds, invented, with the drift that rounds have in common.
const A: [f64; 7] = [101.3, 98.7, 105.1, 99.9, 102.4, 97.2, 103.8];
const B: [f64; 7] = [50.2, 49.9, 51.7, 48.8, 52.3, 47.9, 50.6];

fn pairs(a: &[f64], b: &[f64]) -> Vec<(f64, f64)> {
    a.iter().copied().zip(b.iter().copied()).collect()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs() / expected.abs().max(1e-300);
    assert!(error <= tolerance, "{found} is not {expected}");
}

#[test]
fn t_quantiles_are_those_of_scipy() {
    for (probability, degrees, expected) in T_QUANTILES {
        // At a million degrees the gammas of half a million cancel; six digits less is plenty.
        let tolerance = if degrees > 1e5 { 1e-8 } else { 1e-12 };
        let above = student_t_quantile(probability, degrees).expect("defined");
        near(above, expected, tolerance);
        let below = student_t_quantile(1.0 - probability, degrees).expect("defined");
        near(below, -expected, tolerance);
    }
    near(student_t_quantile(0.5, 3.0).expect("defined") + 1.0, 1.0, 1e-12);
}

#[test]
fn t_probabilities_are_those_of_scipy() {
    for (t, degrees, expected) in T_PROBABILITIES {
        near(student_t_cdf(t, degrees).expect("defined"), expected, 1e-12);
    }
}

#[test]
fn quantile_and_probability_undo_each_other() {
    for degrees in [1.0, 2.5, 9.0, 400.0] {
        for probability in [1e-6, 0.01, 0.3, 0.5, 0.77, 0.999] {
            let t = student_t_quantile(probability, degrees).expect("defined");
            near(student_t_cdf(t, degrees).expect("defined"), probability, 1e-9);
        }
    }
}

#[test]
fn what_has_no_answer_gets_none() {
    assert_eq!(student_t_quantile(0.0, 3.0), None);
    assert_eq!(student_t_quantile(1.0, 3.0), None);
    assert_eq!(student_t_quantile(f64::NAN, 3.0), None);
    assert_eq!(student_t_quantile(0.9, 0.0), None);
    assert_eq!(student_t_quantile(0.9, f64::NAN), None);
    assert_eq!(student_t_cdf(f64::INFINITY, 3.0), None);
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[1.0, f64::NAN]), None);
    assert_eq!(quantile(&[1.0], 1.1), None);
    assert_eq!(mean(&[f64::INFINITY]), None);
    assert_eq!(standard_deviation(&[1.0]), None);
    assert_eq!(mean_interval(&[1.0], CONFIDENCE), None);
    assert_eq!(geometric_mean_interval(&[1.0, 0.0], CONFIDENCE), None);
    assert_eq!(geometric_mean_interval(&[1.0, -2.0], CONFIDENCE), None);
}

#[test]
fn medians_and_quantiles_are_those_counted_by_hand() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    assert_eq!(median(&[7.0]), Some(7.0));
    // numpy.quantile(A, q) of numpy's default method, linear.
    let expected =
        [(0.0, 97.2), (0.1, 98.1), (0.25, 99.3), (0.5, 101.3), (0.9, 104.32), (1.0, 105.1)];
    for (q, value) in expected {
        near(quantile(&A, q).expect("defined"), value, 1e-12);
    }
}

#[test]
fn mean_deviation_and_interval_are_those_of_scipy() {
    // numpy.mean(A), numpy.std(A, ddof=1), scipy.stats.t.interval(0.95, 6, mean, sem(A)).
    near(mean(&A).expect("defined"), 101.2, 1e-12);
    near(standard_deviation(&A).expect("defined"), 2.809507667427394, 1e-12);
    let interval = mean_interval(&A, CONFIDENCE).expect("defined");
    near(interval.low, 98.60163877891283, 1e-12);
    near(interval.high, 103.79836122108718, 1e-12);
}

#[test]
fn the_paired_ratio_is_that_of_scipy() {
    // l = numpy.log(A / B); numpy.median(A / B);
    // numpy.exp(scipy.stats.t.interval(0.95, 6, l.mean(), scipy.stats.sem(l))).
    let ratio = paired_ratio(&pairs(&A, &B)).expect("positive");
    let interval = ratio.interval.expect("seven pairs");
    near(ratio.median, 2.0292275574112737, 1e-12);
    near(interval.low, 1.9834500786485252, 1e-12);
    near(interval.high, 2.049249012438906, 1e-12);
    assert_eq!(ratio.pairs, 7);
    assert!(!ratio.is_indistinct());
}

#[test]
fn one_pair_has_a_ratio_and_no_interval() {
    let ratio = paired_ratio(&[(3.0, 2.0)]).expect("positive");
    near(ratio.median, 1.5, 1e-12);
    assert_eq!(ratio.interval, None);
    assert!(ratio.is_indistinct(), "one pair tells nothing");
}

#[test]
fn a_round_that_yielded_nothing_spoils_the_ratio() {
    assert_eq!(paired_ratio(&[]), Err(NoRatio::NoPairs));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(paired_ratio(&[(1.0, 2.0), (bad, 2.0)]), Err(NoRatio::NotPositive));
        assert_eq!(paired_ratio(&[(1.0, 2.0), (2.0, bad)]), Err(NoRatio::NotPositive));
    }
    assert_eq!(paired_ratio(&[(f64::MAX, f64::MIN_POSITIVE)]), Err(NoRatio::NotPositive));
}

#[test]
fn a_subject_against_itself_is_exactly_one() {
    let ratio = paired_ratio(&pairs(&A, &A)).expect("positive");
    assert_eq!(ratio.median, 1.0);
    assert_eq!(ratio.interval, Some(Interval { low: 1.0, high: 1.0 }));
    assert!(ratio.is_indistinct());
}

#[test]
fn the_order_of_rounds_changes_nothing() {
    let mut random = Random::new(11);
    let expected = paired_ratio(&pairs(&A, &B)).expect("positive");
    for _ in 0..200 {
        let mut shuffled = pairs(&A, &B);
        shuffle(&mut random, &mut shuffled);
        assert_eq!(paired_ratio(&shuffled), Ok(expected));
    }
}

#[test]
fn the_unit_changes_nothing_and_a_factor_carries_through() {
    let mut random = Random::new(12);
    let expected = paired_ratio(&pairs(&A, &B)).expect("positive");
    for _ in 0..200 {
        let factor = (normal(&mut random) * 5.0).exp();
        let both: Vec<_> = pairs(&A, &B).iter().map(|(a, b)| (a * factor, b * factor)).collect();
        near(paired_ratio(&both).expect("positive").median, expected.median, 1e-12);
        let one: Vec<_> = pairs(&A, &B).iter().map(|(a, b)| (a * factor, *b)).collect();
        let scaled = paired_ratio(&one).expect("positive");
        near(scaled.median, expected.median * factor, 1e-11);
        let (scaled, expected) = (scaled.interval, expected.interval);
        near(scaled.expect("7").low, expected.expect("7").low * factor, 1e-11);
        near(scaled.expect("7").high, expected.expect("7").high * factor, 1e-11);
    }
}

#[test]
fn swapping_the_two_gives_the_reciprocal() {
    for n in [2, 3, 6, 7] {
        let forward = paired_ratio(&pairs(&A[..n], &B[..n])).expect("positive");
        let backward = paired_ratio(&pairs(&B[..n], &A[..n])).expect("positive");
        near(forward.median * backward.median, 1.0, 1e-12);
        let (forward, backward) = (forward.interval, backward.interval);
        near(forward.expect("n > 1").low * backward.expect("n > 1").high, 1.0, 1e-12);
    }
}

/// How a simulated measurement varies.
struct Noise {
    /// Standard deviation of the logarithm of what a round does to both subjects.
    drift: f64,
    /// The same of what happens to one of them alone.
    own: f64,
    /// Share of measurements that something slows down by half.
    disturbed: f64,
}

impl Noise {
    fn round(&self, random: &mut Random, truth: f64) -> (f64, f64) {
        let drift = (normal(random) * self.drift).exp();
        let a = 1e5 * truth * drift * self.one(random);
        (a, 1e5 * drift * self.one(random))
    }

    fn one(&self, random: &mut Random) -> f64 {
        let slowed = if uniform(random) < self.disturbed { 0.5 } else { 1.0 };
        slowed * (normal(random) * self.own).exp()
    }

    /// Share of `runs` runs of `n` rounds whose interval covers the truth.
    fn coverage(&self, truth: f64, n: usize, runs: u32, seed: u64) -> f64 {
        let mut random = Random::new(seed);
        let covered = (0..runs).filter(|_| {
            let rounds: Vec<_> = (0..n).map(|_| self.round(&mut random, truth)).collect();
            let ratio = paired_ratio(&rounds).expect("positive");
            ratio.interval.expect("n > 1").contains(truth)
        });
        covered.count() as f64 / f64::from(runs)
    }
}

/// The share of so many runs has a standard deviation of 0.34 % where the truth is 95 %.
const RUNS: u32 = 4_000;

#[test]
fn the_interval_covers_the_truth_in_95_of_100_runs() {
    for (seed, n, truth) in [(1, 7, 0.97), (2, 10, 10.4)] {
        let noise = Noise { drift: 0.3, own: 0.05, disturbed: 0.0 };
        let coverage = noise.coverage(truth, n, RUNS, seed);
        assert!((0.93..=0.97).contains(&coverage), "n={n}, {truth}: {coverage}");
    }
}

#[test]
fn of_a_hundred_comparisons_of_a_subject_with_itself_five_are_told_apart() {
    for (seed, n) in [(3, 7), (4, 10)] {
        let noise = Noise { drift: 0.5, own: 0.1, disturbed: 0.0 };
        let coverage = noise.coverage(1.0, n, RUNS, seed);
        assert!((0.93..=0.97).contains(&coverage), "n={n}: {coverage}");
    }
}

#[test]
fn disturbed_rounds_widen_the_interval_instead_of_falsifying_it() {
    for (seed, n) in [(5, 7), (6, 10)] {
        let noise = Noise { drift: 0.2, own: 0.03, disturbed: 0.1 };
        let coverage = noise.coverage(3.0, n, RUNS, seed);
        assert!(coverage >= 0.93, "n={n}: {coverage}");
    }
}

#[test]
fn drift_that_both_share_does_not_widen_the_interval() {
    let mut random = Random::new(7);
    let width = |drift: f64, random: &mut Random| {
        let noise = Noise { drift, own: 0.0, disturbed: 0.0 };
        let rounds: Vec<_> = (0..7).map(|_| noise.round(random, 2.0)).collect();
        let interval = paired_ratio(&rounds).expect("positive").interval.expect("7 pairs");
        interval.high - interval.low
    };
    assert!(width(1.0, &mut random) < 1e-9);
}

#[test]
fn an_interval_of_rounds_covers_their_geometric_mean_as_often() {
    let mut random = Random::new(8);
    let covered = (0..RUNS).filter(|_| {
        let rounds: Vec<f64> = (0..7).map(|_| 5e4 * (normal(&mut random) * 0.2).exp()).collect();
        geometric_mean_interval(&rounds, CONFIDENCE).expect("positive").contains(5e4)
    });
    let coverage = covered.count() as f64 / f64::from(RUNS);
    assert!((0.93..=0.97).contains(&coverage), "{coverage}");
}

/// Above 0 and at most 1.
fn uniform(random: &mut Random) -> f64 {
    random.fraction() + f64::EPSILON / 2.0
}

/// Standard normal, by Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * uniform(random)).cos()
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.bits() % (last as u64 + 1)) as usize);
    }
}
