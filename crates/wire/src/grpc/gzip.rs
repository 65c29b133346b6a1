//! Messages compressed by gzip (RFC 1952), always whole: gRPC compresses each message separately.

use alloc::vec::Vec;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

/// zlib's default, as in grpc-go and grpc-java.
const LEVEL: u8 = 6;
/// Room that is added at a time: never as much as the peer declares.
const STEP_BYTES: usize = 32 << 10;

/// Members of one message. Libraries write one, `bgzip` one for each 64 KiB: this is enough for 64
/// MiB of those. An empty member takes 20 bytes, and as much work as inflating 64 KiB.
const MEMBERS_MAX: usize = 1_024;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const METHOD_DEFLATE: u8 = 8;
const OS_UNKNOWN: u8 = 255;
/// Magic, method, flags, four bytes of time, extra flags, system.
const HEADER_BYTES: usize = 10;
/// Checksum and length.
const TRAILER_BYTES: usize = 8;

/// Flags of a member's header, RFC 1952 section 2.3.1.
mod flag {
    pub const HEADER_CHECKSUM: u8 = 1 << 1;
    pub const EXTRA: u8 = 1 << 2;
    pub const NAME: u8 = 1 << 3;
    pub const COMMENT: u8 = 1 << 4;
    pub const RESERVED: u8 = 0xe0;
}

/// Why bytes are not an acceptable gzip message. The peer's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GzipError {
    /// They are not gzip, or were damaged.
    #[error("a message that is no gzip: {0}")]
    Corrupt(&'static str),
    /// They inflate to more than is allowed. Reported before the excess is stored.
    #[error("a compressed message of more than {limit_bytes} bytes, which are allowed")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
}

/// Appends `bytes`, compressed, to `output`.
pub fn compress(bytes: &[u8], output: &mut Vec<u8>) {
    output.extend_from_slice(&MAGIC);
    output.extend_from_slice(&[METHOD_DEFLATE, 0, 0, 0, 0, 0, 0, OS_UNKNOWN]);
    output.extend_from_slice(&compress_to_vec(bytes, LEVEL));
    output.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    output.extend_from_slice(&length_field(bytes).to_le_bytes());
}

/// Inflates `bytes` and appends at most `limit_bytes` to `output`. The memory used grows with the
/// result, up to the limit.
///
/// When the peer sent something else. `output` is then unchanged.
pub fn decompress(bytes: &[u8], limit_bytes: usize, output: &mut Vec<u8>) -> Result<(), GzipError> {
    let start = output.len();
    let result = members(bytes, limit_bytes, output);
    if result.is_err() {
        output.truncate(start);
    }
    result
}

/// Inflates one member after the other, RFC 1952 section 2.2.
fn members(mut bytes: &[u8], limit_bytes: usize, output: &mut Vec<u8>) -> Result<(), GzipError> {
    let end = output.len().saturating_add(limit_bytes);
    for _ in 0..MEMBERS_MAX {
        bytes = member(bytes, end, limit_bytes, output)?;
        if bytes.is_empty() {
            return Ok(());
        }
    }
    Err(GzipError::Corrupt("it has too many members"))
}

/// Appends one member, and returns the bytes after it.
fn member<'a>(
    bytes: &'a [u8],
    end: usize,
    limit_bytes: usize,
    output: &mut Vec<u8>,
) -> Result<&'a [u8], GzipError> {
    let start = output.len();
    let deflated = behind_header(bytes).ok_or(GzipError::Corrupt("the header is malformed"))?;
    let rest = inflate_into(deflated, end, limit_bytes, output)?;
    let Some((&[a, b, c, d, e, f, g, h], rest)) = rest.split_first_chunk::<TRAILER_BYTES>() else {
        return Err(CUT_OFF);
    };
    let inflated = &output[start..];
    if u32::from_le_bytes([a, b, c, d]) != crc32fast::hash(inflated) {
        return Err(GzipError::Corrupt("the checksum is wrong"));
    }
    if u32::from_le_bytes([e, f, g, h]) != length_field(inflated) {
        return Err(GzipError::Corrupt("the length is wrong"));
    }
    Ok(rest)
}

const CUT_OFF: GzipError = GzipError::Corrupt("it is cut off");

/// Skips a member's header.
fn behind_header(bytes: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let flags = header[3];
    if !header.starts_with(&MAGIC) || header[2] != METHOD_DEFLATE || flags & flag::RESERVED != 0 {
        return None;
    }
    if flags & flag::EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        rest = behind.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for text in [flag::NAME, flag::COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & flag::HEADER_CHECKSUM != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

/// Inflates until the deflate stream ends, and returns the bytes after it.
fn inflate_into<'a>(
    mut rest: &'a [u8],
    end: usize,
    limit_bytes: usize,
    output: &mut Vec<u8>,
) -> Result<&'a [u8], GzipError> {
    let mut state = InflateState::new_boxed(DataFormat::Raw);
    loop {
        let written = output.len();
        // One byte beyond the limit distinguishes a message that is too long from one that just
        // fits.
        let room_bytes = STEP_BYTES.min((end - written).saturating_add(1));
        output.resize(written + room_bytes, 0);
        let step = inflate(&mut state, rest, &mut output[written..], MZFlush::None);
        output.truncate(written + step.bytes_written);
        rest = &rest[step.bytes_consumed..];
        if output.len() > end {
            return Err(GzipError::TooLarge { limit_bytes });
        }
        match step.status {
            Ok(MZStatus::StreamEnd) => return Ok(rest),
            Ok(_) if step.bytes_written == 0 && rest.is_empty() => return Err(CUT_OFF),
            Ok(_) => {}
            Err(MZError::Buf) => return Err(CUT_OFF),
            Err(_) => return Err(GzipError::Corrupt("the deflate stream is damaged")),
        }
    }
}

/// The length modulo 2^32, RFC 1952 section 2.3.1.
fn length_field(bytes: &[u8]) -> u32 {
    bytes.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        compress(bytes, &mut output);
        output
    }

    fn inflated(bytes: &[u8], limit_bytes: usize) -> Result<Vec<u8>, GzipError> {
        let mut output = b"before".to_vec();
        let result = decompress(bytes, limit_bytes, &mut output);
        assert_eq!(&output[..6], b"before");
        let inflated = output.split_off(6);
        assert!(result.is_ok() || inflated.is_empty());
        result.map(|()| inflated)
    }

    fn text(bytes: usize) -> Vec<u8> {
        let byte = |at: usize| (at as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0x3f;
        (0..bytes).map(byte).collect()
    }

    #[test]
    fn messages_come_back_as_they_were() {
        for bytes in [0, 1, 100, STEP_BYTES - 1, STEP_BYTES, 3 * STEP_BYTES + 7] {
            let message = text(bytes);
            assert_eq!(inflated(&compressed(&message), bytes).unwrap(), message);
        }
    }

    #[test]
    fn what_gzip_itself_has_made_is_read() {
        // printf 'hello hello' | gzip -9 -n, and the same with a file name in the header.
        let plain = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\
            \xcb\x48\xcd\xc9\xc9\x57\xc8\x00\x91\x00\x40\xa6\x2d\x01\x0b\x00\x00\x00";
        let message = inflated(plain, 100).unwrap();
        assert_eq!(message, b"hello hello");
        let mut named = plain.to_vec();
        named[3] = flag::NAME | flag::EXTRA;
        named.splice(10..10, *b"\x02\x00xyname\0");
        assert_eq!(inflated(&named, 100).unwrap(), message);
        let twice = [&plain[..], &named].concat();
        assert_eq!(inflated(&twice, 100).unwrap(), b"hello hellohello hello");
        assert_eq!(inflated(&twice, 21), Err(GzipError::TooLarge { limit_bytes: 21 }));
    }

    #[test]
    fn a_message_is_made_of_so_many_members_and_no_more() {
        let member = compressed(b"");
        let most = member.repeat(MEMBERS_MAX);
        assert_eq!(inflated(&most, 0), Ok(vec![]));
        assert!(inflated(&[most, member].concat(), 0).is_err());
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let bomb = compressed(&vec![0; 8 << 20]);
        assert!(bomb.len() < 100_000);
        let mut output = Vec::new();
        let error = decompress(&bomb, 1_000, &mut output).unwrap_err();
        assert_eq!(error, GzipError::TooLarge { limit_bytes: 1_000 });
        assert!(output.capacity() <= 4 * STEP_BYTES);
    }

    #[test]
    fn a_message_of_just_the_limit_passes_and_one_byte_more_does_not() {
        let message = text(STEP_BYTES);
        let bytes = compressed(&message);
        assert!(inflated(&bytes, STEP_BYTES).is_ok());
        assert!(inflated(&bytes, STEP_BYTES - 1).is_err());
        assert_eq!(inflated(&compressed(b""), 0), Ok(vec![]));
    }

    #[test]
    fn every_cut_and_every_damaged_byte_of_the_frame_is_told() {
        let bytes = compressed(b"some message that is long enough to be worth it, some message");
        for cut in 0..bytes.len() {
            assert!(inflated(&bytes[..cut], 1_000).is_err(), "cut at {cut}");
        }
        let checked = (0..4).chain(bytes.len() - TRAILER_BYTES..bytes.len());
        for at in checked {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xe1;
            assert!(inflated(&damaged, 1_000).is_err(), "byte {at}");
        }
    }
}
