//! The tables of a run, each in the look of the published one.

use super::figures::{
    cpu_text, latency_text, memory_text, precise_latency_text, rate_text, significant_text,
};
use super::layout::{Layout, column, one_line};
use super::{Cell, CellResult, RatioOutcome, Standing, Summary, Table};
use crate::statistics::{Interval, Ratio};
use crate::suite::{Case, Side};
use bookend_contract::verdict::Verdict;

/// What stands where there is no figure.
const NONE: &str = "-";

/// What stands where a figure would be one of who spins while it waits.
const SPINS: &str = "spins";

/// The table in the published shape, and calibration lines under it.
pub fn published_table(table: &Table) -> String {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("req/s", 6),
        column("avg. cpu", 8),
        column("avg. latency", 12),
        column("90 % in", 9),
        column("95 % in", 9),
        column("99 % in", 9),
        column("avg. memory", 12),
    ]);
    fill(&mut layout, table, &|_, summary| published_fields(summary));
    format!("{layout}{}", calibration_lines(table))
}

/// What a request costs: the headline, how sure it is, and why.
pub fn cost_table(table: &Table) -> String {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("req/CPU-s", 9),
        column("95 % interval", 15),
        column("ratio ^", 7),
        column("95 % interval", 14),
        column("max. cpu", 8),
        column("generator", 9),
        column("machine", 8),
        column("req/read", 8),
        column("skips", 5),
        column("verdict", 12),
    ]);
    fill(&mut layout, table, &|cell, summary| {
        cost_fields(summary, skipped(table, cell))
    });
    layout.to_string()
}

/// What stands behind the column of skips, a line a subject.
pub fn skipped_lines(table: &Table) -> Vec<String> {
    let skipping = table.skips.iter().filter(|(_, skips)| !skips.is_empty());
    let lines = skipping.map(|(subject, skips)| format!("{subject} skips {}", skips.join(", ")));
    lines.collect()
}

/// Latency with its tail, memory, threads.
pub fn resource_table(table: &Table) -> String {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("mean", 8),
        column("p50", 8),
        column("p90", 8),
        column("p95", 8),
        column("p99", 8),
        column("p99.9", 8),
        column("mean memory", 11),
        column("peak memory", 11),
        column("threads", 7),
        column("switches/s", 10),
    ]);
    fill(&mut layout, table, &|_, summary| resource_fields(summary));
    layout.to_string()
}

/// Where the machine's CPU went, in percent of one CPU.
pub fn ledger_table(table: &Table) -> String {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("server", 8),
        column("generator", 9),
        column("unattributed", 12),
        column("user", 8),
        column("system", 8),
        column("softirq", 8),
        column("irq", 6),
        column("steal", 6),
        column("idle", 8),
    ]);
    fill(&mut layout, table, &|_, summary| ledger_fields(summary));
    layout.to_string()
}

/// Every doubt and every reason, a line each: `C=1 S=100 rust-tonic: ...`.
pub fn marks(table: &Table) -> Vec<String> {
    let mut places_of: Vec<(String, Vec<String>)> = Vec::new();
    for cell in &table.cells {
        let place = format!("{} {}", cell.case, table.row_name(cell));
        let marks = match &cell.result {
            CellResult::NotMeasured { why, reason } => vec![format!("{why}: {reason}")],
            CellResult::Measured(summary) => summary_marks(cell, summary).collect(),
        };
        for mark in marks {
            match places_of.iter_mut().find(|(known, _)| *known == mark) {
                Some((_, places)) => places.push(place.clone()),
                None => places_of.push((mark, vec![place.clone()])),
            }
        }
    }
    let lines = places_of
        .iter()
        .map(|(mark, places)| format!("{}: {mark}", places.join(", ")));
    lines.map(|line| one_line(&line)).collect()
}

fn summary_marks(cell: &Cell, summary: &Summary) -> impl Iterator<Item = String> {
    let errors = summary.errors.iter().filter(|(_, count)| **count > 0);
    let errors = errors.map(|(code, count)| format!("{count} calls ended with {code}"));
    let rounds = cell.rounds;
    let fewer = (rounds.measured < rounds.planned)
        .then(|| format!("{} of {} rounds measured", rounds.measured, rounds.planned));
    let memory = (summary.memory_source != "cgroup")
        .then(|| format!("memory is from {}", summary.memory_source));
    let marks = summary.marks.clone();
    errors
        .collect::<Vec<_>>()
        .into_iter()
        .chain(fewer)
        .chain(memory)
        .chain(marks)
}

/// Who spins while it waits, a line each: their CPU time says nothing.
pub fn spinning_lines(table: &Table) -> Vec<String> {
    let mut names: Vec<&String> = Vec::new();
    for cell in &table.cells {
        let spinning = cell
            .summary()
            .map(|summary| (summary.side, summary.spinning));
        let Some((side, spinning)) = spinning else {
            continue;
        };
        let (server, caller) = match side {
            Side::Server => (&cell.id.subject, &cell.id.instrument),
            Side::Client => (&cell.id.instrument, &cell.id.subject),
        };
        let ends = [(spinning.server, server), (spinning.generator, caller)];
        for (_, name) in ends.into_iter().filter(|(spins, _)| *spins) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let line = |name: &&String| {
        format!(
            "{name} spins while it waits: its CPU time says nothing, and its rows are not compared \
             with those of one that sleeps"
        )
    };
    names.iter().map(line).collect()
}

type Fields<'a> = &'a dyn Fn(&Cell, &Summary) -> Vec<String>;

fn fill(layout: &mut Layout, table: &Table, fields: Fields<'_>) {
    let mut connections = None;
    for case in table.cases() {
        if connections != Some(case.connections) {
            layout.heading(format!("--C={}:", case.connections));
            connections = Some(case.connections);
        }
        let second = headline_ratio(table, case).map(|ratio| format!("^{}", one_ratio(ratio)));
        let first = format!("----{}", table.streams(case));
        match second {
            Some(second) => layout.heading_pair(&first, &second),
            None => layout.heading(first),
        }
        let ranked = |cell: &&Cell| cell.standing != Standing::Calibration;
        for cell in table.of_case(case).filter(ranked) {
            let name = table.row_name(cell);
            match &cell.result {
                CellResult::Measured(summary) => {
                    layout.fields([vec![name], fields(cell, summary)].concat());
                }
                CellResult::NotMeasured { why, reason } => {
                    layout.across(name, format!("{why}: {reason}"));
                }
            }
        }
    }
}

/// The ratio in a heading: the first subject that is not the baseline, against it.
fn headline_ratio(table: &Table, case: Case) -> Option<&Ratio> {
    let ranked = |cell: &&Cell| cell.standing == Standing::Ranked;
    let first = table.of_case(case).find(ranked)?;
    first.summary()?.cost_ratio.ratio()
}

/// One decimal as published, `~` before what cannot be told from 1.
fn one_ratio(ratio: &Ratio) -> String {
    let sign = if ratio.is_indistinct() { "~" } else { "" };
    format!("{sign}{:.1}", ratio.median)
}

fn published_fields(summary: &Summary) -> Vec<String> {
    let time = |of: fn(&super::LatencySummary) -> f64| {
        let latencies = summary.latency.as_ref();
        latencies.map_or_else(|| NONE.to_owned(), |latencies| latency_text(of(latencies)))
    };
    vec![
        bounded_rate(summary),
        cpu_text(summary.server_cpu),
        time(|latencies| latencies.mean_ns),
        time(|latencies| latencies.p90_ns),
        time(|latencies| latencies.p95_ns),
        time(|latencies| latencies.p99_ns),
        memory_text(summary.memory_mean_bytes),
    ]
}

/// Where the other end was the limit, the one under test could have done more.
fn bounded_rate(summary: &Summary) -> String {
    let rate = rate_text(summary.requests_per_second);
    match (summary.side, summary.verdict) {
        (Side::Server, Verdict::ClientBound) | (Side::Client, Verdict::ServerBound) => {
            format!(">= {rate}")
        }
        _ => rate,
    }
}

/// How many of the checks a server fails; which, the lines under the table say.
fn skipped(table: &Table, cell: &Cell) -> String {
    let skips = table.skips.get(&cell.id.subject);
    or_none(skips.map(|skips| skips.len().to_string()))
}

fn cost_fields(summary: &Summary, skipped: String) -> Vec<String> {
    let machine = summary.ledger.map(|ledger| cpu_text(ledger.busy));
    vec![
        or_none(summary.requests_per_cpu_second.map(rate_text)),
        interval(summary.requests_per_cpu_second_interval, rate_text),
        ratio(&summary.cost_ratio),
        interval(ratio_interval(&summary.cost_ratio), significant_text),
        unless(summary.spinning.server, cpu_text(summary.server_cpu_max)),
        unless(summary.spinning.generator, cpu_text(summary.generator_cpu)),
        or_none(machine),
        or_none(summary.requests_per_read.map(significant_text)),
        skipped,
        summary.verdict.to_string(),
    ]
}

/// CPU time of who spins is a figure of no use.
fn unless(spins: bool, figure: String) -> String {
    match spins {
        true => SPINS.to_owned(),
        false => figure,
    }
}

pub(super) fn ratio(outcome: &RatioOutcome) -> String {
    match outcome {
        RatioOutcome::NotCompared => NONE.to_owned(),
        RatioOutcome::Impossible => "no ratio".to_owned(),
        RatioOutcome::Spinning => SPINS.to_owned(),
        RatioOutcome::Of(ratio) if ratio.is_indistinct() => {
            format!("~{}", significant_text(ratio.median))
        }
        RatioOutcome::Of(ratio) => significant_text(ratio.median),
    }
}

pub(super) fn ratio_interval(outcome: &RatioOutcome) -> Option<Interval> {
    outcome.ratio()?.interval
}

pub(super) fn interval(interval: Option<Interval>, figure: fn(f64) -> String) -> String {
    or_none(interval.map(|ends| format!("{} - {}", figure(ends.low), figure(ends.high))))
}

fn resource_fields(summary: &Summary) -> Vec<String> {
    let time = |of: fn(&super::LatencySummary) -> f64| {
        or_none(
            summary
                .latency
                .as_ref()
                .map(|latencies| precise_latency_text(of(latencies))),
        )
    };
    vec![
        time(|latencies| latencies.mean_ns),
        time(|latencies| latencies.p50_ns),
        time(|latencies| latencies.p90_ns),
        time(|latencies| latencies.p95_ns),
        time(|latencies| latencies.p99_ns),
        time(|latencies| latencies.p99_9_ns),
        memory_text(summary.memory_mean_bytes),
        memory_text(summary.memory_peak_bytes),
        summary.threads.to_string(),
        rate_text(summary.context_switches_per_second),
    ]
}

fn ledger_fields(summary: &Summary) -> Vec<String> {
    let Some(ledger) = &summary.ledger else {
        return vec![NONE.to_owned(); 9];
    };
    vec![
        cpu_text(ledger.server),
        cpu_text(ledger.generator),
        cpu_text(ledger.unattributed),
        cpu_text(ledger.user),
        cpu_text(ledger.system),
        cpu_text(ledger.softirq),
        cpu_text(ledger.irq),
        cpu_text(ledger.steal),
        cpu_text(ledger.idle),
    ]
}

/// The floor: what bare sockets do on this machine, no subject of comparison.
fn calibration_lines(table: &Table) -> String {
    let calibration = |cell: &&Cell| cell.standing == Standing::Calibration;
    let mut text = String::new();
    for cell in table.cells.iter().filter(calibration) {
        let figures = match &cell.result {
            CellResult::Measured(summary) => calibration_figures(summary),
            CellResult::NotMeasured { why, reason } => one_line(&format!("{why}: {reason}")),
        };
        let name = table.row_name(cell);
        text.push_str(&format!(
            "calibration, not ranked: {name}, {}: {figures}\n",
            cell.case
        ));
    }
    text
}

fn calibration_figures(summary: &Summary) -> String {
    format!(
        "{} req/s, {} req/CPU-s, {}",
        bounded_rate(summary),
        or_none(summary.requests_per_cpu_second.map(rate_text)),
        summary.verdict
    )
}

pub(super) fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NONE.to_owned())
}
