//! What a file is from which no report can be made, and what to do about it. Each guess is a
//! sentence that follows the file's name.

use crate::record::RecordError;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// What reports are made of.
const WANTED: &str = "a report is made of results of bookend load -O json, of a race that bookend \
                      race --save has kept, of a record, or of the number of a run";

/// By their first bytes.
const BINARY: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "it is compressed: unpack it with gunzip first"),
    (b"\xfd7zXZ", "it is compressed: unpack it with unxz first"),
    (b"BZh", "it is compressed: unpack it with bunzip2 first"),
    (b"PK\x03\x04", "it is an archive: unpack it with unzip first"),
    (b"SQLite format 3\0", "it is a store of results: name it with --store"),
];

/// JSON, by keys that nothing else has.
const OBJECTS: [(&[&str], &str); 6] = [
    (
        &["statusCodeDistribution", "latencyDistribution"],
        "it is a result of ghz, without the histogram and the CPU time that a page needs: bookend \
         load takes the same flags, and with -O json makes one that has them",
    ),
    (
        &["lap_ms", "servers", "covers_starts"],
        "it is the answer of bookend race --json, which has no laps: a report is made of the file \
         of bookend race --save",
    ),
    (
        &["calibrations", "origin"],
        "it is a check: bookend check prints what is in it, and there are no reports of checks",
    ),
    (&["schema_version", "rows", "plan"], "it is a report already, in JSON"),
    (&["timestamp", "latency", "status"], "it lists calls one by one, as --debug does"),
    (&["target", "method", "call"], "it is the answer of bookend probe"),
];

/// Text that is no JSON, by its beginning, in small letters.
const TEXTS: [(&str, &str); 9] = [
    ("<!doctype html", "it is a page"),
    ("<html", "it is a page"),
    ("<", "it is HTML or XML"),
    ("summary:", "it is a summary for people"),
    ("duration (ms),", "it lists calls one by one, as CSV"),
    ("#[", "it is a log of HdrHistogram, as --hdr writes it"),
    ("# help ", "it is Prometheus' text"),
    ("# type ", "it is Prometheus' text"),
    ("# ", "it is Markdown"),
];

/// What a file is that is no text.
pub fn binary(bytes: &[u8]) -> Option<&'static str> {
    BINARY.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, what)| *what)
}

/// Whether the first line has what only a record's has.
pub fn begins_as_a_record(text: &str) -> bool {
    let keys = first_object(text).and_then(Result::ok);
    keys.is_some_and(|keys| ["record", "suite"].iter().all(|key| keys.contains_key(*key)))
}

/// Whether it looks like a race with its laps. The answer of one has words that no race has.
pub fn is_race(text: &str) -> bool {
    let keys = first_object(text).and_then(Result::ok).unwrap_or_default();
    let has = |key: &&str| keys.contains_key(*key);
    ["lap_ms", "servers", "starts"].iter().all(has) && !has(&"covers_starts")
}

/// What a text is that is neither a record nor the result of a load test.
pub fn text(text: &str) -> String {
    let start = text.trim_start();
    if start.is_empty() {
        return "the file is empty".to_owned();
    }
    if !start.starts_with(['{', '[']) {
        return other_than_json(start);
    }
    match first_object(start) {
        Some(Err(error)) if error.is_eof() => cut(error.line()),
        Some(Err(error)) if !error.is_data() => format!("it is not JSON: {error}"),
        Some(Ok(keys)) => {
            let known = |of: &&str| keys.contains_key(*of);
            let kind = OBJECTS.iter().find(|(marks, _)| marks.iter().all(&known));
            kind.map_or_else(
                || format!("it is JSON of another kind: {WANTED}"),
                |(_, what)| (*what).to_owned(),
            )
        }
        _ => format!("it is JSON of another kind: {WANTED}"),
    }
}

/// Why a record cannot be read.
pub fn record(error: &RecordError, text: &str) -> String {
    match error {
        // The last line breaks off where its writer or its copy ended.
        RecordError::Line { line, .. }
            if !text.ends_with('\n') && text.lines().count() == *line =>
        {
            cut(*line)
        }
        error => error.to_string(),
    }
}

fn cut(line: usize) -> String {
    format!("it breaks off in line {line}: write or copy it again")
}

/// The keys of the first object. JSON that breaks off does so before any key is missed.
fn first_object(text: &str) -> Option<serde_json::Result<BTreeMap<String, IgnoredAny>>> {
    serde_json::Deserializer::from_str(text).into_iter().next()
}

fn other_than_json(start: &str) -> String {
    let first = start.lines().next().unwrap_or_default().to_lowercase();
    if let Some((_, what)) = TEXTS.iter().find(|(begin, _)| first.starts_with(begin)) {
        return format!("{what}: {WANTED}");
    }
    let is_table = first.matches([',', ';', '\t']).count() > 1;
    let what = if is_table { "it looks like CSV" } else { "it is text, and no JSON" };
    format!("{what}: {WANTED}")
}
