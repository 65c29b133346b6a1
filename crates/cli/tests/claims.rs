//! `bookend claims`: the committed page is what the committed claims, tables and records give.

use bookend_verdicts::claims::{ClaimVerdict, JudgedSuites};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn claims(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bookend"))
        .arg("claims")
        .args(words)
        .current_dir(root())
        .output()
        .unwrap()
}

#[test]
fn the_page_is_what_claims_and_records_give() {
    let checked = claims(&["--check"]);
    let said = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{said}");
}

#[test]
fn the_readme_counts_the_verdicts_as_they_are() {
    let judged = JudgedSuites::read(&root().join("suites"), &root().join("records"));
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let suites = judged.unwrap().suites.into_iter();
    for suite in suites.filter(|one| !one.claims.document.are_expectations) {
        let judgements = suite.judgements();
        let count = |verdict| {
            let same = judgements.iter().filter(|one| one.verdict == verdict);
            same.count()
        };
        let [held, not, unknown] = ClaimVerdict::ALL.map(count);
        let counts = format!("| {} | {held} | {not} | {unknown} |", judgements.len());
        let page = format!("| [{0}](suites/{0}/RESULTS.md) |", suite.suite);
        let row = readme.lines().find(|line| line.starts_with(&page));
        let row = row.unwrap_or_else(|| panic!("no row begins with {page}"));
        assert!(row.ends_with(&counts), "{row} should end with {counts}");
    }
}

#[test]
fn a_page_that_somebody_edited_is_refused_and_not_written_over() {
    let home = tempfile::tempdir().unwrap();
    let page = home.path().join("claims.md");
    let file = page.to_str().unwrap();
    assert_eq!(claims(&["--check", "-o", file]).status.code(), Some(3));
    assert_eq!(claims(&["-o", file]).status.code(), Some(0));
    assert_eq!(claims(&["--check", "-o", file]).status.code(), Some(0));
    let edited = std::fs::read_to_string(&page).unwrap().replacen("held", "failed", 1);
    std::fs::write(&page, &edited).unwrap();
    let checked = claims(&["--check", "-o", file]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("run bookend claims"));
    assert!(checked.stdout.is_empty());
    assert_eq!(std::fs::read_to_string(&page).unwrap(), edited);
}

#[test]
fn folders_that_are_not_there_are_named() {
    let refused = claims(&["--suites", "no-such-folder"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.starts_with("bookend claims: no-such-folder: "), "{said}");
}
