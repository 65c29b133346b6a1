//! What `bookend check` says before anything is measured; its counts are held against the witness
//! by scripts/counts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks with a machine and a user of its own.
fn check(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.arg("check").args(words).current_dir(home);
    command.env("TMPDIR", home).env("HOME", home).env_remove("XDG_STATE_HOME");
    command.output().expect("the command starts")
}

fn said(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

#[test]
fn without_its_witness_it_says_what_it_needs() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let error = said(&check(home.path(), &[]), 1);
    let expected =
        "bookend check: the witness cannot be built; it is part of a checkout of Bookend";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains("subjects/rust-clockwork"), "{error}");
}

#[test]
fn a_figure_that_it_does_not_know_is_a_wrong_command_line() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let error = said(&check(home.path(), &["--only", "luck"]), 2);
    assert!(error.contains("luck"), "{error}");
}

#[test]
fn the_doctor_says_that_there_was_no_check_or_what_it_found() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let doctor = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
        command.args(["doctor", "bookend-load"]).current_dir(ROOT);
        command.env("TMPDIR", home.path()).env("HOME", home.path()).env_remove("XDG_STATE_HOME");
        let output = command.output().expect("the command starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let never = "instrument: the load generator was never checked on this machine. ";
    assert!(doctor().contains(never) && doctor().contains(HOW), "{}", doctor());
    let folder = home.path().join(".local/state/bookend");
    fs::create_dir_all(&folder).expect("a folder");
    let other = r#"{"origin": {"version": "0.0.1", "binary_unix_ms": 0, "witness": "h2", "machine":
        {"os": "", "kernel": "Linux 2.4", "cpu_model": "", "cpus": 1, "memory_bytes": 1,
        "governor": null, "virtual_machine": false}}, "started_unix_ms": 0, "seconds": 1,
        "notes": [], "calibrations": []}"#;
    fs::write(folder.join("check.json"), other).expect("a file");
    let expected = "instrument: the last check says nothing of today: it was made on Linux 2.4";
    assert!(doctor().contains(expected) && doctor().contains(HOW), "{}", doctor());
}

/// What to do where there is no check of today, and how long that takes.
const HOW: &str = "bookend check holds its figures against known ones, in about a minute\n";
