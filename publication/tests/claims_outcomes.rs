//! Two questions and six outcomes: how they follow from the figures of an invented document.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

mod invented;

use bookend_publication::claims::{ClaimOutcome, JudgedSuite, JudgedSuites};
use bookend_publication::document::Document;
use bookend_results::findings::ProbeFindings;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use invented::{
    DOCUMENT, MEASURE, NEAR_TEN, parse, printed, rates, recorded, ten_times, verdict_of,
};
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

fn outcome(more: &str, factors: &[f64]) -> ClaimOutcome {
    let text = published(&format!("{MEASURE}\n{more}"));
    verdict_of(&text, printed([1000.0, 100.0]), Some(recorded(factors))).0
}

#[test]
fn a_factor_is_the_same_within_a_quarter_and_more_beyond_it_on_the_better_side() {
    let of = |factor: f64, favour: &str| {
        let more = format!("says = \"factor\"\nprinted = {factor}{favour}");
        outcome(&more, &NEAR_TEN)
    };
    assert_eq!(of(10.0, ""), ClaimOutcome::Replicated);
    assert_eq!(of(12.0, ""), ClaimOutcome::Replicated);
    assert_eq!(of(7.0, ""), ClaimOutcome::MoreThanClaimed);
    assert_eq!(of(13.0, ""), ClaimOutcome::DidNotReplicate);
    assert_eq!(of(8.0, ""), ClaimOutcome::Replicated, "partly beyond is at least the same");
    let smaller = "\nfavour = \"smaller\"";
    assert_eq!(of(13.0, smaller), ClaimOutcome::MoreThanClaimed);
    assert_eq!(of(7.0, smaller), ClaimOutcome::DidNotReplicate);
}

#[test]
fn a_figure_has_no_better_side() {
    let of = |printed: f64| outcome(&format!("says = \"figure\"\nprinted = {printed}"), &NEAR_TEN);
    assert_eq!(of(10.0), ClaimOutcome::Replicated);
    assert_eq!(of(7.0), ClaimOutcome::DidNotReplicate);
    assert_eq!(of(13.0), ClaimOutcome::DidNotReplicate);
}

#[test]
fn a_figure_that_is_not_named_is_that_of_the_table() {
    // The table has ten times the cost of the other.
    assert_eq!(outcome("says = \"factor\"", &NEAR_TEN), ClaimOutcome::Replicated);
    assert_eq!(outcome("says = \"factor\"", &[5.0; 7]), ClaimOutcome::DidNotReplicate);
}

#[test]
fn words_are_ratios_beyond_one() {
    let of = |word: &str, factor: f64| outcome(&format!("says = \"{word}\""), &[factor; 7]);
    let (yes, no) = (ClaimOutcome::Replicated, ClaimOutcome::DidNotReplicate);
    for (word, below, same, above) in [
        ("more", no, no, yes),
        ("less", yes, no, no),
        ("much-more", no, no, yes),
        ("same", no, yes, no),
        ("not-more", yes, yes, no),
        ("most", no, yes, yes),
    ] {
        let found = [of(word, 0.4), of(word, 1.0), of(word, 2.0)];
        assert_eq!(found, [below, same, above], "{word}");
    }
    assert_eq!(of("much-more", 1.2), no);
}

#[test]
fn growth_is_from_the_first_case_to_the_last_and_a_small_fall_between_is_none() {
    let cases = ["C=1 S=1", "C=1 S=10", "C=1 S=100"];
    let of = |figures: [f64; 3]| {
        let ours = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\"";
        let more = format!("{ours}, cases = {cases:?}, take = \"growth\" }}\nsays = \"grows\"");
        let rounds: Vec<_> =
            cases.iter().zip(figures).map(|(case, figure)| (*case, [figure; 7])).collect();
        let record = rates(&rounds);
        verdict_of(&published(&more), Document::default(), Some(record))
    };
    assert_eq!(of([1.0, 2.0, 3.0]).0, ClaimOutcome::Replicated);
    let (outcome, why) = of([1.0, 3.0, 2.8]);
    assert_eq!(outcome, ClaimOutcome::Replicated, "{why}");
    assert!(why.starts_with("2.80 in each of 7 rounds from C=1 S=1 to C=1 S=100"), "{why}");
    assert_eq!(of([1.0, 3.0, 2.0]).0, ClaimOutcome::DidNotReplicate, "a step falls by a third");
    assert_eq!(of([1.0, 0.9, 0.95]).0, ClaimOutcome::DidNotReplicate);
}

#[test]
fn figures_of_different_runs_are_not_put_together() {
    let ours = "ours = { metric = \"requests_per_cpu_second\", of = \"rust-pajamax\"";
    let cases = "cases = [\"C=1 S=1\", \"C=1 S=100\"]";
    let mut rows = Vec::new();
    for number in 0..7 {
        for (run, case, factor) in [(0, "C=1 S=1", 2.0), (1, "C=1 S=100", 9.0)] {
            rows.extend(invented::round(7 * run + number, factor).into_iter().map(|mut row| {
                row.cell.case = case.parse().expect("a case");
                row
            }));
        }
    }
    let record = Record::of_run(&run(), &rows, BTreeMap::new());
    let judge = |of: &str, says: &str| {
        let text = published(&format!("{ours}, {of} }}\nsays = \"{says}\""));
        verdict_of(&text, Document::default(), Some(record.clone()))
    };
    let over_tonic = format!("over = \"rust-tonic\", {cases}");
    for (of, says, why) in [
        (format!("{over_tonic}, take = \"growth\""), "grows", "no figure of one run from C=1"),
        (format!("{over_tonic}, take = \"largest\""), "more", "no figure of one run as the"),
        (format!("{cases}, take = \"growth\""), "grows", "no figure of one run from C=1"),
        (
            "over_case = \"C=1 S=1\", cases = [\"C=1 S=100\"]".to_owned(),
            "more",
            "rust-pajamax at C=1 S=100 was measured in another run than what it is divided by",
        ),
    ] {
        let (outcome, said) = judge(&of, says);
        assert_eq!(outcome, ClaimOutcome::Undecided, "{of}: {said}");
        assert!(said.contains(why), "{of}: {said}");
    }
    assert_eq!(judge(&over_tonic, "more").0, ClaimOutcome::Replicated, "each in its own run");
}

#[test]
fn what_nothing_may_cross_is_judged_round_by_round() {
    let of = |rounds: [f64; 7], bound: &str| {
        let ours = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\"";
        let bounds = format!("bounds = {{ {bound}, because = \"chosen\" }}");
        let more = format!("{ours}, cases = [\"C=1 S=1\"] }}\n{bounds}");
        let record = rates(&[("C=1 S=1", rounds)]);
        verdict_of(&published(&more), Document::default(), Some(record)).0
    };
    let wild = [1.0, 9.0, 1.1, 1.2, 30.0, 1.1, 1.2];
    assert_eq!(of(wild, "at_least = 1000"), ClaimOutcome::Replicated, "an interval of means fails");
    assert_eq!(of(wild, "at_least = 1001"), ClaimOutcome::DidNotReplicate, "one round is enough");
}

#[test]
fn the_two_questions_are_asked_of_different_subjects() {
    let questions = "replicated_by = { of = \"rust-pajamax via ghz\", over = \"rust-tonic via ghz\" }\n\
                     judged_with = { of = \"rust-pajamax via bookend-load\", over = \"rust-tonic via \
                     bookend-load\" }";
    let text = published(&format!("{MEASURE}\n{questions}\nsays = \"factor\"\nprinted = 10.0"));
    let rows: Vec<Row> = (0_u32..7)
        .flat_map(|round| {
            [("ghz", 9.5), ("bookend-load", 20.0)].into_iter().flat_map(
                move |(instrument, factor)| {
                    [("rust-tonic", 1.0), ("rust-pajamax", factor)].map(|(subject, cheaper)| {
                        let mut id = cell(subject, "C=1 S=100");
                        id.instrument = instrument.to_owned();
                        let measured = measurement(100, 10_000, 0.9 / cheaper);
                        row(round, id, Outcome::Measured(Box::new(measured)))
                    })
                },
            )
        })
        .collect();
    let suite = suite_of(&text, Record::of_run(&run(), &rows, BTreeMap::new()));
    let judgements = suite.judgements();
    let [only] = judgements.as_slice() else { panic!("one claim") };
    let is_it_so = only.is_it_so.as_ref().expect("asked");
    assert_eq!(only.outcome(), ClaimOutcome::Replicated, "{}", only.replicates.why);
    assert_eq!(is_it_so.outcome, ClaimOutcome::MoreThanClaimed, "{}", is_it_so.why);
    let page = JudgedSuites { suites: vec![suite.clone()], ..JudgedSuites::default() }.markdown();
    let row = "| ten times | 10 | 9.50 replicated | 20 more |";
    assert!(page.lines().any(|line| line == row), "{page}");
    assert!(
        page.contains("| [invented](#an-invented-page) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |"),
        "{page}"
    );
    assert!(
        page.contains("| [invented](#an-invented-page) | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 |"),
        "{page}"
    );
    assert!(page.contains("Intervals decide 2 of the answers above."), "{page}");
}

#[test]
fn an_undecided_claim_says_how_many_rounds_would_decide_it() {
    let wide = [9.0, 11.0, 10.0, 9.5, 14.0, 10.5, 7.9];
    let text = published(&format!("{MEASURE}\nsays = \"figure\"\nprinted = 9.0"));
    let (outcome, why) = verdict_of(&text, printed([1000.0, 100.0]), Some(recorded(&wide)));
    assert_eq!(outcome, ClaimOutcome::Undecided, "{why}");
    // The upper end, 11.25, is 1.25 above the median, and the interval reaches 4 above it.
    assert!(why.ends_with("About 72 rounds like these 7 would decide it."), "{why}");
}

#[test]
fn what_cannot_be_judged_says_why_and_shows_its_figure_all_the_same() {
    let (yes, no) = ("undecided", "not_comparable");
    for (key, expected) in [(yes, ClaimOutcome::Undecided), (no, ClaimOutcome::NotComparable)] {
        let suite = suite_of(
            &published(&format!("{MEASURE}\n{key} = \"Another machine.\"")),
            recorded(&NEAR_TEN),
        );
        let judgements = suite.judgements();
        let answer = &judgements[0].replicates;
        assert_eq!((answer.outcome, answer.why.as_str()), (expected, "Another machine."));
        assert_eq!(answer.figure, "10");
        assert!(!answer.is_by_interval);
    }
}

#[test]
fn a_note_is_no_claim_and_stands_on_the_page_of_the_audit() {
    let claim = published(&format!("{MEASURE}\nsays = \"more\""));
    let note = published(&format!("{MEASURE}\nnote = true"))
        .replace("ten-times", "noticed")
        .replace("ten times", "noticed besides")
        .replace(&DOCUMENT.replace("expectations = true\n", ""), "");
    let suite = suite_of(&format!("{claim}{note}"), recorded(&NEAR_TEN));
    assert_eq!(suite.judgements().len(), 1);
    let pages = JudgedSuites { suites: vec![suite], ..JudgedSuites::default() };
    assert!(!pages.markdown().contains("noticed besides"));
    let audit = pages.audit_page();
    assert!(
        audit.contains("- noticed besides. Its own table: 10 at C=1 S=100. Ours: 10 (9.80 to"),
        "{audit}"
    );
}

#[test]
fn a_stand_in_is_named_at_each_claim_about_it() {
    let text = published(&format!("{MEASURE}\nsays = \"more\""));
    let stand_ins =
        "[document.stand_ins]\n\"rust-tonic\" = \"It stands in for another.\"\n\n[[claims]]";
    let suite = suite_of(&text.replace("[[claims]]", stand_ins), recorded(&NEAR_TEN));
    assert!(suite.reasons().contains("It stands in for another."), "{}", suite.reasons());
}

#[test]
fn an_earlier_verdict_is_told_with_what_became_of_it() {
    let earlier = "earlier = { verdict = \"did not hold\", why = \"Wrong of us.\" }";
    let text = published(&format!("{MEASURE}\nsays = \"more\"\n{earlier}"));
    let page = JudgedSuites {
        suites: vec![suite_of(&text, recorded(&NEAR_TEN))],
        ..JudgedSuites::default()
    }
    .changes_page();
    assert!(page.contains("- **ten-times**: did not hold; now replicated. Wrong of us."), "{page}");
}

#[test]
fn rounds_that_were_mostly_disturbed_decide_nothing() {
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0"));
    let judge = |disturbed: usize| {
        let mut record = recorded(&NEAR_TEN);
        let of_tonic = record.rows.iter_mut().filter(|row| row.cell.subject == "rust-tonic");
        for row in of_tonic.take(disturbed) {
            let window = row.outcome.window_mut().expect("measured");
            window.marks.push(Mark::Steal { share: 0.4 });
        }
        verdict_of(&text, printed([1000.0, 100.0]), Some(record))
    };
    assert_eq!(judge(3).0, ClaimOutcome::Replicated);
    let (outcome, why) = judge(4);
    assert_eq!(outcome, ClaimOutcome::Undecided);
    assert!(why.contains("a quiet one would decide it. Marked in 4 of 7 rounds"), "{why}");
}

#[test]
fn a_later_run_counts_only_beside_what_it_was_made_for() {
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10.0"));
    let mut record = recorded(&NEAR_TEN);
    let of_tonic = |row: &&mut Row| row.cell.subject == "rust-tonic";
    for row in record.rows.iter_mut().filter(of_tonic).take(4) {
        let window = row.outcome.window_mut().expect("measured");
        window.marks.push(Mark::Steal { share: 0.4 });
    }
    // Another subject was measured anew, together with tonic, in as many undisturbed rounds.
    for number in 7..14 {
        let mut rows = invented::round(number, 1.0);
        rows[1].cell.subject = "rust-bookend".to_owned();
        record.rows.extend(rows);
    }
    let judge = |record: &Record| verdict_of(&text, printed([1000.0, 100.0]), Some(record.clone()));
    let (outcome, why) = judge(&record);
    assert_eq!(outcome, ClaimOutcome::Undecided);
    assert!(why.contains("Marked in 4 of 7 rounds"), "{why}");
    // It was pajamax: the rounds of then are the ones that count.
    record.rows.retain(|row| row.cell.subject != "rust-pajamax");
    for row in &mut record.rows {
        if row.cell.subject == "rust-bookend" {
            row.cell.subject = "rust-pajamax".to_owned();
        }
    }
    let (outcome, why) = judge(&record);
    assert_eq!(outcome, ClaimOutcome::DidNotReplicate, "{why}");
}

#[test]
fn a_case_that_was_disturbed_does_not_refute_the_others() {
    let both = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
                \"C=1 S=100\"] }\nsays = \"figure\"\nprinted = 1000.0";
    let mut record = rates(&[("C=1 S=1", [0.5; 7]), ("C=1 S=100", [1.0; 7])]);
    let judge =
        |record: &Record| verdict_of(&published(both), Document::default(), Some(record.clone())).0;
    assert_eq!(judge(&record), ClaimOutcome::DidNotReplicate);
    for row in record.rows.iter_mut().filter(|row| row.cell.case.concurrency == 1) {
        let window = row.outcome.window_mut().expect("measured");
        window.marks.push(Mark::Steal { share: 0.4 });
    }
    assert_eq!(judge(&record), ClaimOutcome::Undecided);
}

#[test]
fn what_the_probe_found_of_a_server_stands_beside_every_claim_about_it() {
    let text = published(&format!("{MEASURE}\nsays = \"factor\"\nprinted = 10"));
    let mut suite = suite_of(&text, recorded(&NEAR_TEN));
    assert!(!suite.reasons().contains("Probed"), "nothing was found: {}", suite.reasons());
    let facts = &mut suite.record.as_mut().unwrap().facts;
    facts.versions = BTreeMap::from([("rust-pajamax".to_owned(), "pajamax 1".to_owned())]);
    let of_version = |version: &str| {
        let line = format!(
            r#"{{"subject": "rust-pajamax", "version": "{version}", "skips": ["PING", "messages cut"],
            "semantics": {{"ping": "no", "cut": "no", "padding": "yes"}},
            "reasons": {{"ping": "no answer", "cut": "the server closed the connection"}}}}"#
        );
        ProbeFindings::parse(&line.replace('\n', "")).unwrap()
    };
    suite.probed = of_version("pajamax 1");
    suite.probed.tell(&mut suite.record.as_mut().unwrap().facts);
    let line = "  [Probed](../../records/findings/README.md): rust-pajamax fails 2 of 3 checks, and \
                closes the connection in 1: PING, messages cut.\n";
    assert!(suite.reasons().contains(line), "{}", suite.reasons());
    assert_eq!(suite.probed_servers().len(), 1);
    // Of another version it says nothing.
    let mut other = suite_of(&text, recorded(&NEAR_TEN));
    of_version("pajamax 2").tell(&mut other.record.as_mut().unwrap().facts);
    assert!(!other.reasons().contains("Probed"));
    // Nor does it say how many checks there were for one that was noted when the record was made.
    let facts = &mut other.record.as_mut().unwrap().facts;
    facts.skips = BTreeMap::from([("rust-pajamax".to_owned(), vec!["PING".to_owned()])]);
    assert!(other.reasons().contains("rust-pajamax fails 1 check: PING.\n"), "{}", other.reasons());
}
