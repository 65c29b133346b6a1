//! The outcomes of a document's claims: a short table, and each with its reason.

use crate::claims::{Answer, ClaimOutcome, JudgedSuite, Judgement};
use crate::shortened::shortened;
use bookend_report::markdown;
use bookend_results::record::Record;

/// Most columns of the table.
const LINE_MAX: usize = 99;

/// Most columns of a printed figure, and of one of ours, in it.
const FIELD_MAX: usize = 17;

/// A figure with its outcome.
const ANSWER_MAX: usize = 22;

/// Fewest columns of a claim's sentence.
const SENTENCE_MIN: usize = 20;

/// The subjects that answer, where the document has nothing more exact.
const ASKED: &str = "*Same client*: the published one, with the published versions. *Other client*: one \
    that is not the limit.";

/// The subjects that answer claims without a document.
const EXPECTED: &str = "No document has these figures: each claim is an expectation from the source that its \
    reason names.";

/// What a page says of a document's claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimVerdicts {
    tally: String,
    findings: Vec<String>,
    lines: Vec<VerdictLine>,
    probed: Vec<String>,
    asked: String,
    /// Whether the claims are of no document.
    are_expectations: bool,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VerdictLine {
    sentence: String,
    printed: String,
    /// The figure with the published client.
    same: String,
    /// The figure with a client that is not the limit, and what follows from it.
    other: String,
    /// Whether it replicates.
    outcome: String,
    /// The share of failed calls in the cells that it rests on. `None`: none failed.
    failed: Option<String>,
}

impl ClaimVerdicts {
    /// Of a suite with its record.
    pub fn of(suite: &JudgedSuite) -> Self {
        let judgements = suite.judgements();
        let is_it_so = judgements.iter().filter_map(|one| one.is_it_so.as_ref());
        let is_it_so = tally(is_it_so.map(Answer::counted));
        let replicates = counted(&judgements);
        let are_expectations = suite.claims.document.are_expectations;
        let tally = match is_it_so.as_str() {
            "" if are_expectations => format!("Is it as expected? Of {replicates}."),
            "" => format!("Does it replicate? Of {replicates}."),
            _ => format!("Does it replicate? Of {replicates}. Is it so? {is_it_so}."),
        };
        let lines = judgements.iter().map(VerdictLine::of).collect();
        let asked = match suite.claims.document.asked.trim() {
            "" if are_expectations => EXPECTED.to_owned(),
            "" => ASKED.to_owned(),
            asked => asked.to_owned(),
        };
        let findings = judgements.iter().filter_map(|one| one.finding.clone()).collect();
        let probed = suite.probed_servers();
        Self { tally, findings, lines, probed, asked, are_expectations }
    }

    /// The declared sentences whose conditions the outcomes meet.
    pub(super) fn findings(&self) -> &[String] {
        &self.findings
    }

    /// How many claims came to what.
    pub(super) fn tally(&self) -> &str {
        &self.tally
    }

    /// The subjects that answer each question.
    pub(super) fn asked(&self) -> &str {
        &self.asked
    }

    /// The short table.
    pub(super) fn table(&self) -> String {
        let mut headings = match self.are_expectations {
            true => vec!["claim", "expected", "ours", "other client", "as expected?"],
            false => vec!["claim", "they printed", "same client", "other client", "replicates?"],
        };
        let has_failed = self.lines.iter().any(|line| line.failed.is_some());
        headings.extend(has_failed.then_some("failed"));
        let rows = self.lines.iter().map(|line| line.fields(has_failed));
        markdown::table(&headings, headings.len(), rows)
    }

    /// What the probe found of each server of the suite, a sentence each.
    pub(super) fn probed(&self) -> &[String] {
        &self.probed
    }

    /// The page that has every claim with its place, its figures, and how its outcome follows.
    pub(super) fn where_reasons_are(&self) -> &'static str {
        "[Each with its figures and the reason](../../records/pages/reasons.md)."
    }
}

/// How many of a suite's claims came to what, or that its record is not enough to say so: what may
/// be quoted of it elsewhere.
pub fn quotable_outcomes(suite: &JudgedSuite) -> String {
    match &suite.record {
        Some(record) if record.is_quotable() => counted(&suite.judgements()),
        Some(record) => format!("{} claims; {}", suite.judgements().len(), rounds_of(record)),
        None => format!("{} claims; no record of a full run", suite.judgements().len()),
    }
}

/// The rounds of a record, and whether its figures may be quoted.
pub(super) fn rounds_of(record: &Record) -> String {
    let rounds = record.rounds();
    let plural = if rounds == 1 { "" } else { "s" };
    format!("{rounds} round{plural}{}", not_quotable(record))
}

/// That its figures may not be quoted, and why.
pub(super) fn not_quotable(record: &Record) -> String {
    match record.is_quotable() {
        true => String::new(),
        false => format!(", **not quotable** ({})", record.run().scope()),
    }
}

fn counted(judgements: &[Judgement<'_>]) -> String {
    let tally = tally(judgements.iter().map(Judgement::outcome));
    format!("{} claims: {tally}", judgements.len())
}

fn tally(outcomes: impl Iterator<Item = ClaimOutcome>) -> String {
    let outcomes: Vec<ClaimOutcome> = outcomes.collect();
    ClaimOutcome::ALL
        .map(|outcome| (outcomes.iter().filter(|one| **one == outcome).count(), outcome))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {outcome}"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl VerdictLine {
    fn of(one: &Judgement<'_>) -> Self {
        // An outcome without its figure says more than a figure without its outcome.
        let answered = |answer: &Answer| {
            let outcome = answer.counted().short();
            let both = format!("{} {outcome}", answer.figure).trim().to_owned();
            if both.chars().count() > ANSWER_MAX { outcome.to_owned() } else { both }
        };
        // What a ratio is made of stands before it.
        let figure = |answer: &Answer| match answer.figure.split_once(": ") {
            Some((of, _)) if answer.figure.chars().count() > FIELD_MAX => of.to_owned(),
            _ => answer.figure.clone(),
        };
        Self {
            sentence: one.marked_sentence(),
            printed: one.claim.published.clone(),
            same: figure(&one.replicates),
            other: one.is_it_so.as_ref().map_or_else(String::new, answered),
            outcome: one.outcome().short().to_owned(),
            failed: one.failed_most().map(|most| most.to_string()),
        }
    }

    /// What is too long for the table is cut, the sentence last.
    fn fields(&self, has_failed: bool) -> Vec<String> {
        let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
        let mut rest = vec![
            shortened(&self.printed, FIELD_MAX),
            or_dash(shortened(&self.same, FIELD_MAX)),
            or_dash(shortened(&self.other, ANSWER_MAX)),
            self.outcome.clone(),
        ];
        rest.extend(has_failed.then(|| or_dash(self.failed.clone().unwrap_or_default())));
        let used: usize = rest.iter().map(|field| field.chars().count() + " | ".len()).sum();
        let room = LINE_MAX.saturating_sub(used + "|  |".len()).max(SENTENCE_MIN);
        [vec![shortened(&self.sentence, room)], rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sentence: &str, printed: &str) -> VerdictLine {
        VerdictLine {
            sentence: sentence.to_owned(),
            printed: printed.to_owned(),
            same: "9.49".to_owned(),
            other: "17.5 not comparable".to_owned(),
            outcome: "refuted".to_owned(),
            failed: None,
        }
    }

    #[test]
    fn a_line_of_the_table_is_narrow_whatever_a_document_says() {
        let long = "words of a sentence that goes on and on ".repeat(5);
        for (sentence, printed) in [("short", "9.5"), (&long, "9.5"), (&long, &long)] {
            let fields = line(sentence, printed).fields(false);
            let text = format!("| {} |", fields.join(" | "));
            assert!(text.chars().count() <= LINE_MAX, "{text}");
        }
    }
}
