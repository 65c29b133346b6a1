//! Heads that are odd: a `:path` without a slash (CVE-2026-33186), `-bin` fields that are no base64
//! (CVE-2023-32732), odd `te` (CVE-2024-7246), and header lists that are too long.

use bookend_server::Limits;
use bookend_wire::ErrorCode;
use bookend_wire::hpack::FIELD_OVERHEAD_BYTES;

use crate::figures;
use crate::frames::{body, head_with, ids, request};
use crate::stage::{Peer, Stage, but_http2};
use crate::testing::{ECHO, OPEN_SESAME};

#[test]
fn only_the_exact_path_of_a_method_is_one() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let paths = [
        "attack.Testing/Echo",
        "//attack.Testing/Echo",
        "/attack.Testing/Echo/",
        "/attack.Testing//Echo",
        "/ATTACK.Testing/Echo",
        "/attack.Testing/Echo?x",
        "/attack.Testing%2fEcho",
        "http://attacked/attack.Testing/Echo",
        "*",
    ];
    for (id, path) in ids().zip(paths) {
        stage.send(&mut client, &request(id, path, b"x"));
        assert_eq!(client.heard.last_status, Some((id, "12".into())), "{path}");
    }
    assert_eq!(stage.testing.calls(), 0);
}

#[test]
fn bytes_that_are_no_base64_cost_their_call_and_nothing_else() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let call = |id, token| {
        let head = head_with(id, OPEN_SESAME, &[("token-bin", token)]);
        [head, body(id, b"")].concat()
    };
    stage.send(&mut client, &[call(1, "b3Blbg"), call(3, "b3Blbg==")].concat());
    for (id, token) in ids().skip(2).zip(["!!!", "b", "b3Blbg=", "\u{80}"]) {
        stage.send(&mut client, &call(id, token));
        assert_eq!(client.heard.last_status, Some((id, "3".into())), "{token:?}");
    }
    stage.send(&mut client, &request(21, ECHO, b"on"));
    assert_eq!(client.heard.statuses_of("0"), 3);
    assert!(stage.is_open(&client));
}

#[test]
fn an_odd_te_or_scheme_costs_its_stream_at_most() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    for (id, te) in ids().zip(["", "gzip", "trailers,trailers", "TRAILERS;q=0"]) {
        let head = head_with(id, ECHO, &[("te", te)]);
        stage.send(&mut client, &head);
    }
    assert_eq!(client.heard.resets_with(ErrorCode::PROTOCOL_ERROR), 4);
    stage.send(&mut client, &request(21, ECHO, b"on"));
    assert_eq!(client.heard.statuses_of("0"), 1);
}

/// A call whose header list has that size, as RFC 9113 section 6.5.2 counts.
fn call_with_list_of(stage: &mut Stage, client: &mut Peer, id: u32, bytes: usize) {
    let base: usize = crate::frames::fields(ECHO)
        .iter()
        .map(|(name, value)| name.len() + value.len() + FIELD_OVERHEAD_BYTES)
        .sum();
    let fill = "v".repeat(bytes - base - FIELD_OVERHEAD_BYTES - 1);
    let head = head_with(id, ECHO, &[("x", &fill)]);
    stage.send(client, &[head, body(id, b"small")].concat());
}

#[test]
fn a_list_up_to_the_limit_is_read_and_one_beyond_is_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    call_with_list_of(&mut stage, &mut client, 1, 16_384);
    assert_eq!(client.heard.statuses_of("0"), 1);
    call_with_list_of(&mut stage, &mut client, 3, 16_385);
    assert_eq!(client.heard.statuses_of("0"), 1);
    assert_eq!(client.heard.resets_with(ErrorCode::ENHANCE_YOUR_CALM), 1);
    call_with_list_of(&mut stage, &mut client, 5, 16_384);
    assert_eq!(client.heard.statuses_of("0"), 2, "the connection goes on");
}

#[test]
fn control_a_larger_limit_lets_it_through() {
    let limits = but_http2(|http2| http2.settings.max_header_list_bytes = Some(16_385));
    let mut stage = Stage::new(limits);
    let mut client = stage.attacker();
    call_with_list_of(&mut stage, &mut client, 1, 16_385);
    assert_eq!(client.heard.statuses_of("0"), 1);
}

#[test]
fn metadata_above_the_limit_costs_the_server_no_more_than_its_decoding() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let fill = "v".repeat(16_000);
    let bloated = ids().map(|id| head_with(id, ECHO, &[("x", &fill), ("y", &fill[..300])]));
    let outcome = stage.attack(&mut attacker, bloated.take(300));
    figures::check("metadata above the limit", &outcome);
    assert_eq!(attacker.heard.resets_with(ErrorCode::ENHANCE_YOUR_CALM), 300);
    assert_eq!(stage.testing.calls(), stage.counts().answered_ok, "only the other's");
}
