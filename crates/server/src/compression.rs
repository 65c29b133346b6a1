//! Compressed messages, and the header fields that announce them.

use std::borrow::Cow;

use bookend_wire::grpc::gzip;
use bookend_wire::grpc::message::{Message, PREFIX_BYTES};
use bookend_wire::grpc::{Code, GzipError, Status};

use crate::status::{self, internal};

/// How messages that are flagged as compressed are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum RequestEncoding {
    /// No message may be flagged.
    #[default]
    Identity,
    Gzip,
}

/// The value of `grpc-accept-encoding`: what [`RequestEncoding::parse`] knows.
pub(crate) const ACCEPTED: &[u8] = b"identity,gzip";

/// The value of `grpc-encoding` of responses that may be compressed.
pub(crate) const GZIP: &[u8] = b"gzip";

impl RequestEncoding {
    /// The value of `grpc-encoding`.
    pub fn parse(name: &[u8]) -> Option<Self> {
        match name {
            b"identity" => Some(RequestEncoding::Identity),
            GZIP => Some(RequestEncoding::Gzip),
            _ => None,
        }
    }

    /// Whether a message may be flagged as compressed.
    ///
    /// # Errors
    /// What its call is to end with if it may not.
    pub fn check_flag(self) -> Result<(), Status> {
        match self {
            RequestEncoding::Gzip => Ok(()),
            RequestEncoding::Identity => Err(status::unexpected_compression()),
        }
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
    encoding: RequestEncoding,
    limit_bytes: usize,
    inflated_bytes: &mut usize,
) -> Result<Cow<'a, [u8]>, Status> {
    if !message.compressed {
        return Ok(Cow::Borrowed(message.octets));
    }
    encoding.check_flag()?;
    let mut inflated = Vec::new();
    let result = gzip::decompress(message.octets, limit_bytes, &mut inflated);
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
    accepted
        .split(|byte| *byte == b',')
        .any(|name| name.trim_ascii() == GZIP)
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
        let (prefix, octets) = framed.split_at(PREFIX_BYTES);
        assert_eq!(prefix[0], 1);
        assert_eq!(prefix[1..], (octets.len() as u32).to_be_bytes());
        let compressed = true;
        let message = Message { compressed, octets };
        let mut inflated_bytes = 0;
        let inflated =
            decompressed(message, RequestEncoding::Gzip, 10_000, &mut inflated_bytes).unwrap();
        assert_eq!(*inflated, [7; 10_000]);
        assert_eq!(inflated_bytes, 10_000);
        let code = |encoding, octets, limit_bytes| {
            let message = Message { compressed, octets };
            let error = decompressed(message, encoding, limit_bytes, &mut 0).unwrap_err();
            error.code
        };
        assert_eq!(
            code(RequestEncoding::Gzip, octets, 9_999),
            Code::ResourceExhausted
        );
        assert_eq!(code(RequestEncoding::Gzip, b"no gzip", 100), Code::Internal);
        assert_eq!(
            code(RequestEncoding::Identity, octets, 10_000),
            Code::Internal
        );
    }
}
