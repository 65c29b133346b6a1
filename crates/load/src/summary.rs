//! A report as text: ghz's summary with the same words in the same places, then what ghz does
//! not have.

mod fleet;
mod units;

pub(crate) use units::duration;

use bookend_contract::generator_stops::clause;
use bookend_contract::report::{
    Bucket, Extension, LatencySplit, LoadReport, OpenLoopReport, SplitPart, StreamReport,
    TargetReport,
};
use bookend_contract::{limit, printable, silence};

/// Characters of the longest bar, as in ghz.
const BAR_CHARS: u64 = 40;

/// Spaces between the columns of a distribution, as in ghz.
const COLUMN_GAP: usize = 3;

/// A column is padded to its widest word up to this. One long error of a server would otherwise pad
/// the line of every other error to its own length.
const COLUMN_CHARS_MAX: usize = 120;

/// The summary of a report, ending with a line break.
pub fn text(report: &LoadReport) -> String {
    let name = report
        .name
        .as_deref()
        .filter(|name| !name.is_empty())
        .map_or_else(String::new, |name| format!("  Name:\t\t{}\n", printable::line(name)));
    let percentiles: String = report
        .latency_distribution
        .iter()
        .map(|at| format!("  {} % in {} \n", at.percentage, duration(at.latency)))
        .collect();
    let ghz = [
        format!("\nSummary:\n{name}  Count:\t{}\n", report.count),
        format!("  Total:\t{}\n", duration(report.total)),
        format!("  Slowest:\t{}\n", latency(report, report.slowest)),
        format!("  Fastest:\t{}\n", latency(report, report.fastest)),
        format!("  Average:\t{}\n", latency(report, report.average)),
        format!("  Requests/sec:\t{:.2}\n", report.rps),
        format!("\nResponse time histogram:\n{}", histogram(&report.histogram)),
        format!("\nLatency distribution:\n{percentiles}"),
        distributions(report),
    ];
    ghz.concat() + &extension(report)
}

/// A latency, or a dash where none was measured.
pub(crate) fn latency(report: &LoadReport, nanoseconds: u64) -> String {
    if report.latency_distribution.is_empty() { "-".to_owned() } else { duration(nanoseconds) }
}

fn histogram(buckets: &[Bucket]) -> String {
    let mark = |bucket: &Bucket| format!("{:.3}", bucket.mark * 1e3);
    let count = |bucket: &Bucket| format!("[{}]", bucket.count);
    let widest = |text: &dyn Fn(&Bucket) -> String| {
        buckets.iter().map(|bucket| text(bucket).len()).max().unwrap_or(0)
    };
    let (mark_width, count_width) = (widest(&mark), widest(&count));
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let line = |bucket: &Bucket| {
        let bar = "∎".repeat(bar_chars(bucket.count, most));
        let (mark, count) = (mark(bucket), count(bucket));
        format!("  {mark:mark_width$} {count:count_width$} |{bar}\n")
    };
    // Where all calls took the same time, ghz prints eleven rows with one mark.
    let marks_differ = buckets.windows(2).any(|pair| mark(&pair[0]) != mark(&pair[1]));
    let shown = if marks_differ { buckets } else { &buckets[..buckets.len().min(1)] };
    shown.iter().map(line).collect()
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
        .map(|(status, count)| {
            (format!("  [{}]", printable::line(status)), format!("{count} responses"))
        })
        .collect();
    let errors = report
        .error_distribution
        .iter()
        .map(|(error, count)| (format!("  [{count}]"), printable::line(error).into_owned()))
        .collect();
    section("Status code distribution", statuses) + &section("Error distribution", errors)
}

/// Two columns, each padded to its widest word, within a bound, and a gap.
fn section(title: &str, rows: Vec<(String, String)>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = |words: &dyn Fn(&(String, String)) -> usize| {
        rows.iter().map(words).max().unwrap_or(0).min(COLUMN_CHARS_MAX) + COLUMN_GAP
    };
    let first_width = width(&|row| row.0.chars().count());
    let second_width = width(&|row| row.1.chars().count());
    let lines: String = rows
        .iter()
        .map(|(first, second)| format!("{first:first_width$}{second:second_width$}\n"))
        .collect();
    format!("\n{title}:\n{lines}")
}

/// What ghz does not have.
fn extension(report: &LoadReport) -> String {
    let facts = &report.bookend;
    let lines = [
        "\nBookend:\n".to_owned(),
        cpu_and_io(facts),
        facts.open_loop.as_ref().map_or_else(String::new, open_loop),
        facts.streams.as_ref().map_or_else(String::new, streams),
        latency_parts(facts),
        by_target(facts),
        facts.fleet.as_deref().map_or_else(String::new, fleet::lines),
        outside_the_window(report),
        announced_by_the_server(facts),
        silence(facts),
        given_up(facts),
        interruption(report),
        limit(report),
    ];
    lines.concat()
}

/// What kept the run from more.
fn limit(report: &LoadReport) -> String {
    let limit = limit::limit(report);
    limit.map_or_else(String::new, |limit| format!("  Limit:\t{limit}\n"))
}

/// Whether no call ended for a while.
fn silence(facts: &Extension) -> String {
    let longest = facts.intervals.as_ref().and_then(silence::longest);
    longest.map_or_else(String::new, |(start_ms, length_ms)| {
        let seconds = |milliseconds: u64| milliseconds as f64 / 1e3;
        format!(
            "  Silent:\tno call ended for {:.1} s, from {:.1} s on{}\n",
            seconds(length_ms),
            seconds(start_ms),
            clause(facts.generator_stops)
        )
    })
}

fn given_up(facts: &Extension) -> String {
    match facts.connections_given_up {
        0 => String::new(),
        connections => format!(
            "  Replaced:\t{connections} connections: more calls timed out on them than a server lets \
             be reset, and fewer were in flight until there were new ones\n"
        ),
    }
}

fn interruption(report: &LoadReport) -> String {
    match report.end_reason.as_str() {
        "cancel" => format!("  Ended:\tearly, after {}\n", duration(report.total)),
        _ => String::new(),
    }
}

fn cpu_and_io(facts: &Extension) -> String {
    if facts.fleet.as_ref().is_some_and(|fleet| !fleet.is_quotable()) {
        // What a lost agent has used is not known, and its calls are among the others.
        return String::new();
    }
    let threads = if facts.threads == 1 {
        "1 thread".to_owned()
    } else {
        format!("{} threads", facts.threads)
    };
    // A thread that spins uses all of its CPU whatever it does: no cost can be made of that.
    let spins = facts.wait == "spin";
    let (cost, spinning) = if spins {
        let line = "  Spin:\tthe CPU figures below say nothing, the busy share is the figure\n";
        (line.to_owned(), ", spinning")
    } else {
        (generator_cost(facts), "")
    };
    let lines = [
        cost,
        format!(
            "  CPU:\t{:.2} s user, {:.2} s system in {:.2} s\n",
            facts.cpu_user_seconds, facts.cpu_system_seconds, facts.window_seconds
        ),
        format!(
            "  Busy:\t{:.1} % of {threads} ({}{spinning})\n",
            facts.busy_share() * 100.0,
            facts.io
        ),
        format!("  Requests per write:\t{:.2}\n", facts.requests_per_write),
        format!("  Requests per read:\t{:.2}\n", facts.requests_per_read),
    ];
    lines.concat()
}

/// What a request costs this process. From less CPU time than the kernel's clock resolves, nothing
/// can be made.
fn generator_cost(facts: &Extension) -> String {
    /// A hundred times the tick of a kernel that counts a thousand a second.
    const CPU_SECONDS_MIN: f64 = 0.1;
    let is_known = facts.cpu_user_seconds + facts.cpu_system_seconds >= CPU_SECONDS_MIN;
    let requests =
        if is_known { format!("{:.2}", facts.requests_per_cpu_second) } else { "-".to_owned() };
    format!("  Generator:\t{requests} requests per CPU-second of its own\n")
}

/// What the schedule asked for and what became of it.
fn open_loop(open_loop: &OpenLoopReport) -> String {
    let OpenLoopReport { due, made, waited, .. } = open_loop;
    let waited = match waited {
        0 => String::new(),
        waited => format!(", {waited} of them later for want of room"),
    };
    let not_made: String = open_loop
        .not_made
        .iter()
        .map(|(why, calls)| format!("  Not made:\t{calls} calls: {}\n", printable::line(why)))
        .collect();
    [
        format!("  Due:\t{due} calls by the schedule, {made} made{waited}\n"),
        not_made,
        part("From due", &open_loop.from_intended),
        part("From start", &open_loop.from_start),
        part("Lag", &open_loop.lag),
        hidden(open_loop),
    ]
    .concat()
}

/// The messages of streaming calls.
fn streams(streams: &StreamReport) -> String {
    let direction = |name: &str, messages: u64, rate: f64| match messages {
        0 => String::new(),
        messages => format!("  {name}:\t{messages} messages, {rate:.2} a second\n"),
    };
    let timed = |name: &str, times: &Option<SplitPart>| {
        times.as_ref().map_or_else(String::new, |times| part(name, times))
    };
    let stalls = match streams.stalls {
        0 => String::new(),
        stalls => {
            let how_long = timed("Stalled", &streams.stall);
            format!("  Stalls:\t{stalls} times flow control held a message back\n{how_long}")
        }
    };
    [
        direction("Sent", streams.sent, streams.sent_per_second),
        direction("Received", streams.received, streams.received_per_second),
        format!("  Messages per CPU-second:\t{:.2}\n", streams.messages_per_cpu_second),
        timed("First message", &streams.first_message),
        timed("Gap", &streams.gap),
        timed("Answer", &streams.answer),
        stalls,
    ]
    .concat()
}

/// Says what a closed loop would not have shown, where that is much.
fn hidden(open_loop: &OpenLoopReport) -> String {
    /// Twice as long is more than the steps of a histogram or a late wake-up make of it.
    const MUCH: u64 = 2;
    let (due_ns, start_ns) = (open_loop.from_intended.p99_ns, open_loop.from_start.p99_ns);
    if due_ns < start_ns.saturating_mul(MUCH) {
        return String::new();
    }
    let lag_ns = open_loop.lag.p99_ns;
    let own = match lag_ns > (due_ns - start_ns) / MUCH {
        true => format!(": this generator itself was {} late", duration(lag_ns)),
        false => String::new(),
    };
    format!(
        "  Hidden:\ttimed from their start, 99 % of the calls took {}; from when they were due, \
         {}{own}\n",
        duration(start_ns),
        duration(due_ns)
    )
}

fn part(name: &str, part: &SplitPart) -> String {
    format!(
        "  {name}:\t{} mean, {} in 50 %, {} in 90 %, {} in 99 %, {} at most\n",
        known(part.mean_ns),
        known(part.p50_ns),
        known(part.p90_ns),
        known(part.p99_ns),
        known(part.max_ns)
    )
}

/// Messages that come in one read have no time between them that a clock could tell.
fn known(time_ns: u64) -> String {
    if time_ns == 0 { "none".to_owned() } else { duration(time_ns) }
}

/// The parts of calls that had connections of their own, and where these came from.
fn latency_parts(facts: &Extension) -> String {
    let line = |(name, times): (&str, &SplitPart)| {
        let name = match name {
            "connect" => "Connect",
            "tls" => "TLS",
            "first_byte" => "First byte",
            _ => "Total",
        };
        part(name, times)
    };
    let parts: String = facts.split.iter().flat_map(LatencySplit::parts).map(line).collect();
    if facts.source_addresses == 0 {
        return parts;
    }
    format!(
        "{parts}  Sources:\t{} addresses of the loopback besides the first, which was out of ports\n",
        facts.source_addresses
    )
}

fn by_target(facts: &Extension) -> String {
    let line = |target: &TargetReport| {
        let address = &target.address;
        let name = if target.target == *address {
            address.clone()
        } else {
            format!("{address} ({})", target.target)
        };
        let name = printable::line(&name);
        let (ok, failed, connections) = (target.ok, target.failed, target.connections_opened);
        format!("  Target:\t{name}: {ok} OK, {failed} failed, {connections} connections\n")
    };
    facts.targets.iter().map(line).collect()
}

/// Limits and GOAWAYs that the server sent, which explain the figures.
fn announced_by_the_server(facts: &Extension) -> String {
    let streams = facts.streams_allowed.map(|streams| {
        format!(
            "  Streams:\tthe server allows {streams} a connection: fewer calls were in flight than \
             asked for\n"
        )
    });
    let goaways = facts.goaways.iter().map(|(text, connections)| {
        format!("  Goaway:\t{connections} x {}\n", printable::line(text))
    });
    streams.into_iter().chain(goaways).collect()
}

fn outside_the_window(report: &LoadReport) -> String {
    let facts = &report.bookend;
    let counts: String =
        [("Warm-up", facts.warmup), ("Drained", facts.drained), ("Unfinished", facts.unfinished)]
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("  {name}:\t{count} calls\n"))
            .collect();
    let missing = match report.all_and_failed() {
        (_, 0) => String::new(),
        (all, failed) => format!(
            "  Missing:\t{failed} of {all} calls failed or have no answer: no latency above is of \
             them\n"
        ),
    };
    counts + &cut_off(facts).unwrap_or_default() + &missing
}

/// The calls in flight at the window's end, none of whose latencies are among those above.
fn cut_off(facts: &Extension) -> Option<String> {
    let in_flight = facts.in_flight_at_end.filter(|in_flight| in_flight.calls > 0)?;
    Some(format!(
        "  Cut off:\t{} calls in flight at the end, {} old on average, {} at most\n",
        in_flight.calls,
        duration(in_flight.age_mean_ns),
        duration(in_flight.age_max_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_does_not_make_every_line_as_long() {
        let row = |text: String| ("  [1]".to_owned(), text);
        let short = (0..54).map(|number| row(format!("error {number}")));
        let text = section("Errors", short.chain([row("x".repeat(5_000))]).collect());
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), 55);
        assert_eq!(lines.iter().filter(|line| line.len() > 200).count(), 1);
        assert!(lines[54].contains(&"x".repeat(5_000)), "nothing is cut off");
        // As in ghz, where words are as long as words are.
        let few = section("Errors", vec![row("a".to_owned()), row("three".to_owned())]);
        assert_eq!(few, "\nErrors:\n  [1]   a       \n  [1]   three   \n");
    }

    #[test]
    fn a_time_that_no_clock_could_tell_is_none() {
        let part = part("Gap", &SplitPart { max_ns: 2_000_000, ..SplitPart::default() });
        let said = "  Gap:\tnone mean, none in 50 %, none in 90 %, none in 99 %, 2.00 ms at most\n";
        assert_eq!(part, said);
    }
}
