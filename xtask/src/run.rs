//! Runs steps, side by side where they share nothing, each with a log of its own, and adds them up.

use crate::log::{self, TestCounts};
use crate::queue::StepQueue;
use crate::steps::{self, Step};
use crate::summary::{Ended, StepOutcome, summary};
use std::env;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

/// The status by which a check says "cannot be done here", as automake has it.
const CANNOT_CHECK: i32 = 77;

/// Runs the steps of these names, or all; whether none failed.
///
/// # Errors
///
/// An unknown name, and a folder for logs that cannot be made.
pub fn steps(names: &[&str]) -> Result<bool, String> {
    let chosen = steps::chosen(names, steps::all())?;
    let is_ci = env::var_os("CI").is_some_and(|value| value == "true");
    let runner = Runner::new(&steps::target_folder().join("logs"), is_ci)?;
    Ok(runner.run(chosen, &mut io::stdout()))
}

struct Runner {
    logs: PathBuf,
    /// In CI nothing may be skipped: a gate that quietly lost a check is worse than none.
    is_ci: bool,
}

impl Runner {
    fn new(logs: &Path, is_ci: bool) -> Result<Self, String> {
        fs::create_dir_all(logs).map_err(|error| format!("{}: {error}", logs.display()))?;
        Ok(Runner { logs: logs.to_owned(), is_ci })
    }

    /// Runs all, also where one fails; writes each as it ends, and the summary.
    fn run(&self, steps: Vec<Step>, out: &mut impl Write) -> bool {
        let started = Instant::now();
        let mut queue = StepQueue::new(steps);
        let mut ended = Vec::new();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            loop {
                while let Some(step) = queue.start_next() {
                    let sender = sender.clone();
                    scope.spawn(move || self.run_step(&step, &sender));
                }
                if queue.running().is_empty() {
                    return;
                }
                show_running(&queue.running());
                let step: Ended =
                    receiver.recv().expect("a step is running, and each sends its end");
                queue.end(&step.name);
                let _ = out.write_all(self.shown(&step).as_bytes());
                ended.push(step);
            }
        });
        let (holds, table) = summary(&ended, started.elapsed());
        let _ = out.write_all(table.as_bytes());
        holds
    }

    fn run_step(&self, step: &Step, ended: &Sender<Ended>) {
        let started = Instant::now();
        let status = self.status(step);
        let log = self.read_log(&step.name);
        let (outcome, note) = self.judge(status, &log);
        let (name, took, tests) = (step.name.clone(), started.elapsed(), log::test_counts(&log));
        let complaint = match outcome {
            StepOutcome::Failed => log::failure(&log).into_iter().map(str::to_owned).collect(),
            StepOutcome::Passed | StepOutcome::Skipped => Vec::new(),
        };
        // That nobody listens any more means that the whole run has ended.
        let _ = ended.send(Ended { name, outcome, took, tests, note, complaint });
    }

    fn status(&self, step: &Step) -> io::Result<ExitStatus> {
        let log = File::create(self.log(&step.name))?;
        Command::new(&step.command[0])
            .args(&step.command[1..])
            .current_dir(steps::root())
            .env("XTASK", env::current_exe()?)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
    }

    fn judge(&self, status: io::Result<ExitStatus>, log: &str) -> (StepOutcome, String) {
        let status = match status {
            Ok(status) => status,
            Err(error) => return (StepOutcome::Failed, error.to_string()),
        };
        let TestCounts { passed, failed } = log::test_counts(log);
        let note = match passed + failed {
            0 => String::new(),
            _ => format!("{passed} tests passed, {failed} failed"),
        };
        match status.code() {
            Some(0) => (StepOutcome::Passed, note),
            Some(CANNOT_CHECK) => {
                let why = log.lines().last().unwrap_or_default().to_owned();
                (if self.is_ci { StepOutcome::Failed } else { StepOutcome::Skipped }, why)
            }
            _ => (StepOutcome::Failed, note),
        }
    }

    fn shown(&self, step: &Ended) -> String {
        let mut text = step.line() + "\n";
        if step.outcome == StepOutcome::Failed {
            text += &format!("  --- {}\n", self.log(&step.name).display());
            for line in &step.complaint {
                text += &format!("  | {line}\n");
            }
        }
        text
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// What a step printed, whatever bytes are in it.
    fn read_log(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.log(name)).unwrap_or_default()).into_owned()
    }
}

/// On a terminal, what runs is named in a line that the next one is written over.
fn show_running(names: &[&str]) {
    if io::stdout().is_terminal() {
        print!("...              {}    \r", names.join(", "));
        let _ = io::stdout().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs lines of shell as steps: whether they hold, and what is printed.
    fn run(is_ci: bool, lines: &[(&str, &str)]) -> (bool, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runner = Runner::new(folder.path(), is_ci).expect("a folder for logs");
        let steps = lines.iter().map(|(name, line)| Step::running(name, &["sh", "-c", line]));
        let mut out = Vec::new();
        let holds = runner.run(steps.collect(), &mut out);
        (holds, String::from_utf8(out).expect("text"))
    }

    fn last_line(text: &str) -> &str {
        text.lines().last().unwrap_or_default()
    }

    #[test]
    fn a_step_that_fails_fails_the_whole_and_the_next_one_still_runs() {
        let steps = [("lint", "exit 1"), ("test", "echo 'test result: ok. 3 passed; 0 failed;'")];
        let (holds, text) = run(false, &steps);
        assert_eq!((holds, last_line(&text)), (false, "3 passed, 1 failed"));
    }

    #[test]
    fn failed_tests_are_counted_one_by_one_and_shown() {
        let tests = "echo '---- a_story stdout ----'
            echo 'it ended badly'
            echo 'test result: FAILED. 5 passed; 2 failed;'
            exit 101";
        let (holds, text) = run(false, &[("test", tests)]);
        assert_eq!((holds, last_line(&text)), (false, "5 passed, 2 failed"));
        assert!(text.contains("  | it ended badly\n"), "{text}");
    }

    #[test]
    fn what_cannot_be_checked_is_named_here_and_fails_in_ci() {
        let steps = [("lint", "echo clippy is not installed; exit 77")];
        let (holds, text) = run(false, &steps);
        assert_eq!((holds, last_line(&text)), (true, "0 passed, 0 failed"));
        assert!(text.contains("(clippy is not installed)"), "{text}");
        let (holds, text) = run(true, &steps);
        assert_eq!((holds, last_line(&text)), (false, "0 passed, 1 failed"));
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failed_step() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runner = Runner::new(folder.path(), true).expect("a folder for logs");
        let step = Step::running("gone", &["/nonexistent/program"]);
        assert!(!runner.run(vec![step], &mut io::sink()));
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_what_a_step_says() {
        let line = "printf '\\377\\n'; echo 'test result: ok. 3 passed; 0 failed;'";
        let (holds, text) = run(true, &[("odd", line)]);
        assert_eq!((holds, last_line(&text)), (true, "3 passed, 0 failed"));
    }
}
