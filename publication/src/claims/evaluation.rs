//! Quantities, computed from printed rows or from recorded ones.

use super::known::{Known, Limit};
use super::metric::{of_printed, of_samples};
use super::model::{Model, Prediction};
use super::quantity::{Over, Quantity, Take};
use super::series::{Estimate, Series};
use super::shown::Shown;
use super::subject_name::{NamedCell, SubjectName};
use crate::document::Document;
use bookend_results::audit::Span;
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::metric::{Metric, Unit};
use bookend_results::profile::Profile;
use bookend_results::record::{Record, first_run, run_of};
use bookend_results::round::MeasuredRound;
use bookend_results::suite::Case;
use std::collections::{BTreeMap, BTreeSet};

/// The instrument of a cell when a claim names no instrument and several made load.
const DEFAULT_INSTRUMENT: &str = "bookend-load";

/// How the lab begins to say that a server did not live to the end of a window.
const ENDED: &str = "the server ended";

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
    /// Cases without a figure because what it would be divided by ended while it was measured, one
    /// clause each.
    pub(super) died: Vec<String>,
    /// How its figures are shown.
    pub(super) shown: Shown,
}

/// The figure of one case.
struct CaseFigure {
    series: Series,
    known: Known,
    limit: Option<Limit>,
}

impl Evaluation {
    pub(super) fn of_formula(value: Span) -> Self {
        let estimate = Series::Bounded(value).estimate(String::new(), 1);
        let shown = Shown::in_unit(Unit::Number);
        let estimates = estimate.into_iter().collect();
        Self { of: None, estimates, missing: vec![], died: vec![], shown }
    }

    /// The same in the unit of what was printed.
    pub(super) fn in_printed_unit(
        self,
        claim: (&str, Option<f64>),
        ours: Option<&Quantity>,
    ) -> Self {
        let shown = Shown::of(claim.0, claim.1, self.of.as_ref(), ours);
        Self { shown, ..self }
    }
}

impl Quantity {
    /// Computes the quantity.
    pub(super) fn evaluate(&self, figures: Figures<'_>, models: &[Model]) -> Evaluation {
        let (mut estimates, mut missing, mut died) = (Vec::new(), Vec::new(), Vec::new());
        let mut of = Self { cases: Vec::new(), ..self.clone() };
        let mut all = Vec::new();
        for &case in &self.cases {
            if let Some(clause) = self.died(case, figures) {
                died.push(clause);
                continue;
            }
            of.cases.push(case);
            let figure = self.of_case(case, figures, models);
            all.push(figure.map_err(|clause| missing.push(clause)).ok());
        }
        let taken = of.taken(&all);
        let count = taken.len();
        for (place, one) in taken {
            let estimate = one.and_then(|CaseFigure { series, known, limit }| {
                let estimate = series.estimate(place.clone(), count)?;
                Some(Estimate { known, limit, ..estimate })
            });
            match estimate {
                Some(estimate) => estimates.push(estimate),
                None => missing.push(format!("no figure of one run {place}")),
            }
        }
        let shown = Shown::of_quantity(&of);
        Evaluation { of: Some(of), estimates, missing, died, shown }
    }

    /// What is said of a case that was measured where what it is divided by was not, because that
    /// ended in every round.
    fn died(&self, case: Case, figures: Figures<'_>) -> Option<String> {
        let Figures::Recorded(Some(record), _) = figures else { return None };
        let is_alone = matches!(self.take, Take::Each | Take::Growth);
        let Some(Over::Subject(_)) = self.over.as_ref().filter(|_| is_alone) else { return None };
        let (_, other) = self.divisor(case)?;
        let is_measured = |row: &&Row| row.outcome.window().is_some();
        let own = cell_rows(&record.rows, self.cell(case));
        let error = |row: &&'_ Row| match &row.outcome {
            Outcome::Failed { error, .. } if error.starts_with(ENDED) => Some(error.clone()),
            _ => None,
        };
        let ends: Option<Vec<String>> = cell_rows(&record.rows, other).iter().map(error).collect();
        let end = ends?.into_iter().next()?;
        (own.iter().all(is_measured) && !own.is_empty()).then(|| format!("{other}: {end}"))
    }

    /// Selects those figures of the cases that count, each with its place. If a case is missing, so
    /// are the figures that need it; `None` is a figure that cannot be computed from the cases that
    /// exist.
    fn taken(&self, all: &[Option<CaseFigure>]) -> Vec<(String, Option<CaseFigure>)> {
        let last = all.len().saturating_sub(1);
        match self.take {
            Take::Each => self
                .cases
                .iter()
                .zip(all)
                .filter_map(|(case, one)| {
                    Some((format!("at {case}"), Some(one.as_ref()?.copied())))
                })
                .collect(),
            Take::Growth => {
                let whole = (last > 1).then_some((0, last));
                (0..last)
                    .map(|before| (before, before + 1))
                    .chain(whole)
                    .filter_map(|(first, then)| {
                        let (before, after) = (all[first].as_ref()?, all[then].as_ref()?);
                        let place = format!("from {} to {}", self.cases[first], self.cases[then]);
                        Some((place, after.over(before)))
                    })
                    .collect()
            }
            Take::Median => self.ranked("middle", last / 2, all),
            Take::Largest => self.ranked("largest", last, all),
        }
    }

    /// The figure with this rank among all cases, counted from the smallest, round by round.
    fn ranked(
        &self,
        name: &str,
        rank: usize,
        all: &[Option<CaseFigure>],
    ) -> Vec<(String, Option<CaseFigure>)> {
        let known: Option<Vec<&CaseFigure>> = all.iter().map(Option::as_ref).collect();
        let Some(all) = known.filter(|known| !known.is_empty()) else {
            return Vec::new();
        };
        let place = match self.cases.as_slice() {
            [case] => format!("at {case}"),
            cases => format!("as the {name} of {} cases", cases.len()),
        };
        let series: Vec<&Series> = all.iter().map(|one| &one.series).collect();
        let ranked = Series::ranked(&series, rank).map(|series| CaseFigure {
            series,
            known: all.iter().fold(Known::Exactly, |known, one| known.and(one.known)),
            limit: all.iter().find_map(|one| one.limit),
        });
        vec![(place, ranked)]
    }

    fn of_case(
        &self,
        case: Case,
        figures: Figures<'_>,
        models: &[Model],
    ) -> Result<CaseFigure, String> {
        let cell = self.cell(case);
        let divisor = self.divisor(case);
        let beside = divisor.map(|(_, other)| other);
        if let Some(other) = beside {
            figures.check_one_run(&self.metric, cell, other)?;
        }
        let own = figures.figure(&self.metric, cell, beside)?;
        let divisor = if let Some((metric, other)) = divisor {
            let divisor = figures.figure(metric, other, Some(cell))?;
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
            let series = Series::Bounded(Span::exact(predicted(&self.metric, &prediction)?));
            CaseFigure { series, known: Known::Exactly, limit: None }
        } else {
            return Ok(own);
        };
        own.over(&divisor).ok_or_else(|| format!("{cell} cannot be divided"))
    }
}

impl CaseFigure {
    fn copied(&self) -> Self {
        Self { series: self.series.clone(), ..*self }
    }

    /// Divided round by round.
    fn over(&self, divisor: &Self) -> Option<Self> {
        let series = self.series.over(&divisor.series)?;
        let known = self.known.and(divisor.known.inverse());
        Some(Self { series, known, limit: self.limit.or(divisor.limit) })
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
    /// The same, with what the calling end leaves of it.
    fn figure(
        &self,
        metric: &Metric,
        cell: NamedCell<'_>,
        beside: Option<NamedCell<'_>>,
    ) -> Result<CaseFigure, String> {
        let series = self.series(metric, cell, beside)?;
        let limit = match self {
            Self::Recorded(Some(record), _) => Limit::of(&rows_of_one_run(record, cell, beside)),
            _ => None,
        };
        let known = limit.map_or(Known::Exactly, |_| Known::with_client_at_its_limit(metric));
        Ok(CaseFigure { series, known, limit: limit.filter(|_| known != Known::Exactly) })
    }

    /// The one figure of a cell that stands alone.
    pub(super) fn value(&self, metric: &Metric, cell: NamedCell<'_>) -> Option<f64> {
        let estimate = self.series(metric, cell, None).ok()?.estimate(String::new(), 1)?;
        Some(estimate.value)
    }

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
