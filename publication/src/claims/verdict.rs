//! A claim with the answers to the two questions about it: does it replicate, and is it so?

use super::claim::{Claim, JudgedBy, Question, Refutation};
use super::evaluation::{Evaluation, Figures};
use super::failed_calls::FailedCells;
use super::judged::JudgedSuite;
use super::marked::MarkedRounds;
use super::outcome::ClaimOutcome;
use super::probed;
use super::quantity::{Over, Quantity};
use crate::audit::{Coverage, DocumentFinding};
use bookend_results::audit::Rule;
use bookend_results::measurement::CellId;

/// A claim with its figures and outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The result from its document's own figures, as text; empty if nothing can be computed.
    pub recomputed: String,
    /// The same without its interval.
    pub recomputed_figure: String,
    /// What is divided by what in it.
    pub recomputed_of: Option<String>,
    /// Does it replicate, with the published client and versions? Where no client could have
    /// shaped it, this is the only answer.
    pub replicates: Answer,
    /// What stands in for a system of the document that cannot be had.
    pub stand_in: Option<String>,
    /// What the probe found of its servers, a sentence each.
    pub probed: Vec<String>,
    /// Is it so, with a client that is not the limit? `None`: not asked.
    pub is_it_so: Option<Answer>,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// Our figure without its interval; empty if there is none.
    pub figure: String,
    /// With its interval and place; empty if there is none.
    pub figures: String,
    /// What is divided by what in it.
    pub of: Option<String>,
    /// How the outcome follows: a few sentences.
    pub why: String,
    /// The cells behind it in which calls failed.
    pub failed: FailedCells,
    /// Whether it rests on an interval of rounds, and can so be wrong by chance.
    pub is_by_interval: bool,
}

impl Judgement<'_> {
    /// The outcome that tallies count: that of the first question.
    pub fn outcome(&self) -> ClaimOutcome {
        self.replicates.outcome
    }

    /// Both answers, or the only one.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        std::iter::once(&self.replicates).chain(&self.is_it_so)
    }
}

impl JudgedSuite {
    /// Every sentence of the document with its outcomes, in its order.
    pub fn judgements(&self) -> Vec<Judgement<'_>> {
        self.claims.sentences().map(|claim| judge(claim, self)).collect()
    }

    /// The notes that are no sentences of it, with their figures.
    pub fn notes(&self) -> Vec<Judgement<'_>> {
        self.claims
            .claims
            .iter()
            .filter(|claim| claim.note)
            .map(|claim| judge(claim, self))
            .collect()
    }
}

fn judge<'a>(claim: &'a Claim, suite: &JudgedSuite) -> Judgement<'a> {
    let printed = Figures::Printed(&suite.document);
    let tables =
        claim.recomputed.as_ref().map(|quantity| quantity.evaluate(printed, &suite.claims.models));
    let tables = claim.formula.map(Evaluation::of_formula).or(tables);
    let table = tables.as_ref();
    let is_it_so =
        claim.judged_with.as_ref().map(|question| measured(claim, Some(question), table, suite));
    let replicates = measured(claim, claim.replicated_by.as_ref(), table, suite);
    let replicates = match settled(claim, table, suite) {
        Some((outcome, why)) => Answer { outcome, why, is_by_interval: false, ..replicates },
        None => replicates,
    };
    let text = |of: fn(&Evaluation) -> String| table.map_or_else(String::new, of);
    let (recomputed, recomputed_figure) = (text(Evaluation::text), text(Evaluation::short_text));
    let recomputed_of = claim.recomputed.as_ref().and_then(Quantity::over_text);
    let stand_in = stand_in(claim, suite);
    Judgement {
        claim,
        recomputed,
        recomputed_figure,
        recomputed_of,
        replicates,
        stand_in,
        probed: probed::told(claim, suite),
        is_it_so,
    }
}

fn stand_in(claim: &Claim, suite: &JudgedSuite) -> Option<String> {
    let own = claim.ours.as_ref()?;
    let over = match &own.over {
        Some(Over::Subject(other)) => Some(other),
        _ => None,
    };
    std::iter::once(&own.of)
        .chain(over)
        .find_map(|name| suite.claims.document.stand_ins.get(&name.subject).cloned())
}

/// The outcome that follows from the document alone.
fn settled(
    claim: &Claim,
    table: Option<&Evaluation>,
    suite: &JudgedSuite,
) -> Option<(ClaimOutcome, String)> {
    if let Some(DocumentFinding { place, finding, .. }) = refuting(claim, &suite.findings) {
        let why = format!("Its own table refutes it ({place}): {finding}.");
        return Some((ClaimOutcome::RefutedByItsTable, why));
    }
    if claim.judged_by == JudgedBy::Records {
        return None;
    }
    if let (None, None, Some(refutation)) = (claim.says, &claim.bounds, &claim.refuted_by) {
        return Some(unrefuted(refutation.rule, &suite.coverage));
    }
    let (outcome, why) = table?.judge(claim, table, None);
    let outcome = match outcome {
        ClaimOutcome::DidNotReplicate => ClaimOutcome::RefutedByItsTable,
        other => other,
    };
    Some((outcome, format!("Its own figures: {why}")))
}

/// The answer that our record gives.
fn measured(
    claim: &Claim,
    question: Option<&Question>,
    table: Option<&Evaluation>,
    suite: &JudgedSuite,
) -> Answer {
    let (record, profile) = suite.recorded(claim.suite.as_deref());
    let quantity = claim.quantity_of(question);
    let figures = Figures::Recorded(record, profile);
    let ours = quantity.as_ref().map(|own| own.evaluate(figures, &suite.claims.models));
    let open = |of: &dyn Fn(&Question) -> Option<String>, own: &Option<String>| {
        question.and_then(of).or_else(|| own.clone())
    };
    let not_comparable = open(&|one| one.not_comparable.clone(), &claim.not_comparable);
    let undecided = open(&|one| one.undecided.clone(), &claim.undecided);
    let declared = match (not_comparable, undecided) {
        (Some(reason), _) => Some((ClaimOutcome::NotComparable, reason)),
        (None, Some(reason)) => Some((ClaimOutcome::Undecided, reason)),
        (None, None) => None,
    };
    let marked = quantity
        .as_ref()
        .filter(|_| declared.is_none())
        .and_then(|quantity| Some(MarkedRounds::of(quantity, record?)));
    let nothing = || (ClaimOutcome::Undecided, "Nothing of ours answers it.".to_owned());
    let judged =
        || ours.as_ref().map_or_else(nothing, |ours| ours.judge(claim, table, marked.as_ref()));
    let (outcome, why) = declared.unwrap_or_else(judged);
    let doubts = marked.and_then(|marked| marked.sentence());
    let failed = quantity.as_ref().and_then(|quantity| Some(FailedCells::of(quantity, record?)));
    let failed = failed.unwrap_or_default();
    let is_by_interval = claim.bounds.is_none() && outcome.is_decided();
    let text = |of: fn(&Evaluation) -> String| ours.as_ref().map_or_else(String::new, of);
    Answer {
        outcome,
        figure: text(Evaluation::short_text),
        figures: text(Evaluation::text),
        of: quantity.as_ref().and_then(Quantity::over_text),
        why: [Some(why), failed.sentence(), doubts]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        failed,
        is_by_interval,
    }
}

/// The finding that settles a claim.
fn refuting<'a>(claim: &Claim, findings: &'a [DocumentFinding]) -> Option<&'a DocumentFinding> {
    let Refutation { rule, subject, cases } = claim.refuted_by.as_ref()?;
    let is_meant = |cell: &CellId| {
        subject.as_ref().is_none_or(|subject| *subject == cell.subject)
            && cases.as_ref().is_none_or(|cases| cases.contains(&cell.case))
    };
    let any_row = subject.is_none() && cases.is_none();
    findings
        .iter()
        .filter(|one| one.finding.rule == *rule)
        .find(|one| any_row || one.cell.as_ref().is_some_and(is_meant))
}

/// The outcome for a claim that only a rule can settle, where the rule found nothing.
fn unrefuted(rule: Rule, coverage: &[Coverage]) -> (ClaimOutcome, String) {
    match coverage.iter().find(|one| one.rule == rule) {
        Some(Coverage { rows, .. }) => {
            (ClaimOutcome::Replicated, format!("`{rule}` finds nothing in the {rows} rows."))
        }
        None => {
            let reason = "The document prints too little for the rule to look.";
            (ClaimOutcome::Undecided, reason.to_owned())
        }
    }
}
