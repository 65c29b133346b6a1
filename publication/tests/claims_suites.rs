//! Claims and suites fit together: every figure that a claim asks of our record is one that its
//! suite will measure.

use bookend_publication::claims::{
    CLAIMS_PAGE, Claim, ClaimOutcome, JudgedSuite, JudgedSuites, Over, PrintedUnit, Quantity,
    Statement, SubjectName, TOLERANCE, printed_numbers,
};
use bookend_results::measurement::CellId;
use bookend_results::suite::{Case, Overrides, Selection, Suite};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All suites, judged once for all tests: it takes seconds.
fn judged() -> &'static JudgedSuites {
    static JUDGED: LazyLock<JudgedSuites> = LazyLock::new(|| {
        JudgedSuites::read(&root().join("suites"), &root().join("records"))
            .unwrap_or_else(|error| panic!("{error}"))
    });
    &JUDGED
}

/// The cells of a full run.
fn planned(suite: &str) -> BTreeSet<CellId> {
    let suite = Suite::read(&root().join("suites").join(suite)).expect("well-formed");
    suite
        .plan(&Selection::default(), &Overrides::default(), 2)
        .expect("a plan")
        .cells()
        .into_iter()
        .map(|cell| cell.id)
        .collect()
}

/// Every cell that a quantity needs, as a clause for people and whether the plan has it.
fn needs(quantity: &Quantity, planned: &BTreeSet<CellId>) -> Vec<(String, bool)> {
    let mut cells: Vec<(&SubjectName, Case)> = Vec::new();
    for &case in &quantity.cases {
        cells.push((&quantity.of, case));
        match &quantity.over {
            Some(Over::Subject(other)) => cells.push((other, case)),
            Some(Over::Case(other)) => cells.push((&quantity.of, *other)),
            Some(Over::Metric(_) | Over::Model(_)) | None => {}
        }
    }
    cells
        .into_iter()
        .map(|(name, case)| (format!("{name} at {case}"), is_planned(name, case, planned)))
        .collect()
}

fn is_planned(name: &SubjectName, case: Case, planned: &BTreeSet<CellId>) -> bool {
    let mut cells = planned.iter().filter(|cell| cell.subject == name.subject && cell.case == case);
    match &name.instrument {
        Some(instrument) => cells.any(|cell| cell.instrument == *instrument),
        None => {
            let instruments: Vec<&str> = cells.map(|cell| cell.instrument.as_str()).collect();
            instruments.len() == 1 || instruments.contains(&"bookend-load")
        }
    }
}

fn unplanned(claim: &Claim, own_suite: &str) -> Vec<String> {
    let planned = planned(claim.suite.as_deref().unwrap_or(own_suite));
    let quantities = claim.quantities_of_record();
    quantities
        .iter()
        .flat_map(|quantity| needs(quantity, &planned))
        .filter(|(_, is_there)| !is_there)
        .map(|(cell, _)| format!("{}: {cell}", claim.id))
        .collect()
}

#[test]
fn every_cell_that_a_claim_needs_is_in_the_plan_of_its_suite() {
    let mut missing = Vec::new();
    for suite in &judged().suites {
        for claim in &suite.claims.claims {
            missing.extend(unplanned(claim, &suite.suite));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_quantity_names_cases() {
    for suite in &judged().suites {
        for claim in &suite.claims.claims {
            for quantity in claim.ours.iter().chain(&claim.recomputed) {
                assert!(!quantity.cases.is_empty(), "{}", claim.id);
            }
        }
    }
}

#[test]
fn what_a_document_prints_can_be_recomputed() {
    // A metric that its tables do not have would be an empty field of the page.
    for suite in &judged().suites {
        for judgement in suite.judgements() {
            let claim = judgement.claim;
            if claim.recomputed.is_some() || claim.formula.is_some() {
                let text = &judgement.recomputed;
                assert!(text.contains(|c: char| c.is_ascii_digit()), "{}: {text}", claim.id);
            }
        }
    }
}

#[test]
fn the_five_documents_are_all_there() {
    let names: Vec<&str> = judged()
        .suites
        .iter()
        .filter(|one| !one.claims.document.are_expectations)
        .map(|one| one.suite.as_str())
        .collect();
    let five = [
        "grpc-thrift-go",
        "helloworld-profile",
        "java-executors",
        "pajamax-tonic",
        "python-clients",
    ];
    assert_eq!(names, five);
}

#[test]
fn what_nobody_has_published_is_called_an_expectation_and_names_its_source() {
    let judged = judged();
    let ours: Vec<&JudgedSuite> =
        judged.suites.iter().filter(|one| one.claims.document.are_expectations).collect();
    assert_eq!(ours.len(), 1);
    for one in ours {
        assert!(one.document.rows.is_empty(), "{} has a table", one.suite);
        for claim in &one.claims.claims {
            let is_recomputed = claim.recomputed.is_some() || claim.formula.is_some();
            let is_judged = (claim.says.is_some() || claim.bounds.is_some()) && !is_recomputed;
            assert!(is_judged && !claim.place.is_empty(), "{}", claim.id);
        }
        let page = judged.expectations();
        assert!(page.contains(&format!("\n## {}\n", one.claims.document.title)), "{page}");
        assert!(page.contains("No document has these figures"), "{page}");
        assert!(!judged.markdown().contains(&one.claims.document.title));
    }
}

#[test]
fn models_predict_the_published_runs() {
    let judged = judged();
    let java: &JudgedSuite = judged.suite("java-executors").expect("the suite");
    for model in &java.claims.models {
        let row = java
            .document
            .rows_of(&model.subject.subject, model.case)
            .next()
            .unwrap_or_else(|| panic!("{} is about no printed row", model.id));
        let prediction = model.predict();
        let printed = |name: &str| row.figure(name).map_or(0.0, |figure| figure.value);
        let near = |printed: f64, predicted: f64, share: f64| {
            let off = (printed / predicted - 1.0).abs();
            assert!(off < share, "{}: {printed} against {predicted}", model.id);
        };
        near(printed("ok"), prediction.ok as f64, 0.05);
        if prediction.failures > 0 {
            // Runs that end with a time-out are predicted to a hundredth.
            near(printed("total_time") / 1e9, prediction.total_seconds, 0.011);
        } else {
            assert!(printed("total_time") / 1e9 >= prediction.total_seconds);
        }
        if model.id.as_ref().starts_with("fixed") || model.id.as_ref() == "cached" {
            let mean = printed("latency_mean_all") / 1e9;
            near(mean, prediction.mean_of_all_seconds, 0.02);
        }
    }
}

#[test]
fn the_pages_of_outcomes_can_be_read_without_scrolling_sideways() {
    for (name, page) in judged().pages() {
        let is_narrow = name == CLAIMS_PAGE || name == "records/pages/expectations.md";
        for line in page.lines().filter(|_| is_narrow) {
            assert!(line.chars().count() < 120, "{name}: {line}");
        }
    }
}

#[test]
fn what_is_undecided_by_its_declaration_is_the_exception() {
    let judged = judged();
    let claims = judged.documents().flat_map(|suite| suite.claims.sentences());
    let open = |claim: &&Claim| claim.undecided.is_some();
    assert!(claims.filter(open).count() <= 8);
}

#[test]
fn what_a_claim_can_say_is_explained_in_the_words_of_the_program() {
    let file = root().join("docs/extend/claims-format.md");
    let format = std::fs::read_to_string(file).expect("readable");
    for (_, word, meaning) in Statement::ALL {
        let line = format!("| `{word}` | {meaning} |\n");
        assert!(format.contains(&line), "docs/extend/claims-format.md lacks: {line}");
    }
    assert!(format.contains(&format!("{TOLERANCE} is the tolerance")), "{TOLERANCE}");
}

/// The units of a text's numbers. A rate in thousands is one in full, and nothing has any unit.
fn units(text: &str) -> BTreeSet<PrintedUnit> {
    let unit = |(value, unit): (f64, PrintedUnit)| match unit {
        PrintedUnit::Plain if value == 0.0 => None,
        PrintedUnit::Thousands => Some(PrintedUnit::Plain),
        other => Some(other),
    };
    printed_numbers(text).into_iter().filter_map(unit).collect()
}

#[test]
fn no_figure_stands_in_another_unit_than_what_was_printed() {
    for suite in &judged().suites {
        for one in suite.judgements() {
            let printed = units(&one.claim.published);
            for answer in one.answers() {
                // The figures stand before the ratio of them.
                let figures = answer.figure.split(": ").next().unwrap_or_default();
                let shown = units(figures);
                let is_same = printed.is_empty() || shown.is_empty() || printed == shown;
                assert!(is_same, "{}: {} against {}", one.claim.id, figures, one.claim.published);
            }
        }
    }
}

/// A document's own figures, shown by the rule for ours, are those that it printed.
#[test]
fn what_a_document_printed_is_shown_as_it_printed_it() {
    for suite in judged().documents() {
        for one in suite.judgements() {
            let printed = printed_numbers(&one.claim.published);
            let shown = printed_numbers(one.recomputed.split(" (").next().unwrap_or_default());
            let is_refuted = one.replicates.outcome == ClaimOutcome::RefutedByItsTable;
            let is_of_two = one.recomputed_of.is_some() && printed.len() > 1;
            let ([(value, _)], false, false) = (printed.as_slice(), is_refuted, is_of_two) else {
                continue;
            };
            let near = |(own, _): &(f64, PrintedUnit)| {
                value / TOLERANCE <= *own && *own <= value * TOLERANCE
            };
            let is_there = shown.is_empty() || shown.iter().any(near) || is_ratio_of(&one, *value);
            assert!(is_there, "{}: {} of {}", one.claim.id, one.recomputed, one.claim.published);
        }
    }
}

/// Whether a figure was printed, and the claim is about the ratio of two.
fn is_ratio_of(one: &bookend_publication::claims::Judgement<'_>, value: f64) -> bool {
    let is_of_figures =
        |text: &str| printed_numbers(text).iter().any(|(own, _)| *own > value / 2.0);
    one.recomputed_of.is_some() && one.answers().any(|answer| is_of_figures(&answer.figure))
}

#[test]
fn an_outcome_that_changed_says_why() {
    for suite in judged().documents() {
        for one in suite.judgements().iter().chain(&suite.notes()) {
            let Some(earlier) = &one.claim.earlier else { continue };
            let has_changed = earlier.verdict != one.outcomes();
            assert!(
                !has_changed || earlier.why.is_some(),
                "{}: {}, now {}",
                one.claim.id,
                earlier.verdict,
                one.outcomes()
            );
        }
    }
}
