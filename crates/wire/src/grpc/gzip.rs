//! Messages compressed by gzip (RFC 1952), always whole: gRPC compresses each message separately.

use alloc::vec::Vec;
use miniz_oxide::deflate::compress_to_vec;
use zlib_rs::{Inflate, InflateFlush, Status};

/// zlib's default, as in grpc-go and grpc-java.
const LEVEL: u8 = 6;
/// For messages that are long: a fraction of the time, and more bytes.
const FAST_LEVEL: u8 = 1;
/// Room that is added at a time: never as much as the peer declares.
const STEP_BYTES: usize = 32 << 10;
/// The largest window there is, 32 KiB: compressors do not say which they had.
const WINDOW_BITS: u8 = 15;

/// Members of one message. Libraries write one, `bgzip` one for each 64 KiB: this is enough for 64
/// MiB of those. An empty member takes 20 bytes.
const MEMBERS_MAX: usize = 1_024;

/// What beginning a member costs, with a good deal to spare.
const MEMBER_WORK_BYTES: usize = 256;

/// What a block costs in addition to what it inflates to.
const BLOCK_WORK_BYTES: usize = 64;

/// A block may begin with tables of its own. Making them takes as long as inflating sixteen times
/// their bytes, and no longer than for 64 bytes of them, however long they are.
const TABLES_BYTES: usize = 64;
/// What each of those bytes costs. Where a block's tables end is not known, so the first bytes of
/// every block count as tables, which matters only for messages of many small blocks.
const TABLES_WORK: usize = 16;

/// Work that any message may take, however small it is allowed to be.
const LEAST_WORK_BYTES: usize = 512 << 10;

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
    /// They take longer to inflate than a message of that size that somebody's compressor wrote.
    #[error("a compressed message of more blocks than compressors make of one")]
    TooMuchWork,
}

/// What inflating one message may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InflateLimits {
    /// The message's size.
    pub message_bytes: usize,
    /// The work that it takes, in bytes of an ordinary message that take as long to inflate.
    pub work_bytes: usize,
}

impl InflateLimits {
    /// For messages up to that size, whatever compressor made them. Blocks of nothing are legal,
    /// and each costs as much as up to a kilobyte: twice the size allows a block for every kilobyte
    /// of the largest message. Compressors begin one after some thousands of bytes, or when they
    /// are flushed.
    pub fn of_messages(message_bytes: usize) -> Self {
        let work_bytes = message_bytes.saturating_mul(2).max(LEAST_WORK_BYTES);
        InflateLimits { message_bytes, work_bytes }
    }
}

/// Appends `bytes`, compressed, to `output`.
pub fn compress(bytes: &[u8], output: &mut Vec<u8>) {
    compress_at(LEVEL, bytes, output);
}

/// As [`compress`], in less time and to more bytes.
pub fn compress_fast(bytes: &[u8], output: &mut Vec<u8>) {
    compress_at(FAST_LEVEL, bytes, output);
}

fn compress_at(level: u8, bytes: &[u8], output: &mut Vec<u8>) {
    output.extend_from_slice(&MAGIC);
    output.extend_from_slice(&[METHOD_DEFLATE, 0, 0, 0, 0, 0, 0, OS_UNKNOWN]);
    output.extend_from_slice(&compress_to_vec(bytes, level));
    output.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    output.extend_from_slice(&length_field(bytes).to_le_bytes());
}

/// Inflates `bytes` and appends at most `limit_bytes` to `output`. The memory used grows with the
/// result, up to the limit.
///
/// # Errors
/// When the peer sent something else. `output` is then unchanged.
pub fn decompress(bytes: &[u8], limit_bytes: usize, output: &mut Vec<u8>) -> Result<(), GzipError> {
    decompress_within(bytes, InflateLimits::of_messages(limit_bytes), output, &mut 0)
}

/// As [`decompress`], and adds the work that it took to `work_bytes`, whatever came of it. It ends
/// with the block that goes beyond the limit.
///
/// # Errors
/// As there.
pub fn decompress_within(
    bytes: &[u8],
    limits: InflateLimits,
    output: &mut Vec<u8>,
    work_bytes: &mut usize,
) -> Result<(), GzipError> {
    let start = output.len();
    let mut inflation = Inflation {
        state: Inflate::new(false, WINDOW_BITS),
        output,
        filled: start,
        end: start.saturating_add(limits.message_bytes),
        limits,
        spent_bytes: 0,
    };
    let result = inflation.members(bytes);
    let Inflation { filled, spent_bytes, .. } = inflation;
    output.truncate(if result.is_ok() { filled } else { start });
    *work_bytes = work_bytes.saturating_add(spent_bytes);
    result
}

/// A message that is being inflated.
struct Inflation<'a> {
    state: Inflate,
    /// What is inflated, and room for more of it.
    output: &'a mut Vec<u8>,
    filled: usize,
    /// What `filled` may become.
    end: usize,
    limits: InflateLimits,
    /// Work so far.
    spent_bytes: usize,
}

impl Inflation<'_> {
    /// Inflates one member after the other, RFC 1952 section 2.2.
    fn members(&mut self, mut bytes: &[u8]) -> Result<(), GzipError> {
        for _ in 0..MEMBERS_MAX {
            self.spend(MEMBER_WORK_BYTES)?;
            bytes = self.member(bytes)?;
            if bytes.is_empty() {
                return Ok(());
            }
        }
        Err(GzipError::Corrupt("it has too many members"))
    }

    /// Inflates one member, and returns the bytes after it.
    fn member<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], GzipError> {
        let start = self.filled;
        let deflated = behind_header(bytes).ok_or(MALFORMED_HEADER)?;
        let rest = self.blocks(deflated)?;
        let Some((&[a, b, c, d, e, f, g, h], rest)) = rest.split_first_chunk::<TRAILER_BYTES>()
        else {
            return Err(CUT_OFF);
        };
        let inflated = &self.output[start..self.filled];
        if u32::from_le_bytes([a, b, c, d]) != crc32fast::hash(inflated) {
            return Err(GzipError::Corrupt("the checksum is wrong"));
        }
        if u32::from_le_bytes([e, f, g, h]) != length_field(inflated) {
            return Err(GzipError::Corrupt("the length is wrong"));
        }
        Ok(rest)
    }

    /// Inflates until the deflate stream ends, a block or a step of output at a time, and returns
    /// the bytes after it.
    fn blocks<'b>(&mut self, mut rest: &'b [u8]) -> Result<&'b [u8], GzipError> {
        self.state.reset(false);
        loop {
            self.make_room();
            let (read_before, written_before) = (self.state.total_in(), self.state.total_out());
            let room = &mut self.output[self.filled..];
            let status = self.state.decompress(rest, room, InflateFlush::Block);
            let read_bytes = (self.state.total_in() - read_before) as usize;
            let written_bytes = (self.state.total_out() - written_before) as usize;
            rest = &rest[read_bytes..];
            self.filled += written_bytes;
            let tables_work = read_bytes.min(TABLES_BYTES) * TABLES_WORK;
            let spent = self.spend(BLOCK_WORK_BYTES + tables_work + written_bytes);
            if self.filled > self.end {
                return Err(GzipError::TooLarge { limit_bytes: self.limits.message_bytes });
            }
            spent?;
            match status {
                Ok(Status::StreamEnd) => return Ok(rest),
                Ok(Status::Ok) => {}
                Ok(Status::BufError) => return Err(CUT_OFF),
                Err(_) => return Err(GzipError::Corrupt("the deflate stream is damaged")),
            }
        }
    }

    /// Leaves room behind what is inflated, unless there is some. One byte beyond the limit
    /// distinguishes a message that is too long from one that just fits.
    fn make_room(&mut self) {
        if self.filled == self.output.len() {
            let room_bytes = STEP_BYTES.min((self.end - self.filled).saturating_add(1));
            self.output.resize(self.filled + room_bytes, 0);
        }
    }

    fn spend(&mut self, work_bytes: usize) -> Result<(), GzipError> {
        self.spent_bytes = self.spent_bytes.saturating_add(work_bytes);
        match self.spent_bytes > self.limits.work_bytes {
            true => Err(GzipError::TooMuchWork),
            false => Ok(()),
        }
    }
}

const MALFORMED_HEADER: GzipError = GzipError::Corrupt("the header is malformed");
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
    fn a_message_that_is_too_large_pays_for_what_was_inflated() {
        let mut work_bytes = 0;
        let limits = InflateLimits::of_messages(20_000);
        let bytes = compressed(&vec![0; 1 << 20]);
        let result = decompress_within(&bytes, limits, &mut Vec::new(), &mut work_bytes);
        assert_eq!(result, Err(GzipError::TooLarge { limit_bytes: 20_000 }));
        assert!((20_000..30_000).contains(&work_bytes), "{work_bytes}");
    }

    #[test]
    fn a_message_is_made_of_so_many_members_and_no_more() {
        let member = compressed(b"");
        let most = member.repeat(MEMBERS_MAX);
        assert_eq!(inflated(&most, 0), Ok(vec![]));
        assert!(inflated(&[most, member].concat(), 0).is_err());
    }

    /// A message of that deflate stream, which inflates to nothing.
    fn empty_message(deflated: &[u8]) -> Vec<u8> {
        [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", deflated, &[0; TRAILER_BYTES]].concat()
    }

    /// `quadruples` times four blocks with the fixed tables that inflate to nothing, ten bits each.
    fn fixed_blocks_of_nothing(quadruples: usize) -> Vec<u8> {
        let blocks = [0x02, 0x08, 0x20, 0x80, 0x00].repeat(quadruples);
        empty_message(&[&blocks[..], b"\x03\0"].concat())
    }

    fn work_of(bytes: &[u8], limit_bytes: usize) -> (Result<(), GzipError>, usize) {
        let mut work_bytes = 0;
        let limits = InflateLimits::of_messages(limit_bytes);
        (decompress_within(bytes, limits, &mut Vec::new(), &mut work_bytes), work_bytes)
    }

    #[test]
    fn blocks_of_nothing_are_counted_and_bounded() {
        assert_eq!(inflated(&fixed_blocks_of_nothing(10), 100), Ok(vec![]));
        let (result, few) = work_of(&fixed_blocks_of_nothing(10), 4 << 20);
        assert_eq!(result, Ok(()));
        assert!(few > 40 * BLOCK_WORK_BYTES, "{few}");
        let (result, work_bytes) = work_of(&fixed_blocks_of_nothing(200_000), 4 << 20);
        assert_eq!(result, Err(GzipError::TooMuchWork));
        let most = InflateLimits::of_messages(4 << 20).work_bytes;
        assert!((most..most + 1_000).contains(&work_bytes), "{work_bytes}");
    }

    #[test]
    fn a_message_that_is_flushed_every_few_bytes_is_read() {
        let message = text(1 << 20);
        let mut deflated = Vec::new();
        for part in message.chunks(200) {
            // Stored, then the empty stored block that zlib's Z_SYNC_FLUSH ends with.
            let length = part.len() as u16;
            deflated.push(0);
            deflated.extend(length.to_le_bytes());
            deflated.extend((!length).to_le_bytes());
            deflated.extend(part);
            deflated.extend(b"\0\0\0\xff\xff");
        }
        deflated.extend(b"\x03\0");
        let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
        bytes.extend(deflated);
        bytes.extend(crc32fast::hash(&message).to_le_bytes());
        bytes.extend(length_field(&message).to_le_bytes());
        assert_eq!(inflated(&bytes, 4 << 20), Ok(message));
    }

    #[test]
    fn what_compressors_make_takes_little_more_work_than_its_bytes() {
        for message in [text(4 << 20), vec![0; 4 << 20]] {
            for level in [1, 6, 9] {
                let mut bytes = Vec::new();
                compress_at(level, &message, &mut bytes);
                let (result, work_bytes) = work_of(&bytes, message.len());
                assert_eq!(result, Ok(()), "level {level}");
                assert!(work_bytes < message.len() * 5 / 4, "level {level}: {work_bytes}");
            }
        }
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
