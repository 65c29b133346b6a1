//! Quantities, computed from printed rows or from recorded ones.

use super::metric::{of_printed, of_samples};
use super::model::{Model, Prediction};
use super::quantity::{Quantity, Take};
use super::series::{Estimate, Series};
use super::subject_name::SubjectName;
use crate::document::Document;
use bookend_results::audit::Span;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::metric::{Metric, PROFILE_PREFIX};
use bookend_results::profile::Profile;
use bookend_results::record::Record;
use bookend_results::round::MeasuredRound;
use bookend_results::suite::Case;
use std::collections::{BTreeMap, BTreeSet};

/// The instrument of a cell when a claim names no instrument and several made load.
const DEFAULT_INSTRUMENT: &str = "bookend-load";

/// Where figures come from.
#[derive(Clone, Copy)]
pub(super) enum Figures<'a> {
    /// The document's own tables.
    Printed(&'a Document),
    /// A record of ours, if there is one, and where its CPU time went, if that was recorded.
    Recorded(Option<&'a Record>, Option<&'a Profile>),
}

/// A quantity in the cases that count, or the value of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evaluation<'a> {
    /// The quantity. `None`: a formula.
    pub(super) of: Option<&'a Quantity>,
    /// The figures that could be computed.
    pub(super) estimates: Vec<Estimate>,
    /// What is missing, one clause each.
    pub(super) missing: Vec<String>,
}

impl Evaluation<'_> {
    pub(super) fn of_formula(value: Span) -> Self {
        let estimate = Series::Bounded(value).estimate(String::new(), 1);
        Self { of: None, estimates: estimate.into_iter().collect(), missing: vec![] }
    }
}

impl Quantity {
    /// Computes the quantity.
    pub(super) fn evaluate(&self, figures: Figures<'_>, models: &[Model]) -> Evaluation<'_> {
        let (mut estimates, mut missing) = (Vec::new(), Vec::new());
        let mut series = Vec::new();
        for &case in &self.cases {
            let one = self.of_case(case, figures, models);
            series.push(one.map_err(|clause| missing.push(clause)).ok());
        }
        let taken = self.taken(&series);
        let count = taken.len();
        for (place, one) in taken {
            match one.and_then(|one| one.estimate(place.clone(), count)) {
                Some(estimate) => estimates.push(estimate),
                None => missing.push(format!("no figure {place}")),
            }
        }
        Evaluation { of: Some(self), estimates, missing }
    }

    /// Selects those figures of the cases that count, each with its place. If a case is missing, so
    /// are the figures that need it; `None` is a figure that cannot be computed from the cases that
    /// exist.
    fn taken(&self, series: &[Option<Series>]) -> Vec<(String, Option<Series>)> {
        let last = series.len().saturating_sub(1);
        match self.take {
            Take::Each => {
                let cases = self.cases.iter().zip(series);
                let known = cases.filter(|(_, one)| one.is_some());
                known.map(|(case, one)| (format!("at {case}"), one.clone())).collect()
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
        models: &[Model],
    ) -> Result<Series, String> {
        let own = figures.series(&self.metric, &self.of, case)?;
        let divisor = if let Some((metric, name, other)) = self.divisor(case) {
            let divisor = figures.series(metric, name, other)?;
            figures.check_alike((&self.of, case), (name, other))?;
            divisor
        } else if let Some(name) = self.model() {
            let model = models.iter().find(|model| model.id == *name);
            let model = model.ok_or_else(|| format!("there is no model {name}"))?;
            let prediction = match figures {
                Figures::Printed(_) => model.predict(),
                Figures::Recorded(..) => model.of_ours().predict(),
            };
            Series::Bounded(Span::exact(predicted(&self.metric, &prediction)?))
        } else {
            return Ok(own);
        };
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

impl Figures<'_> {
    fn series(&self, metric: &Metric, name: &SubjectName, case: Case) -> Result<Series, String> {
        match self {
            Self::Printed(document) => {
                // A document can print figures of one cell in several rows.
                let rows = document.rows_of(&name.subject, case);
                let is_exact = |cell: &CellId| name.is_instrument(&cell.instrument);
                let (exact, others): (Vec<_>, Vec<_>) =
                    rows.partition(|row| row.cell.as_ref().is_some_and(is_exact));
                let mut rows = exact.into_iter().chain(others);
                let span = rows.find_map(|row| of_printed(metric, row));
                span.map(Series::Bounded)
                    .ok_or_else(|| format!("{metric} is not printed for {name} at {case}"))
            }
            Self::Recorded(record, profile) => match metric {
                Metric::Profile(layers) => profiled(*profile, layers, name, case),
                _ => recorded(*record, metric, name, case),
            },
        }
    }

    /// A subject that spins while it waits is never compared with one that sleeps.
    fn check_alike(
        &self,
        own: (&SubjectName, Case),
        other: (&SubjectName, Case),
    ) -> Result<(), String> {
        let Self::Recorded(Some(record), _) = self else {
            return Ok(());
        };
        let spinning = |(name, case)| {
            let cell = cell_rows(&record.rows, name, case);
            cell.iter().find_map(|row| Some(row.outcome.window()?.spinning))
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

fn profiled(
    profile: Option<&Profile>,
    layers: &str,
    name: &SubjectName,
    case: Case,
) -> Result<Series, String> {
    let instrument = name.instrument.as_deref();
    let samples = profile.and_then(|profile| profile.samples_of(&name.subject, case, instrument));
    let samples = samples.ok_or_else(|| format!("no profile of {name} at {case}"))?;
    let span = of_samples(layers, &samples.split);
    span.map(Series::Bounded).ok_or_else(|| format!("a profile has no {PROFILE_PREFIX}{layers}"))
}

fn recorded(
    record: Option<&Record>,
    metric: &Metric,
    name: &SubjectName,
    case: Case,
) -> Result<Series, String> {
    let rows = record.map_or(&[][..], |record| &record.rows);
    let deadline_ns = record.and_then(|record| record.facts.plan.deadline_ns());
    let cell = cell_rows(rows, name, case);
    let mut rounds = BTreeMap::new();
    let mut without = Vec::new();
    for row in &cell {
        let round = MeasuredRound::of(row, deadline_ns);
        match round.and_then(|round| metric.of_round(&round)) {
            Some(figure) => {
                rounds.insert(row.round, figure);
            }
            None => without.push(&row.outcome),
        }
    }
    let share = if without.len() == cell.len() {
        String::new()
    } else {
        format!(" in {} of {} rounds", without.len(), cell.len())
    };
    // A round without the figure is not left out: that would flatter a subject that failed in it.
    let (why, reason) = match without.first() {
        None if !cell.is_empty() => return Ok(Series::Rounds(rounds)),
        None if rows_of_case(rows, name, case).is_empty() => {
            return Err(format!("no record of {name} at {case}"));
        }
        None => return Err(format!("{name} at {case} was recorded with other instruments")),
        Some(outcome) => outcome
            .unmeasured()
            .ok_or_else(|| format!("{metric} was not recorded for {name} at {case}{share}"))?,
    };
    Err(format!("{name} at {case}: {why}{share}, {reason}"))
}

/// For each case of a quantity, the measured rows that its figure is computed from, by round.
pub(super) fn rounds<'a>(quantity: &Quantity, rows: &'a [Row]) -> Vec<BTreeMap<u32, Vec<&'a Row>>> {
    if matches!(quantity.metric, Metric::Profile(_)) {
        return Vec::new();
    }
    let of_case = |&case: &Case| {
        let divisor = quantity.divisor(case).map(|(_, name, case)| (name, case));
        let cells = std::iter::once((&quantity.of, case)).chain(divisor);
        let mut rounds: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
        for row in cells.flat_map(|(name, case)| cell_rows(rows, name, case)) {
            if matches!(row.outcome, Outcome::Measured(_)) {
                rounds.entry(row.round).or_default().push(row);
            }
        }
        rounds
    };
    quantity.cases.iter().map(of_case).collect()
}

/// The rows of a subject under a case, whatever its instrument.
fn rows_of_case<'a>(rows: &'a [Row], name: &SubjectName, case: Case) -> Vec<&'a Row> {
    let same = |row: &&Row| row.cell.subject == name.subject && row.cell.case == case;
    rows.iter().filter(same).collect()
}

/// The rows of the one cell that a claim means: with the instrument that it names, or else our own,
/// or else the only one. Empty if that is ambiguous.
fn cell_rows<'a>(rows: &'a [Row], name: &SubjectName, case: Case) -> Vec<&'a Row> {
    let mut cell = rows_of_case(rows, name, case);
    let all: BTreeSet<&str> = cell.iter().map(|row| row.cell.instrument.as_str()).collect();
    let instrument = match &name.instrument {
        Some(named) => named.as_str(),
        None if all.len() == 1 => all.first().copied().unwrap_or_default(),
        None => DEFAULT_INSTRUMENT,
    };
    cell.retain(|row| row.cell.instrument == instrument);
    cell
}
