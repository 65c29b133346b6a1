//! Heads that are long for the server and short on the wire. Those who send them then say nothing:
//! what is kept of the heads stays as long as the connection. And heads that are work for whoever
//! looks for them in a cache.

use bookend_testing::frame;
use bookend_wire::frame::kind;

use crate::attacker::Attacker;
use crate::attacks::Attack;
use crate::frames::{body, head_of, heads_of_one_entry, reset, wide_open};
use crate::legal::{HELLO, SMALL_CALLS};

/// Connections of one attacker of four, so that all have 300.
const CONNECTIONS_WITH_HEADS: usize = 75;
/// Streams that a connection may have open, where a server takes strangers.
const STREAMS: u32 = 250;
/// A value that a head names three times: with it, the head's list has 12 KiB.
const VALUE_BYTES: usize = 4_000;

/// Connections of one attacker of four whose header block does not end, so that all have 4,000.
const OPEN_BLOCKS: usize = 1_000;
/// Fields of such a block: 60 KB, a little less than servers take for one head.
const OPEN_BLOCK_FIELDS: usize = 15;

/// Heads that a connection may have seen often enough for them to be cached.
const CACHED_HEADS: u8 = 16;
/// Calls of one write whose heads are not among them.
const ALIKE_CALLS: u32 = 100;

pub const HEADS: [Attack; 4] = [
    Attack {
        name: "heads, reset",
        act: |attacker| {
            let resets = (0..STREAMS).flat_map(|stream| reset(2 * stream + 1));
            let bytes: Vec<u8> = heads().into_iter().chain(resets).collect();
            attacker.crowd(CONNECTIONS_WITH_HEADS, &bytes);
        },
        legal: SMALL_CALLS,
        path: HELLO,
    },
    Attack {
        name: "heads, left open",
        act: |attacker| attacker.crowd(CONNECTIONS_WITH_HEADS, &heads()),
        legal: SMALL_CALLS,
        path: HELLO,
    },
    Attack {
        name: "open header blocks",
        act: |attacker| attacker.crowd(OPEN_BLOCKS, &open_block()),
        legal: SMALL_CALLS,
        path: HELLO,
    },
    Attack { name: "heads that are alike", act: alike, legal: SMALL_CALLS, path: HELLO },
];

/// A head of 12 KiB for each stream that may be open.
fn heads() -> Vec<u8> {
    heads_of_one_entry(HELLO, STREAMS as usize).concat()
}

/// A literal field of HPACK with a name of its own; `first` says whether it goes into the table
/// (RFC 7541, 6.2).
fn literal(first: u8, name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    for text in [name, value] {
        // An integer with a prefix of seven bits (RFC 7541, 5.1).
        if text.len() < 0x7f {
            bytes.push(text.len() as u8);
        } else {
            let mut rest = text.len() - 0x7f;
            bytes.push(0x7f);
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        bytes.extend_from_slice(text);
    }
    bytes
}

/// A header block whose end does not come.
fn open_block() -> Vec<u8> {
    let field = literal(0x00, b"x", &[b'v'; VALUE_BYTES]);
    let block = [&[0x83, 0x86], &field.repeat(OPEN_BLOCK_FIELDS)[..]].concat();
    let mut parts = block.chunks(16_384);
    let mut bytes = frame(kind::HEADERS, 0, 1, parts.next().unwrap_or_default());
    parts.for_each(|part| bytes.extend(frame(kind::CONTINUATION, 0, 1, part)));
    bytes
}

/// Heads of 12 KiB in some 20 bytes that differ in their last field only. The first of them come
/// twice, so that a cache takes them; no other is among these.
fn alike(attacker: &mut Attacker) {
    let mut fields = vec![0x83, 0x86];
    fields.extend(literal(0x40, b":path", HELLO.as_bytes()));
    fields.extend(literal(0x40, b"content-type", b"application/grpc"));
    // With the two before it, it fits the table.
    fields.extend(literal(0x40, b"x", &[b'v'; VALUE_BYTES - 150]));
    // Answers wait for no window.
    attacker.send(&[wide_open(), head_of(1, &fields), body(1, b"")].concat());
    let mut stream = 1;
    for _ in 0..2 {
        for number in 0..CACHED_HEADS {
            stream += 2;
            attacker.send(&alike_call(stream, [0x30, 0x30, 0x30 + number]));
        }
    }
    attacker.again(|id| {
        let calls = (0..ALIKE_CALLS).map(|call| id / 2 * ALIKE_CALLS + call);
        let call = |number: u32| {
            let digit = |place: u32| 0x41 + (number / place % 60) as u8;
            alike_call(stream + 2 + 2 * number, [digit(1), digit(60), digit(3_600)])
        };
        calls.flat_map(call).collect()
    });
}

fn alike_call(stream: u32, last: [u8; 3]) -> Vec<u8> {
    let mut fields = vec![0x83, 0x86, 0xc0, 0xbf, 0xbe, 0xbe, 0xbe];
    fields.extend(literal(0x00, b"u", &last));
    [head_of(stream, &fields), body(stream, b"")].concat()
}
