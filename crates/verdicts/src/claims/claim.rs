//! What a document states, sentence by sentence.

use super::formula;
use super::model::Model;
use super::quantity::{Quantity, suggestion};
use super::subject_name::SubjectName;
use crate::document::{Conditions, Document};
use crate::from_text::parsed;
use bookend_results::audit::{Rule, Span};
use bookend_results::grouping::each_once;
use bookend_results::measurement::CellId;
use bookend_results::suite::Case;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

/// A `claims.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteClaims {
    /// How the document is called, and how it was measured.
    pub document: Conditions,
    /// Models of its runs.
    #[serde(default)]
    pub models: Vec<Model>,
    /// Its claims.
    pub claims: Vec<Claim>,
}

/// A sentence of a document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name.
    pub id: Spanned<String>,
    /// Its place in the document.
    #[serde(rename = "where")]
    pub place: String,
    /// What it states, in our words.
    #[serde(rename = "claim")]
    pub text: String,
    /// The figure or the word that is printed.
    pub published: String,
    /// How to compute it from both; see [`Claim::measure_both`].
    pub(super) measure: Option<Quantity>,
    /// How to compute it from the document's tables.
    pub recomputed: Option<Quantity>,
    /// In place of that, the value of arithmetic on what the text prints.
    #[serde(default, deserialize_with = "value_of_formula")]
    pub formula: Option<Span>,
    /// How to compute it from our record.
    pub ours: Option<Quantity>,
    /// What counts as held.
    #[serde(default, deserialize_with = "range")]
    pub held: Option<HeldCondition>,
    /// Which of the two figures is judged.
    #[serde(default)]
    pub judged_by: JudgedBy,
    /// A finding of the audit that settles it, whatever we measure.
    pub refuted_by: Option<Refutation>,
    /// Why it cannot be judged here.
    pub cannot_tell: Option<String>,
    /// What explains the verdict, after the figures.
    pub why: Option<String>,
}

/// What counts as held: a range, open at an end that is not given.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldCondition {
    /// Not less.
    pub at_least: Option<f64>,
    /// Not more.
    pub at_most: Option<f64>,
}

/// Which figure of a claim is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedBy {
    /// Ours.
    #[default]
    Records,
    /// The document's own: the claim is about its table alone.
    Document,
}

/// A finding that settles a claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    /// The rule of the finding.
    #[serde(deserialize_with = "rule")]
    pub rule: Rule,
    /// Only in rows that this subject of ours repeats. `None`: of any subject.
    #[serde(rename = "of")]
    pub subject: Option<String>,
    /// Only in rows that these cases repeat. `None`: in any.
    pub cases: Option<Vec<Case>>,
}

fn value_of_formula<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Span>, D::Error> {
    parsed(text, formula::evaluate).map(Some)
}

fn range<'de, D: Deserializer<'de>>(table: D) -> Result<Option<HeldCondition>, D::Error> {
    let condition = HeldCondition::deserialize(table)?;
    let is_range = match (condition.at_least, condition.at_most) {
        (Some(least), Some(most)) => least <= most,
        (least, most) => least.is_some() || most.is_some(),
    };
    let complaint = || D::Error::custom("give `at_least`, `at_most`, or both in this order");
    is_range.then_some(Some(condition)).ok_or_else(complaint)
}

fn rule<'de, D: Deserializer<'de>>(text: D) -> Result<Rule, D::Error> {
    parsed(text, |name| {
        let known = Rule::ALL.iter().copied().find(|rule| rule.name() == name);
        let nearest = || suggestion(name, Rule::ALL.iter().map(|rule| rule.name()));
        known.ok_or_else(|| format!("there is no rule `{name}`{}", nearest()))
    })
}

impl Claim {
    /// Takes the quantity that is to be computed from both for each that is not given by itself.
    pub(super) fn measure_both(&mut self) {
        let both = self.measure.take();
        self.ours = self.ours.take().or_else(|| both.clone());
        let recomputed = self.recomputed.take().or(both);
        self.recomputed = recomputed.filter(|_| self.formula.is_none());
    }
}

impl SuiteClaims {
    /// Fills in the cases of claims that name none: all that the document has of the subject.
    pub fn fill_cases(&mut self, document: &Document) {
        for claim in &mut self.claims {
            for quantity in claim.recomputed.iter_mut().chain(&mut claim.ours) {
                if quantity.cases.is_empty() {
                    quantity.cases = cases_of(document, &quantity.of);
                }
            }
        }
    }
}

/// The cases that a document has of one of our subjects, in its order. Where the instrument tells
/// its rows apart, only those with that instrument.
fn cases_of(document: &Document, name: &SubjectName) -> Vec<Case> {
    let with = |is_meant: &dyn Fn(&CellId) -> bool| {
        let cells = document.rows.iter().filter_map(|row| row.cell.as_ref());
        let own = cells.filter(|cell| cell.subject == name.subject && is_meant(cell));
        each_once(own.map(|cell| cell.case))
    };
    match with(&|cell| name.is_instrument(&cell.instrument)) {
        none if none.is_empty() => with(&|_| true),
        some => some,
    }
}
