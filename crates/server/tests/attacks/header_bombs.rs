//! Header blocks that mean far more than they are: the HPACK bomb (CVE-2016-6581), the HTTP/2 bomb
//! of 2026 (CVE-2026-49975) with split cookies, and what gRPC's libraries fell for (CVE-2023-33953,
//! CVE-2023-1428).

use std::iter::{once, repeat_n};

use bookend_server::Limits;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{flag, kind};
use bookend_wire::hpack::{Encoder, Indexing};

use crate::bombs::handled_before_another;
use crate::figures;
use crate::frames::{block, body, fields, head_of, ids, request, stream_window};
use crate::stage::{Stage, but_http2};
use crate::testing::{ECHO, WAIT};

/// Index of the newest entry of the dynamic table, as a whole field.
const NEWEST: u8 = 0x80 | 62;

/// A request's head that enters `name: value` in the table, for the blocks that follow.
fn planted(id: u32, name: &str, value: &str) -> Vec<u8> {
    let mut bytes = block(&fields(ECHO));
    let mut encoder = Encoder::new(4_096);
    encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Incremental, &mut bytes);
    head_of(id, &bytes)
}

fn block_of(path: &str) -> Vec<u8> {
    block(&fields(path))
}

/// A request's head, unlike any other, with `count` references to what was planted.
fn references(id: u32, path: &str, count: usize) -> Vec<u8> {
    let mut all = fields(path);
    all.push(("x-number".into(), id.to_string()));
    let mut bytes = block(&all);
    bytes.extend(repeat_n(NEWEST, count));
    head_of(id, &bytes)
}

#[test]
fn a_block_far_beyond_the_list_ends_the_connection() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let bomb = references(3, ECHO, 16_000);
    let frames = [planted(1, "x", &"v".repeat(4_000)), bomb];
    let outcome = stage.attack(&mut attacker, frames.into_iter());
    figures::check("HPACK bomb", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn blocks_somewhat_beyond_the_list_cost_their_stream_and_after_a_while_the_connection() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let bombs = ids().skip(1).map(|id| references(id, ECHO, 15));
    let frames = once(planted(1, "x", &"v".repeat(4_000))).chain(bombs);
    let outcome = stage.attack(&mut attacker, frames);
    figures::check("HPACK bomb just below", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    let resets = attacker.heard.resets_with(ErrorCode::ENHANCE_YOUR_CALM);
    assert_eq!(resets, outcome.steps - 1);
    assert_eq!(stage.counts().panics, 0);
}

/// Calls that wait, each with `count` crumbs of a cookie, pinned by a window of nothing.
fn crumbs(count: usize) -> impl Iterator<Item = Vec<u8>> {
    let settings = stream_window(0);
    let planted = planted(1, "cookie", &"c".repeat(90));
    let pinned = ids().skip(1).map(move |id| references(id, WAIT, count));
    [settings, planted].into_iter().chain(pinned)
}

#[test]
fn crumbs_of_cookies_are_fields() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, crumbs(121).take(251));
    figures::check("HTTP/2 bomb", &outcome);
    assert_eq!(attacker.heard.resets.len(), 0, "128 fields are allowed");
    let mut attacker = stage.attacker();
    stage.attack(&mut attacker, crumbs(122).take(251));
    let resets = attacker.heard.resets_with(ErrorCode::ENHANCE_YOUR_CALM);
    assert_eq!(resets, 249, "129 are not");
}

#[test]
fn control_without_a_limit_of_fields_twenty_heads_take_more() {
    let mut stage = Stage::new(but_http2(|http2| {
        http2.max_header_fields = usize::MAX;
        http2.settings.max_header_list_bytes = None;
    }));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, crumbs(16_000).take(22));
    assert_eq!(outcome.ended_by, None);
    assert!(outcome.peak_bytes > figures::peak_bytes_of("HTTP/2 bomb"));
}

/// Behind a field of 4 KiB, `count` requests that stand for 12 KiB each.
fn swelling_heads(count: usize) -> Vec<u8> {
    let swelling = ids().skip(1).map(|id| [references(id, ECHO, 3), body(id, b"small")].concat());
    [planted(1, "x", &"v".repeat(4_000)), swelling.take(count).flatten().collect()].concat()
}

#[test]
fn who_has_heads_decoded_at_great_length_waits_for_others_in_between() {
    let mut stage = Stage::new(Limits::internet());
    let before = handled_before_another(&mut stage, &swelling_heads(200));
    assert!(before < 100, "{before} were handled first");
    assert_eq!(stage.testing.calls(), 201, "all were handled in the end");
}

#[test]
fn control_long_heads_that_are_known_are_handled_as_they_come() {
    let mut stage = Stage::new(Limits::internet());
    let same = [block_of(ECHO), vec![NEWEST; 3]].concat();
    let requests = ids().skip(1).map(|id| [head_of(id, &same), body(id, b"small")].concat());
    let planted = planted(1, "x", &"v".repeat(4_000));
    let bytes = [planted, requests.take(200).flatten().collect()].concat();
    assert_eq!(handled_before_another(&mut stage, &bytes), 200);
}

#[test]
fn who_has_blocks_decoded_that_are_refused_waits_for_others_in_between() {
    let too_large: fn(u32) -> Vec<u8> = |id| references(id, ECHO, 10);
    let trailers: fn(u32) -> Vec<u8> = |id| {
        let block = [NEWEST; 3];
        let trailers = frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, id, &block);
        [head_of(id, &block_of(ECHO)), trailers].concat()
    };
    let misplaced: fn(u32) -> Vec<u8> =
        |id| [head_of(id, &block_of(ECHO)), head_of(id, &[NEWEST; 3])].concat();
    let refused = [("too large", too_large), ("trailers", trailers), ("misplaced", misplaced)];
    for (what, bytes) in refused {
        let mut stage = Stage::new(Limits::internet());
        let refused: Vec<u8> = ids().skip(1).take(200).flat_map(bytes).collect();
        let last = request(2 * 200 + 3, ECHO, b"small");
        let planted = planted(1, "x", &"v".repeat(4_000));
        let before = handled_before_another(&mut stage, &[planted, refused, last].concat());
        assert_eq!(before, 0, "{what}");
        assert_eq!(stage.testing.calls(), 2, "{what}");
    }
}

#[test]
fn lengths_are_checked_before_anything_is_stored_for_them() {
    let begins_with = |bytes: &[u8]| {
        let mut all = block(&fields(ECHO));
        all.extend([0x00, 0x01, b'a']);
        all.extend(bytes);
        head_of(1, &all)
    };
    let cases = [
        ("a string of four gigabytes", begins_with(&[0x7f, 0x80, 0xff, 0xff, 0xff, 0x0f])),
        ("an integer of six bytes", begins_with(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00])),
        ("zeros for ever", begins_with(&[&[0x7f][..], &[0x80; 8_000]].concat())),
    ];
    for (what, bytes) in cases {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        let outcome = stage.attack(&mut attacker, once(bytes));
        assert_eq!(outcome.code(), Some(ErrorCode::COMPRESSION_ERROR), "{what}");
        figures::check("HPACK strings of 4 GiB", &outcome);
    }
}

#[test]
fn a_head_that_is_refused_leaves_the_table_right_for_the_next() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    // The second block is beyond the list, and enters a field nevertheless.
    let mut bytes = block(&fields(ECHO));
    bytes.extend([NEWEST; 10]);
    let mut encoder = Encoder::new(4_096);
    encoder.field(b"y", b"z", Indexing::Incremental, &mut bytes);
    stage.send(&mut client, &planted(1, "x", &"v".repeat(3_000)));
    stage.send(&mut client, &head_of(3, &bytes));
    assert_eq!(client.heard.resets_with(ErrorCode::ENHANCE_YOUR_CALM), 1);
    stage.send(&mut client, &[references(5, ECHO, 100), body(5, b"small")].concat());
    assert_eq!(client.heard.statuses_of("0"), 1, "{:?}", client.heard);
    stage.send(&mut client, &request(7, ECHO, b"on"));
    assert_eq!(client.heard.statuses_of("0"), 2);
}
