//! What the windows of a run could not hold, and what is said of it.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::in_flight::InFlightAtEnd;
use bookend_report::run::Report;
use bookend_report::tables::{marks, resource_table, window_lines};
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::metric::{LATENCY_P90, LATENCY_P99};
use bookend_results::statistics::NoRatio;
use bookend_results::store::{Run, RunId};
use bookend_results::suite::Plan;
use bookend_results::table::{Table, rules_of};
use bookend_results::window::AskedTimes;
use table_rows::{cell, plan, rows, run};

/// The rows of a run in which `change` happened to one cell.
fn changed(subject: &str, case: &str, change: impl Fn(&mut Row)) -> Vec<Row> {
    let mut rows = rows(&plan());
    let id = cell(subject, case);
    rows.iter_mut().filter(|row| row.cell == id).for_each(change);
    rows
}

fn window(row: &mut Row) -> &mut Measurement {
    row.outcome.window_mut().expect("measured")
}

/// One call in flight at the end for twenty that were counted: more than lie beyond p99.
fn cut_off(row: &mut Row) {
    let window = window(row);
    let calls = window.counts.ok / 20;
    let in_flight = InFlightAtEnd { calls, age_mean_ns: 1000, age_max_ns: 300_000_000 };
    window.counts.in_flight_at_end = Some(in_flight);
}

fn line<'a>(text: &'a str, case: &str, name: &str) -> &'a str {
    text.lines()
        .skip_while(|line| !line.contains(case))
        .find(|line| line.contains(name))
        .expect("a row")
}

#[test]
fn a_latency_that_the_window_cut_off_is_a_lower_bound_everywhere() {
    let rows = changed("rust-pajamax", "C=1 S=100", cut_off);
    let table = Table::new(&plan(), &rows);
    let text = resource_table(&table);
    let own = line(&text, "----S=100", "rust-pajamax");
    assert_eq!(own.matches(">= ").count(), 2, "p99 and p99.9: {own}");
    assert!(!line(&text, "----S=100", "rust-tonic").contains(">="), "{text}");
    let mark = marks(&table).into_iter().find(|mark| mark.contains("cut off: ")).expect("a mark");
    assert!(mark.starts_with("C=1 S=100 rust-pajamax: cut off: "), "{mark}");
    assert!(mark.contains(" old on average, 300"), "{mark}");
    assert!(mark.contains(" at most: p99, p99_9, max are at least what is printed"), "{mark}");
    let run = run();
    let report = Report::new(&run, &rows);
    let csv = report.csv();
    let bounds =
        csv.lines().filter(|line| line.contains(",latency_max latency_p99 latency_p99_9,")).count();
    assert_eq!(bounds, 1, "{csv}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    let bounds = json["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter(|cell| cell["result"]["measured"]["figures"]["latency_p99"]["cut_off"] == true)
        .count();
    assert_eq!(bounds, 1);
}

#[test]
fn a_latency_that_was_cut_off_is_compared_with_none() {
    let rows = changed("rust-pajamax", "C=1 S=100", cut_off);
    let side = |subject| ComparedSide { run: RunId(3), rows: &rows, subject: Some(subject) };
    let ratio = |metric| {
        let sides = [side("rust-pajamax"), side("rust-tonic")];
        let all = compare(&sides[0], &sides[1], metric).expect("a comparison");
        let case = plan().cases[1];
        all.cells.into_iter().find(|cell| cell.case == case).expect("the case").ratio
    };
    assert_eq!(ratio(&LATENCY_P99), Err(NoRatio::CutOff));
    assert!(ratio(&LATENCY_P90).is_ok());
}

#[test]
fn a_window_that_is_too_short_is_a_rule_and_a_warm_up_that_nobody_judged_is_none() {
    let short = changed("rust-tonic", "C=100 S=100", |row| {
        let window = window(row);
        window.window_seconds /= 1000.0;
        window.steady = None;
    });
    let id = cell("rust-tonic", "C=100 S=100");
    let row = short.iter().find(|row| row.cell == id).expect("a row");
    let rules = rules_of(&plan(), row);
    assert!(rules.contains("window-too-short"), "{rules:?}");
    let judged = changed("rust-tonic", "C=100 S=100", |row| window(row).window_seconds /= 1000.0);
    let row = judged.iter().find(|row| row.cell == id).expect("a row");
    assert_eq!(rules, rules_of(&plan(), row));
    let sound = rows(&plan());
    assert!(rules_of(&plan(), &sound[0]).is_empty());
}

#[test]
fn longer_windows_are_said_and_usual_ones_are_not() {
    let plan = Plan { window_max_ms: Some(60_000), ..plan() };
    let usual = AskedTimes { window_ms: 1000, warmup_ms: 200 };
    let mut rows = rows(&table_rows::plan());
    rows.iter_mut().for_each(|row| window(row).asked = Some(usual));
    assert_eq!(window_lines(&plan, &Table::new(&plan, &rows)), [""; 0]);
    let id = cell("rust-tonic", "C=1 S=100");
    for row in rows.iter_mut().filter(|row| row.cell == id) {
        window(row).asked = Some(AskedTimes { window_ms: 12_300, warmup_ms: 2000 });
    }
    let table = Table::new(&plan, &rows);
    let line = "C=1 S=100: longer windows and warm-ups for longer calls: 12.3 s after 2 s \
                (rust-tonic)";
    assert_eq!(window_lines(&plan, &table), [line]);
    let new = table_rows::new_run();
    let run = Run { new: bookend_results::store::NewRun { plan, ..new }, ..run() };
    let report = Report::new(&run, &rows);
    assert!(report.remarks().contains(&line.to_owned()));
    assert!(report.parameters().contains(&"window: 1000 ms, at most 60000 ms".to_owned()));
}

#[test]
fn that_cells_were_measured_by_turns_is_said_once() {
    let mut rows = rows(&plan());
    let of = |rows: &[Row]| Report::new(&run(), rows).by_turns();
    assert_eq!(of(&rows), None);
    rows.iter_mut().for_each(|row| window(row).laps = Some(10));
    let said = "by turns: cells with the same case and instrument in laps of 100 ms";
    assert_eq!(of(&rows).as_deref(), Some(said));
    let run = run();
    assert!(Report::new(&run, &rows).parameters().contains(&said.to_owned()));
    assert_eq!(Report::new(&run, &rows).text().matches(said).count(), 1);
    window(&mut rows[0]).laps = Some(2);
    window(&mut rows[1]).laps = None;
    let all = rows.len();
    let said = format!("in laps of 100 to 500 ms; 1 of {all} rows in one window");
    assert!(of(&rows).is_some_and(|line| line.ends_with(&said)), "{:?}", of(&rows));
    let text = serde_json::to_string(&rows[2]).expect("JSON");
    let read: Row = serde_json::from_str(&text).expect("readable");
    assert_eq!(read.outcome.window().and_then(|window| window.laps), Some(10));
    let whole = serde_json::to_string(&rows[1]).expect("JSON");
    assert!(!whole.contains("laps"), "rows of old read as they were: {whole}");
}

#[test]
fn a_refused_cell_says_why_and_has_no_figures() {
    let rows = changed("rust-tonic", "C=1 S=100", |row| {
        let reason = "a call takes 7 s".to_owned();
        row.outcome = Outcome::Refused { reason, window: None };
    });
    let table = Table::new(&plan(), &rows);
    let text = resource_table(&table);
    assert!(line(&text, "----S=100", "rust-tonic").contains("refused: a call takes 7 s"), "{text}");
    assert!(marks(&table).contains(&"C=1 S=100 rust-tonic: refused: a call takes 7 s".to_owned()));
    let outcome = &rows
        .iter()
        .find(|row| matches!(row.outcome, Outcome::Refused { .. }))
        .expect("a row")
        .outcome;
    let kept = serde_json::to_string(outcome).expect("JSON");
    assert_eq!(serde_json::from_str::<Outcome>(&kept).expect("readable"), *outcome);
}
