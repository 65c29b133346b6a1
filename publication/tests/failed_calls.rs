//! No page hides calls that failed: neither the outcome of a claim, nor the page of a suite, nor
//! the site.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

mod invented;

use bookend_publication::claims::{ClaimOutcome, JudgedSuite, JudgedSuites};
use bookend_publication::pages::{ClaimVerdicts, Page};
use bookend_publication::site::ResultSite;
use bookend_results::measurement::Row;
use bookend_results::record::Record;
use bookend_results::suite::{Extent, Overrides, Selection, Suite};
use invented::{MEASURE, NEAR_TEN, parse, printed, recorded, ten_times};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use table_rows::{rows, run};

/// `per_mille` of a thousand calls fail in the chosen rows.
fn fail(rows: &mut [Row], is_chosen: impl Fn(&Row) -> bool, per_mille: u64) {
    for row in rows.iter_mut().filter(|row| is_chosen(row)) {
        if let Some(window) = row.outcome.window_mut() {
            let failed = window.counts.ok * per_mille / (1000 - per_mille);
            window.counts.errors.insert("UNAVAILABLE".into(), failed);
        }
    }
}

/// A document with one claim, ten times as fast, of which these shares of the calls failed.
fn judged(more: &str, [own, other]: [u64; 2]) -> JudgedSuite {
    let mut record = recorded(&NEAR_TEN);
    fail(&mut record.rows, |row| row.cell.subject == "rust-pajamax", own);
    fail(&mut record.rows, |row| row.cell.subject == "rust-tonic", other);
    let text = ten_times(&format!("{MEASURE}\n{more}")).replace("expectations = true\n", "");
    JudgedSuite::new(
        "invented",
        parse(&text).expect("well-formed"),
        printed([1000.0, 100.0]),
        Some(record),
    )
}

const TEN: &str = "says = \"factor\"\nprinted = 10.0";

#[test]
fn an_outcome_says_by_itself_whose_calls_failed() {
    let suite = judged(TEN, [264, 5]);
    let judgements = suite.judgements();
    let answer = &judgements[0].replicates;
    assert_eq!(answer.outcome, ClaimOutcome::Replicated);
    let verdict = "replicated, while 26.4 % of rust-pajamax's calls failed at C=1 S=100";
    assert_eq!(answer.verdict(), verdict);
    assert!(answer.why.contains("Some calls failed: 0.5 % of rust-tonic at C=1 S=100."));
    assert!(answer.why.contains("`calls-failed`"), "{}", answer.why);
    assert_eq!(judgements[0].marked_sentence(), "! ten times");
    // It is a rule of figures, not of servers: a divisor whose calls failed is treated alike.
    let other = judged(TEN, [0, 264]).judgements()[0].replicates.verdict();
    assert!(other.ends_with("while 26.4 % of rust-tonic's calls failed at C=1 S=100"), "{other}");
    let sound = judged(TEN, [0, 0]);
    let sound = sound.judgements();
    assert_eq!(sound[0].replicates.verdict(), "replicated");
    assert_eq!(sound[0].marked_sentence(), "ten times");
}

#[test]
fn every_outcome_says_it() {
    for (more, begins) in [
        ("says = \"factor\"\nprinted = 20.0", "did not replicate, while"),
        ("says = \"factor\"\nprinted = 7.0", "more than claimed, while"),
        ("undecided = \"Not asked.\"", "undecided, while"),
        ("not_comparable = \"Another machine.\"", "not comparable here, while"),
    ] {
        let verdict = judged(more, [264, 0]).judgements()[0].replicates.verdict();
        assert!(verdict.starts_with(begins), "{verdict}");
    }
}

#[test]
fn no_page_of_claims_hides_them() {
    let finding = "finding = { text = \"It is {same} times.\", if = [\
                   { figure = \"table\", at_least = 1.0 }, { figure = \"same\", at_least = 1.0 }] }";
    let suites = JudgedSuites {
        suites: vec![judged(&format!("{TEN}\n{finding}"), [264, 5])],
        run_twice: vec![],
    };
    let page = suites.markdown() + &suites.reasons_page();
    for part in [
        "- It is 10 times. But 26.4 % of rust-pajamax's calls failed at C=1 S=100.",
        "| ! ten times | 10 | 10 replicated | - | 26.4 % |",
        "**replicated, while 26.4 % of rust-pajamax's calls failed at C=1 S=100**",
        "0.5 % of rust-tonic at C=1 S=100",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let site = ResultSite {
        records: vec![],
        judged: suites.clone(),
        since: BTreeMap::new(),
        raw: BTreeMap::new(),
    };
    let claims = &site.files()[1].1;
    assert!(claims.contains("<th scope=\"row\">! ten times"), "{claims}");
    assert!(
        claims.contains(">replicated, while 26.4 % of rust-pajamax&#39;s calls failed")
            || claims.contains(">replicated, while 26.4 % of rust-pajamax's calls failed"),
        "{claims}"
    );
    assert!(claims.contains("0.5 % of rust-tonic"), "{claims}");
    let again = judged("says = \"factor\"\nprinted = 20.0", [264, 5]);
    let first = JudgedSuite { again: Some(Box::new(again)), ..judged(TEN, [264, 5]) };
    let repeated = JudgedSuites { suites: vec![first], ..JudgedSuites::default() }.repeated_page();
    assert!(repeated.contains("replicated, while 26.4 %"), "{repeated}");
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites").join(name)
}

/// An invented run of a suite in which a quarter of the calls of all but its baseline failed, and a
/// few of the baseline's.
fn failing_run(name: &str) -> Record {
    let suite = Suite::read(&folder(name)).unwrap_or_else(|error| panic!("{error}"));
    let extent = Extent::Full;
    let selection = Selection { extent, rounds: Some(6), ..Selection::default() };
    let mut run = run();
    run.new.plan = suite.plan(&selection, &Overrides::default(), 2).expect("a plan");
    let mut rows = rows(&run.new.plan);
    let plan = &run.new.plan;
    let ranked = |subject: &&bookend_results::suite::PlannedSubject| {
        !subject.baseline && !subject.calibration
    };
    let ranked: Vec<String> =
        plan.subjects.iter().filter(ranked).map(|subject| subject.name.clone()).collect();
    let baseline = plan.baseline().expect("a baseline").name.clone();
    fail(&mut rows, |row| ranked.contains(&row.cell.subject), 264);
    fail(&mut rows, |row| row.cell.subject == baseline, 5);
    Record::of_run(&run, &rows, BTreeMap::new())
}

#[test]
fn no_page_of_a_suite_hides_them() {
    for name in ["pajamax-tonic", "helloworld-profile", "clients-of-servers", "java-executors"] {
        let record = failing_run(name);
        let judged = ClaimVerdicts::of(&JudgedSuite::new(
            "invented",
            parse(&ten_times(&format!("{MEASURE}\n{TEN}"))).expect("well-formed"),
            printed([1000.0, 100.0]),
            judged(TEN, [264, 5]).record,
        ));
        let page = Page::read(&folder(name), &record).unwrap_or_else(|error| panic!("{error}"));
        let files = page.with_verdicts(Some(judged)).files();
        let text = files.text;
        assert!(text.contains("26.4 %") && text.contains("0.5 %"), "{name}: {text}");
        let shown =
            text.lines().any(|line| line.contains("| failed") || line.contains(" failed |"));
        assert!(shown || text.contains("\n  failed "), "{name} has no column: {text}");
        assert!(text.contains("| ! ten times"), "{name}: {text}");
        let picture = files.picture.expect("a picture");
        assert!(picture.contains("! 26.4 % failed<"), "{name}: {picture}");
    }
}

#[test]
fn the_front_page_of_a_site_does_not_hide_them() {
    let records = vec![failing_run("helloworld-profile")];
    let judged = JudgedSuites { suites: vec![], ..JudgedSuites::default() };
    let site = ResultSite { records, judged, since: BTreeMap::new(), raw: BTreeMap::new() };
    let files = site.files();
    let front = &files[0].1;
    assert!(
        front.contains("failed calls") && front.contains("data-label=\"failed calls\">26.4 % at "),
        "{front}"
    );
    assert!(front.contains("<th scope=\"row\">! "), "{front}");
    assert!(front.contains("(26.4 % of its calls failed at "), "the answer: {front}");
    let page = &files.iter().find(|(name, _)| name.contains("helloworld")).expect("a page").1;
    assert!(page.contains("26.4 %") && page.contains("0.5 %"), "{page}");
}
