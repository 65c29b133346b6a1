//! Compressed messages, and the header fields that announce them.

use std::borrow::Cow;

use bookend_wire::grpc::gzip;
use bookend_wire::grpc::message::{Message, PREFIX_BYTES};
use bookend_wire::grpc::{Code, Encoding, GzipError, Status};

use crate::status::{self, internal};

/// Whether a message of a request in that encoding may be flagged as compressed.
///
/// # Errors
/// What its call is to end with if it may not.
pub(crate) fn check_flag(encoding: Encoding) -> Result<(), Status> {
    match encoding {
        Encoding::Gzip => Ok(()),
        Encoding::Identity => Err(status::unexpected_compression()),
    }
}

/// The content of a message: owned if it came compressed. The work of inflating it is added to
/// `inflated_bytes`, whether that succeeds or not.
///
/// # Errors
/// What its call is to end with: the message is not gzip, it is larger than `limit_bytes` (found
/// before more than that is stored), or the head announced no compression.
pub(crate) fn decompressed<'a>(
    message: Message<'a>,
    encoding: Encoding,
    limit_bytes: usize,
    inflated_bytes: &mut usize,
) -> Result<Cow<'a, [u8]>, Status> {
    if !message.compressed {
        return Ok(Cow::Borrowed(message.bytes));
    }
    check_flag(encoding)?;
    let mut inflated = Vec::new();
    let result = gzip::decompress(message.bytes, limit_bytes, &mut inflated);
    *inflated_bytes += match result {
        Err(GzipError::TooLarge { limit_bytes }) => limit_bytes,
        _ => inflated.len(),
    };
    match result {
        Ok(()) => Ok(Cow::Owned(inflated)),
        Err(error @ GzipError::Corrupt(_)) => Err(internal(error.to_string())),
        Err(error @ GzipError::TooLarge { .. }) => {
            Err(Status::new(Code::ResourceExhausted, error.to_string()))
        }
    }
}

/// Whether gzip is in a `grpc-accept-encoding`.
pub(crate) fn lists_gzip(accepted: &[u8]) -> bool {
    accepted.split(|byte| *byte == b',').any(|name| name.trim_ascii() == Encoding::Gzip.name())
}

/// A message, compressed, behind its prefix.
pub(crate) fn deflated(message: &[u8]) -> Vec<u8> {
    let mut framed = vec![0; PREFIX_BYTES];
    gzip::compress(message, &mut framed);
    // The length field has four bytes (gRPC over HTTP/2, "Length-Prefixed-Message").
    let length = (framed.len() - PREFIX_BYTES) as u32;
    framed[0] = 1;
    framed[1..PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    framed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_found_among_what_a_client_accepts() {
        for list in ["gzip", "identity,gzip", "deflate, gzip ,zstd"] {
            assert!(lists_gzip(list.as_bytes()), "{list}");
        }
        for list in ["", "identity", "gzip2", "x-gzip"] {
            assert!(!lists_gzip(list.as_bytes()), "{list}");
        }
    }

    #[test]
    fn what_is_deflated_inflates_within_the_limit() {
        let framed = deflated(&[7; 10_000]);
        let (prefix, payload) = framed.split_at(PREFIX_BYTES);
        assert_eq!(prefix[0], 1);
        assert_eq!(prefix[1..], (payload.len() as u32).to_be_bytes());
        let compressed = true;
        let message = Message { compressed, bytes: payload };
        let mut inflated_bytes = 0;
        let inflated = decompressed(message, Encoding::Gzip, 10_000, &mut inflated_bytes).unwrap();
        assert_eq!(*inflated, [7; 10_000]);
        assert_eq!(inflated_bytes, 10_000);
        let code = |encoding, payload, limit_bytes| {
            let message = Message { compressed, bytes: payload };
            let error = decompressed(message, encoding, limit_bytes, &mut 0).unwrap_err();
            error.code
        };
        assert_eq!(code(Encoding::Gzip, payload, 9_999), Code::ResourceExhausted);
        assert_eq!(code(Encoding::Gzip, b"no gzip", 100), Code::Internal);
        assert_eq!(code(Encoding::Identity, payload, 10_000), Code::Internal);
    }
}
