//! What a foreign instrument printed, as it is kept beside a record: without its list of all
//! calls.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// More than any summary has; a record stays in the history of the project forever.
pub const RAW_OUTPUT_LIMIT_BYTES: usize = 64 << 10;

/// The field in which ghz lists every call.
const EVERY_CALL: &str = "details";

/// The text that is kept of `text`: JSON line by line, so that two can be compared.
pub fn kept(text: &str) -> String {
    let mut kept = serde_json::from_str::<Summary>(text)
        .ok()
        .and_then(|summary| serde_json::to_string_pretty(&summary.0).ok())
        .unwrap_or_else(|| text.trim_end().to_owned());
    if kept.len() > RAW_OUTPUT_LIMIT_BYTES {
        let end = (0..=RAW_OUTPUT_LIMIT_BYTES)
            .rev()
            .find(|end| kept.is_char_boundary(*end))
            .unwrap_or_default();
        kept.truncate(end);
        kept.push_str("\n(cut off here)");
    }
    kept + "\n"
}

/// The fields of a document but the list of calls, of which their number remains. The list is
/// never held: it may have millions of calls.
struct Summary(Map<String, Value>);

impl<'de> Deserialize<'de> for Summary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Summary, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Summary;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Summary, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == EVERY_CALL {
                let calls: Option<Vec<IgnoredAny>> = map.next_value()?;
                let count = calls.map_or(0, |calls| calls.len());
                fields.insert(name, format!("{count} calls, left out").into());
            } else {
                fields.insert(name, map.next_value()?);
            }
        }
        Ok(Summary(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_ghz_is_kept_and_its_calls_are_counted() {
        let text = r#"{"count":2,"details":[{"latency":1},{"latency":2}],"rps":0.5}"#;
        let expected =
            "{\n  \"count\": 2,\n  \"details\": \"2 calls, left out\",\n  \"rps\": 0.5\n}\n";
        assert_eq!(kept(text), expected);
        assert!(kept(r#"{"details":null}"#).contains("0 calls"));
    }

    #[test]
    fn other_text_stays_as_it_is_up_to_the_limit() {
        assert_eq!(kept("finished in 1s\n\n"), "finished in 1s\n");
        let long = kept(&"é".repeat(RAW_OUTPUT_LIMIT_BYTES));
        assert!(long.ends_with("é\n(cut off here)\n"), "{}", &long[long.len() - 40..]);
        assert!(long.len() < RAW_OUTPUT_LIMIT_BYTES + 40);
    }
}
