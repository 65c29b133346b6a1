//! Comparisons between subjects of a run and between runs, and what makes a build fail.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::gate::{Gate, GateKind, GateOutcome};
use bookend_report::comparison::comparison_text;
use bookend_results::compare::{CompareError, ComparedSide, Comparison, SideName, compare};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::metric::{REQUESTS_PER_CPU_SECOND, REQUESTS_PER_SECOND};
use bookend_results::statistics::NoRatio;
use bookend_results::store::RunId;
use expect_test::expect_file;
use table_rows::{cell, measured, measurement, plan, row, rows};

fn side<'a>(run: i64, rows: &'a [Row], subject: Option<&'a str>) -> ComparedSide<'a> {
    ComparedSide { run: RunId(run), rows, subject }
}

fn subjects(a: &str, b: &str) -> Comparison {
    let rows = rows(&plan());
    let metric = &REQUESTS_PER_CPU_SECOND;
    compare(&side(1, &rows, Some(a)), &side(1, &rows, Some(b)), metric).expect("comparable")
}

/// Cells in which a gate is met, is missed and is not decided.
fn judged(comparison: &Comparison, condition: &str) -> [usize; 3] {
    let condition = condition.parse().expect("a condition");
    let judged = comparison.judge(&Gate { kind: GateKind::FailIf, condition });
    let of = |outcome| judged.iter().filter(|gate| gate.outcome == outcome).count();
    [GateOutcome::Met, GateOutcome::Missed, GateOutcome::NotDecided].map(of)
}

#[test]
fn two_subjects_of_a_run_are_paired_by_round_and_case() {
    let comparison = subjects("rust-pajamax", "rust-tonic");
    let cases: Vec<String> = comparison.cells.iter().map(|cell| cell.case.to_string()).collect();
    assert_eq!(cases, ["C=1 S=1", "C=1 S=100", "C=100 S=100"]);
    for cell in &comparison.cells {
        let ratio = cell.ratio.expect("both were measured");
        // Both share the round's drift; what is left is (9 / 0.20) / (7 / 0.97) and the wobble.
        assert!((ratio.median / 6.2357 - 1.0).abs() < 0.02, "{ratio:?}");
        assert_eq!(ratio.pairs, 7);
    }
    assert!(comparison.interleaved);
}

#[test]
fn requests_per_second_can_be_compared_instead() {
    let rows = rows(&plan());
    let a = side(1, &rows, Some("rust-pajamax"));
    let b = side(1, &rows, Some("rust-tonic"));
    let comparison = compare(&a, &b, &REQUESTS_PER_SECOND).expect("comparable");
    let ratio = comparison.cells[0].ratio.expect("both were measured");
    assert!((ratio.median - 9.0 / 7.0).abs() < 0.001, "{ratio:?}");
}

#[test]
fn two_runs_are_compared_subject_by_subject() {
    let old = rows(&plan());
    let metric = &REQUESTS_PER_CPU_SECOND;
    let comparison =
        compare(&side(2, &old, None), &side(1, &old, None), metric).expect("comparable");
    assert_eq!(comparison.cells.len(), 12);
    assert!(comparison.cells.iter().all(|cell| cell.a == cell.b));
    assert!(comparison.cells.iter().all(|cell| cell.ratio.expect("both").is_indistinct()));
    assert!(!comparison.interleaved);
    assert!(comparison_text(&comparison).contains("different runs"), "{comparison:?}");
}

#[test]
fn a_gate_is_judged_by_the_whole_interval_of_each_cell() {
    let comparison = subjects("rust-tonic", "rust-pajamax");
    assert_eq!(judged(&comparison, "ratio<0.95"), [0, 3, 0]);
    assert_eq!(judged(&comparison, "rust-tonic<0.1"), [3, 0, 0]);
    assert_eq!(judged(&comparison, "rust-pajamax>2"), [0, 3, 0]);
    let ratio = comparison.cells[0].ratio.expect("both were measured").median;
    assert_eq!(judged(&comparison, &format!("ratio<{ratio}")), [0, 0, 3], "within the intervals");
}

#[test]
fn a_cell_without_a_ratio_or_an_interval_decides_nothing() {
    let error = "connection refused".to_owned();
    let rows = [
        measured(0, cell("a", "C=1 S=1"), measurement(1, 100, 0.5)),
        row(0, cell("b", "C=1 S=1"), Outcome::failed(error)),
        measured(0, cell("a", "C=1 S=2"), measurement(1, 100, 0.5)),
        measured(0, cell("b", "C=1 S=2"), measurement(1, 100, 0.5)),
        measured(0, cell("b", "C=1 S=3"), measurement(1, 100, 0.5)),
    ];
    let (a, b) = (side(1, &rows, Some("a")), side(1, &rows, Some("b")));
    let comparison = compare(&a, &b, &REQUESTS_PER_CPU_SECOND).expect("comparable");
    let ratios: Vec<_> = comparison.cells.iter().map(|cell| cell.ratio.is_ok()).collect();
    assert_eq!(ratios, [false, true, false]);
    assert_eq!(comparison.cells[0].ratio, Err(NoRatio::NoPairs));
    assert_eq!(judged(&comparison, "ratio<0.5"), [0, 0, 3]);
    assert!(comparison_text(&comparison).contains("no ratio: no round has both"), "{comparison:?}");
}

#[test]
fn a_build_that_fails_in_some_rounds_does_not_pass_by_the_others() {
    let mut rows = Vec::new();
    for round in 0..10 {
        rows.push(measured(round, cell("a", "C=1 S=1"), measurement(1, 100, 0.5)));
        rows.push(measured(round, cell("b", "C=1 S=1"), measurement(1, 100, 0.5)));
    }
    let judged = |rows: &[Row]| {
        let (a, b) = (side(1, rows, Some("a")), side(1, rows, Some("b")));
        let comparison = compare(&a, &b, &REQUESTS_PER_CPU_SECOND).expect("comparable");
        judged(&comparison, "ratio<0.95")
    };
    assert_eq!(judged(&rows), [1, 0, 0]);
    for at in [2, 5] {
        let mut rows = rows.clone();
        rows[at].outcome.fail("the server died");
        assert_eq!(judged(&rows), [0, 0, 1], "row {at}");
    }
}

#[test]
fn sides_that_cannot_be_compared_are_refused() {
    let rows = rows(&plan());
    let refused = |a: ComparedSide<'_>, b: ComparedSide<'_>| {
        compare(&a, &b, &REQUESTS_PER_CPU_SECOND).expect_err("refused")
    };
    let tonic = side(1, &rows, Some("rust-tonic"));
    assert_eq!(refused(tonic, tonic), CompareError::SameSide);
    assert_eq!(refused(tonic, side(2, &rows, None)), CompareError::SubjectAgainstRun);
    let stranger = side(1, &rows, Some("go-grpc"));
    assert_eq!(refused(tonic, stranger), CompareError::NothingInCommon);
}

#[test]
fn sides_are_named_by_run_subject_or_both() {
    let read = |text: &str| text.parse::<SideName>().map(|side| (side.run, side.subject));
    assert_eq!(read("12"), Ok((Some(RunId(12)), None)));
    assert_eq!(read("rust-tonic"), Ok((None, Some("rust-tonic".into()))));
    let variant = Some("rust-bookend/epoll".into());
    assert_eq!(read("12:rust-bookend/epoll"), Ok((Some(RunId(12)), variant)));
    for text in ["", ":", "12:", "x:rust-tonic", "99999999999999999999"] {
        let error = read(text).expect_err("no side").to_string();
        assert!(error.contains("12:rust-tonic"), "{error}");
    }
}

#[test]
fn a_comparison_is_printed_with_its_intervals() {
    let printed = comparison_text(&subjects("rust-bookend", "rust-pajamax"));
    expect_file!["table_snapshots/comparison.txt"].assert_eq(&printed);
}
