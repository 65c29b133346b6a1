//! Values of header fields: status, percent-encoding, base64, timeouts.

use crate::bounds::assert_work;
use bookend_wire::grpc::{Code, base64, metadata, percent, timeout as grpc_timeout};

/// A value of `grpc-message`, of `-bin` metadata, of `grpc-status`, of `:status`.
pub fn text(input: &[u8]) {
    percent_encoding(input);
    base64(input);
    let code = Code::parse(input);
    assert!(code == Code::Unknown || code.digits() == input);
    let _ = Code::of_http_status(input);
    let _ = metadata::is_binary(input);
}

fn percent_encoding(input: &[u8]) {
    let text = percent::decode(input);
    // Of a byte that is no UTF-8, three are made.
    assert_work("bytes of text", text.len(), 0, 3, input);
    let mut encoded = Vec::new();
    percent::encode(&text, &mut encoded);
    assert!(encoded.iter().all(|byte| matches!(byte, 0x20..=0x7e)));
    assert_work("bytes of escapes", encoded.len(), 0, 9, input);
    assert_eq!(percent::decode(&encoded), text);
}

fn base64(input: &[u8]) {
    let mut encoded = Vec::new();
    base64::encode(input, &mut encoded);
    assert_eq!(encoded.len(), (input.len() * 4).div_ceil(3));
    assert_eq!(base64::decode(&encoded).as_deref(), Some(input));
    if let Some(bytes) = base64::decode(input) {
        assert_work("bytes of metadata", bytes.len(), 0, 1, input);
        let mut again = Vec::new();
        base64::encode(&bytes, &mut again);
        assert_eq!(base64::decode(&again), Some(bytes));
    }
}

/// The value of `grpc-timeout`, and eight bytes as a time to write.
pub fn timeout(input: &[u8]) {
    if let Some(timeout_ns) = grpc_timeout::parse(input) {
        written_and_read(timeout_ns);
    }
    if let Some(bytes) = input.first_chunk() {
        written_and_read(u64::from_be_bytes(*bytes));
    }
}

/// A deadline is never told as shorter than it is, and hardly as longer.
fn written_and_read(timeout_ns: u64) {
    let mut value = Vec::new();
    grpc_timeout::write(timeout_ns, &mut value);
    assert!(value.len() <= 9 && value.iter().all(u8::is_ascii_alphanumeric));
    let read_ns = grpc_timeout::parse(&value).expect("our own value");
    assert!(read_ns >= timeout_ns && read_ns - timeout_ns <= timeout_ns / 10_000 + 1);
}
