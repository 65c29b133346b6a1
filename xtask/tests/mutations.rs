//! The patches of `scripts/mutations`, which `scripts/mutants` applies to a clone to show that a
//! build that measures wrongly is noticed.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

const FOLDER: &str = "scripts/mutations";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of all patches, without their ending.
fn mutations() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(FOLDER)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.strip_suffix(".patch").unwrap().to_owned()).collect()
}

/// What git has against applying a patch to the tree as it is; empty for nothing.
fn refusal(patch: &str) -> io::Result<String> {
    let mut git = Command::new("git")
        .args(["apply", "--check", "-"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    git.stdin.take().expect("it is a pipe").write_all(patch.as_bytes())?;
    let output = git.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    Ok(said)
}

fn patch(mutation: &str) -> String {
    fs::read_to_string(root().join(FOLDER).join(mutation).with_extension("patch")).unwrap()
}

#[test]
fn each_mutation_applies_to_the_code_that_it_makes_wrong() {
    for mutation in mutations() {
        assert_eq!(refusal(&patch(&mutation)).unwrap(), "", "{mutation}: write it anew");
    }
}

#[test]
fn a_mutation_of_code_that_has_changed_is_noticed() {
    let of_another = patch("absolute-cpu").replace("first_cpu_ns", "cpu_ns_of_another_time");
    assert!(refusal(&of_another).unwrap().contains("patch does not apply"));
}

#[test]
fn the_script_tries_every_mutation_and_no_other() {
    let script = fs::read_to_string(root().join("scripts/mutants")).unwrap();
    let tried = script.lines().filter_map(|line| {
        let (kind, rest) = line.trim_start().split_once(' ')?;
        let name = rest.split(' ').next()?;
        ["by_check", "by_test"].contains(&kind).then(|| name.to_owned())
    });
    assert_eq!(tried.collect::<BTreeSet<_>>(), mutations());
}
