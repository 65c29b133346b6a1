//! Frames: the header of nine bytes in front of every payload, RFC 9113 section 4.1.

use alloc::vec::Vec;

/// Bytes of a frame header.
pub const HEADER_BYTES: usize = 9;

/// What a client sends before its first frame, RFC 9113 section 3.4.
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Frame types, RFC 9113 section 6.
pub mod kind {
    /// Part of a body.
    pub const DATA: u8 = 0x0;
    /// The head of a message, or its trailers.
    pub const HEADERS: u8 = 0x1;
    /// Advice about priority, deprecated.
    pub const PRIORITY: u8 = 0x2;
    /// The abrupt end of a stream.
    pub const RST_STREAM: u8 = 0x3;
    /// Parameters of the sender.
    pub const SETTINGS: u8 = 0x4;
    /// The promise of a pushed response.
    pub const PUSH_PROMISE: u8 = 0x5;
    /// A liveness check.
    pub const PING: u8 = 0x6;
    /// The end of the connection.
    pub const GOAWAY: u8 = 0x7;
    /// Credit to send more.
    pub const WINDOW_UPDATE: u8 = 0x8;
    /// More of a header block.
    pub const CONTINUATION: u8 = 0x9;
}

/// Frame flags, RFC 9113 section 6.
pub mod flag {
    /// On SETTINGS and PING: an acknowledgement.
    pub const ACK: u8 = 0x1;
    /// On DATA and HEADERS: the last frame of its direction.
    pub const END_STREAM: u8 = 0x1;
    /// On HEADERS and CONTINUATION: the header block is whole.
    pub const END_HEADERS: u8 = 0x4;
    /// On DATA and HEADERS: the payload begins with a pad length.
    pub const PADDED: u8 = 0x8;
    /// On HEADERS: five bytes of priority precede the block.
    pub const PRIORITY: u8 = 0x20;
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the payload.
    pub length: usize,
    /// One of [`kind`], or an unknown type, which is ignored.
    pub kind: u8,
    /// Bits of [`flag`].
    pub flags: u8,
    /// 0 for the connection itself.
    pub stream_id: u32,
}

impl FrameHeader {
    /// Reads a frame header of nine bytes.
    #[inline]
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Self {
        let length_and_kind = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let stream_id = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        Self {
            length: (length_and_kind >> 8) as usize,
            kind: length_and_kind as u8,
            flags: bytes[4],
            stream_id: stream_id & 0x7fff_ffff,
        }
    }

    /// The header as nine bytes. `length` must be below 2^24.
    #[inline]
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        debug_assert!(self.length < 1 << 24);
        let head = ((self.length as u32) << 8 | u32::from(self.kind)).to_be_bytes();
        let id = self.stream_id.to_be_bytes();
        [head[0], head[1], head[2], head[3], self.flags, id[0], id[1], id[2], id[3]]
    }

    /// Whether `flag` is set.
    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Appends the header's nine bytes.
    #[inline]
    pub fn write(self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.to_bytes());
    }
}

/// Appends a whole frame. `payload` must be no longer than the peer's SETTINGS_MAX_FRAME_SIZE.
pub fn write_frame(output: &mut Vec<u8>, kind: u8, flags: u8, stream_id: u32, payload: &[u8]) {
    FrameHeader { length: payload.len(), kind, flags, stream_id }.write(output);
    output.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_as_it_was_written() {
        let header = FrameHeader { length: 0xabcdef, kind: 9, flags: 0x25, stream_id: 0x7fff_ffff };
        assert_eq!(FrameHeader::parse(&header.to_bytes()), header);
    }

    #[test]
    fn the_reserved_bit_is_ignored() {
        let mut bytes = FrameHeader { length: 1, kind: 0, flags: 0, stream_id: 5 }.to_bytes();
        bytes[5] |= 0x80;
        assert_eq!(FrameHeader::parse(&bytes).stream_id, 5);
    }
}
