//! Claims: what is wrong with a declaration is said with its line, and verdicts follow from the
//! rounds.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_results::audit::Span;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use bookend_verdicts::claims::{ClaimVerdict, JudgedSuite, JudgedSuites, Judgement, SuiteClaims};
use bookend_verdicts::document::{Document, PrintedRow};
use bookend_verdicts::published::Place;
use std::collections::BTreeMap;
use std::path::Path;
use table_rows::{cell, measurement, row, run};

const DOCUMENT: &str = "[document]\ntitle = \"An invented page\"\n";

/// A claim about the cost of two subjects at one case, with `more` lines.
fn ten_times(more: &str) -> String {
    format!(
        "{DOCUMENT}\n[[claims]]\nid = \"ten-times\"\nwhere = \"Conclusion\"\nclaim = \"ten times\"\n\
         published = \"10\"\n{more}\n"
    )
}

const MEASURE: &str = "measure = { metric = \"requests_per_cpu_second\", of = \"rust-pajamax\", \
                       over = \"rust-tonic\", cases = [\"C=1 S=100\"] }";

fn parse(text: &str) -> Result<SuiteClaims, String> {
    let file = Path::new("claims.toml");
    SuiteClaims::parse(file, text).map_err(|error| error.to_string())
}

/// The complaint about a text, which must name file and line.
fn complaint(text: &str) -> String {
    let complaint = parse(text).expect_err(text);
    let (place, what) = complaint.split_once(": ").expect("a place");
    assert!(place.starts_with("claims.toml:"), "{complaint}");
    let line: usize = place["claims.toml:".len()..].parse().expect("a line");
    assert!((1..=text.lines().count()).contains(&line), "{complaint}");
    what.to_owned()
}

/// A round in which pajamax answers `factor` times as many requests a CPU-second as tonic.
fn round(number: u32, factor: f64) -> Vec<Row> {
    let cost = |subject: &str, cpu_seconds: f64| {
        let measured = measurement(100, 10_000, cpu_seconds);
        let outcome = Outcome::Measured(Box::new(measured));
        row(number, cell(subject, "C=1 S=100"), outcome)
    };
    vec![cost("rust-tonic", 0.9), cost("rust-pajamax", 0.9 / factor)]
}

fn recorded(factors: &[f64]) -> Record {
    let rounds = (0_u32..).zip(factors);
    let rows: Vec<Row> = rounds.flat_map(|(number, factor)| round(number, *factor)).collect();
    Record::of_run(&run(), &rows, BTreeMap::new())
}

/// A document that prints a ratio of ten with the given figures.
fn printed(rates: [f64; 2]) -> Document {
    let subjects = ["rust-pajamax", "rust-tonic"];
    let rows = subjects.iter().zip(rates).map(|(subject, rate)| {
        let mut row = PrintedRow {
            place: Place {
                table: "results".into(),
                subject: (*subject).into(),
                label: "C=1 S=100".into(),
            },
            cell: Some(cell(subject, "C=1 S=100")),
            ..PrintedRow::default()
        };
        let figures = &mut row.figures;
        figures.insert("requests_per_second".into(), Span::exact(rate));
        figures.insert("server_cpu_mean".into(), Span::exact(0.5));
        if *subject == "rust-pajamax" {
            figures.insert("cost_ratio".into(), Span::exact(10.0));
        }
        row
    });
    Document { rows: rows.collect(), ..Document::default() }
}

fn verdict_of(text: &str, document: Document, record: Option<Record>) -> (ClaimVerdict, String) {
    let claims = parse(text).expect("well-formed");
    let judged = JudgedSuite::new("invented", claims, document, record);
    let judgements: Vec<Judgement<'_>> = judged.judgements();
    (judgements[0].verdict, judgements[0].why.clone())
}

fn judged(held: &str, record: Option<Record>) -> (ClaimVerdict, String) {
    let text = ten_times(&format!("{MEASURE}\nheld = {held}"));
    verdict_of(&text, printed([1000.0, 100.0]), record)
}

const NEAR_TEN: [f64; 7] = [9.8, 10.1, 10.0, 9.9, 10.2, 10.0, 9.9];

#[test]
fn a_claim_holds_when_the_whole_interval_is_within() {
    let (verdict, why) = judged("{ at_least = 8.0, at_most = 12.5 }", Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
    assert!(why.starts_with("Ours: 10 (9.86 to 10.1) at C=1 S=100, within 8 to 12.5."), "{why}");
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

    let rows = record.rows.iter_mut();
    for row in rows.filter(|row| row.round == 0) {
        let window = row.outcome.window_mut().expect("measured");
        window.server_cpu_seconds = 1.5;
    }
    let end = "Marked in 3 of 7 rounds: `cpu-above-limit`, `foreign-process`, `steal`.";
    assert!(why(&record).ends_with(end), "{}", why(&record));
    let nothing_ours = "judged_by = \"document\"\nheld = { at_least = 8.0 }";
    let text = ten_times(&format!("{MEASURE}\n{nothing_ours}"));
    let (_, why) = verdict_of(&text, printed([1000.0, 100.0]), Some(record));
    assert!(!why.contains("Marked"), "{why}");
}

#[test]
fn the_same_figure_in_all_rounds_is_said_to_be_so_and_has_no_interval() {
    let more = "ours = { metric = \"errors\", of = \"rust-tonic\", cases = [\"C=1 S=100\"] }\n\
                held = { at_most = 0 }";
    let judge = |record| verdict_of(&ten_times(more), Document::default(), Some(record)).1;
    let why = judge(recorded(&[10.0; 3]));
    assert_eq!(why, "Ours: 0 in each of 3 rounds at C=1 S=100, at most 0.");
    let mut record = recorded(&[10.0; 3]);
    let is_tonic = |row: &&mut Row| row.cell.subject == "rust-tonic";
    let row = record.rows.iter_mut().find(is_tonic).expect("a row");
    let window = row.outcome.window_mut().expect("measured");
    window.errors.insert("UNAVAILABLE".to_owned(), 3);
    let why = judge(record);
    assert!(why.contains("the interval lies on both sides"), "{why}");
}

#[test]
fn the_same_figure_in_all_rounds_is_taken_as_it_is_to_the_last_digit() {
    // The exponential of the logarithm of 10 is above 10, and that of 64 below 64.
    for (threads, rounds) in [(10, 3), (64, 3), (64, 10), (1_000, 7), (7, 5)] {
        let measure = "{ metric = \"threads\", of = \"rust-tonic\", cases = [\"C=1 S=100\"] }";
        let held = format!("{{ at_least = {threads}, at_most = {threads} }}");
        let more = format!("ours = {measure}\nheld = {held}");
        let mut record = recorded(&vec![10.0; rounds]);
        for row in &mut record.rows {
            row.outcome.window_mut().expect("measured").threads = threads;
        }
        let (verdict, why) = verdict_of(&ten_times(&more), Document::default(), Some(record));
        assert_eq!(verdict, ClaimVerdict::Held, "{why}");
    }
}

#[test]
fn a_quotient_says_once_of_what_it_is() {
    let text = ten_times(&format!("{MEASURE}\nheld = {{ at_least = 8.0 }}"));
    let claims = parse(&text).expect("well-formed");
    let record = Some(recorded(&NEAR_TEN));
    let suite = JudgedSuite::new("invented", claims, printed([1000.0, 100.0]), record);
    let summary = suite.summary();
    let page = JudgedSuites { suites: vec![suite] }.markdown();
    let row = |text: &str| {
        let row = text.lines().find(|line| line.contains("ten times"));
        row.expect("a row").to_owned()
    };
    let quotient = "rust-pajamax over rust-tonic: ";
    assert_eq!(row(&page).matches(quotient).count(), 1, "{page}");
    assert_eq!(row(&summary).matches(quotient).count(), 1, "{summary}");
}

#[test]
fn it_does_not_hold_when_the_whole_interval_is_outside() {
    for held in ["{ at_least = 11.0 }", "{ at_most = 9.0 }"] {
        let (verdict, why) = judged(held, Some(recorded(&NEAR_TEN)));
        assert_eq!(verdict, ClaimVerdict::DidNotHold, "{why}");
    }
}

#[test]
fn nobody_can_tell_when_the_interval_lies_on_both_sides() {
    let (verdict, why) = judged("{ at_least = 10.0 }", Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimVerdict::CannotTell);
    assert!(why.contains("the interval lies on both sides"), "{why}");
}

#[test]
fn one_round_has_no_interval_and_no_record_no_figure() {
    let (verdict, why) = judged("{ at_least = 1.0 }", Some(recorded(&[10.0])));
    assert_eq!(verdict, ClaimVerdict::CannotTell);
    assert!(why.contains("one round"), "{why}");
    let (verdict, why) = judged("{ at_least = 1.0 }", None);
    assert_eq!((verdict, why.as_str()), (ClaimVerdict::CannotTell, "No record yet."));
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
    assert_eq!(verdict, ClaimVerdict::CannotTell);
    assert!(why.contains("rust-pajamax at C=1 S=100: failed, it ended with status 1"), "{why}");
}

#[test]
fn a_case_that_is_not_recorded_leaves_the_others_to_refute_but_not_to_confirm() {
    let both = MEASURE.replace("[\"C=1 S=100\"]", "[\"C=1 S=100\", \"C=1 S=1\"]");
    let verdict = |held: &str| {
        let text = ten_times(&format!("{both}\nheld = {held}"));
        verdict_of(&text, printed([1000.0, 100.0]), Some(recorded(&NEAR_TEN))).0
    };
    assert_eq!(verdict("{ at_least = 8.0 }"), ClaimVerdict::CannotTell);
    assert_eq!(verdict("{ at_least = 12.0 }"), ClaimVerdict::DidNotHold);
}

#[test]
fn what_the_audit_refutes_does_not_hold_whatever_we_measure() {
    let refuted_by = "refuted_by = { rule = \"ratio-differs\", of = \"rust-pajamax\" }";
    let text = ten_times(&format!("{MEASURE}\nheld = {{ at_least = 8.0 }}\n{refuted_by}"));
    let judge = |rates| verdict_of(&text, printed(rates), Some(recorded(&NEAR_TEN)));
    let (verdict, why) = judge([1200.0, 100.0]);
    assert_eq!(verdict, ClaimVerdict::DidNotHold);
    assert!(why.contains("ratio-differs: printed 10"), "{why}");
    assert_eq!(judge([1000.0, 100.0]).0, ClaimVerdict::Held);
}

#[test]
fn a_claim_about_the_document_needs_no_record() {
    let judged_by = |figures: &str| {
        let more = format!("judged_by = \"document\"\n{figures}\nheld = {{ at_least = 9.9 }}");
        verdict_of(&ten_times(&more), printed([1000.0, 100.0]), None)
    };
    assert_eq!(judged_by(MEASURE).0, ClaimVerdict::Held);
    let (verdict, why) = judged_by("formula = \"(95 / 2.0) / (10 / 2.0)\"");
    assert_eq!(verdict, ClaimVerdict::CannotTell, "{why}");
    let (verdict, why) = judged_by("formula = \"95 / 10\"");
    assert_eq!(verdict, ClaimVerdict::DidNotHold, "{why}");
    assert!(why.starts_with("Its own figures: 9.50; held would be at least 9.90."), "{why}");
}

#[test]
fn the_median_case_is_the_smaller_of_two_in_the_middle() {
    let cases = ["C=1 S=1", "C=1 S=10", "C=1 S=100", "C=1 S=1000"];
    let more = format!(
        "ours = {{ metric = \"requests_per_second\", of = \"rust-tonic\", cases = {cases:?}, take = \
         \"median\" }}\nheld = {{ at_least = 1990, at_most = 2010 }}"
    );
    // Not in the order of the cases, so that it is the figures that are put in order.
    let rows = (0_u32..7).flat_map(|number| {
        let rates = [4_000, 1_000, 3_000, 2_000];
        cases.into_iter().zip(rates).map(move |(case, rate)| {
            let outcome = Outcome::Measured(Box::new(measurement(1, rate, 0.5)));
            row(number, cell("rust-tonic", case), outcome)
        })
    });
    let record = Record::of_run(&run(), &rows.collect::<Vec<Row>>(), BTreeMap::new());
    let (verdict, why) = verdict_of(&ten_times(&more), Document::default(), Some(record));
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
    assert!(why.contains("as the middle of 4 cases"), "{why}");
}

#[test]
fn growth_from_case_to_case_is_paired_by_round() {
    let more = "ours = { metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
                \"C=1 S=100\"], take = \"growth\" }\nheld = { at_least = 1.9, at_most = 2.1 }";
    // The rate drifts by half from round to round, the growth does not.
    let rows = (0_u32..7).flat_map(|number| {
        let drift = 1.0 + f64::from(number) / 10.0;
        [("C=1 S=1", 1_000.0), ("C=1 S=100", 2_000.0)].map(|(case, rate)| {
            let measured = measurement(1, (rate * drift) as u64, 0.5);
            let outcome = Outcome::Measured(Box::new(measured));
            row(number, cell("rust-tonic", case), outcome)
        })
    });
    let record = Record::of_run(&run(), &rows.collect::<Vec<Row>>(), BTreeMap::new());
    let (verdict, why) = verdict_of(&ten_times(more), Document::default(), Some(record));
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
    assert!(why.contains("C=1 S=1 to C=1 S=100"), "{why}");
}

/// Rounds in which tonic answers so many thousand requests a second in each of the cases.
fn rates(cases: &[(&str, [f64; 7])]) -> Record {
    let rows = cases.iter().flat_map(|(case, rates)| {
        (0_u32..).zip(rates).map(|(number, rate)| {
            let measured = measurement(1, (rate * 1e3) as u64, 0.5);
            let outcome = Outcome::Measured(Box::new(measured));
            row(number, cell("rust-tonic", case), outcome)
        })
    });
    Record::of_run(&run(), &rows.collect::<Vec<Row>>(), BTreeMap::new())
}

fn judged_rates(take: &str, held: &str, record: Record) -> (ClaimVerdict, String) {
    let more = format!(
        "ours = {{ metric = \"requests_per_second\", of = \"rust-tonic\", cases = [\"C=1 S=1\", \
         \"C=1 S=100\"], take = \"{take}\" }}\nheld = {held}"
    );
    verdict_of(&ten_times(&more), Document::default(), Some(record))
}

#[test]
fn the_largest_of_several_cases_is_that_of_each_round() {
    // The case with the larger median never comes near the limit, the other one often exceeds it.
    let calm = ("C=1 S=1", [3.0; 7]);
    let wild = ("C=1 S=100", [1.0, 9.0, 1.0, 9.0, 2.9, 9.0, 1.0]);
    let record = || rates(&[calm, wild]);
    let (verdict, why) = judged_rates("largest", "{ at_most = 5000 }", record());
    assert_eq!(verdict, ClaimVerdict::CannotTell, "{why}");
    assert!(why.contains(" as the largest of 2 cases;"), "{why}");
    let (verdict, why) = judged_rates("largest", "{ at_most = 10000 }", record());
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
    let (verdict, why) = judged_rates("least", "{ at_most = 3500 }", record());
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
}

#[test]
fn without_one_of_the_cases_nobody_knows_the_largest() {
    let record = rates(&[("C=1 S=1", [3.0; 7])]);
    let (verdict, why) = judged_rates("largest", "{ at_least = 5000 }", record);
    assert_eq!(verdict, ClaimVerdict::CannotTell, "{why}");
    assert!(why.contains("no record of rust-tonic at C=1 S=100"), "{why}");
}

#[test]
fn one_of_several_cases_refutes_only_where_that_is_no_chance() {
    // The first alone lies above 998 with 95 % confidence, as one of two it lies above 982.
    let first = ("C=1 S=1", [1.0, 1.1, 1.05, 1.2, 0.95, 1.15, 1.1]);
    let second = ("C=1 S=100", [0.5; 7]);
    let record = || rates(&[first, second]);
    let (verdict, why) = judged_rates("each", "{ at_most = 990 }", record());
    assert_eq!(verdict, ClaimVerdict::CannotTell, "{why}");
    assert!(why.contains("One of 2 cases can be as far off by chance."), "{why}");
    let (verdict, why) = judged_rates("each", "{ at_most = 980 }", record());
    assert_eq!(verdict, ClaimVerdict::DidNotHold, "{why}");
}

#[test]
fn a_round_in_which_a_cell_failed_is_not_left_out() {
    let mut record = recorded(&NEAR_TEN);
    let of_pajamax = |row: &&mut Row| row.cell.subject == "rust-pajamax";
    let row = record.rows.iter_mut().find(of_pajamax).expect("a row");
    let error = "it ended with status 1".to_owned();
    row.outcome = Outcome::failed(error);
    let (verdict, why) = judged("{ at_least = 1.0 }", Some(record));
    assert_eq!(verdict, ClaimVerdict::CannotTell);
    assert!(why.contains("failed in 1 of 7 rounds, it ended"), "{why}");
}

#[test]
fn a_model_says_what_a_run_must_come_to() {
    let model = "[[models]]\nid = \"two-waves\"\nabout = \"two waves\"\nrejection = \"silent\"\n\
                 service = \"500ms\"\nconcurrency = 100\ncalls = 200\ntime_out = \"20s\"\n\
                 of = \"rust-tonic\"\ncase = \"C=1 S=100\"\n";
    let more = "ours = { metric = \"total_time\", of = \"rust-tonic\", over_model = \"two-waves\", \
                cases = [\"C=1 S=100\"] }\nheld = { at_least = 0.99, at_most = 1.01 }";
    let text = ten_times(more).replace("[[claims]]", &format!("{model}\n[[claims]]"));
    let (verdict, why) = verdict_of(&text, Document::default(), Some(recorded(&NEAR_TEN)));
    assert_eq!(verdict, ClaimVerdict::Held, "{why}");
}

#[test]
fn the_summary_has_a_line_for_every_claim() {
    let text = ten_times(&format!("{MEASURE}\nheld = {{ at_least = 8.0 }}"));
    let claims = parse(&text).expect("well-formed");
    let record = Some(recorded(&NEAR_TEN));
    let judged = JudgedSuite::new("invented", claims, printed([1000.0, 100.0]), record);
    let last = judged.summary().lines().last().map(str::to_owned);
    let expected =
        "| ten times | 10 | rust-pajamax over rust-tonic: 10 (9.86 to 10.1) at C=1 S=100 | held |";
    assert_eq!(last.as_deref(), Some(expected));
}

#[test]
fn a_misspelt_word_comes_with_its_line_and_the_right_one() {
    let held = "held = { at_least = 8.0 }";
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
        (complaint(&ten_times(MEASURE)), "say what counts as held"),
        (
            complaint(&ten_times(&format!("{MEASURE}\nheld = {{ at_least = 2, at_most = 1 }}"))),
            "in this order",
        ),
        (complaint(&claim("formula = \"1 +\"")), "the formula ends too early"),
        (
            complaint(&claim(&format!("{MEASURE}\nrefuted_by = {{ rule = \"ratio-difers\" }}"))),
            "did you mean `ratio-differs`?",
        ),
        (complaint(&claim(&format!("{MEASURE}\ncannot_tell = \"no\""))), "has no `held`"),
    ];
    for (complaint, expected) in known {
        assert!(complaint.contains(expected), "{complaint}");
    }
}

#[test]
fn a_claim_is_made_once_and_a_model_is_bounded() {
    let one = ten_times(&format!("{MEASURE}\nheld = {{ at_least = 8.0 }}"));
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
    let whole = ten_times(&format!("{MEASURE}\nheld = {{ at_least = 8.0 }}"));
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        let _ = parse(&whole[..end]);
        let _ = parse(&format!("{}{}", &whole[..end], &whole[(end + 7).min(whole.len())..]));
    }
}
