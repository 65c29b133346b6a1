//! Calls whose handlers wait, in a server that has a bounded number of threads for them.

use crate::attacker::Attacker;
use crate::attacks::Attack;
use crate::frames::{body, head};
use crate::legal::{OUTPUT, POOL_CALLS, field};

const DUPLEX: &str = "/grpc.testing.TestService/FullDuplexCall";

/// Of one attacker of four. All their calls are more than a server of ours has threads and places
/// in the queue for them: 64 and 1,024.
const CONNECTIONS: usize = 2;
/// Streams that a connection may have open, where a server takes strangers.
const SILENT_CALLS: usize = 250;
/// Calls of a connection that take no more than its share of the threads.
const SLEEPING_CALLS: usize = 48;
/// What a call that sleeps asks for, one every ten seconds.
const SLEEPY_MESSAGES: usize = 1_000;

pub const CALLS: [Attack; 3] = [
    Attack {
        name: "nothing during pool calls",
        act: Attacker::hold,
        legal: POOL_CALLS,
        path: OUTPUT,
    },
    Attack {
        name: "silent pool calls",
        act: |attacker| attacker.keep_open(CONNECTIONS, SILENT_CALLS, |id| head(id, DUPLEX)),
        legal: POOL_CALLS,
        path: DUPLEX,
    },
    Attack {
        name: "sleepers",
        act: |attacker| {
            let message = sleepy();
            attacker
                .keep_open(1, SLEEPING_CALLS, |id| [head(id, OUTPUT), body(id, &message)].concat());
        },
        legal: POOL_CALLS,
        path: OUTPUT,
    },
];

/// A request for messages of one byte, ten million microseconds before each.
fn sleepy() -> Vec<u8> {
    field(2, b"\x08\x01\x10\x80\xad\xe2\x04").repeat(SLEEPY_MESSAGES)
}
