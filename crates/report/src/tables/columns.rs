//! The columns of the tables of a run, each with its field of a cell.

use crate::text_table::{Column, column};
use Field::{Account, Interval95, Metric, MetricAs, Of};
use bookend_results::failed_share::FailedShare;
use bookend_results::metric::{self, MetricDefinition};
use bookend_results::ratio::RatioOutcome;
use bookend_results::statistics::Interval;
use bookend_results::suite::TestedEnd;
use bookend_results::table::{Cell, CpuAccount, Rank, Summary, Table, is_lower_bound};
use bookend_results::text::{
    cpu_text, latency_text, precise_latency_text, rate_text, significant_text,
};

/// Printed where there is no figure.
const NONE: &str = "-";

/// Printed where a figure would depend on the CPU time of an end that spins while it waits.
const SPINS: &str = "spins";

/// A column of cells: its heading, its minimum width, and its field.
pub(super) type CellColumn = (&'static str, usize, Field);

/// The fields of a column.
pub(super) enum Field {
    /// A metric, as its unit is printed.
    Metric(&'static MetricDefinition),
    /// A metric in another style.
    MetricAs(&'static MetricDefinition, fn(f64) -> String),
    /// The interval of a rate or of a ratio.
    Interval95(&'static MetricDefinition),
    /// A part of the machine's CPU account.
    Account(fn(&CpuAccount) -> f64),
    /// Anything else.
    Of(fn(&Table, &Cell, &Summary) -> String),
}

pub(super) static PUBLISHED: [CellColumn; 7] = [
    ("req/s", 6, Of(|_, _, summary| bounded_rate(summary))),
    ("avg. cpu", 8, Metric(&metric::SERVER_CPU_MEAN)),
    ("avg. latency", 12, MetricAs(&metric::LATENCY_MEAN, latency_text)),
    ("90 % in", 9, MetricAs(&metric::LATENCY_P90, latency_text)),
    ("95 % in", 9, MetricAs(&metric::LATENCY_P95, latency_text)),
    ("99 % in", 9, MetricAs(&metric::LATENCY_P99, latency_text)),
    ("avg. memory", 12, Metric(&metric::MEMORY_MEAN)),
];

/// What a first look needs, the most important figures first.
pub(super) static BRIEF: [CellColumn; 6] = [
    ("CPU/call", 8, Of(|_, _, summary| cpu_per_call(summary))),
    (RATIO, 5, Of(|_, cell, summary| over_baseline(cell, summary))),
    ("req/s", 6, Of(|_, _, summary| bounded_rate(summary))),
    ("CPU", 6, Of(|_, _, summary| tested_cpu(summary))),
    ("p99", 7, MetricAs(&metric::LATENCY_P99, latency_text)),
    (FAILED_CALLS, 6, Of(|_, _, summary| failed(summary))),
];

/// Headings of [`BRIEF`].
pub(super) const RATIO: &str = "ratio";
pub(super) const FAILED_CALLS: &str = "failed";

/// Stands behind the others where a call of the table failed: a column of zeros tells nothing.
static FAILED: CellColumn = (FAILED_CALLS, 6, Of(|_, _, summary| failed(summary)));

/// The columns of a table, and that of failed calls where some failed and it is not among them.
pub(super) fn shown<'c>(
    table: &Table,
    columns: &'c [CellColumn],
) -> impl Iterator<Item = &'c CellColumn> {
    let has_one = columns.iter().any(|(heading, ..)| *heading == FAILED.0);
    columns.iter().chain((table.has_failed_calls() && !has_one).then_some(&FAILED))
}

pub(super) static COST: [CellColumn; 10] = [
    ("req/CPU-s", 9, Metric(&metric::REQUESTS_PER_CPU_SECOND)),
    ("95 % interval", 15, Interval95(&metric::REQUESTS_PER_CPU_SECOND)),
    ("ratio ^", 7, Metric(&metric::COST_RATIO)),
    ("95 % interval", 14, Interval95(&metric::COST_RATIO)),
    ("max. cpu", 8, Of(|_, _, summary| server_cpu_max(summary))),
    ("generator", 9, Of(|_, _, summary| generator_cpu(summary))),
    ("machine", 8, Metric(&metric::MACHINE_BUSY_CPUS)),
    ("req/read", 8, MetricAs(&metric::REQUESTS_PER_READ, significant_text)),
    ("skips", 5, Of(|table, cell, _| skipped(table, cell))),
    ("verdict", 12, Of(|_, _, summary| summary.verdict.to_string())),
];

pub(super) static RESOURCES: [CellColumn; 10] = [
    ("mean", 8, Metric(&metric::LATENCY_MEAN)),
    ("p50", 8, Metric(&metric::LATENCY_P50)),
    ("p90", 8, Metric(&metric::LATENCY_P90)),
    ("p95", 8, Metric(&metric::LATENCY_P95)),
    ("p99", 8, Metric(&metric::LATENCY_P99)),
    ("p99.9", 8, Metric(&metric::LATENCY_P99_9)),
    ("mean memory", 11, Metric(&metric::MEMORY_MEAN)),
    ("peak memory", 11, Metric(&metric::MEMORY_PEAK)),
    ("threads", 7, Metric(&metric::THREADS)),
    ("switches/s", 10, Metric(&metric::CONTEXT_SWITCHES_PER_SECOND)),
];

pub(super) static CPU_ACCOUNT: [CellColumn; 9] = [
    ("server", 8, Account(|account| account.server)),
    ("generator", 9, Account(|account| account.generator)),
    ("unattributed", 12, Account(|account| account.unattributed)),
    ("user", 8, Account(|account| account.user)),
    ("system", 8, Account(|account| account.system)),
    ("softirq", 8, Account(|account| account.softirq)),
    ("irq", 6, Account(|account| account.irq)),
    ("steal", 6, Account(|account| account.steal)),
    ("idle", 8, Account(|account| account.idle)),
];

pub(super) static INSTRUMENTS: [CellColumn; 5] = [
    ("req/instrument-CPU-s", 20, Metric(&metric::REQUESTS_PER_CLIENT_CPU_SECOND)),
    ("95 % interval", 15, Interval95(&metric::REQUESTS_PER_CLIENT_CPU_SECOND)),
    ("ratio i", 7, Metric(&metric::INSTRUMENT_COST_RATIO)),
    ("95 % interval", 14, Interval95(&metric::INSTRUMENT_COST_RATIO)),
    ("busy", 8, MetricAs(&metric::GENERATOR_BUSY_SHARE, cpu_text)),
];

/// The layout of a table whose first column has the names of its rows.
pub(super) fn named(table: &Table, columns: &[CellColumn]) -> Vec<Column> {
    let own = shown(table, columns).map(|(title, width, _)| column(*title, *width));
    std::iter::once(column("name", 18)).chain(own).collect()
}

/// The fields of a cell below those columns, after its name.
pub(super) fn fields(
    name: String,
    columns: &[CellColumn],
    table: &Table,
    cell: (&Cell, &Summary),
) -> Vec<String> {
    let own = shown(table, columns).map(|(.., field)| field.text(table, cell.0, cell.1));
    std::iter::once(name).chain(own).collect()
}

impl Field {
    /// The field of a cell.
    pub(super) fn text(&self, table: &Table, cell: &Cell, summary: &Summary) -> String {
        match self {
            Metric(metric) => match metric.ratio(&summary.ratios) {
                Some(ratio) => ratio.to_string(),
                None => figure(summary, metric, |value| metric.unit.text(value)),
            },
            MetricAs(metric, text) => figure(summary, metric, text),
            Interval95(metric) => match metric.ratio(&summary.ratios) {
                Some(ratio) => ratio_interval(ratio),
                None => interval_text(summary.interval(metric), rate_text),
            },
            Account(part) => {
                or_none(summary.cpu_account.as_ref().map(|account| cpu_text(part(account))))
            }
            Of(text) => text(table, cell, summary),
        }
    }
}

/// The rate is a lower bound where the other end was the limit.
pub(super) fn bounded_rate(summary: &Summary) -> String {
    let rate = figure(summary, &metric::REQUESTS_PER_SECOND, rate_text);
    if is_lower_bound(summary) { format!(">= {rate}") } else { rate }
}

/// The share of calls that failed; `0` says that none did.
fn failed(summary: &Summary) -> String {
    match summary.value(&metric::ERROR_SHARE) {
        Some(_) => FailedShare::field(summary.failed_share()),
        None => NONE.to_owned(),
    }
}

/// CPU time of a call at the end under test.
fn cpu_per_call(summary: &Summary) -> String {
    unless(spins(summary), figure(summary, &metric::CPU_PER_CALL, precise_latency_text))
}

/// The ratio to the baseline, which is 1 for the baseline itself.
fn over_baseline(cell: &Cell, summary: &Summary) -> String {
    match cell.rank {
        Rank::Baseline => "1".to_owned(),
        Rank::Ranked | Rank::Calibration => summary.ratios.cost_ratio.to_string(),
    }
}

/// What the end under test used of the CPUs.
fn tested_cpu(summary: &Summary) -> String {
    let metric = match summary.side {
        TestedEnd::Server => &metric::SERVER_CPU_MEAN,
        TestedEnd::Client => &metric::CLIENT_CPU_MEAN,
    };
    unless(spins(summary), figure(summary, metric, cpu_text))
}

fn spins(summary: &Summary) -> bool {
    match summary.side {
        TestedEnd::Server => summary.spinning.server,
        TestedEnd::Client => summary.spinning.generator,
    }
}

fn server_cpu_max(summary: &Summary) -> String {
    unless(summary.spinning.server, figure(summary, &metric::SERVER_CPU_MAX, cpu_text))
}

fn generator_cpu(summary: &Summary) -> String {
    unless(summary.spinning.generator, figure(summary, &metric::GENERATOR_CPU_MEAN, cpu_text))
}

/// The CPU time of an end that spins is not a useful figure.
fn unless(spins: bool, figure: String) -> String {
    if spins { SPINS.to_owned() } else { figure }
}

/// How many of the checks a server fails; the lines below the table name them.
fn skipped(table: &Table, cell: &Cell) -> String {
    let skips = table.skips.get(&cell.id.subject);
    or_none(skips.map(|skips| skips.len().to_string()))
}

/// A metric of a cell as text, or the placeholder without a figure.
pub(super) fn figure(
    summary: &Summary,
    metric: &MetricDefinition,
    text: impl Fn(f64) -> String,
) -> String {
    or_none(summary.text(metric, text))
}

pub(super) fn ratio_interval(outcome: &RatioOutcome) -> String {
    interval_text(outcome.ratio().and_then(|ratio| ratio.interval), significant_text)
}

fn interval_text(interval: Option<Interval>, text: fn(f64) -> String) -> String {
    or_none(interval.map(|ends| ends.text(text)))
}

fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NONE.to_owned())
}
