//! One line a cell, in base units, for spreadsheets and scripts.

use super::Report;
use crate::table::{Cell, CellResult, LatencySummary, RatioOutcome, Standing, Summary};

type Field = (&'static str, fn(&Summary) -> Option<f64>);

/// The figures of a measured cell, by column.
const FIGURES: [Field; 53] = [
    ("requests_per_second", |s| Some(s.requests_per_second)),
    ("requests_per_second_low", |s| {
        Some(s.requests_per_second_interval?.low)
    }),
    ("requests_per_second_high", |s| {
        Some(s.requests_per_second_interval?.high)
    }),
    ("requests_per_cpu_second", |s| s.requests_per_cpu_second),
    ("requests_per_cpu_second_low", |s| {
        Some(s.requests_per_cpu_second_interval?.low)
    }),
    ("requests_per_cpu_second_high", |s| {
        Some(s.requests_per_cpu_second_interval?.high)
    }),
    ("cost_ratio", |s| median(&s.cost_ratio)),
    ("cost_ratio_low", |s| low(&s.cost_ratio)),
    ("cost_ratio_high", |s| high(&s.cost_ratio)),
    ("rate_ratio", |s| median(&s.rate_ratio)),
    ("rate_ratio_low", |s| low(&s.rate_ratio)),
    ("rate_ratio_high", |s| high(&s.rate_ratio)),
    ("over_h2c_cost_ratio", |s| median(&s.over_h2c.cost)),
    ("over_h2c_cost_ratio_low", |s| low(&s.over_h2c.cost)),
    ("over_h2c_cost_ratio_high", |s| high(&s.over_h2c.cost)),
    ("over_h2c_rate_ratio", |s| median(&s.over_h2c.rate)),
    ("over_h2c_rate_ratio_low", |s| low(&s.over_h2c.rate)),
    ("over_h2c_rate_ratio_high", |s| high(&s.over_h2c.rate)),
    ("over_lasting_cost_ratio", |s| median(&s.over_lasting.cost)),
    ("over_lasting_cost_ratio_low", |s| low(&s.over_lasting.cost)),
    ("over_lasting_cost_ratio_high", |s| {
        high(&s.over_lasting.cost)
    }),
    ("over_lasting_rate_ratio", |s| median(&s.over_lasting.rate)),
    ("over_lasting_rate_ratio_low", |s| low(&s.over_lasting.rate)),
    ("over_lasting_rate_ratio_high", |s| {
        high(&s.over_lasting.rate)
    }),
    ("server_cpu_share", |s| Some(s.server_cpu)),
    ("server_cpu_share_max", |s| Some(s.server_cpu_max)),
    ("generator_cpu_share", |s| Some(s.generator_cpu)),
    ("requests_per_instrument_cpu_second", |s| {
        s.instrument_cost.requests_per_cpu_second
    }),
    ("instrument_cost_ratio", |s| {
        median(&s.instrument_cost.ratio)
    }),
    ("instrument_cost_ratio_low", |s| {
        low(&s.instrument_cost.ratio)
    }),
    ("instrument_cost_ratio_high", |s| {
        high(&s.instrument_cost.ratio)
    }),
    ("generator_busy_share", |s| Some(s.generator_busy)),
    ("machine_busy_cpus", |s| Some(s.ledger?.busy)),
    ("machine_softirq_cpus", |s| Some(s.ledger?.softirq)),
    ("machine_steal_cpus", |s| Some(s.ledger?.steal)),
    ("machine_unattributed_cpus", |s| {
        Some(s.ledger?.unattributed)
    }),
    ("latency_mean_ns", |s| time(s, |l| l.mean_ns)),
    ("latency_min_ns", |s| time(s, |l| l.min_ns)),
    ("latency_p50_ns", |s| time(s, |l| l.p50_ns)),
    ("latency_p90_ns", |s| time(s, |l| l.p90_ns)),
    ("latency_p95_ns", |s| time(s, |l| l.p95_ns)),
    ("latency_p99_ns", |s| time(s, |l| l.p99_ns)),
    ("latency_p99_9_ns", |s| time(s, |l| l.p99_9_ns)),
    ("latency_max_ns", |s| time(s, |l| l.max_ns)),
    ("memory_mean_bytes", |s| Some(s.memory_mean_bytes)),
    ("memory_peak_bytes", |s| Some(s.memory_peak_bytes)),
    ("threads", |s| Some(f64::from(s.threads))),
    ("context_switches_per_second", |s| {
        Some(s.context_switches_per_second)
    }),
    ("requests_per_read", |s| s.requests_per_read),
    ("requests_per_write", |s| s.requests_per_write),
    ("ok", |s| Some(s.ok as f64)),
    ("errors", |s| Some(s.errors.values().sum::<u64>() as f64)),
    ("marks", |s| Some(s.marks.len() as f64)),
];

pub(super) fn sheet(report: &Report<'_>) -> String {
    let mut heading = vec![
        "run",
        "suite",
        "connections",
        "concurrency",
        "connection_per_call",
        "calls",
        "transport",
        "subject",
        "instrument",
        "standing",
        "rounds_planned",
        "rounds_measured",
        "result",
        "verdict",
        "spinning",
    ];
    heading.extend(FIGURES.iter().map(|(name, _)| *name));
    let mut sheet = format!("{}\r\n", heading.join(","));
    for cell in &report.table.cells {
        let fields: Vec<String> = line(report, cell)
            .iter()
            .map(|field| quoted(field))
            .collect();
        sheet.push_str(&format!("{}\r\n", fields.join(",")));
    }
    sheet
}

fn line(report: &Report<'_>, cell: &Cell) -> Vec<String> {
    let standing = match cell.standing {
        Standing::Ranked => "ranked",
        Standing::Baseline => "baseline",
        Standing::Calibration => "calibration",
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
        cell.case
            .calls
            .map_or_else(String::new, |calls| calls.to_string()),
        cell.case.transport.to_string(),
        cell.id.subject.clone(),
        cell.id.instrument.clone(),
        standing.to_owned(),
        cell.rounds.planned.to_string(),
        cell.rounds.measured.to_string(),
        result,
        verdict,
        spinning(cell),
    ];
    fields.extend(
        FIGURES
            .iter()
            .map(|(_, of)| number(cell.summary().and_then(of))),
    );
    fields
}

/// The ends that spin, `server` and `generator`; empty where both sleep.
fn spinning(cell: &Cell) -> String {
    let spinning = cell.summary().map(|summary| summary.spinning);
    let spinning = spinning.unwrap_or_default();
    let ends = [
        (spinning.server, "server"),
        (spinning.generator, "generator"),
    ];
    let names = ends.iter().filter(|(spins, _)| *spins);
    names.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// An empty field where there is no figure.
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

fn median(outcome: &RatioOutcome) -> Option<f64> {
    Some(outcome.ratio()?.median)
}

fn low(outcome: &RatioOutcome) -> Option<f64> {
    Some(outcome.ratio()?.interval?.low)
}

fn high(outcome: &RatioOutcome) -> Option<f64> {
    Some(outcome.ratio()?.interval?.high)
}

fn time(summary: &Summary, of: fn(&LatencySummary) -> f64) -> Option<f64> {
    summary.latency.as_ref().map(of)
}
