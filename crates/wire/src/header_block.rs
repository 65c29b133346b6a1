//! A header list that is sent again and again, with its encoding cached.

use crate::frame::{FrameHeader, HEADER_BYTES, kind};
use crate::hpack::{Encoder, Indexing, write_plain_string};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// First byte of a literal field with a literal name that is not indexed, RFC 7541 section 6.2.2.
const LITERAL_WITHOUT_INDEXING: u8 = 0x00;

/// A field that differs from call to call, added to a [`HeaderBlock`].
#[derive(Clone, Copy, Debug)]
pub struct ExtraField<'a> {
    /// Lower-case name.
    pub name: &'a [u8],
    /// Value.
    pub value: &'a [u8],
    /// How it is represented. A value that varies should be [`Indexing::Never`]: otherwise it would
    /// push useful entries out of the table.
    pub indexing: Indexing,
}

/// A header list of ONE connection that is sent again and again.
///
/// The first use inserts its fields into the dynamic table, and the second finds all of them there.
/// From then on sending the list copies a few bytes, for as long as the table does not change.
/// Clones share the fields: ten thousand connections that send the same list store it once.
#[derive(Clone, Debug)]
pub struct HeaderBlock {
    fields: Arc<Vec<(Vec<u8>, Vec<u8>)>>,
    encoded: Vec<u8>,
    /// The state of the encoder's table for which `encoded` is valid.
    generation: Option<u64>,
    frame: Frame,
}

/// Room for a cached HEADERS frame. With a fixed size, writing one takes a few moves and no call; a
/// block whose fields are all in the table takes one byte for each.
pub(crate) const FRAME_ROOM_BYTES: usize = 32;

/// A whole HEADERS frame except for its flags and its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub bytes: [u8; FRAME_ROOM_BYTES],
    /// 0 if the frame is longer than the room, or not known yet.
    pub length: usize,
}

const NO_FRAME: Frame = Frame { bytes: [0; FRAME_ROOM_BYTES], length: 0 };

impl HeaderBlock {
    /// A block of these names (in lower case) and values, pseudo-headers first.
    pub fn new(fields: &[(&[u8], &[u8])]) -> Self {
        let owned = |(name, value): &(&[u8], &[u8])| (name.to_vec(), value.to_vec());
        Self {
            fields: Arc::new(fields.iter().map(owned).collect()),
            encoded: Vec::new(),
            generation: None,
            frame: NO_FRAME,
        }
    }

    /// Adds a field at the end.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        let fields = Arc::make_mut(&mut self.fields);
        fields.push((name.to_vec(), value.to_vec()));
        self.generation = None;
    }

    /// Appends the encoding.
    #[inline]
    pub(crate) fn encode(&mut self, encoder: &mut Encoder, output: &mut Vec<u8>) {
        if self.generation == Some(encoder.generation()) {
            output.extend_from_slice(&self.encoded);
        } else {
            self.encode_anew(encoder, output);
        }
    }

    /// RFC 7541, section 2.1.
    fn encode_anew(&mut self, encoder: &mut Encoder, output: &mut Vec<u8>) {
        encoder.begin_block(output);
        let start = output.len();
        let before = encoder.generation();
        for (name, value) in self.fields.iter() {
            encoder.field(name, value, Indexing::Incremental, output);
        }
        self.generation = (encoder.generation() == before).then_some(before);
        self.encoded.clear();
        self.encoded.extend_from_slice(&output[start..]);
        self.frame = frame_of(&self.encoded);
    }

    /// The whole frame, if it is cached and still valid.
    #[inline]
    pub(crate) fn frame(&self, encoder: &Encoder) -> Option<&Frame> {
        let is_right = self.frame.length > 0 && self.generation == Some(encoder.generation());
        is_right.then_some(&self.frame)
    }

    /// The encoding that uses no dynamic table, so that it may be sent at any later time.
    pub(crate) fn encode_stateless(&self) -> Vec<u8> {
        let mut encoded = Vec::new();
        for (name, value) in self.fields.iter() {
            encoded.push(LITERAL_WITHOUT_INDEXING);
            write_plain_string(name, &mut encoded);
            write_plain_string(value, &mut encoded);
        }
        encoded
    }
}

fn frame_of(encoded: &[u8]) -> Frame {
    let length = HEADER_BYTES + encoded.len();
    if length > FRAME_ROOM_BYTES {
        return NO_FRAME;
    }
    let header = FrameHeader { length: encoded.len(), kind: kind::HEADERS, flags: 0, stream_id: 0 };
    let mut bytes = [0; FRAME_ROOM_BYTES];
    bytes[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
    bytes[HEADER_BYTES..length].copy_from_slice(encoded);
    Frame { bytes, length }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpack::{Decoder, HeaderList};
    use alloc::vec;

    fn decoded(decoder: &mut Decoder, bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut list = HeaderList::new(1 << 20, 100);
        decoder.decode(bytes, &mut list).unwrap();
        list.iter().map(|field| (field.name.to_vec(), field.value.to_vec())).collect()
    }

    #[test]
    fn a_block_means_the_same_each_time_and_becomes_short() {
        let fields: [(&[u8], &[u8]); 2] =
            [(b":path", b"/helloworld.Greeter/SayHello"), (b"te", b"trailers")];
        let mut block = HeaderBlock::new(&fields);
        let (mut encoder, mut decoder) = (Encoder::new(4096), Decoder::new(4096));
        let mut lengths = Vec::new();
        for _ in 0..3 {
            let mut bytes = Vec::new();
            block.encode(&mut encoder, &mut bytes);
            assert_eq!(decoded(&mut decoder, &bytes), *block.fields);
            lengths.push(bytes.len());
        }
        assert_eq!(lengths[1..], [2, 2]);
    }

    #[test]
    fn the_stateless_encoding_means_the_same_on_any_connection() {
        let long = vec![b'x'; 70_000];
        let block = HeaderBlock::new(&[(b"grpc-status", b"0"), (b"grpc-message", &long)]);
        assert_eq!(decoded(&mut Decoder::new(0), &block.encode_stateless()), *block.fields);
    }
}
