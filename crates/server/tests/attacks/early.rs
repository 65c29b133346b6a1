//! What a client does before it has acknowledged our SETTINGS (CVE-2026-47244): they hold from the
//! first byte.

use bookend_server::Limits;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{PREFACE, kind};

use crate::figures;
use crate::frames::{ids, request};
use crate::stage::{Stage, but_http2};
use crate::testing::WAIT;

fn at_once(calls: usize) -> Vec<u8> {
    let mut bytes = PREFACE.to_vec();
    bytes.extend(frame(kind::SETTINGS, 0, 0, &[]));
    bytes.extend(ids().take(calls).flat_map(|id| request(id, WAIT, b"x")));
    bytes
}

#[test]
fn streams_above_the_limit_are_refused_before_anybody_has_acknowledged_it() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.stranger();
    let outcome = stage.attack(&mut attacker, [at_once(1_000)].into_iter());
    figures::check("streams before the SETTINGS", &outcome);
    assert_eq!(stage.testing.running(), 250);
    assert_eq!(attacker.heard.resets_with(ErrorCode::REFUSED_STREAM), 750);
    stage.testing.answer_all();
    stage.server.wake();
    attacker.read(&mut stage.server);
    assert_eq!(attacker.heard.statuses_of("0"), 250, "those within it are answered");
}

#[test]
fn control_with_a_higher_limit_they_are_taken() {
    let limits = but_http2(|http2| http2.settings.max_concurrent_streams = Some(1_000));
    let mut stage = Stage::new(limits);
    let mut client = stage.stranger();
    stage.send(&mut client, &at_once(1_000));
    assert_eq!(stage.testing.running(), 1_000);
}
