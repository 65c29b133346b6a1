//! A report as JSON. Its calls one by one are written straight from where they were logged, byte
//! for byte as serde would: a list of them in memory, and its text, would take ten times as much
//! as the log.

use super::calls::{append_number, write_each};
use crate::record::{ListedCall, ListedCalls};
use bookend_contract::report::{Extension, LoadReport};
use bookend_contract::timestamp::TimestampText;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

const WRITABLE: &str = "every key of a report is a string";

/// The text around the values of calls.
pub(super) struct Style {
    is_indented: bool,
    list: &'static str,
    list_end: &'static str,
    timestamp: &'static str,
    latency: &'static str,
    error: &'static str,
    status: &'static str,
    call_end: &'static str,
}

/// All on one line.
pub(super) const COMPACT: Style = Style {
    is_indented: false,
    list: "\"details\":[",
    list_end: "]",
    timestamp: "{\"timestamp\":\"",
    latency: "\",\"latency\":",
    error: ",\"error\":",
    status: ",\"status\":\"",
    call_end: "\"}",
};

/// Indented by two.
pub(super) const PRETTY: Style = Style {
    is_indented: true,
    list: "\n  \"details\": [",
    list_end: "\n  ]",
    timestamp: "\n    {\n      \"timestamp\": \"",
    latency: "\",\n      \"latency\": ",
    error: ",\n      \"error\": ",
    status: ",\n      \"status\": \"",
    call_end: "\"\n    }",
};

/// The fields of a report behind its calls, where ghz has them.
#[derive(Serialize)]
struct BehindCalls<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: &'a BTreeMap<String, String>,
    bookend: &'a Extension,
}

/// The report, with its calls where they are listed.
pub(super) fn write(
    report: &LoadReport,
    calls: Option<&ListedCalls>,
    style: &Style,
    to: &mut dyn Write,
) -> io::Result<()> {
    let text = style.text(report);
    let Some(calls) = calls else {
        return writeln!(to, "{text}");
    };
    let behind = style.text(&BehindCalls { tags: &report.tags, bookend: &report.bookend });
    // Its brace is not in the report's text, and the comma before the calls is.
    let (before, behind) = text.split_at(text.len() - (behind.len() - "{".len()));
    write!(to, "{before}{}", style.list)?;
    let mut separator = "";
    let mut times = TimestampText::default();
    write_each(calls, to, |text, call| {
        text.extend_from_slice(std::mem::replace(&mut separator, ",").as_bytes());
        style.append(text, call, &mut times);
    })?;
    // An empty list is not broken into lines.
    let end = if separator.is_empty() { "]" } else { style.list_end };
    writeln!(to, "{end},{behind}")
}

/// The calls alone, an object a line.
pub(super) fn write_calls(calls: &ListedCalls, to: &mut dyn Write) -> io::Result<()> {
    let mut times = TimestampText::default();
    write_each(calls, to, |text, call| {
        COMPACT.append(text, call, &mut times);
        text.push(b'\n');
    })
}

impl Style {
    fn text(&self, value: &impl Serialize) -> String {
        if self.is_indented {
            serde_json::to_string_pretty(value).expect(WRITABLE)
        } else {
            serde_json::to_string(value).expect(WRITABLE)
        }
    }

    fn append(&self, text: &mut Vec<u8>, call: &ListedCall<'_>, times: &mut TimestampText) {
        text.extend_from_slice(self.timestamp.as_bytes());
        text.extend_from_slice(times.of(call.end).as_bytes());
        text.extend_from_slice(self.latency.as_bytes());
        append_number(text, call.latency_ns, 1);
        text.extend_from_slice(self.error.as_bytes());
        serde_json::to_writer(&mut *text, call.error()).expect("memory takes every text");
        text.extend_from_slice(self.status.as_bytes());
        text.extend_from_slice(call.status().as_bytes());
        text.extend_from_slice(self.call_end.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::calls::tests::calls_of;
    use crate::plan::tests::plan;
    use crate::report::build_report;
    use crate::run::LoadOutcome;
    use std::time::UNIX_EPOCH;

    /// What serde makes of a report and its calls, behind which the report goes on.
    #[derive(Serialize)]
    struct Details {
        details: Vec<Detail>,
    }

    #[derive(Serialize)]
    struct Detail {
        timestamp: String,
        latency: u64,
        error: String,
        status: &'static str,
    }

    impl Details {
        fn of(calls: &ListedCalls) -> Self {
            let detail = |call: ListedCall<'_>| Detail {
                timestamp: call.end.to_string(),
                latency: call.latency_ns,
                error: call.error().to_owned(),
                status: call.status(),
            };
            Self { details: calls.in_order().map(detail).collect() }
        }

        /// The field as it stands in an object, with what parts it from the next.
        fn field(&self, style: &Style) -> String {
            let object = style.text(self);
            let field = object.strip_prefix('{').unwrap().trim_end_matches('}');
            format!("{},", field.strip_suffix('\n').unwrap_or(field))
        }
    }

    fn text(report: &LoadReport, calls: Option<&ListedCalls>, style: &Style) -> String {
        let mut text = Vec::new();
        write(report, calls, style, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn hostile_calls(count: usize) -> ListedCalls {
        let errors = ["", "no", "a \"b\"\\,\n\u{1b}[31m\u{7f} caf\u{e9} </script>"];
        calls_of(errors.into_iter().cycle().take(count).map(str::to_owned))
    }

    #[test]
    fn calls_stand_behind_the_histogram_and_are_written_as_serde_would() {
        let mut report = build_report(&plan(1, 1, 1, Some(9)), UNIX_EPOCH, &LoadOutcome::default());
        let tags = BTreeMap::from([("details".to_owned(), "[]".to_owned())]);
        for tags in [BTreeMap::new(), tags] {
            report.tags = tags;
            for (style, histogram) in
                [(COMPACT, r#","histogram":[],"#), (PRETTY, ",\n  \"histogram\": [],")]
            {
                let without = text(&report, None, &style);
                for count in [0, 1, 9] {
                    let calls = hostile_calls(count);
                    let field = Details::of(&calls).field(&style);
                    let expected = without.replace(histogram, &format!("{histogram}{field}"));
                    assert_eq!(text(&report, Some(&calls), &style), expected);
                }
            }
        }
    }

    #[test]
    fn calls_alone_are_an_object_a_line() {
        let calls = hostile_calls(3);
        let mut text = Vec::new();
        write_calls(&calls, &mut text).unwrap();
        let lines = Details::of(&calls).details;
        let lines: String =
            lines.iter().map(|call| serde_json::to_string(call).unwrap() + "\n").collect();
        assert_eq!(String::from_utf8(text).unwrap(), lines);
    }
}
