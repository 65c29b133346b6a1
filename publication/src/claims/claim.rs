//! What a document states, sentence by sentence.

use super::finding::{ClaimFinding, Explanation};
use super::formula;
use super::model::Model;
use super::quantity::{Quantity, suggestion};
use super::statement::{Favour, Statement};
use super::subject_name::SubjectName;
use crate::document::{Conditions, Document};
use crate::from_text::parsed;
use bookend_results::audit::{Rule, Span};
use bookend_results::grouping::each_once;
use bookend_results::measurement::CellId;
use bookend_results::suite::Case;
use serde::Deserialize;
use serde::de::Deserializer;
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
    /// The sentence in at most [`SHORT_MAX`] characters, where it is longer.
    pub short: Option<String>,
    /// How to compute it from both; see [`Claim::measure_both`].
    pub(super) measure: Option<Quantity>,
    /// How to compute it from the document's tables.
    pub recomputed: Option<Quantity>,
    /// In place of that, the value of arithmetic on what the text prints.
    #[serde(default, deserialize_with = "value_of_formula")]
    pub formula: Option<Span>,
    /// The suite with the record, where it is another one than this.
    pub suite: Option<String>,
    /// How to compute it from our record.
    pub ours: Option<Quantity>,
    /// With which subjects of ours it is asked whether it replicates. `None`: those of `ours`.
    pub(super) replicated_by: Option<Question>,
    /// With which it is asked besides whether it is so.
    pub(super) judged_with: Option<Question>,
    /// What it says of the figure.
    pub says: Option<Statement>,
    /// The printed figure, where it is not the one that the tables give.
    pub printed: Option<f64>,
    /// On which side more is claimed.
    #[serde(default)]
    pub favour: Favour,
    /// In place of a statement, bounds that no call or round may cross.
    pub bounds: Option<Bounds>,
    /// Which of the two figures is judged.
    #[serde(default)]
    pub judged_by: JudgedBy,
    /// A finding of the audit that settles it, whatever we measure.
    pub refuted_by: Option<Refutation>,
    /// What would decide it, where no row of the suite does.
    pub undecided: Option<String>,
    /// Why nothing that is measured here answers it.
    pub not_comparable: Option<String>,
    /// What explains the outcome, after the figures.
    pub why: Option<Explanation>,
    /// It is no sentence of the document: a note of the audit, which is not judged.
    #[serde(default)]
    pub note: bool,
    /// A sentence for the head of the page, while figures bear it out.
    pub finding: Option<ClaimFinding>,
    /// The outcomes before the claim was last judged in another way.
    pub earlier: Option<EarlierVerdict>,
}

/// Most characters of a claim's sentence in a table.
pub const SHORT_MAX: usize = 46;

/// Subjects of ours with which a claim is asked, or why it cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    of: Option<SubjectName>,
    over: Option<SubjectName>,
    pub(super) undecided: Option<String>,
    pub(super) not_comparable: Option<String>,
}

/// Bounds chosen for one claim.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Not less.
    pub at_least: Option<f64>,
    /// Not more.
    pub at_most: Option<f64>,
    /// Why just these.
    pub because: String,
    /// Whether every round must keep them, or the interval of the median, as in expectations of our
    /// own.
    #[serde(default = "always")]
    pub every_round: bool,
}

fn always() -> bool {
    true
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

/// The outcomes of an earlier page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierVerdict {
    /// As that page called them: `replicated; is it so: undecided`.
    pub verdict: String,
    /// Why the claim is judged in another way now. `None`: it is judged as before.
    pub why: Option<String>,
}

fn value_of_formula<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Span>, D::Error> {
    parsed(text, formula::evaluate).map(Some)
}

fn rule<'de, D: Deserializer<'de>>(text: D) -> Result<Rule, D::Error> {
    parsed(text, |name| {
        let known = Rule::ALL.iter().copied().find(|rule| rule.name() == name);
        let nearest = || suggestion(name, Rule::ALL.iter().map(|rule| rule.name()));
        known.ok_or_else(|| format!("there is no rule `{name}`{}", nearest()))
    })
}

impl Bounds {
    /// Whether there is a bound, and two are in order.
    pub(super) fn is_range(&self) -> bool {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => least <= most,
            (least, most) => least.is_some() || most.is_some(),
        }
    }
}

impl Claim {
    /// The sentence as a table shows it.
    pub fn in_short(&self) -> &str {
        self.short.as_ref().unwrap_or(&self.text)
    }

    /// Takes the quantity that is to be computed from both for each that is not given by itself.
    pub(super) fn measure_both(&mut self) {
        let both = self.measure.take();
        self.ours = self.ours.take().or_else(|| both.clone());
        self.recomputed = self.recomputed.take().or(both).filter(|_| self.formula.is_none());
    }

    /// What is computed from our record to answer a question; `None` if it asks for no figure.
    pub(super) fn quantity_of(&self, question: Option<&Question>) -> Option<Quantity> {
        let own = self.ours.clone()?;
        match question {
            None => Some(own),
            Some(Question { of: None, .. }) => None,
            Some(Question { of: Some(of), over, .. }) => Some(own.with_subjects(of, over.as_ref())),
        }
    }

    /// Every quantity that is computed from our record.
    pub fn quantities_of_record(&self) -> Vec<Quantity> {
        let replicates = self.quantity_of(self.replicated_by.as_ref());
        let is_it_so =
            self.judged_with.as_ref().and_then(|question| self.quantity_of(Some(question)));
        replicates.into_iter().chain(is_it_so).collect()
    }
}

impl SuiteClaims {
    /// The claims that are sentences of the document.
    pub fn sentences(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| !claim.note)
    }

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
        let own = document
            .rows
            .iter()
            .filter_map(|row| row.cell.as_ref())
            .filter(|cell| cell.subject == name.subject && is_meant(cell));
        each_once(own.map(|cell| cell.case))
    };
    match with(&|cell| name.is_instrument(&cell.instrument)) {
        none if none.is_empty() => with(&|_| true),
        some => some,
    }
}
