//! Sentences that conclude something are printed only while figures bear them out, and what a
//! client at its limit, a stand-in or a second run make of an answer.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

mod invented;

use bookend_publication::claims::{ClaimOutcome, JudgedSuite, JudgedSuites};
use bookend_publication::document::Document;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use invented::{MEASURE, NEAR_TEN, parse, printed, rates, recorded, ten_times, verdict_of};
use std::collections::BTreeMap;
use table_rows::{cell, measurement, row, run};

/// The invented claim as one of a document.
fn published(more: &str) -> String {
    ten_times(more).replace("expectations = true\n", "")
}

fn suite_of(text: &str, record: Record) -> JudgedSuite {
    let claims = parse(text).unwrap_or_else(|error| panic!("{error}"));
    JudgedSuite::new("invented", claims, printed([1000.0, 100.0]), Some(record))
}

fn told(finding: &str, record: Record) -> Option<String> {
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0\n{finding}"));
    suite_of(&text, record).judgements()[0].finding.clone()
}

const TABLE: &str = "{ figure = \"table\", at_least = 9.0 }";
const SAME: &str = "{ figure = \"same\", at_least = 8.0 }";

fn finding(text: &str, conditions: &[&str]) -> String {
    format!("finding = {{ text = \"{text}\", if = [{}] }}", conditions.join(", "))
}

#[test]
fn a_finding_is_told_while_its_premise_and_its_conclusion_are_so() {
    let text = "It is {same}, where {published} is printed, and {table} by the table.";
    let finding = finding(text, &[TABLE, SAME]);
    let sentence = "It is 10, where 10 is printed, and 10 by the table.";
    assert_eq!(told(&finding, recorded(&NEAR_TEN)).as_deref(), Some(sentence));
    assert_eq!(told(&finding, recorded(&[5.0; 7])), None, "its conclusion is not so");
}

#[test]
fn a_finding_whose_premise_is_not_so_is_not_told() {
    let cap = |at_least: u32| {
        format!(
            "{{ figure = \"threads\", recorded = {{ metric = \"threads\", of = \"rust-tonic\", cases \
             = [\"C=1 S=100\"] }}, at_least = {at_least} }}"
        )
    };
    let mut record = recorded(&NEAR_TEN);
    for row in &mut record.rows {
        row.outcome.window_mut().expect("measured").ends.server.threads = Some(40);
    }
    let told = |at_least| {
        let text = "With {threads} threads it is {same}.";
        told(&finding(text, &[&cap(at_least), SAME]), record.clone())
    };
    assert_eq!(told(40).as_deref(), Some("With 40 threads it is 10."));
    assert_eq!(told(41), None, "the limit was not reached");
}

#[test]
fn a_finding_whose_premise_has_no_figure_is_not_told() {
    let other = |case: &str| {
        format!(
            "{{ figure = \"capped\", recorded = {{ metric = \"errors\", of = \"rust-tonic\", cases = \
             [\"{case}\"] }}, at_most = 0 }}"
        )
    };
    let told = |case| {
        told(&finding("Of {capped} it is {same}.", &[&other(case), SAME]), recorded(&NEAR_TEN))
    };
    assert_eq!(told("C=1 S=100").as_deref(), Some("Of 0 it is 10."));
    assert_eq!(told("C=1 S=1"), None, "it was not recorded");
    let asked_twice = "{ figure = \"other\", at_least = 8.0 }";
    let finding = finding("It is {other}.", &[SAME, asked_twice]);
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0\n{finding}"));
    let suite = suite_of(&text, recorded(&NEAR_TEN));
    assert_eq!(suite.judgements()[0].finding, None, "the second question is not asked");
}

#[test]
fn an_explanation_that_concludes_is_told_like_a_finding() {
    let why = finding("It is {same} and not {table}.", &[TABLE, SAME]).replace("finding", "why");
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0\n{why}"));
    let reasons = |factors: &[f64]| suite_of(&text, recorded(factors)).reasons();
    assert!(reasons(&NEAR_TEN).contains("\n  It is 10 and not 10.\n"), "{}", reasons(&NEAR_TEN));
    assert!(!reasons(&[5.0; 7]).contains("It is"));
}

#[test]
fn a_sentence_that_rests_on_nothing_is_refused() {
    let complaint = |finding: &str| {
        parse(&published(&format!("{MEASURE}\nsays = \"more\"\n{finding}"))).expect_err(finding)
    };
    let odd = "{ figure = \"odd\", at_least = 1 }";
    let unbounded = "{ figure = \"same\" }";
    for (text, conditions, expected) in [
        ("It is {same}.", &[SAME][..], "has two conditions"),
        ("It is {same}, {odd} times.", &[TABLE, SAME], "no condition is on the figure `{odd}`"),
        ("It is {same}, 4 times.", &[TABLE, SAME], "a figure in the text is that of a condition"),
        ("It is {same}.", &[TABLE, odd], "the name of one `recorded` or `printed` figure"),
        ("It is {same}.", &[TABLE, unbounded], "say what `same` must be"),
    ] {
        let complaint = complaint(&finding(text, conditions));
        assert!(complaint.contains(expected), "{complaint}");
    }
    let misspelt = finding("It is {same}.", &[TABLE, SAME]).replace("finding", "why");
    let misspelt = complaint(&misspelt.replace("at_least", "at_lest"));
    assert!(misspelt.contains("at_lest"), "{misspelt}");
    let old = "finding = { when = [\"replicated\"], text = \"It is so.\" }";
    assert!(!complaint(old).is_empty());
    let cited = finding("\\\"4 times\\\" is {same}.", &[TABLE, SAME]);
    assert!(parse(&published(&format!("{MEASURE}\nsays = \"more\"\n{cited}"))).is_ok());
}

/// Rounds in which the client of each subject used that share of its CPU.
fn through_clients(busy: [f64; 2], factor: f64) -> Record {
    let rows: Vec<Row> = (0_u32..7)
        .flat_map(|number| {
            let costs = [("rust-tonic", 1.0, busy[0]), ("rust-pajamax", factor, busy[1])];
            costs.map(|(subject, cheaper, busy)| {
                let mut measured = measurement(100, 10_000, 0.9 / cheaper);
                let could = measured.window_seconds;
                measured.ends.caller.cpus = Some(1);
                measured.generator.threads = Some(1);
                measured.generator.busy_seconds = Some(busy * could);
                row(number, cell(subject, "C=1 S=100"), Outcome::Measured(Box::new(measured)))
            })
        })
        .collect();
    Record::of_run(&run(), &rows, BTreeMap::new())
}

#[test]
fn a_client_at_its_limit_is_not_one_that_is_not_the_limit() {
    let judged = "judged_with = { of = \"rust-pajamax\", over = \"rust-tonic\" }";
    let judge = |says: &str, busy, factor| {
        let text = published(&format!("{MEASURE}\n{judged}\nsays = \"{says}\""));
        let suite = suite_of(&text, through_clients(busy, factor));
        let judgement = suite.judgements().remove(0);
        (judgement.replicates.outcome, judgement.is_it_so.expect("asked"))
    };
    let (same, other) = judge("more", [0.5, 0.5], 2.0);
    assert_eq!((same, other.outcome), (ClaimOutcome::Replicated, ClaimOutcome::Replicated));
    let (same, other) = judge("more", [0.95, 0.95], 2.0);
    assert_eq!(same, ClaimOutcome::Replicated, "costs through the published client are compared");
    assert_eq!(other.outcome, ClaimOutcome::Undecided, "{}", other.why);
    let why =
        "The client was the limit: it used 95 % of its CPU, and 90 % or more in 7 of 7 rounds.";
    assert!(other.why.contains(why), "{}", other.why);
    assert_eq!(other.figure, "2", "the figure is shown all the same");
    // What the dividend's client leaves is a lower bound, which supports more and refutes less.
    assert_eq!(judge("more", [0.5, 0.95], 2.0).1.outcome, ClaimOutcome::Replicated);
    assert_eq!(judge("more", [0.5, 0.95], 0.5).1.outcome, ClaimOutcome::Undecided);
    assert_eq!(judge("less", [0.5, 0.95], 2.0).1.outcome, ClaimOutcome::DidNotReplicate);
    assert_eq!(judge("more", [0.95, 0.5], 2.0).1.outcome, ClaimOutcome::Undecided);
    assert_eq!(judge("less", [0.95, 0.5], 0.5).1.outcome, ClaimOutcome::Replicated);
}

#[test]
fn a_latency_through_a_client_at_its_limit_is_not_comparable() {
    let measure = MEASURE.replace("requests_per_cpu_second", "latency_p99");
    let measure = measure.replace("measure", "ours");
    let judge = |busy| {
        let text = published(&format!("{measure}\nsays = \"same\""));
        let suite = suite_of(&text, through_clients(busy, 1.0));
        suite.judgements().remove(0).replicates
    };
    assert_eq!(judge([0.5, 0.5]).outcome, ClaimOutcome::Replicated);
    let starved = judge([0.95, 0.95]);
    assert_eq!(starved.outcome, ClaimOutcome::NotComparable, "{}", starved.why);
    assert!(starved.why.contains("the client's own queue"), "{}", starved.why);
}

#[test]
fn a_divisor_that_died_does_not_leave_open_what_it_favours() {
    let both = MEASURE.replace("[\"C=1 S=100\"]", "[\"C=1 S=100\", \"C=1 S=1\"]");
    let died = "the server ended while it was measured: signal: 9 (SIGKILL)";
    let record = |dead: &str, error: &str| {
        let mut record = recorded(&NEAR_TEN);
        let again = recorded(&NEAR_TEN).rows.into_iter().map(|mut row| {
            row.cell.case = "C=1 S=1".parse().expect("a case");
            if row.cell.subject == dead {
                row.outcome = Outcome::failed(error.to_owned());
            }
            row
        });
        record.rows.extend(again);
        record
    };
    let judge = |says: &str, record| {
        let suite = suite_of(&published(&format!("{both}\nsays = \"{says}\"")), record);
        suite.judgements().remove(0).replicates
    };
    let answer = judge("more", record("rust-tonic", died));
    assert_eq!(answer.outcome, ClaimOutcome::Replicated, "{}", answer.why);
    assert!(answer.why.contains("in its favour: rust-tonic at C=1 S=1: the server ended"));
    let same = judge("same", record("rust-tonic", died)).outcome;
    assert_eq!(same, ClaimOutcome::DidNotReplicate, "the case that lived refutes it");
    let dividend = judge("more", record("rust-pajamax", died));
    assert_eq!(dividend.outcome, ClaimOutcome::Undecided, "{}", dividend.why);
    let failed = judge("more", record("rust-tonic", "it ended with status 1"));
    assert_eq!(failed.outcome, ClaimOutcome::Undecided, "{}", failed.why);
}

#[test]
fn of_several_cases_it_is_said_in_how_many_it_is_so() {
    let both = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
                \"C=1 S=100\"] }\nsays = \"figure\"\nprinted = 1000.0";
    let record = rates(&[("C=1 S=1", [0.5; 7]), ("C=1 S=100", [1.0; 7])]);
    let (_, why) = verdict_of(&published(both), Document::default(), Some(record));
    assert!(why.contains("It is so in 1 of 2 cases."), "{why}");
}

#[test]
fn a_claim_about_a_stand_in_is_not_comparable_whatever_was_measured() {
    let text = published(&format!("{MEASURE}\nsays = \"more\""));
    let stand_ins =
        "[document.stand_ins]\n\"rust-tonic\" = \"It stands in for another.\"\n\n[[claims]]";
    let suite = suite_of(&text.replace("[[claims]]", stand_ins), recorded(&NEAR_TEN));
    let answer = suite.judgements().remove(0).replicates;
    assert_eq!(answer.outcome, ClaimOutcome::NotComparable);
    assert_eq!((answer.why.as_str(), answer.figure.as_str()), ("It stands in for another.", "10"));
}

#[test]
fn two_runs_that_disagree_stand_as_two_and_are_counted_as_neither() {
    let finding = finding("It is {same}.", &[TABLE, SAME]);
    let earlier = "earlier = { verdict = \"replicated\", why = \"It was run twice.\" }\n";
    let factor = format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0\n{earlier}{finding}");
    let text = published(&factor);
    let judged = |again: &[f64]| {
        let again = Box::new(suite_of(&text, recorded(again)));
        let suite = JudgedSuite { again: Some(again), ..suite_of(&text, recorded(&NEAR_TEN)) };
        JudgedSuites { suites: vec![suite], ..JudgedSuites::default() }
    };
    let page = |again: &[f64]| judged(again).markdown();
    let has = |page: &str, row: &str| assert!(page.lines().any(|line| line == row), "{page}");
    let agreed = page(&NEAR_TEN);
    has(&agreed, "| [invented](#an-invented-page) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |");
    has(&agreed, "| ten times | 10 | 10 replicated | - |");
    assert!(agreed.contains("- It is 10."), "{agreed}");
    let differing = page(&[5.0; 7]);
    has(&differing, "| [invented](#an-invented-page) | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |");
    has(&differing, "| ten times | 10 | 10 replicated; again not replicated | - |");
    let reasons = judged(&[5.0; 7]).reasons_page();
    assert!(reasons.contains("The other run: **did not replicate**, 5."), "{reasons}");
    assert!(!differing.contains("- It is 10."), "{differing}");
    // What became of a verdict is both of them, where the first alone is what it was.
    let changes = judged(&[5.0; 7]).changes_page();
    let both =
        "- **ten-times**: replicated; now replicated; again did not replicate. It was run twice.";
    assert!(changes.lines().any(|line| line == both), "{changes}");
}
