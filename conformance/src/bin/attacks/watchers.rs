//! Those who watch the health of services that nobody has heard of.

use crate::attacks::Attack;
use crate::frames::{body, head};
use crate::legal::{SMALL_CALLS, field};

const WATCH: &str = "/grpc.health.v1.Health/Watch";

/// Of one attacker of four, so that all have 1,000.
const CONNECTIONS: usize = 250;
/// Streams that a connection may have open, where a server takes strangers.
const STREAMS: u32 = 250;
const NAME_BYTES: usize = 1_000;

pub const WATCHERS: [Attack; 1] = [Attack {
    name: "watchers of long names",
    act: |attacker| attacker.crowd(CONNECTIONS, &watches()),
    legal: SMALL_CALLS,
    path: WATCH,
}];

/// Each with a name of its own.
fn watches() -> Vec<u8> {
    let watch = |stream: u32| {
        let name = format!("{stream:x>NAME_BYTES$}");
        [head(stream, WATCH), body(stream, &field(1, name.as_bytes()))].concat()
    };
    (0..STREAMS).flat_map(|number| watch(2 * number + 1)).collect()
}
