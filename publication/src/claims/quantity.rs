//! What a claim measures, from a table such as `{ metric = "latency_p99", of = "go-grpc" }`.

use super::subject_name::{NamedCell, SubjectName};
use crate::from_text::list;
use bookend_results::declaration::nearest_word;
use bookend_results::metric::{Metric, Unit, UnknownMetric, names};
use bookend_results::suite::Case;
use serde::Deserialize;
use toml::Spanned;

/// A figure of one subject in some cases, optionally divided by another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DeclaredQuantity")]
pub struct Quantity {
    /// What is measured.
    pub metric: Metric,
    /// The subject that it is measured of.
    pub of: SubjectName,
    /// What it is divided by.
    pub over: Option<Over>,
    /// In which cases. If empty: in all that the document has of the subject.
    pub cases: Vec<Case>,
    /// Which of the cases count.
    pub take: Take,
}

/// What a figure is divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// The same metric of another subject in the same case.
    Subject(SubjectName),
    /// The same metric of the same subject in another case.
    Case(Case),
    /// Another metric of the same subject in the same case.
    Metric(Metric),
    /// The prediction of the model with that name.
    Model(Spanned<String>),
}

/// Which of several cases count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// All of them.
    #[default]
    Each,
    /// The largest figure that any of them has, round by round.
    Largest,
    /// The middle one, or the smaller of two: more than half of the cases have at least as much.
    Median,
    /// Each case over the one before it, and the last over the first.
    Growth,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredQuantity {
    metric: String,
    of: SubjectName,
    over: Option<SubjectName>,
    over_case: Option<Case>,
    over_metric: Option<String>,
    over_model: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "list")]
    cases: Vec<Case>,
    #[serde(default)]
    take: Take,
}

impl TryFrom<DeclaredQuantity> for Quantity {
    type Error = String;

    fn try_from(declared: DeclaredQuantity) -> Result<Self, String> {
        let over_metric = declared.over_metric.as_deref().map(metric).transpose()?;
        let mut over = [
            declared.over.map(Over::Subject),
            declared.over_case.map(Over::Case),
            over_metric.map(Over::Metric),
            declared.over_model.map(Over::Model),
        ]
        .into_iter()
        .flatten();
        let (first, second) = (over.next(), over.next());
        if second.is_some() {
            return Err("a figure is divided by one thing: name one `over`".to_owned());
        }
        let DeclaredQuantity { of, cases, take, .. } = declared;
        Ok(Self { metric: metric(&declared.metric)?, of, over: first, cases, take })
    }
}

fn metric(name: &str) -> Result<Metric, String> {
    name.parse().map_err(|error: UnknownMetric| match suggestion(name, names()) {
        nothing if nothing.is_empty() => error.to_string(),
        nearest => format!("there is no metric `{name}`{nearest}"),
    })
}

/// `, did you mean ...?`, if a name is near enough.
pub(super) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = nearest_word(word, known);
    nearest.map_or(String::new(), |nearest| format!(", did you mean `{nearest}`?"))
}

impl Quantity {
    /// The same of other subjects.
    pub(super) fn with_subjects(self, of: &SubjectName, over: Option<&SubjectName>) -> Self {
        Self { of: of.clone(), over: over.cloned().map(Over::Subject).or(self.over), ..self }
    }

    /// What its numbers count.
    pub fn unit(&self) -> Unit {
        if self.over.is_none() && self.take != Take::Growth {
            self.metric.unit()
        } else {
            Unit::Number
        }
    }

    /// What is divided by what, if it is a quotient and its places do not show that.
    pub fn over_text(&self) -> Option<String> {
        let Self { metric, of, .. } = self;
        match (&self.over, self.take) {
            (Some(Over::Subject(other)), Take::Growth) => {
                Some(format!("growth of {of} over {other}"))
            }
            (_, Take::Growth) => Some(format!("growth of {of}")),
            (Some(Over::Subject(other)), _) => Some(format!("{of} over {other}")),
            (Some(Over::Case(case)), _) => Some(format!("{of} over itself at {case}")),
            (Some(Over::Metric(other)), _) => Some(format!("{metric} over {other} of {of}")),
            (Some(Over::Model(_)) | None, _) => None,
        }
    }

    /// The name of the model that it is divided by.
    pub(super) fn model(&self) -> Option<&Spanned<String>> {
        match &self.over {
            Some(Over::Model(name)) => Some(name),
            _ => None,
        }
    }

    /// The cell of the figure of `case`.
    pub(super) fn cell(&self, case: Case) -> NamedCell<'_> {
        NamedCell { name: &self.of, case }
    }

    /// The figure, measured as well, that divides the figure of `case`.
    pub(super) fn divisor(&self, case: Case) -> Option<(&Metric, NamedCell<'_>)> {
        match self.over.as_ref()? {
            Over::Subject(name) => Some((&self.metric, NamedCell { name, case })),
            Over::Case(other) => Some((&self.metric, self.cell(*other))),
            Over::Metric(other) => Some((other, self.cell(case))),
            Over::Model(_) => None,
        }
    }
}
