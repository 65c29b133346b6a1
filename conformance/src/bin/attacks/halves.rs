//! Halves of messages whose rest does not come, while somebody else uploads whole ones.

use crate::attacker::Attacker;
use crate::attacks::Attack;
use crate::frames::{data, head};
use crate::legal::{HELLO, INPUT, STREAMED_UPLOADS, UPLOADS};

/// Connections of one attacker of four, so that all have 1,000.
const CONNECTIONS_WITH_HALVES: usize = 250;
/// What one of them leaves lying: together they are 508 MiB, just below what a server of ours keeps
/// for all of its clients.
const HALVES_BYTES: usize = 520 << 10;
/// Of one stream: they fit the first window there is.
const HALF_BYTES: usize = 60_000;

pub const HALVES: [Attack; 4] = [
    Attack { name: "nothing during uploads", act: Attacker::hold, legal: UPLOADS, path: HELLO },
    Attack {
        name: "halves during uploads",
        act: |attacker| attacker.crowd(CONNECTIONS_WITH_HALVES, &halves(HELLO)),
        legal: UPLOADS,
        path: HELLO,
    },
    Attack {
        name: "nothing during streamed uploads",
        act: Attacker::hold,
        legal: STREAMED_UPLOADS,
        path: INPUT,
    },
    Attack {
        name: "halves of streams during uploads",
        act: |attacker| attacker.crowd(CONNECTIONS_WITH_HALVES, &halves(INPUT)),
        legal: STREAMED_UPLOADS,
        path: INPUT,
    },
];

/// Beginnings of messages of 4 MiB, on as many streams as that takes.
fn halves(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut left = HALVES_BYTES;
    let mut stream = 1;
    while left > 0 {
        let half = left.min(HALF_BYTES);
        bytes.extend(head(stream, path));
        bytes.extend(data(stream, &[0, 0, 0x40, 0, 0]));
        for part in vec![0; half].chunks(16_384) {
            bytes.extend(data(stream, part));
        }
        left -= half;
        stream += 2;
    }
    bytes
}
