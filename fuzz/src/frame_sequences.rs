//! Frames that are sound one by one, in an order that nobody meant: deeper than bytes get.

use crate::connection::check;
use crate::peculiarities::Peculiarities;
use arbitrary::{Arbitrary, Unstructured};
use bookend_testing::{flag, frame, kind, settings, window_update};
use bookend_wire::Side;

/// Frames as a client could have written them.
pub fn server_frames(input: &[u8]) {
    run(Side::Server, input);
}

/// Frames as a server could have written them.
pub fn client_frames(input: &[u8]) {
    run(Side::Client, input);
}

/// Frames of one input: enough for any story, few enough to be quick.
const FRAMES_MAX: usize = 200;

fn run(side: Side, input: &[u8]) {
    let (own, bytes) = Peculiarities::of(input);
    let mut source = Unstructured::new(bytes);
    let mut written = Vec::new();
    for _ in 0..FRAMES_MAX {
        if source.is_empty() {
            break;
        }
        if let Ok(part) = Part::arbitrary(&mut source) {
            written.extend(part.bytes());
        }
    }
    check(side, own, &own.greeted(side, &written));
}

/// One of the few streams that a story needs, so that frames meet.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Id(u8);

impl Id {
    fn number(self) -> u32 {
        match self.0 {
            byte @ 0..224 => u32::from(byte & 15),
            byte => u32::MAX >> (byte & 15),
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    Edge(u8),
    Any(u32),
}

impl Number {
    fn value(self) -> u32 {
        const EDGES: [u32; 8] =
            [0, 1, 16_384, 65_535, (1 << 24) - 1, (1 << 31) - 1, 1 << 31, u32::MAX];
        match self {
            Self::Edge(byte) => EDGES[usize::from(byte & 7)],
            Self::Any(number) => number,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Fields<'a> {
    Request,
    RequestWithLength,
    Response,
    Informational,
    Trailers,
    SizeUpdate(u8),
    Any(&'a [u8]),
}

impl Fields<'_> {
    fn block(&self) -> Vec<u8> {
        match self {
            // Static table: POST, http, /, and an authority that enters the table.
            Self::Request => b"\x83\x86\x84\x41\x01a".to_vec(),
            Self::RequestWithLength => b"\x83\x86\x84\x41\x01a\x0f\x0d\x015".to_vec(),
            Self::Response => b"\x88".to_vec(),
            Self::Informational => b"\x08\x03100".to_vec(),
            Self::Trailers => b"\x40\x0bgrpc-status\x010".to_vec(),
            Self::SizeUpdate(bytes) => vec![0x20 | bytes & 0x1f, 0x88],
            Self::Any(bytes) => bytes.to_vec(),
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Part<'a> {
    Data { id: Id, bytes: &'a [u8], end: bool, padding: Option<u8> },
    ManyData { id: Id, bytes: u16 },
    Headers { id: Id, fields: Fields<'a>, end: bool, is_cut: bool, padding: Option<u8> },
    Continuation { id: Id, fields: Fields<'a>, is_last: bool },
    Priority { id: Id, on: Id },
    Reset { id: Id, code: u8 },
    Settings { entries: Vec<(u8, Number)> },
    SettingsAck,
    Ping { ack: bool },
    Goaway { last: Id, code: u8 },
    WindowUpdate { id: Id, increment: Number },
    Any { kind: u8, flags: u8, id: Id, bytes: &'a [u8] },
}

impl Part<'_> {
    fn bytes(&self) -> Vec<u8> {
        let sound = |kind, flags, id: Id, payload: &[u8]| frame(kind, flags, id.number(), payload);
        match self {
            Self::Data { id, bytes, end, padding } => {
                let (flags, payload) = padded(u8::from(*end), bytes, *padding);
                sound(kind::DATA, flags, *id, &payload)
            }
            Self::ManyData { id, bytes } => {
                sound(kind::DATA, 0, *id, &vec![7; usize::from(*bytes) % 16_385])
            }
            Self::Headers { id, fields, end, is_cut, padding } => {
                let end_headers = if *is_cut { 0 } else { flag::END_HEADERS };
                let (flags, payload) =
                    padded(u8::from(*end) | end_headers, &fields.block(), *padding);
                sound(kind::HEADERS, flags, *id, &payload)
            }
            Self::Continuation { id, fields, is_last } => {
                let flags = if *is_last { flag::END_HEADERS } else { 0 };
                sound(kind::CONTINUATION, flags, *id, &fields.block())
            }
            Self::Priority { id, on } => {
                let payload = [&on.number().to_be_bytes()[..], &[9]].concat();
                sound(kind::PRIORITY, 0, *id, &payload)
            }
            Self::Reset { id, code } => sound(kind::RST_STREAM, 0, *id, &[0, 0, 0, *code]),
            Self::Settings { entries } => {
                let entry = |(id, number): &(u8, Number)| (u16::from(id % 9), number.value());
                settings(&entries.iter().map(entry).collect::<Vec<_>>())
            }
            Self::SettingsAck => frame(kind::SETTINGS, flag::ACK, 0, &[]),
            Self::Ping { ack } => frame(kind::PING, u8::from(*ack), 0, b"whatever"),
            Self::Goaway { last, code } => {
                let payload =
                    [&last.number().to_be_bytes()[..], &[0, 0, 0, *code], b"why"].concat();
                frame(kind::GOAWAY, 0, 0, &payload)
            }
            Self::WindowUpdate { id, increment } => window_update(id.number(), increment.value()),
            Self::Any { kind, flags, id, bytes } => sound(*kind, *flags, *id, bytes),
        }
    }
}

/// Flags and payload with that padding.
fn padded(flags: u8, payload: &[u8], padding: Option<u8>) -> (u8, Vec<u8>) {
    match padding {
        Some(bytes) => {
            let zeros = vec![0; usize::from(bytes)];
            (flags | flag::PADDED, [&[bytes], payload, &zeros].concat())
        }
        None => (flags, payload.to_vec()),
    }
}
