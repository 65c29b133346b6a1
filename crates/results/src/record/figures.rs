//! Rounds figures that are not counts, where a record would be too large.

use serde_json::{Number, Value};

/// Significant digits that remain: a billionth is finer than any clock here can resolve.
const DIGITS: usize = 9;

/// A line of a record, with figures of that many digits. Counts, texts and latencies are unchanged.
pub(super) fn with_short_figures(line: &str) -> String {
    match serde_json::from_str(line) {
        Ok(value) => format!("{}\n", shortened(value)),
        Err(_) => format!("{line}\n"),
    }
}

fn shortened(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => Value::Number(rounded(number)),
        Value::Array(values) => values.into_iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            Value::Object(fields.map(|(name, of)| (name, shortened(of))).collect())
        }
        other => other,
    }
}

fn rounded(number: Number) -> Number {
    let text = number.as_f64().map(|value| format!("{value:.0$e}", DIGITS - 1));
    let short = text.and_then(|text| text.parse().ok());
    short.and_then(Number::from_f64).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_lose_what_no_clock_can_tell_and_counts_lose_nothing() {
        let line = r#"{"a":[0.30000000000000004,123456.78901234567],"n":18446744073709551615,"t":"0.30000000000000004"}"#;
        assert_eq!(
            with_short_figures(line),
            "{\"a\":[0.3,123456.789],\"n\":18446744073709551615,\"t\":\"0.30000000000000004\"}\n"
        );
    }
}
