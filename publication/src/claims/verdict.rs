//! A claim with the answers to the two questions about it: does it replicate, and is it so?

use super::answer::Asked;
use super::claim::{Claim, JudgedBy, Question, Refutation};
use super::evaluation::{Evaluation, Figures};
use super::failed_calls::FailedCells;
use super::finding::{Explanation, FigureCondition};
use super::judged::JudgedSuite;
use super::marked::MarkedRounds;
use super::outcome::ClaimOutcome;
use super::probed;
use super::quantity::{Over, Quantity};
use crate::audit::{Coverage, DocumentFinding};
use bookend_results::audit::Rule;
use bookend_results::measurement::CellId;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A claim with its figures and outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The result from its document's own figures, as text; empty if nothing can be computed.
    pub recomputed: String,
    /// What is divided by what in it.
    pub recomputed_of: Option<String>,
    /// Does it replicate, with the published client and versions? Where no client could have
    /// shaped it, this is the only answer.
    pub replicates: Answer,
    /// What the probe found of its servers, a sentence each.
    pub probed: Vec<String>,
    /// Is it so, with a client that is not the limit? `None`: not asked.
    pub is_it_so: Option<Answer>,
    /// What explains the outcome, as far as figures bear it out.
    pub why: Option<String>,
    /// The sentence for a colleague. `None`: it has no finding, or a figure of its premise or its
    /// conclusion is missing or says otherwise.
    pub finding: Option<String>,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// Our figure without its interval, in the unit of what was printed; empty without one.
    pub figure: String,
    /// With its interval and place; empty without one.
    pub figures: String,
    /// What is divided by what in it.
    pub of: Option<String>,
    /// How the outcome follows: a few sentences.
    pub why: String,
    /// The cells behind it in which calls failed.
    pub failed: FailedCells,
    /// Whether it rests on an interval of rounds, and can so be wrong by chance.
    pub is_by_interval: bool,
    /// The same of the other run, where the suite was run twice.
    pub again: Option<OtherRun>,
}

/// The same answer from a second run of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRun {
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// The figure without its interval; empty without one.
    pub figure: String,
}

impl Judgement<'_> {
    /// The outcome that tallies count: that of the first question.
    pub fn outcome(&self) -> ClaimOutcome {
        self.replicates.counted()
    }

    /// Both answers, or the only one.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        std::iter::once(&self.replicates).chain(&self.is_it_so)
    }

    /// With the answers of another run of the suite added; what both do not bear out is not
    /// printed.
    fn beside(mut self, other: &Judgement<'_>) -> Self {
        let again = |answer: &Answer| {
            Some(OtherRun { outcome: answer.outcome, figure: answer.figure.clone() })
        };
        self.replicates.again = again(&other.replicates);
        if let Some((own, other)) = self.is_it_so.as_mut().zip(other.is_it_so.as_ref()) {
            own.again = again(other);
        }
        self.finding = self.finding.filter(|_| other.finding.is_some());
        self.why = self.why.filter(|_| other.why.is_some());
        self
    }
}

impl Answer {
    /// The outcome that tallies count: two runs that disagree have none in common.
    pub fn counted(&self) -> ClaimOutcome {
        match self.differing() {
            Some(_) => ClaimOutcome::Differs,
            None => self.outcome,
        }
    }

    /// The other run, if its outcome is another one.
    pub fn differing(&self) -> Option<&OtherRun> {
        self.again.as_ref().filter(|again| again.outcome != self.outcome)
    }

    /// The outcome, and that of a run that disagrees.
    pub fn outcome_of_both_runs(&self) -> String {
        let again = self.differing().map(|again| format!("; again {}", again.outcome));
        format!("{}{}", self.verdict(), again.unwrap_or_default())
    }

    /// The figure with the outcome in a word or two, and what a run that disagrees came to.
    pub fn in_short(&self) -> String {
        let own = format!("{} {}", self.figure, self.outcome.short());
        let again = self.differing().map(|again| format!("; again {}", again.outcome.short()));
        format!("{}{}", own.trim(), again.unwrap_or_default())
    }
}

impl JudgedSuite {
    /// Every sentence of the document with its outcomes, in its order.
    pub fn judgements(&self) -> Vec<Judgement<'_>> {
        self.claims.sentences().map(|claim| self.judge_both_runs(claim)).collect()
    }

    /// The notes that are no sentences of it, with their figures.
    pub fn notes(&self) -> Vec<Judgement<'_>> {
        let notes = self.claims.claims.iter().filter(|claim| claim.note);
        notes.map(|claim| judge(claim, self)).collect()
    }

    fn judge_both_runs<'a>(&'a self, claim: &'a Claim) -> Judgement<'a> {
        let own = judge(claim, self);
        match &self.again {
            Some(again) => own.beside(&judge(claim, again)),
            None => own,
        }
    }
}

fn judge<'a>(claim: &'a Claim, suite: &JudgedSuite) -> Judgement<'a> {
    let printed = Figures::Printed(&suite.document);
    let models = &suite.claims.models;
    let tables = claim.recomputed.as_ref().map(|quantity| quantity.evaluate(printed, models));
    let tables = claim.formula.map(Evaluation::of_formula).or(tables);
    let tables = tables.map(|tables| {
        tables.in_printed_unit((&claim.published, claim.printed), claim.ours.as_ref())
    });
    let table = tables.as_ref();
    let (same, same_figures) =
        measured(claim, (Asked::Replicates, claim.replicated_by.as_ref()), table, suite);
    let other = claim
        .judged_with
        .as_ref()
        .map(|question| measured(claim, (Asked::IsItSo, Some(question)), table, suite));
    // What settles a claim from the document alone leaves our figure as it is.
    let is_usable = |answer: &Answer| answer.outcome.is_decided();
    let figure = |condition: &FigureCondition| {
        let decided = |answer: &Answer, figures: &Option<Evaluation>| {
            figures.clone().filter(|_| is_usable(answer)).map(Cow::Owned)
        };
        match condition.figure.as_str() {
            "table" => table.map(Cow::Borrowed),
            "same" => decided(&same, &same_figures),
            "other" => other.as_ref().and_then(|(answer, figures)| decided(answer, figures)),
            _ => besides(claim, condition, suite).map(Cow::Owned),
        }
    };
    let finding = claim.finding.as_ref().and_then(|finding| {
        let told = finding.told(&claim.published, figure)?;
        let failed = |condition: &FigureCondition| match condition.figure.as_str() {
            "same" => Some(same.failed.clone()),
            "other" => other.as_ref().map(|(answer, _)| answer.failed.clone()),
            _ => Some(FailedCells::of(
                condition.recorded.as_ref()?,
                suite.recorded(claim.suite.as_deref()).0?,
            )),
        };
        Some(told + &finding.failed_beside(failed))
    });
    let why = claim.why.as_ref().and_then(|why| match why {
        Explanation::Fixed(text) => Some(text.clone()),
        Explanation::Conditional(conclusion) => conclusion.told(&claim.published, figure),
    });
    let replicates = match settled(claim, table, suite) {
        Some((outcome, why)) => Answer { outcome, why, is_by_interval: false, ..same.clone() },
        None => same.clone(),
    };
    Judgement {
        claim,
        recomputed: table.map_or_else(String::new, Evaluation::text),
        recomputed_of: claim.recomputed.as_ref().and_then(Quantity::over_text),
        replicates,
        probed: probed::told(claim, suite),
        is_it_so: other.as_ref().map(|(answer, _)| answer.clone()),
        why,
        finding,
    }
}

/// The figure that a condition names besides those of the claim.
fn besides(claim: &Claim, condition: &FigureCondition, suite: &JudgedSuite) -> Option<Evaluation> {
    let (record, profile) = suite.recorded(claim.suite.as_deref());
    let recorded = condition.recorded.as_ref().map(|own| (own, Figures::Recorded(record, profile)));
    let printed = condition.printed.as_ref().map(|own| (own, Figures::Printed(&suite.document)));
    let (quantity, figures) = recorded.or(printed)?;
    Some(quantity.evaluate(figures, &suite.claims.models))
}

/// The stand-ins for a system of the document in a quantity, a sentence each.
fn stand_ins(quantity: &Quantity, suite: &JudgedSuite) -> Option<String> {
    let over = match &quantity.over {
        Some(Over::Subject(other)) => Some(other),
        _ => None,
    };
    let named: BTreeSet<&str> = std::iter::once(&quantity.of)
        .chain(over)
        .filter_map(|name| suite.claims.document.stand_ins.get(&name.subject))
        .map(String::as_str)
        .collect();
    (!named.is_empty()).then(|| named.into_iter().collect::<Vec<_>>().join(" "))
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
    let (outcome, why) = table?.judge(claim, table, None, Asked::Replicates);
    let outcome = match outcome {
        ClaimOutcome::DidNotReplicate => ClaimOutcome::RefutedByItsTable,
        other => other,
    };
    Some((outcome, format!("Its own figures: {why}")))
}

/// The answer that our record gives, and the figures that it rests on.
fn measured(
    claim: &Claim,
    (asked, question): (Asked, Option<&Question>),
    table: Option<&Evaluation>,
    suite: &JudgedSuite,
) -> (Answer, Option<Evaluation>) {
    let (record, profile) = suite.recorded(claim.suite.as_deref());
    let quantity = claim.quantity_of(question);
    let figures = Figures::Recorded(record, profile);
    let ours = quantity.as_ref().map(|own| {
        own.evaluate(figures, &suite.claims.models)
            .in_printed_unit((&claim.published, claim.printed), claim.ours.as_ref())
    });
    let declared = declared(claim, question, quantity.as_ref(), suite);
    let marked = quantity
        .as_ref()
        .filter(|_| declared.is_none())
        .and_then(|quantity| Some(MarkedRounds::of(quantity, record?)));
    let nothing = || (ClaimOutcome::Undecided, "Nothing of ours answers it.".to_owned());
    let judged = || {
        ours.as_ref().map_or_else(nothing, |ours| ours.judge(claim, table, marked.as_ref(), asked))
    };
    let (outcome, why) = declared.unwrap_or_else(judged);
    let doubts = marked.and_then(|marked| marked.sentence());
    let failed = quantity.as_ref().and_then(|quantity| Some(FailedCells::of(quantity, record?)));
    let failed = failed.unwrap_or_default();
    let is_by_interval = claim.bounds.is_none() && outcome.is_decided();
    let text = |of: fn(&Evaluation) -> String| ours.as_ref().map_or_else(String::new, of);
    let figure = text(Evaluation::short_text);
    let is_there = !figure.is_empty();
    let printed = quantity.as_ref().filter(|_| is_there).and_then(|quantity| {
        let document = Figures::Printed(&suite.document);
        quantity.beside_printed(claim, (figures, document))
    });
    let answer = Answer {
        outcome,
        figure: printed.map_or(figure.clone(), |printed| printed.beside(&figure)),
        figures: text(Evaluation::text),
        of: quantity.as_ref().and_then(Quantity::over_text),
        why: [Some(why), failed.sentence(), doubts]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        failed,
        is_by_interval,
        again: None,
    };
    (answer, ours)
}

/// The answer that no figure of ours gives: it is declared, or a stand-in was measured.
fn declared(
    claim: &Claim,
    question: Option<&Question>,
    quantity: Option<&Quantity>,
    suite: &JudgedSuite,
) -> Option<(ClaimOutcome, String)> {
    let open = |of: &dyn Fn(&Question) -> Option<String>, own: &Option<String>| {
        question.and_then(of).or_else(|| own.clone())
    };
    let not_comparable = open(&|one| one.not_comparable.clone(), &claim.not_comparable);
    let stand_ins = quantity.and_then(|quantity| stand_ins(quantity, suite));
    let reasons: Vec<String> = not_comparable.into_iter().chain(stand_ins).collect();
    if !reasons.is_empty() {
        return Some((ClaimOutcome::NotComparable, reasons.join(" ")));
    }
    let undecided = open(&|one| one.undecided.clone(), &claim.undecided);
    undecided.map(|reason| (ClaimOutcome::Undecided, reason))
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
