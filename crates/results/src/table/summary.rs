//! One cell over all its rounds: every metric of the catalogue, and its marks.

use super::CpuAccount;
use super::cell_marks::cell_marks;
use super::limit::pooled_verdict;
use crate::failed_share::FailedShare;
use crate::measurement::{Row, Spinning};
use crate::metric::{ALL, ERROR_SHARE, MetricDefinition};
use crate::ratio::Ratios;
use crate::round::MeasuredRounds;
use crate::statistics::{CONFIDENCE, Interval, median_interval};
use crate::suite::{Case, Plan, TestedEnd};
use crate::window::AskedTimes;
use bookend_contract::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;

/// The figures of a cell over all its measured rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Its metrics by name, pooled over the rounds; metrics without a figure are left out.
    pub figures: BTreeMap<&'static str, Figure>,
    /// The ratios of the cell to others.
    #[serde(flatten)]
    pub ratios: Ratios,
    /// Where the memory figures come from: `cgroup` or `rss`.
    pub memory_source: String,
    /// Failed calls of all windows by gRPC code name.
    pub errors: BTreeMap<String, u64>,
    /// The end that was measured.
    pub side: TestedEnd,
    /// The ends that polled instead of sleeping while there was nothing to do.
    pub spinning: Spinning,
    /// The end that was the limit, over all rounds.
    pub verdict: Verdict,
    /// Where the machine's CPU time went. `None` without a CPU account of the machine.
    pub cpu_account: Option<CpuAccount>,
    /// The longest warm-up and window that it was given. `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedTimes>,
    /// Marks, a clause each.
    pub marks: Vec<String>,
}

/// A metric of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The figure, in the metric's unit.
    pub value: f64,
    /// For a rate, the 95 % interval of the rounds' median. `None` below six rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Whether it is a lower bound: calls in flight at the ends of the windows could move it.
    #[serde(skip_serializing_if = "std::ops::Not::not", rename = "cut_off")]
    pub is_cut_off: bool,
}

impl Summary {
    /// Sums up the rows of one cell. `None` when no round was measured. `all` are the rows of the
    /// run, from which the counts of both ends are compared.
    pub(super) fn new(
        plan: &Plan,
        case: Case,
        own: &[&Row],
        all: &[Row],
        ratios: impl FnOnce() -> Ratios,
    ) -> Option<Self> {
        let rounds = MeasuredRounds::of(own.iter().copied(), plan.deadline_ns());
        let first = rounds.each().first()?.window;
        let marks = cell_marks(plan, case, own, &rounds, all);
        Some(Self {
            figures: ALL
                .iter()
                .filter_map(|metric| Some((metric.name, Figure::of(metric, &rounds)?)))
                .collect(),
            ratios: ratios(),
            memory_source: first.ends.tested().memory_source.clone().unwrap_or_default(),
            errors: errors(&rounds),
            side: first.ends.side,
            spinning: first.spinning,
            verdict: pooled_verdict(plan, rounds.each()),
            cpu_account: CpuAccount::pooled(rounds.each()),
            asked: rounds.each().iter().filter_map(|round| round.window.asked).max(),
            marks: [rounds.unreadable().to_vec(), marks].concat(),
        })
    }

    /// The share of calls that failed. `None`: no call failed.
    pub fn failed_share(&self) -> Option<FailedShare> {
        FailedShare::of(self.value(&ERROR_SHARE)?)
    }

    /// A metric. `None` where the cell has no figure for it.
    pub fn value(&self, metric: &MetricDefinition) -> Option<f64> {
        Some(self.figures.get(metric.name)?.value)
    }

    /// A metric as text; `>= N` where it is a lower bound because calls were cut off. `None` as
    /// above.
    pub fn text(&self, metric: &MetricDefinition, text: impl Fn(f64) -> String) -> Option<String> {
        let figure = self.figures.get(metric.name)?;
        let bound = if figure.is_cut_off { ">= " } else { "" };
        Some(format!("{bound}{}", text(figure.value)))
    }

    /// The interval of a rate.
    pub fn interval(&self, metric: &MetricDefinition) -> Option<Interval> {
        self.figures.get(metric.name)?.interval
    }
}

impl Figure {
    fn of(metric: &MetricDefinition, rounds: &MeasuredRounds<'_>) -> Option<Self> {
        let value = metric.pooled(rounds)?;
        let of_rounds = || rounds.each().iter().filter_map(|round| metric.of_round(round));
        let interval = metric
            .has_interval()
            .then(|| median_interval(&of_rounds().collect::<Vec<_>>(), CONFIDENCE));
        let is_cut_off = metric.is_cut_off(rounds);
        Some(Self { value, interval: interval.flatten(), is_cut_off })
    }
}

fn errors(rounds: &MeasuredRounds<'_>) -> BTreeMap<String, u64> {
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for (code, count) in rounds.each().iter().flat_map(|round| &round.window.counts.errors) {
        let sum = errors.entry(code.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    errors
}

/// Whether the end that was not measured was the limit.
pub fn is_lower_bound(summary: &Summary) -> bool {
    matches!(
        (summary.side, summary.verdict),
        (TestedEnd::Server, Verdict::ClientBound) | (TestedEnd::Client, Verdict::ServerBound)
    )
}
