//! Held, did not hold, cannot tell here: the verdict on a claim, and why.

use super::claim::{Claim, HeldCondition, JudgedBy, Refutation};
use super::evaluation::{Evaluation, Figures};
use super::judged::JudgedSuite;
use super::marked::marks_sentence;
use super::quantity::{Quantity, Take};
use super::series::Estimate;
use crate::audit::{Coverage, DocumentFinding};
use bookend_results::audit::Rule;
use bookend_results::measurement::CellId;
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
        let claims = self.claims.claims.iter();
        claims.map(|claim| judge(claim, self)).collect()
    }
}

/// Judges a claim.
fn judge<'a>(claim: &'a Claim, suite: &JudgedSuite) -> Judgement<'a> {
    let models = &suite.claims.models;
    let printed = Figures::Printed(&suite.document);
    let recorded = Figures::Recorded(suite.record.as_ref(), suite.profile.as_ref());
    let (tables, ours) = (claim.recomputed.as_ref(), claim.ours.as_ref());
    let tables = tables.map(|quantity| quantity.evaluate(printed, models));
    let recomputed = claim.formula.map(Evaluation::of_formula).or(tables);
    let ours = ours.map(|quantity| quantity.evaluate(recorded, models));
    let (verdict, reason) = verdict(claim, recomputed.as_ref(), ours.as_ref(), suite);
    let why = [Some(reason), claim.why.clone(), doubts(claim, suite)];
    let why: Vec<String> = why.into_iter().flatten().collect();
    let text = |evaluation: Option<Evaluation<'_>>| {
        evaluation.map_or_else(String::new, |evaluation| evaluation.text())
    };
    Judgement { claim, recomputed: text(recomputed), ours: text(ours), verdict, why: why.join(" ") }
}

/// What makes the rounds behind a verdict doubtful, if it depends on rounds.
fn doubts(claim: &Claim, suite: &JudgedSuite) -> Option<String> {
    let is_settled = refuting(claim, &suite.findings).is_some();
    let is_judged = claim.held.is_some() && claim.cannot_tell.is_none() && !is_settled;
    if is_judged && claim.judged_by == JudgedBy::Records {
        marks_sentence(claim.ours.as_ref()?, suite.record.as_ref()?)
    } else {
        None
    }
}

fn verdict(
    claim: &Claim,
    recomputed: Option<&Evaluation<'_>>,
    ours: Option<&Evaluation<'_>>,
    suite: &JudgedSuite,
) -> (ClaimVerdict, String) {
    if let Some(DocumentFinding { place, finding, .. }) = refuting(claim, &suite.findings) {
        let reason = format!("Its own table refutes it ({place}): {finding}.");
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
    match (judged, claim.held, &claim.refuted_by) {
        (Some(worked), Some(condition), _) => worked.judge(condition, claim.judged_by),
        (_, None, Some(refutation)) => unrefuted(refutation.rule, &suite.coverage),
        // A checked claim has both; if not, show the reader what is missing.
        _ => (ClaimVerdict::CannotTell, "Nothing says what counts as held.".to_owned()),
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
    let mut broken = findings.iter().filter(|one| one.finding.rule == *rule);
    broken.find(|one| any_row || one.cell.as_ref().is_some_and(is_meant))
}

/// The verdict on a claim that only a rule can settle, where the rule found nothing.
fn unrefuted(rule: Rule, coverage: &[Coverage]) -> (ClaimVerdict, String) {
    match coverage.iter().find(|one| one.rule == rule) {
        Some(Coverage { rows, .. }) => {
            (ClaimVerdict::Held, format!("`{rule}` finds nothing in the {rows} rows."))
        }
        None => {
            let reason = "The document prints too little for the rule to look.";
            (ClaimVerdict::CannotTell, reason.to_owned())
        }
    }
}

impl Evaluation<'_> {
    fn judge(&self, condition: HeldCondition, judged_by: JudgedBy) -> (ClaimVerdict, String) {
        let judged: Vec<(&Estimate, Option<bool>)> =
            self.estimates.iter().map(|one| (one, condition.holds(one))).collect();
        let first = |result| judged.iter().find(|(_, one)| *one == result).map(|(one, _)| *one);
        let whose = match judged_by {
            JudgedBy::Records => "Ours",
            JudgedBy::Document => "Its own figures",
        };
        let held = self.condition_text(condition);
        let reason = if let Some(refuting) = first(Some(false)) {
            let refuting = self.estimate_text(refuting);
            let reason = format!("{whose}: {refuting}; held would be {held}.");
            return (ClaimVerdict::DidNotHold, reason);
        } else if let Some(missing) = self.missing.first() {
            let more = match self.missing.len() {
                1 => String::new(),
                several => format!(", and {} more", several - 1),
            };
            format!("Cannot tell: {missing}{more}.")
        } else if let Some(one) = first(None) {
            let unclear = format!("{whose}: {}", self.estimate_text(one));
            match one.interval {
                Some(interval) if condition.excludes(interval) => format!(
                    "{unclear}; held would be {held}. One of {} cases can be as far off by chance.",
                    judged.len()
                ),
                Some(_) => {
                    format!("{unclear}; held would be {held}, and the interval lies on both sides.")
                }
                None => format!("{unclear}, from one round, which has no interval."),
            }
        } else if judged.is_empty() {
            "Cannot tell: no case to look at.".to_owned()
        } else {
            return (ClaimVerdict::Held, format!("{whose}: {}, {held}.", self.text()));
        };
        (ClaimVerdict::CannotTell, reason)
    }

    /// One figure with its interval, or the range of several cases.
    fn text(&self) -> String {
        match self.estimates.as_slice() {
            [] if self.missing.is_empty() => String::new(),
            [] => "no record".to_owned(),
            [one] => self.estimate_text(one),
            several => {
                let mut values: Vec<f64> = several.iter().map(|one| one.value).collect();
                values.sort_by(f64::total_cmp);
                let low = self.number(values[0]);
                let high = self.number(values[values.len() - 1]);
                let is_growth = self.of.is_some_and(|quantity| quantity.take == Take::Growth);
                let what = if is_growth { "steps" } else { "cases" };
                let (count, of_whom) = (several.len(), self.of_whom());
                if low == high {
                    format!("{low}{of_whom} in each of {count} {what}")
                } else {
                    format!("{low} to {high}{of_whom} in {count} {what}")
                }
            }
        }
    }

    fn estimate_text(&self, one: &Estimate) -> String {
        let value = self.number(one.value);
        let interval = one.interval.map_or_else(String::new, |interval| {
            let ends = [self.number(interval.low), self.number(interval.high)];
            if ends.iter().all(|end| *end == value) {
                // The number of rounds with this figure tells more than an interval without width.
                let rounds = one.equal_rounds;
                rounds.map_or_else(String::new, |rounds| format!(" in each of {rounds} rounds"))
            } else {
                format!(" ({} to {})", ends[0], ends[1])
            }
        });
        format!("{value}{interval}{} {}", self.of_whom(), one.place).trim_end().to_owned()
    }

    /// Marks a ratio to the model: a total of 20 s that reads only "1.01" would puzzle the reader.
    fn of_whom(&self) -> &'static str {
        let model = self.of.and_then(Quantity::model);
        model.map_or("", |_| " of the model's")
    }

    fn number(&self, value: f64) -> String {
        self.of.map_or(Unit::Number, Quantity::unit).text(value)
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

impl HeldCondition {
    /// True if the whole interval is inside the range, false if the whole joint interval is
    /// outside. A claim about several cases must hold in all of them, so with more cases it is
    /// likelier that one is outside by chance. `None`: neither, or there is no interval.
    fn holds(self, estimate: &Estimate) -> Option<bool> {
        let Interval { low, high } = estimate.interval?;
        let is_inside = self.at_least.is_none_or(|least| low >= least)
            && self.at_most.is_none_or(|most| high <= most);
        if is_inside {
            Some(true)
        } else {
            self.excludes(estimate.joint_interval?).then_some(false)
        }
    }

    fn excludes(self, Interval { low, high }: Interval) -> bool {
        self.at_least.is_some_and(|least| high < least)
            || self.at_most.is_some_and(|most| low > most)
    }
}
