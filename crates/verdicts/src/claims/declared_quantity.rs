//! From a table such as `{ metric = "latency_p99", of = "go-grpc" }` to a checked [`Quantity`].

use super::model::DeclaredModel;
use super::quantity::{Over, Quantity, Take};
use super::subject_name::SubjectName;
use bookend_results::declaration::{DeclarationError, Source, nearest_word};
use bookend_results::metric::{Metric, UnknownMetric, names};
use bookend_results::suite::{Case, CaseError};
use serde::Deserialize;
use toml::Spanned;

/// The declared value, or where the declaration is wrong.
pub(super) type Checked<T> = Result<T, DeclarationError>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredQuantity {
    metric: Spanned<String>,
    of: Spanned<String>,
    over: Option<Spanned<String>>,
    over_case: Option<Spanned<String>>,
    over_metric: Option<Spanned<String>>,
    over_model: Option<Spanned<String>>,
    cases: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    take: Take,
}

impl DeclaredQuantity {
    pub(super) fn check(self, source: Source<'_>, models: &[DeclaredModel]) -> Checked<Quantity> {
        let cases = self.cases.unwrap_or_default();
        let cases = cases.iter().map(|text| case(source, text));
        let over = [
            self.over.map(|text| Ok(Over::Subject(subject(source, &text)?))),
            self.over_case.map(|text| Ok(Over::Case(case(source, &text)?))),
            self.over_metric.map(|text| Ok(Over::Metric(metric(source, &text)?))),
            self.over_model.map(|text| Ok(Over::Model(model(source, &text, models)?))),
        ];
        let mut over: Vec<Over> = over.into_iter().flatten().collect::<Checked<_>>()?;
        if over.len() > 1 {
            let message = "a figure is divided by one thing: name one `over`";
            return Err(source.invalid(self.metric.span(), message.to_owned()));
        }
        Ok(Quantity {
            metric: metric(source, &self.metric)?,
            of: subject(source, &self.of)?,
            over: over.pop(),
            cases: cases.collect::<Checked<_>>()?,
            take: self.take,
        })
    }
}

fn metric(source: Source<'_>, text: &Spanned<String>) -> Checked<Metric> {
    let name = text.as_ref();
    name.parse().map_err(|error: UnknownMetric| {
        let message = match suggestion(name, names()) {
            nothing if nothing.is_empty() => error.to_string(),
            nearest => format!("there is no metric `{name}`{nearest}"),
        };
        source.invalid(text.span(), message)
    })
}

/// The index of a model.
fn model(source: Source<'_>, text: &Spanned<String>, models: &[DeclaredModel]) -> Checked<usize> {
    let name = text.as_ref();
    let found = models.iter().position(|model| model.id == *name);
    found.ok_or_else(|| {
        let known = models.iter().map(|model| model.id.as_str());
        let message = format!("there is no model `{name}`{}", suggestion(name, known));
        source.invalid(text.span(), message)
    })
}

/// `rust-tonic`, or `rust-tonic via ghz`.
pub(super) fn subject(source: Source<'_>, text: &Spanned<String>) -> Checked<SubjectName> {
    let (subject, instrument) = match text.as_ref().split_once(" via ") {
        Some((subject, instrument)) => (subject, Some(instrument)),
        None => (text.as_ref().as_str(), None),
    };
    let is_name = |name: &str| !name.is_empty() && !name.contains(' ');
    if !is_name(subject) || !instrument.is_none_or(is_name) {
        let message =
            format!("`{}` is no subject: write rust-tonic or rust-tonic via ghz", text.as_ref());
        return Err(source.invalid(text.span(), message));
    }
    Ok(SubjectName { subject: subject.to_owned(), instrument: instrument.map(str::to_owned) })
}

pub(super) fn case(source: Source<'_>, text: &Spanned<String>) -> Checked<Case> {
    let complain = |error: CaseError| source.invalid(text.span(), error.to_string());
    text.as_ref().parse().map_err(complain)
}

/// `, did you mean ...?`, if a name is near enough.
pub(super) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest_word(word, known) {
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => String::new(),
    }
}
