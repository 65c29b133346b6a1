//! Are rounds independent? What the committed records say, and what intervals are worth if they are
//! not quite.

use bookend_results::measurement::{Measurement, Outcome};
use bookend_results::record::{Record, file_of, run_of};
use bookend_results::statistics::{lag_one_autocorrelation, paired_ratio};
use bookend_results::suite::Extent;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Fewer rounds say too little.
const ROUNDS_MIN: usize = 8;

/// Figures of one subject and of the baseline, round by round.
type Series = Vec<(f64, f64)>;

fn records() -> Vec<PathBuf> {
    let (suites, records) = (Path::new(ROOT).join("suites"), Path::new(ROOT).join("records"));
    let mut names: Vec<String> = std::fs::read_dir(suites)
        .expect("suites")
        .map(|suite| suite.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let files = names.iter().map(|suite| file_of(&records, suite, Extent::Full));
    files.filter(|file| file.is_file()).collect()
}

/// What a cell did in each round.
fn by_round(
    record: &Record,
    of: fn(&Measurement) -> f64,
) -> BTreeMap<[String; 3], BTreeMap<u32, f64>> {
    let mut cells: BTreeMap<_, BTreeMap<u32, f64>> = BTreeMap::new();
    for row in record.rows.iter().filter(|row| run_of(&record.facts.plan, row) == 0) {
        if let Outcome::Measured(window) = &row.outcome {
            let cell = &row.cell;
            let key = [cell.case.to_string(), cell.instrument.clone(), cell.subject.clone()];
            cells.entry(key).or_default().insert(row.round, of(window));
        }
    }
    cells
}

/// Every cell with that of the baseline in the same case with the same instrument.
fn series(record: &Record, of: fn(&Measurement) -> f64) -> Vec<Series> {
    let Some(baseline) = record.facts.plan.subjects.iter().find(|subject| subject.baseline) else {
        return Vec::new();
    };
    let cells = by_round(record, of);
    cells
        .iter()
        .filter(|([.., subject], _)| *subject != baseline.name)
        .filter_map(|([case, instrument, _], own)| {
            let beside = cells.get(&[case.clone(), instrument.clone(), baseline.name.clone()])?;
            let pairs =
                own.iter().filter_map(|(round, figure)| Some((*figure, *beside.get(round)?)));
            let is_sound = |(a, b): &(f64, f64)| *a > 0.0 && *b > 0.0;
            Some(pairs.filter(is_sound).collect::<Series>())
        })
        .filter(|pairs| pairs.len() >= ROUNDS_MIN)
        .collect()
}

fn cost(window: &Measurement) -> f64 {
    window.counts.ok as f64 / window.tested_cpu_seconds()
}

fn rate(window: &Measurement) -> f64 {
    window.requests_per_second()
}

/// Mean over all series of all records, and their number. Independent values are correlated by one
/// over their number less than nothing, because their mean is theirs.
fn mean_autocorrelation(of: fn(&Measurement) -> f64) -> (f64, usize) {
    let series: Vec<Series> = records()
        .into_iter()
        .map(|file| Record::read(&file).expect("a record"))
        .flat_map(|record| series(&record, of))
        .collect();
    let each: Vec<f64> = series
        .iter()
        .filter_map(|pairs| {
            let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
            Some(lag_one_autocorrelation(&logs)? + 1.0 / logs.len() as f64)
        })
        .collect();
    (each.iter().sum::<f64>() / each.len() as f64, each.len())
}

#[test]
fn the_documentation_says_how_rounds_follow_each_other_in_the_records() {
    let ((cost, series), (rate, _)) = (mean_autocorrelation(cost), mean_autocorrelation(rate));
    let expected = format!(
        "Over {series} series of rounds in [records](../../records), that of calls a CPU-second is \
         {cost:.2} on average, and that of rates {rate:.2}."
    );
    let file = Path::new(ROOT).join("docs/measure/methodology.md");
    let page = std::fs::read_to_string(file).expect("readable");
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains(&expected), "docs/measure/methodology.md: {expected}");
}

/// The share of `runs` runs of ten rounds whose interval covers the truth, where the logarithm of
/// each round's ratio keeps the share `kept` of that of the round before.
fn coverage(kept: f64, runs: u32) -> f64 {
    let mut random = Rng::with_seed(11);
    let mut normal = move || {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        radius * (TAU * random.f64()).cos()
    };
    let covered = (0..runs)
        .filter(|_| {
            let mut last = normal();
            let rounds: Vec<_> = (0..10)
                .map(|_| {
                    last = kept * last + (1.0 - kept * kept).sqrt() * normal();
                    ((0.05 * last).exp(), 1.0)
                })
                .collect();
            let ratio = paired_ratio(&rounds).expect("positive");
            ratio.interval.expect("ten").contains(1.0)
        })
        .count();
    f64::from(u32::try_from(covered).expect("few")) / f64::from(runs)
}

#[test]
fn an_interval_of_ten_rounds_stands_what_rounds_have_of_the_one_before() {
    let [alone, little, much] = [0.0, 0.15, 0.5].map(|kept| coverage(kept, 20_000));
    assert!((0.97..0.99).contains(&alone), "{alone}");
    assert!(little >= 0.95, "{little}");
    // It does not stand everything: of values that follow each other closely it promises too much.
    assert!(much < 0.95, "{much}");
}

#[test]
fn values_that_follow_each_other_are_told_from_those_that_take_turns() {
    assert_eq!(lag_one_autocorrelation(&[1.0, 2.0, 3.0]), Some(0.0));
    let rising: Vec<f64> = (0..100).map(f64::from).collect();
    assert!(lag_one_autocorrelation(&rising).unwrap() > 0.95);
    let turns: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
    assert!(lag_one_autocorrelation(&turns).unwrap() < -0.95);
    assert_eq!(lag_one_autocorrelation(&[4.0; 9]), None);
    assert_eq!(lag_one_autocorrelation(&[4.0]), None);
}
