//! A unary request that is made again and again: octets with a stream id patched in.

use crate::block::Block;
use crate::frame::{FrameHeader, HEADER_BYTES};
use alloc::vec::Vec;

/// A whole unary request of ONE connection: head, one message, END_STREAM.
///
/// Once its head takes no more than references to the table, sending it is a copy with the stream's
/// id patched in twice. It holds its message twice: made for small ones.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) head: Block,
    pub(crate) message: Vec<u8>,
    template: Option<Template>,
}

/// A HEADERS and a DATA frame as they were sent last.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub octets: Vec<u8>,
    /// Where the DATA frame begins.
    pub data_at: usize,
    /// The state of the encoder's table for which the octets are right.
    generation: u64,
}

impl Request {
    /// A request with that head and that message.
    pub fn new(head: Block, message: Vec<u8>) -> Self {
        Self {
            head,
            message,
            template: None,
        }
    }

    /// The octets, if they are right while the table is as `generation` says.
    #[inline]
    pub(crate) fn template(&self, generation: u64) -> Option<&Template> {
        let template = self.template.as_ref()?;
        (template.generation == generation).then_some(template)
    }

    /// Remembers what was written, if it is one HEADERS frame and one DATA frame.
    pub(crate) fn remember(&mut self, written: &[u8], generation: u64) {
        let Some(data_at) = frame_bytes(written) else {
            return;
        };
        if frame_bytes(&written[data_at..]) == Some(written.len() - data_at) {
            self.template = Some(Template {
                octets: written.to_vec(),
                data_at,
                generation,
            });
        }
    }
}

/// Octets of the frame at the front.
fn frame_bytes(octets: &[u8]) -> Option<usize> {
    let header = FrameHeader::parse(octets.first_chunk()?);
    Some(HEADER_BYTES + header.length).filter(|length| *length <= octets.len())
}
