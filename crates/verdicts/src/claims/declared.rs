//! From the text of `claims.toml` to checked claims.

use super::claim::{Claim, JudgedBy, SuiteClaims};
use super::model::Model;
use super::quantity::{Quantity, suggestion};
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
        for claim in &mut declared.claims {
            if let Some(name) = unknown_model(claim, &declared.models) {
                let known = declared.models.iter().map(|model| model.id.as_ref().as_str());
                let nearest = suggestion(name.as_ref(), known);
                return Err(complain(name, format!("there is no model `{name}`{nearest}")));
            }
            claim.measure_both();
            if let Some(message) = incomplete(claim) {
                return Err(complain(&claim.id, message.to_owned()));
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
    let quantities = [&claim.measure, &claim.recomputed, &claim.ours].into_iter().flatten();
    let mut named = quantities.filter_map(Quantity::model);
    named.find(|name| models.iter().all(|model| model.id != **name))
}

/// What is missing for the claim to be judged.
fn incomplete(claim: &Claim) -> Option<&'static str> {
    if claim.cannot_tell.is_some() {
        return claim.held.is_some().then_some("a claim that nobody can tell has no `held`");
    }
    let judged = match claim.judged_by {
        JudgedBy::Records => claim.ours.is_some(),
        JudgedBy::Document => claim.recomputed.is_some() || claim.formula.is_some(),
    };
    // A claim about the document that a rule can refute holds unless the rule finds a fault.
    let is_settled = claim.judged_by == JudgedBy::Document && claim.refuted_by.is_some();
    if !judged {
        Some("say how it is judged: `measure`, `ours`, `recomputed`, `formula` or `cannot_tell`")
    } else if claim.held.is_none() && !is_settled {
        Some("say what counts as held: held = { at_least = 8.0, at_most = 12.5 }")
    } else {
        None
    }
}
