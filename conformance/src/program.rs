//! Programs that run to their end.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// After this a program hangs: the longest of them takes eight seconds on an idle core.
const HANGS_AFTER_SECONDS: &str = "300";

/// A program of the outside suites, by the name that `scripts/conformance-tools` gives it.
pub fn outside(name: &str) -> PathBuf {
    told("CONFORMANCE_PROGRAMS").join(name)
}

/// The command under test.
pub fn bookend() -> PathBuf {
    told("BOOKEND")
}

fn told(variable: &str) -> PathBuf {
    let value = env::var_os(variable);
    value
        .unwrap_or_else(|| panic!("{variable} is not set: start this with scripts/conformance"))
        .into()
}

/// How a program ended, and what it said.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Whether its status was 0.
    pub succeeded: bool,
    /// Its standard output, and behind that its standard error.
    pub text: String,
}

/// Runs a program to its end. One that hangs is ended, and has not succeeded.
pub fn run<A: AsRef<OsStr>>(program: &Path, arguments: impl IntoIterator<Item = A>) -> Ended {
    let output = Command::new("timeout")
        .arg(HANGS_AFTER_SECONDS)
        .arg(program)
        .args(arguments)
        .output()
        .expect("coreutils are installed wherever there is a shell");
    let text = [output.stdout, output.stderr].concat();
    Ended { succeeded: output.status.success(), text: String::from_utf8_lossy(&text).into_owned() }
}

#[test]
fn a_program_that_fails_or_is_not_there_has_not_succeeded() {
    let shell = |script| run(Path::new("sh"), ["-c", script]);
    assert!(shell("echo yes").succeeded);
    assert_eq!(shell("echo a; echo b >&2").text, "a\nb\n");
    assert!(!shell("exit 3").succeeded);
    assert!(!run(Path::new("/nonexistent"), [""; 0]).succeeded);
}
