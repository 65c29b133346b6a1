//! Frames as bytes, RFC 9113 section 4.1.

use crate::words::kind;
use std::io::{self, ErrorKind, Read};

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 9;

/// A frame as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// One of [`crate::kind`], or an unknown type.
    pub kind: u8,
    /// Bits of [`crate::flag`].
    pub flags: u8,
    /// 0 for the connection itself. The reserved bit is left out.
    pub stream_id: u32,
    /// What follows the header.
    pub payload: Vec<u8>,
}

impl Frame {
    /// A frame of these.
    pub fn new(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Self {
        Self { kind, flags, stream_id, payload: payload.to_vec() }
    }

    /// The next frame of a socket; `None` where it ends before that begins.
    ///
    /// # Errors
    /// The socket fails, or ends within the frame.
    pub fn read(socket: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        match socket.read_exact(&mut header) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let mut frame = Self::of_header(header);
        socket.read_exact(&mut frame.payload)?;
        Ok(Some(frame))
    }

    /// The frame at the beginning of `bytes`, if it is whole, and what comes after it.
    pub fn first(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, behind) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let mut frame = Self::of_header(*header);
        let (payload, behind) = behind.split_at_checked(frame.payload.len())?;
        frame.payload.copy_from_slice(payload);
        Some((frame, behind))
    }

    /// With a payload of zeros, as long as the header says.
    fn of_header(header: [u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, id @ ..] = header;
        let payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        Self { kind, flags, stream_id: u32::from_be_bytes(id) & 0x7fff_ffff, payload }
    }

    /// Appends its bytes.
    pub fn write(&self, output: &mut Vec<u8>) {
        let [_, length @ ..] = (self.payload.len() as u32).to_be_bytes();
        output.extend(length);
        output.extend([self.kind, self.flags]);
        output.extend(self.stream_id.to_be_bytes());
        output.extend(&self.payload);
    }

    /// Whether `flag` is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The number of four bytes that begins at `start` of the payload.
    ///
    /// # Panics
    /// The payload is shorter.
    pub fn number_at(&self, start: usize) -> u32 {
        u32::from_be_bytes(*self.payload[start..].first_chunk().expect("four bytes"))
    }

    /// The parameters, if it is SETTINGS.
    pub fn settings(&self) -> impl Iterator<Item = (u16, u32)> {
        let entry = |entry: &[u8]| {
            let [a, b, value @ ..] = *entry.first_chunk::<6>().expect("chunks of six");
            (u16::from_be_bytes([a, b]), u32::from_be_bytes(value))
        };
        self.payload.chunks_exact(6).map(entry)
    }
}

/// A frame as bytes.
pub fn frame(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::new(kind, flags, stream_id, payload).write(&mut bytes);
    bytes
}

/// SETTINGS with these parameters.
pub fn settings(parameters: &[(u16, u32)]) -> Vec<u8> {
    let bytes = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &parameters.iter().flat_map(bytes).collect::<Vec<u8>>())
}

/// WINDOW_UPDATE.
pub fn window_update(stream_id: u32, increment_bytes: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream_id, &increment_bytes.to_be_bytes())
}

/// The frames that `bytes` consist of.
///
/// # Panics
/// The last one is cut.
pub fn frames(bytes: &[u8]) -> Vec<Frame> {
    let mut left = bytes.to_vec();
    let frames = take_frames(&mut left);
    assert!(left.is_empty(), "a cut frame");
    frames
}

/// Takes the whole frames off the front of `bytes`.
pub fn take_frames(bytes: &mut Vec<u8>) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut rest = &bytes[..];
    while let Some((frame, behind)) = Frame::first(rest) {
        frames.push(frame);
        rest = behind;
    }
    let taken_bytes = bytes.len() - rest.len();
    bytes.drain(..taken_bytes);
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of SETTINGS with a value of each kind, written by hand.
    const SETTINGS: &[u8] = b"\0\0\x0c\x04\0\0\0\0\0\0\x03\0\0\0\x09\0\x04\0\x10\0\0";

    #[test]
    fn what_is_written_is_what_the_rfc_draws() {
        assert_eq!(settings(&[(3, 9), (4, 1 << 20)]), SETTINGS);
        assert_eq!(frame(0, 1, 5, b"abc"), b"\0\0\x03\0\x01\0\0\0\x05abc");
        assert_eq!(window_update(7, 256), b"\0\0\x04\x08\0\0\0\0\x07\0\0\x01\0");
    }

    #[test]
    fn frames_are_read_whole_byte_by_byte_and_with_bytes_to_spare() {
        let bytes = [SETTINGS, &frame(0, 1, 5, b"abc")].concat();
        let whole = frames(&bytes);
        assert_eq!(whole[1], Frame::new(0, 1, 5, b"abc"));
        assert_eq!(whole[0].settings().collect::<Vec<_>>(), [(3, 9), (4, 1 << 20)]);
        let (mut left, mut found) = (Vec::new(), Vec::new());
        for byte in bytes.iter().chain(b"\0\0") {
            left.push(*byte);
            found.extend(take_frames(&mut left));
        }
        assert_eq!((found, left.as_slice()), (whole.clone(), &b"\0\0"[..]));
        let mut socket = &bytes[..];
        assert_eq!(Frame::read(&mut socket).unwrap().as_ref(), Some(&whole[0]));
        assert_eq!(Frame::read(&mut socket).unwrap().as_ref(), Some(&whole[1]));
        assert_eq!(Frame::read(&mut socket).unwrap(), None);
        assert!(Frame::read(&mut &bytes[..12]).is_err(), "it ends within the payload");
    }

    #[test]
    fn the_reserved_bit_is_no_part_of_a_stream() {
        assert_eq!(frames(b"\0\0\0\x03\0\x80\0\0\x05")[0].stream_id, 5);
    }
}
