//! What a run knows of the time of its windows: the rate over a round.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::report::Intervals;
use bookend_contract::timestamp::Timestamp;
use bookend_report::chart::Theme;
use bookend_report::run::Report;
use bookend_results::measurement::Row;
use bookend_results::record::Record;
use bookend_results::store::Run;
use std::collections::BTreeMap;
use table_rows::{rows, run};

/// Windows of a second, one after another, each after two tenths of warm-up.
fn timed() -> (Run, Vec<Row>) {
    let run = run();
    let mut rows = rows(&run.new.plan);
    for (number, row) in rows.iter_mut().enumerate() {
        let window = row.outcome.window_mut().expect("measured");
        window.started = Some(Timestamp::from_unix_ms(1_000_000 + 1500 * number as i64));
        let counts = (0..12).map(|index| 100 + index).collect();
        window.intervals = Some(Intervals { interval_ms: 100, window_start: 2, counts });
    }
    (run, rows)
}

#[test]
fn the_rate_over_a_round_is_drawn_with_its_warm_up_shaded() {
    let (run, rows) = timed();
    let pictures = Report::new(&run, &rows).pictures();
    let is_it = |title: &str| title == "Rate over the time of a round";
    let picture = pictures.iter().find(|picture| is_it(&picture.title)).expect("counted");
    assert_eq!(picture.rows.len(), 9, "three subjects in three cases");
    let svg = picture.svg(Theme::Light);
    assert_eq!(svg.matches("fill-opacity=\".12\"").count(), 3, "a panel for each case: {svg}");
    let without = Report::new(&run, &[]).pictures();
    assert!(!without.iter().any(|picture| is_it(&picture.title)));
}

#[test]
fn a_record_leaves_out_what_is_large_and_in_no_table() {
    let (run, rows) = timed();
    let record = Record::of_run(&run, &rows, BTreeMap::new());
    let mut kept = record
        .rows
        .iter()
        .filter_map(|row| row.outcome.window())
        .map(|window| (window.started, window.intervals.clone()));
    assert!(kept.all(|kept| kept == (None, None)));
}
