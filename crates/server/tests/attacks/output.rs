//! Output that piles up: reset flood (CVE-2019-9514), data dribble (CVE-2019-9511), internal
//! buffering (CVE-2019-9517), and answers behind windows that stay closed.

use std::iter::{repeat, repeat_n};

use bookend_server::Limits;
use bookend_server::io::BACKLOG_LIMIT_BYTES;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::config::INTERNET_MAX_BLOCKED_BYTES;
use bookend_wire::frame::kind;

use crate::MEMORY;
use crate::figures;
use crate::frames::{head_of, ids, request, stream_window, update, wide_open};
use crate::stage::{Stage, but, but_http2};
use crate::testing::FILL;

fn fill(id: u32, bytes: u32) -> Vec<u8> {
    request(id, FILL, &bytes.to_be_bytes())
}

#[test]
fn requests_that_ask_for_nothing_but_a_reset_are_cut() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let malformed = ids().map(|id| head_of(id, &[0x83]));
    let outcome = stage.attack(&mut attacker, malformed);
    figures::check("reset flood", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(attacker.heard.resets_with(ErrorCode::PROTOCOL_ERROR), outcome.steps);
}

#[test]
fn a_window_that_is_opened_byte_by_byte_is_cut() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker_with(&stream_window(0));
    stage.send(&mut attacker, &fill(1, 1 << 20));
    let outcome = stage.attack(&mut attacker, repeat(update(1, 1)));
    figures::check("data dribble", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(attacker.heard.count(kind::DATA), outcome.steps);
}

#[test]
fn a_window_that_is_opened_by_as_little_as_is_usual_is_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker_with(&stream_window(0));
    let bytes = 256 * 20_000 - 5;
    stage.send(&mut client, &fill(1, bytes));
    stage.send(&mut client, &update(0, 1 << 30));
    let outcome = stage.attack(&mut client, repeat_n(update(1, 256), 20_000));
    assert_eq!(outcome.ended_by, None);
    assert_eq!(client.heard.body_bytes, bytes as usize + 5);
    assert_eq!(client.heard.statuses_of("0"), 1);
}

#[test]
fn control_without_the_limit_it_dribbles_on() {
    let mut stage = Stage::new(but(|limits| limits.glitches = None));
    let mut attacker = stage.attacker_with(&stream_window(0));
    stage.send(&mut attacker, &fill(1, 1 << 20));
    let outcome = stage.attack(&mut attacker, repeat_n(update(1, 1), 11_000));
    assert_eq!((outcome.steps, outcome.ended_by), (11_000, None));
}

#[test]
fn unread_answers_stop_the_reading_of_requests() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker_with(&wide_open());
    let outcome = stage.attack_deaf(&mut attacker, ids().map(|id| fill(id, 64 << 10)));
    figures::check("internal buffering", &outcome);
    let backlog_bytes = stage.server.unwritten_bytes(attacker.connection);
    assert!((BACKLOG_LIMIT_BYTES..BACKLOG_LIMIT_BYTES + (66 << 10)).contains(&backlog_bytes));
    stage.pass_seconds(70);
    assert!(stage.is_reset(&attacker));
}

#[test]
fn questions_that_come_all_at_once_are_not_all_answered_at_once() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker_with(&wide_open());
    let questions: Vec<u8> = ids().take(1_000).flat_map(|id| fill(id, 64 << 10)).collect();
    stage.server.give(client.connection, &questions);
    let answered_unread = stage.testing.calls();
    assert!(answered_unread < 100, "one slice of a read: {answered_unread}");
    stage.another_is_answered();
    client.read(&mut stage.server);
    assert_eq!(client.heard.statuses_of("0"), 1_000, "who reads gets them all");
}

#[test]
fn answers_behind_closed_windows_are_bounded() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker_with(&stream_window(0));
    let megabytes = ids().take(200).map(|id| fill(id, 1 << 20));
    let outcome = stage.attack(&mut attacker, megabytes);
    figures::check("answers behind closed windows", &outcome);
    assert_eq!(outcome.ended_by, None);
    let refused = attacker.heard.resets_with(ErrorCode::REFUSED_STREAM);
    let most = (INTERNET_MAX_BLOCKED_BYTES >> 20) as u64;
    assert!((200 - most - 1..=200 - most).contains(&refused), "{refused}");
    // A client that opens the windows is served again.
    stage.send(&mut attacker, &wide_open());
    stage.send(&mut attacker, &fill(1_001, 10));
    assert_eq!(attacker.heard.statuses_of("0"), 200 - refused + 1);
}

#[test]
fn answers_behind_closed_windows_go_when_their_connection_does() {
    let mut stage = Stage::new(Limits::internet());
    let before_bytes = MEMORY.current_usage();
    for _ in 0..5 {
        let mut attacker = stage.attacker_with(&stream_window(0));
        let megabytes = ids().take(20).map(|id| fill(id, 1 << 20));
        stage.attack(&mut attacker, megabytes);
        let held_bytes = MEMORY.current_usage() - before_bytes;
        assert!(held_bytes > 20 << 20, "{held_bytes}");
        stage.server.hang_up(attacker.connection);
        let kept_bytes = MEMORY.current_usage().saturating_sub(before_bytes);
        assert!(kept_bytes < 4 << 20, "{kept_bytes}");
    }
}

#[test]
fn control_without_the_bound_they_are_all_kept() {
    let mut stage = Stage::new(but_http2(|http2| http2.max_blocked_bytes = usize::MAX));
    let mut attacker = stage.attacker_with(&stream_window(0));
    let megabytes = ids().take(200).map(|id| fill(id, 1 << 20));
    let outcome = stage.attack(&mut attacker, megabytes);
    assert_eq!(attacker.heard.resets.len(), 0);
    assert!(outcome.peak_bytes > figures::peak_bytes_of("answers behind closed windows"));
}

#[test]
fn connection_windows_opened_by_a_crack_are_cut_however_many_streams_wait() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker_with(&stream_window(1 << 20));
    for id in ids().take(250) {
        stage.send(&mut attacker, &fill(id, 10_000));
    }
    let updates = repeat(frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]));
    let outcome = stage.attack(&mut attacker, updates);
    figures::check("data dribble over 250 streams", &outcome);
}
