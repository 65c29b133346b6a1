//! Calls one by one. There can be millions, so their text is never in memory as a whole.

use crate::record::{ListedCall, ListedCalls};
use std::io::{self, Write};

/// Bytes that are written at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Writes a text for each call, in the order in which they ended.
pub(super) fn write_each(
    calls: &ListedCalls,
    to: &mut dyn Write,
    mut append: impl FnMut(&mut Vec<u8>, &ListedCall<'_>),
) -> io::Result<()> {
    let mut chunk = Vec::with_capacity(2 * CHUNK_BYTES);
    for call in calls.in_order() {
        append(&mut chunk, &call);
        if chunk.len() >= CHUNK_BYTES {
            to.write_all(&chunk)?;
            chunk.clear();
        }
    }
    to.write_all(&chunk)
}

/// A number in decimal, with zeros in front up to `digits_min` digits. A list of calls is mostly
/// such numbers, and the standard library's formatting would take as long as all the rest.
pub(super) fn append_number(text: &mut Vec<u8>, mut number: u64, digits_min: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 || digits.len() - first < digits_min {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::output::{OutputFormat, write_report};
    use crate::plan::tests::plan;
    use crate::record::CallLog;
    use crate::report::build_report;
    use crate::run::LoadOutcome;
    use bookend_wire::grpc::Code;
    use std::time::UNIX_EPOCH;

    /// Calls that ended 0.7 s after each other with these errors; an empty one stands for success.
    pub fn calls_of(errors: impl IntoIterator<Item = String>) -> ListedCalls {
        let mut log = CallLog::new(usize::MAX, Default::default());
        let mut end_ns = 1_790_000_000_000_000_000;
        for error in errors {
            end_ns += 700_000_000;
            if error.is_empty() {
                log.ok(end_ns, 1_203_004);
            } else {
                log.failed(end_ns, 90, Code::Internal, &error);
            }
        }
        let mut calls = ListedCalls::default();
        calls.add(log);
        calls
    }

    /// Counts the bytes that are written, and how many at most at a time.
    #[derive(Default)]
    struct WrittenBytes {
        all: usize,
        at_a_time: usize,
    }

    impl Write for WrittenBytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.all += bytes.len();
            self.at_a_time = self.at_a_time.max(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The most bytes that a format which lists calls writes of one, and at a time.
    fn bytes_of_calls(errors: &dyn Fn(usize) -> String) -> (usize, usize) {
        const CALLS: usize = 10_000;
        let calls = calls_of((0..CALLS).map(errors));
        let report = build_report(&plan(1, 1, 1, None), UNIX_EPOCH, &LoadOutcome::default());
        let (mut of_one, mut at_a_time) = (0, 0);
        let formats = [OutputFormat::Json, OutputFormat::Pretty, OutputFormat::InfluxDetails];
        for format in formats.into_iter().chain([OutputFormat::Csv]) {
            let mut bytes = WrittenBytes::default();
            write_report(&report, Some(&calls), format, &|_| String::new(), &mut bytes).unwrap();
            of_one = of_one.max(bytes.all / CALLS);
            at_a_time = at_a_time.max(bytes.at_a_time);
        }
        (of_one, at_a_time)
    }

    #[test]
    fn messages_of_a_server_do_not_grow_the_output_with_each_call() {
        let long = |number: usize| format!("{number}{}", "x\u{1}\"\\".repeat(1_500));
        let (distinct, _) = bytes_of_calls(&long);
        assert!(distinct <= 400, "{distinct} bytes a call");
        let (repeated, at_a_time) = bytes_of_calls(&|number| long(number % 900));
        assert!(repeated <= 600, "{repeated} bytes a call");
        assert!(at_a_time <= CHUNK_BYTES + 600, "{at_a_time} bytes at a time");
    }

    #[test]
    fn a_number_is_written_in_decimal() {
        let written = |number, digits_min| {
            let mut text = Vec::new();
            append_number(&mut text, number, digits_min);
            String::from_utf8(text).unwrap()
        };
        assert_eq!((written(0, 1), written(7, 1)), ("0".to_owned(), "7".to_owned()));
        assert_eq!((written(0, 6), written(1_203, 6)), ("000000".to_owned(), "001203".to_owned()));
        assert_eq!(written(u64::MAX, 1), u64::MAX.to_string());
    }
}
