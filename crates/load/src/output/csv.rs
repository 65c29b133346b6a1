//! Calls one by one as comma-separated values, under ghz's heading.

use super::calls::{append_number, write_each};
use crate::record::{ListedCall, ListedCalls};
use std::borrow::Cow;
use std::io::{self, Write};

const NANOSECONDS_A_MILLISECOND: u64 = 1_000_000;

/// As ghz writes it, an empty line comes first. Other than there, texts are quoted where RFC 4180
/// asks for it, and milliseconds have six digits.
pub(super) fn write(calls: &ListedCalls, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(b"\nduration (ms),status,error\n")?;
    write_each(calls, to, append)
}

fn append(text: &mut Vec<u8>, call: &ListedCall<'_>) {
    append_number(text, call.latency_ns / NANOSECONDS_A_MILLISECOND, 1);
    text.push(b'.');
    append_number(text, call.latency_ns % NANOSECONDS_A_MILLISECOND, 6);
    for field in [",", call.status(), ",", &quoted(call.error()), "\n"] {
        text.extend_from_slice(field.as_bytes());
    }
}

fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
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
