//! One measured round of a cell, its histogram decoded once.

use super::LatencySummary;
use crate::measurement::{CellId, Measurement, Outcome, Row, Spinning};
use crate::statistics::{NoRatio, Ratio, paired_ratio};
use bookend_contract::latency::{self, HistogramError};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// A measured round.
pub(super) struct Round<'a> {
    pub(super) number: u32,
    pub(super) measurement: &'a Measurement,
    pub(super) histogram: Result<Histogram<u64>, HistogramError>,
    pub(super) figures: RoundFigures,
}

impl<'a> Round<'a> {
    /// The measured ones among the rows of a cell.
    pub(super) fn all(rows: &[&'a Row]) -> Vec<Self> {
        let measured = rows.iter().filter_map(|row| {
            let measurement = measurement(row)?;
            Some(Self {
                number: row.round,
                measurement,
                histogram: latency::decode(&measurement.latency_histogram),
                figures: measurement.into(),
            })
        });
        measured.collect()
    }

    pub(super) fn latency(&self) -> Option<LatencySummary> {
        LatencySummary::of(self.histogram.as_ref().ok()?)
    }
}

/// What follows from the raw figures of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigures {
    /// Answered calls a second.
    pub requests_per_second: f64,
    /// Answered calls per CPU-second of the end under test; not finite without CPU time, and where
    /// that end spins.
    pub requests_per_cpu_second: f64,
    /// CPU time of the server over the window, 1.0 = one CPU.
    pub server_cpu: f64,
    /// CPU time of the generator over the window, 1.0 = one CPU.
    pub generator_cpu: f64,
    /// Who looked again and again while there was nothing to do.
    pub spinning: Spinning,
    /// Whether that is the end under test.
    pub tested_end_spins: bool,
}

impl From<&Measurement> for RoundFigures {
    fn from(round: &Measurement) -> Self {
        let ok = round.ok as f64;
        let cpu_seconds = match round.tested_end_spins() {
            true => f64::NAN,
            false => round.tested_cpu_seconds(),
        };
        Self {
            requests_per_second: ok / round.window_seconds,
            requests_per_cpu_second: ok / cpu_seconds,
            server_cpu: round.server_cpu_seconds / round.window_seconds,
            generator_cpu: round.generator_cpu_seconds / round.window_seconds,
            spinning: round.spinning,
            tested_end_spins: round.tested_end_spins(),
        }
    }
}

/// One figure of a cell over that of another, from the rounds that measured both.
///
/// # Errors
/// There is none; where an end spins that slept in the other, there must be none.
pub fn ratio_of(
    pairs: &[(RoundFigures, RoundFigures)],
    figure: impl Fn(&RoundFigures) -> f64,
) -> Result<Ratio, NoRatio> {
    if pairs
        .iter()
        .any(|(own, other)| own.spinning != other.spinning)
    {
        return Err(NoRatio::Spinning);
    }
    let figures: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (figure(a), figure(b))).collect();
    paired_ratio(&figures)
}

/// Calls per CPU-second of a cell over those of another.
///
/// # Errors
/// As [`ratio_of`], and where the end spins that is measured.
pub fn cost_ratio_of(pairs: &[(RoundFigures, RoundFigures)]) -> Result<Ratio, NoRatio> {
    let spins = |figures: &RoundFigures| figures.tested_end_spins;
    if pairs.iter().any(|(own, other)| spins(own) || spins(other)) {
        return Err(NoRatio::Spinning);
    }
    ratio_of(pairs, |figures| figures.requests_per_cpu_second)
}

/// The figures of two cells in the rounds that measured both, by round.
pub fn paired_figures(
    own: (&CellId, &[Row]),
    other: (&CellId, &[Row]),
) -> Vec<(RoundFigures, RoundFigures)> {
    let others = figures_by_round(other.0, other.1);
    let own = figures_by_round(own.0, own.1).into_iter();
    own.filter_map(|(round, figures)| Some((figures, *others.get(&round)?)))
        .collect()
}

fn figures_by_round(cell: &CellId, rows: &[Row]) -> BTreeMap<u32, RoundFigures> {
    let rows = rows.iter().filter(|row| row.cell == *cell);
    rows.filter_map(|row| Some((row.round, measurement(row)?.into())))
        .collect()
}

pub(super) fn measurement(row: &Row) -> Option<&Measurement> {
    match &row.outcome {
        Outcome::Measured(measurement) => Some(measurement),
        _ => None,
    }
}
