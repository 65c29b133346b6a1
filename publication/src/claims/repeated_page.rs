//! records/pages/repeated.md: suites that were run a second time, and whether the outcomes are the
//! same.

use super::agreement::{Agreement, begun};
use super::claim::JudgedBy;
use super::judged::{JudgedSuite, JudgedSuites};
use super::repeated_ratios::SuiteRunTwice;
use super::verdict::{Answer, Judgement};
use bookend_report::markdown::{table, wrapped};

impl JudgedSuites {
    /// records/pages/repeated.md: the outcomes here next to those of other runs of some of these
    /// suites.
    pub fn repeated_page(&self) -> String {
        let pairs: Vec<(&JudgedSuite, &JudgedSuite)> =
            self.documents().filter_map(|first| Some((first, first.again.as_deref()?))).collect();
        let headings = [
            "suite",
            "first run",
            "again",
            "answers",
            "the same",
            "undecided in one",
            "more than claimed in one",
            "opposite",
        ];
        let rows = pairs.iter().map(|(first, again)| row(first, again));
        let rows = rows.chain(self.run_twice.iter().map(SuiteRunTwice::row));
        let sections = pairs.iter().map(|(first, again)| section(first, again));
        let sections: String =
            sections.chain(self.run_twice.iter().map(SuiteRunTwice::section)).collect();
        [INTRODUCTION, &table(&headings, 3, rows), &sections].concat()
    }
}

const INTRODUCTION: &str = "\
# Run again

Does a second run give the same outcomes? These suites were run again on the same kind of machine, with the
commands that their pages print, and judged by the same rules. *Answers* counts those that our figures decided
in at least one of the runs: claims that a document's own table refutes, or that cannot be compared, have the same
outcome whoever measures. An interval covers the noise between the rounds of one run, not the differences between two
days on a shared machine, so an outcome near a bound may change; the figures show how near. Of a suite without claims
each ratio of requests per CPU-second to those of the baseline, or of the first instrument, is an answer: above 1, below
1, or undecided. `publication claims` writes this page from the folder `repeated` next to the records, and a test fails
when they give another one.

";

fn row(first: &JudgedSuite, again: &JudgedSuite) -> Vec<String> {
    let (own, others) = (first.judgements(), again.judgements());
    let all: Vec<Agreement> =
        answers(&own, &others).map(|(_, one, other)| one.beside(other)).collect();
    let count = |kind| all.iter().filter(|one| **one == kind).count().to_string();
    let day = |suite: &JudgedSuite| suite.record.as_ref().map_or_else(String::new, begun);
    let name = format!("[{0}](../../suites/{0}/RESULTS.md)", first.suite);
    let fixed = [name, day(first), day(again), all.len().to_string()];
    fixed.into_iter().chain(Agreement::ALL.map(count)).collect()
}

fn section(first: &JudgedSuite, again: &JudgedSuite) -> String {
    let (own, others) = (first.judgements(), again.judgements());
    let lines: String = answers(&own, &others)
        .filter(|(_, one, other)| one.beside(other) != Agreement::Same)
        .map(|(what, one, other)| {
            let line = format!("- **{what}**: {}; again {}.", in_words(one), in_words(other));
            wrapped(&line, "  ")
        })
        .collect();
    let differing =
        if lines.is_empty() { "Every outcome is the same.\n".to_owned() } else { lines };
    format!("\n## {}\n\n{differing}", first.claims.document.title)
}

/// The answers that figures of ours gave, each with that of the other run.
fn answers<'a>(
    own: &'a [Judgement<'a>],
    others: &'a [Judgement<'a>],
) -> impl Iterator<Item = (String, &'a Answer, &'a Answer)> {
    let is_measured =
        |one: &Answer, other: &Answer| one.outcome.is_decided() || other.outcome.is_decided();
    // What the document's own figures decide is the same whoever measures.
    let is_ours = |one: &&Judgement<'_>| one.claim.judged_by == JudgedBy::Records;
    own.iter()
        .filter(is_ours)
        .filter_map(|one| Some((one, others.iter().find(|other| other.claim.id == one.claim.id)?)))
        .flat_map(|(one, other)| {
            ["does it replicate", "is it so"]
                .into_iter()
                .zip(one.answers().zip(other.answers()))
                .map(|(question, (own, again))| {
                    (format!("{}, {question}", one.claim.id), own, again)
                })
        })
        .filter(move |(_, own, again)| is_measured(own, again))
}

impl Answer {
    fn beside(&self, other: &Answer) -> Agreement {
        Agreement::of(self.outcome, other.outcome)
    }
}

fn in_words(answer: &Answer) -> String {
    match answer.figures.as_str() {
        "" => answer.verdict(),
        figures => format!("{}, {figures}", answer.verdict()),
    }
}
