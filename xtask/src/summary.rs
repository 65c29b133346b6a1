//! The table of all steps and the closing line, which whoever started them can read by program:
//! `N passed, N failed`.

use crate::log::TestCounts;
use std::time::Duration;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It cannot be checked here.
    Skipped,
}

/// A step that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The step's name.
    pub name: String,
    /// How it ended.
    pub outcome: StepOutcome,
    /// From its start to its end by the wall's clock.
    pub took: Duration,
    /// The tests in its log.
    pub tests: TestCounts,
    /// What to know of it besides; empty where that is nothing.
    pub note: String,
    /// Of a failed step, what somebody who has to mend it wants to see.
    pub complaint: Vec<String>,
}

/// How much of a complaint is said again at the end, where some see nothing but that.
const COMPLAINT_LINES: usize = 10;

impl Ended {
    /// `ok         12 s  clippy  (a note)`
    pub fn line(&self) -> String {
        let word = self.outcome.word();
        let note = if self.note.is_empty() { String::new() } else { format!("  ({})", self.note) };
        format!("{word:<8} {:>4} s  {}{note}", self.took.as_secs(), self.name)
    }

    /// Failures to count: failed tests one by one, or the step as a whole.
    fn failures(&self) -> usize {
        match self.outcome {
            StepOutcome::Failed => self.tests.failed.max(1),
            StepOutcome::Passed | StepOutcome::Skipped => 0,
        }
    }
}

impl StepOutcome {
    fn word(self) -> &'static str {
        match self {
            StepOutcome::Passed => "ok",
            StepOutcome::Failed => "failed",
            StepOutcome::Skipped => "skipped",
        }
    }
}

/// Whether nothing failed, and the table.
pub fn summary(ended: &[Ended], took: Duration) -> (bool, String) {
    let mut text = String::from("\n");
    for step in ended {
        let (word, seconds) = (step.outcome.word(), step.took.as_secs());
        let line = format!("{word:<8} {seconds:>5} s  {:<24} {}", step.name, step.note);
        text += line.trim_end();
        text.push('\n');
    }
    for step in ended.iter().filter(|step| !step.complaint.is_empty()) {
        text += &format!("\n{}:\n", step.name);
        for line in most_telling(&step.complaint) {
            text += &format!("  | {line}\n");
        }
    }
    let apart: Duration = ended.iter().map(|step| step.took).sum();
    text += &format!(
        "{:<8} {:>5} s  ({} s one after the other)\n\n",
        "total",
        took.as_secs(),
        apart.as_secs()
    );
    let passed: usize = ended.iter().map(|step| step.tests.passed).sum();
    let failed: usize = ended.iter().map(Ended::failures).sum();
    text += &format!("{passed} passed, {failed} failed\n");
    (failed == 0, text)
}

/// What failed is named at the beginning, if anywhere; otherwise a log ends with its reason.
fn most_telling(complaint: &[String]) -> &[String] {
    let names = |line: &String| line.starts_with("---- ") || line.starts_with("failed ");
    let begin = match complaint.first() {
        Some(first) if !names(first) => complaint.len().saturating_sub(COMPLAINT_LINES),
        _ => 0,
    };
    &complaint[begin..complaint.len().min(begin + COMPLAINT_LINES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: StepOutcome, passed: usize, failed: usize) -> Ended {
        let tests = TestCounts { passed, failed };
        let took = Duration::from_secs(7);
        let (name, note) = ("lint".to_owned(), String::new());
        Ended { name, outcome, took, tests, note, complaint: Vec::new() }
    }

    fn last_line(ended: &[Ended]) -> (bool, String) {
        let (holds, text) = summary(ended, Duration::from_secs(9));
        (holds, text.lines().last().expect("a closing line").to_owned())
    }

    #[test]
    fn a_step_that_fails_fails_the_whole() {
        let steps = [ended(StepOutcome::Failed, 0, 0), ended(StepOutcome::Passed, 3, 0)];
        assert_eq!(last_line(&steps), (false, "3 passed, 1 failed".to_owned()));
    }

    #[test]
    fn failed_tests_are_counted_one_by_one() {
        let steps = [ended(StepOutcome::Failed, 5, 2)];
        assert_eq!(last_line(&steps), (false, "5 passed, 2 failed".to_owned()));
    }

    #[test]
    fn what_failed_is_said_again_at_the_end_and_in_few_lines() {
        let said_of = |first: &str| {
            let lines = (1..50).map(|line| format!("line {line}"));
            let complaint = std::iter::once(first.to_owned()).chain(lines).collect();
            let step = Ended { complaint, ..ended(StepOutcome::Failed, 0, 0) };
            let (_, text) = summary(&[step], Duration::from_secs(9));
            let after: Vec<_> =
                text.lines().map(str::to_owned).skip_while(|line| line != "lint:").collect();
            assert!(after[COMPLAINT_LINES + 1].starts_with("total"), "{text}");
            after[1..=COMPLAINT_LINES].to_vec()
        };
        assert_eq!(said_of("a log begins")[COMPLAINT_LINES - 1], "  | line 49");
        assert_eq!(said_of("---- a_story stdout ----")[1], "  | line 1");
        assert_eq!(said_of("failed   go-grpc   dead")[0], "  | failed   go-grpc   dead");
    }

    #[test]
    fn what_cannot_be_checked_does_not_fail_here() {
        let steps = [ended(StepOutcome::Skipped, 0, 0)];
        assert_eq!(last_line(&steps), (true, "0 passed, 0 failed".to_owned()));
    }

    #[test]
    fn a_line_has_word_time_name_and_note() {
        let step = Ended { note: "3 tests passed".to_owned(), ..ended(StepOutcome::Passed, 3, 0) };
        assert_eq!(step.line(), "ok          7 s  lint  (3 tests passed)");
    }
}
