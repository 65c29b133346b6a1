//! A report as one HTML file, which needs no network and no script.

use crate::summary;
use bookend_contract::printable::is_printable;
use bookend_contract::report::{Bucket, LoadReport};
use std::fmt::Display;

const STYLE: &str = "\
:root{color-scheme:light dark;--bar:#0b7285;--line:#8884}\
@media(prefers-color-scheme:dark){:root{--bar:#3bc9db}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:0 0 1.5rem}\
th,td{border-bottom:1px solid var(--line);padding:.25rem .75rem;text-align:right}\
th:first-child,td:first-child{text-align:left}\
.bar{background:var(--bar);height:.9rem;display:inline-block;vertical-align:middle}\
td.wide{text-align:left;width:60%}\
pre{white-space:pre-wrap;overflow-wrap:anywhere}\
td{overflow-wrap:anywhere}";

pub(super) fn text(report: &LoadReport) -> String {
    let title = report.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("bookend load");
    let title = escaped(title);
    let options = serde_json::to_string_pretty(&report.options).unwrap_or_default();
    let body = [
        format!("<h1>{title}</h1><p>{}</p>", escaped(&report.date)),
        tags(report),
        format!("<h2>Summary</h2>{}", table(&[], summary_rows(report))),
        format!("<h2>Histogram</h2>{}", histogram(&report.histogram)),
        format!("<h2>Latency distribution</h2>{}", latencies(report)),
        format!(
            "<h2>Status distribution</h2>{}",
            counts("Status", &report.status_code_distribution, report.count)
        ),
        errors(report),
        format!("<h2>Options</h2><pre>{}</pre>", escaped(&options)),
        format!("<h2>All figures</h2><pre>{}</pre>", escaped(summary::text(report))),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body>{}</body></html>\n",
        body.join("\n")
    )
}

fn tags(report: &LoadReport) -> String {
    let rows = report.tags.iter().map(|(name, value)| [escaped(name), escaped(value)].to_vec());
    if report.tags.is_empty() { String::new() } else { table(&["Tag", "Value"], rows.collect()) }
}

fn summary_rows(report: &LoadReport) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    vec![
        row("Count", report.count.to_string()),
        row("Total", summary::duration(report.total)),
        row("Slowest", summary::latency(report, report.slowest)),
        row("Fastest", summary::latency(report, report.fastest)),
        row("Average", summary::latency(report, report.average)),
        row("Requests / sec", format!("{:.2}", report.rps)),
    ]
}

fn histogram(buckets: &[Bucket]) -> String {
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
    let row = |bucket: &Bucket| {
        let percent = bucket.count as f64 * 100.0 / most as f64;
        format!(
            "<tr><td>{:.3} ms</td><td>{}</td><td class=\"wide\">\
             <span class=\"bar\" style=\"width:{percent:.1}%\"></span></td></tr>",
            bucket.mark * 1e3,
            bucket.count
        )
    };
    format!(
        "<table><tr><th>At most</th><th>Calls</th><th></th></tr>{}</table>",
        buckets.iter().map(row).collect::<String>()
    )
}

fn latencies(report: &LoadReport) -> String {
    let rows = report
        .latency_distribution
        .iter()
        .map(|point| vec![format!("{} %", point.percentage), summary::duration(point.latency)])
        .collect();
    table(&["Of the calls", "took at most"], rows)
}

fn errors(report: &LoadReport) -> String {
    if report.error_distribution.is_empty() {
        return String::new();
    }
    format!("<h2>Errors</h2>{}", counts("Error", &report.error_distribution, report.count))
}

fn counts<'a>(
    heading: &str,
    counts: impl IntoIterator<Item = (&'a String, &'a u64)>,
    total: u64,
) -> String {
    let row = |(name, count): (&String, &u64)| {
        let percent = *count as f64 * 100.0 / total.max(1) as f64;
        vec![escaped(name), count.to_string(), format!("{percent:.2} %")]
    };
    table(&[heading, "Count", "% of Total"], counts.into_iter().map(row).collect())
}

/// Cells are HTML already.
fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let heading = if headings.is_empty() { String::new() } else { line("th", headings) };
    let lines: String = rows.iter().map(|cells| line("td", cells)).collect();
    format!("<table>{heading}{lines}</table>")
}

fn line(tag: &str, cells: &[impl Display]) -> String {
    let inside: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
    format!("<tr>{inside}</tr>")
}

/// Text of a server or a user, of which no letter may be read as HTML. What cannot be shown becomes
/// a replacement character.
fn escaped(text: impl Display) -> String {
    let mut escaped = String::new();
    for letter in text.to_string().chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            letter if !is_printable(letter) => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(escaped("a\u{1b}[31m\u{202e}\nb"), "a\u{fffd}[31m\u{fffd}\nb");
    }
}
