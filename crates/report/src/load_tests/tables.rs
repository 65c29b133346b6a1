//! The tables of load tests: what became of the calls, what failed, the parts of a call, messages,
//! and what the generator needed.

use super::load_test::LoadTest;
use super::wording::{figure_text, per_second_text, share_text, time_text};
use crate::call_fate::most_frequent;
use crate::html::HtmlRow;
use crate::result_page::PageTable;
use bookend_contract::report::{LatencySplit, SplitPart, TargetReport};
use bookend_results::quoted::quoted_line;
use bookend_results::text::{memory_text, percent_text};

/// Texts of failed calls that a load test has in the table, the most frequent.
const TEXTS_MAX: usize = 20;

/// Those that have rows.
pub(super) fn all(tests: &[LoadTest]) -> Vec<PageTable> {
    let tables = [
        results(tests),
        limits(tests),
        failures(tests),
        parts(tests),
        messages(tests),
        uncounted(tests),
        targets(tests),
        announced(tests),
        generator(tests),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

pub(super) fn table(title: &'static str, headings: &[&str], rows: Vec<HtmlRow>) -> PageTable {
    PageTable {
        title,
        headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
        rows,
    }
}

pub(super) fn row<const N: usize>(
    names: [&str; N],
    figures: Result<Vec<String>, String>,
) -> HtmlRow {
    HtmlRow { names: names.map(str::to_owned).to_vec(), figures }
}

fn results(tests: &[LoadTest]) -> PageTable {
    let headings = [
        "name",
        "due (1/s)",
        "answered OK (1/s)",
        "OK",
        "failed",
        "never made",
        "made late",
        "50 %",
        "99 %",
        "longest",
    ];
    let one = |test: &LoadTest| {
        let (clock, facts) = (test.clock(), &test.report.bookend);
        let dash = || "-".to_owned();
        let known = |time_ns| if clock.is_empty() { dash() } else { time_text(time_ns) };
        let failed = test.failed();
        let figures = vec![
            test.offered_per_second().map_or_else(dash, per_second_text),
            per_second_text(test.ok_per_second()),
            facts.ok.to_string(),
            format!("{failed} ({})", share_text(failed, test.report.count)),
            test.open_loop().map_or_else(dash, |_| test.not_made().to_string()),
            test.open_loop().map_or_else(dash, |calls| calls.waited.to_string()),
            known(clock.at(50.0)),
            known(clock.at(99.0)),
            known(clock.max_ns),
        ];
        row([&test.name], Ok(figures))
    };
    table("Results", &headings, tests.iter().map(one).collect())
}

fn limits(tests: &[LoadTest]) -> PageTable {
    let rows = tests.iter().map(|test| row([&test.name], Err(test.limit()))).collect();
    table("What the limit was", &["name", "limit"], rows)
}

fn failures(tests: &[LoadTest]) -> PageTable {
    let of_test = |test: &LoadTest| {
        let texts = &test.report.error_distribution;
        let frequent = most_frequent(std::iter::once(texts));
        let more = frequent.len().saturating_sub(TEXTS_MAX);
        let one =
            |text: &String| row([&test.name, &texts[text].to_string()], Err(quoted_line(text)));
        let mut rows: Vec<HtmlRow> = frequent.iter().take(TEXTS_MAX).map(one).collect();
        rows.extend((more > 0).then(|| row([&test.name, ""], Err(format!("{more} more texts")))));
        rows
    };
    let rows = tests.iter().flat_map(of_test).collect();
    table("What failed", &["name", "calls", "text"], rows)
}

/// Times other than the latency: the generator's lag, the parts of calls with connections of their
/// own, messages of streams.
fn parts(tests: &[LoadTest]) -> PageTable {
    let of_test = |test: &LoadTest| {
        let facts = &test.report.bookend;
        let lag = facts.open_loop.iter().map(|calls| ("lag of the generator", &calls.lag));
        let split = facts
            .split
            .iter()
            .flat_map(LatencySplit::parts)
            .filter(|(name, _)| *name != "total")
            .map(|(name, part)| match name {
                "connect" => ("connection", part),
                "tls" => ("handshake of TLS", part),
                _ => ("first byte of the answer", part),
            });
        let streams = facts.streams.iter().flat_map(|messages| {
            let named = [
                ("first message", &messages.first_message),
                ("gap between messages", &messages.gap),
                ("answer to a message", &messages.answer),
                ("stalled by flow control", &messages.stall),
            ];
            named.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?)))
        });
        lag.chain(split)
            .chain(streams)
            .map(|(name, part)| row([&test.name, name], Ok(times(part))))
            .collect::<Vec<_>>()
    };
    let headings = ["name", "time", "mean", "50 %", "90 %", "99 %", "longest"];
    table("Parts of a call", &headings, tests.iter().flat_map(of_test).collect())
}

fn times(part: &SplitPart) -> Vec<String> {
    [part.mean_ns, part.p50_ns, part.p90_ns, part.p99_ns, part.max_ns].map(time_text).to_vec()
}

fn messages(tests: &[LoadTest]) -> PageTable {
    let one = |test: &LoadTest| {
        let messages = test.report.bookend.streams.as_ref()?;
        let figures = vec![
            messages.sent.to_string(),
            per_second_text(messages.sent_per_second),
            messages.received.to_string(),
            per_second_text(messages.received_per_second),
            messages.stalls.to_string(),
        ];
        Some(row([&test.name], Ok(figures)))
    };
    let headings =
        ["name", "sent", "sent (1/s)", "received", "received (1/s)", "stalls of flow control"];
    table("Messages", &headings, tests.iter().filter_map(one).collect())
}

/// Calls that are in no other figure.
fn uncounted(tests: &[LoadTest]) -> PageTable {
    let one = |test: &LoadTest| {
        let facts = &test.report.bookend;
        let counts = [facts.warmup, facts.drained, facts.unfinished].map(|calls| calls.to_string());
        let cut_off = facts.in_flight_at_end.as_ref().map_or_else(
            || ["-"; 3].map(str::to_owned),
            |cut| [cut.calls.to_string(), time_text(cut.age_mean_ns), time_text(cut.age_max_ns)],
        );
        row([&test.name], Ok(counts.into_iter().chain(cut_off).collect()))
    };
    let headings = [
        "name",
        "warm-up",
        "drained",
        "unfinished",
        "in flight at the end",
        "their mean age",
        "the oldest",
    ];
    table("Calls outside the figures", &headings, tests.iter().map(one).collect())
}

fn targets(tests: &[LoadTest]) -> PageTable {
    let one = |test: &LoadTest, target: &TargetReport| {
        let [ok, failed, connections] =
            [target.ok, target.failed, target.connections_opened].map(|count| count.to_string());
        let figures = vec![quoted_line(&target.address), ok, failed, connections];
        row([&test.name, &quoted_line(&target.target)], Ok(figures))
    };
    let rows = tests
        .iter()
        .flat_map(|test| test.report.bookend.targets.iter().map(move |target| one(test, target)))
        .collect();
    let headings = ["name", "target", "address", "OK", "failed", "connections"];
    table("Targets", &headings, rows)
}

/// Limits and GOAWAYs, which explain figures.
fn announced(tests: &[LoadTest]) -> PageTable {
    let of_test = |test: &LoadTest| {
        let facts = &test.report.bookend;
        let streams = facts.streams_allowed.map(|streams| {
            let text = format!("{streams} streams a connection, fewer than were asked for");
            row([&test.name, "-"], Err(text))
        });
        let goaways = facts.goaways.iter().take(TEXTS_MAX).map(|(text, connections)| {
            row([&test.name, &connections.to_string()], Err(quoted_line(text)))
        });
        streams.into_iter().chain(goaways).collect::<Vec<_>>()
    };
    let rows = tests.iter().flat_map(of_test).collect();
    table("What the server announced", &["name", "connections", "text"], rows)
}

fn generator(tests: &[LoadTest]) -> PageTable {
    let one = |test: &LoadTest| {
        let facts = &test.report.bookend;
        // A thread that spins uses all of its CPU whatever it does.
        let spins = facts.wait == "spin";
        let cost = if spins {
            "- (spins)".to_owned()
        } else {
            per_second_text(facts.requests_per_cpu_second)
        };
        let figures = vec![
            format!("{} of {}", percent_text(facts.busy_share()), facts.threads),
            figure_text(facts.cpu_user_seconds),
            figure_text(facts.cpu_system_seconds),
            cost,
            figure_text(facts.requests_per_write),
            figure_text(facts.requests_per_read),
            facts.connections_opened.to_string(),
            memory_text(facts.memory_peak_bytes as f64),
            quoted_line(&facts.io),
        ];
        row([&test.name], Ok(figures))
    };
    let headings = [
        "name",
        "busy, of threads",
        "CPU, user (s)",
        "CPU, system (s)",
        "requests per CPU-second",
        "requests per write",
        "requests per read",
        "connections",
        "peak memory",
        "driver",
    ];
    table("What the generator needed", &headings, tests.iter().map(one).collect())
}
