//! One line for each cell, in base units, for spreadsheets and scripts.

use super::report::Report;
use bookend_results::csv;
use bookend_results::metric::{ALL, CONCURRENCY, CONNECTIONS, MetricDefinition};
use bookend_results::table::{Cell, CellResult, Summary};

/// A column before the metrics: its heading, and its field of a cell.
type KeyColumn = (&'static str, fn(&Report<'_>, &Cell) -> String);

const KEYS: [KeyColumn; 16] = [
    ("run", |report, _| report.run.id.to_string()),
    ("suite", |report, _| report.run.new.plan.suite.clone()),
    ("connections", |_, cell| cell.case.connections.to_string()),
    ("concurrency", |_, cell| cell.case.concurrency.to_string()),
    ("connection_per_call", |_, cell| connection_per_call(cell)),
    ("calls", |_, cell| calls(cell).unwrap_or_default()),
    ("transport", |_, cell| cell.case.transport.to_string()),
    ("subject", |_, cell| cell.id.subject.clone()),
    ("instrument", |_, cell| cell.id.instrument.clone()),
    ("rank", |_, cell| cell.rank.to_string()),
    ("rounds_planned", |_, cell| cell.rounds.planned.to_string()),
    ("rounds_measured", |_, cell| cell.rounds.measured.to_string()),
    ("result", |_, cell| result(cell)),
    ("verdict", |_, cell| verdict(cell).unwrap_or_default()),
    ("spinning", |_, cell| spinning(cell)),
    ("cut_off", |_, cell| cut_off(cell)),
];

/// The column after the metrics: the number of marks.
const MARKS: &str = "marks";

impl Report<'_> {
    /// A heading, then one line for each cell, with figures in base units (RFC 4180).
    pub fn csv(&self) -> String {
        let keys = KEYS.iter().map(|(name, _)| (*name).to_owned());
        let names = metrics().flat_map(|metric| figures(metric, None)).map(|(name, _)| name);
        let heading = csv::line(keys.chain(names).chain([MARKS.to_owned()]));
        let lines = self.table.cells.iter().map(|cell| self.csv_line(cell));
        std::iter::once(heading).chain(lines).map(|line| format!("{line}\r\n")).collect()
    }

    fn csv_line(&self, cell: &Cell) -> String {
        let summary = cell.summary();
        let keys = KEYS.iter().map(|(_, field)| field(self, cell));
        let figures = metrics().flat_map(|metric| figures(metric, summary));
        let marks = number(summary.map(|summary| summary.marks.len() as f64));
        csv::line(keys.chain(figures.map(|(_, figure)| figure)).chain([marks]))
    }
}

fn connection_per_call(cell: &Cell) -> String {
    u8::from(cell.case.connection_per_call).to_string()
}

fn calls(cell: &Cell) -> Option<String> {
    Some(cell.case.calls?.to_string())
}

fn result(cell: &Cell) -> String {
    match &cell.result {
        CellResult::Measured(_) => "measured".to_owned(),
        CellResult::NotMeasured { why, reason } => format!("{why}: {reason}"),
    }
}

fn verdict(cell: &Cell) -> Option<String> {
    Some(cell.summary()?.verdict.to_string())
}

/// The ends that spin, `server` and `generator`; empty where both sleep.
fn spinning(cell: &Cell) -> String {
    let spinning = cell.summary().map(|summary| summary.spinning).unwrap_or_default();
    [(spinning.server, "server"), (spinning.generator, "generator")]
        .iter()
        .filter_map(|(spins, name)| spins.then_some(*name))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The latencies that are lower bounds, by name.
fn cut_off(cell: &Cell) -> String {
    cell.summary()
        .into_iter()
        .flat_map(|summary| &summary.figures)
        .filter_map(|(name, figure)| figure.is_cut_off.then_some(*name))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The catalogue without the metrics that are among the keys.
fn metrics() -> impl Iterator<Item = &'static MetricDefinition> {
    let keys = [&CONNECTIONS, &CONCURRENCY];
    ALL.iter().copied().filter(move |metric| !keys.contains(metric))
}

/// The columns of a metric and its figures: a rate or a ratio is followed by its interval.
fn figures(metric: &MetricDefinition, summary: Option<&Summary>) -> Vec<(String, String)> {
    let name = metric.column();
    let ratio = summary.and_then(|summary| metric.ratio(&summary.ratios)?.ratio());
    let value = summary.and_then(|summary| summary.value(metric));
    let mut figures = vec![(name.clone(), number(value.or(ratio.map(|ratio| ratio.median))))];
    if metric.has_interval() || metric.is_ratio() {
        let interval = summary
            .and_then(|summary| summary.interval(metric))
            .or(ratio.and_then(|ratio| ratio.interval));
        figures.push((format!("{name}_low"), number(interval.map(|ends| ends.low))));
        figures.push((format!("{name}_high"), number(interval.map(|ends| ends.high))));
    }
    figures
}

/// Writes an empty field where there is no figure.
fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}
