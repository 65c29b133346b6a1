//! What the figures of load tests rest on: the method, the flags, the machine, the versions, the
//! commands.

use super::load_test::LoadTest;
use crate::first_few::first_few;
use crate::html::HtmlRow;
use crate::result_page::PageTable;
use bookend_contract::fleet::FleetReport;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::quoted::{clipped, cut_in_the_middle, quoted_line};
use bookend_results::text::seconds_text;
use serde_json::Value;

/// How a load test measures.
pub(super) const METHOD: &str = "In a closed loop a call is made when another has ended, so a slow server is called less often. In \
     an open loop calls are due by a schedule, whether or not others have ended, and a latency counts \
     from when its call was due: what waits for room has waited as its user would. Latencies are those \
     of calls that ended with OK in the window; the warm-up before it is in no figure. \
     Bookend's sources have more on it in docs/use/load.md, and define every figure in \
     docs/measure/metrics.md.";

/// What a result does not know.
pub(super) const WHOSE_MACHINE: &str = "The machine of the generator, or of the coordinator and then of its agents. A result does not \
     say on which one the server ran.";

/// Characters of a flag's value where several flags share a line.
const VALUE_CHARS: usize = 40;

/// What was called, and where.
pub(super) fn called(tests: &[LoadTest]) -> String {
    called_by(tests.iter().map(|test| &test.report.options))
}

/// The same from the flags.
pub(super) fn called_by<'a>(options: impl Iterator<Item = &'a Value> + Clone) -> String {
    let all = |option: &str| {
        let texts = options.clone().filter_map(|options| options.get(option));
        first_few(&each_once(
            texts.map(|value| cut_in_the_middle(&quoted_line(&text_of(value)), 80)),
        ))
    };
    match (all("call"), all("host")) {
        (call, host) if host.is_empty() => call,
        (call, host) => format!("{call} at {host}"),
    }
}

/// What was called, for how long and when.
pub(super) fn origin(tests: &[LoadTest]) -> String {
    let lengths = tests.iter().map(|test| seconds_text(test.report.total as f64 / 1e9));
    let days = tests.iter().map(|test| {
        let day = test.report.date.split('T').next().unwrap_or_default();
        cut_in_the_middle(&quoted_line(day), VALUE_CHARS)
    });
    let [lengths, days] = [each_once(lengths), each_once(days)].map(|texts| first_few(&texts));
    let command = match tests {
        [test] => test.report.bookend.origin.as_ref().map(|origin| command_text(&origin.command)),
        _ => None,
    };
    format!("{} for {lengths}, on {days}.{}", called(tests), command.unwrap_or_default())
}

/// What follows the rest of an origin: the command, of which a long one has more at the foot of the
/// page.
pub(super) fn command_text(command: &str) -> String {
    const COMMAND_CHARS: usize = 200;
    format!(" Command: {}", cut_in_the_middle(&quoted_line(command), COMMAND_CHARS))
}

/// The flags that are set, and the tags. Where load tests differ, each has a column.
pub(super) fn flags(tests: &[LoadTest]) -> PageTable {
    let all: Vec<Vec<(String, String)>> = tests.iter().map(flags_of).collect();
    let names = each_once(all.iter().flatten().map(|(name, _)| name.clone()));
    let row = |name: String| {
        let value = |flags: &Vec<(String, String)>| {
            flags
                .iter()
                .find(|(own, _)| *own == name)
                .map_or_else(|| "-".to_owned(), |(_, value)| value.clone())
        };
        let values: Vec<String> = all.iter().map(value).collect();
        let figures = match each_once(&values).as_slice() {
            [same] => Err(same.to_string()),
            _ => Ok(values.iter().map(|value| cut_in_the_middle(value, VALUE_CHARS)).collect()),
        };
        HtmlRow { names: vec![cut_in_the_middle(&name, VALUE_CHARS)], figures }
    };
    let values = match tests {
        [_] => vec!["value".to_owned()],
        _ => tests.iter().map(|test| test.name.clone()).collect(),
    };
    table_of_flags(values, names.into_iter().map(row).collect())
}

/// Flags, a column for each of `values`.
pub(super) fn table_of_flags(values: Vec<String>, rows: Vec<HtmlRow>) -> PageTable {
    let headings = std::iter::once("flag".to_owned()).chain(values).collect();
    PageTable { title: "Flags", headings, rows }
}

fn flags_of(test: &LoadTest) -> Vec<(String, String)> {
    let flags = given(&test.report.options);
    let tags = test
        .report
        .tags
        .iter()
        .map(|(name, value)| (format!("tag {}", quoted_line(name)), quoted_line(value)));
    flags.chain(tags).collect()
}

/// The flags that were given: zero stands for one that was not. The name stands above the page.
pub(super) fn given(options: &Value) -> impl Iterator<Item = (String, String)> {
    options
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "name" && value.as_f64() != Some(0.0))
        .map(|(name, value)| (quoted_line(name), quoted_line(&flag_text(name, value))))
}

/// The value of a flag; a time, which the file has in nanoseconds, with its unit.
fn flag_text(name: &str, value: &Value) -> String {
    const TIMES: [&str; 3] = ["warmup", "keepalive", "stream-interval"];
    let is_time = TIMES.contains(&name) || name.ends_with("duration") || name.ends_with("timeout");
    match value.as_u64().filter(|_| is_time) {
        Some(time_ns) => exact_time_text(time_ns),
        None => text_of(value),
    }
}

/// In the largest unit of which it is a whole number.
fn exact_time_text(time_ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "\u{b5}s")];
    let whole = UNITS.into_iter().find(|(unit_ns, _)| time_ns.is_multiple_of(*unit_ns));
    let (unit_ns, unit) = whole.unwrap_or((1, "ns"));
    format!("{} {unit}", time_ns / unit_ns)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The machines on which the generator ran, or its coordinator and its agents.
pub(super) fn machines(tests: &[LoadTest]) -> String {
    let machine = |test: &LoadTest| {
        let own = clipped(&test.report.bookend.origin.as_ref()?.facts_text());
        Some(match test.report.bookend.fleet.as_deref() {
            None => own,
            Some(fleet) => format!("{own}\n{}", of_agents(fleet)),
        })
    };
    each_said(tests, machine, "not said: an earlier version made it")
}

/// Each machine of agents once, under their names.
fn of_agents(fleet: &FleetReport) -> String {
    let texts = fleet.agents.iter().map(|agent| {
        (clipped(&agent.machine.to_string()).trim_end().to_owned(), agent.name.as_str())
    });
    let one = |(text, names): &(String, Vec<&str>)| {
        let names: Vec<String> = names.iter().map(|name| quoted_line(name)).collect();
        format!("Agents {}:\n{text}\n", first_few(&names))
    };
    grouped(texts).iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The commands that repeat the load tests.
pub(super) fn commands(tests: &[LoadTest]) -> String {
    let command = |test: &LoadTest| {
        let origin = test.report.bookend.origin.as_ref();
        origin.map(|origin| quoted_line(&origin.command))
    };
    each_said(tests, command, "not said: an earlier version made it, with the flags above")
}

/// Each program that measured, with its version.
pub(super) fn versions(tests: &[LoadTest]) -> Vec<(String, String)> {
    each_once(tests.iter().map(|test| test.report.bookend.version.clone()))
        .into_iter()
        .map(|version| ("bookend load".to_owned(), version))
        .collect()
}

/// A text once for all load tests that have the same, under their names where not all have it.
fn each_said(
    tests: &[LoadTest],
    text: impl Fn(&LoadTest) -> Option<String>,
    otherwise: &str,
) -> String {
    let texts = tests.iter().map(|test| {
        let text = text(test).unwrap_or_else(|| otherwise.to_owned());
        (text.trim_end().to_owned(), test.name.as_str())
    });
    match grouped(texts).as_slice() {
        [(text, _)] => text.clone(),
        several => {
            let one =
                |(text, names): &(String, Vec<&str>)| format!("{}:\n{text}\n", names.join(", "));
            several.iter().map(one).collect::<Vec<_>>().join("\n")
        }
    }
}
