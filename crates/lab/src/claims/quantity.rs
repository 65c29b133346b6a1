//! What a claim measures, worked out from printed rows or from recorded ones.

use super::DeclaredModel;
use super::metric::Metric;
use super::model::Prediction;
use crate::audit::{Document, Span};
use crate::measurement::{Outcome, Row};
use crate::profile::Profile;
use crate::statistics::{self, Interval};
use crate::suite::{Case, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The instrument of a cell when a claim names none and several made load.
const DEFAULT_INSTRUMENT: &str = "bookend-load";

/// A figure of one subject in some cases, perhaps over another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// What is measured.
    pub metric: Metric,
    /// Of whom.
    pub of: SubjectName,
    /// What it is divided by.
    pub over: Option<Over>,
    /// In which cases. None: in all that the document has of the subject.
    pub cases: Vec<String>,
    /// Which of the cases count.
    pub take: Take,
}

/// A subject and, where it matters, who made the load or, for a client, who answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectName {
    /// `rust-tonic`, `java-grpc/virtual`.
    pub subject: String,
    /// `ghz`. `None`: the only one, or our own.
    pub instrument: Option<String>,
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject)?;
        match &self.instrument {
            Some(instrument) => write!(f, " via {instrument}"),
            None => Ok(()),
        }
    }
}

/// What a figure is divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// The same of another subject in the same case.
    Subject(SubjectName),
    /// The same of the same subject in another case.
    Case(String),
    /// Something else of the same subject in the same case.
    Metric(Metric),
    /// What the model of that index predicts.
    Model(usize),
}

/// Which of several cases count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// All of them.
    #[default]
    Each,
    /// The one with the smallest figure.
    Least,
    /// The one with the largest.
    Largest,
    /// The middle one, of two the smaller: more than half of the cases have at least as much.
    Median,
    /// Each case over the one before it.
    Growth,
}

/// Where figures come from.
#[derive(Clone, Copy)]
pub enum Figures<'a> {
    /// The document's own tables.
    Printed(&'a Document),
    /// A record of ours.
    Recorded {
        /// Its rows.
        rows: &'a [Row],
        /// When its calls were given up, nanoseconds.
        deadline_ns: Option<f64>,
        /// Where its CPU time went, if that was kept beside it.
        profile: Option<&'a Profile>,
    },
}

/// A quantity in the cases that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// What there is.
    pub estimates: Vec<CaseEstimate>,
    /// What is missing, a clause each.
    pub missing: Vec<String>,
}

/// A figure of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseEstimate {
    /// Which case; for a growth, from which to which.
    pub case: String,
    /// Median of the rounds, or as printed.
    pub value: f64,
    /// 95 % interval over the rounds, or what the printed digits leave open. `None` for one round.
    pub interval: Option<Interval>,
}

impl Quantity {
    /// What its numbers count.
    pub fn unit(&self) -> Unit {
        match (&self.over, self.take) {
            (None, Take::Each | Take::Least | Take::Largest | Take::Median) => self.metric.unit(),
            _ => Unit::Number,
        }
    }

    /// Works it out. `cases` are those of the document, for a quantity that names none.
    pub fn evaluate(&self, figures: Figures<'_>, models: &[DeclaredModel]) -> Evaluation {
        let mut series = Vec::new();
        let mut evaluation = Evaluation::default();
        for case in &self.cases {
            match self.of_case(case, figures, models) {
                Ok(one) => series.push((case.clone(), one)),
                Err(missing) => evaluation.missing.push(missing),
            }
        }
        if self.take == Take::Growth {
            series = growth(&series);
        }
        for (case, one) in series {
            match one.estimate(&case) {
                Some(estimate) => evaluation.estimates.push(estimate),
                None => evaluation
                    .missing
                    .push(format!("no round has it at {case}")),
            }
        }
        evaluation.keep(self.take);
        evaluation
    }

    fn of_case(
        &self,
        case: &str,
        figures: Figures<'_>,
        models: &[DeclaredModel],
    ) -> Result<Series, String> {
        let own = figures.series(&self.metric, &self.of, case)?;
        let divisor = match &self.over {
            None => return Ok(own),
            Some(Over::Subject(other)) => figures.series(&self.metric, other, case)?,
            Some(Over::Case(other)) => figures.series(&self.metric, &self.of, other)?,
            Some(Over::Metric(metric)) => figures.series(metric, &self.of, case)?,
            Some(Over::Model(index)) => {
                let model = &models[*index];
                let prediction = match figures {
                    Figures::Printed(_) => model.published.predict(),
                    Figures::Recorded { .. } => model.ours.predict(),
                };
                Series::Bounded(Span::exact(predicted(&self.metric, &prediction)?))
            }
        };
        own.over(&divisor)
            .ok_or_else(|| format!("{} at {case} cannot be divided", self.of))
    }
}

impl Evaluation {
    fn keep(&mut self, take: Take) {
        let last = self.estimates.len().saturating_sub(1);
        let rank = match take {
            Take::Each | Take::Growth => return,
            Take::Least => 0,
            Take::Median => last / 2,
            Take::Largest => last,
        };
        self.estimates.sort_by(|a, b| a.value.total_cmp(&b.value));
        self.estimates = self.estimates.drain(..).skip(rank).take(1).collect();
    }
}

/// What a model says about a metric.
fn predicted(metric: &Metric, prediction: &Prediction) -> Result<f64, String> {
    Ok(match metric.name() {
        "ok" => prediction.ok as f64,
        "errors" => prediction.failures as f64,
        "total_time" => prediction.total_seconds * 1e9,
        "latency_mean" => prediction.mean_of_ok_seconds * 1e9,
        "latency_mean_all" => prediction.mean_of_all_seconds * 1e9,
        other => return Err(format!("a model says nothing about {other}")),
    })
}

/// A figure by round, or one that is known within bounds: as printed, or as a profile tells.
#[derive(Clone, Debug, PartialEq)]
enum Series {
    Rounds(BTreeMap<u32, f64>),
    Bounded(Span),
}

impl Series {
    /// Divided round by round.
    fn over(&self, divisor: &Series) -> Option<Series> {
        match (self, divisor) {
            (Self::Bounded(own), Self::Bounded(divisor)) => own.over(*divisor).map(Self::Bounded),
            (Self::Rounds(own), Self::Rounds(divisor)) => {
                let pairs = own.iter().filter_map(|(round, own)| {
                    let divisor = divisor.get(round)?;
                    Some((*round, own / divisor))
                });
                let quotients: BTreeMap<u32, f64> = pairs.collect();
                let sound = quotients.values().all(|quotient| quotient.is_finite());
                (sound && !quotients.is_empty()).then_some(Self::Rounds(quotients))
            }
            (Self::Rounds(own), Self::Bounded(divisor)) => {
                let quotient = |(round, own): (&u32, &f64)| (*round, own / divisor.value);
                Some(Self::Rounds(own.iter().map(quotient).collect()))
            }
            (Self::Bounded(_), Self::Rounds(_)) => None,
        }
    }

    fn estimate(&self, case: &str) -> Option<CaseEstimate> {
        let (value, interval) = match self {
            Self::Bounded(span) => {
                let (low, high) = (span.low, span.high);
                (span.value, Some(Interval { low, high }))
            }
            Self::Rounds(rounds) => {
                let values: Vec<f64> = rounds.values().copied().collect();
                let positive = values.iter().all(|value| *value > 0.0);
                let interval = match positive {
                    true => statistics::geometric_mean_interval(&values),
                    false => statistics::mean_interval(&values),
                };
                (statistics::median(&values)?, interval)
            }
        };
        let case = case.to_owned();
        Some(CaseEstimate {
            case,
            value,
            interval,
        })
    }
}

fn growth(series: &[(String, Series)]) -> Vec<(String, Series)> {
    let steps = series.windows(2).filter_map(|pair| {
        let [(from, before), (to, after)] = pair else {
            return None;
        };
        Some((format!("{from} to {to}"), after.over(before)?))
    });
    steps.collect()
}

impl Figures<'_> {
    fn series(&self, metric: &Metric, name: &SubjectName, case: &str) -> Result<Series, String> {
        match self {
            Self::Printed(document) => {
                // A document can say different things of one cell in several rows.
                let printed = |exactly: bool| {
                    let rows = document.rows.iter().filter(|row| {
                        let instrument = name.instrument.as_ref();
                        row.subject == name.subject
                            && row.case == case
                            && (!exactly || instrument.is_none_or(|one| *one == row.instrument))
                    });
                    rows.filter_map(|row| metric.of_printed(row)).next()
                };
                let span = printed(true).or_else(|| printed(false));
                span.map(Series::Bounded)
                    .ok_or_else(|| format!("{} is not printed for {name} at {case}", metric.name()))
            }
            Self::Recorded { profile, .. } if metric.is_of_profile() => {
                let instrument = name.instrument.as_deref();
                let samples =
                    profile.and_then(|profile| profile.samples_of(&name.subject, case, instrument));
                let samples = samples.ok_or_else(|| format!("no profile of {name} at {case}"))?;
                let span = metric.of_samples(&samples.split);
                span.map(Series::Bounded)
                    .ok_or_else(|| format!("a profile has no {}", metric.name()))
            }
            Self::Recorded {
                rows, deadline_ns, ..
            } => {
                let figure = |row: &Row| metric.of_row(row, *deadline_ns);
                recorded(rows, metric.name(), figure, name, case)
            }
        }
    }
}

fn recorded(
    rows: &[Row],
    metric: &str,
    figure: impl Fn(&Row) -> Option<f64>,
    name: &SubjectName,
    case: &str,
) -> Result<Series, String> {
    let same_case = |row: &&Row| row.cell.subject == name.subject && is_case(&row.cell.case, case);
    let own: Vec<&Row> = rows.iter().filter(same_case).collect();
    let instrument = instrument(&own, name).ok_or_else(|| match own.is_empty() {
        true => format!("no record of {name} at {case}"),
        false => format!("{name} at {case} was recorded with other instruments"),
    })?;
    let cell = own.iter().filter(|row| row.cell.instrument == instrument);
    let figures = cell
        .clone()
        .filter_map(|row| Some((row.round, figure(row)?)));
    let rounds: BTreeMap<u32, f64> = figures.collect();
    if !rounds.is_empty() {
        return Ok(Series::Rounds(rounds));
    }
    let reason = cell.clone().find_map(|row| match &row.outcome {
        Outcome::Measured(_) => None,
        Outcome::Unsupported { reason } => Some(format!("unsupported, {reason}")),
        Outcome::Failed { error } => Some(format!("failed, {error}")),
        Outcome::Missing { reason } => Some(format!("missing, {reason}")),
    });
    Err(match reason {
        Some(reason) => format!("{name} at {case}: {reason}"),
        None => format!("{metric} was not recorded for {name} at {case}"),
    })
}

/// Cases are told apart by what they mean, not by how they are spelt.
fn is_case(recorded: &str, wanted: &str) -> bool {
    recorded == wanted
        || match (recorded.parse::<Case>(), wanted.parse::<Case>()) {
            (Ok(recorded), Ok(wanted)) => recorded == wanted,
            _ => false,
        }
}

/// The instrument that a claim means: the one it names, else our own, else the only one.
fn instrument<'a>(rows: &[&'a Row], name: &'a SubjectName) -> Option<&'a str> {
    let all: std::collections::BTreeSet<&str> = rows
        .iter()
        .map(|row| row.cell.instrument.as_str())
        .collect();
    match &name.instrument {
        Some(named) => all.contains(named.as_str()).then_some(named.as_str()),
        None if all.contains(DEFAULT_INSTRUMENT) => Some(DEFAULT_INSTRUMENT),
        None if all.len() == 1 => all.first().copied(),
        None => None,
    }
}
