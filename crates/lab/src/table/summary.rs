//! One cell over all its rounds: medians of rates, latencies from the merged histogram.

use super::Ledger;
use crate::audit::{AuditedRow, EndCounts, Finding, Rule, audit, audit_counts};
use crate::measurement::{CellId, Measurement, Outcome, Row};
use crate::statistics::{Interval, NoRatio, Ratio, geometric_mean_interval, median, paired_ratio};
use crate::suite::{Case, Plan};
use bookend_contract::latency;
use bookend_contract::verdict::{Verdict, verdict};
use hdrhistogram::Histogram;
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
    fn new(ratio: Result<Ratio, NoRatio>) -> Self {
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

/// Latencies of a merged histogram, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Shortest.
    pub min_ns: f64,
    /// What 50 % of the calls did not exceed.
    pub p50_ns: f64,
    /// What 90 % of the calls did not exceed.
    pub p90_ns: f64,
    /// What 95 % of the calls did not exceed.
    pub p95_ns: f64,
    /// What 99 % of the calls did not exceed.
    pub p99_ns: f64,
    /// What 99.9 % of the calls did not exceed.
    pub p99_9_ns: f64,
    /// Longest.
    pub max_ns: f64,
}

impl LatencySummary {
    /// `None` for an empty histogram.
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let at = |percent| histogram.value_at_percentile(percent) as f64;
        Some(Self {
            mean_ns: histogram.mean(),
            min_ns: histogram.min() as f64,
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p95_ns: at(95.0),
            p99_ns: at(99.0),
            p99_9_ns: at(99.9),
            max_ns: histogram.max() as f64,
        })
    }

    fn percentiles(&self) -> Vec<(f64, f64)> {
        vec![
            (50.0, self.p50_ns),
            (90.0, self.p90_ns),
            (95.0, self.p95_ns),
            (99.0, self.p99_ns),
            (99.9, self.p99_9_ns),
        ]
    }
}

/// What follows from the raw figures of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigures {
    /// Answered calls a second.
    pub requests_per_second: f64,
    /// Answered calls per CPU-second of the server; not finite without CPU time.
    pub requests_per_cpu_second: f64,
    /// CPU time of the server over the window, 1.0 = one CPU.
    pub server_cpu: f64,
    /// CPU time of the generator over the window, 1.0 = one CPU.
    pub generator_cpu: f64,
}

impl From<&Measurement> for RoundFigures {
    fn from(round: &Measurement) -> Self {
        let ok = round.ok as f64;
        Self {
            requests_per_second: ok / round.window_seconds,
            requests_per_cpu_second: ok / round.server_cpu_seconds,
            server_cpu: round.server_cpu_seconds / round.window_seconds,
            generator_cpu: round.generator_cpu_seconds / round.window_seconds,
        }
    }
}

impl Summary {
    /// Sums up the rows of one cell. `None` when no round was measured. `all` are the rows of the
    /// run, from which both ends' counts are compared.
    pub(super) fn new(plan: &Plan, case: Case, own: &[&Row], all: &[Row]) -> Option<Self> {
        let rounds: Vec<&Measurement> = own.iter().filter_map(|row| measurement(row)).collect();
        let first = rounds.first()?;
        let figures: Vec<RoundFigures> = rounds.iter().map(|&round| round.into()).collect();
        let each = |of: fn(&RoundFigures) -> f64| figures.iter().map(of).collect::<Vec<f64>>();
        let rates = each(|round| round.requests_per_second);
        let costs = each(|round| round.requests_per_cpu_second);
        let middle = |of: fn(&Measurement) -> f64| {
            median(&rounds.iter().map(|&round| of(round)).collect::<Vec<f64>>()).unwrap_or(0.0)
        };
        let (histogram, mut marks) = merged(own);
        marks.extend(window_marks(own));
        marks.extend(failed_rounds(own));
        marks.extend(audit_marks(plan, case, own));
        marks.extend(count_marks(own, all));
        marks.extend(verdict_marks(plan, &rounds));
        Some(Self {
            requests_per_second: median(&rates).unwrap_or(0.0),
            requests_per_second_interval: geometric_mean_interval(&rates),
            requests_per_cpu_second: median(&costs),
            requests_per_cpu_second_interval: geometric_mean_interval(&costs),
            cost_ratio: RatioOutcome::NotCompared,
            rate_ratio: RatioOutcome::NotCompared,
            server_cpu: median(&each(|round| round.server_cpu)).unwrap_or(0.0),
            server_cpu_max: rounds
                .iter()
                .map(|round| round.server_cpu_max)
                .fold(0.0, f64::max),
            generator_cpu: median(&each(|round| round.generator_cpu)).unwrap_or(0.0),
            generator_busy: generator_busy(&rounds),
            latency: LatencySummary::of(&histogram),
            memory_mean_bytes: middle(|round| round.memory_mean_bytes as f64),
            memory_peak_bytes: rounds.iter().map(|round| round.memory_peak_bytes).max()? as f64,
            memory_source: first.memory_source.clone(),
            threads: rounds.iter().map(|round| round.threads).max()?,
            context_switches_per_second: middle(|round| {
                round.context_switches as f64 / round.window_seconds
            }),
            requests_per_read: median_of_some(&rounds, |round| round.requests_per_read),
            requests_per_write: median_of_some(&rounds, |round| round.requests_per_write),
            ok: rounds.iter().map(|round| round.ok).sum(),
            errors: errors(&rounds),
            verdict: pooled_verdict(plan, &rounds),
            ledger: Ledger::pooled(&rounds),
            marks,
        })
    }

    /// Adds the ratios of `own` against `other`, from the rounds that have both.
    pub(super) fn compare(&mut self, own: &CellId, other: &CellId, rows: &[Row]) {
        let pairs = |of: fn(&RoundFigures) -> f64| -> Vec<(f64, f64)> {
            let both = paired_figures(own, other, rows);
            both.iter().map(|(a, b)| (of(a), of(b))).collect()
        };
        let costs = paired_ratio(&pairs(|round| round.requests_per_cpu_second));
        let rates = paired_ratio(&pairs(|round| round.requests_per_second));
        self.cost_ratio = RatioOutcome::new(costs);
        self.rate_ratio = RatioOutcome::new(rates);
    }
}

/// The figures of two cells in the rounds that measured both, by round.
fn paired_figures(own: &CellId, other: &CellId, rows: &[Row]) -> Vec<(RoundFigures, RoundFigures)> {
    let by_round = |cell: &CellId| -> BTreeMap<u32, RoundFigures> {
        let rows = rows.iter().filter(|row| row.cell == *cell);
        rows.filter_map(|row| Some((row.round, measurement(row)?.into())))
            .collect()
    };
    let others = by_round(other);
    let own = by_round(own).into_iter();
    own.filter_map(|(round, figures)| Some((figures, *others.get(&round)?)))
        .collect()
}

fn measurement(row: &Row) -> Option<&Measurement> {
    match &row.outcome {
        Outcome::Measured(measurement) => Some(measurement),
        _ => None,
    }
}

fn median_of_some(rounds: &[&Measurement], of: fn(&Measurement) -> Option<f64>) -> Option<f64> {
    median(
        &rounds
            .iter()
            .filter_map(|&round| of(round))
            .collect::<Vec<f64>>(),
    )
}

fn errors(rounds: &[&Measurement]) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for (code, count) in rounds.iter().flat_map(|round| &round.errors) {
        *errors.entry(code.clone()).or_default() += count;
    }
    errors
}

/// The histograms of all rounds in one, and a mark for each that cannot be read.
fn merged(rows: &[&Row]) -> (Histogram<u64>, Vec<String>) {
    let mut merged = latency::empty();
    let mut marks = Vec::new();
    for row in rows {
        let Some(measurement) = measurement(row) else {
            continue;
        };
        let reason = match latency::decode(&measurement.latency_histogram) {
            Ok(histogram) => match merged.add(&histogram) {
                Ok(()) => continue,
                Err(_) => "the latency histogram is of another range".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        marks.push(format!("round {}: {reason}", row.round));
    }
    (merged, marks)
}

/// What was noted about single windows, each text once with the rounds that have it.
fn window_marks(rows: &[&Row]) -> Vec<String> {
    let mut rounds_of: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows {
        for mark in measurement(row).map_or(&[][..], |measurement| &measurement.marks) {
            rounds_of
                .entry(mark)
                .or_default()
                .push(row.round.to_string());
        }
    }
    let marks = rounds_of.into_iter();
    marks
        .map(|(mark, rounds)| format!("{mark} (round {})", rounds.join(", ")))
        .collect()
}

fn failed_rounds(rows: &[&Row]) -> Option<String> {
    let failures = rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Failed { error } => Some(error),
        _ => None,
    });
    let failures: Vec<&String> = failures.collect();
    let first = failures.first()?;
    Some(format!(
        "failed in {} of {} rounds: {first}",
        failures.len(),
        rows.len()
    ))
}

/// What the audit finds in each round, a mark a rule with the first evidence.
fn audit_marks(plan: &Plan, case: Case, rows: &[&Row]) -> Vec<String> {
    let mut by_rule: BTreeMap<Rule, (usize, Finding)> = BTreeMap::new();
    let rounds: Vec<&Measurement> = rows.iter().filter_map(|row| measurement(row)).collect();
    for round in &rounds {
        for finding in audit(&audited(plan, case, round)) {
            by_rule.entry(finding.rule).or_insert((0, finding)).0 += 1;
        }
    }
    let mark = |(count, finding): (usize, Finding)| {
        format!("{finding} ({count} of {} rounds)", rounds.len())
    };
    by_rule.into_values().map(mark).collect()
}

fn audited(plan: &Plan, case: Case, round: &Measurement) -> AuditedRow {
    let figures = RoundFigures::from(round);
    let errors: u64 = round.errors.values().sum();
    let histogram = latency::decode(&round.latency_histogram).ok();
    let latency = histogram.as_ref().and_then(LatencySummary::of);
    AuditedRow {
        // Failed calls occupy streams too, for a time that nobody knows.
        concurrency: (errors * 100 <= round.ok).then_some(case.concurrency),
        window_seconds: Some(round.window_seconds),
        requests_per_second: Some(figures.requests_per_second),
        latency_mean_ns: latency.map(|latency| latency.mean_ns),
        latency_min_ns: latency.map(|latency| latency.min_ns),
        latency_max_ns: latency.map(|latency| latency.max_ns),
        percentiles_ns: latency
            .map(|latency| latency.percentiles())
            .unwrap_or_default(),
        // All are read from one histogram: its rounding is common to them.
        latency_resolution_ns: 0.0,
        server_cpu: Some(figures.server_cpu),
        server_cpu_limit: Some(round.server_cpu_limit),
        memory_bytes: Some(round.memory_peak_bytes as f64),
        memory_limit_bytes: plan.server_memory_bytes.map(|bytes| bytes as f64),
    }
}

/// Whether both ends count the same, for each round of the cell's server. A server lives for a
/// whole round and counts the calls of all its cells.
fn count_marks(own: &[&Row], all: &[Row]) -> Vec<String> {
    let differing = own.iter().filter_map(|row| {
        let life = all
            .iter()
            .filter(|other| other.round == row.round && other.cell.subject == row.cell.subject);
        let finding = audit_counts(&end_counts(life)?)?;
        Some(format!("round {}: {finding}", row.round))
    });
    differing.collect()
}

/// `None` when the server did not say, or a cell failed and nobody knows how many calls it made.
fn end_counts<'a>(life: impl Iterator<Item = &'a Row>) -> Option<EndCounts> {
    let mut counts = EndCounts::default();
    let mut served = None;
    for row in life {
        let round = measurement(row)?;
        served = served.max(row.served);
        counts.answered += round.warmup + round.ok + round.drained + row.probe_calls;
        counts.errors += round.errors.values().sum::<u64>();
        counts.unfinished += round.unfinished;
    }
    counts.served = served?;
    Some(counts)
}

/// A verdict on the pooled rounds can hide that they disagree; then the rounds are counted.
fn verdict_marks(plan: &Plan, rounds: &[&Measurement]) -> Option<String> {
    let mut counts: Vec<(Verdict, usize)> = Vec::new();
    for round in rounds {
        let one = pooled_verdict(plan, &[round]);
        match counts.iter_mut().find(|(verdict, _)| *verdict == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    if counts.len() < 2 {
        return None;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"));
    Some(format!(
        "rounds disagree: {}",
        said.collect::<Vec<_>>().join(", ")
    ))
}

fn pooled_verdict(plan: &Plan, rounds: &[&Measurement]) -> Verdict {
    let used: f64 = rounds.iter().map(|round| round.server_cpu_seconds).sum();
    let given = rounds
        .iter()
        .map(|round| round.window_seconds * round.server_cpu_limit);
    verdict(
        used / given.sum::<f64>(),
        generator_busy(rounds),
        plan.handler_waits,
    )
}

/// The share of its time in which the generator did work: as it says itself, else its CPU time
/// over what its threads, or the CPUs that the server leaves, could have given.
fn generator_busy(rounds: &[&Measurement]) -> f64 {
    let worked = rounds.iter().map(|round| {
        round
            .generator_busy_seconds
            .unwrap_or(round.generator_cpu_seconds)
    });
    let had = rounds.iter().map(|round| {
        let machine = &round.machine;
        let idle = machine.idle_seconds + machine.steal_seconds + machine.irq_seconds;
        let busy = machine.user_seconds + machine.system_seconds + machine.softirq_seconds;
        let left = (busy + idle) / round.window_seconds - round.server_cpu_limit;
        let threads = round.generator_threads.map_or(left, f64::from);
        round.window_seconds * threads.max(1.0)
    });
    worked.sum::<f64>() / had.sum::<f64>()
}
