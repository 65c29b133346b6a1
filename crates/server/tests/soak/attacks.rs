//! What is known to hurt HTTP/2 servers.

use bookend_testing::frame;
use bookend_wire::frame::{flag, kind};
use bookend_wire::grpc::gzip;

use crate::attacker::Attacker;
use crate::frames::{
    block, data, fields, frame_header, head, head_of, head_with, heads_of_one_entry, ids, ping,
    request, reset, setting, stream_window, update, wide_open,
};

const ECHO: &str = "/soak.Hostile/Echo";
const LATER: &str = "/soak.Hostile/Later";
const CHAT: &str = "/soak.Hostile/Chat";
const FILL: &str = "/soak.Hostile/Fill";
const WAIT: &str = "/soak.Hostile/Wait";

/// Streams that a connection may have open.
const STREAMS: usize = 250;

/// Of a message that is pending: what the window of a stream lets through.
const PART_BYTES: usize = 60_000;

/// What is written on one connection; the server may end it at any time.
pub type Attack = fn(&mut Attacker);

pub const ATTACKS: &[(&str, Attack)] = &[
    ("rapid reset", |attacker| {
        attacker.requests(|id| [request(id, LATER, b"x"), reset(id)].concat())
    }),
    ("resets made by the server", |attacker| {
        attacker.requests(|id| [head(id, ECHO), update(id, 0)].concat())
    }),
    ("pings", |attacker| attacker.again(|_| ping().repeat(100))),
    ("settings", |attacker| attacker.again(|_| setting(3, 100).repeat(100))),
    ("a table that changes its size", |attacker| {
        attacker.again(|go| setting(1, (go % 5000) as u32).repeat(50))
    }),
    ("empty DATA", |attacker| {
        attacker.send(&head(1, ECHO));
        attacker.again(|_| data(1, b"").repeat(100));
    }),
    ("a header block without an end", |attacker| {
        attacker.send(&frame(kind::HEADERS, 0, 1, b""));
        attacker.again(|_| frame(kind::CONTINUATION, 0, 1, b""));
    }),
    ("a header list that grows when decoded", |attacker| {
        let value = "x".repeat(4000);
        attacker.requests(|id| {
            let mut bomb = block(&fields(ECHO));
            // One insertion (a literal of the static name 58), then references to it.
            bomb.extend([0x7a, 0x7f, 0xa1, 0x1e]);
            bomb.extend(value.as_bytes());
            bomb.extend(vec![0xbe; 1000]);
            head_of(id, &bomb)
        });
    }),
    ("windows of one byte", |attacker| {
        attacker.send(&stream_window(1));
        attacker.requests(|id| [fill(id, 100), update(id, 1)].concat());
    }),
    ("windows that stay shut", |attacker| {
        attacker.send(&stream_window(0));
        attacker.requests(|id| fill(id, 100));
        attacker.hold();
    }),
    ("unread answers", |attacker| {
        attacker.send(&[stream_window(1 << 30), update(0, 1 << 30)].concat());
        for id in ids().take(200) {
            attacker.write_only(&fill(id, 1000));
        }
        attacker.hold();
    }),
    ("half a frame", |attacker| {
        attacker.send(&frame_header(kind::DATA, 1, 5000));
        attacker.hold();
    }),
    ("heads without bodies", |attacker| {
        attacker.requests(|id| head(id, ECHO));
        attacker.hold();
    }),
    ("heads out of one entry, reset", |attacker| {
        let resets = ids().take(STREAMS).flat_map(reset);
        let heads = heads_of_one_entry(ECHO, STREAMS).concat();
        attacker.send(&heads.into_iter().chain(resets).collect::<Vec<_>>());
        attacker.hold();
    }),
    ("heads out of one entry, left open", |attacker| {
        attacker.send(&heads_of_one_entry(ECHO, STREAMS).concat());
        attacker.hold();
    }),
    ("heads that differ at their end", |attacker| {
        attacker.send(&wide_open());
        let long = "v".repeat(12_000);
        attacker.requests(|id| {
            let number = id.to_string();
            let differs = [("x-long", &long[..]), ("x-number", &number[..])];
            [head_with(id, ECHO, &differs), reset(id)].concat()
        });
    }),
    ("a header block of 60 KB without an end", |attacker| {
        attacker.send(&frame(kind::HEADERS, 0, 1, &[0; 15_000]));
        (0..3).for_each(|_| attacker.send(&frame(kind::CONTINUATION, 0, 1, &[0; 15_000])));
        attacker.hold();
    }),
    ("half a ClientHello", |attacker| {
        attacker.hold_beside(100, &half_hello());
    }),
    ("silent calls of the pool", |attacker| {
        ids().take(STREAMS).for_each(|id| attacker.send(&head(id, WAIT)));
        attacker.hold();
    }),
    ("halves of streams", |attacker| {
        for id in ids().take(200) {
            let declared = data(id, &[0, 0, 0x3f, 0xff, 0]);
            let part = data(id, &[7; 15_000]).repeat(PART_BYTES / 15_000);
            attacker.send(&[head(id, CHAT), declared, part].concat());
        }
        attacker.hold();
    }),
    ("messages larger than allowed", |attacker| {
        attacker.requests(|id| [head(id, ECHO), data(id, &[0, 255, 255, 255, 255, 1])].concat())
    }),
    ("gzip that grows", |attacker| {
        let bomb = compressed_zeros(8 << 20);
        attacker.requests(|id| compressed_request(id, &bomb));
    }),
    ("gzip with a wrong checksum", |attacker| {
        let mut damaged = compressed_zeros(4 << 20);
        let at_checksum = damaged.len() - 8;
        damaged[at_checksum] ^= 1;
        attacker.requests(|id| compressed_request(id, &damaged));
    }),
    ("gzip of many members", |attacker| {
        let members = compressed_zeros(0).repeat(1_000);
        attacker.requests(|id| compressed_request(id, &members));
    }),
    ("gzip of blocks of nothing", |attacker| {
        // Four blocks with the fixed tables.
        let blocks = [0x02, 0x08, 0x20, 0x80, 0x00].repeat(PART_BYTES / 5);
        let header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
        let message = [&header[..], &blocks, b"\x03\0", &[0; 8]].concat();
        attacker.requests(|id| compressed_request(id, &message));
    }),
    ("halves of messages", |attacker| {
        for id in ids().take(200) {
            let declared = data(id, &[0, 0, 0x3f, 0xff, 0]);
            let part = data(id, &[7; 15_000]).repeat(PART_BYTES / 15_000);
            attacker.send(&[head(id, ECHO), declared, part].concat());
        }
        attacker.hold();
    }),
    ("DATA of one byte", |attacker| {
        attacker.send(&head(1, ECHO));
        attacker.send(&data(1, &[0, 0, 0x3f, 0xff, 0]));
        attacker.again(|_| data(1, b"x").repeat(100));
    }),
    ("messages of nothing", |attacker| {
        attacker.send(&head(1, CHAT));
        let messages = data(1, &[0; 5 * 1_000]);
        attacker.again(|_| messages.clone());
    }),
    ("windows opened for nothing", |attacker| attacker.again(|_| update(0, 1).repeat(100))),
    ("rubbish", |attacker| attacker.again_of(|source| source.bytes(2000))),
    ("rubbish in frames", |attacker| {
        attacker.again_of(|source| {
            let (kind, flags) = (source.below(11) as u8, source.below(256) as u8);
            frame(kind, flags, source.below(9) as u32, &source.bytes(60))
        });
    }),
    ("gone in the middle of an answer", |attacker| {
        let bytes = request(1, LATER, &[1; 5000]);
        let cut = attacker.source.below(bytes.len() as u64) as usize;
        attacker.send(&bytes[..cut]);
    }),
    ("another protocol", |attacker| {
        attacker.send(b"GET / HTTP/1.1\r\nHost: soaked\r\n\r\n");
    }),
];

/// Records with all but the end of a ClientHello of 64 KB (RFC 8446, 4 and 5.1).
fn half_hello() -> Vec<u8> {
    let mut hello = vec![1, 0, 0xfd, 0xe8];
    hello.resize(64_990, 0);
    let record = |part: &[u8]| [&[22, 3, 1][..], &(part.len() as u16).to_be_bytes(), part].concat();
    hello.chunks(16_000).flat_map(record).collect()
}

fn fill(id: u32, messages: u32) -> Vec<u8> {
    request(id, FILL, &messages.to_be_bytes())
}

fn compressed_zeros(count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    gzip::compress(&vec![0; count], &mut bytes);
    bytes
}

/// A call whose message is that, under gzip as it says.
fn compressed_request(id: u32, compressed: &[u8]) -> Vec<u8> {
    let mut bytes = head_with(id, ECHO, &[("grpc-encoding", "gzip")]);
    let mut body = vec![1];
    body.extend((compressed.len() as u32).to_be_bytes());
    body.extend(compressed);
    body.chunks(16_384).for_each(|part| bytes.extend(data(id, part)));
    bytes.extend(frame(kind::DATA, flag::END_STREAM, id, b""));
    bytes
}
