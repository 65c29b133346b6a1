//! What the audit finds in the published documents, from nothing but their tables.

use bookend_publication::audit::audit_document;
use bookend_publication::claims::JudgedSuite;
use bookend_publication::document::Document;
use bookend_results::audit::{Rule, Span};
use bookend_results::measurement::CellId;
use std::path::{Path, PathBuf};

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites")
}

fn judged(suite: &str) -> JudgedSuite {
    JudgedSuite::read(&suites(), Path::new("no-records"), suite)
        .unwrap_or_else(|error| panic!("{suite}: {error}"))
}

/// Subject, row and evidence of what a rule finds.
fn found(document: &Document, rule: Rule) -> Vec<[String; 3]> {
    let (findings, _) = audit_document(document);
    findings
        .into_iter()
        .filter(|one| one.finding.rule == rule)
        .map(|one| [one.place.subject, one.place.label, one.finding.evidence])
        .collect()
}

fn in_suite(suite: &str, rule: Rule) -> Vec<[String; 3]> {
    found(&judged(suite).document, rule)
}

/// The rows that a rule could look at in a suite.
fn looked_at(suite: &str, rule: Rule) -> usize {
    let coverage = judged(suite).coverage;
    coverage.iter().find(|one| one.rule == rule).map_or(0, |one| one.rows)
}

fn labels(found: &[[String; 3]]) -> Vec<&str> {
    found.iter().map(|[_, label, _]| label.as_str()).collect()
}

fn assert_says(evidence: &str, words: &[&str]) {
    for word in words {
        assert!(evidence.contains(word), "{word} is not in: {evidence}");
    }
}

#[test]
fn a_ratio_of_nine_and_a_half_is_ten_by_its_own_figures() {
    let found = in_suite("helloworld-profile", Rule::RatioDiffers);
    assert_eq!(found.len(), 1);
    assert_says(&found[0][2], &["printed 9.5", "10.03", "9.66 to 10.43"]);
}

#[test]
fn every_ratio_above_a_case_follows_from_its_rows_and_one_that_did_not_would_be_found() {
    let mut document = judged("pajamax-tonic").document;
    assert_eq!(found(&document, Rule::RatioDiffers), Vec::<[String; 3]>::new());
    assert_eq!(looked_at("pajamax-tonic", Rule::RatioDiffers), 12);
    for row in &mut document.rows {
        if let Some(ratio) = row.figures.get_mut("cost_ratio") {
            *ratio = ratio.plus(Span::exact(0.2));
        }
    }
    assert_eq!(found(&document, Rule::RatioDiffers).len(), 12);
}

#[test]
fn the_rows_that_carry_ten_times_had_idle_streams() {
    let found = in_suite("pajamax-tonic", Rule::TooFewInFlight);
    let expected = [
        ("C=1 S=1000", "66.6 calls in flight on 1000 streams"),
        ("C=10 S=10000", "1550.7 calls in flight on 10000 streams"),
        ("C=100 S=100000", "23508.1 calls in flight on 100000 streams"),
    ];
    assert_eq!(found.len(), expected.len());
    for ([subject, label, evidence], (row, calls)) in found.iter().zip(expected) {
        assert_eq!((subject.as_str(), label.as_str()), ("rust_pajamax", row));
        // No table prints a window, so both causes are named.
        let own = evidence.strip_prefix(calls).expect("the calls come first");
        let both =
            ": the client left streams idle, or calls failed and nobody says so, or its time";
        assert!(own.starts_with(both), "{evidence}");
    }
}

#[test]
fn the_clients_in_python_and_go_kept_at_least_half_of_their_calls_in_flight() {
    for (suite, rows) in [("python-clients", 28), ("grpc-thrift-go", 14)] {
        for rule in [Rule::TooFewInFlight, Rule::TooManyInFlight] {
            assert_eq!(in_suite(suite, rule), Vec::<[String; 3]>::new(), "{suite}");
            assert_eq!(looked_at(suite, rule), rows, "{suite}");
        }
    }
}

#[test]
fn a_mean_above_the_ninetieth_percentile_is_marked() {
    let found = in_suite("pajamax-tonic", Rule::MeanAbovePercentile);
    assert_eq!(labels(&found), ["C=100 S=100"]);
    assert_says(&found[0][2], &["2.16 ms", "p90, 1.68 ms", "6.48 ms"]);
}

#[test]
fn memory_in_kib_under_a_heading_in_mib_is_found_by_its_neighbours() {
    let found = in_suite("pajamax-tonic", Rule::KibPrintedAsMib);
    assert_eq!(labels(&found), ["C=1 S=1", "C=1 S=10", "C=1 S=100", "C=1 S=1000"]);
    assert!(found.iter().all(|[subject, ..]| subject == "rust_pajamax"));
    assert_says(&found[3][2], &["634.67 MiB", "1.66 MiB", "0.62 MiB"]);
    let above = in_suite("pajamax-tonic", Rule::MemoryAboveLimit);
    assert_eq!(labels(&above), ["C=1 S=100", "C=1 S=1000"]);
}

#[test]
fn more_memory_for_more_work_is_no_finding() {
    // tonic needs 466 MiB for 100,000 streams and 1 MiB for one.
    let mut document = judged("pajamax-tonic").document;
    let is_tonic = |cell: &CellId| cell.subject == "rust-tonic";
    document.rows.retain(|row| row.cell.as_ref().is_some_and(is_tonic));
    assert_eq!(found(&document, Rule::KibPrintedAsMib), Vec::<[String; 3]>::new());
}

#[test]
fn what_is_called_the_ninety_ninth_percentile_can_only_be_a_higher_one() {
    let found = in_suite("grpc-thrift-go", Rule::NotThatPercentile);
    let rows: Vec<(&str, &str)> =
        found.iter().map(|[subject, label, _]| (subject.as_str(), label.as_str())).collect();
    assert_eq!(rows, [("gRPC-go", "100"), ("thrift-go", "100")]);
    let first = ["mean of at most 7.00 ms", "0.50 %", "1.00 s", "no p99;", "p99.9"];
    assert_says(&found[0][2], &first);
    assert_says(&found[1][2], &["mean of at most 2.00 ms", "200 ms", "no p99;", "p99.9"]);
}

#[test]
fn a_mean_below_a_tenth_of_its_own_ninetieth_percentile_is_found_too() {
    let found = in_suite("pajamax-tonic", Rule::NotThatPercentile);
    assert_eq!(labels(&found), ["C=10 S=10000"]);
    assert_says(&found[0][2], &["23.0 ms", "9.11 %", "253 ms", "no p90;"]);
}

#[test]
fn one_clock_has_the_making_of_a_connection_inside_and_the_other_outside() {
    let found = in_suite("grpc-thrift-go", Rule::ClocksDiffer);
    assert_eq!(found.len(), 1);
    let [subject, label, evidence] = &found[0];
    assert_eq!((subject.as_str(), label.as_str()), ("thrift-go", "100"));
    assert_says(evidence, &["30 to 63 of 100 clients", "gRPC-go for 75 to 94"]);
}

#[test]
fn totals_of_twenty_and_forty_seconds_are_time_outs() {
    let found = in_suite("java-executors", Rule::TotalIsTimeOut);
    assert_eq!(found.len(), 2);
    assert_says(&found[0][2], &["20.20 s", "1 x", "944 calls", "2.48 s"]);
    assert_says(&found[1][2], &["40.06 s", "2 x", "5922 calls", "2.38 s"]);
    assert_eq!(looked_at("java-executors", Rule::TotalIsTimeOut), 4);
}

#[test]
fn a_total_between_two_time_outs_is_none_however_many_there_were() {
    let mut document = judged("java-executors").document;
    for row in &mut document.rows {
        let half_past = Span::exact(50.5 * 20e9);
        row.figures.insert("total_time".into(), half_past);
    }
    assert_eq!(found(&document, Rule::TotalIsTimeOut), Vec::<[String; 3]>::new());
}

#[test]
fn averages_above_the_slowest_success_have_the_failures_in_them() {
    let found = in_suite("java-executors", Rule::MeanIncludesFailures);
    assert_eq!(found.len(), 2);
    let cached = ["3.57 s", "2.48 s", "it is 1.86 s", "allows 1.79 to 1.93 s"];
    assert_says(&found[0][2], &cached);
    let fixed = ["12.30 s", "2.38 s", "it is 1.12 s", "allows 1.09 to 1.23 s"];
    assert_says(&found[1][2], &fixed);
}

#[test]
fn rates_count_the_calls_that_failed() {
    let found = in_suite("java-executors", Rule::RateIncludesFailures);
    assert_eq!(found.len(), 2);
    assert_says(&found[0][2], &["494.97", "448.32 a second succeeded"]);
    assert_says(&found[1][2], &["249.62", "101.80 a second succeeded"]);
}

#[test]
fn the_printed_histograms_are_sound_and_a_changed_one_is_found() {
    let document = judged("java-executors").document;
    assert_eq!(looked_at("java-executors", Rule::HistogramDiffers), 4);
    assert_eq!(found(&document, Rule::HistogramDiffers), Vec::<[String; 3]>::new());

    let mut one_more = document.clone();
    one_more.rows[0].histogram[3].count += 1.0;
    let evidence = &found(&one_more, Rule::HistogramDiffers)[0][2];
    assert_says(evidence, &["counts 9057 calls", "9056 succeeded"]);

    let mut moved = document.clone();
    moved.rows[0].histogram[1].count += 1_000.0;
    moved.rows[0].histogram[7].count -= 1_000.0;
    let evidence = &found(&moved, Rule::HistogramDiffers)[0][2];
    assert_says(evidence, &["p10 is 1.52 s"]);

    let mut longer = document;
    longer.rows[0].histogram[10].upper_ns = Span::exact(3e9);
    let evidence = &found(&longer, Rule::HistogramDiffers)[0][2];
    assert_says(evidence, &["latency_max"]);
}

#[test]
fn a_client_without_room_gives_a_lower_bound() {
    let found = in_suite("helloworld-profile", Rule::ClientAtItsLimit);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0][0], "pajamax");
    assert_says(&found[0][2], &["1100 % of its 1200 %", "the server 15 %"]);
}

#[test]
fn more_cpus_than_the_machine_has_are_found() {
    let mut document = judged("python-clients").document;
    assert_eq!(found(&document, Rule::CpuAboveMachine), Vec::<[String; 3]>::new());
    document.conditions.machine_cpus = Some(2.0);
    let found = found(&document, Rule::CpuAboveMachine);
    assert_eq!(labels(&found), ["32", "64", "128", "256"]);
    assert_says(&found[0][2], &["the server used 2.25 CPUs", "has 2"]);
}

#[test]
fn every_rule_that_looks_at_published_rows_finds_something_or_says_how_many_it_looked_at() {
    let suites = [
        "grpc-thrift-go",
        "helloworld-profile",
        "java-executors",
        "pajamax-tonic",
        "python-clients",
    ];
    // Those that need what no document prints: both ends' counts, values that are not figures,
    // windows.
    let elsewhere = [Rule::CountsDiffer, Rule::NotANumber, Rule::WindowTooShort];
    // Those that need what other documents print or say: tests/defects has one for each.
    let of_others = [
        Rule::SameFigureTwice,
        Rule::NobodyAtItsLimit,
        Rule::SharedCeiling,
        Rule::CpuStandsStill,
        Rule::RateNotAsked,
        Rule::DiffersFromItself,
        Rule::OrderFixed,
        Rule::BestOfRuns,
        Rule::OneStart,
        Rule::EndsShareCpus,
        Rule::WaitingOmitted,
    ];
    let elsewhere = [&elsewhere[..], &of_others].concat();
    for rule in Rule::ALL.iter().filter(|rule| !elsewhere.contains(rule)) {
        let rows: usize = suites.iter().map(|suite| looked_at(suite, *rule)).sum();
        assert!(rows > 0, "{rule} looked at nothing");
    }
}

#[test]
fn the_rules_are_defined_in_the_words_of_the_program() {
    let file = suites().join("../docs/measure/metrics.md");
    let metrics = std::fs::read_to_string(file).expect("readable");
    for rule in Rule::ALL {
        let line = format!("| `{rule}` | {} |\n", rule.meaning());
        assert!(metrics.contains(&line), "docs/measure/metrics.md lacks: {line}");
    }
}
