//! The tables of a run, each in the style of the published one.

use super::{Cell, CellResult, Rank, Summary, Table};
use crate::layout::{Layout, column, one_line};
use crate::metric::{self, MetricDefinition};
use crate::ratio::RatioOutcome;
use crate::statistics::Ratio;
use crate::suite::{Case, TestedEnd};
use crate::text::{
    cpu_text, latency_text, memory_text, precise_latency_text, rate_text, significant_text,
};
use bookend_contract::verdict::Verdict;

/// Printed where there is no figure.
const NONE: &str = "-";

/// Printed where a figure would depend on the CPU time of an end that spins while it waits.
const SPINS: &str = "spins";

/// The table in the published form, with calibration lines below it.
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

/// What a request costs: the main figure, its uncertainty, and the reason.
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
    fill(&mut layout, table, &|cell, summary| cost_fields(summary, skipped(table, cell)));
    layout.to_string()
}

/// The details of the column of skips, one line for each subject.
pub fn skipped_lines(table: &Table) -> Vec<String> {
    let skipping = table.skips.iter().filter(|(_, skips)| !skips.is_empty());
    let lines = skipping.map(|(subject, skips)| format!("{subject} skips {}", skips.join(", ")));
    lines.collect()
}

/// Latency with its tail, memory, and threads.
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
pub fn cpu_account_table(table: &Table) -> String {
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

/// Every mark and every reason, a line each: `C=1 S=100 rust-tonic: ...`.
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
    let lines = places_of.iter().map(|(mark, places)| format!("{}: {mark}", places.join(", ")));
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
    errors.collect::<Vec<_>>().into_iter().chain(fewer).chain(memory).chain(marks)
}

/// The ends that spin while they wait, one line each: their CPU time tells nothing.
pub fn spinning_lines(table: &Table) -> Vec<String> {
    let mut names: Vec<&String> = Vec::new();
    for cell in &table.cells {
        let spinning = cell.summary().map(|summary| (summary.side, summary.spinning));
        let Some((side, spinning)) = spinning else {
            continue;
        };
        let (server, caller) = match side {
            TestedEnd::Server => (&cell.id.subject, &cell.id.instrument),
            TestedEnd::Client => (&cell.id.instrument, &cell.id.subject),
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
        let ranked = |cell: &&Cell| cell.rank != Rank::Calibration;
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

/// The ratio in a heading: the first subject other than the baseline, against the baseline.
fn headline_ratio(table: &Table, case: Case) -> Option<&Ratio> {
    let ranked = |cell: &&Cell| cell.rank == Rank::Ranked;
    let first = table.of_case(case).find(ranked)?;
    first.summary()?.ratios.cost_ratio.ratio()
}

/// One decimal as published; `~` marks a ratio that cannot be distinguished from 1.
fn one_ratio(ratio: &Ratio) -> String {
    let sign = if ratio.is_indistinct() { "~" } else { "" };
    format!("{sign}{:.1}", ratio.median)
}

fn published_fields(summary: &Summary) -> Vec<String> {
    let time = |metric| figure(summary, metric, latency_text);
    vec![
        bounded_rate(summary),
        figure(summary, &metric::SERVER_CPU_MEAN, cpu_text),
        time(&metric::LATENCY_MEAN),
        time(&metric::LATENCY_P90),
        time(&metric::LATENCY_P95),
        time(&metric::LATENCY_P99),
        figure(summary, &metric::MEMORY_MEAN, memory_text),
    ]
}

/// The rate is a lower bound where the other end was the limit.
fn bounded_rate(summary: &Summary) -> String {
    let rate = figure(summary, &metric::REQUESTS_PER_SECOND, rate_text);
    match (summary.side, summary.verdict) {
        (TestedEnd::Server, Verdict::ClientBound) | (TestedEnd::Client, Verdict::ServerBound) => {
            format!(">= {rate}")
        }
        _ => rate,
    }
}

/// How many of the checks a server fails; the lines below the table name them.
fn skipped(table: &Table, cell: &Cell) -> String {
    let skips = table.skips.get(&cell.id.subject);
    or_none(skips.map(|skips| skips.len().to_string()))
}

fn cost_fields(summary: &Summary, skipped: String) -> Vec<String> {
    let cost = &metric::REQUESTS_PER_CPU_SECOND;
    let cost_ratio = &summary.ratios.cost_ratio;
    let server_max = figure(summary, &metric::SERVER_CPU_MAX, cpu_text);
    let generator = figure(summary, &metric::GENERATOR_CPU_MEAN, cpu_text);
    vec![
        figure(summary, cost, rate_text),
        figure_interval(summary, cost, rate_text),
        cost_ratio.to_string(),
        ratio_interval(cost_ratio),
        unless(summary.spinning.server, server_max),
        unless(summary.spinning.generator, generator),
        figure(summary, &metric::MACHINE_BUSY_CPUS, cpu_text),
        figure(summary, &metric::REQUESTS_PER_READ, significant_text),
        skipped,
        summary.verdict.to_string(),
    ]
}

/// The CPU time of an end that spins is not a useful figure.
fn unless(spins: bool, figure: String) -> String {
    if spins { SPINS.to_owned() } else { figure }
}

pub(super) fn ratio_interval(outcome: &RatioOutcome) -> String {
    let interval = outcome.ratio().and_then(|ratio| ratio.interval);
    or_none(interval.map(|ends| ends.text(significant_text)))
}

fn resource_fields(summary: &Summary) -> Vec<String> {
    let time = |metric| figure(summary, metric, precise_latency_text);
    vec![
        time(&metric::LATENCY_MEAN),
        time(&metric::LATENCY_P50),
        time(&metric::LATENCY_P90),
        time(&metric::LATENCY_P95),
        time(&metric::LATENCY_P99),
        time(&metric::LATENCY_P99_9),
        figure(summary, &metric::MEMORY_MEAN, memory_text),
        figure(summary, &metric::MEMORY_PEAK, memory_text),
        figure(summary, &metric::THREADS, rate_text),
        figure(summary, &metric::CONTEXT_SWITCHES_PER_SECOND, rate_text),
    ]
}

fn ledger_fields(summary: &Summary) -> Vec<String> {
    let Some(account) = &summary.cpu_account else {
        return vec![NONE.to_owned(); 9];
    };
    vec![
        cpu_text(account.server),
        cpu_text(account.generator),
        cpu_text(account.unattributed),
        cpu_text(account.user),
        cpu_text(account.system),
        cpu_text(account.softirq),
        cpu_text(account.irq),
        cpu_text(account.steal),
        cpu_text(account.idle),
    ]
}

/// The floor: what bare sockets achieve on this machine. It is not a subject of comparison.
fn calibration_lines(table: &Table) -> String {
    let calibration = |cell: &&Cell| cell.rank == Rank::Calibration;
    let mut text = String::new();
    for cell in table.cells.iter().filter(calibration) {
        let figures = match &cell.result {
            CellResult::Measured(summary) => calibration_figures(summary),
            CellResult::NotMeasured { why, reason } => one_line(&format!("{why}: {reason}")),
        };
        let name = table.row_name(cell);
        text.push_str(&format!("calibration, not ranked: {name}, {}: {figures}\n", cell.case));
    }
    text
}

fn calibration_figures(summary: &Summary) -> String {
    format!(
        "{} req/s, {} req/CPU-s, {}",
        bounded_rate(summary),
        figure(summary, &metric::REQUESTS_PER_CPU_SECOND, rate_text),
        summary.verdict
    )
}

/// A metric of a cell as text, or the placeholder if there is none.
pub(super) fn figure(
    summary: &Summary,
    metric: &MetricDefinition,
    text: fn(f64) -> String,
) -> String {
    or_none(summary.value(metric).map(text))
}

/// The interval of a rate.
pub(super) fn figure_interval(
    summary: &Summary,
    metric: &MetricDefinition,
    text: fn(f64) -> String,
) -> String {
    or_none(summary.interval(metric).map(|ends| ends.text(text)))
}

fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NONE.to_owned())
}
