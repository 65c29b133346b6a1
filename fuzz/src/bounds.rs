//! Memory and work as functions of the length of the input.

use std::fmt::Display;

/// Runs something and asserts that it never had more than `least_bytes`, and `bytes_per_byte` for
/// each byte of its input, allocated at a time.
pub fn assert_memory(input: &[u8], least_bytes: u64, bytes_per_byte: u64, run: impl FnOnce()) {
    let peak_bytes = allocation_counter::measure(run).bytes_max;
    let allowed_bytes = least_bytes + bytes_per_byte * input.len() as u64;
    assert!(
        peak_bytes <= allowed_bytes,
        "{} bytes cost {peak_bytes} bytes of memory; {allowed_bytes} are allowed",
        input.len()
    );
}

/// Asserts that something countable stays within a line.
pub fn assert_work(what: &str, count: usize, least: usize, per_byte: usize, input: &[u8]) {
    let allowed = least + per_byte * input.len();
    assert!(count <= allowed, "{} bytes cost {count} {what}; {allowed} are allowed", input.len());
}

/// Asserts that an error is a line that people can read, whatever it quotes.
pub fn assert_line(error: &impl Display) {
    const LINE_MAX_BYTES: usize = 8 << 10;
    let text = error.to_string();
    assert!(
        !text.is_empty() && text.len() <= LINE_MAX_BYTES && text.lines().count() == 1,
        "{text}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "bytes of memory")]
    fn memory_above_the_line_is_told() {
        assert_memory(b"input", 1_000, 1, || drop(std::hint::black_box(vec![1_u8; 2_000])));
    }

    #[test]
    #[should_panic(expected = "9 events; 8 are allowed")]
    fn work_above_the_line_is_told() {
        assert_work("events", 9, 5, 1, b"abc");
    }

    #[test]
    #[should_panic(expected = "two")]
    fn an_error_of_two_lines_is_told() {
        assert_line(&"one\ntwo");
    }
}
