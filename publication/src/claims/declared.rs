//! From the text of `claims.toml` to checked claims.

use super::claim::{Claim, JudgedBy, SHORT_MAX, SuiteClaims};
use super::finding::{ClaimFinding, Explanation};
use super::model::Model;
use super::quantity::{Quantity, suggestion};
use super::statement::Statement;
use bookend_results::declaration::{DeclarationError, Source};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Spanned;

impl SuiteClaims {
    /// Checks the text of a `claims.toml`.
    ///
    /// # Errors
    /// When it is not TOML, has an unknown word, or a claim cannot be judged; the error names
    /// file and line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DeclarationError> {
        let source = Source { file, text };
        let mut declared: Self = source.parse()?;
        let complain = |at: &Spanned<String>, message: String| source.invalid(at.span(), message);
        if let Some(id) = repeated(declared.models.iter().map(|model| &model.id)) {
            return Err(complain(id, format!("the model `{id}` is declared twice")));
        }
        if let Some(id) = repeated(declared.claims.iter().map(|claim| &claim.id)) {
            return Err(complain(id, format!("the claim `{id}` is made twice")));
        }
        let are_ours = declared.document.are_expectations;
        for claim in &mut declared.claims {
            if let Some(name) = unknown_model(claim, &declared.models) {
                let known = declared.models.iter().map(|model| model.id.as_ref().as_str());
                let nearest = suggestion(name.as_ref(), known);
                return Err(complain(name, format!("there is no model `{name}`{nearest}")));
            }
            claim.measure_both();
            if let Some(message) = unfounded(claim).or_else(|| incomplete(claim, are_ours)) {
                return Err(complain(&claim.id, message));
            }
        }
        Ok(declared)
    }
}

fn repeated<'a>(mut ids: impl Iterator<Item = &'a Spanned<String>>) -> Option<&'a Spanned<String>> {
    let mut known = BTreeSet::new();
    ids.find(|id| !known.insert(*id))
}

fn unknown_model<'a>(claim: &'a Claim, models: &[Model]) -> Option<&'a Spanned<String>> {
    [&claim.measure, &claim.recomputed, &claim.ours]
        .into_iter()
        .flatten()
        .filter_map(Quantity::model)
        .find(|name| models.iter().all(|model| model.id != **name))
}

/// What is missing for the claim to be judged.
fn incomplete(claim: &Claim, are_ours: bool) -> Option<String> {
    let length = claim.in_short().chars().count();
    if length > SHORT_MAX && !claim.note {
        return Some(format!("the claim has {length} characters: `short` says it in {SHORT_MAX}"));
    }
    let says = claim.says.is_some() || claim.bounds.is_some();
    if claim.not_comparable.is_some() || claim.undecided.is_some() {
        let unsaid = "what cannot be judged has no `says` and no `bounds`";
        return says.then(|| unsaid.to_owned());
    }
    let judged = match claim.judged_by {
        JudgedBy::Records => claim.ours.is_some(),
        JudgedBy::Document => claim.recomputed.is_some() || claim.formula.is_some(),
    };
    // A claim about the document that a rule can refute holds unless the rule finds a fault.
    let is_settled = claim.judged_by == JudgedBy::Document && claim.refuted_by.is_some();
    if !judged {
        Some(UNJUDGED.to_owned())
    } else if !says && !is_settled && !claim.note {
        let words = Statement::ALL.map(|(_, word, _)| word).join(", ");
        Some(format!("say what it says of the figure: says = one of {words}; or `bounds`"))
    } else if claim.bounds.as_ref().is_some_and(|bounds| !bounds.is_range()) {
        Some("give `at_least`, `at_most`, or both in this order".to_owned())
    } else if claim.bounds.as_ref().is_some_and(|bounds| !bounds.every_round) && !are_ours {
        Some("bounds for a document are kept in every round: else use `says`".to_owned())
    } else if claim.says.is_some() && claim.bounds.is_some() {
        Some("a claim has `says` or `bounds`, not both".to_owned())
    } else if is_without_figure(claim) {
        Some("name the printed figure: printed = 9.5".to_owned())
    } else {
        None
    }
}

/// What is wrong with what is concluded from the figures.
fn unfounded(claim: &Claim) -> Option<String> {
    let why = claim.why.as_ref().and_then(|why| match why {
        Explanation::Conditional(conclusion) => Some(conclusion),
        Explanation::Fixed(_) => None,
    });
    claim.finding.iter().chain(why).find_map(ClaimFinding::complaint)
}

const UNJUDGED: &str = "say how it is judged: `measure`, `ours`, `recomputed`, `formula`, `undecided` \
                        or `not_comparable`";

/// Whether it must be compared with a printed figure, and has none.
fn is_without_figure(claim: &Claim) -> bool {
    claim.says.is_some_and(Statement::needs_printed)
        && claim.printed.is_none()
        && claim.recomputed.is_none()
}
