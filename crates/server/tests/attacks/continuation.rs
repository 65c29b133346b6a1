//! CONTINUATION flood (VU#421644), with full frames, small ones, and empty ones (CVE-2026-33871).

use std::iter::{once, repeat_n};

use bookend_server::Limits;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{flag, kind};

use crate::figures;
use crate::frames::{block, body, fields};
use crate::stage::{Outcome, Stage, but_http2};
use crate::testing::ECHO;

/// A header block that is begun and goes on in pieces of `piece_bytes` bytes.
fn endless(piece_bytes: usize) -> impl Iterator<Item = Vec<u8>> {
    // A literal whose value is as long as it gets.
    let begun = frame(kind::HEADERS, 0, 1, &[0x83, 0x86, 0x84]);
    let piece = frame(kind::CONTINUATION, 0, 1, &vec![0; piece_bytes]);
    once(begun).chain(repeat_n(piece, 100))
}

fn attack(limits: Limits, piece_bytes: usize) -> Outcome {
    let mut stage = Stage::new(limits);
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, endless(piece_bytes));
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    outcome
}

#[test]
fn endless_blocks_are_cut_by_frames_and_by_bytes() {
    figures::check("CONTINUATION of nothing", &attack(Limits::internet(), 0));
    figures::check("CONTINUATION of a kilobyte", &attack(Limits::internet(), 1_024));
    figures::check("CONTINUATION in full frames", &attack(Limits::internet(), 16_384));
}

#[test]
fn control_a_larger_limit_of_bytes_leaves_that_of_frames() {
    let generous = but_http2(|http2| http2.settings.max_header_list_bytes = Some(1 << 20));
    assert_eq!(attack(generous, 16_384).steps, 10);
}

#[test]
fn a_block_in_as_many_frames_as_are_allowed_is_answered() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let mut all = fields(ECHO);
    all.extend((0..8).map(|number| (format!("x-{number}"), "v".repeat(1_900))));
    let bytes = block(&all);
    let mut pieces: Vec<_> = bytes.chunks(bytes.len().div_ceil(9)).collect();
    assert_eq!(pieces.len(), 9);
    let last = pieces.pop().expect("nine");
    let mut request = frame(kind::HEADERS, 0, 1, pieces[0]);
    for piece in &pieces[1..] {
        request.extend(frame(kind::CONTINUATION, 0, 1, piece));
    }
    request.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 1, last));
    request.extend(body(1, b"hello"));
    stage.send(&mut client, &request);
    assert_eq!(client.heard.statuses_of("0"), 1, "{:?}", client.heard);
}
