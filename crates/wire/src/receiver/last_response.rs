//! The last response that lay whole in what was read.
//!
//! A server gives equal answers to equal requests: in all but the stream's id they are the same
//! bytes. So the next response is compared with the last one before it is taken apart. If they are
//! equal, all that was found out about the frames of that one holds for this one as well.

use crate::frame::{FrameHeader, HEADER_BYTES};

/// Longer responses are not remembered.
const MAX_BYTES: usize = 128;
/// As many bytes are compared at once.
const PIECE_BYTES: usize = 16;
/// Where the stream's id stands in a frame header.
const STREAM_ID_AT: usize = 5;
/// Where responses differ from each other, one in this number is remembered: it is in vain each
/// time.
const UNEQUAL_PER_REMEMBERED: u32 = 64;

/// A head, a body of one frame, and trailers that end the stream.
pub(super) struct WholeFrames<'b> {
    pub stream_id: u32,
    /// What the visitor made of its fields when they came last.
    pub head: u32,
    pub body: &'b [u8],
    /// As `head`.
    pub trailers: u32,
    /// Of all three frames, in bytes.
    pub length: usize,
}

/// A response, and how often the ones behind it were different.
#[derive(Debug)]
pub(super) struct LastResponse {
    /// Zero where a stream's id stands, and behind the end.
    bytes: [u8; MAX_BYTES],
    /// Ones where the bytes count.
    mask: [u8; MAX_BYTES],
    /// Where the frames begin.
    frames_at: [usize; 3],
    length: usize,
    /// The state of the decoder's table in which the header blocks mean that.
    generation: u64,
    head: u32,
    trailers: u32,
    unequal: u32,
}

impl LastResponse {
    /// Nothing is equal to it.
    pub fn new() -> Self {
        Self {
            bytes: [0; MAX_BYTES],
            mask: [0; MAX_BYTES],
            frames_at: [0; 3],
            length: 0,
            generation: 0,
            head: 0,
            trailers: 0,
            unequal: 0,
        }
    }

    /// The frames of the response that the bytes begin with, if it is equal to this one.
    #[inline]
    pub fn recall<'b>(&self, bytes: &'b [u8], generation: u64) -> Option<WholeFrames<'b>> {
        let pieces_bytes = self.length.next_multiple_of(PIECE_BYTES);
        if self.length == 0 || generation != self.generation || bytes.len() < pieces_bytes {
            return None;
        }
        let pieces = |bytes: &'b [u8]| bytes[..pieces_bytes].chunks_exact(PIECE_BYTES);
        let differs = pieces(bytes)
            .zip(self.bytes.chunks_exact(PIECE_BYTES))
            .zip(self.mask.chunks_exact(PIECE_BYTES))
            .fold(0, |differs, ((one, other), mask)| {
                differs | ((piece(one) ^ piece(other)) & piece(mask))
            });
        let [head_at, body_at, trailers_at] = self.frames_at;
        let stream_id = stream_id(bytes, head_at)?;
        let is_one_stream =
            stream_id_is(bytes, body_at, stream_id) && stream_id_is(bytes, trailers_at, stream_id);
        if differs != 0 || !is_one_stream {
            return None;
        }
        Some(WholeFrames {
            stream_id,
            head: self.head,
            body: &bytes[body_at + HEADER_BYTES..trailers_at],
            trailers: self.trailers,
            length: self.length,
        })
    }

    /// A response that is not equal to this one was taken from the front of the bytes.
    #[inline]
    pub fn remember(&mut self, frames: &WholeFrames<'_>, bytes: &[u8], generation: u64) {
        let is_in_vain = !self.unequal.is_multiple_of(UNEQUAL_PER_REMEMBERED);
        self.unequal = self.unequal.wrapping_add(1);
        if !is_in_vain && frames.length <= MAX_BYTES {
            self.set(frames, bytes, generation);
        }
    }

    #[cold]
    fn set(&mut self, frames: &WholeFrames<'_>, bytes: &[u8], generation: u64) {
        let head_bytes = frame_bytes(bytes);
        let trailers_at = head_bytes + HEADER_BYTES + frames.body.len();
        let unequal = self.unequal;
        *self = Self { unequal, ..Self::new() };
        self.bytes[..frames.length].copy_from_slice(&bytes[..frames.length]);
        self.mask[..frames.length].fill(u8::MAX);
        self.frames_at = [0, head_bytes, trailers_at];
        for at in self.frames_at {
            self.bytes[at + STREAM_ID_AT..at + HEADER_BYTES].fill(0);
            self.mask[at + STREAM_ID_AT..at + HEADER_BYTES].fill(0);
        }
        self.length = frames.length;
        self.generation = generation;
        (self.head, self.trailers) = (frames.head, frames.trailers);
    }
}

#[inline]
fn piece(bytes: &[u8]) -> u128 {
    bytes.first_chunk().map_or(0, |bytes| u128::from_ne_bytes(*bytes))
}

/// The four bytes of the stream's id of the frame at `at`. `None`: the reserved bit is set.
#[inline]
fn stream_id(bytes: &[u8], at: usize) -> Option<u32> {
    let id = bytes.get(at + STREAM_ID_AT..)?.first_chunk()?;
    let id = u32::from_be_bytes(*id);
    (id >> 31 == 0).then_some(id)
}

#[inline]
fn stream_id_is(bytes: &[u8], at: usize, id: u32) -> bool {
    stream_id(bytes, at) == Some(id)
}

/// Length of the frame at the front, in bytes.
fn frame_bytes(bytes: &[u8]) -> usize {
    let header = bytes.first_chunk().map(FrameHeader::parse);
    header.map_or(0, |header| HEADER_BYTES + header.length)
}
