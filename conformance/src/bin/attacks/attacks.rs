//! What is known to hurt HTTP/2 servers. crates/server/tests/attacks has each of these against our
//! own limits, exactly; here they are for any server.

use bookend_testing::frame;
use bookend_wire::frame::kind;

use crate::attacker::Attacker;
use crate::frames::{
    block, data, fields, head, head_of, head_with, ping, request, reset, setting, stream_window,
    update, wide_open,
};
use crate::legal::{HELLO, Legal, SMALL_CALLS, SMALL_CALLS_INSIDE_TLS, field};
use crate::{halves, heads, pool, tls, watchers};

/// What is done to one connection after the other.
pub type Act = fn(&mut Attacker);

/// One row: what attackers do, and what somebody else does meanwhile.
#[derive(Clone, Copy)]
pub struct Attack {
    pub name: &'static str,
    pub act: Act,
    pub legal: Legal,
    /// The method that is attacked: servers without it have no such row.
    pub path: &'static str,
}

/// Every row, in the order of the table.
pub fn all() -> impl Iterator<Item = Attack> {
    let inside_tls = |(name, act)| Attack { name, act, legal: SMALL_CALLS_INSIDE_TLS, path: HELLO };
    let of_greeter = |(name, act)| Attack { name, act, legal: SMALL_CALLS, path: HELLO };
    OF_GREETER
        .into_iter()
        .map(of_greeter)
        .chain(pool::CALLS)
        .chain(heads::HEADS)
        .chain(halves::HALVES)
        .chain(watchers::WATCHERS)
        .chain(tls::ACTS.map(inside_tls))
}

/// Frames of one write, where single ones are small.
const BATCH: usize = 100;
/// Bytes of a name that is greeted, where that is to be long: they fit the first window there is.
const LONG_NAME_BYTES: usize = 60_000;
/// Connections of one attacker that say nothing.
const SILENT_CONNECTIONS: usize = 200;

/// Those of the greeter's connections and calls, with small calls of it at the same time.
const OF_GREETER: [(&str, Act); 18] = [
    ("nothing", |attacker| attacker.hold()),
    ("rapid reset", |attacker| attacker.again(|id| [hello(id, 1), reset(id)].concat())),
    ("made you reset", |attacker| {
        attacker.again(|id| [head(id, HELLO), update(id, 0)].concat());
    }),
    ("PING flood", |attacker| attacker.again(|_| ping().repeat(BATCH))),
    ("SETTINGS flood", |attacker| attacker.again(|_| setting(3, 100).repeat(BATCH))),
    ("PRIORITY flood", |attacker| {
        attacker.again(|_| frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 3, 9]).repeat(BATCH));
    }),
    ("empty DATA", |attacker| {
        attacker.send(&head(1, HELLO));
        attacker.again(|_| data(1, b"").repeat(BATCH));
    }),
    ("CONTINUATION flood", |attacker| {
        attacker.send(&frame(kind::HEADERS, 0, 1, b""));
        attacker.again(|_| frame(kind::CONTINUATION, 0, 1, b"").repeat(BATCH));
    }),
    ("HPACK bomb", |attacker| attacker.again(bomb)),
    ("windows of one byte", |attacker| {
        attacker.send(&stream_window(1));
        attacker.again(|id| [hello(id, 100), update(id, 1)].concat());
    }),
    ("windows that stay shut", |attacker| {
        attacker.send(&stream_window(0));
        attacker.again_at_most(1_000, |id| hello(id, LONG_NAME_BYTES));
        attacker.hold();
    }),
    ("unread answers", |attacker| {
        attacker.send(&wide_open());
        attacker.stops_reading();
        attacker.again(|id| hello(id, 1_000));
    }),
    ("halves of messages", |attacker| {
        attacker.again_at_most(1_000, |id| {
            let declared = data(id, &[0, 0, 0x3f, 0xff, 0]);
            let part = data(id, &[7; 15_000]).repeat(LONG_NAME_BYTES / 15_000);
            [head(id, HELLO), declared, part].concat()
        });
        attacker.hold();
    }),
    ("DATA of one byte", |attacker| {
        attacker.send(&head(1, HELLO));
        attacker.send(&data(1, &[0, 0, 0x3f, 0xff, 0]));
        attacker.again(|_| data(1, b"x").repeat(BATCH));
    }),
    ("gzip of blocks of nothing", |attacker| {
        let message = blocks_of_nothing();
        attacker.again(|id| compressed(id, "gzip", &message));
    }),
    ("zstd that is broken", |attacker| {
        let message = broken_zstd();
        attacker.again(|id| compressed(id, "zstd", &message));
    }),
    ("silent connections", |attacker| attacker.crowd(SILENT_CONNECTIONS, b"")),
    ("reconnects", |_| {}),
];

/// A call that greets a name of `name_bytes` bytes.
fn hello(id: u32, name_bytes: usize) -> Vec<u8> {
    let message = field(1, &vec![b'x'; name_bytes]);
    let whole = bookend_testing::message(&message);
    let frames = whole.chunks(16_384).collect::<Vec<_>>();
    let (last, first) = frames.split_last().expect("a message has a prefix");
    let mut bytes = head(id, HELLO);
    first.iter().for_each(|part| bytes.extend(data(id, part)));
    bytes.extend(frame(kind::DATA, bookend_wire::frame::flag::END_STREAM, id, last));
    debug_assert!(name_bytes > 1_000 || bytes == request(id, HELLO, &message));
    bytes
}

/// A head whose list is four megabytes: a field of four kilobytes is put into the table and named a
/// thousand times.
fn bomb(id: u32) -> Vec<u8> {
    let mut bomb = block(&fields(HELLO));
    bomb.extend([0x7a, 0x7f, 0xa1, 0x1e]);
    bomb.extend([b'x'; 4_000]);
    bomb.extend([0xbe; 1_000]);
    head_of(id, &bomb)
}

/// A gzip message of blocks that hold nothing: with the fixed tables, four of them in five bytes.
fn blocks_of_nothing() -> Vec<u8> {
    let blocks = [0x02, 0x08, 0x20, 0x80, 0x00].repeat(LONG_NAME_BYTES / 5);
    [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", &blocks[..], b"\x03\0", &[0; 8]].concat()
}

/// A zstd frame of eight literals and two blocks of 128 KiB each that repeat them, in some fifty
/// bytes. A reserved kind of block is behind them (RFC 8878, 3.1.1.2.2): it shows once the rest is
/// decoded.
fn broken_zstd() -> Vec<u8> {
    let sequences = [0, 0xff, 0xaa, 0x2b, 0x54, 0, 0, 0, 1];
    let header = (sequences.len() as u32) << 3 | 4;
    let block = [&header.to_le_bytes()[..3], &sequences].concat();
    let start = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x40, 0x40, 0, 0];
    [&start[..], b"abcdefgh", &block, &block, &[7, 0, 0]].concat()
}

/// A call whose message is under that encoding, as it says.
fn compressed(id: u32, encoding: &str, message: &[u8]) -> Vec<u8> {
    let mut body = vec![1];
    body.extend((message.len() as u32).to_be_bytes());
    body.extend(message);
    let mut bytes = head_with(id, HELLO, &[("grpc-encoding", encoding)]);
    body.chunks(16_384).for_each(|part| bytes.extend(data(id, part)));
    bytes.extend(frame(kind::DATA, bookend_wire::frame::flag::END_STREAM, id, b""));
    bytes
}
