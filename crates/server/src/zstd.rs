//! Messages compressed by zstd (RFC 8878), always whole. ruzstd reads them a block at a time, so
//! that their work can be bounded as that of gzip is; the C library would not say how far it is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::gzip::InflateLimits;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that is read: what RFC 8878 section 3.1.1.1.2 recommends to support. The
/// decoder keeps as much beside the message.
pub(crate) const WINDOW_MAX_BYTES: usize = 8 << 20;

/// What beginning a frame costs: room for its window.
const FRAME_WORK_BYTES: usize = 16 << 10;

/// What a compressed block costs beside what it comes to: its tables have up to three thousand
/// entries. Encoders fill blocks of 128 KiB, or split them in a few.
const BLOCK_WORK_BYTES: usize = 4 << 10;

/// What a block costs that is stored, or one byte again and again.
const PLAIN_BLOCK_WORK_BYTES: usize = 128;

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
}
