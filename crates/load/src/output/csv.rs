//! Calls one by one as comma-separated values, under ghz's heading.

use bookend_contract::report::{CallDetail, LoadReport};

/// As ghz writes it, an empty line comes first. Other than there, texts are quoted where RFC 4180
/// asks for it, and milliseconds have six digits.
pub(super) fn text(report: &LoadReport) -> String {
    let rows: String = report.details.iter().flatten().map(row).collect();
    format!("\nduration (ms),status,error\n{rows}")
}

fn row(call: &CallDetail) -> String {
    let milliseconds = call.latency as f64 / 1e6;
    format!("{milliseconds:.6},{},{}\n", call.status, quoted(&call.error))
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_field_is_quoted() {
        assert_eq!(quoted("plain text"), "plain text");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\"\n"), "\"say \"\"no\"\"\n\"");
    }
}
