//! What a claim measures, computed from printed rows or from recorded ones.

use super::metric::{of_printed, of_samples};
use super::model::{DeclaredModel, Prediction};
use super::subject_name::SubjectName;
use crate::document::Document;
use bookend_results::audit::Span;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::metric::{Metric, PROFILE_PREFIX, Unit};
use bookend_results::profile::Profile;
use bookend_results::round::MeasuredRound;
use bookend_results::statistics::{self, CONFIDENCE, Interval};
use bookend_results::suite::Case;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The instrument of a cell when a claim names no instrument and several made load.
const DEFAULT_INSTRUMENT: &str = "bookend-load";

/// A figure of one subject in some cases, optionally divided by another.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The prediction of the model with that index.
    Model(usize),
}

/// Which of several cases count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// All of them.
    #[default]
    Each,
    /// The smallest figure that any of them has, round by round.
    Least,
    /// The largest, round by round.
    Largest,
    /// The middle one, or the smaller of two: more than half of the cases have at least as much.
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
        /// The deadline of its calls, nanoseconds.
        deadline_ns: Option<f64>,
        /// Where its CPU time went, if that was recorded with it.
        profile: Option<&'a Profile>,
    },
}

/// A quantity in the cases that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The figures that could be computed.
    pub estimates: Vec<Estimate>,
    /// What is missing, one clause each.
    pub missing: Vec<String>,
}

/// A figure of one case, or of several cases taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The case or cases: words that follow the figure. Empty if there is no case.
    pub place: String,
    /// Median of the rounds, or as printed.
    pub value: f64,
    /// 95 % interval over the rounds, or what the printed digits leave open. `None` for one round.
    pub interval: Option<Interval>,
    /// The same, but wide enough that all estimates of the quantity lie within their intervals in
    /// 95 of 100 runs (Bonferroni's correction).
    pub joint_interval: Option<Interval>,
    /// The number of rounds, if all gave exactly this figure: an interval of no width is no
    /// certainty. `None`: rounds differ, or there is only one.
    pub equal_rounds: Option<usize>,
}

impl Quantity {
    /// What its numbers count.
    pub fn unit(&self) -> Unit {
        match (&self.over, self.take) {
            (None, Take::Each | Take::Least | Take::Median | Take::Largest) => self.metric.unit(),
            _ => Unit::Number,
        }
    }

    /// What is divided by what, if it is a quotient and its places do not show that.
    pub fn over_text(&self) -> Option<String> {
        let of = &self.of;
        let metric = &self.metric;
        match (&self.over, self.take) {
            (_, Take::Growth) => Some(format!("{of}, each case over the one before")),
            (Some(Over::Subject(other)), _) => Some(format!("{of} over {other}")),
            (Some(Over::Case(case)), _) => Some(format!("{of} over itself at {case}")),
            (Some(Over::Metric(other)), _) => Some(format!("{metric} over {other} of {of}")),
            (Some(Over::Model(_)) | None, _) => None,
        }
    }

    /// For each case, the measured rows that its figure is computed from, by round.
    pub(super) fn rounds<'a>(&self, rows: &'a [Row]) -> Vec<BTreeMap<u32, Vec<&'a Row>>> {
        if matches!(self.metric, Metric::Profile(_)) {
            return Vec::new();
        }
        let of_case = |&case: &Case| {
            let cells = std::iter::once((&self.of, case)).chain(self.divisor_cell(case));
            let mut rounds: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
            for row in cells.flat_map(|(name, case)| cell_rows(rows, name, case)) {
                if matches!(row.outcome, Outcome::Measured(_)) {
                    rounds.entry(row.round).or_default().push(row);
                }
            }
            rounds
        };
        self.cases.iter().map(of_case).collect()
    }

    /// The other cell whose figure divides the figure of `case`.
    fn divisor_cell(&self, case: Case) -> Option<(&SubjectName, Case)> {
        match &self.over {
            Some(Over::Subject(other)) => Some((other, case)),
            Some(Over::Case(other)) => Some((&self.of, *other)),
            Some(Over::Metric(_) | Over::Model(_)) | None => None,
        }
    }

    /// Computes the quantity.
    pub(super) fn evaluate(&self, figures: Figures<'_>, models: &[DeclaredModel]) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let mut series = Vec::new();
        for &case in &self.cases {
            let one = self.of_case(case, figures, models);
            series.push(one.map_err(|missing| evaluation.missing.push(missing)).ok());
        }
        let taken = self.taken(&series);
        let count = taken.len();
        for (place, one) in taken {
            match one.and_then(|one| one.estimate(&place, count)) {
                Some(estimate) => evaluation.estimates.push(estimate),
                None => evaluation.missing.push(format!("no figure {place}")),
            }
        }
        evaluation
    }

    /// Selects those figures of the cases that count, each with its place. If a case is missing, so
    /// are the figures that need it; `None` is a figure that cannot be computed from the cases that
    /// exist.
    fn taken(&self, series: &[Option<Series>]) -> Vec<(String, Option<Series>)> {
        let cases = self.cases.iter();
        let last = series.len().saturating_sub(1);
        match self.take {
            Take::Each => {
                let known = cases.zip(series).filter(|(_, one)| one.is_some());
                let placed = known.map(|(case, one)| (format!("at {case}"), one.clone()));
                placed.collect()
            }
            Take::Growth => {
                let steps = self.cases.windows(2).zip(series.windows(2));
                let known = steps.filter_map(|(cases, pair)| {
                    let (before, after) = (pair[0].as_ref()?, pair[1].as_ref()?);
                    let place = format!("from {} to {}", cases[0], cases[1]);
                    Some((place, after.over(before)))
                });
                known.collect()
            }
            Take::Least => self.ranked("smallest", 0, series),
            Take::Median => self.ranked("middle", last / 2, series),
            Take::Largest => self.ranked("largest", last, series),
        }
    }

    /// The figure with this rank among all cases, counted from the smallest, round by round.
    fn ranked(
        &self,
        name: &str,
        rank: usize,
        series: &[Option<Series>],
    ) -> Vec<(String, Option<Series>)> {
        let known: Option<Vec<&Series>> = series.iter().map(Option::as_ref).collect();
        let Some(known) = known.filter(|known| !known.is_empty()) else {
            return Vec::new();
        };
        let place = match self.cases.as_slice() {
            [case] => format!("at {case}"),
            cases => format!("as the {name} of {} cases", cases.len()),
        };
        vec![(place, Series::ranked(&known, rank))]
    }

    fn of_case(
        &self,
        case: Case,
        figures: Figures<'_>,
        models: &[DeclaredModel],
    ) -> Result<Series, String> {
        let own = figures.series(&self.metric, &self.of, case)?;
        let divisor = match &self.over {
            None => return Ok(own),
            Some(Over::Subject(other)) => figures.series(&self.metric, other, case)?,
            Some(Over::Case(other)) => figures.series(&self.metric, &self.of, *other)?,
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
        if let Some((name, other)) = self.divisor_cell(case) {
            figures.check_alike((&self.of, case), (name, other))?;
        }
        own.over(&divisor).ok_or_else(|| format!("{} at {case} cannot be divided", self.of))
    }
}

/// What a model predicts for a metric.
fn predicted(metric: &Metric, prediction: &Prediction) -> Result<f64, String> {
    Ok(match metric.to_string().as_str() {
        "ok" => prediction.ok as f64,
        "errors" => prediction.failures as f64,
        "total_time" => prediction.total_seconds * 1e9,
        "latency_mean" => prediction.mean_of_ok_seconds * 1e9,
        "latency_mean_all" => prediction.mean_of_all_seconds * 1e9,
        other => return Err(format!("a model says nothing about {other}")),
    })
}

/// A figure for each round, or one that is known within bounds, from a document or a profile.
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

    /// The figure with this rank, round by round; for bounded figures, bound by bound.
    fn ranked(all: &[&Series], rank: usize) -> Option<Series> {
        match all.first()? {
            Self::Bounded(_) => {
                let bound = |of: fn(&Span) -> f64| {
                    let bounds = all.iter().map(|one| match one {
                        Self::Bounded(span) => Some(of(span)),
                        Self::Rounds(_) => None,
                    });
                    of_rank(bounds.collect::<Option<_>>()?, rank)
                };
                Some(Self::Bounded(Span {
                    low: bound(|span| span.low)?,
                    value: bound(|span| span.value)?,
                    high: bound(|span| span.high)?,
                }))
            }
            Self::Rounds(first) => {
                let of_round = |round: &u32| {
                    let figures = all.iter().map(|one| match one {
                        Self::Rounds(rounds) => rounds.get(round).copied(),
                        Self::Bounded(_) => None,
                    });
                    of_rank(figures.collect::<Option<_>>()?, rank)
                };
                let rounds = first.keys();
                let rounds = rounds.filter_map(|round| Some((*round, of_round(round)?)));
                Some(Self::Rounds(rounds.collect()))
            }
        }
    }

    /// The estimate, as one of `count`.
    fn estimate(&self, place: &str, count: usize) -> Option<Estimate> {
        let (value, interval, joint_interval) = match self {
            Self::Bounded(span) => {
                let (low, high) = (span.low, span.high);
                let interval = Some(Interval { low, high });
                (span.value, interval, interval)
            }
            Self::Rounds(rounds) => {
                let values: Vec<f64> = rounds.values().copied().collect();
                let joint_confidence = 1.0 - (1.0 - CONFIDENCE) / count as f64;
                (
                    statistics::median(&values)?,
                    interval(&values, CONFIDENCE),
                    interval(&values, joint_confidence),
                )
            }
        };
        let place = place.to_owned();
        Some(Estimate { place, value, interval, joint_interval, equal_rounds: self.equal_rounds() })
    }

    fn equal_rounds(&self) -> Option<usize> {
        let Self::Rounds(rounds) = self else {
            return None;
        };
        let mut values = rounds.values();
        let first = values.next()?;
        let is_equal = rounds.len() > 1 && values.all(|value| value == first);
        is_equal.then_some(rounds.len())
    }
}

fn of_rank(mut figures: Vec<f64>, rank: usize) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(rank).copied()
}

/// The interval of the logarithms, if every value has one. Equal values have no spread, and
/// rounding of their logarithms must not add any, nor move them.
fn interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if let [first, rest @ ..] = values
        && !rest.is_empty()
        && rest.iter().all(|value| value == first)
    {
        let (low, high) = (*first, *first);
        return Some(Interval { low, high });
    }
    if values.iter().all(|value| *value > 0.0) {
        statistics::geometric_mean_interval_at(values, confidence)
    } else {
        statistics::mean_interval_at(values, confidence)
    }
}

impl Figures<'_> {
    fn series(&self, metric: &Metric, name: &SubjectName, case: Case) -> Result<Series, String> {
        match self {
            Self::Printed(document) => {
                // A document can print figures of one cell in several rows.
                let printed = |exactly: bool| {
                    let mut rows = document.rows.iter().filter(|row| {
                        let instrument = name.instrument.as_ref();
                        row.subject == name.subject
                            && row.case == Some(case)
                            && (!exactly || instrument.is_none_or(|one| *one == row.instrument))
                    });
                    rows.find_map(|row| of_printed(metric, row))
                };
                let span = printed(true).or_else(|| printed(false));
                span.map(Series::Bounded)
                    .ok_or_else(|| format!("{metric} is not printed for {name} at {case}"))
            }
            Self::Recorded { rows, deadline_ns, profile } => {
                if let Metric::Profile(layers) = metric {
                    return profiled(*profile, layers, name, case);
                }
                let figure = |row: &Row| metric.of_round(&MeasuredRound::of(row, *deadline_ns)?);
                recorded(rows, &metric.to_string(), figure, name, case)
            }
        }
    }
}

fn profiled(
    profile: Option<&Profile>,
    layers: &str,
    name: &SubjectName,
    case: Case,
) -> Result<Series, String> {
    let instrument = name.instrument.as_deref();
    let samples = profile;
    let samples = samples.and_then(|profile| profile.samples_of(&name.subject, case, instrument));
    let samples = samples.ok_or_else(|| format!("no profile of {name} at {case}"))?;
    let span = of_samples(layers, &samples.split);
    span.map(Series::Bounded).ok_or_else(|| format!("a profile has no {PROFILE_PREFIX}{layers}"))
}

impl Figures<'_> {
    /// A subject that spins while it waits is never compared with one that sleeps.
    fn check_alike(
        &self,
        own: (&SubjectName, Case),
        other: (&SubjectName, Case),
    ) -> Result<(), String> {
        let Self::Recorded { rows, .. } = self else {
            return Ok(());
        };
        let spinning = |(name, case)| {
            let cell = cell_rows(rows, name, case);
            let mut windows = cell.iter().filter_map(|row| row.outcome.window());
            windows.next().map(|window| window.spinning)
        };
        if spinning(own) == spinning(other) {
            Ok(())
        } else {
            Err(format!(
                "{} at {} and {} at {}: an end spins in one of them and sleeps in the other",
                own.0, own.1, other.0, other.1
            ))
        }
    }
}

fn recorded(
    rows: &[Row],
    metric: &str,
    figure: impl Fn(&Row) -> Option<f64>,
    name: &SubjectName,
    case: Case,
) -> Result<Series, String> {
    let cell = cell_rows(rows, name, case);
    if cell.is_empty() {
        return Err(if rows_of_case(rows, name, case).is_empty() {
            format!("no record of {name} at {case}")
        } else {
            format!("{name} at {case} was recorded with other instruments")
        });
    }
    let cell: Vec<(&Row, Option<f64>)> = cell.into_iter().map(|row| (row, figure(row))).collect();
    let without: Vec<&Row> =
        cell.iter().filter_map(|(row, figure)| figure.is_none().then_some(*row)).collect();
    // A round without the figure is not left out: that would flatter a subject that failed in it.
    let Some(row) = without.first() else {
        let rounds = cell.iter().filter_map(|(row, figure)| Some((row.round, (*figure)?)));
        return Ok(Series::Rounds(rounds.collect()));
    };
    let rounds = if without.len() == cell.len() {
        String::new()
    } else {
        format!(" in {} of {} rounds", without.len(), cell.len())
    };
    Err(match &row.outcome {
        Outcome::Measured(_) => format!("{metric} was not recorded for {name} at {case}{rounds}"),
        Outcome::Unsupported { reason } => {
            format!("{name} at {case}: unsupported{rounds}, {reason}")
        }
        Outcome::Failed { error, .. } => format!("{name} at {case}: failed{rounds}, {error}"),
        Outcome::Missing { reason } => format!("{name} at {case}: missing{rounds}, {reason}"),
    })
}

/// The rows of a subject under a case, whatever its instrument.
fn rows_of_case<'a>(rows: &'a [Row], name: &SubjectName, case: Case) -> Vec<&'a Row> {
    let same = |row: &&Row| row.cell.subject == name.subject && row.cell.case == case;
    rows.iter().filter(same).collect()
}

/// The rows of the one cell that a claim means. Empty if that is ambiguous.
fn cell_rows<'a>(rows: &'a [Row], name: &SubjectName, case: Case) -> Vec<&'a Row> {
    let mut cell = rows_of_case(rows, name, case);
    let instrument = instrument(&cell, name).map(str::to_owned);
    cell.retain(|row| Some(&row.cell.instrument) == instrument.as_ref());
    cell
}

/// The instrument that a claim means: the one it names, or else our own, or else the only one.
fn instrument<'a>(rows: &[&'a Row], name: &'a SubjectName) -> Option<&'a str> {
    let all: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row.cell.instrument.as_str()).collect();
    match &name.instrument {
        Some(named) => all.contains(named.as_str()).then_some(named.as_str()),
        None if all.contains(DEFAULT_INSTRUMENT) => Some(DEFAULT_INSTRUMENT),
        None if all.len() == 1 => all.first().copied(),
        None => None,
    }
}
