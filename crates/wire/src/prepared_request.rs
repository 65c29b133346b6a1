//! A unary request that is made again and again: bytes with a stream id patched in.

use crate::frame::{FrameHeader, HEADER_BYTES, flag};
use crate::header_block::HeaderBlock;
use alloc::vec::Vec;

/// A whole unary request of ONE connection: head, one message, END_STREAM.
///
/// Once its head consists only of references to the table, sending a short request is a copy with
/// the stream's id patched in twice.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    pub(crate) head: HeaderBlock,
    pub(crate) message: Vec<u8>,
    template: Option<Template>,
}

/// Room for a cached request. With a fixed size, writing one takes a few moves and no call.
const ROOM_BYTES: usize = 128;

/// Of a request as short as most are, no more than this is moved.
const SMALL_BYTES: usize = 64;

/// A HEADERS and a DATA frame as they were sent last.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: [u8; ROOM_BYTES],
    length: usize,
    /// Where the DATA frame begins.
    data_at: usize,
    /// The state of the encoder's table for which the bytes are valid.
    generation: u64,
}

impl PreparedRequest {
    /// A request with that head and that message.
    pub fn new(head: HeaderBlock, message: Vec<u8>) -> Self {
        Self { head, message, template: None }
    }

    /// The bytes, if they are valid for the table's state `generation`.
    #[inline]
    pub(crate) fn template(&self, generation: u64) -> Option<&Template> {
        let template = self.template.as_ref()?;
        (template.generation == generation).then_some(template)
    }

    /// Caches what was written, if it is exactly one HEADERS frame and one DATA frame. It is not if
    /// a window is smaller than the message, since then only the beginning was written.
    pub(crate) fn remember(&mut self, written: &[u8], generation: u64) {
        let Some(data_at) = frame_bytes(written) else {
            return;
        };
        let is_whole = frame_bytes(&written[data_at..]) == Some(written.len() - data_at)
            && written[data_at + FLAGS_AT] & flag::END_STREAM != 0;
        if is_whole && written.len() <= ROOM_BYTES {
            let mut bytes = [0; ROOM_BYTES];
            bytes[..written.len()].copy_from_slice(written);
            self.template = Some(Template { bytes, length: written.len(), data_at, generation });
        }
    }
}

impl Template {
    /// Appends the request on that stream.
    #[inline]
    pub fn write(&self, stream_id: u32, output: &mut Vec<u8>) {
        let (head_at, id) = (output.len(), stream_id.to_be_bytes());
        match self.bytes.first_chunk::<SMALL_BYTES>() {
            Some(small) if self.length <= SMALL_BYTES => output.extend_from_slice(small),
            _ => output.extend_from_slice(&self.bytes),
        }
        for frame_at in [head_at, head_at + self.data_at] {
            output[frame_at + STREAM_ID_AT..frame_at + HEADER_BYTES].copy_from_slice(&id);
        }
        output.truncate(head_at + self.length);
    }
}

/// Offset of the flags in a frame header.
const FLAGS_AT: usize = 4;
/// Offset of the stream id in a frame header.
const STREAM_ID_AT: usize = 5;

/// Length of the frame at the front, in bytes.
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let header = FrameHeader::parse(bytes.first_chunk()?);
    Some(HEADER_BYTES + header.length).filter(|length| *length <= bytes.len())
}
