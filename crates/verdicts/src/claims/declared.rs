//! From the text of `claims.toml` to checked claims.

use super::claim::{Claim, Derivation, HeldCondition, JudgedBy, Refutation, SuiteClaims};
use super::declared_quantity::{self as quantity, Checked, DeclaredQuantity, suggestion};
use super::formula;
use super::model::{DeclaredModel, Model, Rejection};
use crate::document::Conditions;
use bookend_results::audit::{Rounding, Rule};
use bookend_results::declaration::{DeclarationError, Source};
use bookend_results::suite::{Case, parse_duration, parse_size};
use serde::Deserialize;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

/// Most calls of a model: ten times the largest published run. The time of a prediction grows with
/// them.
const MODEL_CALLS_MAX: u64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredFile {
    document: DeclaredDocument,
    #[serde(default)]
    models: Vec<DeclaredModelTable>,
    claims: Vec<DeclaredClaim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredDocument {
    title: String,
    #[serde(default)]
    expectations: bool,
    server_cpus: Option<f64>,
    server_memory: Option<Spanned<String>>,
    client_cpus: Option<f64>,
    machine_cpus: Option<f64>,
    time_out: Option<Spanned<String>>,
    #[serde(default)]
    latency_rounding: Rounding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredModelTable {
    id: Spanned<String>,
    about: String,
    workers: Option<NonZeroU64>,
    queue: Option<u64>,
    rejection: DeclaredRejection,
    service: Spanned<String>,
    concurrency: u64,
    calls: Spanned<u64>,
    time_out: Spanned<String>,
    ours: Option<DeclaredChange>,
    of: Spanned<String>,
    case: Spanned<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DeclaredRejection {
    Silent,
    Prompt,
}

/// What differs when the model predicts our run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredChange {
    workers: Option<NonZeroU64>,
    service: Option<Spanned<String>>,
    time_out: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredClaim {
    id: Spanned<String>,
    #[serde(rename = "where")]
    place: String,
    claim: String,
    published: String,
    measure: Option<DeclaredQuantity>,
    recomputed: Option<DeclaredQuantity>,
    formula: Option<Spanned<String>>,
    ours: Option<DeclaredQuantity>,
    held: Option<Spanned<DeclaredCondition>>,
    #[serde(default)]
    judged_by: JudgedBy,
    refuted_by: Option<DeclaredRefutation>,
    cannot_tell: Option<String>,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredCondition {
    at_least: Option<f64>,
    at_most: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredRefutation {
    rule: Spanned<String>,
    of: Option<String>,
    cases: Option<Vec<Case>>,
}

impl SuiteClaims {
    /// Checks the text of a `claims.toml`.
    ///
    /// # Errors
    /// When it is not TOML, has an unknown word, or a claim cannot be judged; the error names
    /// file and line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DeclarationError> {
        parse(file, text)
    }
}

fn parse(file: &Path, text: &str) -> Checked<SuiteClaims> {
    let source = Source { file, text };
    let declared: DeclaredFile = source.parse()?;
    let models = models(source, declared.models)?;
    let mut claims: Vec<Claim> = Vec::new();
    for one in declared.claims {
        let id = one.id.clone();
        if claims.iter().any(|claim| claim.id == *id.as_ref()) {
            let message = format!("the claim `{}` is made twice", id.as_ref());
            return Err(source.invalid(id.span(), message));
        }
        claims.push(claim(source, one, &models)?);
    }
    Ok(SuiteClaims {
        conditions: conditions(source, &declared.document)?,
        title: declared.document.title,
        are_expectations: declared.document.expectations,
        models,
        claims,
    })
}

fn conditions(source: Source<'_>, declared: &DeclaredDocument) -> Checked<Conditions> {
    let memory = declared.server_memory.as_ref().map(|text| {
        let complain = |error: bookend_results::suite::UnitError| {
            source.invalid(text.span(), error.to_string())
        };
        parse_size(text.as_ref()).map_err(complain)
    });
    let time_out = declared.time_out.as_ref().map(|text| duration(source, text));
    Ok(Conditions {
        server_cpus: declared.server_cpus,
        server_memory_bytes: memory.transpose()?.map(|bytes| bytes as f64),
        client_cpus: declared.client_cpus,
        machine_cpus: declared.machine_cpus,
        time_out_seconds: time_out.transpose()?.map(|time_out| time_out.as_secs_f64()),
        latency_rounding: declared.latency_rounding,
    })
}

fn models(source: Source<'_>, declared: Vec<DeclaredModelTable>) -> Checked<Vec<DeclaredModel>> {
    let mut models: Vec<DeclaredModel> = Vec::new();
    for one in declared {
        let id = one.id.as_ref();
        if models.iter().any(|model| model.id == *id) {
            let message = format!("the model `{id}` is declared twice");
            return Err(source.invalid(one.id.span(), message));
        }
        models.push(model(source, one)?);
    }
    Ok(models)
}

fn model(source: Source<'_>, declared: DeclaredModelTable) -> Checked<DeclaredModel> {
    let calls = *declared.calls.as_ref();
    if calls == 0 || calls > MODEL_CALLS_MAX {
        let message = format!("a model makes 1 to {MODEL_CALLS_MAX} calls");
        return Err(source.invalid(declared.calls.span(), message));
    }
    let published = Model {
        workers: declared.workers,
        queue: declared.queue,
        rejection: match declared.rejection {
            DeclaredRejection::Silent => Rejection::Silent,
            DeclaredRejection::Prompt => Rejection::Prompt,
        },
        service_us: micros(source, &declared.service)?,
        concurrency: declared.concurrency,
        calls,
        time_out_us: micros(source, &declared.time_out)?,
    };
    Ok(DeclaredModel {
        ours: changed(source, published, declared.ours.as_ref())?,
        published,
        subject: quantity::subject(source, &declared.of)?,
        case: quantity::case(source, &declared.case)?,
        id: declared.id.into_inner(),
        about: declared.about,
    })
}

fn changed(source: Source<'_>, model: Model, change: Option<&DeclaredChange>) -> Checked<Model> {
    let Some(change) = change else {
        return Ok(model);
    };
    let micros_or = |text: &Option<Spanned<String>>, own| match text {
        Some(text) => micros(source, text),
        None => Ok(own),
    };
    Ok(Model {
        workers: change.workers.or(model.workers),
        service_us: micros_or(&change.service, model.service_us)?,
        time_out_us: micros_or(&change.time_out, model.time_out_us)?,
        ..model
    })
}

fn micros(source: Source<'_>, text: &Spanned<String>) -> Checked<u64> {
    let micros = duration(source, text)?.as_micros();
    // Durations are at most a day; its microseconds fit.
    Ok(u64::try_from(micros).unwrap_or(u64::MAX))
}

fn duration(source: Source<'_>, text: &Spanned<String>) -> Checked<Duration> {
    let complain =
        |error: bookend_results::suite::UnitError| source.invalid(text.span(), error.to_string());
    parse_duration(text.as_ref()).map_err(complain)
}

fn claim(source: Source<'_>, declared: DeclaredClaim, models: &[DeclaredModel]) -> Checked<Claim> {
    let id_span = declared.id.span();
    let check = |one: DeclaredQuantity| one.check(source, models);
    let both = declared.measure.map(check).transpose()?;
    let ours = declared.ours.map(check).transpose()?.or_else(|| both.clone());
    let recomputed = declared.recomputed.map(check).transpose()?;
    let recomputed = match declared.formula {
        Some(text) => Some(formula(source, &text)?),
        None => recomputed.or(both).map(Derivation::Quantity),
    };
    let held = declared.held.map(|held| condition(source, &held));
    let claim = Claim {
        id: declared.id.into_inner(),
        place: declared.place,
        text: declared.claim,
        published: declared.published,
        recomputed,
        ours,
        held: held.transpose()?,
        judged_by: declared.judged_by,
        refuted_by: refutation(source, declared.refuted_by)?,
        cannot_tell: declared.cannot_tell,
        why: declared.why,
    };
    match incomplete(&claim) {
        None => Ok(claim),
        Some(message) => Err(source.invalid(id_span, message.to_owned())),
    }
}

/// What is missing for the claim to be judged.
fn incomplete(claim: &Claim) -> Option<&'static str> {
    if claim.cannot_tell.is_some() {
        return claim.held.is_some().then_some("a claim that nobody can tell has no `held`");
    }
    let judged = match claim.judged_by {
        JudgedBy::Records => claim.ours.is_some(),
        JudgedBy::Document => claim.recomputed.is_some(),
    };
    if !judged {
        return Some(
            "say how it is judged: `measure`, `ours`, `recomputed`, `formula` or `cannot_tell`",
        );
    }
    if claim.judged_by == JudgedBy::Document && claim.refuted_by.is_some() {
        // The claim then holds unless the rule finds a fault.
        return None;
    }
    claim
        .held
        .is_none()
        .then_some("say what counts as held: held = { at_least = 8.0, at_most = 12.5 }")
}

fn formula(source: Source<'_>, text: &Spanned<String>) -> Checked<Derivation> {
    match formula::evaluate(text.as_ref()) {
        Ok(value) => Ok(Derivation::Formula(value)),
        Err(error) => Err(source.invalid(text.span(), error.to_string())),
    }
}

fn condition(source: Source<'_>, declared: &Spanned<DeclaredCondition>) -> Checked<HeldCondition> {
    let DeclaredCondition { at_least, at_most } = declared.as_ref();
    let is_range = match (at_least, at_most) {
        (Some(least), Some(most)) => least <= most,
        (least, most) => least.is_some() || most.is_some(),
    };
    if !is_range {
        let message = "give `at_least`, `at_most`, or both in this order";
        return Err(source.invalid(declared.span(), message.to_owned()));
    }
    Ok(HeldCondition { at_least: *at_least, at_most: *at_most })
}

fn refutation(
    source: Source<'_>,
    declared: Option<DeclaredRefutation>,
) -> Checked<Option<Refutation>> {
    let Some(declared) = declared else {
        return Ok(None);
    };
    let name = declared.rule.as_ref();
    let Some(rule) = Rule::ALL.iter().find(|rule| rule.name() == name) else {
        let names = Rule::ALL.iter().map(|rule| rule.name());
        let message = format!("there is no rule `{name}`{}", suggestion(name, names));
        return Err(source.invalid(declared.rule.span(), message));
    };
    Ok(Some(Refutation { rule: *rule, subject: declared.of, cases: declared.cases }))
}
