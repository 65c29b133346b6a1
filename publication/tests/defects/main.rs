//! Defects of published benchmarks, each made anew as a table with that defect and nothing else to
//! say: the audit names every one of them, in the words of docs/measure/defects.md.

mod published;
mod table;

use bookend_publication::audit::audit_document;
use bookend_results::audit::Rule;
use published::{Defect, defects};
use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = "docs/measure/defects.md";

/// What the audit says of the defect's table by its rule, each once.
fn evidence(defect: &Defect) -> BTreeSet<String> {
    let (findings, _) = audit_document(&defect.document);
    findings
        .into_iter()
        .filter(|one| one.finding.rule == defect.rule)
        .map(|one| one.finding.evidence)
        .collect()
}

#[test]
fn the_audit_names_every_published_defect_in_its_words() {
    for defect in defects() {
        let found = evidence(&defect);
        let is_found = found.contains(defect.words);
        assert!(is_found, "{} of {}: {found:#?}", defect.rule, defect.source);
    }
}

#[test]
fn a_table_without_the_defect_breaks_no_rule() {
    for defect in defects() {
        let sound = defect.mended;
        let (findings, coverage) = audit_document(&sound);
        let found: Vec<_> =
            findings.iter().map(|one| (one.finding.rule, &one.finding.evidence)).collect();
        assert!(found.is_empty(), "{} of {}, mended: {found:#?}", defect.rule, defect.source);
        // A figure that is no number is left out of a sound table, not looked at.
        let is_gone = defect.rule == Rule::NotANumber;
        let looked = coverage.iter().any(|one| one.rule == defect.rule && one.rows > 0);
        assert!(
            is_gone || looked,
            "{} of {}: no rule looked at the mended table",
            defect.rule,
            defect.source
        );
    }
}

#[test]
fn the_page_lists_every_defect_with_the_words_of_the_audit() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
    let page = std::fs::read_to_string(file).expect("readable");
    let expected: String = defects()
        .into_iter()
        .map(|defect| {
            let Defect { source, link, what, rule, words, .. } = defect;
            format!("| [{source}]({link}) | {what} | `{rule}` | {words} |\n")
        })
        .collect();
    let (_, rest) = page.split_once("|---|---|---|---|\n").expect("a table");
    let table: String =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).collect();
    assert!(table == expected, "{PAGE} must have these lines:\n{expected}");
}
