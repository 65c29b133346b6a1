//! The committed published tables are whole, add up, and are read as they are printed.

use bookend_publication::published::{PublishedRow, PublishedTable};
use bookend_results::metric::Unit;

use bookend_results::suite::{Case, Suite};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Table;

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites")
}

fn table(file: &str) -> PublishedTable {
    PublishedTable::read(&suites().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn row<'a>(table: &'a PublishedTable, subject: &str, label: &str) -> &'a PublishedRow {
    table
        .rows
        .iter()
        .find(|row| row.place.subject == subject && row.place.label == label)
        .unwrap_or_else(|| panic!("no row {subject} {label}"))
}

fn rows_by_table(table: &PublishedTable) -> Vec<(&str, usize)> {
    let mut counts = BTreeMap::new();
    for row in &table.rows {
        *counts.entry(row.place.table.as_str()).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn every_published_row_is_there() {
    let known: [(&str, &[(&str, usize)]); 7] = [
        ("pajamax-tonic/published.csv", &[("results", 24)]),
        ("helloworld-profile/published.csv", &[("summary", 2)]),
        (
            "helloworld-profile/published-profile.csv",
            &[("flame-graph", 6), ("formatting", 3), ("protocol and runtime", 1)],
        ),
        ("python-clients/published.csv", &[("grpcio", 24), ("grpclib", 4)]),
        (
            "grpc-thrift-go/published.csv",
            &[
                ("gRPC-go long", 4),
                ("gRPC-go short", 3),
                ("thrift-go long", 4),
                ("thrift-go short", 3),
            ],
        ),
        ("java-executors/published.csv", &[("summary", 4)]),
        ("java-executors/published-histogram.csv", &[("histogram", 44)]),
    ];
    for (file, expected) in known {
        assert_eq!(rows_by_table(&table(file)), expected, "{file}");
    }
}

/// File, subject, label, column, the figure as printed, and as a number.
type Known = (&'static str, [&'static str; 2], &'static str, &'static str, f64);

const PAJAMAX: [&str; 2] = ["rust_pajamax", "C=1 S=1000"];
const FIXED: [&str; 2] = ["Current (ThreadPoolExecutor)", "concurrency=5000 total=10000"];
const UVLOOP: [&str; 2] = ["async (uvloop)", "256"];
const GO: [&str; 2] = ["gRPC-go", "10000"];

const FIGURES: [Known; 10] = [
    ("pajamax-tonic", PAJAMAX, "server_cpu_mean", "10.49%", 0.1049),
    ("pajamax-tonic", PAJAMAX, "latency_mean", "1.38 ms", 1_380_000.0),
    ("pajamax-tonic", PAJAMAX, "cost_ratio", "^10.4", 10.4),
    ("helloworld-profile", ["tonic", "C=1 S=50"], "client_cpu_mean", "790%", 7.9),
    ("python-clients", UVLOOP, "latency_mean", "0.009604", 9_604_000.0),
    ("python-clients", UVLOOP, "server_cpu_max", "250%", 2.5),
    ("grpc-thrift-go", GO, "latency_p99", "1.6s", 1.6e9),
    ("grpc-thrift-go", GO, "requests_per_second", "100k", 100_000.0),
    ("java-executors", FIXED, "total_time", "40.06 s", 40.06e9),
    ("java-executors", FIXED, "errors.DEADLINE_EXCEEDED", "5922", 5922.0),
];

#[test]
fn figures_stand_as_printed_and_in_base_units() {
    for (suite, [subject, label], column, printed, value) in FIGURES {
        let table = table(&format!("{suite}/published.csv"));
        let row = row(&table, subject, label);
        assert_eq!(row.printed.get(column).map(String::as_str), Some(printed));
        assert_eq!(row.value(column), Some(value), "{suite} {subject} {column}");
    }
}

#[test]
fn the_grid_of_pajamax_and_tonic_has_both_in_every_case() {
    let suite = Suite::read(&suites().join("pajamax-tonic")).expect("well-formed");
    let table = table("pajamax-tonic/published.csv");
    // The load of a given rate is ours, and of no row of the document.
    let is_published = |case: &&Case| {
        let only = suite.full.instruments_of.get(*case);
        only.is_none_or(|only| only.iter().any(|name| name == "bookend-load"))
    };
    for case in suite.full.cases.iter().filter(is_published) {
        let of_case = |row: &&PublishedRow| row.place.label == case.to_string();
        assert_eq!(table.rows.iter().filter(of_case).count(), 2, "{case}");
    }
}

#[test]
fn each_printed_ratio_follows_from_its_two_rows() {
    let cost = |row: &PublishedRow| {
        let value = |column| row.value(column).expect("a figure");
        value("requests_per_second") / value("server_cpu_mean")
    };
    for pair in table("pajamax-tonic/published.csv").rows.chunks(2) {
        let [ours, base] = pair else { panic!("rows come in pairs") };
        let printed = ours.value("cost_ratio").expect("a ratio");
        let ratio = cost(ours) / cost(base);
        assert!((ratio - printed).abs() < 0.1, "{}: {ratio}", ours.place.label);
    }
}

#[test]
fn the_calls_of_each_executor_add_up() {
    let summaries = table("java-executors/published.csv");
    let histograms = table("java-executors/published-histogram.csv");
    for summary in &summaries.rows {
        let value = |column| summary.value(column).unwrap_or(0.0);
        let ok = value("ok");
        assert_eq!(ok + value("errors.DEADLINE_EXCEEDED"), value("count"));
        let same = |row: &&PublishedRow| {
            row.place.subject == summary.place.subject && row.place.label == summary.place.label
        };
        let buckets: Vec<&PublishedRow> = histograms.rows.iter().filter(same).collect();
        assert_eq!(buckets.len(), 11, "{}", summary.place.subject);
        let counted: f64 = buckets.iter().filter_map(|row| row.value("count")).sum();
        // Its own words for the same calls: ghz puts no failed call into a bucket.
        assert_eq!(counted, ok, "{}", summary.place.subject);
    }
}

#[test]
fn columns_say_their_unit() {
    let table = table("python-clients/published.csv");
    let named = |name: &str| table.columns.iter().find(|column| column.name == name);
    let unit = |name| named(name).map(|column| column.unit);
    assert_eq!(unit("latency_mean"), Some(Unit::Nanoseconds));
    assert_eq!(unit("client_cpu_max"), Some(Unit::Cpus));
    assert_eq!(unit("concurrency"), Some(Unit::Number));
}

#[test]
fn a_damaged_table_names_the_line_or_the_column() {
    let text =
        std::fs::read_to_string(suites().join("pajamax-tonic/published.csv")).expect("readable");
    let complaint = |text: &str| {
        let error = PublishedTable::parse(text).expect_err("refused");
        error.to_string()
    };
    assert!(complaint(&text.replacen("8487,8487", "8487,many", 1)).starts_with("line 2 "));
    assert!(complaint(&text.replacen("8487,8487", ",8487", 1)).starts_with("line 2 "));
    assert!(complaint(&text.replacen(",ghz/grpc-bench", ",", 1)).starts_with("line 2 "));
    assert!(complaint(&text.replacen("[ns]", "[furlongs]", 1)).contains("latency_mean [furlongs]"));
    assert!(complaint("").contains("table,subject,label"));
}

#[test]
fn a_case_that_a_row_names_is_a_case() {
    let pajamax = table("pajamax-tonic/published.csv");
    for row in &pajamax.rows {
        let cell = row.cell.as_ref().expect("a cell");
        assert_eq!(row.value("concurrency"), Some(f64::from(cell.case.concurrency)));
    }
}

#[test]
fn what_a_page_says_of_an_original_has_a_source() {
    let file = |path: PathBuf| -> Table {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let lines = |table: &Table, key: &str| -> Vec<String> {
        let lines = table.get(key).and_then(|value| value.as_array());
        let text = |line: &toml::Value| line.as_str().expect("a line is text").to_owned();
        lines.into_iter().flatten().map(text).collect()
    };
    let originals = file(suites().join("originals.toml"));
    let mut sourced = Vec::new();
    for entry in originals["provenance"].as_array().expect("a list") {
        let entry = entry.as_table().expect("a table");
        let suite = entry["suite"].as_str().expect("a name");
        assert!(suites().join(suite).is_dir(), "{entry:?}");
        let source = entry["source"].as_str().expect("a text");
        assert!(source.contains("the document") || source.contains(" at "), "{source}");
        sourced.append(&mut lines(entry, "says"));
    }
    for folder in std::fs::read_dir(suites()).expect("the suites folder") {
        let folder = folder.expect("an entry").path();
        let results = folder.join("results.toml");
        // Whose page names its sources itself.
        if results.is_file() && !folder.ends_with("java-executors") {
            let results = file(results);
            for line in ["environment", "parameters"].map(|key| lines(&results, key)).concat() {
                assert!(sourced.contains(&line), "originals.toml has no source of: {line}");
            }
        }
    }
}
