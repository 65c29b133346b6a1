//! MadeYouReset (CVE-2025-8671): as Rapid Reset, but the client has the server reset the streams.

use bookend_server::Limits;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::kind;

use crate::figures;
use crate::frames::{head, ids, update};
use crate::stage::{Frames, Stage, but};
use crate::testing::ECHO;

fn windows_opened_by_nothing() -> impl Iterator<Item = Vec<u8>> {
    ids().map(|id| [head(id, ECHO), update(id, 0)].concat())
}

#[test]
fn streams_that_the_server_is_made_to_reset_count_as_those_that_the_client_resets() {
    let depends_on_itself = |id: u32| {
        let payload = [&id.to_be_bytes()[..], &[9]].concat();
        frame(kind::PRIORITY, 0, id, &payload)
    };
    let priorities = ids().map(move |id| [head(id, ECHO), depends_on_itself(id)].concat());
    let overflows = ids().map(|id| [head(id, ECHO), update(id, 0x7fff_ffff)].concat());
    let ways: [(&str, Frames); 3] = [
        ("made you reset", Box::new(windows_opened_by_nothing())),
        ("the same by PRIORITY", Box::new(priorities)),
        ("the same by overflow", Box::new(overflows)),
    ];
    for (name, frames) in ways {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        let outcome = stage.attack(&mut attacker, frames);
        assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM), "{name}");
        assert_eq!(outcome.steps, 1_001, "{name}");
        if name == "made you reset" {
            figures::check(name, &outcome);
        }
    }
}

/// As many streams as may be open, and then more.
fn too_many_streams() -> impl Iterator<Item = Vec<u8>> {
    ids().map(|id| head(id, ECHO))
}

#[test]
fn refused_streams_are_counted() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, too_many_streams());
    figures::check("streams above the limit", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(attacker.heard.resets_with(ErrorCode::REFUSED_STREAM), 10_001);
    assert_eq!(stage.testing.calls(), stage.counts().answered_ok, "only the other's");
}

#[test]
fn who_was_refused_often_but_not_too_often_goes_on() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let mut streams = too_many_streams();
    let burst = stage.attack(&mut client, streams.by_ref().take(250 + 10_000));
    assert_eq!(burst.ended_by, None);
    for _ in 0..10 {
        stage.pass_seconds(1);
        let more = stage.attack(&mut client, streams.by_ref().take(330));
        assert_eq!(more.ended_by, None);
    }
}

#[test]
fn control_without_the_limits_no_connection_is_cut() {
    let mut stage = Stage::new(but(|limits| {
        limits.resets = None;
        limits.glitches = None;
    }));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, windows_opened_by_nothing().take(1_500));
    assert_eq!((outcome.steps, outcome.ended_by), (1_500, None));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, too_many_streams().take(10_500));
    assert_eq!((outcome.steps, outcome.ended_by), (10_500, None));
}
