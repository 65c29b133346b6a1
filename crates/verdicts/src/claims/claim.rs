//! What a document states, sentence by sentence.

use super::model::DeclaredModel;
use super::quantity::Quantity;
use super::subject_name::SubjectName;
use crate::document::{Conditions, Document};
use bookend_results::audit::{Rule, Span};
use bookend_results::suite::Case;
use serde::Deserialize;

/// A checked `claims.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteClaims {
    /// A name of the document, for a heading.
    pub title: String,
    /// There is no document: the claims are our own expectations, from sources that they name.
    pub are_expectations: bool,
    /// How it was measured.
    pub conditions: Conditions,
    /// Models of its runs.
    pub models: Vec<DeclaredModel>,
    /// Its claims.
    pub claims: Vec<Claim>,
}

/// A sentence of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// Its place in the document.
    pub place: String,
    /// What it states, in our words.
    pub text: String,
    /// The figure or the word that is printed.
    pub published: String,
    /// How to compute it from the document's own figures.
    pub recomputed: Option<Derivation>,
    /// How to compute it from our record.
    pub ours: Option<Quantity>,
    /// What counts as held.
    pub held: Option<HeldCondition>,
    /// Which of the two figures is judged.
    pub judged_by: JudgedBy,
    /// A finding of the audit that settles it, whatever we measure.
    pub refuted_by: Option<Refutation>,
    /// Why it cannot be judged here.
    pub cannot_tell: Option<String>,
    /// What explains the verdict, after the figures.
    pub why: Option<String>,
}

/// How a claim is computed from a document's own figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Derivation {
    /// Arithmetic on what the text prints.
    Formula(Span),
    /// From its tables.
    Quantity(Quantity),
}

/// What counts as held: a range, open at an end that is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The rule of the finding.
    pub rule: Rule,
    /// Only in rows that this subject of ours repeats. `None`: of any subject.
    pub subject: Option<String>,
    /// Only in rows that these cases repeat. `None`: in any.
    pub cases: Option<Vec<Case>>,
}

impl SuiteClaims {
    /// Fills in the cases of claims that name none: all that the document has of the subject.
    pub fn fill_cases(&mut self, document: &Document) {
        for claim in &mut self.claims {
            let recomputed = match &mut claim.recomputed {
                Some(Derivation::Quantity(quantity)) => Some(quantity),
                _ => None,
            };
            for quantity in recomputed.into_iter().chain(&mut claim.ours) {
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
    let with = |instrument: Option<&String>| {
        let mut cases: Vec<Case> = Vec::new();
        for row in document.rows.iter().filter(|row| row.subject == name.subject) {
            let is_meant = instrument.is_none_or(|one| *one == row.instrument);
            cases.extend(row.case.filter(|case| is_meant && !cases.contains(case)));
        }
        cases
    };
    match with(name.instrument.as_ref()) {
        none if none.is_empty() => with(None),
        some => some,
    }
}
