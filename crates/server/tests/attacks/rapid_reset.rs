//! Rapid Reset (CVE-2023-44487): streams that are reset leave the count of open ones, while what
//! was begun for them goes on.

use bookend_server::Limits;
use bookend_wire::ErrorCode;

use crate::figures;
use crate::frames::{body, head, ids, request, reset};
use crate::stage::{Stage, but};
use crate::testing::{ECHO, WAIT};

fn begun_and_reset() -> impl Iterator<Item = Vec<u8>> {
    ids().map(|id| [head(id, ECHO), reset(id)].concat())
}

fn whole_and_reset(path: &'static str) -> impl Iterator<Item = Vec<u8>> {
    ids().map(move |id| [request(id, path, b"x"), reset(id)].concat())
}

#[test]
fn requests_that_are_reset_before_their_end_are_cut() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, begun_and_reset());
    figures::check("rapid reset", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn handlers_that_run_are_counted_and_not_streams_that_are_open() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, whole_and_reset(WAIT));
    figures::check("rapid reset of calls that wait", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(stage.testing.running(), 250);
    let beyond = outcome.steps - stage.testing.running() as u64;
    let refused = attacker.heard.statuses_of("8");
    assert!(beyond - refused <= 1, "the last was cut: {refused} of {beyond}");
}

#[test]
fn heads_that_came_before_the_handlers_ran_give_no_more_of_them() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let begin = |ids: &[u32]| ids.iter().flat_map(|id| head(*id, WAIT)).collect::<Vec<_>>();
    let ids: Vec<_> = ids().take(499).collect();
    let (first, more) = ids.split_at(249);
    stage.send(&mut attacker, &begin(first));
    for id in first {
        stage.send(&mut attacker, &[body(*id, b"x"), reset(*id)].concat());
    }
    assert_eq!(stage.testing.running(), 249);
    stage.send(&mut attacker, &begin(more));
    for id in more {
        stage.send(&mut attacker, &body(*id, b"x"));
    }
    assert_eq!(stage.testing.running(), 250);
    assert_eq!(attacker.heard.statuses_of("8"), 249);
}

#[test]
fn calls_that_are_answered_and_then_reset_are_cut_as_well() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, whole_and_reset(ECHO));
    figures::check("rapid reset of answered calls", &outcome);
    assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn who_cancels_as_much_as_is_allowed_goes_on_for_ever() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let mut requests = begun_and_reset();
    let burst = stage.attack(&mut client, requests.by_ref().take(1_000));
    assert_eq!(burst.ended_by, None);
    for _ in 0..120 {
        stage.pass_seconds(1);
        let more = stage.attack(&mut client, requests.by_ref().take(33));
        assert_eq!(more.ended_by, None);
    }
    assert!(stage.is_open(&client));
}

#[test]
fn control_without_the_limit_no_connection_is_cut_and_handlers_are_still_counted() {
    let mut stage = Stage::new(but(|limits| limits.resets = None));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, begun_and_reset().take(2_000));
    assert_eq!((outcome.steps, outcome.ended_by), (2_000, None));
    let mut attacker = stage.attacker();
    stage.attack(&mut attacker, whole_and_reset(WAIT).take(2_000));
    assert_eq!(stage.testing.running(), 250);
}

#[test]
fn control_without_a_limit_of_streams_handlers_are_not_counted() {
    let mut stage = Stage::new(but(|limits| {
        limits.resets = None;
        limits.http2.settings.max_concurrent_streams = None;
    }));
    let mut attacker = stage.attacker();
    stage.attack(&mut attacker, whole_and_reset(WAIT).take(2_000));
    assert_eq!(stage.testing.running(), 2_000);
}
