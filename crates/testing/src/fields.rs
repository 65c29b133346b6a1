//! Header blocks, messages and answers as bytes.

use crate::frame::frame;
use crate::words::{flag, kind};

/// `:status: 200` of the static table and `content-type: application/grpc`, whose name is in that
/// table (RFC 7541 appendix A, number 31). Nothing is put into the dynamic one.
pub const RESPONSE_HEAD: &[u8] = b"\x88\x0f\x10\x10application/grpc";

/// `grpc-status: 0`, a literal.
pub const OK_TRAILERS: &[u8] = b"\0\x0bgrpc-status\x010";

/// A header block of literals that use no table (RFC 7541 section 6.2.2), each shorter than 127
/// bytes.
///
/// # Panics
/// A name or a value is longer.
pub fn literals(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| {
        assert!(text.len() < 127, "its length takes more than one byte");
        [&[text.len() as u8], text.as_bytes()].concat()
    };
    let literal = |(name, value): &(&str, &str)| [vec![0], text(name), text(value)].concat();
    fields.iter().flat_map(literal).collect()
}

/// A whole answer of that message and OK.
pub fn answer_ok(stream_id: u32, bytes: &[u8]) -> Vec<u8> {
    let end = flag::END_HEADERS | flag::END_STREAM;
    [
        frame(kind::HEADERS, flag::END_HEADERS, stream_id, RESPONSE_HEAD),
        frame(kind::DATA, 0, stream_id, &message(bytes)),
        frame(kind::HEADERS, end, stream_id, OK_TRAILERS),
    ]
    .concat()
}

/// A gRPC message that is not compressed, with its prefix of five bytes.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    [&[0][..], &(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_messages_have_their_lengths_before_them() {
        assert_eq!(literals(&[("grpc-status", "0")]), OK_TRAILERS);
        assert_eq!(message(b"ab"), b"\0\0\0\0\x02ab");
    }
}
