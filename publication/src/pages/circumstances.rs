//! When, for how long and on what a record was measured, in the line that cites it.

use bookend_results::record::Record;
use bookend_results::suite::Extent;

/// `2026-11-22, quick, 12 rounds of 300 ms, AMD EPYC`.
pub fn circumstances(record: &Record) -> String {
    let facts = &record.facts;
    let started = facts.started.to_string();
    let day = started.split('T').next().unwrap_or_default();
    let quick = if facts.extent == Extent::Quick { "quick, " } else { "" };
    let rounds = record.rounds();
    let plural = if rounds == 1 { "" } else { "s" };
    // A fixed number of calls takes what it takes.
    let is_by_time = facts.plan.cases.iter().any(|case| case.calls.is_none());
    let window = match facts.plan.window_ms {
        _ if !is_by_time => String::new(),
        ms if ms % 1000 == 0 => format!(" of {} s", ms / 1000),
        ms => format!(" of {ms} ms"),
    };
    let joined = if facts.joined.is_empty() { "" } else { ", joined from several runs" };
    let cpu = facts.machine.cpu_model.replace("(R)", "");
    format!("{day}, {quick}{rounds} round{plural}{window}, {}{joined}", cpu.trim())
}
