//! Messages compressed by zstd (RFC 8878), always whole. ruzstd reads them a block at a time, so
//! that their work can be bounded as that of gzip is; the C library would not say how far it is.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::gzip::InflateLimits;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that is read: what RFC 8878 section 3.1.1.1.2 recommends to support. The
/// decoder keeps as much in addition to the message.
pub(crate) const WINDOW_MAX_BYTES: usize = 8 << 20;

// Work is counted in bytes of text, of which ruzstd 0.9.1 makes one in 3.4 ns on a virtual EPYC.
// The shortest matches that there can be take it 35 ns each, which is 12 ns a byte; the other costs
// below are rounded up.

/// What beginning a frame costs: 42 ns, with a new decoder at most 1.5 us.
const FRAME_WORK_BYTES: usize = 1 << 10;

/// What a compressed block costs in addition to what it comes to: 9.9 us with the largest tables
/// there are. Encoders fill blocks of 128 KiB, or split them in a few.
const BLOCK_WORK_BYTES: usize = 4 << 10;

/// What a block costs that is stored, or one byte again and again: 22 ns.
const PLAIN_BLOCK_WORK_BYTES: usize = 16;

const BLOCK_HEADER_BYTES: usize = 3;
/// The type of a block that has tables, RFC 8878 section 3.1.1.2.2.
const COMPRESSED_BLOCK: u8 = 2;
/// No block comes to more, RFC 8878 section 3.1.1.2.4.
pub(crate) const BLOCK_MAX_BYTES: usize = 128 << 10;

/// Behind the four bytes of the magic number, RFC 8878 section 3.1.1.1.
const DESCRIPTOR_PLACE: usize = 4;
const SINGLE_SEGMENT: u8 = 1 << 5;
const RESERVED_BIT: u8 = 1 << 3;
/// The magic numbers of frames that are skipped, RFC 8878 section 3.1.2. The size follows.
const SKIPPABLE: RangeInclusive<u32> = 0x184d_2a50..=0x184d_2a5f;

/// Why bytes are not an acceptable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZstdError {
    Corrupt,
    TooLarge,
    TooMuchWork,
    /// Its window is too large.
    Window,
}

/// Appends what `bytes` come to, within the limits, to `output`, which is whatever it is after an
/// error. What the window holds is not counted before it leaves it, or the frame ends; so windows
/// are bounded, too. The work is added to `work_bytes` in any case; that of a frame that breaks
/// with the most that it may have decoded.
pub(crate) fn decompress_within(
    bytes: &[u8],
    (limits, window_bytes): (InflateLimits, usize),
    output: &mut Vec<u8>,
    work_bytes: &mut usize,
) -> Result<(), ZstdError> {
    let mut frames =
        Frames { rest: bytes, limits, window_bytes, output, spent_bytes: 0, held_max_bytes: 0 };
    // The decoder is not ours: where it breaks, a call does.
    let result = catch_unwind(AssertUnwindSafe(|| frames.decode()));
    let work = frames.spent_bytes.saturating_add(frames.held_max_bytes);
    *work_bytes = work_bytes.saturating_add(work);
    result.unwrap_or(Err(ZstdError::Corrupt))
}

struct Frames<'a> {
    rest: &'a [u8],
    limits: InflateLimits,
    window_bytes: usize,
    output: &'a mut Vec<u8>,
    spent_bytes: usize,
    /// What the decoder may have decoded of a frame without being charged for it: the decoder does
    /// not say how much its window holds.
    held_max_bytes: usize,
}

impl Frames<'_> {
    fn decode(&mut self) -> Result<(), ZstdError> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(self.window_bytes as u64);
        loop {
            self.spend(FRAME_WORK_BYTES)?;
            if !self.skip()? {
                self.frame(&mut decoder)?;
            }
            if self.rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Skips a frame that is to be skipped, if it is one.
    fn skip(&mut self) -> Result<bool, ZstdError> {
        let Some((magic, rest)) = self.rest.split_first_chunk() else {
            return Ok(false);
        };
        if !SKIPPABLE.contains(&u32::from_le_bytes(*magic)) {
            return Ok(false);
        }
        let (size, rest) = rest.split_first_chunk().ok_or(ZstdError::Corrupt)?;
        let size = u32::from_le_bytes(*size) as usize;
        self.rest = rest.get(size..).ok_or(ZstdError::Corrupt)?;
        Ok(true)
    }

    fn frame(&mut self, decoder: &mut FrameDecoder) -> Result<(), ZstdError> {
        let header = self.rest.get(DESCRIPTOR_PLACE..).and_then(|rest| rest.first_chunk());
        let [descriptor, window] = *header.ok_or(ZstdError::Corrupt)?;
        if descriptor & RESERVED_BIT != 0 {
            return Err(ZstdError::Corrupt);
        }
        decoder.reset(&mut self.rest).map_err(|error| match error {
            FrameDecoderError::WindowSizeTooBig { .. } => ZstdError::Window,
            _ => ZstdError::Corrupt,
        })?;
        let is_single = descriptor & SINGLE_SEGMENT != 0;
        let states_size = descriptor >> 6 != 0 || is_single;
        let stated_bytes = states_size.then(|| decoder.content_size());
        if stated_bytes.is_some_and(|stated| stated > self.limits.message_bytes as u64) {
            return Err(ZstdError::TooLarge);
        }
        // No more than a `usize`, for the decoder has taken it.
        let window_bytes = if is_single { decoder.content_size() } else { window_of(window) };
        let start = self.output.len();
        while !decoder.is_finished() {
            self.block(decoder, window_bytes as usize)?;
        }
        let content_bytes = (self.output.len() - start) as u64;
        let sums = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        let has_its_sum = !matches!(sums, (Some(one), Some(other)) if one != other);
        // All of it has left the window, and was charged.
        self.held_max_bytes = 0;
        let has_its_size = stated_bytes.is_none_or(|stated| stated == content_bytes);
        if has_its_sum && has_its_size { Ok(()) } else { Err(ZstdError::Corrupt) }
    }

    fn block(&mut self, decoder: &mut FrameDecoder, window_bytes: usize) -> Result<(), ZstdError> {
        let header = *self.rest.first_chunk::<BLOCK_HEADER_BYTES>().ok_or(ZstdError::Corrupt)?;
        let stated_bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize >> 3;
        let (block_work, most_bytes) = match header[0] >> 1 & 3 {
            COMPRESSED_BLOCK => (BLOCK_WORK_BYTES, BLOCK_MAX_BYTES),
            _ => (PLAIN_BLOCK_WORK_BYTES, stated_bytes.min(BLOCK_MAX_BYTES)),
        };
        self.spend(block_work)?;
        // All of it, however small the window: its sequences are decoded before they are executed.
        self.held_max_bytes += most_bytes;
        let one = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut self.rest, one).map_err(|_| ZstdError::Corrupt)?;
        // What the window still needs stays with the decoder.
        let written_bytes =
            decoder.collect_to_writer(&mut *self.output).map_err(|_| ZstdError::Corrupt)?;
        self.held_max_bytes = self.held_max_bytes.saturating_sub(written_bytes).min(window_bytes);
        let spent = self.spend(written_bytes);
        match self.output.len() > self.limits.message_bytes {
            true => Err(ZstdError::TooLarge),
            false => spent,
        }
    }

    fn spend(&mut self, work_bytes: usize) -> Result<(), ZstdError> {
        self.spent_bytes = self.spent_bytes.saturating_add(work_bytes);
        match self.spent_bytes > self.limits.work_bytes {
            true => Err(ZstdError::TooMuchWork),
            false => Ok(()),
        }
    }
}

/// The size of a window, RFC 8878 section 3.1.1.1.2.
fn window_of(descriptor: u8) -> u64 {
    let base = 1 << (10 + (descriptor >> 3));
    base + base / 8 * u64::from(descriptor & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn compressed(message: &[u8]) -> Vec<u8> {
        compress_to_vec(message, CompressionLevel::Fastest)
    }

    fn decompressed(bytes: &[u8], limit_bytes: usize) -> (Result<Vec<u8>, ZstdError>, usize) {
        let (mut output, mut work_bytes) = (Vec::new(), 0);
        let limits = InflateLimits::of_messages(limit_bytes);
        let bounds = (limits, WINDOW_MAX_BYTES);
        let result = decompress_within(bytes, bounds, &mut output, &mut work_bytes);
        (result.map(|()| output), work_bytes)
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let text = b"some text, and some more of the same text".repeat(10_000);
        for length in [0, 1, 1_000, 128 << 10, text.len()] {
            let message = &text[..length];
            let (result, work_bytes) = decompressed(&compressed(message), length);
            assert_eq!(result.as_deref(), Ok(message), "{length}");
            assert!((length..length * 5 / 4 + (32 << 10)).contains(&work_bytes), "{work_bytes}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit_and_every_cut_is_told() {
        let bomb = compressed(&vec![0; 16 << 20]);
        assert!(bomb.len() < 100_000);
        assert_eq!(decompressed(&bomb, 4 << 20).0, Err(ZstdError::TooLarge));
        assert_eq!(decompressed(&compressed(b"12345"), 4).0, Err(ZstdError::TooLarge));
        let bytes = compressed(b"some message that is long enough, some message that is");
        for cut in 0..bytes.len() {
            assert!(decompressed(&bytes[..cut], 1_000).0.is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn what_a_window_holds_uncounted_is_bounded() {
        let bytes = compressed(&vec![0; 1 << 20]);
        let limits = InflateLimits::of_messages(4 << 20);
        for (window_bytes, expected) in [(1 << 10, Err(ZstdError::Window)), (8 << 20, Ok(()))] {
            let bounds = (limits, window_bytes);
            let result = decompress_within(&bytes, bounds, &mut Vec::new(), &mut 0);
            assert_eq!(result, expected);
        }
    }

    /// A frame of `count` stored blocks of nothing, and a last one.
    fn blocks_of_nothing(count: usize) -> Vec<u8> {
        // The magic number; a window of a kilobyte and no size.
        let mut bytes = b"\x28\xb5\x2f\xfd\0\0".to_vec();
        bytes.extend([0; BLOCK_HEADER_BYTES].repeat(count));
        bytes.extend([1, 0, 0]);
        bytes
    }

    #[test]
    fn blocks_of_nothing_and_frames_of_nothing_are_bounded() {
        assert_eq!(decompressed(&blocks_of_nothing(100), 1_000).0, Ok(vec![]));
        let many = blocks_of_nothing(1 << 20);
        let (result, work_bytes) = decompressed(&many, 4 << 20);
        assert_eq!(result, Err(ZstdError::TooMuchWork));
        assert!(work_bytes <= (8 << 20) + BLOCK_WORK_BYTES, "{work_bytes}");
        let frames = blocks_of_nothing(0).repeat(10_000);
        assert_eq!(decompressed(&frames, 4 << 20).0, Err(ZstdError::TooMuchWork));
    }

    /// A frame of `count` blocks, each of one literal and one match of three bytes, for which each
    /// has a table of literals of 2,048 entries and tables of sequences of 512, 256 and 512.
    fn blocks_of_tables(count: usize) -> Vec<u8> {
        let literals = [0x12, 0, 2, 0x8a, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 3];
        let sequences = [1, 0xa8, 0x14, 0x80, 0xff, 1, 0xf3, 0x1f, 0xf4, 0x3f, 0, 0, 0, 4];
        let content = [&literals[..], &sequences].concat();
        let block = |last: u8| [&[last | 0xcc, 0, 0][..], &content].concat();
        let mut bytes = b"\x28\xb5\x2f\xfd\0\0".to_vec();
        bytes.extend(block(0).repeat(count - 1));
        bytes.extend(block(1));
        bytes
    }

    #[test]
    fn tables_are_paid_for_by_who_has_them_built() {
        let (result, work_bytes) = decompressed(&blocks_of_tables(100), 1 << 20);
        assert_eq!(result.map(|output| output.len()), Ok(400));
        assert_eq!(work_bytes, FRAME_WORK_BYTES + 100 * (BLOCK_WORK_BYTES + 4));
        // Less than two for each 4 KiB that a message may have.
        assert_eq!(decompressed(&blocks_of_tables(500), 1 << 20).0.map(|_| ()), Ok(()));
        assert_eq!(decompressed(&blocks_of_tables(512), 1 << 20).0, Err(ZstdError::TooMuchWork));
    }

    /// As an encoder writes them that is flushed after every few words.
    #[test]
    fn short_blocks_of_a_sender_that_flushes_are_no_attack() {
        let mut bytes = b"\x28\xb5\x2f\xfd\0\0".to_vec();
        let block = |last: u8| [&[last | 20 << 3, 0, 0][..], b"twenty bytes of text"].concat();
        bytes.extend(block(0).repeat((1 << 20) / 20 - 1));
        bytes.extend(block(1));
        assert_eq!(decompressed(&bytes, 1 << 20).0.map(|_| ()), Ok(()));
    }

    #[test]
    fn a_frame_that_breaks_pays_for_what_it_had_decoded() {
        // A window of 256 KiB; eight bytes as they are, then blocks of 43,690 matches of three.
        let mut bytes = b"\x28\xb5\x2f\xfd\0\x40".to_vec();
        bytes.extend([8 << 3, 0, 0]);
        bytes.extend(b"abcdefgh");
        let matches = [0, 0xff, 0xaa, 0x2b, 0x54, 0, 0, 0, 1];
        let block = |last: u8| [&[last | 9 << 3 | 2 << 1, 0, 0][..], &matches].concat();
        bytes.extend(block(0));
        let sound = [&bytes[..], &block(1)].concat();
        let (result, sound_work_bytes) = decompressed(&sound, 4 << 20);
        assert_eq!(result.map(|output| output.len()), Ok(8 + 2 * 131_070));
        let cut = [&bytes[..], &block(1)[..6]].concat();
        let reserved = [&bytes[..], &block(0), &[7, 0, 0]].concat();
        for broken in [cut, reserved] {
            let (result, work_bytes) = decompressed(&broken, 4 << 20);
            assert_eq!(result, Err(ZstdError::Corrupt));
            assert!(work_bytes * 10 > sound_work_bytes * 9, "{work_bytes}");
            assert!(work_bytes < sound_work_bytes * 2, "{work_bytes}");
        }
    }

    #[test]
    fn a_block_that_breaks_pays_for_all_it_can_come_to() {
        // A window of a kilobyte; eight bytes, and 43,690 matches with a bit too many behind them.
        let matches = [0, 0xff, 0xaa, 0x2b, 0x54, 0, 0, 0, 3];
        let block = [&[1 | 9 << 3 | 2 << 1, 0, 0][..], &matches].concat();
        let bytes = [b"\x28\xb5\x2f\xfd\0\0", &[8 << 3, 0, 0][..], b"abcdefgh", &block].concat();
        let (result, work_bytes) = decompressed(&bytes, 4 << 20);
        assert_eq!(result, Err(ZstdError::Corrupt));
        assert!(work_bytes > BLOCK_MAX_BYTES, "{work_bytes}");
    }

    #[test]
    fn a_message_that_is_too_large_pays_for_what_was_decoded() {
        // A window of 128 KiB, and a block of one byte as many times.
        let bytes = b"\x28\xb5\x2f\xfd\0\x38\x03\0\x10x";
        let (result, work_bytes) = decompressed(bytes, 1_000);
        assert_eq!(result, Err(ZstdError::TooLarge));
        assert!(work_bytes > BLOCK_MAX_BYTES, "{work_bytes}");
    }

    /// What `printf 'hello hello hello hello hello' | zstd -c` writes, and with `--no-check`.
    const WITH_CHECKSUM: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x65\0\0\x30\x68\x65\x6c\x6c\x6f\x20\
        \x01\0\xa9\x4b\x11\x87\x4e\x20\x0a";
    const WITHOUT_CHECKSUM: &[u8] = b"\x28\xb5\x2f\xfd\0\x58\x65\0\0\x30\x68\x65\x6c\x6c\x6f\x20\
        \x01\0\xa9\x4b\x11";
    const EMPTY: &[u8] = b"\x28\xb5\x2f\xfd\x24\0\x01\0\0\x99\xe9\xd8\x51";
    /// `zstd --train` made a dictionary, with the number 7, and `zstd -D` this.
    const WITH_DICTIONARY: &[u8] =
        b"\x28\xb5\x2f\xfd\x01\x58\x07\x4d\0\0\x10\x39\x39\x01\0\x72\xcb\
        \x02\x02";

    #[test]
    fn frames_of_the_command_are_read_one_after_the_other() {
        let hello = b"hello hello hello hello hello";
        for frame in [WITH_CHECKSUM, WITHOUT_CHECKSUM] {
            assert_eq!(decompressed(frame, 29).0.as_deref(), Ok(&hello[..]));
        }
        assert_eq!(decompressed(EMPTY, 0).0, Ok(vec![]));
        let skippable = b"\x50\x2a\x4d\x18\x01\0\0\0!";
        let all = [EMPTY, WITH_CHECKSUM, skippable, EMPTY, WITHOUT_CHECKSUM, WITH_CHECKSUM];
        assert_eq!(decompressed(&all.concat(), 87).0, Ok(hello.repeat(3)));
        assert_eq!(decompressed(&all.concat(), 86).0, Err(ZstdError::TooLarge));
        for cut in 1..WITH_CHECKSUM.len() {
            let bytes = [WITHOUT_CHECKSUM, &WITH_CHECKSUM[..cut]].concat();
            assert_eq!(decompressed(&bytes, 87).0, Err(ZstdError::Corrupt), "{cut}");
        }
        assert_eq!(decompressed(b"", 100).0, Err(ZstdError::Corrupt), "there is a frame at least");
    }

    #[test]
    fn a_wrong_checksum_and_a_dictionary_are_refused() {
        for at in WITH_CHECKSUM.len() - 4..WITH_CHECKSUM.len() {
            let mut bytes = WITH_CHECKSUM.to_vec();
            bytes[at] ^= 1;
            assert_eq!(decompressed(&bytes, 100).0, Err(ZstdError::Corrupt), "{at}");
        }
        assert_eq!(decompressed(WITH_DICTIONARY, 100).0, Err(ZstdError::Corrupt));
        // RFC 8878, section 3.1.1.1.3: zero is no dictionary.
        let mut zero = WITHOUT_CHECKSUM.to_vec();
        zero[DESCRIPTOR_PLACE] |= 1;
        zero.insert(DESCRIPTOR_PLACE + 2, 0);
        assert_eq!(decompressed(&zero, 29).0.map(|message| message.len()), Ok(29));
    }

    #[test]
    fn a_window_is_as_large_as_its_byte_says() {
        assert_eq!([0, 0x40, 0x47].map(window_of), [1 << 10, 256 << 10, 480 << 10]);
        assert_eq!(window_of(0xff), (1 << 41) + 7 * (1 << 38));
    }

    /// A frame of one stored block that states how much there is in all.
    fn stating(stated_bytes: u8, content: &[u8]) -> Vec<u8> {
        let last_block = [content.len() as u8 * 8 + 1, 0, 0];
        let header = [SINGLE_SEGMENT, stated_bytes];
        [b"\x28\xb5\x2f\xfd", &header[..], &last_block, content].concat()
    }

    #[test]
    fn a_frame_has_as_much_content_as_it_states() {
        assert_eq!(decompressed(&stating(3, b"abc"), 100).0, Ok(b"abc".to_vec()));
        assert_eq!(decompressed(&stating(0, b""), 100).0, Ok(vec![]));
        for (stated_bytes, content) in [(5, "abc"), (3, ""), (2, "abc"), (0, "abc")] {
            let (result, _) = decompressed(&stating(stated_bytes, content.as_bytes()), 100);
            assert_eq!(result, Err(ZstdError::Corrupt), "{stated_bytes} for {content:?}");
        }
        let mut reserved = stating(3, b"abc");
        reserved[DESCRIPTOR_PLACE] |= RESERVED_BIT;
        assert_eq!(decompressed(&reserved, 100).0, Err(ZstdError::Corrupt));
    }

    #[test]
    fn frames_that_are_to_be_skipped_are_skipped_wherever_they_stand() {
        let skippable = |kind: u8| [&[kind, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"note"].concat();
        let frame = compressed(b"text");
        let [first, last] = [0x50, 0x5f].map(skippable);
        let around = [&first[..], &frame, &last, &last].concat();
        assert_eq!(decompressed(&around, 100).0, Ok(b"text".to_vec()));
        assert_eq!(decompressed(&first, 100).0, Ok(vec![]));
        for cut in 1..first.len() {
            assert_eq!(decompressed(&first[..cut], 100).0, Err(ZstdError::Corrupt), "{cut}");
        }
        assert_eq!(decompressed(&skippable(0x60), 100).0, Err(ZstdError::Corrupt));
        let many = first.repeat(10_000);
        assert_eq!(decompressed(&many, 4 << 20).0, Err(ZstdError::TooMuchWork));
    }
}
