//! records/pages/changed-verdicts.md: claim by claim, what became of the earlier verdicts and why.

use super::claim::EarlierVerdict;
use super::judged::{JudgedSuite, JudgedSuites};
use super::verdict::{Answer, Judgement};
use bookend_report::markdown::wrapped;

impl JudgedSuites {
    /// records/pages/changed-verdicts.md.
    pub fn changes_page(&self) -> String {
        let sections: String = self.documents().map(section).collect();
        INTRODUCTION.to_owned() + &sections
    }
}

const INTRODUCTION: &str = "\
# Changed verdicts

On 28 November 2026 every suite was recorded anew, at one revision and on one machine, with rows that the earlier
records lack. No rule changed. This page lists each claim whose outcome changed: the outcome by the [earlier
records](../history), the [present](../../docs/measure/claims.md) one, and the reason. `publication claims` writes it, so
the present outcome follows the records. What changed before is listed in the versions of [27
November](../experiments/changed-verdicts-2026-11-27.md), when rules changed, and of [23
November](../experiments/changed-verdicts-2026-11-23.md).

";

fn section(suite: &JudgedSuite) -> String {
    let sentences = suite.judgements();
    let notes = suite.notes();
    let both: Vec<&Judgement<'_>> = sentences.iter().chain(&notes).collect();
    let lines: Vec<String> = both.iter().filter_map(|one| line(one)).collect();
    let known = both.iter().filter(|one| one.claim.earlier.is_some()).count();
    let unchanged = format!("Of {known} claims {} have another outcome.\n", lines.len());
    let is_new = |one: &&Judgement<'_>| one.claim.earlier.is_none();
    let new: Vec<String> =
        sentences.iter().filter(is_new).map(|one| format!("`{}`", one.claim.id)).collect();
    let new = match new.as_slice() {
        [] => String::new(),
        _ => {
            "\n".to_owned()
                + &wrapped(&format!("Asked for the first time: {}.", new.join(", ")), "")
        }
    };
    let title = &suite.claims.document.title;
    format!("## {title}\n\n{unchanged}{new}\n{}\n", lines.concat())
}

impl Judgement<'_> {
    /// The outcomes as this page names them. A note has no outcome.
    pub fn outcomes(&self) -> String {
        let outcomes: Vec<String> =
            self.answers().map(|answer| answer.counted().to_string()).collect();
        if self.claim.note { "no claim".to_owned() } else { outcomes.join("; is it so: ") }
    }
}

/// `None`: the outcome is the same.
fn line(one: &Judgement<'_>) -> Option<String> {
    let EarlierVerdict { verdict, why } = one.claim.earlier.as_ref()?;
    let outcomes = one.outcomes();
    let now: Vec<String> = one.answers().map(Answer::outcome_of_both_runs).collect();
    let now = if one.claim.note { outcomes.clone() } else { now.join("; is it so: ") };
    let why = why.as_deref().unwrap_or("The record is another one.");
    let changed = || wrapped(&format!("- **{}**: {verdict}; now {now}. {why}", one.claim.id), "  ");
    (*verdict != outcomes).then(changed)
}
