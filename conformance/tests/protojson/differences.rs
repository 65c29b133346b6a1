//! Where Go's protojson does otherwise, and why.

use super::reference::{Comparison, Kind, Outcome, PROTO3};

/// Something that Go takes and is refused here.
pub struct Difference {
    pub name: &'static str,
    /// A text that shows it.
    pub example: fn() -> (Kind, String),
    /// Whether it explains what happened to another text.
    pub explains: fn(&Comparison) -> bool,
}

/// Each names the result of Python's json_format: where it agrees with Go, protobuf's guide or its
/// conformance suite has the last word.
pub const DIFFERENCES: [Difference; 5] = [
    Difference {
        name: "an exponent without digits: no JSON, but Go reads 1e as 1; Python refuses it",
        example: || proto3(r#"{"optionalInt32":1e}"#),
        explains: |it| refused_for(it, "invalid number"),
    },
    Difference {
        name: "messages more than 100 deep, which C++, Java and Python do not read; Go: 10,000",
        example: || {
            let levels = 150;
            proto3(&format!(
                "{}{{}}{}",
                r#"{"recursiveMessage":"#.repeat(levels),
                "}".repeat(levels)
            ))
        },
        explains: |it| refused_for(it, "messages are in each other more than 100 deep"),
    },
    Difference {
        name: "a comma before the fraction of a second: RFC 3339 has a point; Python refuses it",
        example: || proto3(r#"{"optionalTimestamp":"1970-01-01T00:00:00,5Z"}"#),
        explains: |it| refused_for(it, "is not a timestamp") && it.text.contains("00,5Z"),
    },
    Difference {
        name: "an offset of 24 hours or 60 minutes: the conformance suite refuses it, Python does not",
        example: || proto3(r#"{"optionalTimestamp":"1970-01-01T00:00:00+24:00"}"#),
        explains: |it| {
            let is_such = it.text.contains("+24:00") || it.text.contains("00:60\"");
            refused_for(it, "is not a timestamp") && is_such
        },
    },
    Difference {
        name: "a duration without any digit: Go reads .s as 0s; Python refuses it",
        example: || proto3(r#"{"optionalDuration":".s"}"#),
        explains: |it| refused_for(it, "\".s\" is not a duration"),
    },
];

fn proto3(text: &str) -> (Kind, String) {
    (PROTO3, text.to_owned())
}

fn refused_for(comparison: &Comparison, words: &str) -> bool {
    let is_taken = matches!(comparison.go, Outcome::Taken(_));
    matches!(&comparison.ours, Outcome::Refused(reason) if is_taken && reason.contains(words))
}
