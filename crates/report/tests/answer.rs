//! The answer in words.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::run::Report;
use bookend_results::measurement::{Outcome, Row};
use table_rows::{case, cell, row, rows, run};

#[test]
fn the_answer_says_who_needs_how_much_of_whose_cpu_time() {
    let (run, rows) = (run(), rows(&run().new.plan));
    let lines = Report::new(&run, &rows).answer();
    assert!((1..=5).contains(&lines.len()), "{lines:#?}");
    let cheapest = "times as many requests per CPU-second as rust-tonic, through bookend-load";
    assert!(lines[0].contains(cheapest), "{lines:#?}");
    assert!(lines[0].contains(" to ") && lines[0].contains("mean of 3 cases"), "{lines:#?}");
    let doubts = lines.last().expect("a line");
    assert!(doubts.contains("Doubt it for this: a quick run is a first look"), "{lines:#?}");
}

#[test]
fn three_rounds_are_too_few_to_tell_and_do_not_tell_two_alike() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    rows.retain(|row| row.round < 3);
    let report = Report::new(&run, &rows);
    let answer = report.answer().join("\n");
    assert!(!answer.contains("not told apart from it"), "{answer}");
    assert!(answer.contains(" times as many, in too few rounds"), "{answer}");
    assert!(answer.contains("in 3 rounds, too few to be sure of it"), "{answer}");
    let html = report.html();
    assert!(html.contains(">?6.2"), "no ratio has a colour");
    assert!(!html.contains(">~6.2"));
}

#[test]
fn what_failed_and_what_was_not_measured_is_said_with_its_reason() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    let missing = cell("rust-floor", "C=1 S=1");
    for one in &mut rows {
        match &mut one.outcome {
            Outcome::Measured(window) if one.cell.subject == "rust-bookend" => {
                window.counts.errors.insert("Unavailable".into(), window.counts.ok);
            }
            _ if one.cell == missing => {
                let reason = "install gcc".to_owned();
                *one = row(one.round, one.cell.clone(), Outcome::Missing { reason });
            }
            _ => {}
        }
    }
    let report = Report::new(&run, &rows);
    let answer = report.answer().join("\n");
    assert!(answer.contains("Calls failed: 50.0 % of rust-bookend at C=1 S=1"), "{answer}");
    assert!(answer.contains("Not measured: rust-floor (missing: install gcc)"), "{answer}");
    let brief = report.brief(100, &[]);
    assert!(brief.contains("  50.0 %  "), "failed calls have a column: {brief}");
}

/// The cheapest has no figure in a case that all others have.
#[test]
fn nobody_needs_the_least_for_having_skipped_a_case() {
    let run = run();
    let fails = |rows: &mut Vec<Row>, names: &[&str]| {
        let is_it = |row: &&mut Row| {
            names.contains(&row.cell.subject.as_str())
                && row.cell == cell(&row.cell.subject, "C=100 S=100")
        };
        rows.iter_mut().filter(is_it).for_each(|row| row.outcome = Outcome::failed("closed"));
    };
    let answer = |names: &[&str]| {
        // Cases enough that one may be missing.
        let mut run = run.clone();
        run.new.plan.cases.push(case(1, 10));
        let mut rows = rows(&run.new.plan);
        fails(&mut rows, names);
        Report::new(&run, &rows).answer().join("\n")
    };
    let all = answer(&[]);
    assert!(all.starts_with("rust-bookend needs the least CPU: "), "{all}");
    assert!(all.contains("in the mean of 4 cases"), "{all}");
    let skipped = answer(&["rust-bookend"]);
    let first = "rust-pajamax needs the least CPU of those with the most cases: ";
    assert!(skipped.starts_with(first), "{skipped}");
    assert!(skipped.contains("in the mean of 3 of 4 cases"), "{skipped}");
    assert!(skipped.contains("Next comes rust-bookend (without C=100 S=100), not"), "{skipped}");
    let both = answer(&["rust-bookend", "rust-pajamax"]);
    let first = "rust-bookend (without C=100 S=100) needs less CPU than rust-tonic: ";
    assert!(both.starts_with(first), "{both}");
    let baseline = answer(&["rust-tonic"]);
    assert!(baseline.starts_with("rust-bookend needs the least CPU: "), "{baseline}");
    let named = "per CPU-second as rust-tonic (without C=100 S=100), through";
    assert!(baseline.contains(named), "{baseline}");
}

#[test]
fn without_a_baseline_it_says_how_to_have_one() {
    let mut run = run();
    run.new.plan.subjects.iter_mut().for_each(|subject| subject.baseline = false);
    let all = rows(&run.new.plan);
    let answer = Report::new(&run, &all).answer();
    assert!(answer[0].contains("--baseline NAME"), "{answer:#?}");
    run.new.plan.compare_with("rust-bookend").expect("it is measured");
    let answer = Report::new(&run, &all).answer();
    assert!(answer[0].contains("CPU-second as rust-bookend"), "{answer:#?}");
    run.new
        .plan
        .compare_with("rust-floor")
        .expect_err("a calibration line is compared with nobody");
}

#[test]
fn subjects_that_answer_differently_are_doubted() {
    let mut run = run();
    let differ = "replies to the same call differ: 0 bytes by a; 9 bytes by b";
    run.notes.push(differ.into());
    let all = rows(&run.new.plan);
    let answer = Report::new(&run, &all).answer();
    assert!(answer.last().expect("a line").contains(differ), "{answer:#?}");
}

#[test]
fn nothing_measured_is_an_answer_too() {
    let run = run();
    let answer = Report::new(&run, &[]).answer();
    assert_eq!(answer[0], "Nothing was measured: no cell of this run has a figure.");
    assert!(answer[1].contains("rust-tonic (not reached: "), "{answer:#?}");
    assert!(answer.len() <= 5, "{answer:#?}");
}

#[test]
fn rates_that_are_lower_bounds_are_told() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    for one in rows.iter_mut().filter(|row| row.cell == cell("rust-bookend", "C=1 S=1")) {
        let window = one.outcome.window_mut().expect("measured");
        window.generator.busy_seconds = Some(window.window_seconds);
    }
    let answer = Report::new(&run, &rows).answer();
    let bound = "Rates with >= are lower bounds, because the other end was the limit: rust-bookend";
    assert!(answer.last().expect("a line").contains(bound), "{answer:#?}");
}

#[test]
fn the_answer_is_the_same_wherever_it_is_read() {
    let (run, rows) = (run(), rows(&run().new.plan));
    let report = Report::new(&run, &rows);
    let pages = [report.text(), report.markdown(), report.html()];
    for line in report.answer() {
        for page in &pages {
            // A page writes >= in its own way.
            let text = page.replace("&gt;", ">");
            assert!(text.contains(&line), "{line}: {text}");
        }
    }
}

#[test]
fn the_answer_stands_at_the_end_of_the_full_report() {
    let (run, rows) = (run(), rows(&run().new.plan));
    let report = Report::new(&run, &rows);
    let answer: String = report.answer().iter().map(|line| format!("{line}\n")).collect();
    assert!(report.text().ends_with(&answer));
}

/// What a server may say in its last line, and a library in its version.
const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m\r\n| ``` \u{0} <img src=x onerror=y>";

#[test]
fn hostile_words_stay_words_in_every_output() {
    let mut run = run();
    run.new.versions.insert("rust-tonic".into(), HOSTILE.into());
    run.notes.push(HOSTILE.into());
    let mut rows = rows(&run.new.plan);
    for one in rows.iter_mut().filter(|row| row.cell.subject == "rust-bookend") {
        *one = row(one.round, one.cell.clone(), Outcome::failed(HOSTILE));
    }
    let report = Report::new(&run, &rows);
    for text in [report.brief(100, &[]), report.text()] {
        let harmless = |letter: char| letter == '\n' || !letter.is_control();
        assert!(text.chars().all(harmless), "{text:?}");
    }
    let page = report.markdown();
    let outside = outside_of_code(&page);
    assert!(!outside.contains("<script") && !outside.contains("<img"), "{outside}");
    assert!(page.chars().all(|letter| letter == '\n' || !letter.is_control()), "{page:?}");
    assert!(serde_json::from_str::<serde_json::Value>(&report.json()).is_ok());
}

/// The lines of a page that a reader's program reads as more than letters.
fn outside_of_code(page: &str) -> String {
    let mut fence: Option<String> = None;
    let mut text = String::new();
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if ticks.len() >= open.len() && line == ticks => fence = None,
            None => text += &format!("{line}\n"),
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "a block is open at the end: {page}");
    text
}
