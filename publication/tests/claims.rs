//! Claims: what is wrong with a declaration is said with its line, and verdicts follow from the
//! rounds.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

mod invented;

use bookend_publication::claims::{ClaimOutcome, JudgedSuite, JudgedSuites};
use bookend_publication::document::Document;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use invented::{
    DOCUMENT, MEASURE, NEAR_TEN, parse, printed, rates, recorded, ten_times, verdict_of,
};
use std::collections::BTreeMap;
use table_rows::{cell, measurement, row, run};

/// The complaint about a text, which must name file and line.
fn complaint(text: &str) -> String {
    let complaint = parse(text).expect_err(text);
    let (place, what) = complaint.split_once(": ").expect("a place");
    assert!(place.starts_with("claims.toml:"), "{complaint}");
    let line: usize = place["claims.toml:".len()..].parse().expect("a line");
    assert!((1..=text.lines().count()).contains(&line), "{complaint}");
    what.to_owned()
}

/// Bounds that the interval of the median must keep, as those of expectations.
fn within(range: &str) -> String {
    let range = range.trim_matches(['{', '}', ' ']);
    format!("bounds = {{ {range}, every_round = false, because = \"chosen\" }}")
}

fn judged(held: &str, record: Option<Record>) -> (ClaimOutcome, String) {
    let held = within(held);
    let text = ten_times(&format!("{MEASURE}\n{held}"));
    verdict_of(&text, printed([1000.0, 100.0]), record)
}

#[test]
fn a_claim_holds_when_the_whole_interval_is_within() {
    let (verdict, why) = judged("{ at_least = 8.0, at_most = 12.5 }", Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
    assert!(
        why.starts_with("10 (9.80 to 10.2) at C=1 S=100; replicated is 8 to 12.5 (chosen)."),
        "{why}"
    );
}

#[test]
fn the_doubts_about_the_rounds_of_a_verdict_stand_behind_it() {
    let mut record = recorded(&NEAR_TEN);
    let why = |record: &Record| judged("{ at_least = 8.0 }", Some(record.clone())).1;
    assert!(!why(&record).contains("Marked"), "{}", why(&record));
    let mut mark = |round: u32, subject: &str, mark: Mark| {
        let is_meant = |row: &&mut Row| row.round == round && row.cell.subject == subject;
        let row = record.rows.iter_mut().find(is_meant).expect("a row");
        let window = row.outcome.window_mut().expect("measured");
        window.marks.push(mark);
    };
    mark(2, "rust-tonic", Mark::Steal { share: 0.031 });
    mark(2, "rust-pajamax", Mark::Steal { share: 0.04 });
    let foreign = Mark::ForeignProcess { cpus: vec![0], share: 0.29 };
    mark(5, "rust-pajamax", foreign);
    let end = "Marked in 2 of 7 rounds: `foreign-process`, `steal`.";
    assert!(why(&record).ends_with(end), "{}", why(&record));

    for row in record.rows.iter_mut().filter(|row| row.round == 0) {
        let window = row.outcome.window_mut().expect("measured");
        window.ends.server.cpu_seconds = 1.5;
    }
    let end = "Marked in 3 of 7 rounds: `cpu-above-limit`, `foreign-process`, `steal`.";
    assert!(why(&record).ends_with(end), "{}", why(&record));
    let nothing_ours = format!("judged_by = \"document\"\n{}", within("at_least = 8.0"));
    let text = ten_times(&format!("{MEASURE}\n{nothing_ours}"));
    let (_, why) = verdict_of(&text, printed([1000.0, 100.0]), Some(record));
    assert!(!why.contains("Marked"), "{why}");
}

#[test]
fn the_same_figure_in_all_rounds_is_said_to_be_so_and_has_no_interval() {
    let ours = "ours = { metric = \"errors\", of = \"rust-tonic\", cases = [\"C=1 S=100\"] }";
    let more = &format!("{ours}\n{}", within("at_most = 0"));
    let judge = |record| verdict_of(&ten_times(more), Document::default(), Some(record)).1;
    let why = judge(recorded(&[10.0; 3]));
    assert_eq!(why, "0 in each of 3 rounds at C=1 S=100; replicated is at most 0 (chosen).");
    let mut record = recorded(&[10.0; 3]);
    let is_tonic = |row: &&mut Row| row.cell.subject == "rust-tonic";
    let row = record.rows.iter_mut().find(is_tonic).expect("a row");
    let window = row.outcome.window_mut().expect("measured");
    window.counts.errors.insert("UNAVAILABLE".to_owned(), 3);
    let why = judge(record);
    assert!(why.contains("of 3 there is no interval, 6 are the fewest"), "{why}");
}

#[test]
fn the_same_figure_in_all_rounds_is_taken_as_it_is_to_the_last_digit() {
    // The exponential of the logarithm of 10 is above 10, and that of 64 below 64.
    for (threads, rounds) in [(10, 3), (64, 3), (64, 10), (1_000, 7), (7, 5)] {
        let measure = "{ metric = \"threads\", of = \"rust-tonic\", cases = [\"C=1 S=100\"] }";
        let held = within(&format!("at_least = {threads}, at_most = {threads}"));
        let more = format!("ours = {measure}\n{held}");
        let mut record = recorded(&vec![10.0; rounds]);
        for row in &mut record.rows {
            row.outcome.window_mut().expect("measured").ends.server.threads = Some(threads);
        }
        let (verdict, why) = verdict_of(&ten_times(&more), Document::default(), Some(record));
        assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
    }
}

#[test]
fn the_table_is_narrow_and_what_was_divided_by_what_is_folded_away() {
    let text = ten_times(&format!("{MEASURE}\n{}", within("at_least = 8.0")));
    let claims = parse(&text).expect("well-formed");
    let record = Some(recorded(&NEAR_TEN));
    let suite = JudgedSuite::new("invented", claims, printed([1000.0, 100.0]), record);
    let reasons = suite.reasons();
    let suites = JudgedSuites { suites: vec![suite], ..JudgedSuites::default() };
    let (table, page) = (suites.expectations(), suites.reasons_page());
    assert!(table.lines().any(|line| line == "| ten times | 10 | 10 replicated | - |"), "{table}");
    let quotient = "rust-pajamax over rust-tonic: 10 (9.80 to 10.2) at C=1 S=100";
    assert!(page.contains(quotient), "{page}");
    assert!(page.contains("By its own table: rust-pajamax over rust-tonic: 10 at"), "{page}");
    assert!(page.contains(&reasons), "{page}");
}

#[test]
fn it_does_not_hold_when_the_whole_interval_is_outside() {
    for held in ["{ at_least = 11.0 }", "{ at_most = 9.0 }"] {
        let (verdict, why) = judged(held, Some(recorded(&NEAR_TEN)));
        assert_eq!(verdict, ClaimOutcome::DidNotReplicate, "{why}");
    }
}

#[test]
fn nobody_can_tell_when_the_interval_lies_on_both_sides() {
    let (verdict, why) = judged("{ at_least = 10.0 }", Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimOutcome::Undecided);
    assert!(why.contains("The figure lies on the bound"), "{why}");
}

#[test]
fn one_round_has_no_interval_and_no_record_no_figure() {
    let (verdict, why) = judged("{ at_least = 1.0 }", Some(recorded(&[10.0])));
    assert_eq!(verdict, ClaimOutcome::Undecided);
    assert!(why.contains("of 1 there is no interval, 6 are the fewest"), "{why}");
    let (verdict, why) = judged("{ at_least = 1.0 }", None);
    assert_eq!(
        (verdict, why.as_str()),
        (
            ClaimOutcome::Undecided,
            "The missing row would decide it: no record of rust-pajamax at C=1 S=100."
        )
    );
}

#[test]
fn a_cell_that_failed_is_named_with_its_reason() {
    let mut record = recorded(&NEAR_TEN);
    for row in &mut record.rows {
        if row.cell.subject == "rust-pajamax" {
            let error = "it ended with status 1".to_owned();
            row.outcome = Outcome::failed(error);
        }
    }
    let (verdict, why) = judged("{ at_least = 1.0 }", Some(record));
    assert_eq!(verdict, ClaimOutcome::Undecided);
    assert!(why.contains("rust-pajamax at C=1 S=100: failed, it ended with status 1"), "{why}");
}

#[test]
fn a_case_that_is_not_recorded_leaves_the_others_to_refute_but_not_to_confirm() {
    let both = MEASURE.replace("[\"C=1 S=100\"]", "[\"C=1 S=100\", \"C=1 S=1\"]");
    let verdict = |held: &str| {
        let held = within(held);
        let text = ten_times(&format!("{both}\n{held}"));
        verdict_of(&text, printed([1000.0, 100.0]), Some(recorded(&NEAR_TEN))).0
    };
    assert_eq!(verdict("{ at_least = 8.0 }"), ClaimOutcome::Undecided);
    assert_eq!(verdict("{ at_least = 12.0 }"), ClaimOutcome::DidNotReplicate);
}

#[test]
fn what_the_audit_refutes_does_not_hold_whatever_we_measure() {
    let refuted_by = "refuted_by = { rule = \"ratio-differs\", of = \"rust-pajamax\" }";
    let text = ten_times(&format!("{MEASURE}\n{}\n{refuted_by}", within("at_least = 8.0")));
    let judge = |rates| verdict_of(&text, printed(rates), Some(recorded(&NEAR_TEN)));
    let (verdict, why) = judge([1200.0, 100.0]);
    assert_eq!(verdict, ClaimOutcome::RefutedByItsTable);
    assert!(why.contains("ratio-differs: printed 10"), "{why}");
    assert_eq!(judge([1000.0, 100.0]).0, ClaimOutcome::Replicated);
}

#[test]
fn a_claim_about_the_document_needs_no_record() {
    let judged_by = |figures: &str| {
        let held = within("at_least = 9.9");
        let more = format!("judged_by = \"document\"\n{figures}\n{held}");
        verdict_of(&ten_times(&more), printed([1000.0, 100.0]), None)
    };
    assert_eq!(judged_by(MEASURE).0, ClaimOutcome::Replicated);
    let (verdict, why) = judged_by("formula = \"(95 / 2.0) / (10 / 2.0)\"");
    assert_eq!(verdict, ClaimOutcome::Undecided, "{why}");
    let (verdict, why) = judged_by("formula = \"95 / 10\"");
    assert_eq!(verdict, ClaimOutcome::RefutedByItsTable, "{why}");
    assert!(
        why.starts_with("Its own figures: 9.50; replicated is at least 9.90 (chosen)."),
        "{why}"
    );
}

#[test]
fn the_median_case_is_the_smaller_of_two_in_the_middle() {
    let cases = ["C=1 S=1", "C=1 S=10", "C=1 S=100", "C=1 S=1000"];
    let held = within("at_least = 1990, at_most = 2010");
    let more = format!(
        "ours = {{ metric = \"requests_per_second\", of = \"rust-tonic\", cases = {cases:?}, take = \
         \"median\" }}\n{held}"
    );
    // Not in the order of the cases, so that it is the figures that are put in order.
    let rows: Vec<Row> = (0_u32..7)
        .flat_map(|number| {
            let rates = [4_000, 1_000, 3_000, 2_000];
            cases.into_iter().zip(rates).map(move |(case, rate)| {
                let outcome = Outcome::Measured(Box::new(measurement(1, rate, 0.5)));
                row(number, cell("rust-tonic", case), outcome)
            })
        })
        .collect();
    let record = Record::of_run(&run(), &rows, BTreeMap::new());
    let (verdict, why) = verdict_of(&ten_times(&more), Document::default(), Some(record));
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
    assert!(why.contains("as the middle of 4 cases"), "{why}");
}

#[test]
fn growth_from_case_to_case_is_paired_by_round() {
    let ours = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
                \"C=1 S=100\"], take = \"growth\" }";
    let more = &format!("{ours}\n{}", within("at_least = 1.9, at_most = 2.1"));
    // The rate drifts by half from round to round, the growth does not.
    let rows: Vec<Row> = (0_u32..7)
        .flat_map(|number| {
            let drift = 1.0 + f64::from(number) / 10.0;
            [("C=1 S=1", 1_000.0), ("C=1 S=100", 2_000.0)].map(|(case, rate)| {
                let measured = measurement(1, (rate * drift) as u64, 0.5);
                let outcome = Outcome::Measured(Box::new(measured));
                row(number, cell("rust-tonic", case), outcome)
            })
        })
        .collect();
    let record = Record::of_run(&run(), &rows, BTreeMap::new());
    let (verdict, why) = verdict_of(&ten_times(more), Document::default(), Some(record));
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
    assert!(why.contains("C=1 S=1 to C=1 S=100"), "{why}");
}

fn judged_rates(take: &str, held: &str, record: Record) -> (ClaimOutcome, String) {
    let held = within(held);
    let more = format!(
        "ours = {{ metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
         \"C=1 S=100\"], take = \"{take}\" }}\n{held}"
    );
    verdict_of(&ten_times(&more), Document::default(), Some(record))
}

#[test]
fn a_latency_that_a_window_cut_off_decides_nothing() {
    let judged = |cut_off: u64| {
        let mut record = rates(&[("C=1 S=100", [10.0; 7])]);
        for row in record.rows.iter_mut().take(2) {
            let window = row.outcome.window_mut().expect("measured");
            window.asked = None;
            window.counts.in_flight_at_end.as_mut().expect("its caller says so").calls = cut_off;
        }
        let ours =
            "ours = { metric = \"latency_p99\", of = \"rust-tonic\", cases = [\"C=1 S=100\"] }";
        let text = ten_times(&format!("{ours}\n{}", within("{ at_most = 1e9 }")));
        verdict_of(&text, Document::default(), Some(record))
    };
    let (verdict, why) = judged(0);
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
    // Of ten thousand calls a hundred lie beyond p99.
    let (verdict, why) = judged(150);
    assert_eq!(verdict, ClaimOutcome::Undecided, "{why}");
    assert!(why.contains("is a lower bound in 2 of 7 rounds"), "{why}");
}

#[test]
fn the_largest_of_several_cases_is_that_of_each_round() {
    // The case with the larger median never comes near the limit, the other one often exceeds it.
    let calm = ("C=1 S=1", [3.0; 7]);
    let wild = ("C=1 S=100", [1.0, 9.0, 1.0, 9.0, 2.9, 9.0, 1.0]);
    let record = || rates(&[calm, wild]);
    let (verdict, why) = judged_rates("largest", "{ at_most = 5000 }", record());
    assert_eq!(verdict, ClaimOutcome::Undecided, "{why}");
    assert!(why.contains(" as the largest of 2 cases;"), "{why}");
    let (verdict, why) = judged_rates("largest", "{ at_most = 10000 }", record());
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
}

#[test]
fn without_one_of_the_cases_nobody_knows_the_largest() {
    let record = rates(&[("C=1 S=1", [3.0; 7])]);
    let (verdict, why) = judged_rates("largest", "{ at_least = 5000 }", record);
    assert_eq!(verdict, ClaimOutcome::Undecided, "{why}");
    assert!(why.contains("no record of rust-tonic at C=1 S=100"), "{why}");
}

#[test]
fn one_of_several_cases_refutes_only_where_that_is_no_chance() {
    // Of ten rounds the second smallest bounds the median of one case, the smallest that of three.
    let first = [0.975, 1.0, 1.05, 1.2, 1.02, 1.15, 1.1, 1.1, 1.1, 1.1];
    let cases = ["C=1 S=1", "C=1 S=10", "C=1 S=100"];
    let record = rates(&[(cases[0], first), (cases[1], [0.5; 10]), (cases[2], [0.5; 10])]);
    let judge = |most: u32| {
        let ours = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\"";
        let more =
            format!("{ours}, cases = {cases:?} }}\n{}", within(&format!("at_most = {most}")));
        verdict_of(&ten_times(&more), Document::default(), Some(record.clone()))
    };
    let (verdict, why) = judge(990);
    assert_eq!(verdict, ClaimOutcome::Undecided, "{why}");
    assert!(why.contains("Of several cases one can be as far off by chance"), "{why}");
    let (verdict, why) = judge(970);
    assert_eq!(verdict, ClaimOutcome::DidNotReplicate, "{why}");
}

#[test]
fn a_round_in_which_a_cell_failed_is_not_left_out() {
    let mut record = recorded(&NEAR_TEN);
    let of_pajamax = |row: &&mut Row| row.cell.subject == "rust-pajamax";
    let row = record.rows.iter_mut().find(of_pajamax).expect("a row");
    let error = "it ended with status 1".to_owned();
    row.outcome = Outcome::failed(error);
    let (verdict, why) = judged("{ at_least = 1.0 }", Some(record));
    assert_eq!(verdict, ClaimOutcome::Undecided);
    assert!(why.contains("failed in 1 of 7 rounds, it ended"), "{why}");
}

#[test]
fn a_model_says_what_a_run_must_come_to() {
    let model = "[[models]]\nid = \"two-waves\"\nabout = \"two waves\"\nrejection = \"silent\"\n\
                 service = \"500ms\"\nconcurrency = 100\ncalls = 200\ntime_out = \"20s\"\n\
                 of = \"rust-tonic\"\ncase = \"C=1 S=100\"\n";
    let ours = "ours = { metric = \"total_time\", of = \"rust-tonic\", over_model = \"two-waves\", \
                cases = [\"C=1 S=100\"] }";
    let more = &format!("{ours}\n{}", within("at_least = 0.99, at_most = 1.01"));
    let text = ten_times(more).replace("[[claims]]", &format!("{model}\n[[claims]]"));
    let (verdict, why) = verdict_of(&text, Document::default(), Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimOutcome::Replicated, "{why}");
}

#[test]
fn a_misspelt_word_comes_with_its_line_and_the_right_one() {
    let held = &within("at_least = 8.0");
    let claim = |measure: &str| ten_times(&format!("{measure}\n{held}"));
    let broken = |from: &str, to: &str| complaint(&claim(&MEASURE.replace(from, to)));
    let known = [
        (broken("cpu_second", "cpu_secnd"), "did you mean `requests_per_cpu_second`?"),
        (broken("over =", "ovr ="), "did you mean `over`?"),
        (broken("C=1 S=100", "C=1 T=100"), "is not a case"),
        (broken("rust-pajamax", "rust pajamax"), "is no subject"),
        (broken("over = \"rust-tonic\"", "over_model = \"waves\""), "no model `waves`"),
        (broken("over =", "over_case = \"C=1 S=1\", over ="), "divided by one thing"),
        (complaint(&ten_times(held)), "say how it is judged"),
        (complaint(&ten_times(MEASURE)), "say what it says of the figure"),
        (
            complaint(&ten_times(&format!("{MEASURE}\n{}", within("at_least = 2, at_most = 1")))),
            "in this order",
        ),
        (complaint(&claim("formula = \"1 +\"")), "the formula ends too early"),
        (
            complaint(&claim(&format!("{MEASURE}\nrefuted_by = {{ rule = \"ratio-difers\" }}"))),
            "did you mean `ratio-differs`?",
        ),
        (complaint(&claim(&format!("{MEASURE}\nundecided = \"no\""))), "has no `says`"),
        (complaint(&claim(&format!("{MEASURE}\nsays = \"more\""))), "not both"),
        (complaint(&ten_times(&format!("{MEASURE}\nsays = \"mroe\""))), "unknown variant `mroe`"),
        (complaint(&claim(MEASURE).replace("expectations = true\n", "")), "kept in every round"),
        (
            complaint(&claim(MEASURE).replace(
                "\"ten times\"",
                "\"ten times, and at length what else is to be said of it\"",
            )),
            "`short` says it",
        ),
    ];
    for (complaint, expected) in known {
        assert!(complaint.contains(expected), "{complaint}");
    }
}

#[test]
fn a_claim_is_made_once_and_a_model_is_bounded() {
    let one = ten_times(&format!("{MEASURE}\n{}", within("at_least = 8.0")));
    let again = one.split_once("[[claims]]").expect("a claim").1;
    assert!(complaint(&format!("{one}\n[[claims]]{again}")).contains("made twice"));
    let model = |calls: &str| {
        format!(
            "{DOCUMENT}\n[[models]]\nid = \"m\"\nabout = \"\"\nrejection = \"silent\"\nservice = \
             \"1s\"\nconcurrency = 1\ncalls = {calls}\ntime_out = \"20s\"\nof = \"rust-tonic\"\n\
             case = \"C=1 S=1\"\n[[claims]]{again}"
        )
    };
    assert!(complaint(&model("0")).contains("1 to 1000000 calls"));
    assert!(complaint(&model("1000001")).contains("1 to 1000000 calls"));
    assert!(parse(&model("10")).is_ok());
}

#[test]
fn no_mutilated_declaration_panics() {
    let whole = ten_times(&format!("{MEASURE}\n{}", within("at_least = 8.0")));
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        let _ = parse(&whole[..end]);
        let _ = parse(&format!("{}{}", &whole[..end], &whole[(end + 7).min(whole.len())..]));
    }
}
