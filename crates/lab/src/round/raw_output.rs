//! What a foreign instrument printed, as it is kept next to a record: without its list of all
//! calls.

use bookend_results::raw_output::left_out;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// More than any summary has. ghz's tells every text of an error, which may name a port each: for
/// each of a hundred thousand connections it takes a hundred bytes.
pub const RAW_OUTPUT_LIMIT_BYTES: usize = 16 << 20;

/// The field in which ghz lists every call.
const EVERY_CALL: &str = "details";

/// The text that is kept of `text`: JSON line by line, so that two can be compared. It is whole, or
/// says that it is left out.
pub fn kept(text: &str) -> String {
    let kept = serde_json::from_str::<Summary>(text)
        .ok()
        .and_then(|summary| serde_json::to_string_pretty(&summary.0).ok())
        .unwrap_or_else(|| text.trim_end().to_owned());
    match kept.len() {
        0..=RAW_OUTPUT_LIMIT_BYTES => kept + "\n",
        more => left_out(more, RAW_OUTPUT_LIMIT_BYTES),
    }
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
    fn other_text_stays_as_it_is() {
        assert_eq!(kept("finished in 1s\n\n"), "finished in 1s\n");
    }

    #[test]
    fn a_summary_of_many_errors_is_kept_whole() {
        let error = |port| format!("\"rpc error: code = Unavailable, 127.0.0.1:{port}\":1");
        let errors: Vec<String> = (0..20_000).map(error).collect();
        let text = format!("{{\"errorDistribution\":{{{}}}}}", errors.join(","));
        let summary: Value = serde_json::from_str(&kept(&text)).expect("valid JSON");
        assert_eq!(summary["errorDistribution"].as_object().expect("errors").len(), 20_000);
    }

    #[test]
    fn what_is_too_large_is_left_out_and_not_cut() {
        let most = RAW_OUTPUT_LIMIT_BYTES;
        assert_eq!(kept(&"x".repeat(most)).len(), most + 1);
        let said = format!("left out: it has {} bytes, and at most {most} are kept\n", most + 1);
        assert_eq!(kept(&"x".repeat(most + 1)), said);
    }
}
