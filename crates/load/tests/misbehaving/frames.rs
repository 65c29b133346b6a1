//! HTTP/2 by hand: frames and header blocks as bytes. Nothing here is shared with the code that is
//! tested.

use std::io::Read;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;

pub const ACK: u8 = 0x1;
pub const END_STREAM: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;

pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;

pub const NO_ERROR: u32 = 0;
pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;
pub const ENHANCE_YOUR_CALM: u32 = 11;

/// `:status: 200` and `content-type: application/grpc`; the name of the latter stands in the static
/// table (RFC 7541 appendix A, number 31), and nothing is put into the dynamic one.
pub const GOOD_HEAD: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// `grpc-status: 0`, a literal.
pub const OK_TRAILERS: &[u8] = b"\0\x0bgrpc-status\x010";

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream_id: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The next frame, or nothing at the end of the connection.
    pub fn read(socket: &mut impl Read) -> Option<Self> {
        let mut header = [0; 9];
        socket.read_exact(&mut header).ok()?;
        let [a, b, c, kind, flags, id @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).ok()?;
        Some(Self { kind, flags, stream_id: u32::from_be_bytes(id), payload })
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The number that stands there in the payload.
    pub fn number_at(&self, start: usize) -> u32 {
        u32::from_be_bytes(*self.payload[start..].first_chunk().unwrap())
    }

    /// The settings, if it is SETTINGS.
    pub fn settings(&self) -> impl Iterator<Item = (u16, u32)> {
        let entry = |entry: &[u8]| {
            let (id, value) = entry.split_at(2);
            let id = u16::from_be_bytes(id.try_into().unwrap());
            (id, u32::from_be_bytes(value.try_into().unwrap()))
        };
        self.payload.chunks_exact(6).map(entry)
    }
}

/// Appends a frame.
pub fn put(output: &mut Vec<u8>, kind: u8, flags: u8, stream_id: u32, payload: &[u8]) {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    output.extend_from_slice(&length);
    output.extend_from_slice(&[kind, flags]);
    output.extend_from_slice(&stream_id.to_be_bytes());
    output.extend_from_slice(payload);
}
