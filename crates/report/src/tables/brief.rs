//! The table of a first look: whole names, never wider than the terminal, and what is odd about a
//! row in words in it.

use super::brief_layout::{BriefLayout, BriefRow, indented};
use super::columns::{BRIEF, CellColumn, FAILED_CALLS, RATIO, bounded_rate};
use crate::case_words::case_words_in;
use crate::wrap::within;
use bookend_contract::printable;
use bookend_results::grouping::grouped;
use bookend_results::metric::{CPU_PER_CALL, LATENCY_P99};
use bookend_results::quoted::one_line;
use bookend_results::suite::{Case, TestedEnd};
use bookend_results::table::{
    CLOSES_ON_CUT, Cell, CellResult, Rank, Summary, Table, WAITS_ON_ACK, is_lower_bound,
};
use bookend_results::text::precise_latency_text;
use std::cmp::Reverse;

/// What a row says whose mark begins so, and what that means, below the table.
const WORDS: [(&str, &str, &str); 2] = [
    (
        WAITS_ON_ACK,
        "waits for a delayed ACK",
        "up to 40 ms; req/s, CPU and p99 measure that wait, CPU/call does not.",
    ),
    (
        CLOSES_ON_CUT,
        "closes on messages in pieces",
        "HTTP/2 allows pieces, and this server then closes the connection.",
    ),
];

/// The subject whose two ends are sockets that check nothing.
const BARE_SOCKETS: &str = "rust-floor";

/// Codes of failed calls that a row names.
const CODES_MAX: usize = 3;

/// The rows of every case, no line longer than `width`.
pub(crate) fn brief_table(table: &Table, width: usize) -> String {
    let columns = columns(table);
    let ranked = table.cells.iter().filter(|cell| cell.rank != Rank::Calibration);
    let rows: Vec<(Case, BriefRow)> =
        ranked.map(|cell| (cell.case, row(table, cell, &columns))).collect();
    let via = if table.several_instruments { vec!["", through(table)] } else { vec![""] };
    let headings: Vec<&str> = columns.iter().map(|(heading, ..)| *heading).collect();
    let least = columns.iter().map(|(_, least, _)| *least).collect();
    let layout = BriefLayout::of(rows.iter().map(|(_, row)| row), (&headings, least), &via, width);
    let mut text = layout.headings(&headings, &via);
    for (case, rows) in grouped(rows) {
        text += &within(&heading(table, case), width, "    ");
        rows.iter().for_each(|row| text += &layout.row(row));
    }
    text
}

/// What the columns and the signs mean that are in the table.
pub(crate) fn brief_legend(table: &Table) -> String {
    let end = if is_of_clients(table) { "client" } else { "server" };
    let baseline = table.cells.iter().find(|cell| cell.rank == Rank::Baseline);
    let ratio = baseline.filter(|_| has_ratio(table)).map_or(String::new(), |baseline| {
        format!(" ratio: CPU/call of {} over the row's.", baseline.id.subject)
    });
    let has = |is: fn(&Summary) -> bool| ranked(table).any(is);
    let signs = [
        (has(|one| sign(one) == "~"), " ~: not told apart from 1."),
        (has(|one| sign(one) == "?"), " ?: too few rounds to be sure."),
        (has(|one| is_lower_bound(one) || is_cut_off(one)), " >=: at least."),
    ];
    let signs: String = signs.iter().filter(|(has, _)| *has).map(|(_, words)| *words).collect();
    one_line(&format!("CPU/call and CPU: of the {end}.{ratio}{signs}"))
}

/// What the words in the rows mean, a line each.
pub(crate) fn brief_words(table: &Table) -> Vec<String> {
    let is_marked = |begin: &str| ranked(table).any(|one| has_mark(one, begin));
    let marked = WORDS.iter().filter(|(begin, ..)| is_marked(begin));
    marked.map(|(_, words, meaning)| format!("{words}: {meaning}")).collect()
}

/// What is not compared: how far bare sockets come on this machine, a line for each case.
pub(crate) fn brief_calibration(table: &Table, width: usize) -> String {
    let calibrations = table.cells.iter().filter(|cell| cell.rank == Rank::Calibration);
    let mut text = String::new();
    for (name, cells) in grouped(calibrations.map(|cell| (table.row_name(cell), cell))) {
        let is_bare = cells.iter().all(|cell| cell.id.subject == BARE_SOCKETS);
        let what = if is_bare { "What bare sockets reach here" } else { "For scale" };
        text += &within(&one_line(&format!("{what} ({name}, not compared):")), width, "    ");
        for cell in cells {
            let line = format!("{}: {}", cell.case, calibration(cell));
            text += &indented(&one_line(&line), width, 2);
        }
    }
    text
}

fn calibration(cell: &Cell) -> String {
    let summary = match &cell.result {
        CellResult::Measured(summary) => summary,
        CellResult::NotMeasured { why, reason } => return format!("{why}: {reason}"),
    };
    let cost = summary.text(&CPU_PER_CALL, precise_latency_text);
    let cost = cost.map_or(String::new(), |cost| format!(", {cost} of CPU a call"));
    let failed = summary.failed_share();
    let failed = failed.map_or(String::new(), |share| format!(", {share} of the calls failed"));
    format!("{} req/s{cost}{failed}", bounded_rate(summary))
}

/// Where nothing has a ratio there is no column of it.
fn columns(table: &Table) -> Vec<&'static CellColumn> {
    let has_ratio = has_ratio(table);
    BRIEF.iter().filter(|(heading, ..)| has_ratio || *heading != RATIO).collect()
}

fn has_ratio(table: &Table) -> bool {
    ranked(table).any(|one| one.ratios.cost_ratio.ratio().is_some())
}

fn ranked(table: &Table) -> impl Iterator<Item = &Summary> {
    table.cells.iter().filter(|cell| cell.rank != Rank::Calibration).filter_map(Cell::summary)
}

fn is_of_clients(table: &Table) -> bool {
    ranked(table).any(|one| one.side == TestedEnd::Client)
}

/// The heading of the other ends.
fn through(table: &Table) -> &'static str {
    if is_of_clients(table) { "against" } else { "via" }
}

fn heading(table: &Table, case: Case) -> String {
    let streams = table.streams(case);
    format!("C={} {streams}: {}", case.connections, case_words_in(table, case))
}

fn row(table: &Table, cell: &Cell, columns: &[&CellColumn]) -> BriefRow {
    let name = format!("{}{}", cell.marked_subject(), cell.other_run());
    let via = table.several_instruments.then(|| cell.id.instrument.clone());
    let names = std::iter::once(name).chain(via);
    let (figures, note) = match &cell.result {
        CellResult::Measured(summary) => {
            let figure = |(.., field): &&CellColumn| field.text(table, cell, summary);
            (Ok(columns.iter().map(figure).collect()), note(summary))
        }
        CellResult::NotMeasured { why, reason } => (Err(format!("{why}: {reason}")), String::new()),
    };
    let names = names.map(|name| printable::line(&name).into_owned()).collect();
    BriefRow { names, figures, note }
}

/// What is odd about a row, in words.
fn note(summary: &Summary) -> String {
    let limit = match summary.side {
        TestedEnd::Server => "the load generator was the limit",
        TestedEnd::Client => "the server was the limit",
    };
    let marks = WORDS.iter().filter(|(begin, ..)| has_mark(summary, begin));
    let bound = is_lower_bound(summary).then(|| limit.to_owned());
    let cut_off = is_cut_off(summary).then(|| "slower calls were cut off".to_owned());
    let words = marks.map(|(_, words, _)| (*words).to_owned());
    let failed = failed_with(summary).into_iter();
    failed.chain(words).chain(bound).chain(cut_off).collect::<Vec<_>>().join("; ")
}

/// How calls failed, the most frequent code first.
fn failed_with(summary: &Summary) -> Option<String> {
    let mut codes: Vec<_> = summary.errors.iter().filter(|(_, count)| **count > 0).collect();
    codes.sort_by_key(|(_, count)| Reverse(**count));
    let named: Vec<&str> = codes.iter().take(CODES_MAX).map(|(code, _)| code.as_str()).collect();
    (!named.is_empty()).then(|| format!("{FAILED_CALLS} with {}", named.join(", ")))
}

fn has_mark(summary: &Summary, begin: &str) -> bool {
    summary.marks.iter().any(|mark| mark.starts_with(begin))
}

/// Whether the latency that is shown is a lower bound.
fn is_cut_off(summary: &Summary) -> bool {
    summary.figures.get(LATENCY_P99.name).is_some_and(|figure| figure.is_cut_off)
}

fn sign(summary: &Summary) -> &'static str {
    summary.ratios.cost_ratio.ratio().map_or("", |ratio| ratio.sign())
}
