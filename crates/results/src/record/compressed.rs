//! Records and what foreign instruments printed are kept under zstd (RFC 8878). They are read here;
//! whoever writes them brings an encoder.

use bookend_contract::input;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a frame begins, RFC 8878 section 3.1.1.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The largest window that is read: what RFC 8878 section 3.1.1.1.2 recommends to support, and
/// what `zstd` uses up to level 19.
const WINDOW_MAX_BYTES: u64 = 8 << 20;

/// What bytes come to that are compressed; others are what they are. What they come to has at most
/// [`input::MAX_BYTES`], however few they are.
///
/// # Errors
/// That they are no zstd, or come to more.
pub fn decompressed(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    // The decoder is not ours: where it breaks, a file is broken.
    catch_unwind(AssertUnwindSafe(|| decode(&bytes))).unwrap_or_else(|_| Err(broken()))
}

/// The frames one after the other, as `cat a.zst b.zst` puts them.
fn decode(mut rest: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    while !rest.is_empty() {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_MAX_BYTES);
        let frame =
            StreamingDecoder::new_with_decoder(&mut rest, &mut decoder).map_err(|_| broken())?;
        let left_bytes = input::MAX_BYTES - text.len() as u64;
        let too_large = |error: io::Error| match error.kind() {
            ErrorKind::FileTooLarge => io::Error::new(
                ErrorKind::FileTooLarge,
                format!("it comes to more than {} MiB", input::MAX_BYTES >> 20),
            ),
            _ => broken(),
        };
        text.append(&mut input::bytes(frame, left_bytes).map_err(too_large)?);
        let sums = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        if matches!(sums, (Some(written), Some(counted)) if written != counted) {
            return Err(broken());
        }
    }
    Ok(text)
}

fn broken() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is no whole file of zstd: write or copy it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn compressed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn what_is_compressed_is_read_and_what_is_not_stays() {
        let text = b"a line\n".repeat(100_000);
        let one = compressed(&text);
        assert!(one.len() < text.len() / 10);
        assert_eq!(decompressed(one.clone()).unwrap(), text);
        assert_eq!(decompressed(one.repeat(2)).unwrap(), text.repeat(2), "two frames");
        assert_eq!(decompressed(text.clone()).unwrap(), text);
        assert_eq!(decompressed(Vec::new()).unwrap(), b"");
    }

    #[test]
    fn what_the_tool_writes_is_read_and_a_changed_bit_is_seen() {
        // `printf 'hello hello hello hello hello' | zstd -c`, with its checksum.
        let written =
            *b"\x28\xb5\x2f\xfd\x04\x58\x65\0\0\x30hello \x01\0\xa9\x4b\x11\x87\x4e\x20\x0a";
        let hello = b"hello hello hello hello hello";
        assert_eq!(decompressed(written.to_vec()).expect("whole"), hello);
        for place in MAGIC.len()..written.len() {
            let mut changed = written.to_vec();
            changed[place] ^= 4;
            // The size of the window may be another.
            let read = decompressed(changed).unwrap_or_default();
            assert!(read.is_empty() || read == hello, "{place}");
        }
    }

    #[test]
    fn what_breaks_off_or_is_followed_by_something_else_is_refused() {
        let whole = compressed(&b"0123456789abcdef".repeat(20_000));
        for end in MAGIC.len()..whole.len() {
            assert!(decompressed(whole[..end].to_vec()).is_err(), "{end}");
        }
        assert!(decompressed([&whole[..], b"\n"].concat()).is_err());
    }

    #[test]
    fn a_few_bytes_that_come_to_very_much_are_read_no_further_than_the_limit() {
        let part = compressed(&vec![b' '; (input::MAX_BYTES / 4) as usize]);
        assert!(part.len() < 20_000, "{}", part.len());
        let most = decompressed(part.repeat(4)).expect("as much as may be");
        assert_eq!(most.len() as u64, input::MAX_BYTES);
        let more = [part.repeat(4), compressed(b" ")].concat();
        let error = decompressed(more).expect_err("more").to_string();
        assert_eq!(error, "it comes to more than 64 MiB");
        // A window of 2 TiB, RFC 8878 section 3.1.1.1.2, which would have to be held.
        let window = [&MAGIC[..], &[0, 0xff, 1, 0, 0]].concat();
        assert!(decompressed(window).is_err());
    }
}
