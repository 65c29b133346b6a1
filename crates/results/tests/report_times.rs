//! What a run knows of the time of its windows: the trace, and the rate over a round.

mod table_rows;

use bookend_contract::report::Intervals;
use bookend_contract::timestamp::Timestamp;
use bookend_results::chart::Theme;
use bookend_results::export::Report;
use bookend_results::measurement::Row;
use bookend_results::record::Record;
use bookend_results::store::Run;
use serde_json::Value;
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

fn events(run: &Run, rows: &[Row]) -> Vec<Value> {
    let trace = Report::new(run, rows).trace().expect("its windows have times");
    let document: Value = serde_json::from_str(&trace).expect("JSON");
    document["traceEvents"].as_array().expect("a list").clone()
}

#[test]
fn a_trace_has_every_round_cell_warm_up_and_window() {
    let (run, rows) = timed();
    let events = events(&run, &rows);
    let count = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!((count("window"), count("warm-up")), (rows.len(), rows.len()));
    assert_eq!(count("round 1"), 1);
    assert_eq!(count("rust-tonic C=1 S=1 (bookend-load)"), run.new.plan.rounds as usize);
    let first = events.iter().find(|event| event["name"] == "window").expect("a window");
    assert_eq!((&first["ts"], &first["dur"]), (&Value::from(200_000), &Value::from(1_000_000)));
    for event in &events {
        assert!(event["ts"].as_i64().unwrap_or(0) >= 0, "{event}");
    }
}

#[test]
fn cpu_steal_and_rate_are_counters_that_end_with_their_window() {
    let (run, rows) = timed();
    let events = events(&run, &rows);
    let values = |name: &str| {
        events
            .iter()
            .filter(|event| event["ph"] == "C" && event["name"] == name)
            .filter_map(|event| event["args"]["value"].as_f64())
            .collect::<Vec<_>>()
    };
    for name in ["server CPU", "generator CPU", "steal"] {
        let values = values(name);
        assert_eq!(values.len(), 2 * rows.len(), "{name}");
        assert!(values[0] > 0.0 && values[1] == 0.0, "{name}");
    }
    assert_eq!(values("requests per second")[..2], [1000.0, 1010.0]);
}

#[test]
fn without_times_there_is_no_trace() {
    let run = run();
    assert_eq!(Report::new(&run, &rows(&run.new.plan)).trace(), None);
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
