//! Windows that overflow, shrink below zero, or are opened by nothing.

use std::iter::once;

use bookend_server::Limits;
use bookend_wire::ErrorCode;

use crate::frames::{head, request, stream_window, update};
use crate::stage::Stage;
use crate::testing::{ECHO, FILL};

#[test]
fn each_ends_what_it_belongs_to_with_its_code() {
    let ended_by = |bytes: Vec<u8>| {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        stage.send(&mut attacker, &head(1, ECHO));
        let outcome = stage.attack(&mut attacker, once(bytes));
        let reset = attacker.heard.resets.keys().next().copied();
        (outcome.code(), reset)
    };
    let overflow = Some(ErrorCode::FLOW_CONTROL_ERROR);
    let protocol = Some(ErrorCode::PROTOCOL_ERROR);
    assert_eq!(ended_by(update(0, 0x7fff_ffff)), (overflow, None));
    assert_eq!(ended_by(update(1, 0x7fff_ffff)), (None, overflow));
    assert_eq!(ended_by(update(0, 0)), (protocol, None));
    assert_eq!(ended_by(update(1, 0)), (None, protocol));
    assert_eq!(ended_by(stream_window(1 << 31)), (overflow, None));
    let moved = [update(1, 0x7fff_0000), stream_window(0x7fff_ffff)].concat();
    assert_eq!(ended_by(moved), (overflow, None));
}

#[test]
fn a_window_that_shrinks_below_zero_lets_exactly_as_much_through_as_it_is_opened_by() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker_with(&stream_window(10_000));
    stage.send(&mut client, &request(1, FILL, &100_000_u32.to_be_bytes()));
    assert_eq!(client.heard.body_bytes, 10_000);
    stage.send(&mut client, &stream_window(0));
    stage.send(&mut client, &update(1, 10_000));
    assert_eq!(client.heard.body_bytes, 10_000, "it was at minus ten thousand");
    stage.send(&mut client, &update(1, 1_000));
    assert_eq!(client.heard.body_bytes, 11_000);
    stage.send(&mut client, &stream_window(1 << 20));
    stage.send(&mut client, &update(0, 1 << 20));
    assert_eq!(client.heard.body_bytes, 100_005);
    assert_eq!(client.heard.statuses_of("0"), 1);
}
