//! The answer of load tests in words: what was answered and how fast, what failed, what the limit
//! was.

use super::load_test::LoadTest;
use super::machines;
use super::parting::parting;
use super::wording::{per_second_text, share_text, time_text};
use crate::call_fate::most_frequent;
use crate::first_few::first_few;
use bookend_contract::generator_stops::clause;
use bookend_contract::silence;
use bookend_results::quoted::{one_line, quoted_line};
use std::collections::BTreeMap;

/// Most load tests that have a line of their own.
const LINES_MAX: usize = 6;

/// What is quoted of an error is cut here: it may be as long as its writer liked.
const ERROR_CHARS: usize = 120;

/// The lines, the most important first; each is one line, whatever names and errors hold.
pub(super) fn lines(tests: &[LoadTest]) -> Vec<String> {
    let lines = match tests {
        [] => vec!["There is no load test.".to_owned()],
        [test] => of_one(test),
        _ => of_several(tests),
    };
    lines.iter().map(|line| one_line(line)).collect()
}

fn of_one(test: &LoadTest) -> Vec<String> {
    let first = format!("{} {}", rate_sentence(test), latency_sentence(test));
    let optional = [parting_line(test), messages_line(test), clocks_line(test)];
    let trouble = [failures_line(test), interruptions_line(test), machines::sentences(test)];
    let last = trouble.into_iter().chain([gates_line(test), Some(limit_line(test))]);
    [Some(first)].into_iter().chain(optional).chain(last).flatten().collect()
}

fn rate_sentence(test: &LoadTest) -> String {
    let (rate, failed) = (per_second_text(test.ok_per_second()), failed_beside(test));
    match (test.offered_per_second(), test.in_flight_max()) {
        (Some(offered), _) => format!(
            "{rate} calls a second were answered OK, of {} that were due{failed}.",
            per_second_text(offered)
        ),
        (None, Some(calls)) => {
            format!("{rate} calls a second were answered OK, with {calls} in flight{failed}.")
        }
        (None, None) => format!("{rate} calls a second were answered OK{failed}."),
    }
}

/// What follows a rate where many calls failed.
fn failed_beside(test: &LoadTest) -> String {
    match test.failed_share().filter(|share| share.is_told()) {
        Some(share) => format!(", while {share} of the calls failed"),
        None => String::new(),
    }
}

fn latency_sentence(test: &LoadTest) -> String {
    let clock = test.clock();
    if clock.is_empty() {
        return "No call ended with OK, so there is no latency.".to_owned();
    }
    let since = match test.from_due {
        Some(_) => "from when they were due",
        None => "from when they were made",
    };
    format!(
        "Half of them took at most {} {since}, 99 % at most {}, the slowest {}.",
        time_text(clock.at(50.0)),
        time_text(clock.at(99.0)),
        time_text(clock.max_ns)
    )
}

/// Where a load that grows becomes too much. One that is too much from the beginning needs no
/// words: the rates say so.
fn parting_line(test: &LoadTest) -> Option<String> {
    let parting = parting(test).filter(|parting| parting.seconds > 0.0)?;
    Some(format!(
        "The answers fell behind {:.0} s after the window began, when {} calls a second were due.",
        parting.seconds,
        per_second_text(parting.due_per_second)
    ))
}

/// How many messages streaming calls carried.
fn messages_line(test: &LoadTest) -> Option<String> {
    let messages = test.report.bookend.streams.as_ref()?;
    Some(format!(
        "The calls are streams: {} messages a second were sent and {} received.",
        per_second_text(messages.sent_per_second),
        per_second_text(messages.received_per_second)
    ))
}

/// What the same calls look like to a client that waits for its server.
fn clocks_line(test: &LoadTest) -> Option<String> {
    /// Less is what the steps of a histogram or a late wake-up make of it.
    const MUCH: u64 = 2;
    let due = test.from_due.as_ref().filter(|clock| !clock.is_empty())?;
    let (due_ns, start_ns) = (due.at(99.0), test.from_start.at(99.0));
    let lag_ns = test.open_loop().map_or(0, |calls| calls.lag.p99_ns);
    let meaning = match due_ns.saturating_sub(start_ns) {
        _ if due_ns < start_ns.saturating_mul(MUCH) => "they hardly waited to be made",
        waited_ns if lag_ns > waited_ns / MUCH => "the rest is mostly the generator's own lag",
        _ => "the rest is time in which they waited to be made",
    };
    let start = time_text(start_ns);
    Some(format!("Timed from when they were made, 99 % took at most {start}: {meaning}."))
}

fn failures_line(test: &LoadTest) -> Option<String> {
    let clauses: Vec<String> = missing_clauses(test).into_iter().flatten().collect();
    if !clauses.is_empty() {
        return Some(clauses.join(" "));
    }
    let all_made = test
        .open_loop()
        .filter(|calls| calls.due > 0)
        .map_or("", |_| ", and every call that was due was made");
    (test.report.count > 0).then(|| format!("No call failed{all_made}."))
}

fn missing_clauses(test: &LoadTest) -> [Option<String>; 3] {
    [failed_clause(test), not_made_clause(test), never_came_back_clause(test)]
}

fn failed_clause(test: &LoadTest) -> Option<String> {
    let (failed, count) = (test.failed(), test.report.count);
    if failed == 0 {
        return None;
    }
    let errors = &test.report.bookend.errors;
    let codes: Vec<String> = most_frequent_of(errors)
        .iter()
        .map(|code| format!("{} {}", quoted_line(code), errors[code]))
        .collect();
    let texts = &test.report.error_distribution;
    let text = most_frequent_of(texts).into_iter().next().map_or_else(String::new, |text| {
        let quoted: String = quoted_line(&text).chars().take(ERROR_CHARS).collect();
        format!(" Most often: \"{quoted}\" ({} times).", texts[&text])
    });
    Some(format!(
        "Failed: {} of the calls that ended ({}).{text}",
        share_text(failed, count),
        first_few(&codes)
    ))
}

fn not_made_clause(test: &LoadTest) -> Option<String> {
    let calls = test.open_loop().filter(|_| test.not_made() > 0)?;
    let why: Vec<String> = most_frequent_of(&calls.not_made)
        .iter()
        .map(|why| format!("{} {}", quoted_line(why), calls.not_made[why]))
        .collect();
    Some(format!(
        "Never made: {} of the calls that were due ({}).",
        share_text(test.not_made(), calls.due),
        first_few(&why)
    ))
}

fn never_came_back_clause(test: &LoadTest) -> Option<String> {
    let calls = Some(test.never_came_back()).filter(|calls| *calls > 0)?;
    let (all, _) = test.report.all_and_failed();
    Some(format!("Never came back: {}.", share_text(calls, all)))
}

/// The objectives of the run.
fn gates_line(test: &LoadTest) -> Option<String> {
    let gates: Vec<String> =
        test.report.bookend.gates.iter().map(|gate| quoted_line(&gate.to_string())).collect();
    (!gates.is_empty()).then(|| format!("Objectives: {}.", gates.join("; ")))
}

/// A time in which nothing ended, and an end before its time.
fn interruptions_line(test: &LoadTest) -> Option<String> {
    let stops = clause(test.report.bookend.generator_stops);
    let in_words = |(start_ms, length_ms): (u64, u64)| {
        let seconds = |milliseconds: u64| milliseconds as f64 / 1e3;
        format!(
            "No call ended for {:.1} s, from {:.1} s on{stops}.",
            seconds(length_ms),
            seconds(start_ms)
        )
    };
    let intervals = test.report.bookend.intervals.as_ref();
    let silence = intervals.and_then(silence::longest).map(in_words);
    let was_cancelled = test.report.end_reason == "cancel";
    let early = was_cancelled.then(|| "The run was ended early.".to_owned());
    let clauses: Vec<String> = silence.into_iter().chain(early).collect();
    (!clauses.is_empty()).then(|| clauses.join(" "))
}

fn limit_line(test: &LoadTest) -> String {
    format!("Limit: {}.", test.limit())
}

fn of_several(tests: &[LoadTest]) -> Vec<String> {
    let own = tests.iter().take(LINES_MAX).map(|test| {
        let others = [interruptions_line(test), machines::sentences(test)];
        let trouble = missing_clauses(test).into_iter().chain(others);
        let end = [gates_line(test), Some(limit_line(test))];
        let all: Vec<_> = trouble.chain(end).flatten().collect();
        format!("{}: {} {}", test.name, brief(test), all.join(" "))
    });
    let more = tests.len().saturating_sub(LINES_MAX);
    let more = (more > 0).then(|| format!("The tables have {more} more."));
    std::iter::once(best(tests)).chain(own).chain(more).collect()
}

fn brief(test: &LoadTest) -> String {
    let rate = per_second_text(test.ok_per_second());
    let offered = test
        .offered_per_second()
        .map_or_else(String::new, |offered| format!(" of {} due", per_second_text(offered)));
    let clock = test.clock();
    let latency = match clock.is_empty() {
        true => String::new(),
        false => format!(", 99 % within {}", time_text(clock.at(99.0))),
    };
    let failed = failed_beside(test);
    format!("{rate} calls a second answered OK{offered}{latency}{failed}.")
}

/// The highest load that was carried and the lowest that was not; in closed loops the highest rate.
fn best(tests: &[LoadTest]) -> String {
    let mut offered: Vec<(f64, &LoadTest)> =
        tests.iter().filter_map(|test| Some((test.offered_per_second()?, test))).collect();
    if offered.len() < 2 {
        return fastest(tests);
    }
    offered.sort_by(|a, b| a.0.total_cmp(&b.0));
    let carried = match offered.iter().rfind(|(_, test)| test.is_carried()) {
        Some((rate, test)) => format!(
            "Carried: {} calls a second, 99 % of them within {} from when they were due ({}).",
            per_second_text(*rate),
            time_text(test.clock().at(99.0)),
            test.name
        ),
        None => "No load was carried as it was offered.".to_owned(),
    };
    let missed = match offered.iter().find(|(_, test)| !test.is_carried()) {
        Some((rate, test)) => format!("Not carried: {} ({}).", per_second_text(*rate), test.name),
        None => "No higher load was offered.".to_owned(),
    };
    format!("{carried} {missed}")
}

fn fastest(tests: &[LoadTest]) -> String {
    let by_rate = |a: &&LoadTest, b: &&LoadTest| a.ok_per_second().total_cmp(&b.ok_per_second());
    tests.iter().max_by(by_rate).map_or_else(String::new, |test| {
        let rate = per_second_text(test.ok_per_second());
        format!(
            "The highest rate is that of {}: {rate} calls a second were answered OK{}.",
            test.name,
            failed_beside(test)
        )
    })
}

fn most_frequent_of(counts: &BTreeMap<String, u64>) -> Vec<String> {
    most_frequent(std::iter::once(counts))
}
