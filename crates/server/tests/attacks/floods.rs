//! PING flood (CVE-2019-9512) and SETTINGS flood (CVE-2019-9515): each frame wants an answer.

use std::iter::{repeat, repeat_n};

use bookend_server::Limits;
use bookend_server::io::BACKLOG_LIMIT_BYTES;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{flag, kind};

use crate::figures;
use crate::frames::{data, head, ping, setting, stream_window, wide_open};
use crate::stage::{Stage, but};
use crate::testing::{CHAT, ECHO};

#[test]
fn a_flood_that_is_read_is_cut() {
    let settings = frame(kind::SETTINGS, 0, 0, &[]);
    let acknowledgements = frame(kind::SETTINGS, flag::ACK, 0, &[]);
    let pongs = frame(kind::PING, flag::ACK, 0, &[0; 8]);
    for (name, frame) in [
        ("PING flood", ping()),
        ("SETTINGS flood", settings),
        ("flood of acknowledgements", acknowledgements),
        ("flood of answers to no PING", pongs),
    ] {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        let outcome = stage.attack(&mut attacker, repeat(frame));
        figures::check(name, &outcome);
        assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM), "{name}");
    }
}

#[test]
fn settings_that_move_every_window_are_no_dearer() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let open: Vec<u8> = (0..250).flat_map(|n| head(2 * n + 1, ECHO)).collect();
    stage.send(&mut attacker, &open);
    let windows = (0..).map(|n: u32| stream_window(n % 2 * 1_000));
    let outcome = stage.attack(&mut attacker, windows);
    figures::check("SETTINGS flood over 250 streams", &outcome);
}

#[test]
fn who_does_not_read_the_answers_is_not_read_from_either_and_then_reset() {
    let mut stage = Stage::new(but(|limits| limits.glitches = None));
    let mut attacker = stage.attacker();
    let outcome = stage.attack_deaf(&mut attacker, repeat(ping().repeat(100)));
    figures::check("PING flood, unread", &outcome);
    let backlog_bytes = stage.server.unwritten_bytes(attacker.connection);
    assert!((BACKLOG_LIMIT_BYTES..BACKLOG_LIMIT_BYTES + 1_700).contains(&backlog_bytes));
    stage.pass_seconds(59);
    assert!(stage.is_open(&attacker));
    stage.pass_seconds(10);
    assert!(stage.is_reset(&attacker));
    stage.another_is_answered();
}

#[test]
fn who_floods_and_does_not_read_that_it_was_cut_is_reset_too() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    stage.attack_deaf(&mut attacker, repeat_n(ping(), 20_000));
    assert_eq!(stage.counts().broken_connections, 1);
    // Its goodbye stands behind ten thousand answers that it does not take.
    let mut attacker = stage.attacker();
    for _ in 0..20 {
        stage.server.give(attacker.connection, &ping().repeat(1_000));
    }
    assert!(stage.is_open(&attacker));
    stage.pass_seconds(70);
    assert!(stage.is_reset(&attacker));
    assert_eq!(stage.counts().broken_connections, 2);
    attacker.read(&mut stage.server);
}

#[test]
fn signs_of_life_and_measurements_are_left_alone() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker_with(&wide_open());
    stage.send(&mut client, &head(1, CHAT));
    for _ in 0..20_000 {
        // grpc-go measures the connection with a PING behind bodies that come and go.
        stage.send(&mut client, &[ping(), data(1, &[0, 0, 0, 0, 1, 7])].concat());
    }
    for _ in 0..8_640 {
        stage.pass_seconds(10);
        stage.send(&mut client, &ping());
    }
    assert!(stage.is_open(&client), "{:?}", client.heard.goaway);
    for bytes in 0..20 {
        stage.send(&mut client, &setting(4, 65_535 << bytes.min(14)));
    }
    assert!(stage.is_open(&client));
}

#[test]
fn control_without_the_limit_the_flood_goes_on() {
    let mut stage = Stage::new(but(|limits| limits.glitches = None));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, repeat_n(ping(), 11_000));
    assert_eq!((outcome.steps, outcome.ended_by), (11_000, None));
    assert_eq!(attacker.heard.count(kind::PING), 11_000);
}
