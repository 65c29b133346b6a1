//! InfluxDB's line protocol, with ghz's measurements, tags and fields.

use super::calls::{append_number, write_each};
use super::options::Options;
use crate::record::ListedCalls;
use bookend_contract::printable;
use bookend_contract::report::LoadReport;
use bookend_contract::timestamp::Timestamp;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// One line with the run as a whole.
pub(super) fn summary(report: &LoadReport) -> String {
    let errors: u64 = report.error_distribution.values().sum();
    let tags = format!("{},errors={errors},has_errors={}", tags(report), errors > 0);
    let latency_at = |percentage: f64| {
        report
            .latency_distribution
            .iter()
            .find(|point| point.percentage == percentage)
            .map_or(0, |point| point.latency)
    };
    let fields = [
        field("count", report.count),
        field("total", report.total),
        field("average", report.average),
        field("fastest", report.fastest),
        field("slowest", report.slowest),
        format!("rps={:.2}", report.rps),
        field("median", latency_at(50.0)),
        field("p95", latency_at(95.0)),
        field("errors", errors),
    ];
    format!("ghz_run,{tags} {} {}\n", fields.join(","), nanoseconds(&report.date))
}

/// A line for each call.
pub(super) fn details(
    report: &LoadReport,
    calls: &ListedCalls,
    to: &mut dyn Write,
) -> io::Result<()> {
    let start = format!("ghz_detail,{},hasError=", tags(report));
    write_each(calls, to, |line, call| {
        let has_error = if call.error().is_empty() { "false" } else { "true" };
        for part in [start.as_str(), has_error, " latency="] {
            line.extend_from_slice(part.as_bytes());
        }
        append_number(line, call.latency_ns, 1);
        let parts = [",error=\"", &text(call.error()), "\",status=\"", call.status(), "\" "];
        for part in parts {
            line.extend_from_slice(part.as_bytes());
        }
        append_number(line, call.end.0, 1);
        line.push(b'\n');
    })
}

fn field(name: &str, value: impl Display) -> String {
    format!("{name}={value}")
}

/// The tags that all lines have: ghz's, in its order and with its quotation marks.
fn tags(report: &LoadReport) -> String {
    let options = Options(&report.options);
    let mut tags = Vec::new();
    if let Some(name) = report.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        tags.push(quoted("name", name));
    }
    match (options.text("proto"), options.text("protoset")) {
        ("", "") => {}
        ("", protoset) => tags.push(quoted("Protoset", protoset)),
        (proto, _) => tags.push(quoted("proto", proto)),
    }
    tags.push(quoted("call", options.text("call")));
    tags.push(quoted("host", options.text("host")));
    tags.push(field("n", options.number("total")));
    tags.extend(schedule(options, "concurrency", "c", "concurrency"));
    tags.extend(schedule(options, "load", "rps", "rps"));
    tags.push(field("z", options.number("duration")));
    for (name, option) in
        [("timeout", "timeout"), ("dial_timeout", "dial-timeout"), ("keepalive", "keepalive")]
    {
        tags.push(field(name, options.number(option) / 1e9));
    }
    tags.push(quoted("data", &options.json("data")));
    tags.push(quoted("metadata", &options.json("metadata")));
    let labels = serde_json::to_string(&report.tags).unwrap_or_default();
    tags.push(quoted("tags", if report.tags.is_empty() { "" } else { &labels }));
    tags.join(",")
}

/// The tags of a schedule: where it is constant, the constant alone.
fn schedule(options: Options<'_>, of: &str, tag: &str, constant: &str) -> Vec<String> {
    let shape = options.text(&format!("{of}-schedule"));
    if shape == "const" || shape.is_empty() {
        return vec![field(tag, options.number(constant))];
    }
    let parts = ["start", "end", "step", "step-duration", "max-duration"];
    let part = |part: &str| {
        let name = format!("{of}-{part}");
        let value = options.number(&name);
        field(&name, value)
    };
    let shape = format!("{of}-schedule={}", tag_value(shape));
    std::iter::once(shape).chain(parts.map(part)).collect()
}

/// ghz has quotation marks around the values of these tags.
fn quoted(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", tag_value(value))
}

/// Line protocol ends a tag at a comma, an equals sign or a space, and a line at a line break.
fn tag_value(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in printable::line(value).chars() {
        if matches!(letter, ',' | '=' | ' ') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// The text of a field, between quotation marks.
fn text(value: &str) -> Cow<'_, str> {
    let value = printable::line(value);
    if !value.contains(['\\', '"']) {
        return value;
    }
    value.replace('\\', "\\\\").replace('"', "\\\"").into()
}

/// Nanoseconds since 1970 of a date as reports have it.
fn nanoseconds(date: &str) -> i64 {
    date.parse().map_or(0, |time: Timestamp| time.unix_ms() * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_ends_a_tag_or_a_field_stays_in_it() {
        assert_eq!(tag_value("a b,c=d\n"), "a\\ b\\,c\\=d\\ ");
        assert_eq!(text("say \"no\" \\ \n"), "say \\\"no\\\" \\\\  ");
    }
}
