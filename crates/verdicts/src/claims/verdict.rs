//! Held, did not hold, cannot tell here: the verdict on a claim, and why.

use super::claim::{Claim, Derivation, HeldCondition, JudgedBy, Refutation};
use super::judged::JudgedSuite;
use super::marked::Marked;
use super::quantity::{Estimate, Evaluation, Figures, Over, Quantity, Take};
use crate::audit::DocumentFinding;
use bookend_results::audit::Span;
use bookend_results::metric::Unit;
use bookend_results::statistics::Interval;
use std::fmt;

/// The outcome for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    /// The whole interval lies within what counts as held.
    Held,
    /// A whole interval, widened for the number of cases, lies outside of that, or the document
    /// refutes itself.
    DidNotHold,
    /// Something is missing, or an interval lies partly inside and partly outside.
    CannotTell,
}

impl ClaimVerdict {
    /// Every verdict, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Held, Self::DidNotHold, Self::CannotTell];
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::DidNotHold => "did not hold",
            Self::CannotTell => "cannot tell here",
        })
    }
}

/// A claim with its figures and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The result from its document's own figures, as text; empty if nothing can be computed.
    pub recomputed: String,
    /// Our result, as text; empty if the claim asks for none.
    pub ours: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// One or a few sentences, built from the figures.
    pub why: String,
}

impl JudgedSuite {
    /// Every claim with its verdict, in the order of the document.
    pub fn judgements(&self) -> Vec<Judgement<'_>> {
        let marked = self.record.as_ref().map(Marked::of).unwrap_or_default();
        let judge = |claim| judge(claim, self, &marked);
        self.claims.claims.iter().map(judge).collect()
    }
}

/// Judges a claim.
fn judge<'a>(claim: &'a Claim, suite: &JudgedSuite, marked: &Marked<'_>) -> Judgement<'a> {
    let recomputed = claim.recomputed.as_ref().map(|derivation| of_document(derivation, suite));
    let ours = claim.ours.as_ref().map(|quantity| {
        let rows = suite.record.as_ref().map_or(&[][..], |record| &record.rows);
        let deadline_ms = suite.record.as_ref().and_then(|record| record.facts.plan.deadline_ms);
        let figures = Figures::Recorded {
            rows,
            deadline_ns: deadline_ms.map(|deadline| deadline as f64 * 1e6),
            profile: suite.profile.as_ref(),
        };
        let evaluation = quantity.evaluate(figures, &suite.claims.models);
        Worked::of(quantity, evaluation)
    });
    let (verdict, reason) = verdict(claim, recomputed.as_ref(), ours.as_ref(), suite);
    let why = [Some(reason), claim.why.clone(), marks_sentence(claim, suite, marked)];
    let why: Vec<String> = why.into_iter().flatten().collect();
    Judgement {
        claim,
        recomputed: recomputed.map_or_else(String::new, |worked| worked.text()),
        ours: ours.map_or_else(String::new, |worked| worked.text()),
        verdict,
        why: why.join(" "),
    }
}

/// What makes the rounds behind a verdict doubtful, if it depends on rounds.
fn marks_sentence(claim: &Claim, suite: &JudgedSuite, marked: &Marked<'_>) -> Option<String> {
    let is_settled = refuting(claim.refuted_by.as_ref(), &suite.findings).is_some();
    let is_judged = claim.held.is_some() && claim.cannot_tell.is_none() && !is_settled;
    let quantity = claim.ours.as_ref()?;
    let record = suite.record.as_ref()?;
    (is_judged && claim.judged_by == JudgedBy::Records)
        .then(|| marked.sentence(quantity, &record.rows))?
}

fn of_document(derivation: &Derivation, suite: &JudgedSuite) -> Worked {
    match derivation {
        Derivation::Formula(span) => Worked {
            unit: Unit::Number,
            take: Take::Each,
            is_over_model: false,
            evaluation: of_span(*span),
        },
        Derivation::Quantity(quantity) => {
            let figures = Figures::Printed(&suite.document);
            let evaluation = quantity.evaluate(figures, &suite.claims.models);
            Worked::of(quantity, evaluation)
        }
    }
}

fn of_span(span: Span) -> Evaluation {
    let (low, high) = (span.low, span.high);
    let interval = Some(Interval { low, high });
    Evaluation {
        estimates: vec![Estimate {
            place: String::new(),
            value: span.value,
            interval,
            joint_interval: interval,
            equal_rounds: None,
        }],
        missing: vec![],
    }
}

fn verdict(
    claim: &Claim,
    recomputed: Option<&Worked>,
    ours: Option<&Worked>,
    suite: &JudgedSuite,
) -> (ClaimVerdict, String) {
    if let Some(finding) = refuting(claim.refuted_by.as_ref(), &suite.findings) {
        let reason = format!("Its own table refutes it ({}): {}.", finding.place, finding.finding);
        return (ClaimVerdict::DidNotHold, reason);
    }
    if let Some(reason) = &claim.cannot_tell {
        return (ClaimVerdict::CannotTell, reason.clone());
    }
    let judged = match claim.judged_by {
        JudgedBy::Records if suite.record.is_none() => {
            return (ClaimVerdict::CannotTell, "No record yet.".to_owned());
        }
        JudgedBy::Records => ours,
        JudgedBy::Document => recomputed,
    };
    match (judged, claim.held) {
        (Some(worked), Some(condition)) => worked.judge(condition, claim.judged_by),
        (_, None) if claim.refuted_by.is_some() => unrefuted(claim.refuted_by.as_ref(), suite),
        // A checked claim has both; if not, show the reader what is missing.
        _ => (ClaimVerdict::CannotTell, "Nothing says what counts as held.".to_owned()),
    }
}

fn refuting<'a>(
    refutation: Option<&Refutation>,
    findings: &'a [DocumentFinding],
) -> Option<&'a DocumentFinding> {
    let refutation = refutation?;
    findings.iter().find(|one| {
        let subject = refutation.subject.as_ref();
        let cases = refutation.cases.as_ref();
        one.finding.rule == refutation.rule
            && subject.is_none_or(|subject| *subject == one.subject)
            && cases.is_none_or(|cases| one.case.is_some_and(|case| cases.contains(&case)))
    })
}

/// The verdict on a claim that only a rule can settle, where the rule found nothing.
fn unrefuted(refutation: Option<&Refutation>, suite: &JudgedSuite) -> (ClaimVerdict, String) {
    let rule = refutation.map(|one| one.rule);
    let mut coverage = suite.coverage.iter();
    match coverage.find(|one| Some(one.rule) == rule) {
        Some(one) => {
            let reason = format!("`{}` finds nothing in the {} rows.", one.rule, one.rows);
            (ClaimVerdict::Held, reason)
        }
        None => {
            let reason = "The document prints too little for the rule to look.".to_owned();
            (ClaimVerdict::CannotTell, reason)
        }
    }
}

/// A quantity that was computed.
struct Worked {
    unit: Unit,
    take: Take,
    is_over_model: bool,
    evaluation: Evaluation,
}

impl Worked {
    fn of(quantity: &Quantity, evaluation: Evaluation) -> Self {
        Self {
            unit: quantity.unit(),
            take: quantity.take,
            is_over_model: matches!(quantity.over, Some(Over::Model(_))),
            evaluation,
        }
    }

    fn judge(&self, condition: HeldCondition, judged_by: JudgedBy) -> (ClaimVerdict, String) {
        let estimates = &self.evaluation.estimates;
        let judged: Vec<Option<bool>> = estimates.iter().map(|one| condition.holds(one)).collect();
        let whose = match judged_by {
            JudgedBy::Records => "Ours",
            JudgedBy::Document => "Its own figures",
        };
        let held = self.condition_text(condition);
        if let Some(index) = judged.iter().position(|one| *one == Some(false)) {
            let refuting = self.estimate_text(&estimates[index]);
            return (
                ClaimVerdict::DidNotHold,
                format!("{whose}: {refuting}; held would be {held}."),
            );
        }
        if let Some(missing) = self.evaluation.missing.first() {
            let more = match self.evaluation.missing.len() {
                1 => String::new(),
                several => format!(", and {} more", several - 1),
            };
            return (ClaimVerdict::CannotTell, format!("Cannot tell: {missing}{more}."));
        }
        match judged.iter().position(Option::is_none) {
            None if estimates.is_empty() => {
                (ClaimVerdict::CannotTell, "Cannot tell: no case to look at.".to_owned())
            }
            None => (ClaimVerdict::Held, format!("{whose}: {}, {held}.", self.text())),
            Some(index) => {
                let one = &estimates[index];
                let unclear = self.estimate_text(one);
                let reason = match one.interval {
                    Some(interval) if condition.excludes(interval) => format!(
                        "{whose}: {unclear}; held would be {held}. One of {} cases can be as far \
                         off by chance.",
                        estimates.len()
                    ),
                    Some(_) => format!(
                        "{whose}: {unclear}; held would be {held}, and the interval lies on both sides."
                    ),
                    None => format!("{whose}: {unclear}, from one round, which has no interval."),
                };
                (ClaimVerdict::CannotTell, reason)
            }
        }
    }

    /// One figure with its interval, or the range of several cases.
    fn text(&self) -> String {
        let estimates = &self.evaluation.estimates;
        match estimates.as_slice() {
            [] => {
                if self.evaluation.missing.is_empty() {
                    String::new()
                } else {
                    "no record".to_owned()
                }
            }
            [one] => self.estimate_text(one),
            several => {
                let values = several.iter().map(|one| one.value);
                let low = values.clone().fold(f64::INFINITY, f64::min);
                let high = values.fold(f64::NEG_INFINITY, f64::max);
                let what = match self.take {
                    Take::Growth => "steps",
                    _ => "cases",
                };
                let (low, high) = (self.number(low), self.number(high));
                let count = several.len();
                if low == high {
                    return format!("{low}{} in each of {count} {what}", self.of_whom());
                }
                format!("{low} to {high}{} in {count} {what}", self.of_whom())
            }
        }
    }

    fn estimate_text(&self, one: &Estimate) -> String {
        let value = self.number(one.value);
        let interval = one.interval.map_or_else(String::new, |interval| {
            let ends = [self.number(interval.low), self.number(interval.high)];
            if ends.iter().all(|end| *end == value) {
                equal_text(one.equal_rounds)
            } else {
                format!(" ({} to {})", ends[0], ends[1])
            }
        });
        format!("{value}{interval}{} {}", self.of_whom(), one.place).trim_end().to_owned()
    }

    /// Marks a ratio to the model: a total of 20 s that reads only "1.01" would puzzle the reader.
    fn of_whom(&self) -> &'static str {
        if self.is_over_model { " of the model's" } else { "" }
    }

    fn number(&self, value: f64) -> String {
        self.unit.text(value)
    }

    /// What counts as held: a clause that follows a figure.
    fn condition_text(&self, condition: HeldCondition) -> String {
        let number = |value| self.number(value);
        match (condition.at_least, condition.at_most) {
            (Some(least), Some(most)) if least == most => format!("exactly {}", number(least)),
            (Some(least), Some(most)) => format!("within {} to {}", number(least), number(most)),
            (Some(least), None) => format!("at least {}", number(least)),
            (None, Some(most)) => format!("at most {}", number(most)),
            (None, None) => "anything".to_owned(),
        }
    }
}

/// In place of an interval without width: the number of rounds with this figure is more
/// informative.
fn equal_text(rounds: Option<usize>) -> String {
    rounds.map_or_else(String::new, |rounds| format!(" in each of {rounds} rounds"))
}

impl HeldCondition {
    /// True if the whole interval is inside the range, false if the whole joint interval is
    /// outside. A claim about several cases must hold in all of them, so with more cases it is
    /// likelier that one is outside by chance. `None`: neither, or there is no interval.
    fn holds(self, estimate: &Estimate) -> Option<bool> {
        let interval = estimate.interval?;
        if interval.low >= self.least() && interval.high <= self.most() {
            return Some(true);
        }
        self.excludes(estimate.joint_interval?).then_some(false)
    }

    fn excludes(self, interval: Interval) -> bool {
        interval.high < self.least() || interval.low > self.most()
    }

    fn least(self) -> f64 {
        self.at_least.unwrap_or(f64::NEG_INFINITY)
    }

    fn most(self) -> f64 {
        self.at_most.unwrap_or(f64::INFINITY)
    }
}
