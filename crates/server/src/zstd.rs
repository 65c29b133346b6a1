//! Messages compressed by zstd (RFC 8878), always whole. ruzstd reads them a block at a time, so
//! that their work can be bounded as that of gzip is; the C library would not say how far it is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::gzip::InflateLimits;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that is read: what RFC 8878 section 3.1.1.1.2 recommends to support. The
/// decoder keeps as much beside the message.
pub(crate) const WINDOW_MAX_BYTES: usize = 8 << 20;

// Work is counted in bytes of text, of which ruzstd 0.9.1 makes one in 3.4 ns on a virtual EPYC.
// The shortest matches that there can be take it 35 ns each, which is 12 ns a byte; the other costs
// below are rounded up.

/// What beginning a frame costs: 42 ns, with a new decoder at most 1.5 us.
const FRAME_WORK_BYTES: usize = 1 << 10;

/// What a compressed block costs beside what it comes to: 9.9 us with the largest tables there are.
/// Encoders fill blocks of 128 KiB, or split them in a few.
const BLOCK_WORK_BYTES: usize = 4 << 10;

/// What a block costs that is stored, or one byte again and again: 22 ns.
const PLAIN_BLOCK_WORK_BYTES: usize = 16;

const BLOCK_HEADER_BYTES: usize = 3;
/// The type of a block that has tables, RFC 8878 section 3.1.1.2.2.
const COMPRESSED_BLOCK: u8 = 2;

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
/// are bounded, too. The work is added to `work_bytes` in any case.
pub(crate) fn decompress_within(
    bytes: &[u8],
    (limits, window_bytes): (InflateLimits, usize),
    output: &mut Vec<u8>,
    work_bytes: &mut usize,
) -> Result<(), ZstdError> {
    let mut frames = Frames { rest: bytes, limits, window_bytes, output, spent_bytes: 0 };
    // The decoder is not ours: where it breaks, a call does.
    let result = catch_unwind(AssertUnwindSafe(|| frames.decode()));
    *work_bytes = work_bytes.saturating_add(frames.spent_bytes);
    result.unwrap_or(Err(ZstdError::Corrupt))
}

struct Frames<'a> {
    rest: &'a [u8],
    limits: InflateLimits,
    window_bytes: usize,
    output: &'a mut Vec<u8>,
    spent_bytes: usize,
}

impl Frames<'_> {
    fn decode(&mut self) -> Result<(), ZstdError> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(self.window_bytes as u64);
        loop {
            self.spend(FRAME_WORK_BYTES)?;
            decoder.reset(&mut self.rest).map_err(|error| match error {
                FrameDecoderError::WindowSizeTooBig { .. } => ZstdError::Window,
                _ => ZstdError::Corrupt,
            })?;
            if decoder.content_size() > self.limits.message_bytes as u64 {
                return Err(ZstdError::TooLarge);
            }
            while !decoder.is_finished() {
                self.block(&mut decoder)?;
            }
            let sums = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if let (Some(stated), Some(calculated)) = sums
                && stated != calculated
            {
                return Err(ZstdError::Corrupt);
            }
            if self.rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn block(&mut self, decoder: &mut FrameDecoder) -> Result<(), ZstdError> {
        let header = self.rest.first_chunk::<BLOCK_HEADER_BYTES>().ok_or(ZstdError::Corrupt)?;
        let block_work = match header[0] >> 1 & 3 {
            COMPRESSED_BLOCK => BLOCK_WORK_BYTES,
            _ => PLAIN_BLOCK_WORK_BYTES,
        };
        self.spend(block_work)?;
        let one = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut self.rest, one).map_err(|_| ZstdError::Corrupt)?;
        // What the window still needs stays with the decoder.
        let written_bytes =
            decoder.collect_to_writer(&mut *self.output).map_err(|_| ZstdError::Corrupt)?;
        match self.output.len() > self.limits.message_bytes {
            true => Err(ZstdError::TooLarge),
            false => self.spend(written_bytes),
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

    /// A frame of so many stored blocks of nothing, and a last one.
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

    /// A frame of so many blocks, each of one literal and one match of three bytes, for which each
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
}
