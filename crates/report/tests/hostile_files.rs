//! Results that somebody else wrote, with a value in each place that nobody would write: they are
//! refused in a line, or reported in every form.

use bookend_contract::gate::{Gate, GateKind};
use bookend_report::chart::Theme;
use bookend_report::load_tests;
use bookend_report::race::RaceAnswer;
use bookend_report::run::Report;
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::race::{EarlierRace, Race};
use bookend_results::record::Record;
use bookend_results::store::{RunId, Store};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fmt::Display;
use std::path::{Path, PathBuf};

const LOAD_REPORTS: [&str; 4] = [
    include_str!("../../../fuzz/seeds/load_report/open"),
    include_str!("../../../fuzz/seeds/load_report/closed"),
    include_str!("../../../fuzz/seeds/load_report/bare"),
    include_str!("../../../fuzz/seeds/load_report/capacity"),
];

/// A latency histogram that claims to have this size.
const FOUR_GIB: &str = "HISTE/////8AAAAAAAAAAwAAAAAAAAABf/////////8/8AAAAAAAAAI=";

const RECORDS: [&str; 2] = [
    include_str!("../../../fuzz/seeds/record/measured"),
    include_str!("../../../fuzz/seeds/record/not_measured"),
];

/// What a value may be instead: of its own kind and of others.
fn instead_of(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => vec![
            json!(0),
            json!(-1),
            json!(u64::MAX),
            json!(i64::MAX),
            json!(i64::MIN),
            json!(u32::MAX),
            json!(1u64 << 53),
            json!(f64::MAX),
            json!(f64::MIN_POSITIVE),
            Value::Null,
        ],
        Value::String(_) => vec![
            json!(""),
            json!("<script>\u{202e}\0\u{1b}[31m"),
            json!("x ".repeat(50_000)),
            json!("C=1 S=1000000 calls=1000000000"),
            json!(7),
        ],
        Value::Array(values) => {
            let thrice = [&values[..], values, values].concat();
            vec![json!([]), Value::Array(thrice), Value::Null]
        }
        Value::Object(_) => vec![json!({}), Value::Null, json!([])],
        Value::Bool(is) => vec![json!(!is), Value::Null],
        Value::Null => vec![json!(1), json!(u64::MAX), json!(f64::MAX), json!("x")],
    }
}

/// The pointers of all values within one.
fn places(value: &Value) -> Vec<String> {
    let below = |name: &str, value: &Value| {
        let own = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        places(value).into_iter().map(|rest| format!("{own}{rest}")).collect::<Vec<_>>()
    };
    let inner: Vec<String> = match value {
        Value::Object(fields) => fields.iter().flat_map(|(name, one)| below(name, one)).collect(),
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.flat_map(|(number, one)| below(&number.to_string(), one)).collect()
        }
        _ => Vec::new(),
    };
    inner.into_iter().chain([String::new()]).collect()
}

/// The same with another value in each place, one after the other, and without each field.
fn each_changed(value: &Value, mut check: impl FnMut(&str, &Value)) {
    for place in places(value) {
        let own = value.pointer(&place).expect("a place of it");
        for other in instead_of(own) {
            let mut changed = value.clone();
            *changed.pointer_mut(&place).expect("a place of it") = other;
            check(&place, &changed);
        }
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        let mut without = value.clone();
        if let Some(Value::Object(fields)) = without.pointer_mut(parent) {
            fields.remove(name);
            check(&place, &without);
        }
    }
}

fn check_error(place: &str, error: &impl Display) {
    let text = error.to_string();
    assert!(text.len() < 1_000 && text.lines().count() == 1, "{place}: {text}");
}

#[test]
fn a_load_report_with_any_value_changed_is_refused_or_reported() {
    for text in LOAD_REPORTS {
        let report: Value = serde_json::from_str(text).expect("JSON");
        let mut reported = 0;
        each_changed(&report, |place, changed| {
            let content = changed.to_string();
            let page = match load_tests::read(&[(Path::new("a.json"), content.as_bytes())]) {
                Ok(page) => page,
                Err(error) => return check_error(place, &error),
            };
            assert!(page.html().len() + page.markdown_with(None).len() < 2_000_000, "{place}");
            let answer = page.answer.join(" ");
            let mut words = answer.split(|letter: char| !letter.is_alphanumeric());
            assert!(words.all(|word| word != "inf" && word != "NaN"), "{place}: {answer}");
            for (name, picture) in &page.pictures {
                let svg = picture.svg(Theme::Both);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{place}: {name}: {svg}");
            }
            reported += 1;
        });
        assert!(reported > 100, "{reported}");
    }
}

/// A race of `servers` servers, in two starts of a round and with a dropped one.
fn kept_race(servers: usize) -> Value {
    let rated = json!({
        "due": 10_000, "held_back": 1, "lag_ns": 9_000, "p50_ns": 100_000, "p99_ns": 400_000,
    });
    let lap = |server: usize| {
        let cpu_ns = 50_000_000 + server * 1_500_000;
        json!({
            "server": server, "ok": 10_000, "failed": 1, "length_ns": 100_000_000,
            "cpu_ns": cpu_ns, "rated": rated,
        })
    };
    let block: Vec<Value> = [0, 1, 1, 0].map(|server: usize| lap(server.min(servers - 1))).into();
    let name = |server: usize| json!({"name": server.to_string(), "command": "serve"});
    let functions = json!([{
        "name": "read", "cpu_ns_per_call": [1.0, 2.0], "difference_ns": {"low": 0.5, "high": 1.5},
    }]);
    json!({
        "tested": "server", "servers": (0..servers).map(name).collect::<Vec<_>>(),
        "cells": [{"connections": 1, "concurrency": 100}], "rps": 100_000.0, "lap_ms": 100,
        "margin": 0.01, "seed": 1, "doubts": ["it rained"], "functions": functions,
        "starts": [[[block]], [[block]]], "dropped": [[block]],
    })
}

/// In every use there is of a race. Whether it was refused.
fn check_race(place: &str, text: &str, now: &Race) -> bool {
    let race = match Race::parse(text) {
        Ok(race) => race,
        Err(error) => {
            check_error(place, &error);
            return false;
        }
    };
    let condition = "1>0.5".parse().expect("a condition");
    let gate = Gate { kind: GateKind::FailIf, condition };
    race.judge(&gate).expect(place);
    let own = [
        RaceAnswer::new(&race, None).text().expect(place),
        RaceAnswer::new(&race, None).json().expect(place).to_string(),
    ];
    let page = RaceAnswer::new(&race, None).page("a").expect(place);
    assert!(page.html().len() + page.markdown_with(None).len() < 2_000_000, "{place}");
    for (name, picture) in &page.pictures {
        let svg = picture.svg(Theme::Both);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{place}: {name}: {svg}");
    }
    let earlier = EarlierRace::of(race, now);
    let answer = RaceAnswer::new(now, earlier.as_ref()).text().expect(place);
    RaceAnswer::new(now, earlier.as_ref()).json().expect(place);
    for text in own.iter().chain([&answer]) {
        assert!(!text.contains("NaN") && !text.contains("inf "), "{place}: {text}");
    }
    true
}

#[test]
fn a_race_with_any_value_changed_is_refused_or_compared() {
    let now = Race::parse(&kept_race(1).to_string()).expect("a race");
    for servers in [1, 2] {
        let mut compared = 0;
        each_changed(&kept_race(servers), |place, changed| {
            compared += usize::from(check_race(place, &changed.to_string(), &now));
        });
        assert!(compared > 50, "{compared}");
    }
}

/// In all forms but the page, whose pictures take long.
fn check_record(place: &str, text: &str) -> bool {
    let record = match Record::parse(text) {
        Ok(record) => record,
        Err(error) => {
            check_error(place, &error);
            return false;
        }
    };
    let run = record.run();
    let report = Report::new(&run, &record.rows);
    let forms = [report.text(), report.markdown_with(None), report.csv(), report.json()];
    assert!(forms.iter().all(|form| form.len() < 2_000_000), "{place}");
    for (_, picture) in report.named_pictures() {
        assert!(!picture.svg(Theme::Light).contains("NaN"), "{place}");
    }
    let side = ComparedSide { run: RunId(1), rows: &record.rows, subject: None };
    if let Err(error) = compare(&side, &side, &REQUESTS_PER_CPU_SECOND) {
        check_error(place, &error);
    }
    assert!(Record::parse(&record.text()).is_ok(), "{place}");
    true
}

#[test]
fn a_record_with_any_value_changed_is_refused_or_reported() {
    for text in RECORDS {
        let lines: Vec<&str> = text.lines().collect();
        let mut reported = 0;
        for (number, line) in lines.iter().enumerate() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            each_changed(&value, |place, changed| {
                let mut lines = lines.clone();
                let changed = changed.to_string();
                lines[number] = &changed;
                reported += usize::from(check_record(place, &lines.join("\n")));
            });
        }
        assert!(reported > 100, "{reported}");
    }
}

#[test]
fn lines_in_another_order_twice_or_cut_are_refused_or_reported() {
    let lines: Vec<&str> = RECORDS[0].lines().collect();
    let twice = [&lines[..], &lines[1..], &lines[1..]].concat();
    assert!(check_record("twice", &twice.join("\n")));
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    assert!(!check_record("reversed", &reversed.join("\n")));
    for end in (0..RECORDS[0].len()).step_by(7) {
        check_record("cut", &RECORDS[0][..end]);
    }
    let doubled = RECORDS[0].replacen("\"seed\":", "\"seed\":1,\"seed\":", 1);
    assert!(!check_record("doubled", &doubled));
}

#[test]
fn a_store_with_any_column_changed_is_refused_or_read() {
    let record = Record::parse(RECORDS[0]).expect("a record");
    let folder = tempfile::tempdir().expect("a folder");
    let [sound, file] = ["sound.db", "store.db"].map(|name| folder.path().join(name));
    let run = {
        let mut store = Store::open(&sound).expect("a store");
        let run = store.begin_run(&record.run().new).expect("begun");
        store.write_round(run, 0, &record.rows).expect("written");
        run
    };
    let set =
        |column, place, value: &str| format!("{column} = json_set({column}, '{place}', {value})");
    for (table, change) in [
        ("runs", "started_ms = -9223372036854775808, finished_ms = 9223372036854775807".to_owned()),
        ("runs", "seed = -1, suite = '', command = char(0)".to_owned()),
        ("runs", set("plan", "$.rounds", "4294967295")),
        ("runs", "plan = '[[[['".to_owned()),
        ("runs", "machine = '{}', notes = '7'".to_owned()),
        ("rows", "round = 4294967296".to_owned()),
        ("rows", "served = -1, probe_calls = -1".to_owned()),
        ("rows", "case_name = 'C=0 S=0'".to_owned()),
        ("rows", set("outcome", "$.latency_histogram", &format!("'{FOUR_GIB}'"))),
        ("rows", set("outcome", "$.ok", "9223372036854775807")),
        ("rows", set("ends", "$.backend_served", "9223372036854775807")),
    ] {
        std::fs::copy(&sound, &file).expect("copied");
        let connection = rusqlite::Connection::open(&file).expect("it is SQLite");
        connection.execute_batch("PRAGMA foreign_keys = 0").expect("without references");
        connection.execute(&format!("UPDATE {table} SET {change}"), []).expect(&change);
        drop(connection);
        read_store(&file, run, &change);
    }
}

/// A store, and another in which these statements were run.
fn store_with(folder: &Path, statements: &str) -> PathBuf {
    let file = folder.join("foreign.db");
    drop(std::fs::remove_file(&file));
    drop(Store::open(&file).expect("a store"));
    let connection = Connection::open(&file).expect("it is SQLite");
    connection.execute_batch("PRAGMA foreign_keys = 0").expect("set");
    connection.execute_batch(statements).expect(statements);
    file
}

const ENDLESS: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

#[test]
fn a_table_that_is_not_as_it_was_made_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let generated = "x TEXT AS (CAST(zeroblob(900000000) AS TEXT))";
    for table in ["runs", "rounds", "rows", "semantics", "raw_outputs"] {
        for replaced in [
            String::new(),
            format!("CREATE VIEW {table} AS {ENDLESS};"),
            format!("CREATE VIEW {} AS {ENDLESS};", table.to_uppercase()),
            format!("CREATE VIRTUAL TABLE {table} USING fts5 (id, run, round);"),
            format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, {generated});"),
        ] {
            let file = store_with(folder.path(), &format!("DROP TABLE {table}; {replaced}"));
            let expected = format!("is damaged: its table {table} is not as bookend makes it");
            for opened in [Store::open_existing(&file), Store::open(&file)] {
                let error = opened.expect_err(&replaced);
                check_error(&replaced, &error);
                assert!(error.to_string().ends_with(&expected), "{replaced}: {error}");
            }
        }
        let file =
            store_with(folder.path(), &format!("ALTER TABLE {table} ADD COLUMN {generated}"));
        Store::open_existing(&file).expect_err("a generated column");
    }
}

#[test]
fn what_is_beside_the_tables_of_a_store_is_never_run() {
    let record = Record::parse(RECORDS[0]).expect("a record");
    let folder = tempfile::tempdir().expect("a folder");
    let file = store_with(
        folder.path(),
        &format!(
            "CREATE TABLE notes (x); CREATE VIEW endless AS {ENDLESS}; \
             CREATE TRIGGER t AFTER INSERT ON rounds BEGIN INSERT INTO notes {ENDLESS}; END;"
        ),
    );
    let mut store = Store::open(&file).expect("a store");
    let run = store.begin_run(&record.run().new).expect("begun");
    store.write_round(run, 0, &record.rows).expect("written");
    assert_eq!(store.rows(run).expect("rows").len(), record.rows.len());
}

#[test]
fn pages_that_are_referred_to_again_and_again_are_not_read_without_end() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().expect("a folder");
    let file = store_with(
        folder.path(),
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) \
         INSERT INTO runs SELECT i, 0, NULL, '', printf('%.*c', 900, 'x'), '', 0, '', '', '', '', \
         NULL, NULL FROM n",
    );
    let connection = Connection::open(&file).expect("it is SQLite");
    let statement = "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'";
    let root: u32 = connection.query_row(statement, [], |row| row.get(0)).expect("a table");
    drop(connection);
    let mut pages = std::fs::read(&file).expect("readable");
    let page = |number: u32| {
        let end = number as usize * PAGE;
        end - PAGE..end
    };
    let of_root = pages[page(root)].to_vec();
    assert_eq!(of_root[0], 5, "an interior page of a table");
    let word = |at: usize| u16::from_be_bytes([of_root[at], of_root[at + 1]]);
    let cells = (0..word(3).into()).map(|cell| usize::from(word(12 + 2 * cell)));
    // Where children are named: the last one in the header. All those of the root become a copy of
    // the root, in the place of the last one, of which that itself is no child.
    let children: Vec<usize> = cells.chain([8]).collect();
    let number = |at: usize| u32::from_be_bytes(of_root[at..at + 4].try_into().expect("four"));
    let last = number(8);
    pages[page(last)].copy_from_slice(&of_root);
    let first = number(children[0]).to_be_bytes();
    let in_copy = page(last).start + 8;
    pages[in_copy..in_copy + 4].copy_from_slice(&first);
    for child in children {
        let place = page(root).start + child;
        pages[place..place + 4].copy_from_slice(&last.to_be_bytes());
    }
    std::fs::write(&file, pages).expect("written");
    let store = Store::open_existing(&file).expect("a store");
    let error = store.runs().expect_err("more than there is").to_string();
    assert!(error.ends_with("is damaged: a table has more than its file"), "{error}");
}

fn read_store(file: &Path, id: RunId, change: &str) {
    let store = Store::open_existing(file).expect("a store");
    for run in store.runs().expect("runs") {
        if let Err(error) = run {
            check_error(change, &error);
        }
    }
    let rows = match (store.run(id), store.rows(id)) {
        (Ok(run), Ok(rows)) => (run, rows),
        (run, rows) => {
            let errors = run.err().into_iter().chain(rows.err());
            return errors.for_each(|error| check_error(change, &error));
        }
    };
    let report = Report::new(&rows.0, &rows.1);
    assert!(report.html().len() + report.json().len() < 2_000_000, "{change}");
}
