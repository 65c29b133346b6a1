//! Two labs at once: the second is refused, or waits.

use bookend_lab::lock::{Lock, LockTarget};
use std::path::Path;
use std::process::{Command, Output};

/// Runs a suite with a machine of its own, so that labs of others do not matter here.
fn run(home: &Path, words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    let suites = root.join("suites");
    command.args(["run", "transports", "--quick", "--suites", suites.to_str().expect("UTF-8")]);
    command.args(["--subjects-dir", root.join("subjects").to_str().expect("UTF-8")]).args(words);
    command.current_dir(home).env("TMPDIR", home).output().expect("the command starts")
}

fn refused(home: &Path, words: &[&str]) -> String {
    let output = run(home, words);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_second_lab_on_the_machine_is_refused_with_the_name_of_the_first() {
    let home = tempfile::tempdir().expect("a temporary folder");
    // The file of the machine's lock, in this test's folder of temporary files.
    let machine = LockTarget::Store(home.path().join("bookend-lab"));
    let _lock = Lock::take(&machine, "bookend run other --rounds 10").expect("free");
    let said = refused(home.path(), &[]);
    let holder = format!("`bookend run other --rounds 10`, process {} since ", std::process::id());
    for part in ["another lab measures on this machine", &holder, "--wait-for-lock"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!home.path().join("bookend.db").exists(), "nothing was begun");
}

#[test]
fn a_run_that_another_lab_writes_is_not_resumed() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let store = home.path().join("bookend.db");
    let _lock = Lock::take(&LockTarget::Store(store), "bookend run other").expect("free");
    let said = refused(home.path(), &["--resume", "--store", "bookend.db"]);
    assert!(said.contains("another lab writes its results into "), "{said}");
    assert!(said.contains("`bookend run other`"), "{said}");
}
