//! Frames that cost their sender nothing: PRIORITY (CVE-2019-9513), heads with empty names
//! (CVE-2019-9516), empty DATA (CVE-2019-9518), and unknown types.

use std::iter::{once, repeat};

use bookend_server::Limits;
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{flag, kind};

use crate::figures;
use crate::frames::{body, data, head, head_with, ids, request, update};
use crate::stage::{Frames, Stage, but};
use crate::testing::{CHAT, ECHO};

fn empty_data() -> impl Iterator<Item = Vec<u8>> {
    once(head(1, CHAT)).chain(repeat(data(1, b"")))
}

#[test]
fn each_is_counted_and_cut() {
    let priority = repeat(frame(kind::PRIORITY, 0, 9, &[0, 0, 0, 0, 9]));
    let padding = repeat(frame(kind::DATA, flag::PADDED, 1, &[4, 0, 0, 0, 0]));
    let unknown = repeat(frame(0x55, 0, 0, b"?"));
    let nameless = ids().map(|id| head_with(id, ECHO, &[("", "x")]));
    let attacks: [(&str, Frames); 5] = [
        ("PRIORITY flood", Box::new(priority)),
        ("empty DATA", Box::new(empty_data())),
        ("DATA of padding alone", Box::new(once(head(1, CHAT)).chain(padding))),
        ("frames of unknown types", Box::new(unknown)),
        ("heads with empty names", Box::new(nameless)),
    ];
    for (name, frames) in attacks {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        let outcome = stage.attack(&mut attacker, frames);
        figures::check(name, &outcome);
        assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM), "{name}");
    }
}

#[test]
fn windows_that_are_opened_for_nothing_are_counted_and_cut() {
    let attacks: [(&str, Frames); 3] = [
        ("WINDOW_UPDATE without any data", Box::new(repeat(update(0, 1)))),
        (
            "WINDOW_UPDATE of a stream without any data",
            Box::new(once(head(1, CHAT)).chain(repeat(update(1, 1)))),
        ),
        (
            "WINDOW_UPDATE of a stream that has ended",
            Box::new(once(request(1, ECHO, b"x")).chain(repeat(update(1, 1)))),
        ),
    ];
    for (name, frames) in attacks {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        let outcome = stage.attack(&mut attacker, frames);
        figures::check(name, &outcome);
        assert_eq!(outcome.code(), Some(ErrorCode::ENHANCE_YOUR_CALM), "{name}");
    }
}

#[test]
fn windows_that_are_opened_for_every_little_answer_are_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    // Each answer has a prefix and one byte.
    let calls = ids().map(|id| [request(id, ECHO, b"x"), update(0, 6), update(id, 6)].concat());
    let outcome = stage.attack(&mut client, calls.take(20_000));
    assert_eq!(outcome.ended_by, None);
    assert_eq!(client.heard.statuses_of("0"), 20_000);
}

#[test]
fn windows_that_clients_in_c_open_with_each_call_are_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    // As the core of gRPC in C writes a call: behind its head, room for a message's prefix.
    let calls =
        ids().map(|id| [head(id, ECHO), update(id, 5), body(id, b"x"), update(0, 5)].concat());
    let outcome = stage.attack(&mut client, calls.take(20_000));
    assert_eq!(outcome.ended_by, None);
    assert_eq!(client.heard.statuses_of("0"), 20_000);
}

#[test]
fn as_many_as_are_allowed_are() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let mut frames = empty_data();
    let burst = stage.attack(&mut client, frames.by_ref().take(10_001));
    assert_eq!(burst.ended_by, None);
    for _ in 0..10 {
        stage.pass_seconds(1);
        let more = stage.attack(&mut client, frames.by_ref().take(330));
        assert_eq!(more.ended_by, None);
    }
}

#[test]
fn control_without_the_limit_they_go_on() {
    let mut stage = Stage::new(but(|limits| limits.glitches = None));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, empty_data().take(11_000));
    assert_eq!((outcome.steps, outcome.ended_by), (11_000, None));
}
