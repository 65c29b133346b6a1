//! Rates that were simulated, so that it is known when they became steady: flat, rising, with a
//! step, alternating; each with noise from a generator that gives the same numbers everywhere.

use bookend_contract::report::Intervals;
use bookend_results::measurement::Measurement;
use bookend_results::steady::{Steady, mark};
use fastrand::Rng;

/// Normal enough: the sum of twelve has variance 1.
fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

/// How many seeds each rate is tried with.
const SEEDS: u64 = 20;

/// A warm-up of 5 s and a window of 20 s, in which an interval counts `rate` calls, give or take.
fn counted(seed: u64, noise: f64, rate: impl Fn(usize) -> f64) -> Intervals {
    let mut random = Rng::with_seed(seed);
    let count = |i| (rate(i) * (1.0 + noise * normal(&mut random))).max(0.0) as u64;
    Intervals { interval_ms: 100, window_start: 50, counts: (0..250).map(count).collect() }
}

/// What is decided for every seed.
fn decided(noise: f64, rate: impl Fn(usize) -> f64) -> Vec<Steady> {
    let of = |seed| Steady::of(&counted(seed, noise, &rate)).expect("long enough");
    (0..SEEDS).map(of).collect()
}

fn seconds(steady: &Steady) -> f64 {
    match steady {
        Steady::From { seconds } => *seconds,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flat_rate_is_steady_from_its_first_interval_on() {
    for noise in [0.0, 0.02, 0.10, 0.30] {
        let flat = decided(noise, |_| 10_000.0);
        assert!(flat.iter().all(|steady| seconds(steady) <= -4.0), "{noise}: {flat:?}");
    }
}

#[test]
fn a_ramp_is_steady_where_it_is_near_its_end() {
    // Linear until 8 s after the first call, which is 3 s into the window.
    let ramp = decided(0.02, |i| 10_000.0 * (i.min(80) as f64 / 80.0));
    for steady in &ramp {
        assert!((1.0..=4.0).contains(&seconds(steady)), "{steady:?}");
    }
}

#[test]
fn a_step_is_found_to_the_interval() {
    // A compiler has done its work 7 s after the first call.
    let step = decided(0.03, |i| if i < 70 { 8_000.0 } else { 10_000.0 });
    for steady in &step {
        assert!((seconds(steady) - 2.0).abs() <= 0.2, "{steady:?}");
    }
}

#[test]
fn a_step_in_the_warm_up_is_not_marked() {
    let step = decided(0.03, |i| if i < 20 { 5_000.0 } else { 10_000.0 });
    for steady in &step {
        assert!((seconds(steady) + 3.0).abs() <= 0.2, "{steady:?}");
    }
}

#[test]
fn a_step_too_small_to_matter_is_none() {
    let step = decided(0.01, |i| if i < 100 { 9_700.0 } else { 10_000.0 });
    assert!(step.iter().all(|steady| seconds(steady) < 0.0), "{step:?}");
}

#[test]
fn a_rate_that_alternates_is_never_steady() {
    // Two seconds fast, two seconds slow.
    let alternating = decided(0.03, |i| if i / 20 % 2 == 0 { 10_000.0 } else { 7_000.0 });
    assert_eq!(alternating, [Steady::Never; SEEDS as usize]);
}

#[test]
fn a_rate_that_changes_every_interval_is_noisy_and_steady() {
    let alternating = decided(0.01, |i| if i % 2 == 0 { 10_000.0 } else { 7_000.0 });
    assert!(alternating.iter().all(|steady| seconds(steady) < 0.0), "{alternating:?}");
}

#[test]
fn a_rate_that_falls_at_the_very_end_was_not_steady() {
    let falling = decided(0.02, |i| if i < 220 { 10_000.0 } else { 6_000.0 });
    assert_eq!(falling, [Steady::Never; SEEDS as usize]);
}

#[test]
fn one_outlier_changes_nothing() {
    let outlier = decided(0.02, |i| if i == 130 { 1_000.0 } else { 10_000.0 });
    assert!(outlier.iter().all(|steady| seconds(steady) < 0.0), "{outlier:?}");
}

#[test]
fn a_short_window_or_none_is_not_judged() {
    let mut short = counted(1, 0.0, |_| 10_000.0);
    short.counts.truncate(59);
    assert_eq!(Steady::of(&short), None);
    short.counts.truncate(3);
    assert_eq!(Steady::of(&short), None);
    assert_eq!(Steady::of(&Intervals::default()), None);
}

#[test]
fn a_window_without_calls_is_no_trouble() {
    let nothing = decided(0.0, |_| 0.0);
    assert!(nothing.iter().all(|steady| seconds(steady) < 0.0));
}

#[test]
fn a_cell_is_marked_in_one_clause_for_all_its_rounds() {
    let measured = |steady| Measurement { steady: Some(steady), ..Measurement::default() };
    let before = measured(Steady::From { seconds: -0.5 });
    let after = measured(Steady::From { seconds: 1.25 });
    let never = measured(Steady::Never);
    let not_judged = Measurement::default();
    assert_eq!(mark([&not_judged].into_iter().map(|one| one.steady)), None);
    assert_eq!(mark([&before, &not_judged].into_iter().map(|one| one.steady)), None);
    let late = "the window began up to 1.2 s before the rate was steady (1 of 2 rounds)";
    let some = [&before, &not_judged, &after].into_iter().map(|one| one.steady);
    assert_eq!(mark(some).unwrap(), late);
    let both = mark([&after, &never, &before].into_iter().map(|one| one.steady)).unwrap();
    assert!(both.ends_with("(1 of 3 rounds), never steady (1 of 3 rounds)"), "{both}");
}

#[test]
fn a_row_says_when_only_where_it_was_judged() {
    let json = serde_json::to_value(Measurement::default()).unwrap();
    assert_eq!(json.get("steady"), None);
    let read = |steady: serde_json::Value| {
        let mut row = json.clone();
        row.as_object_mut().unwrap().insert("steady".into(), steady);
        serde_json::from_value::<Measurement>(row).map(|read| read.steady)
    };
    assert_eq!(serde_json::from_value::<Measurement>(json.clone()).unwrap().steady, None);
    // As rows were written in which it was not judged.
    assert_eq!(read("unknown".into()).unwrap(), None);
    assert_eq!(read("never".into()).unwrap(), Some(Steady::Never));
    let from = Some(Steady::From { seconds: 2.5 });
    let kept = serde_json::to_value(from).unwrap();
    assert_eq!(kept.to_string(), r#"{"from":{"seconds":2.5}}"#);
    assert_eq!(read(kept).unwrap(), from);
    for wrong in ["sometimes".into(), 3.into()] {
        assert!(read(wrong).is_err());
    }
}
