//! A report as text: ghz's summary with the same words in the same places, then what ghz does
//! not have.

use super::ratio;
use bookend_contract::report::{Bucket, Extension, LoadReport, Split};
use bookend_contract::verdict::GENERATOR_SATURATED;
use std::fmt::{Display, Write};

/// Characters of the longest bar, as in ghz.
const BAR_CHARS: u64 = 40;

/// Spaces between the columns of a distribution, as in ghz.
const COLUMN_GAP: usize = 3;

/// The summary of a report, ending with a line break.
pub fn text(report: &LoadReport) -> String {
    let mut text = String::from("\nSummary:\n");
    if let Some(name) = report.name.as_ref().filter(|name| !name.is_empty()) {
        line(&mut text, format_args!("  Name:\t\t{name}"));
    }
    line(&mut text, format_args!("  Count:\t{}", report.count));
    line(
        &mut text,
        format_args!("  Total:\t{}", duration(report.total)),
    );
    line(
        &mut text,
        format_args!("  Slowest:\t{}", duration(report.slowest)),
    );
    line(
        &mut text,
        format_args!("  Fastest:\t{}", duration(report.fastest)),
    );
    line(
        &mut text,
        format_args!("  Average:\t{}", duration(report.average)),
    );
    line(
        &mut text,
        format_args!("  Requests/sec:\t{:.2}", report.rps),
    );
    text.push_str("\nResponse time histogram:\n");
    text.push_str(&histogram(&report.histogram));
    text.push_str("\nLatency distribution:\n");
    for at in &report.latency_distribution {
        line(
            &mut text,
            format_args!("  {} % in {} ", at.percentage, duration(at.latency)),
        );
    }
    text.push_str(&distributions(report));
    text.push_str(&ours(&report.bookend));
    text
}

fn line(text: &mut String, words: impl Display) {
    writeln!(text, "{words}").expect("a String takes every line");
}

/// ghz's units: nanoseconds below ten thousand, then milliseconds, then seconds.
fn duration(nanoseconds: u64) -> String {
    let milliseconds = nanoseconds as f64 / 1e6;
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..1_000_000_000 => format!("{milliseconds:.2} ms"),
        _ => format!("{:.2} s", milliseconds / 1e3),
    }
}

fn histogram(buckets: &[Bucket]) -> String {
    let marks: Vec<String> = buckets
        .iter()
        .map(|bucket| format!("{:.3}", bucket.mark * 1e3))
        .collect();
    let counts: Vec<String> = buckets
        .iter()
        .map(|bucket| bucket.count.to_string())
        .collect();
    let mark_width = marks.iter().map(String::len).max().unwrap_or(0);
    let count_width = counts.iter().map(String::len).max().unwrap_or(0);
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let mut text = String::new();
    for ((bucket, mark), count) in buckets.iter().zip(&marks).zip(&counts) {
        let bar = "∎".repeat(bar_chars(bucket.count, most));
        let gap = " ".repeat(count_width - count.len());
        line(
            &mut text,
            format_args!("  {mark:mark_width$} [{count}]{gap} |{bar}"),
        );
    }
    text
}

fn bar_chars(count: u64, most: u64) -> usize {
    let rounded = (u128::from(count) * u128::from(BAR_CHARS) + u128::from(most / 2))
        .checked_div(u128::from(most));
    rounded.unwrap_or(0) as usize
}

fn distributions(report: &LoadReport) -> String {
    let statuses = report
        .status_code_distribution
        .iter()
        .map(|(status, count)| (format!("  [{status}]"), format!("{count} responses")));
    let errors = report
        .error_distribution
        .iter()
        .map(|(error, count)| (format!("  [{count}]"), error.replace(char::is_control, " ")));
    section("Status code distribution", statuses.collect())
        + &section("Error distribution", errors.collect())
}

/// Two columns, each padded to its widest word and a gap.
fn section(title: &str, rows: Vec<(String, String)>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = |words: &dyn Fn(&(String, String)) -> usize| {
        rows.iter().map(words).max().unwrap_or(0) + COLUMN_GAP
    };
    let first_width = width(&|row| row.0.chars().count());
    let second_width = width(&|row| row.1.chars().count());
    let mut text = format!("\n{title}:\n");
    for (first, second) in &rows {
        line(
            &mut text,
            format_args!("{first:first_width$}{second:second_width$}"),
        );
    }
    text
}

fn ours(facts: &Extension) -> String {
    let thread_seconds = f64::from(facts.threads) * facts.window_seconds;
    let busy = ratio(facts.busy_seconds, thread_seconds);
    let threads = if facts.threads == 1 {
        "thread"
    } else {
        "threads"
    };
    let mut text = String::from("\nBookend:\n");
    text.push_str(&cost(facts));
    line(
        &mut text,
        format_args!(
            "  CPU:\t{:.2} s user, {:.2} s system in {:.2} s",
            facts.cpu_user_seconds, facts.cpu_system_seconds, facts.window_seconds
        ),
    );
    line(
        &mut text,
        format_args!(
            "  Busy:\t{:.1} % of {} {threads} ({}{})",
            busy * 100.0,
            facts.threads,
            facts.io,
            if spins(facts) { ", spinning" } else { "" }
        ),
    );
    line(
        &mut text,
        format_args!("  Requests per write:\t{:.2}", facts.requests_per_write),
    );
    line(
        &mut text,
        format_args!("  Requests per read:\t{:.2}", facts.requests_per_read),
    );
    text.push_str(&connections(facts));
    text.push_str(&by_target(facts));
    text.push_str(&outside_the_window(facts));
    text.push_str(&said_by_the_server(facts));
    if busy >= GENERATOR_SATURATED {
        text.push_str(
            "  Limit:\tthis generator was the limit: the target can do at least this much\n",
        );
    }
    text
}

fn spins(facts: &Extension) -> bool {
    facts.wait == "spin"
}

/// Who spins uses all of its CPU whatever it does: no cost can be made of that.
fn cost(facts: &Extension) -> String {
    match spins(facts) {
        true => "  Spin:\tthe CPU figures below say nothing, the busy share is the figure\n".into(),
        false => format!(
            "  Requests per CPU-second:\t{:.2}\n",
            facts.requests_per_cpu_second
        ),
    }
}

/// What calls with connections of their own were made of.
fn connections(facts: &Extension) -> String {
    let mut text = String::new();
    for (name, part) in facts.split.iter().flat_map(Split::parts) {
        let name = match name {
            "connect" => "Connect",
            "tls" => "TLS",
            "first_byte" => "First byte",
            _ => "Total",
        };
        line(
            &mut text,
            format_args!(
                "  {name}:\t{} mean, {} in 50 %, {} in 90 %, {} in 99 %, {} at most",
                duration(part.mean_ns),
                duration(part.p50_ns),
                duration(part.p90_ns),
                duration(part.p99_ns),
                duration(part.max_ns)
            ),
        );
    }
    if facts.source_addresses > 0 {
        line(
            &mut text,
            format_args!(
                "  SourceAddresses:\t{} addresses of the loopback beside the first, which was out of ports",
                facts.source_addresses
            ),
        );
    }
    text
}

fn by_target(facts: &Extension) -> String {
    let mut text = String::new();
    for target in &facts.targets {
        let name = match target.target == target.address {
            true => target.address.clone(),
            false => format!("{} ({})", target.address, target.target),
        };
        let (ok, failed, connections) = (target.ok, target.failed, target.connections_opened);
        line(
            &mut text,
            format_args!("  Target:\t{name}: {ok} OK, {failed} failed, {connections} connections"),
        );
    }
    text
}

/// What the server has told us, in frames of its own, that explains the figures.
fn said_by_the_server(facts: &Extension) -> String {
    let mut text = String::new();
    if let Some(streams) = facts.streams_allowed {
        line(
            &mut text,
            format_args!(
                "  Streams:\tthe server allows {streams} a connection: fewer calls were in flight \
                 than asked for"
            ),
        );
    }
    for (said, connections) in &facts.goaways {
        let said = said.replace(char::is_control, " ");
        line(&mut text, format_args!("  Goaway:\t{connections} x {said}"));
    }
    text
}

fn outside_the_window(facts: &Extension) -> String {
    let counts = [
        ("Warm-up", facts.warmup),
        ("Drained", facts.drained),
        ("Unfinished", facts.unfinished),
    ];
    let there = counts.iter().filter(|(_, count)| *count > 0);
    there
        .map(|(name, count)| format!("  {name}:\t{count} calls\n"))
        .collect()
}
