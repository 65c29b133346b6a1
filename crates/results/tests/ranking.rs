//! One ranking of the subjects of a run, whatever they lack.

mod table_rows;

use bookend_results::measurement::{Outcome, Row};
use bookend_results::ranking::{Ranking, Rankings};
use bookend_results::suite::{Plan, PlannedSubject};
use bookend_results::table::Table;
use table_rows::{ROUNDS, case, cell, measurement, plan, row, subject};

/// The baseline first, each with the requests that it answers with a CPU-second.
const SUBJECTS: [(&str, u64); 4] = [("base", 1000), ("half", 2000), ("third", 3000), ("slow", 500)];
const CASES: [&str; 4] = ["C=1 S=1", "C=1 S=10", "C=1 S=100", "C=100 S=100"];

fn planned() -> Plan {
    let baseline = |name| PlannedSubject { baseline: name == "base", ..subject(name) };
    Plan {
        subjects: SUBJECTS.iter().map(|(name, _)| baseline(*name)).collect(),
        cases: vec![case(1, 1), case(1, 10), case(1, 100), case(100, 100)],
        ..plan()
    }
}

/// All rounds, of which those fail that `fails` says, given a subject and a case.
fn rows(fails: impl Fn(&str, &str) -> bool) -> Vec<Row> {
    let each = |round: u32, name: &str, rate: u64, case: &str| {
        let measured = Outcome::Measured(Box::new(measurement(1, rate, 1.0)));
        let failed = Outcome::Failed { error: "closed".into(), window: None };
        row(round, cell(name, case), if fails(name, case) { failed } else { measured })
    };
    (0..ROUNDS)
        .flat_map(|round| {
            SUBJECTS.map(|(name, rate)| CASES.map(|case| each(round, name, rate, case)))
        })
        .flatten()
        .collect()
}

fn ranking(rows: &[Row]) -> Option<Ranking> {
    let (plan, table) = (planned(), Table::new(&planned(), rows));
    let rankings = Rankings::of(&plan, &table, rows);
    rankings.main().and_then(|group| rankings.ranking(group))
}

fn names(ranking: &Ranking) -> Vec<&str> {
    ranking.subjects.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn whoever_answers_the_most_with_a_cpu_second_is_first() {
    let ranking = ranking(&rows(|_, _| false)).expect("a ranking");
    assert_eq!(names(&ranking), ["third", "half", "base", "slow"]);
    assert_eq!((ranking.cases.len(), ranking.known_cases), (4, 4));
    for one in &ranking.subjects {
        let (_, rate) = SUBJECTS.into_iter().find(|(name, _)| one.name == *name).expect("known");
        assert!((one.ratio.median / (rate as f64 / 1e3) - 1.0).abs() < 1e-9, "{one:?}");
        assert!((one.cost_ns / (1e9 / rate as f64) - 1.0).abs() < 1e-9, "{one:?}");
        assert!(one.missing.is_empty() && one.ratio.interval.is_some(), "{one:?}");
    }
    assert!(!ranking.is_undercut(&ranking.subjects[0]));
}

#[test]
fn nobody_is_first_for_having_skipped_a_case() {
    let rows = rows(|name, case| name == "third" && case == "C=100 S=100");
    let ranking = ranking(&rows).expect("a ranking");
    assert_eq!(names(&ranking), ["half", "base", "slow", "third"]);
    assert_eq!((ranking.cases.len(), ranking.known_cases), (3, 4));
    let third = ranking.subjects.last().expect("it is ranked");
    assert_eq!(third.missing, [case(100, 100)]);
    assert!(ranking.is_undercut(&ranking.subjects[0]), "third is cheaper where it has a figure");
    assert!(!ranking.is_undercut(third));
}

#[test]
fn a_case_that_the_baseline_lacks_is_one_that_it_lacks() {
    let rows = rows(|name, case| name == "base" && case == "C=1 S=1");
    let ranking = ranking(&rows).expect("a ranking");
    assert_eq!(names(&ranking), ["third", "half", "slow", "base"]);
    assert_eq!(ranking.baseline().missing, [case(1, 1)]);
    assert!(ranking.subjects[..3].iter().all(|one| one.missing.is_empty()));
}

#[test]
fn a_subject_with_few_of_the_cases_is_not_ranked_and_takes_none_from_the_others() {
    let rows = rows(|name, case| name == "slow" && case != "C=1 S=1");
    let ranking = ranking(&rows).expect("a ranking");
    assert_eq!(names(&ranking), ["third", "half", "base"]);
    assert_eq!(ranking.cases.len(), 4);
    assert_eq!(ranking.unranked[0].name, "slow");
    assert!(!ranking.unranked[0].is_joined);
}

/// Three that lack a quarter each have a quarter in common.
#[test]
fn enough_cases_are_left_however_many_lack_one() {
    let lacking = [("half", CASES[0]), ("third", CASES[1]), ("slow", CASES[2])];
    let ranking = ranking(&rows(|name, case| lacking.contains(&(name, case)))).expect("a ranking");
    assert_eq!(ranking.cases.len(), 3);
    assert_eq!(names(&ranking), ["base", "half"]);
    let unranked: Vec<_> = ranking.unranked.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(unranked, ["third", "slow"]);
}

/// A later run measured one subject anew, with the baseline for control.
#[test]
fn subjects_of_different_runs_are_not_ranked() {
    let mut rows = rows(|_, _| false);
    let mut later = rows.clone();
    later.retain(|row| ["base", "third"].contains(&row.cell.subject.as_str()));
    rows.retain(|row| row.cell.subject != "third");
    for row in &mut later {
        row.round += ROUNDS;
    }
    rows.extend(later);
    let ranking = ranking(&rows).expect("a ranking");
    assert_eq!(names(&ranking), ["half", "base", "slow"]);
    assert_eq!(ranking.unranked[0].name, "third");
    assert!(ranking.unranked[0].is_joined);
}

#[test]
fn without_a_round_of_the_baseline_there_is_no_ranking() {
    assert_eq!(ranking(&rows(|name, _| name == "base")), None);
    assert_eq!(ranking(&[]), None);
}
