//! The measured rounds of a cell, each histogram decoded once, and the figures derived from them.

use crate::measurement::{CellId, Measurement, Outcome, Row, Spinning};
use crate::statistics::{NoRatio, Ratio, paired_ratio};
use bookend_contract::latency::{self, HistogramError};
use hdrhistogram::Histogram;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The measured rounds of a cell.
pub struct MeasuredRounds<'a> {
    each: Vec<MeasuredRound<'a>>,
    merged: OnceCell<(Histogram<u64>, Vec<String>)>,
}

/// A measured round.
pub struct MeasuredRound<'a> {
    /// The stored row.
    pub row: &'a Row,
    /// Its window.
    pub window: &'a Measurement,
    /// The figures derived from the window.
    pub figures: RoundFigures,
    /// The time after which its calls were given up, nanoseconds. `None`: never.
    pub deadline_ns: Option<f64>,
    histogram: OnceCell<Result<Histogram<u64>, HistogramError>>,
}

impl<'a> MeasuredRounds<'a> {
    /// Takes the measured rows of a cell, with the deadline of their calls.
    pub fn of(rows: impl IntoIterator<Item = &'a Row>, deadline_ns: Option<f64>) -> Self {
        let rows = rows.into_iter();
        Self {
            each: rows.filter_map(|row| MeasuredRound::of(row, deadline_ns)).collect(),
            merged: OnceCell::new(),
        }
    }

    /// The measured rounds.
    pub fn each(&self) -> &[MeasuredRound<'a>] {
        &self.each
    }

    /// Iterates over the measured rounds.
    pub fn iter(&self) -> std::slice::Iter<'_, MeasuredRound<'a>> {
        self.each.iter()
    }

    /// The latencies of all rounds merged. `None` where no histogram can be read.
    pub fn latencies(&self) -> Option<&Histogram<u64>> {
        let (merged, _) = self.merged();
        (!merged.is_empty()).then_some(merged)
    }

    /// A clause for each histogram that cannot be read.
    pub fn unreadable(&self) -> &[String] {
        &self.merged().1
    }

    fn merged(&self) -> &(Histogram<u64>, Vec<String>) {
        self.merged.get_or_init(|| {
            let mut merged = latency::empty();
            let mut unreadable = Vec::new();
            for round in self.iter() {
                let reason = match round.histogram() {
                    Ok(histogram) => match merged.add(histogram) {
                        Ok(()) => continue,
                        Err(_) => "the latency histogram is of another range".to_owned(),
                    },
                    Err(error) => error.to_string(),
                };
                unreadable.push(format!("{reason} (round {})", round.row.round));
            }
            (merged, unreadable)
        })
    }
}

impl<'a> MeasuredRound<'a> {
    /// Takes a row, if it was measured.
    pub fn of(row: &'a Row, deadline_ns: Option<f64>) -> Option<Self> {
        let window = measurement(row)?;
        Some(Self { row, window, figures: window.into(), deadline_ns, histogram: OnceCell::new() })
    }

    /// The latencies of the round. `None` where the histogram cannot be read.
    pub fn latencies(&self) -> Option<&Histogram<u64>> {
        let histogram = self.histogram().as_ref().ok()?;
        (!histogram.is_empty()).then_some(histogram)
    }

    fn histogram(&self) -> &Result<Histogram<u64>, HistogramError> {
        self.histogram.get_or_init(|| latency::decode(&self.window.latency_histogram))
    }

    /// Time in which the generator did work, seconds: as it reports, otherwise its CPU time. NaN
    /// where it spins and does not report its work.
    pub fn generator_worked(&self) -> f64 {
        let used = if self.window.spinning.generator {
            f64::NAN
        } else {
            self.window.generator_cpu_seconds
        };
        self.window.generator_busy_seconds.unwrap_or(used)
    }

    /// Time in which the generator could have worked: that of its threads on the CPUs that it was
    /// pinned to, or, for a client under test, its CPU limit.
    pub fn generator_could(&self) -> f64 {
        let window = self.window;
        if let Some(limit) = window.client_cpu_limit {
            return window.window_seconds * limit;
        }
        let cpus = window.machine.total_seconds() / window.window_seconds;
        let left = cpus - window.server_cpu_limit;
        let given = window.generator_cpus.map_or(left, f64::from);
        let used = window.generator_threads.map_or(given, f64::from);
        window.window_seconds * used.min(given.max(1.0)).max(1.0)
    }

    /// CPU time of the machine and the length of the window, as dividend and divisor. `None`
    /// without a CPU account of the machine.
    pub fn of_machine(&self, cpu_seconds: f64) -> Option<(f64, f64)> {
        let has_account = self.window.machine.total_seconds() > 0.0;
        has_account.then_some((cpu_seconds, self.window.window_seconds))
    }

    /// CPU time that neither end accounts for.
    pub fn unattributed_seconds(&self) -> f64 {
        let window = self.window;
        window.machine.busy_seconds() - window.server_cpu_seconds - window.generator_cpu_seconds
    }
}

/// Figures derived from the raw figures of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigures {
    /// Answered calls a second.
    pub requests_per_second: f64,
    /// Answered calls per CPU-second of the end under test; not finite without CPU time, or where
    /// that end spins.
    pub requests_per_cpu_second: f64,
    /// CPU time of the server over the window, 1.0 = one CPU.
    pub server_cpu: f64,
    /// CPU time of the generator over the window, 1.0 = one CPU.
    pub generator_cpu: f64,
    /// The ends that polled instead of sleeping while there was nothing to do.
    pub spinning: Spinning,
    /// Whether the end under test spins.
    pub tested_end_spins: bool,
}

impl RoundFigures {
    /// Answered calls per CPU-second of the calling end. Not finite where that end spins, because
    /// its CPU time then tells nothing.
    pub fn requests_per_client_cpu_second(&self) -> f64 {
        if self.spinning.generator {
            f64::NAN
        } else {
            self.requests_per_second / self.generator_cpu
        }
    }
}

impl From<&Measurement> for RoundFigures {
    fn from(round: &Measurement) -> Self {
        let ok = round.ok as f64;
        let cpu_seconds =
            if round.tested_end_spins() { f64::NAN } else { round.tested_cpu_seconds() };
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

/// The ratio of one figure in two cells, from the rounds that measured both.
///
/// # Errors
/// When the rounds yield no ratio, or when an end spins in one cell and sleeps in the other.
pub fn ratio_of(
    pairs: &[(RoundFigures, RoundFigures)],
    figure: impl Fn(&RoundFigures) -> f64,
) -> Result<Ratio, NoRatio> {
    if pairs.iter().any(|(own, other)| own.spinning != other.spinning) {
        return Err(NoRatio::Spinning);
    }
    let figures: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (figure(a), figure(b))).collect();
    paired_ratio(&figures)
}

/// The ratio of calls per CPU-second in two cells.
///
/// # Errors
/// As [`ratio_of`], and when the end under test spins.
pub fn cost_ratio_of(pairs: &[(RoundFigures, RoundFigures)]) -> Result<Ratio, NoRatio> {
    let spins = |figures: &RoundFigures| figures.tested_end_spins;
    if pairs.iter().any(|(own, other)| spins(own) || spins(other)) {
        return Err(NoRatio::Spinning);
    }
    ratio_of(pairs, |figures| figures.requests_per_cpu_second)
}

/// The figures of two cells in the rounds that measured both, in the order of rounds.
pub fn paired_figures(
    own: (&CellId, &[Row]),
    other: (&CellId, &[Row]),
) -> Vec<(RoundFigures, RoundFigures)> {
    let others = figures_by_round(other.0, other.1);
    let own = figures_by_round(own.0, own.1).into_iter();
    own.filter_map(|(round, figures)| Some((figures, *others.get(&round)?))).collect()
}

fn figures_by_round(cell: &CellId, rows: &[Row]) -> BTreeMap<u32, RoundFigures> {
    let rows = rows.iter().filter(|row| row.cell == *cell);
    rows.filter_map(|row| Some((row.round, measurement(row)?.into()))).collect()
}

pub(crate) fn measurement(row: &Row) -> Option<&Measurement> {
    match &row.outcome {
        Outcome::Measured(measurement) => Some(measurement),
        _ => None,
    }
}
