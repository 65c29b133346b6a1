//! The gate itself: `scripts/steps.sh` adds up the steps of `make test`, so it must not lose one.

use crate::tree;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs, process};

/// Steps that are run as `scripts/test` runs its own, in a folder that goes away with this value.
struct Gate {
    folder: PathBuf,
}

impl Gate {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("bookend-gate-{name}-{}", process::id()));
        Gate { folder }
    }

    /// `ci` is the value of the variable `CI`.
    fn run(&self, ci: &str, steps: &str) -> Output {
        Command::new("sh")
            .arg("-euc")
            .arg(format!(". scripts/steps.sh\n{steps}\nsummary"))
            .current_dir(tree::root())
            .env("CARGO_TARGET_DIR", &self.folder)
            .env("CI", ci)
            .output()
            .expect("every machine that can run make has a shell")
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().last().unwrap_or_default().to_owned()
}

const TWO_TEST_RUNS: &str = "
echo 'test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'
echo 'test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";

#[test]
fn tests_are_summed_over_all_their_runs() {
    let steps = format!("tests() {{ {TWO_TEST_RUNS}\n}}\nstep test tests\nstep more tests");
    let output = Gate::new("sum").run("true", &steps);
    assert_eq!(last_line(&output), "84 passed, 0 failed");
    assert!(output.status.success());
}

#[test]
fn a_step_that_fails_fails_the_whole_and_the_next_one_still_runs() {
    let steps = "step lint false\nstep test echo 'test result: ok. 3 passed; 0 failed;'";
    let output = Gate::new("step").run("", steps);
    assert_eq!(last_line(&output), "3 passed, 1 failed");
    assert!(!output.status.success());
}

#[test]
fn failed_tests_are_counted_one_by_one_and_shown() {
    let steps = "tests() {
        echo '---- a_story stdout ----'
        echo 'it ended badly'
        echo 'test result: FAILED. 5 passed; 2 failed;'
        return 101
    }
    step test tests";
    let output = Gate::new("tests").run("", steps);
    assert_eq!(last_line(&output), "5 passed, 2 failed");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("it ended badly"));
}

#[test]
fn what_cannot_be_checked_is_named_here_and_fails_in_ci() {
    let steps = "step lint sh -c 'echo clippy is not installed; exit 77'";
    let gate = Gate::new("skip");
    let here = gate.run("", steps);
    assert_eq!(last_line(&here), "0 passed, 0 failed");
    assert!(here.status.success());
    assert!(String::from_utf8_lossy(&here.stdout).contains("clippy is not installed"));
    let in_ci = gate.run("true", steps);
    assert_eq!(last_line(&in_ci), "0 passed, 1 failed");
    assert!(!in_ci.status.success());
}
