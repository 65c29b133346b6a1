//! Calls one by one as comma-separated values, under ghz's heading.

use super::calls::{append_number, write_each};
use crate::record::{ListedCall, ListedCalls};
use bookend_contract::csv::cell;
use std::io::{self, Write};

const NANOSECONDS_A_MILLISECOND: u64 = 1_000_000;

/// Other than in ghz, no empty line comes first, which readers take for the heading; cells are such
/// as RFC 4180 asks for, and milliseconds have six digits.
pub(super) fn write(calls: &ListedCalls, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(b"duration (ms),status,error\n")?;
    write_each(calls, to, append)
}

fn append(text: &mut Vec<u8>, call: &ListedCall<'_>) {
    append_number(text, call.latency_ns / NANOSECONDS_A_MILLISECOND, 1);
    text.push(b'.');
    append_number(text, call.latency_ns % NANOSECONDS_A_MILLISECOND, 6);
    for field in [",", &cell(call.status()), ",", &cell(call.error()), "\n"] {
        text.extend_from_slice(field.as_bytes());
    }
}
