//! Bodies: messages behind their prefixes, and messages under gzip.

use crate::bounds::assert_memory;
use bookend_wire::grpc::gzip::{GzipError, InflateLimits, compress, decompress, decompress_within};
use bookend_wire::grpc::message::{Assembler, MessageError, PREFIX_BYTES};

/// A byte that says how the body is cut, one for the limit, then the body.
pub fn messages(input: &[u8]) {
    let Some((&[cut, limit], body)) = input.split_first_chunk() else {
        return;
    };
    let limit_bytes = usize::from(limit) * 16;
    let wanted = read_plainly(body, limit_bytes);
    let cuts = [body.len().max(1), 1, usize::from(cut).max(1)];
    for piece_bytes in cuts {
        assert_eq!(read(body.chunks(piece_bytes), limit_bytes), wanted, "{piece_bytes} at a time");
    }
    // What is kept of a message is a piece longer than the limit, and a vector doubles.
    let most_bytes = 2 * (limit_bytes + PREFIX_BYTES + usize::from(cut)) as u64 + 64;
    let pieces = body.chunks(usize::from(cut).max(1));
    assert_memory(input, 2 * most_bytes, 0, || {
        let mut assembler = Assembler::default();
        for piece in pieces {
            if assembler.push(piece, limit_bytes, |_| ()).is_err() {
                return;
            }
            assert!(assembler.partial_bytes() < PREFIX_BYTES + limit_bytes.max(1));
        }
    });
}

/// Messages with their flags, bytes that are left, and the error that ended it.
type Read = (Vec<(bool, Vec<u8>)>, Result<usize, MessageError>);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, limit_bytes: usize) -> Read {
    let mut assembler = Assembler::default();
    let mut messages = Vec::new();
    for piece in pieces {
        let kept = assembler.push(piece, limit_bytes, |message| {
            messages.push((message.compressed, message.bytes.to_vec()));
        });
        if let Err(error) = kept {
            return (messages, Err(error));
        }
    }
    (messages, Ok(assembler.partial_bytes()))
}

/// The same by the words of the specification, a byte after the other.
fn read_plainly(body: &[u8], limit_bytes: usize) -> Read {
    let mut messages = Vec::new();
    let mut at = 0;
    while let Some(prefix) = body.get(at..at + PREFIX_BYTES) {
        let declared_bytes = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
        if prefix[0] > 1 {
            return (messages, Err(MessageError::BadFlag(prefix[0])));
        }
        if declared_bytes as usize > limit_bytes {
            let error = MessageError::TooLarge { declared_bytes, limit_bytes };
            return (messages, Err(error));
        }
        let start = at + PREFIX_BYTES;
        let Some(message) = body.get(start..start + declared_bytes as usize) else {
            break;
        };
        messages.push((prefix[0] == 1, message.to_vec()));
        at = start + message.len();
    }
    (messages, Ok(body.len() - at))
}

/// What inflating needs in addition to its result: a window of 32 KiB, tables, and a step of
/// output.
const GZIP_MEMORY_BYTES: u64 = 256 << 10;

/// Two bytes for the limit, then what claims to be gzip; it is also taken as a message itself.
pub fn gzip(input: &[u8]) {
    let Some((limit, bytes)) = input.split_first_chunk() else {
        return;
    };
    let limit_bytes = usize::from(u16::from_be_bytes(*limit));
    let least_bytes = GZIP_MEMORY_BYTES + 4 * limit_bytes as u64;
    assert_memory(input, least_bytes, 0, || {
        let mut inflated = b"kept".to_vec();
        match decompress(bytes, limit_bytes, &mut inflated) {
            Ok(()) => assert!(inflated.len() <= limit_bytes + 4),
            Err(_) => assert_eq!(inflated, b"kept"),
        }
        assert!(inflated.starts_with(b"kept"));
    });
    work_is_bounded(bytes, limit_bytes);
    round_trip(bytes);
}

/// What is inflated at a time, and the block that goes beyond the limit.
const WORK_STEP_BYTES: usize = 40 << 10;

fn work_is_bounded(bytes: &[u8], limit_bytes: usize) {
    let mut work_bytes = 0;
    let limits = InflateLimits::of_messages(limit_bytes);
    let result = decompress_within(bytes, limits, &mut Vec::new(), &mut work_bytes);
    assert!(work_bytes <= limits.work_bytes + WORK_STEP_BYTES, "{result:?} {work_bytes}");
}

fn round_trip(message: &[u8]) {
    let (mut deflated, mut inflated) = (Vec::new(), Vec::new());
    compress(message, &mut deflated);
    assert_eq!(decompress(&deflated, message.len(), &mut inflated), Ok(()));
    assert_eq!(inflated, message);
    if let Some(limit_bytes) = message.len().checked_sub(1) {
        let refused = decompress(&deflated, limit_bytes, &mut Vec::new());
        assert_eq!(refused, Err(GzipError::TooLarge { limit_bytes }));
    }
}
