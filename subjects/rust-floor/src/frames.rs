//! The frames that a call needs (RFC 9113): constant bytes in which only the stream ids change.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const END_STREAM: u8 = 1;
/// Compressed flag and length, before each message.
pub const PREFIX_BYTES: usize = 5;
/// What a client says first (RFC 9113, 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const CONTENT_TYPE: &[u8] = b"\x0f\x10\x10application/grpc";

/// SETTINGS and WINDOW_UPDATE that open all windows as wide as they go, so that nobody ever waits.
const OPENING: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff\
                         \0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0";
/// Half of our window: given back so rarely that its cost cannot be seen.
const GIVE_BACK_BYTES: u32 = 1 << 30;
/// What a peer grants a connection before its first WINDOW_UPDATE (RFC 9113, 6.9.2).
const INITIAL_WINDOW_BYTES: usize = 65_535;
/// One read takes what a thousand answers weigh.
const READ_BYTES: usize = 256 * 1024;

/// One exchange's frames, many times over: written by the thousand, never copied again.
pub struct Canned<const FRAMES: usize> {
    one: Vec<u8>,
    ids_at: [usize; FRAMES],
    many: Vec<u8>,
}

impl<const FRAMES: usize> Canned<FRAMES> {
    fn new(frames: [(u8, u8, Vec<u8>); FRAMES]) -> Self {
        let mut one = Vec::new();
        let ids_at = frames.map(|(kind, flags, payload)| {
            one.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
            one.extend_from_slice(&[kind, flags, 0, 0, 0, 0]);
            one.extend_from_slice(&payload);
            one.len() - payload.len() - 4
        });
        Canned { one, ids_at, many: Vec::new() }
    }

    /// Gives the copy at `index` its stream id. Copies come into being one after the other.
    #[inline(always)]
    pub fn address(&mut self, index: usize, stream_id: [u8; 4]) {
        let start = index * self.one.len();
        if start == self.many.len() {
            self.many.extend_from_slice(&self.one);
        }
        let one = &mut self.many[start..];
        for at in self.ids_at {
            one[at..at + 4].copy_from_slice(&stream_id);
        }
    }

    /// What one exchange weighs on the wire.
    pub fn one_bytes(&self) -> usize {
        self.one.len()
    }

    /// The first copies, as one piece to write.
    pub fn first(&self, count: usize) -> &[u8] {
        &self.many[..count * self.one.len()]
    }
}

/// A call. No field enters the dynamic table, so the same bytes mean the same each time.
pub fn request(method: &str, authority: &str, message: &[u8]) -> Canned<2> {
    let mut fields = b"\x83\x86\x04".to_vec();
    fields.push(method.len() as u8 + 1);
    fields.push(b'/');
    fields.extend_from_slice(method.as_bytes());
    fields.extend_from_slice(&[1, authority.len() as u8]);
    fields.extend_from_slice(authority.as_bytes());
    fields.extend_from_slice(CONTENT_TYPE);
    fields.extend_from_slice(b"\0\x02te\x08trailers");
    Canned::new([(HEADERS, END_HEADERS, fields), (DATA, END_STREAM, prefixed(message))])
}

/// The answer to any call: status 200, the message, status OK.
pub fn reply(message: &[u8]) -> Canned<3> {
    let trailers = b"\0\x0bgrpc-status\x010".to_vec();
    Canned::new([
        (HEADERS, END_HEADERS, [b"\x88", CONTENT_TYPE].concat()),
        (DATA, 0, prefixed(message)),
        (HEADERS, END_HEADERS | END_STREAM, trailers),
    ])
}

fn prefixed(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

/// What all connections of a thread read into.
pub fn read_buffer() -> Vec<u8> {
    vec![0; READ_BYTES]
}

/// One connection: whole frames in, one write out.
pub struct Link {
    stream: TcpStream,
    /// Bytes of the preface that are yet to come.
    skip: usize,
    /// The frame that the last read broke off in.
    partial: Vec<u8>,
    /// Frames of the connection itself, for the next write.
    output: Vec<u8>,
    /// DATA that came since the last WINDOW_UPDATE of ours.
    taken_bytes: u32,
    /// DATA that the peer still takes on this connection.
    pub credit_bytes: usize,
}

impl Link {
    /// The client's preface comes to one end (`expected`) and goes out from the other (`sent`).
    pub fn new(stream: TcpStream, expected: &[u8], sent: &[u8]) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (skip, output) = (expected.len(), [sent, OPENING].concat());
        Ok(Link {
            stream,
            skip,
            partial: Vec::new(),
            output,
            taken_bytes: 0,
            credit_bytes: INITIAL_WINDOW_BYTES,
        })
    }

    /// Reads once and shows the frames that came whole: kind, flags, stream id.
    #[inline(always)]
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        mut visit: impl FnMut(u8, u8, [u8; 4]),
    ) -> io::Result<()> {
        let kept = self.partial.len();
        buffer[..kept].copy_from_slice(&self.partial);
        let came = self.stream.read(&mut buffer[kept..])?;
        if came == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let skipped = self.skip.min(came);
        self.skip -= skipped;
        let (mut rest, mut taken_bytes) = (&buffer[skipped..kept + came], self.taken_bytes);
        while let Some((head, after)) = rest.split_first_chunk::<9>() {
            let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) >> 8;
            let Some((payload, next)) = after.split_at_checked(length as usize) else {
                break;
            };
            let stream_id = [head[5], head[6], head[7], head[8]];
            match head[3] {
                HEADERS => {}
                DATA => taken_bytes += length,
                kind => self.control(kind, head[4], stream_id, payload),
            }
            visit(head[3], head[4], stream_id);
            rest = next;
        }
        self.partial.clear();
        self.partial.extend_from_slice(rest);
        if taken_bytes > GIVE_BACK_BYTES {
            let window_update = [&b"\0\0\x04\x08\0\0\0\0\0"[..], &taken_bytes.to_be_bytes()];
            self.output.extend_from_slice(&window_update.concat());
            taken_bytes = 0;
        }
        self.taken_bytes = taken_bytes;
        Ok(())
    }

    #[cold]
    fn control(&mut self, kind: u8, flags: u8, stream_id: [u8; 4], payload: &[u8]) {
        match (kind, flags & ACK) {
            (WINDOW_UPDATE, _) if stream_id == [0; 4] => {
                let increment = payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
                self.credit_bytes += increment as usize;
            }
            (SETTINGS, 0) => self.output.extend_from_slice(b"\0\0\0\x04\x01\0\0\0\0"),
            (PING, 0) => {
                self.output.extend_from_slice(b"\0\0\x08\x06\x01\0\0\0\0");
                self.output.extend_from_slice(payload);
            }
            _ => {}
        }
    }

    /// Writes what is due, with what the connection itself has to say in the same write.
    pub fn write(&mut self, frames: &[u8]) -> io::Result<()> {
        if self.output.is_empty() {
            return self.stream.write_all(frames);
        }
        self.output.extend_from_slice(frames);
        self.stream.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }
}
