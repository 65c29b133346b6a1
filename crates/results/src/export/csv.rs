//! One line for each cell, in base units, for spreadsheets and scripts.

use super::report::Report;
use crate::metric::{ALL, CONCURRENCY, CONNECTIONS, MetricDefinition, Pooling};
use crate::statistics::Interval;
use crate::table::{Cell, CellResult, Rank, Summary};

/// The columns before the metrics.
const KEYS: [&str; 15] = [
    "run",
    "suite",
    "connections",
    "concurrency",
    "connection_per_call",
    "calls",
    "transport",
    "subject",
    "instrument",
    "rank",
    "rounds_planned",
    "rounds_measured",
    "result",
    "verdict",
    "spinning",
];

/// The column after the metrics: the number of marks.
const MARKS: &str = "marks";

impl Report<'_> {
    /// A heading, then one line for each cell, with figures in base units (RFC 4180).
    pub fn csv(&self) -> String {
        sheet(self)
    }
}

fn sheet(report: &Report<'_>) -> String {
    let mut heading: Vec<String> = KEYS.map(str::to_owned).to_vec();
    heading.extend(metrics().flat_map(columns));
    heading.push(MARKS.to_owned());
    let mut sheet = format!("{}\r\n", heading.join(","));
    for cell in &report.table.cells {
        let fields: Vec<String> = line(report, cell).iter().map(|field| quoted(field)).collect();
        sheet.push_str(&format!("{}\r\n", fields.join(",")));
    }
    sheet
}

fn line(report: &Report<'_>, cell: &Cell) -> Vec<String> {
    let rank = match cell.rank {
        Rank::Ranked => "ranked",
        Rank::Baseline => "baseline",
        Rank::Calibration => "calibration",
    };
    let (result, verdict) = match &cell.result {
        CellResult::Measured(summary) => ("measured".to_owned(), summary.verdict.to_string()),
        CellResult::NotMeasured { why, reason } => (format!("{why}: {reason}"), String::new()),
    };
    let mut fields = vec![
        report.run.id.to_string(),
        report.run.new.plan.suite.clone(),
        cell.case.connections.to_string(),
        cell.case.concurrency.to_string(),
        u8::from(cell.case.connection_per_call).to_string(),
        cell.case.calls.map_or_else(String::new, |calls| calls.to_string()),
        cell.case.transport.to_string(),
        cell.id.subject.clone(),
        cell.id.instrument.clone(),
        rank.to_owned(),
        cell.rounds.planned.to_string(),
        cell.rounds.measured.to_string(),
        result,
        verdict,
        spinning(cell),
    ];
    let summary = cell.summary();
    fields.extend(metrics().flat_map(|metric| figures(metric, summary)));
    fields.push(number(summary.map(|summary| summary.marks.len() as f64)));
    fields
}

/// The catalogue without the metrics that are among the keys.
fn metrics() -> impl Iterator<Item = &'static MetricDefinition> {
    let keys = [&CONNECTIONS, &CONCURRENCY];
    ALL.iter().copied().filter(move |metric| !keys.contains(metric))
}

/// The columns of a metric: a rate or a ratio is followed by its interval.
fn columns(metric: &MetricDefinition) -> Vec<String> {
    let name = metric.column();
    if has_interval(metric) {
        let (low, high) = (format!("{name}_low"), format!("{name}_high"));
        vec![name, low, high]
    } else {
        vec![name]
    }
}

fn figures(metric: &MetricDefinition, summary: Option<&Summary>) -> Vec<String> {
    let ratio = summary.and_then(|summary| metric.ratio(&summary.ratios)?.ratio());
    let value = summary.and_then(|summary| summary.value(metric));
    let mut fields = vec![number(value.or(ratio.map(|ratio| ratio.median)))];
    if has_interval(metric) {
        let interval = summary.and_then(|summary| summary.interval(metric));
        let interval = interval.or(ratio.and_then(|ratio| ratio.interval));
        let end = |of: fn(Interval) -> f64| number(interval.map(of));
        fields.extend([end(|ends| ends.low), end(|ends| ends.high)]);
    }
    fields
}

fn has_interval(metric: &MetricDefinition) -> bool {
    metric.has_interval() || metric.pooling() == Pooling::Paired
}

/// The ends that spin, `server` and `generator`; empty where both sleep.
fn spinning(cell: &Cell) -> String {
    let spinning = cell.summary().map(|summary| summary.spinning);
    let spinning = spinning.unwrap_or_default();
    let ends = [(spinning.server, "server"), (spinning.generator, "generator")];
    let names = ends.iter().filter(|(spins, _)| *spins);
    names.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// Writes an empty field where there is no figure.
fn number(value: Option<f64>) -> String {
    let value = value.filter(|value| value.is_finite());
    value.map_or_else(String::new, |value| value.to_string())
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
