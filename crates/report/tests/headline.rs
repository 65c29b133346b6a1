//! The run in one sentence: what it says, and what it says where it cannot say that.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::run::Report;
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::store::Run;
use bookend_results::suite::TestedEnd;
use table_rows::{case, cell, rows, run};

/// A run of the first two subjects in those cases.
fn pair(cases: &[(u32, u32)]) -> Run {
    let mut run = run();
    run.new.plan.subjects.truncate(2);
    run.new.plan.cases =
        cases.iter().map(|(connections, streams)| case(*connections, *streams)).collect();
    run
}

/// Changes what was measured of a subject in a case, round by round.
fn change(rows: &mut [Row], at: (&str, &str), change: impl Fn(u32, &mut Measurement)) {
    let own = cell(at.0, at.1);
    for row in rows.iter_mut().filter(|row| row.cell == own) {
        let round = row.round;
        change(round, row.outcome.window_mut().expect("measured"));
    }
}

/// The headline of a pair, where a call costs pajamax these shares of what it costs tonic.
fn headline_of(shares: &[f64]) -> String {
    let cases = [(1, 1), (1, 100), (100, 100), (1, 1000)];
    let run = pair(&cases[..shares.len()]);
    let mut rows = rows(&run.new.plan);
    for (share, case) in shares.iter().zip(&run.new.plan.cases) {
        change(&mut rows, ("rust-tonic", &case.to_string()), |_, window| {
            window.ends.server.cpu_seconds = 0.5;
        });
        change(&mut rows, ("rust-pajamax", &case.to_string()), |round, window| {
            let noise = 1.0 + 0.01 * f64::from(round % 3);
            window.ends.server.cpu_seconds = 0.5 * 9.0 / 7.0 * share * noise;
        });
    }
    Report::new(&run, &rows).headline()
}

#[test]
fn one_case_has_one_clause() {
    let expected = "A call costs rust-pajamax 3.96 times less CPU than rust-tonic (3.92 to 4.00) \
                    with 1 call at a time on 1 connection.";
    assert_eq!(headline_of(&[0.25]), expected);
}

#[test]
fn of_two_cases_the_one_that_differs_more_comes_first() {
    let expected = "A call costs rust-pajamax 15.8 times less CPU than rust-tonic (15.7 to 16.0) \
                    with 100 calls in flight on 1 connection, and 29 % less (29 to 30 %) with \
                    1 call at a time on 1 connection.";
    assert_eq!(headline_of(&[0.7, 0.0625]), expected);
}

#[test]
fn a_subject_that_costs_more_says_so() {
    let expected = "A call costs rust-pajamax 3.03 times as much CPU as rust-tonic (3.00 to 3.06) \
                    with 100 calls in flight on 1 connection, and 31 % more (30 to 33 %) with \
                    1 call at a time on 1 connection.";
    assert_eq!(headline_of(&[1.3, 3.0]), expected);
}

#[test]
fn of_many_cases_both_ends_are_said() {
    let headline = headline_of(&[0.7, 0.0625, 0.5, 0.1]);
    assert!(headline.contains("15.8 times less CPU than rust-tonic"), "{headline}");
    let end = ", and 29 % less (29 to 30 %) with 1 call at a time on 1 connection; 2 more cases \
               lie between.";
    assert!(headline.ends_with(end), "{headline}");
}

#[test]
fn what_is_not_told_apart_costs_as_much_as_far_as_the_rounds_tell() {
    let expected = "A call costs rust-pajamax as much CPU as rust-tonic, as far as 7 rounds tell \
                    (0.50 % less to 1.5 % more) with 1 call at a time on 1 connection.";
    assert_eq!(headline_of(&[0.995]), expected);
}

#[test]
fn too_few_rounds_are_said_with_the_figure() {
    let run = pair(&[(1, 1)]);
    let mut rows = rows(&run.new.plan);
    rows.retain(|row| row.round < 3);
    let headline = Report::new(&run, &rows).headline();
    assert!(headline.contains(" times less CPU than rust-tonic (in 3 rounds, too few to be sure)"));
    rows.retain(|row| row.round < 1);
    let headline = Report::new(&run, &rows).headline();
    assert!(headline.contains(" (in 1 round, too few to be sure) with 1 call"), "{headline}");
}

#[test]
fn of_several_the_cheapest_is_named_and_who_is_not_told_apart_from_it() {
    let run = run();
    let headline = Report::new(&run, &rows(&run.new.plan)).headline();
    let begin = "rust-bookend needs the least CPU of 3, not told apart from rust-pajamax: a call \
                 costs it 6.2";
    assert!(headline.starts_with(begin), "{headline}");
    assert!(headline.ends_with("; 1 more case lies between."), "{headline}");
    // The baseline is the cheapest.
    let mut cheap = run.clone();
    cheap.new.plan.compare_with("rust-bookend").expect("it is measured");
    let mut rows = rows(&run.new.plan);
    for case in &run.new.plan.cases {
        change(&mut rows, ("rust-bookend", &case.to_string()), |_, window| {
            window.ends.server.cpu_seconds = 0.05;
        });
    }
    let headline = Report::new(&cheap, &rows).headline();
    let begin = "rust-bookend needs the least CPU of 3: a call costs the next, rust-pajamax, 4.";
    assert!(headline.starts_with(begin), "{headline}");
}

#[test]
fn who_lacks_a_case_is_not_called_the_cheapest() {
    let mut run = run();
    run.new.plan.cases.push(case(1, 10));
    let mut rows = rows(&run.new.plan);
    let own = cell("rust-bookend", "C=100 S=100");
    rows.iter_mut()
        .filter(|row| row.cell == own)
        .for_each(|row| row.outcome = Outcome::failed("closed"));
    let headline = Report::new(&run, &rows).headline();
    assert!(headline.starts_with("A call costs rust-pajamax 6.2"), "{headline}");
}

#[test]
fn calls_that_failed_come_before_any_speed() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    let fail = |share: f64| {
        move |_, window: &mut Measurement| {
            let failed = (window.counts.ok as f64 * share / (1.0 - share)).round() as u64;
            window.counts.errors.insert("UNAVAILABLE".into(), failed);
        }
    };
    change(&mut rows, ("rust-tonic", "C=1 S=1"), fail(0.009));
    let headline = Report::new(&run, &rows).headline();
    assert!(headline.starts_with("rust-bookend needs"), "less than is said: {headline}");
    change(&mut rows, ("rust-pajamax", "C=1 S=100"), fail(0.264));
    let headline = Report::new(&run, &rows).headline();
    let begin = "26.4 % of the calls of rust-pajamax failed with 100 calls in flight on \
                 1 connection. A call that was answered costs rust-bookend 6.";
    assert!(headline.starts_with(begin), "{headline}");
    change(&mut rows, ("rust-tonic", "C=1 S=1"), fail(0.5));
    let headline = Report::new(&run, &rows).headline();
    let begin = "50.0 % of the calls of rust-tonic failed with 1 call at a time on 1 connection, \
                 and calls of 1 more row. A call that was answered costs ";
    assert!(headline.starts_with(begin), "{headline}");
}

#[test]
fn the_instrument_is_said_where_there_are_several() {
    let mut run = run();
    run.new.plan.subjects.iter_mut().for_each(|one| one.instruments.push("ghz".into()));
    let rows = rows(&run.new.plan);
    let headline = Report::new(&run, &rows).headline();
    assert!(headline.ends_with(" case lies between, through bookend-load."), "{headline}");
}

#[test]
fn clients_are_compared_by_what_a_call_costs_them() {
    let run = pair(&[(1, 1)]);
    let mut rows = rows(&run.new.plan);
    for row in &mut rows {
        let is_tonic = row.cell.subject == "rust-tonic";
        let window = row.outcome.window_mut().expect("measured");
        window.ends.side = TestedEnd::Client;
        window.ends.caller.cpu_seconds = if is_tonic { 0.8 } else { 0.2 };
    }
    let headline = Report::new(&run, &rows).headline();
    let begin = "A call costs rust-pajamax 5.14 times less CPU than rust-tonic (5.14 to 5.14)";
    assert!(headline.starts_with(begin), "{headline}");
}

#[test]
fn where_nothing_is_compared_the_first_line_of_the_answer_stands() {
    let mut run = run();
    let report = Report::new(&run, &[]);
    assert_eq!(report.headline(), "Nothing was measured: no cell of this run has a figure.");
    let mut rows = rows(&run.new.plan);
    run.new.plan.subjects.iter_mut().for_each(|subject| subject.baseline = false);
    let report = Report::new(&run, &rows);
    assert_eq!(report.headline(), report.answer()[0]);
    assert!(report.headline().contains("--baseline NAME"), "{}", report.headline());
    // What failed comes first there too.
    change(&mut rows, ("rust-tonic", "C=1 S=1"), |_, window| {
        window.counts.errors.insert("UNAVAILABLE".into(), window.counts.ok);
    });
    let headline = Report::new(&run, &rows).headline();
    let begin = "50.0 % of the calls of rust-tonic failed with 1 call at a time on 1 connection. \
                 Nothing is compared: ";
    assert!(headline.starts_with(begin), "{headline}");
}
