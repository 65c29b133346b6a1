//! DATA in tiny frames (RUSTSEC-2026-0258): flow control counts bytes, and a server that
//! keeps a frame for each of them keeps far more.

use std::iter::once;

use bookend_server::Limits;
use bookend_testing::{frame, message};
use bookend_wire::frame::{flag, kind};

use crate::figures;
use crate::frames::{data, head};
use crate::stage::Stage;
use crate::testing::{CHAT, ECHO};

const MESSAGE_BYTES: usize = 60_000;

/// A request whose message comes a byte a frame.
fn byte_by_byte(path: &str) -> impl Iterator<Item = Vec<u8>> {
    let body = message(&[7; MESSAGE_BYTES]);
    let bytes = body.into_iter().map(|byte| data(1, &[byte]));
    let end = frame(kind::DATA, flag::END_STREAM, 1, b"");
    once(head(1, path)).chain(bytes).chain(once(end))
}

#[test]
fn a_message_in_tiny_frames_takes_no_more_memory_than_the_message() {
    for path in [ECHO, CHAT] {
        let mut stage = Stage::new(Limits::internet());
        let mut client = stage.attacker();
        let outcome = stage.attack(&mut client, byte_by_byte(path));
        figures::check("tiny DATA", &outcome);
        assert_eq!(outcome.ended_by, None, "it is slow, and legal");
        assert_eq!(client.heard.statuses_of("0"), 1);
        assert_eq!(client.heard.body_bytes, MESSAGE_BYTES + 5);
    }
}
