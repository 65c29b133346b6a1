//! The tables of a run, each in the style of the published one.

use super::columns::{
    COST, CPU_ACCOUNT, CellColumn, PUBLISHED, RESOURCES, bounded_rate, fields, figure, named,
};
use crate::text_table::TextTable;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::metric;
use bookend_results::quoted::{clipped, one_line};
use bookend_results::statistics::Ratio;
use bookend_results::suite::{Case, Plan, TestedEnd};
use bookend_results::table::{Cell, CellResult, Rank, Summary, Table};
use bookend_results::text::{rate_text, seconds_text};
use bookend_results::window::AskedTimes;

/// The table in the published form, with calibration lines below it.
pub fn published_table(table: &Table) -> String {
    filled(table, &PUBLISHED) + &calibration_lines(table)
}

/// What a request costs: the main figure, its uncertainty, and the reason.
pub fn cost_table(table: &Table) -> String {
    filled(table, &COST)
}

/// Latency with its tail, memory, and threads.
pub fn resource_table(table: &Table) -> String {
    filled(table, &RESOURCES)
}

/// Where the machine's CPU went, in percent of one CPU.
pub fn cpu_account_table(table: &Table) -> String {
    filled(table, &CPU_ACCOUNT)
}

/// The details of the column of skips, one line for each subject.
pub fn skipped_lines(table: &Table) -> Vec<String> {
    table
        .skips
        .iter()
        .filter(|(_, skips)| !skips.is_empty())
        .map(|(subject, skips)| format!("{subject} skips {}", skips.join(", ")))
        .collect()
}

/// Every mark and every reason, a line each: `C=1 S=100 rust-tonic: ...`.
pub fn marks(table: &Table) -> Vec<String> {
    let placed = |cell: &Cell| {
        let place = format!("{} {}", cell.case, table.row_name(cell));
        marks_of(cell).into_iter().map(move |mark| (mark, place.clone()))
    };
    let line = |(mark, places): (String, Vec<String>)| {
        let places = if is_everywhere(table, places.len()) {
            "every measured row".to_owned()
        } else {
            places.join(", ")
        };
        one_line(&format!("{places}: {mark}"))
    };
    grouped(table.cells.iter().flat_map(placed)).into_iter().map(line).collect()
}

/// Whether that many rows are all that have figures, and too many to be named.
pub(crate) fn is_everywhere(table: &Table, rows: usize) -> bool {
    rows >= MANY_ROWS && rows == table.cells.iter().filter_map(Cell::summary).count()
}

/// Fewest rows of which a common mark is said once.
const MANY_ROWS: usize = 4;

/// The cells that were given other windows than the suite's, a line for each case: its calls take
/// longer than usual.
pub fn window_lines(plan: &Plan, table: &Table) -> Vec<String> {
    let usual = AskedTimes { window_ms: plan.window_ms, warmup_ms: plan.warmup_ms };
    let longer = |cell: &Cell| {
        let asked = cell.summary()?.asked.filter(|asked| *asked != usual)?;
        let length = |ms: u64| seconds_text(ms as f64 / 1e3);
        let (window, warmup) = (length(asked.window_ms), length(asked.warmup_ms));
        Some((format!("{window} after {warmup}"), table.row_name(cell)))
    };
    let of_case = |case: Case| {
        let cells: Vec<String> = grouped(table.of_case(case).filter_map(longer))
            .into_iter()
            .map(|(length, names)| format!("{length} ({})", names.join(", ")))
            .collect();
        (!cells.is_empty()).then(|| {
            format!("{case}: longer windows and warm-ups for longer calls: {}", cells.join(", "))
        })
    };
    table.cases().into_iter().filter(|case| case.calls.is_none()).filter_map(of_case).collect()
}

/// Every mark of a cell, or the reason why it has no figures, a clause each.
pub fn marks_of(cell: &Cell) -> Vec<String> {
    let marks = match &cell.result {
        CellResult::NotMeasured { why, reason } => vec![format!("{why}: {reason}")],
        CellResult::Measured(summary) => summary_marks(cell, summary),
    };
    marks.iter().map(|mark| clipped(mark)).collect()
}

fn summary_marks(cell: &Cell, summary: &Summary) -> Vec<String> {
    let errors = summary
        .errors
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(code, count)| format!("{count} calls ended with {code}"));
    let rounds = cell.rounds;
    let fewer = (rounds.measured < rounds.planned)
        .then(|| format!("{} of {} rounds measured", rounds.measured, rounds.planned));
    let memory = (summary.memory_source != "cgroup")
        .then(|| format!("memory is from {}", summary.memory_source));
    errors.chain(fewer).chain(memory).chain(summary.marks.clone()).collect()
}

/// The ends that spin while they wait, one line each: their CPU time tells nothing.
pub fn spinning_lines(table: &Table) -> Vec<String> {
    let spinning = table.cells.iter().flat_map(|cell| {
        let (server, caller) = match cell.summary().map(|summary| summary.side) {
            Some(TestedEnd::Client) => (&cell.id.instrument, &cell.id.subject),
            _ => (&cell.id.subject, &cell.id.instrument),
        };
        let spinning = cell.summary().map(|summary| summary.spinning).unwrap_or_default();
        let ends = [(spinning.server, server), (spinning.generator, caller)];
        ends.into_iter().filter_map(|(spins, name)| spins.then_some(name))
    });
    let line = |name| {
        format!(
            "{name} spins while it waits: its CPU time says nothing, and its rows are not compared \
             with those of one that sleeps"
        )
    };
    each_once(spinning).into_iter().map(line).collect()
}

fn filled(table: &Table, columns: &[CellColumn]) -> String {
    let mut layout = TextTable::new(&named(table, columns));
    let mut connections = None;
    for case in table.cases() {
        if connections != Some(case.connections) {
            layout.heading(format!("--C={}:", case.connections));
            connections = Some(case.connections);
        }
        let first = format!("----{}", table.streams(case));
        match headline(table, case) {
            Some(ratio) => layout.heading_pair(&first, &ratio),
            None => layout.heading(first),
        }
        let ranked = |cell: &&Cell| cell.rank != Rank::Calibration;
        for cell in table.of_case(case).filter(ranked) {
            match &cell.result {
                CellResult::Measured(summary) => {
                    layout.fields(fields(table.row_name(cell), columns, table, (cell, summary)));
                }
                CellResult::NotMeasured { why, reason } => {
                    layout.across(table.row_name(cell), format!("{why}: {reason}"));
                }
            }
        }
    }
    layout.to_string()
}

/// The ratio in a heading: the first subject other than the baseline, against the baseline. The
/// calls of either that failed stand behind it.
fn headline(table: &Table, case: Case) -> Option<String> {
    let ranked = |cell: &&Cell| cell.rank == Rank::Ranked;
    let first = table.of_case(case).find(ranked)?;
    let ratio = one_ratio(first.summary()?.ratios.cost_ratio.ratio()?);
    let other = table
        .of_case(case)
        .find(|cell| cell.rank == Rank::Baseline && cell.id.instrument == first.id.instrument);
    let shares = [first.failed_share(), other.and_then(Cell::failed_share)];
    let failed = match FailedShare::larger(shares[0], shares[1]) {
        Some(_) => format!("-{}-failed", FailedShare::field_of_ratio(shares[0], shares[1])),
        None => String::new(),
    };
    Some(format!("^{ratio}{failed}"))
}

/// One decimal as published, behind its sign.
fn one_ratio(ratio: &Ratio) -> String {
    format!("{}{:.1}", ratio.sign(), ratio.median)
}

/// The floor: what bare sockets achieve on this machine. It is not a subject of comparison.
pub fn calibration_lines(table: &Table) -> String {
    let calibration = |cell: &&Cell| cell.rank == Rank::Calibration;
    let mut text = String::new();
    for cell in table.cells.iter().filter(calibration) {
        let figures = match &cell.result {
            CellResult::Measured(summary) => calibration_figures(summary),
            CellResult::NotMeasured { why, reason } => one_line(&format!("{why}: {reason}")),
        };
        let name = table.row_name(cell);
        let line = format!("calibration, not ranked: {name}, {}: {figures}", cell.case);
        text.push_str(&format!("{}\n", one_line(&line)));
    }
    text
}

fn calibration_figures(summary: &Summary) -> String {
    let failed = summary.failed_share();
    let failed = failed.map_or_else(String::new, |share| format!(", {share} of the calls failed"));
    format!(
        "{} req/s, {} req/CPU-s, {}{failed}",
        bounded_rate(summary),
        figure(summary, &metric::REQUESTS_PER_CPU_SECOND, rate_text),
        summary.verdict
    )
}
