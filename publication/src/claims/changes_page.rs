//! docs/measure/changed-verdicts.md: claim by claim, what became of the earlier verdicts and why.

use super::claim::EarlierVerdict;
use super::judged::{JudgedSuite, JudgedSuites};
use super::verdict::{Answer, Judgement};
use bookend_report::markdown::wrapped;

impl JudgedSuites {
    /// docs/measure/changed-verdicts.md.
    pub fn changes_page(&self) -> String {
        let sections: String = self.documents().map(section).collect();
        INTRODUCTION.to_owned() + &sections
    }
}

const INTRODUCTION: &str = "\
# Changed verdicts

Until November 2026 each claim had one verdict: held, did not hold, or cannot tell here. Many of them were
ours to regret: claims about figures that were published through one client were judged with another,
windows were shorter than the calls in them, bounds were chosen claim by claim, and hypotheses of our own
were counted as if a document had made them. This page says for each claim what it was called then, what it
is called [now](claims.md), and why. It is written by `publication claims`, so that *now* follows the records.
";

fn section(suite: &JudgedSuite) -> String {
    let sentences = suite.judgements();
    let notes = suite.notes();
    let lines: String = sentences.iter().chain(&notes).filter_map(line).collect();
    let is_new = |one: &&Judgement<'_>| one.claim.earlier.is_none();
    let new: Vec<String> =
        sentences.iter().filter(is_new).map(|one| format!("`{}`", one.claim.id)).collect();
    let new = match new.as_slice() {
        [] => String::new(),
        _ => wrapped(&format!("Asked for the first time: {}.", new.join(", ")), "") + "\n",
    };
    format!("\n## {}\n\n{new}{lines}", suite.claims.document.title)
}

fn line(one: &Judgement<'_>) -> Option<String> {
    let EarlierVerdict { verdict, why } = one.claim.earlier.as_ref()?;
    let now: Vec<String> = one.answers().map(Answer::verdict).collect();
    let now = if one.claim.note { "no claim".to_owned() } else { now.join("; is it so: ") };
    let why = why.as_deref().unwrap_or("Judged as before.");
    Some(wrapped(&format!("- **{}**: {verdict}; now {now}. {why}", one.claim.id), "  "))
}
