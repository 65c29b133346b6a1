//! `publication claims`: the committed pages are what claims, tables and records give.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn claims(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_publication"))
        .arg("claims")
        .args(words)
        .current_dir(root())
        .output()
        .unwrap()
}

#[test]
fn the_pages_are_what_claims_and_records_give() {
    let checked = claims(&["--check"]);
    let said = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{said}");
}

#[test]
fn a_page_that_somebody_edited_is_refused_and_not_written_over() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    assert_eq!(claims(&["--check", "-o", folder]).status.code(), Some(3));
    assert_eq!(claims(&["-o", folder]).status.code(), Some(0));
    assert_eq!(claims(&["--check", "-o", folder]).status.code(), Some(0));
    let kept = ["audit", "changed-verdicts", "expectations", "probed", "reasons", "repeated"];
    let kept = kept.map(|name| format!("records/pages/{name}.md"));
    let names = ["docs/measure/claims.md".to_owned()].into_iter().chain(kept);
    let edited: Vec<(String, String)> = names
        .map(|name| {
            let page = home.path().join(&name);
            let edited = std::fs::read_to_string(&page).unwrap().replacen("the", "a", 1);
            std::fs::write(&page, &edited).unwrap();
            (name, edited)
        })
        .collect();
    let checked = claims(&["--check", "-o", folder]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(checked.stdout.is_empty());
    let said = String::from_utf8_lossy(&checked.stderr);
    for (name, edited) in edited {
        assert!(said.contains(&format!("{name} is not what claims and records give")), "{said}");
        assert_eq!(std::fs::read_to_string(home.path().join(name)).unwrap(), edited);
    }
}

#[test]
fn folders_that_are_not_there_are_named() {
    let refused = claims(&["--suites", "no-such-folder"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.starts_with("publication: no-such-folder: "), "{said}");
}
