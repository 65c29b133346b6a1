//! `bookend claims`: the committed page is what the committed claims, tables and records give.

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
    let said = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{said}");
}

/// The fields of a line of a Markdown table.
fn fields(line: &str) -> Vec<&str> {
    let fields = line.trim_matches('|').split('|');
    fields.map(str::trim).collect()
}

#[test]
fn the_readme_counts_the_verdicts_as_the_page_does() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let (page, readme) = (read("docs/claims.md"), read("README.md"));
    let overview = page.lines().filter(|line| line.starts_with("| ["));
    let overview: Vec<Vec<&str>> = overview.map(fields).collect();
    assert_eq!(overview.len(), 5);
    for one in overview {
        let (title, _) = one[0][1..].split_once(']').unwrap();
        let begins = format!("| {title} | ");
        let line = readme.lines().find(|line| line.starts_with(&begins));
        let line = fields(line.unwrap_or_else(|| panic!("README.md lacks {title}")));
        assert_eq!(line[2..], one[1..5], "{title}");
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
    let edited = std::fs::read_to_string(&page)
        .unwrap()
        .replacen("held", "failed", 1);
    std::fs::write(&page, &edited).unwrap();
    let checked = claims(&["--check", "-o", file]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("run bookend claims"));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), edited);
}

#[test]
fn folders_that_are_not_there_are_named() {
    let refused = claims(&["--suites", "no-such-folder"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.starts_with("bookend claims: no-such-folder: "),
        "{said}"
    );
}
