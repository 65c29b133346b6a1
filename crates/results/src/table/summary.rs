//! One cell over all its rounds: medians of rates, latencies from the merged histogram.

use super::doubts::doubts;
use super::latency::{LatencySummary, merged};
use super::limit::{generator_busy, pooled_verdict};
use super::round::{Round, RoundFigures, cost_ratio_of, paired_figures, ratio_of};
use super::{InstrumentCost, Ledger};
use crate::measurement::{CellId, Measurement, Row, Spinning};
use crate::statistics::{Interval, NoRatio, Ratio, geometric_mean_interval, median};
use crate::suite::{Case, Plan, Side};
use bookend_contract::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;

/// The figures of a cell over all its measured rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Answered calls a second: median of the rounds.
    pub requests_per_second: f64,
    /// 95 % interval of the rounds' geometric mean. `None` below two rounds.
    pub requests_per_second_interval: Option<Interval>,
    /// Answered calls per CPU-second of the server: median of the rounds. `None` where a round
    /// has no CPU time.
    pub requests_per_cpu_second: Option<f64>,
    /// 95 % interval of the rounds' geometric mean.
    pub requests_per_cpu_second_interval: Option<Interval>,
    /// Requests per CPU-second over those of the baseline.
    pub cost_ratio: RatioOutcome,
    /// Requests per second over those of the baseline.
    pub rate_ratio: RatioOutcome,
    /// Against the same subject with connections in plain text over TCP.
    pub over_h2c: Compared,
    /// Against the same subject with connections that outlive their calls.
    pub over_lasting: Compared,
    /// CPU time of the server over the window, 1.0 = one CPU: median of the rounds.
    pub server_cpu: f64,
    /// Largest share of one CPU in 100 ms of any round.
    pub server_cpu_max: f64,
    /// What a request costs the instrument.
    pub instrument_cost: InstrumentCost,
    /// CPU time of the generator over the window, 1.0 = one CPU: median of the rounds.
    pub generator_cpu: f64,
    /// Share of its time in which the generator did work, 0 to 1, pooled over the rounds.
    pub generator_busy: f64,
    /// Latencies of OK calls, merged over the rounds. `None` without a readable histogram.
    pub latency: Option<LatencySummary>,
    /// Mean memory of the server, bytes: median of the rounds.
    pub memory_mean_bytes: f64,
    /// Peak memory of the server, bytes: largest of the rounds.
    pub memory_peak_bytes: f64,
    /// Where the memory figures come from: `cgroup` or `rss`.
    pub memory_source: String,
    /// Threads of the server: largest of the rounds.
    pub threads: u32,
    /// Context switches of the server a second: median of the rounds.
    pub context_switches_per_second: f64,
    /// Responses that one read of the generator carried: median of the rounds that say so.
    pub requests_per_read: Option<f64>,
    /// Requests that one write of the generator carried: median of the rounds that say so.
    pub requests_per_write: Option<f64>,
    /// Answered calls of all windows.
    pub ok: u64,
    /// Failed calls of all windows by gRPC code name.
    pub errors: BTreeMap<String, u64>,
    /// Which end was measured.
    pub side: Side,
    /// Who looked again and again while there was nothing to do.
    pub spinning: Spinning,
    /// Who was the limit, over all rounds.
    pub verdict: Verdict,
    /// Where the machine's CPU went. `None` when it kept no account.
    pub ledger: Option<Ledger>,
    /// Doubts, a clause each.
    pub marks: Vec<String>,
}

/// A cell over another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Requests per CPU-second over those of the other.
    pub cost: RatioOutcome,
    /// Requests per second over those of the other.
    pub rate: RatioOutcome,
}

/// A ratio against another cell, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioOutcome {
    /// There is nothing to compare with, or this is it.
    NotCompared,
    /// The ratio.
    Of(Ratio),
    /// A round of one of the two yielded nothing, or no round has both.
    Impossible,
    /// An end spins while it waits: [`NoRatio::Spinning`].
    Spinning,
}

impl RatioOutcome {
    pub(super) fn new(ratio: Result<Ratio, NoRatio>) -> Self {
        match ratio {
            Ok(ratio) => Self::Of(ratio),
            Err(NoRatio::Spinning) => Self::Spinning,
            Err(NoRatio::NoPairs | NoRatio::NotPositive) => Self::Impossible,
        }
    }

    /// The same with the two exchanged.
    pub fn reciprocal(&self) -> Self {
        match self {
            Self::Of(ratio) => Self::Of(ratio.reciprocal()),
            other => *other,
        }
    }

    /// The ratio, if there is one.
    pub fn ratio(&self) -> Option<&Ratio> {
        match self {
            Self::Of(ratio) => Some(ratio),
            Self::NotCompared | Self::Impossible | Self::Spinning => None,
        }
    }
}

impl Compared {
    /// With nothing.
    const NOTHING: Self = Self {
        cost: RatioOutcome::NotCompared,
        rate: RatioOutcome::NotCompared,
    };

    /// `own` over `other`, from the rounds that have both.
    pub(super) fn of(own: &CellId, other: &CellId, rows: &[Row]) -> Self {
        let both = paired_figures((own, rows), (other, rows));
        let rate = ratio_of(&both, |figures| figures.requests_per_second);
        Self {
            cost: RatioOutcome::new(cost_ratio_of(&both)),
            rate: RatioOutcome::new(rate),
        }
    }
}

impl Summary {
    /// Sums up the rows of one cell. `None` when no round was measured. `all` are the rows of the
    /// run, from which both ends' counts are compared.
    pub(super) fn new(plan: &Plan, case: Case, own: &[&Row], all: &[Row]) -> Option<Self> {
        let rounds = Round::all(own);
        let first = rounds.first()?.measurement;
        let rates = each(&rounds, |figures| figures.requests_per_second);
        let costs = each(&rounds, |figures| figures.requests_per_cpu_second);
        let (latency, unreadable) = merged(&rounds);
        let marks = [unreadable, doubts(plan, case, own, &rounds, all)].concat();
        Some(Self {
            requests_per_second: median(&rates).unwrap_or(0.0),
            requests_per_second_interval: geometric_mean_interval(&rates),
            requests_per_cpu_second: median(&costs),
            requests_per_cpu_second_interval: geometric_mean_interval(&costs),
            cost_ratio: RatioOutcome::NotCompared,
            rate_ratio: RatioOutcome::NotCompared,
            over_h2c: Compared::NOTHING,
            over_lasting: Compared::NOTHING,
            server_cpu: middle(&each(&rounds, |figures| figures.server_cpu)),
            server_cpu_max: largest(&rounds, |round| round.server_cpu_max),
            instrument_cost: InstrumentCost::new(&rounds),
            generator_cpu: middle(&each(&rounds, |figures| figures.generator_cpu)),
            generator_busy: generator_busy(&rounds),
            latency,
            memory_mean_bytes: middle(&raw(&rounds, |round| Some(round.memory_mean_bytes as f64))),
            memory_peak_bytes: largest(&rounds, |round| round.memory_peak_bytes as f64),
            memory_source: first.memory_source.clone(),
            threads: rounds.iter().map(|round| round.measurement.threads).max()?,
            context_switches_per_second: middle(&raw(&rounds, context_switch_rate)),
            requests_per_read: median(&raw(&rounds, |round| round.requests_per_read)),
            requests_per_write: median(&raw(&rounds, |round| round.requests_per_write)),
            ok: rounds.iter().map(|round| round.measurement.ok).sum(),
            errors: errors(&rounds),
            side: first.side,
            spinning: first.spinning,
            verdict: pooled_verdict(plan, &rounds),
            ledger: Ledger::pooled(&rounds),
            marks,
        })
    }

    /// Adds the ratios against the baseline.
    pub(super) fn compare(&mut self, with_baseline: Compared) {
        self.cost_ratio = with_baseline.cost;
        self.rate_ratio = with_baseline.rate;
    }
}

fn each(rounds: &[Round<'_>], of: fn(&RoundFigures) -> f64) -> Vec<f64> {
    rounds.iter().map(|round| of(&round.figures)).collect()
}

fn raw(rounds: &[Round<'_>], of: fn(&Measurement) -> Option<f64>) -> Vec<f64> {
    rounds
        .iter()
        .filter_map(|round| of(round.measurement))
        .collect()
}

/// The median, or 0 where a figure is not finite; the audit names it.
fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or(0.0)
}

fn largest(rounds: &[Round<'_>], of: fn(&Measurement) -> f64) -> f64 {
    let values = rounds.iter().map(|round| of(round.measurement));
    values.fold(0.0, f64::max)
}

fn context_switch_rate(round: &Measurement) -> Option<f64> {
    Some(round.context_switches as f64 / round.window_seconds)
}

fn errors(rounds: &[Round<'_>]) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for (code, count) in rounds.iter().flat_map(|round| &round.measurement.errors) {
        *errors.entry(code.clone()).or_default() += count;
    }
    errors
}
