//! Compressed messages, and the header fields that announce them.

use std::borrow::Cow;

use bookend_wire::Sender;
use bookend_wire::grpc::gzip;
use bookend_wire::grpc::gzip::InflateLimits;
use bookend_wire::grpc::message::{Message, PREFIX_BYTES};
use bookend_wire::grpc::{Code, Encoding, GzipError, Status};

use crate::encoding::RequestEncoding;
use crate::limits::BROKEN_MESSAGE_GLITCHES;
use crate::status::{self, internal};
#[cfg(feature = "zstd")]
use crate::zstd::{self, ZstdError};

/// Whether a message of a request in that encoding may be flagged as compressed.
///
/// # Errors
/// What its call is to end with if it may not.
pub(crate) fn check_flag(encoding: RequestEncoding) -> Result<(), Status> {
    match encoding {
        RequestEncoding::Identity => Err(status::unexpected_compression()),
        _ => Ok(()),
    }
}

/// Work that inflating a message may take on the thread that reads its connection: under two
/// milliseconds. What takes more is begun again by another thread.
const AT_ONCE_WORK_BYTES: usize = 256 << 10;

/// Why a message was not decompressed.
#[derive(Debug)]
pub(crate) struct DecompressionError {
    /// What its call is to end with.
    pub status: Status,
    /// The message is no such thing, or was damaged.
    pub is_broken: bool,
}

impl From<Status> for DecompressionError {
    fn from(status: Status) -> Self {
        DecompressionError { status, is_broken: false }
    }
}

impl DecompressionError {
    /// Charges the client for a message that is broken. Returns what its call is to end with.
    pub fn charged(self, sender: &mut Sender) -> Status {
        if self.is_broken {
            sender.note_glitches(BROKEN_MESSAGE_GLITCHES);
        }
        self.status
    }
}

/// The content of a message: owned if it came compressed. The work of inflating it is added to
/// `work_bytes`, whether that succeeds or not.
///
/// # Errors
/// When the message is no such thing, it is larger than `limit_bytes` (found before more than that
/// is stored) or takes longer than such a message should, or the head announced no compression.
pub(crate) fn decompressed<'a>(
    message: Message<'a>,
    encoding: RequestEncoding,
    limit_bytes: usize,
    work_bytes: &mut usize,
) -> Result<Cow<'a, [u8]>, DecompressionError> {
    let bounds = Bounds { limits: InflateLimits::of_messages(limit_bytes), at_once: false };
    Ok(decompressed_within(message, encoding, bounds, work_bytes)??)
}

/// As [`decompressed`], but `None` if that takes too long for the thread that reads the connection.
pub(crate) fn decompressed_at_once<'a>(
    message: Message<'a>,
    encoding: RequestEncoding,
    limit_bytes: usize,
    work_bytes: &mut usize,
) -> Result<Option<Cow<'a, [u8]>>, DecompressionError> {
    let limits = InflateLimits { message_bytes: limit_bytes, work_bytes: AT_ONCE_WORK_BYTES };
    let bounds = Bounds { limits, at_once: true };
    match decompressed_within(message, encoding, bounds, work_bytes)? {
        Ok(content) => Ok(Some(content)),
        Err(InflateFault::TooMuchWork(_)) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

#[derive(Clone, Copy)]
struct Bounds {
    limits: InflateLimits,
    /// By the thread that reads the connection.
    #[cfg_attr(not(feature = "zstd"), allow(dead_code, reason = "gzip has small windows"))]
    at_once: bool,
}

/// Why a message was not inflated.
enum InflateFault {
    TooMuchWork(String),
    TooLarge(String),
    Corrupt(String),
}

#[cfg_attr(not(feature = "zstd"), expect(unused_variables, reason = "zstd alone has a window"))]
fn decompressed_within<'a>(
    message: Message<'a>,
    encoding: RequestEncoding,
    Bounds { limits, at_once }: Bounds,
    work_bytes: &mut usize,
) -> Result<Result<Cow<'a, [u8]>, InflateFault>, Status> {
    if !message.compressed {
        return Ok(Ok(Cow::Borrowed(message.bytes)));
    }
    check_flag(encoding)?;
    let mut inflated = Vec::new();
    let result = match encoding {
        #[cfg(feature = "zstd")]
        RequestEncoding::Zstd => {
            // What a window holds is not counted before it leaves it.
            let window_bytes = if at_once { AT_ONCE_WORK_BYTES } else { zstd::WINDOW_MAX_BYTES };
            let bounds = (limits, window_bytes);
            zstd::decompress_within(message.bytes, bounds, &mut inflated, work_bytes)
                .map_err(|error| zstd_fault(error, limits.message_bytes, at_once))
        }
        RequestEncoding::Gzip | RequestEncoding::Identity => {
            gzip::decompress_within(message.bytes, limits, &mut inflated, work_bytes)
                .map_err(gzip_fault)
        }
    };
    Ok(result.map(|()| Cow::Owned(inflated)))
}

fn gzip_fault(error: GzipError) -> InflateFault {
    let fault = match error {
        GzipError::Corrupt(_) => InflateFault::Corrupt,
        GzipError::TooLarge { .. } => InflateFault::TooLarge,
        GzipError::TooMuchWork => InflateFault::TooMuchWork,
    };
    fault(error.to_string())
}

#[cfg(feature = "zstd")]
fn zstd_fault(error: ZstdError, limit_bytes: usize, at_once: bool) -> InflateFault {
    match error {
        ZstdError::Corrupt => InflateFault::Corrupt("a message that is no zstd".to_owned()),
        ZstdError::TooLarge => {
            InflateFault::TooLarge(GzipError::TooLarge { limit_bytes }.to_string())
        }
        ZstdError::Window if at_once => InflateFault::TooMuchWork(String::new()),
        ZstdError::Window => InflateFault::TooLarge(format!(
            "a message under zstd whose window is larger than {} bytes, which are allowed",
            zstd::WINDOW_MAX_BYTES
        )),
        ZstdError::TooMuchWork => InflateFault::TooMuchWork(GzipError::TooMuchWork.to_string()),
    }
}

impl From<InflateFault> for DecompressionError {
    fn from(fault: InflateFault) -> Self {
        match fault {
            InflateFault::Corrupt(text) => {
                DecompressionError { status: internal(text), is_broken: true }
            }
            InflateFault::TooLarge(text) | InflateFault::TooMuchWork(text) => {
                Status::new(Code::ResourceExhausted, text).into()
            }
        }
    }
}

/// Whether gzip is in a `grpc-accept-encoding`.
pub(crate) fn lists_gzip(accepted: &[u8]) -> bool {
    accepted.split(|byte| *byte == b',').any(|name| name.trim_ascii() == Encoding::Gzip.name())
}

/// What compressing a byte costs, in bytes that are inflated.
pub(crate) const DEFLATE_WORK: usize = 8;

/// Replies up to this size are compressed on the thread that serves their connection: it takes
/// milliseconds. Larger ones go out as they are, but for those of handlers on the pool.
pub(crate) const MAX_DEFLATED_BYTES: usize = 512 << 10;

/// A reply that is longer takes milliseconds, and is compressed faster and less.
const LONG_BYTES: usize = 64 << 10;

/// A message, compressed, behind its prefix.
pub(crate) fn deflated(message: &[u8]) -> Vec<u8> {
    let mut framed = vec![0; PREFIX_BYTES];
    if message.len() > LONG_BYTES {
        gzip::compress_fast(message, &mut framed);
    } else {
        gzip::compress(message, &mut framed);
    }
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
        let mut work_bytes = 0;
        let inflated =
            decompressed(message, RequestEncoding::Gzip, 10_000, &mut work_bytes).unwrap();
        assert_eq!(*inflated, [7; 10_000]);
        assert!(work_bytes >= 10_000, "{work_bytes}");
        let code = |encoding, payload, limit_bytes| {
            let message = Message { compressed, bytes: payload };
            let error = decompressed(message, encoding, limit_bytes, &mut 0).unwrap_err();
            (error.status.code, error.is_broken)
        };
        assert_eq!(code(RequestEncoding::Gzip, payload, 9_999), (Code::ResourceExhausted, false));
        assert_eq!(code(RequestEncoding::Gzip, b"no gzip", 100), (Code::Internal, true));
        assert_eq!(code(RequestEncoding::Identity, payload, 10_000), (Code::Internal, false));
    }

    #[test]
    fn work_counts_whatever_comes_of_it() {
        let work_of = |bytes: &[u8]| {
            let mut work_bytes = 0;
            let message = Message { compressed: true, bytes };
            let result = decompressed(message, RequestEncoding::Gzip, 4 << 20, &mut work_bytes);
            (result.map(|inflated| inflated.len()).map_err(|error| error.status.code), work_bytes)
        };
        let mut damaged = Vec::new();
        gzip::compress(&vec![0; 4 << 20], &mut damaged);
        let at_checksum = damaged.len() - 8;
        damaged[at_checksum] ^= 1;
        let (result, work_bytes) = work_of(&damaged);
        assert_eq!(result, Err(Code::Internal));
        assert!(work_bytes >= 4 << 20, "{work_bytes}");
        let mut empty = Vec::new();
        gzip::compress(b"", &mut empty);
        let (result, work_bytes) = work_of(&empty.repeat(1_000));
        assert_eq!(result, Ok(0));
        assert!(work_bytes >= 384 << 10, "{work_bytes}");
    }

    #[test]
    fn what_takes_long_is_left_to_another_thread() {
        let at_once = |bytes: &[u8]| {
            let message = Message { compressed: true, bytes };
            let mut work_bytes = 0;
            let result =
                decompressed_at_once(message, RequestEncoding::Gzip, 4 << 20, &mut work_bytes)
                    .unwrap();
            assert!(work_bytes < AT_ONCE_WORK_BYTES + (40 << 10), "{work_bytes}");
            result.map(|content| content.len())
        };
        for (bytes, inflated) in [(1_000, Some(1_000)), (200_000, Some(200_000)), (1 << 20, None)] {
            let mut message = Vec::new();
            gzip::compress(&vec![0; bytes], &mut message);
            assert_eq!(at_once(&message), inflated, "{bytes}");
        }
    }
}
