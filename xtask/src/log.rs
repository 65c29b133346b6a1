//! What the log of a step says: its tests, and what to show of it where it failed.

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
}

/// Adds up the closing lines of `cargo test`: `test result: ok. 3 passed; 0 failed; ...`.
pub fn test_counts(log: &str) -> TestCounts {
    let mut counts = TestCounts::default();
    for line in log.lines().filter(|line| line.starts_with("test result: ")) {
        counts.passed += number_before(line, "passed;");
        counts.failed += number_before(line, "failed;");
    }
    counts
}

fn number_before(line: &str, word: &str) -> usize {
    let words: Vec<&str> = line.split(' ').collect();
    let at = words.iter().position(|each| *each == word);
    at.and_then(|at| words.get(at.wrapping_sub(1))?.parse().ok()).unwrap_or(0)
}

/// How much of a log is shown: of one with failed tests, and of any other.
const FAILED_TEST_LINES_MAX: usize = 80;
const LAST_LINES: usize = 40;

/// How much of each failed test is shown.
const LINES_A_FAILED_TEST: usize = 13;

/// What somebody who has to mend it wants to see. That is rarely at the end of a long log, so
/// failed tests are shown by their own words, and of a list what failed comes first.
pub fn failure(log: &str) -> Vec<&str> {
    let lines: Vec<&str> = log.lines().collect();
    if !lines.iter().any(|line| is_heading(line)) {
        let failed = lines.iter().copied().filter(|line| line.starts_with("failed "));
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        return failed.chain(last.iter().copied()).collect();
    }
    let mut left = 0;
    let is_shown = |line: &&str| {
        left = if is_heading(line) { LINES_A_FAILED_TEST } else { left };
        left = usize::saturating_sub(left, 1);
        left > 0
    };
    let mut shown: Vec<&str> = lines.iter().copied().filter(is_shown).collect();
    shown.truncate(FAILED_TEST_LINES_MAX);
    let lists = |line: &&&str| line.starts_with("error: ") && line.ends_with(" failed:");
    let list = lines.iter().position(|line| lists(&line)).unwrap_or(lines.len());
    shown.extend(&lines[list..]);
    shown
}

/// `---- name_of_the_test stdout ----`
fn is_heading(line: &str) -> bool {
    line.starts_with("---- ") && line.ends_with(" ----")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_summed_over_all_their_runs() {
        let log = "test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
            something else\n\
            test result: FAILED. 12 passed; 2 failed; 0 ignored";
        assert_eq!(test_counts(log), TestCounts { passed: 42, failed: 2 });
        assert_eq!(test_counts("nothing"), TestCounts::default());
    }

    #[test]
    fn of_a_failed_step_the_end_is_shown_and_of_failed_tests_their_words() {
        let long = "a line\n".repeat(100) + "the last";
        assert_eq!(failure(&long).len(), LAST_LINES);
        assert_eq!(failure(&long).last(), Some(&"the last"));
        let of_a_list = format!("failed   go-grpc/default   no answer\n{long}");
        assert_eq!(failure(&of_a_list).first(), Some(&"failed   go-grpc/default   no answer"));
        let story = "---- a_story stdout ----\nit ended badly\n";
        let log = format!("before\n{story}{long}\nerror: 1 target failed:\n    `--lib`");
        let shown = failure(&log);
        assert_eq!(shown[..2], ["---- a_story stdout ----", "it ended badly"]);
        assert_eq!(shown.last(), Some(&"    `--lib`"));
        assert!(shown.len() < 20 && !shown.contains(&"before"));
    }
}
