//! Quantities, computed from printed rows or from recorded ones.

use super::metric::{of_printed, of_samples};
use super::model::{Model, Prediction};
use super::quantity::{Quantity, Take};
use super::series::{Estimate, Series};
use super::subject_name::{NamedCell, SubjectName};
use crate::document::Document;
use bookend_results::audit::Span;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::metric::Metric;
use bookend_results::profile::Profile;
use bookend_results::record::{Record, first_run, run_of};
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
pub(super) struct Evaluation {
    /// The quantity. `None`: a formula.
    pub(super) of: Option<Quantity>,
    /// The figures that could be computed.
    pub(super) estimates: Vec<Estimate>,
    /// What is missing, one clause each.
    pub(super) missing: Vec<String>,
}

impl Evaluation {
    pub(super) fn of_formula(value: Span) -> Self {
        let estimate = Series::Bounded(value).estimate(String::new(), 1);
        Self { of: None, estimates: estimate.into_iter().collect(), missing: vec![] }
    }
}

impl Quantity {
    /// Computes the quantity.
    pub(super) fn evaluate(&self, figures: Figures<'_>, models: &[Model]) -> Evaluation {
        let (mut estimates, mut missing) = (Vec::new(), Vec::new());
        let mut series = Vec::new();
        for &case in &self.cases {
            series.push(
                self.of_case(case, figures, models).map_err(|clause| missing.push(clause)).ok(),
            );
        }
        let taken = self.taken(&series);
        let count = taken.len();
        for (place, one) in taken {
            match one.and_then(|one| one.estimate(place.clone(), count)) {
                Some(estimate) => estimates.push(estimate),
                None => missing.push(format!("no figure of one run {place}")),
            }
        }
        Evaluation { of: Some(self.clone()), estimates, missing }
    }

    /// Selects those figures of the cases that count, each with its place. If a case is missing, so
    /// are the figures that need it; `None` is a figure that cannot be computed from the cases that
    /// exist.
    fn taken(&self, series: &[Option<Series>]) -> Vec<(String, Option<Series>)> {
        let last = series.len().saturating_sub(1);
        match self.take {
            Take::Each => self
                .cases
                .iter()
                .zip(series)
                .filter(|(_, one)| one.is_some())
                .map(|(case, one)| (format!("at {case}"), one.clone()))
                .collect(),
            Take::Growth => {
                let whole = (last > 1).then_some((0, last));
                (0..last)
                    .map(|before| (before, before + 1))
                    .chain(whole)
                    .filter_map(|(first, then)| {
                        let (before, after) = (series[first].as_ref()?, series[then].as_ref()?);
                        let place = format!("from {} to {}", self.cases[first], self.cases[then]);
                        Some((place, after.over(before)))
                    })
                    .collect()
            }
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
        let cell = self.cell(case);
        let divisor = self.divisor(case);
        let beside = divisor.map(|(_, other)| other);
        if let Some(other) = beside {
            figures.check_one_run(&self.metric, cell, other)?;
        }
        let own = figures.series(&self.metric, cell, beside)?;
        let divisor = if let Some((metric, other)) = divisor {
            let divisor = figures.series(metric, other, Some(cell))?;
            figures.check_alike(cell, other)?;
            divisor
        } else if let Some(name) = self.model() {
            let model = models
                .iter()
                .find(|model| model.id == *name)
                .ok_or_else(|| format!("there is no model {name}"))?;
            let prediction = match figures {
                Figures::Printed(_) => model.predict(),
                Figures::Recorded(..) => model.of_ours().predict(),
            };
            Series::Bounded(Span::exact(predicted(&self.metric, &prediction)?))
        } else {
            return Ok(own);
        };
        own.over(&divisor).ok_or_else(|| format!("{cell} cannot be divided"))
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
    /// The figures of a cell that stands alone or `beside` another.
    fn series(
        &self,
        metric: &Metric,
        cell: NamedCell<'_>,
        beside: Option<NamedCell<'_>>,
    ) -> Result<Series, String> {
        match self {
            Self::Printed(document) => {
                // A document can print figures of one cell in several rows.
                let rows = document.rows_of(&cell.name.subject, cell.case);
                let is_exact = |own: &CellId| cell.name.is_instrument(&own.instrument);
                let (exact, others): (Vec<_>, Vec<_>) =
                    rows.partition(|row| row.cell.as_ref().is_some_and(is_exact));
                exact
                    .into_iter()
                    .chain(others)
                    .find_map(|row| of_printed(metric, row))
                    .ok_or_else(|| format!("{metric} is not printed for {cell}"))
                    .map(Series::Bounded)
            }
            Self::Recorded(record, profile) => match metric {
                Metric::Profile(layers) => profiled(*profile, layers, cell),
                _ => recorded(*record, metric, cell, beside),
            },
        }
    }

    /// Nothing is divided by a figure of another run. Profiles are of the run of a cell's own rows.
    fn check_one_run(
        &self,
        metric: &Metric,
        own: NamedCell<'_>,
        other: NamedCell<'_>,
    ) -> Result<(), String> {
        let Self::Recorded(Some(record), _) = self else {
            return Ok(());
        };
        let run = |cell, beside| {
            let rows = rows_of_one_run(record, cell, beside);
            rows.first().map(|row| run_of(&record.facts.plan, row))
        };
        let are_apart = match metric {
            Metric::Profile(_) => run(own, None).zip(run(other, None)).is_some_and(|(a, b)| a != b),
            _ => run(own, None).is_some() && run(own, Some(other)).is_none(),
        };
        let complaint = || format!("{own} was measured in another run than what it is divided by");
        (!are_apart).then_some(()).ok_or_else(complaint)
    }

    /// A subject that spins while it waits is never compared with one that sleeps.
    fn check_alike(&self, own: NamedCell<'_>, other: NamedCell<'_>) -> Result<(), String> {
        let Self::Recorded(Some(record), _) = self else {
            return Ok(());
        };
        let spinning = |cell| {
            cell_rows(&record.rows, cell)
                .into_iter()
                .find_map(|row| Some(row.outcome.window()?.spinning))
        };
        let complaint =
            || format!("{own} and {other}: an end spins in one of them and sleeps in the other");
        (spinning(own) == spinning(other)).then_some(()).ok_or_else(complaint)
    }
}

fn profiled(
    profile: Option<&Profile>,
    layers: &str,
    cell: NamedCell<'_>,
) -> Result<Series, String> {
    let SubjectName { subject, instrument } = cell.name;
    let samples = profile
        .and_then(|profile| profile.samples_of(subject, cell.case, instrument.as_deref()))
        .ok_or_else(|| format!("no profile of {cell}"))?;
    of_samples(layers, &samples.split)
        .map(Series::Bounded)
        .map_err(|why| format!("{why} in the profile of {cell}"))
}

fn recorded(
    record: Option<&Record>,
    metric: &Metric,
    cell: NamedCell<'_>,
    beside: Option<NamedCell<'_>>,
) -> Result<Series, String> {
    let all = record.map_or(&[][..], |record| &record.rows);
    let deadline_ns = record.and_then(|record| record.facts.plan.deadline_ns());
    let rows = record.map_or_else(Vec::new, |record| rows_of_one_run(record, cell, beside));
    let mut rounds = BTreeMap::new();
    let mut without = Vec::new();
    let mut cut_off = 0;
    for row in &rows {
        let round = MeasuredRound::of(row, deadline_ns);
        cut_off += u32::from(round.as_ref().is_some_and(|round| metric.is_cut_off_in(round)));
        match round.and_then(|round| metric.of_round(&round)) {
            Some(figure) => {
                rounds.insert(row.round, figure);
            }
            None => without.push(&row.outcome),
        }
    }
    let share = match (without.len(), rows.len()) {
        (without, all) if without == all => String::new(),
        (without, all) => format!(" in {without} of {all} rounds"),
    };
    // A round without the figure is not left out: that would flatter a subject that failed in it.
    Err(match without.first().map(|outcome| outcome.unmeasured()) {
        // What is only a lower bound is not judged as if it were exact.
        None if cut_off > 0 => format!(
            "{metric} of {cell} is a lower bound in {cut_off} of {} rounds: calls in flight at the \
             end of the window could move it",
            rows.len()
        ),
        None if !rows.is_empty() => return Ok(Series::Rounds(rounds)),
        None if all.iter().any(|row| cell.is_of(&row.cell)) => {
            format!("{cell} was recorded with other instruments")
        }
        None => format!("no record of {cell}"),
        Some(None) => format!("{metric} was not recorded for {cell}{share}"),
        Some(Some((why, reason))) => format!("{cell}: {why}{share}, {reason}"),
    })
}

/// For each case of a quantity, the measured rows that its figure is computed from, by round: those
/// of the rounds in which both cells of a ratio were measured.
pub(super) fn rounds<'a>(
    quantity: &Quantity,
    record: &'a Record,
) -> Vec<BTreeMap<u32, Vec<&'a Row>>> {
    if matches!(quantity.metric, Metric::Profile(_)) {
        return Vec::new();
    }
    let of_case = |&case: &Case| {
        let own = quantity.cell(case);
        let divisor = quantity.divisor(case).map(|(_, cell)| cell);
        let divisors = divisor.map(|cell| rows_of_one_run(record, cell, Some(own)));
        let cells = 1 + usize::from(divisor.is_some());
        let mut rounds: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
        let dividends = rows_of_one_run(record, own, divisor);
        for row in dividends.into_iter().chain(divisors.into_iter().flatten()) {
            if matches!(row.outcome, Outcome::Measured(_)) {
                rounds.entry(row.round).or_default().push(row);
            }
        }
        rounds.retain(|_, rows| rows.len() == cells);
        rounds
    };
    quantity.cases.iter().map(of_case).collect()
}

/// The rows of a cell in the first run that measured it and what it stands `beside`. Empty if these
/// are of different runs.
pub(super) fn rows_of_one_run<'a>(
    record: &'a Record,
    cell: NamedCell<'_>,
    beside: Option<NamedCell<'_>>,
) -> Vec<&'a Row> {
    let is_in = |rows: &[Row], cell| !cell_rows(rows, cell).is_empty();
    let other = beside.filter(|other| is_in(&record.rows, *other));
    let run = first_run(&record.facts.plan, &record.rows, |run| {
        is_in(run, cell) && other.is_none_or(|other| is_in(run, other))
    });
    cell_rows(run, cell)
}

/// The rows of the one cell that a claim means: with the instrument that it names, or else our own,
/// or else the only one. Empty if that is ambiguous.
fn cell_rows<'a>(rows: &'a [Row], cell: NamedCell<'_>) -> Vec<&'a Row> {
    let mut own: Vec<&Row> = rows.iter().filter(|row| cell.is_of(&row.cell)).collect();
    let all: BTreeSet<&str> = own.iter().map(|row| row.cell.instrument.as_str()).collect();
    let instrument = match (&cell.name.instrument, all.first()) {
        (Some(named), _) => named.as_str(),
        (None, Some(only)) if all.len() == 1 => only,
        (None, _) => DEFAULT_INSTRUMENT,
    };
    own.retain(|row| row.cell.instrument == instrument);
    own
}
