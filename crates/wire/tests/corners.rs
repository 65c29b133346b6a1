//! Corners that the simulator came to before anybody else did: one story each.

mod pair;

use bookend_testing::{frame, frames};
use bookend_wire::frame::{PREFACE, kind};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, PreparedRequest, Side};
use pair::{End, Event, Pair, REQUEST, RESPONSE};

fn config_with(change: impl FnOnce(&mut ConnectionConfig)) -> ConnectionConfig {
    let mut config = ConnectionConfig::trusted();
    change(&mut config);
    config
}

/// SETTINGS_INITIAL_WINDOW_SIZE.
fn window_setting(bytes: u32) -> Vec<u8> {
    let payload = [&[0, 4][..], &bytes.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &payload)
}

fn heads(events: &[Event]) -> usize {
    let is_head = |event: &&Event| matches!(event, Event::Headers { .. });
    events.iter().filter(is_head).count()
}

#[test]
fn calls_made_before_a_smaller_header_table_is_known_are_understood() {
    let server = config_with(|config| config.settings.header_table_bytes = 0);
    let mut pair = Pair::new(&ConnectionConfig::trusted(), &server);
    let mut head = HeaderBlock::new(&REQUEST);
    for _ in 0..2 {
        pair.client.sender().request(&mut head, &[], b"").unwrap();
    }
    pair.drive();
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    assert_eq!(pair.server.error, None);
    assert_eq!(heads(&pair.server.events()), 3);
}

#[test]
fn the_smallest_of_several_header_tables_is_announced() {
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::trusted());
    let setting = |bytes: u32| [&[0, 1][..], &bytes.to_be_bytes()].concat();
    let payload = [setting(0), setting(4_096)].concat();
    pair.client.arrive(&frame(kind::SETTINGS, 0, 0, &payload));
    pair.client.sender().output.clear();
    pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"").unwrap();
    // Two size updates: to 0, which empties the table, and to 4,096.
    let block = &pair.client.sender().output[9..];
    assert_eq!(block[..4], [0x20, 0x3f, 0xe1, 0x1f]);
}

#[test]
fn a_stream_that_is_reset_holds_nothing_back() {
    let client = config_with(|config| config.settings.initial_window_bytes = 0);
    let mut pair = Pair::greeted(&client, &ConnectionConfig::trusted());
    let stream = pair.client.sender().open().unwrap();
    pair.client.sender().headers(stream, &mut HeaderBlock::new(&REQUEST), false);
    pair.drive();
    let there = pair.server.seen.streams[&1];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&RESPONSE), false);
    pair.server.sender().data(there, b"no room for this", true);
    assert!(pair.server.sender().is_blocked());
    pair.client.sender().reset(stream, ErrorCode::CANCEL);
    pair.drive();
    assert!(!pair.server.sender().is_blocked());
}

#[test]
fn a_small_window_starves_no_stream_that_began_before_it_was_known() {
    let server = config_with(|config| config.settings.initial_window_bytes = 10);
    let mut pair = Pair::new(&ConnectionConfig::trusted(), &server);
    let stream = pair.client.sender().open().unwrap();
    let mut head = HeaderBlock::new(&REQUEST);
    pair.client.sender().headers(stream, &mut head, false);
    pair.client.sender().data(stream, &[7; 100], false);
    pair.drive();
    pair.client.sender().data(stream, &[8; 100], true);
    pair.drive();
    assert_eq!(pair.server.body_of(1).len(), 200);
    assert!(!pair.client.sender().is_blocked());
}

#[test]
fn a_call_that_goaway_left_out_may_be_taken_back() {
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::trusted());
    pair.server.sender().goaway(ErrorCode::NO_ERROR, b"");
    let stream = pair.client.sender().open().unwrap();
    let mut head = HeaderBlock::new(&REQUEST);
    pair.client.sender().headers(stream, &mut head, false);
    pair.client.sender().reset(stream, ErrorCode::CANCEL);
    let credit = frame(kind::WINDOW_UPDATE, 0, stream.id, &[0, 0, 0, 1]);
    pair.client.sender().output.extend_from_slice(&credit);
    pair.drive();
    assert_eq!(pair.server.error, None);
}

#[test]
fn a_call_that_is_refused_for_the_size_of_its_head_is_never_heard_of() {
    let server = config_with(|config| config.settings.max_header_list_bytes = Some(200));
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
    let mut head = HeaderBlock::new(&REQUEST);
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    assert_eq!(pair.server.events(), []);
    assert!(matches!(
        pair.client.events()[..],
        [Event::Reset { code: ErrorCode::ENHANCE_YOUR_CALM, .. }]
    ));
}

#[test]
fn a_request_that_was_sent_in_part_is_not_remembered_as_whole() {
    let mut client = End::new(Side::Client, &ConnectionConfig::trusted());
    let mut request = PreparedRequest::new(HeaderBlock::new(&REQUEST), b"twelve bytes".to_vec());
    client.arrive(&window_setting(8));
    for _ in 0..3 {
        client.sender().prepared_request(&mut request).unwrap();
    }
    client.arrive(&window_setting(65_535));
    client.take_output();
    client.sender().prepared_request(&mut request).unwrap();
    let written = frames(&client.take_output());
    assert_eq!(written[1].payload, b"\0\0\0\0\x0ctwelve bytes");
    assert!(written[1].has(bookend_wire::frame::flag::END_STREAM));
}

#[test]
fn credit_for_a_request_that_is_all_sent_overflows_nothing() {
    let mut client = End::new(Side::Client, &ConnectionConfig::trusted());
    let mut request = PreparedRequest::new(HeaderBlock::new(&REQUEST), b"ping".to_vec());
    client.arrive(&window_setting((1 << 31) - 1));
    for id in [1_u32, 3, 5] {
        client.sender().prepared_request(&mut request).unwrap();
        client.arrive(&frame(kind::WINDOW_UPDATE, 0, id, &[0, 0, 0, 10]));
    }
    assert_eq!(client.error, None);
    assert_eq!(client.events(), [Event::Settings]);
}

#[test]
fn a_malformed_priority_resets_no_stream_that_is_not_there() {
    let short = frame(kind::PRIORITY, 0, 9, &[0; 4]);
    let itself = frame(kind::PRIORITY, 0, 9, &[0, 0, 0, 9, 0]);
    for (bytes, code) in [(short, ErrorCode::FRAME_SIZE_ERROR), (itself, ErrorCode::PROTOCOL_ERROR)]
    {
        let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
        server.arrive(PREFACE);
        server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
        server.arrive(&bytes);
        assert_eq!(server.error.unwrap().code, code);
    }
}

#[test]
fn credit_for_a_response_that_came_early_overflows() {
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::trusted());
    let stream = pair.client.sender().open().unwrap();
    pair.client.sender().headers(stream, &mut HeaderBlock::new(&REQUEST), false);
    pair.drive();
    let there = pair.server.seen.streams[&1];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&RESPONSE), true);
    pair.server.take_output();
    pair.server.arrive(&frame(kind::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 255, 255]));
    let written = frames(&pair.server.take_output());
    let [reset] = written.as_slice() else {
        panic!("one frame, not {written:?}");
    };
    assert_eq!((reset.kind, reset.stream_id), (kind::RST_STREAM, 1));
    assert_eq!(reset.payload, ErrorCode::FLOW_CONTROL_ERROR.0.to_be_bytes());
}
