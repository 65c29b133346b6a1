//! One cell over all its rounds: medians of rates, latencies from the merged histogram.

use super::doubts::doubts;
use super::latency::{LatencySummary, merged};
use super::limit::{generator_busy, pooled_verdict};
use super::round::{Round, RoundFigures, paired_figures};
use super::{InstrumentCost, Ledger};
use crate::measurement::{CellId, Measurement, Row};
use crate::statistics::{Interval, NoRatio, Ratio, geometric_mean_interval, median, paired_ratio};
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
    /// Who was the limit, over all rounds.
    pub verdict: Verdict,
    /// Where the machine's CPU went. `None` when it kept no account.
    pub ledger: Option<Ledger>,
    /// Doubts, a clause each.
    pub marks: Vec<String>,
}

/// A ratio against the baseline, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioOutcome {
    /// This is the baseline, or there is none.
    NotCompared,
    /// The ratio.
    Of(Ratio),
    /// A round of one of the two yielded nothing, or no round has both.
    Impossible,
}

impl RatioOutcome {
    pub(super) fn new(ratio: Result<Ratio, NoRatio>) -> Self {
        ratio.map_or(Self::Impossible, Self::Of)
    }

    /// The ratio, if there is one.
    pub fn ratio(&self) -> Option<&Ratio> {
        match self {
            Self::Of(ratio) => Some(ratio),
            Self::NotCompared | Self::Impossible => None,
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
            verdict: pooled_verdict(plan, &rounds),
            ledger: Ledger::pooled(&rounds),
            marks,
        })
    }

    /// Adds the ratios of `own` against `other`, from the rounds that have both.
    pub(super) fn compare(&mut self, own: &CellId, other: &CellId, rows: &[Row]) {
        let both = paired_figures((own, rows), (other, rows));
        let pairs = |of: fn(&RoundFigures) -> f64| -> Vec<(f64, f64)> {
            both.iter().map(|(a, b)| (of(a), of(b))).collect()
        };
        let costs = paired_ratio(&pairs(|figures| figures.requests_per_cpu_second));
        let rates = paired_ratio(&pairs(|figures| figures.requests_per_second));
        self.cost_ratio = RatioOutcome::new(costs);
        self.rate_ratio = RatioOutcome::new(rates);
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
