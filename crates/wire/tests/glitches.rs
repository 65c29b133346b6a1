//! What a peer does that is wrong or of no use is survived, and counted.

mod pair;

use bookend_testing::{Frame, frame, frames};
use bookend_wire::frame::{PREFACE, flag, kind};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, Side};
use pair::{Answer, End, TRAILERS};

/// A server that has been greeted and has stream 1 open.
fn server_with(config: &ConnectionConfig) -> End {
    let mut server = End::new(Side::Server, config);
    server.arrive(PREFACE);
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    server.arrive(&frame(kind::SETTINGS, flag::ACK, 0, &[]));
    server.arrive(&request(1));
    server.take_output();
    assert_eq!(server.sender().take_glitches(), 0, "a greeting has none");
    server
}

fn server() -> End {
    server_with(&ConnectionConfig::internet())
}

fn request(id: u32) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS, id, &[0x83, 0x86, 0x84])
}

fn glitches_of(server: &mut End, bytes: &[u8]) -> u32 {
    server.arrive(bytes);
    assert_eq!(server.error, None);
    server.sender().take_glitches()
}

fn data(id: u32, bytes: &[u8]) -> Vec<u8> {
    frame(kind::DATA, 0, id, bytes)
}

fn update(id: u32, increment: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, id, &increment.to_be_bytes())
}

#[test]
fn useless_and_wrong_frames_are_one_glitch_each() {
    let cases: &[(&str, Vec<u8>)] = &[
        ("empty DATA", data(1, b"")),
        ("DATA of padding alone", frame(kind::DATA, flag::PADDED, 1, &[3, 0, 0, 0])),
        ("SETTINGS once more", frame(kind::SETTINGS, 0, 0, &[])),
        ("a second acknowledgement", frame(kind::SETTINGS, flag::ACK, 0, &[])),
        ("PRIORITY", frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 0, 9])),
        ("a type that nobody knows", frame(0x77, 0, 1, b"x")),
        ("an answer to no PING", frame(kind::PING, flag::ACK, 0, &[0; 8])),
        ("a stream error", update(1, 0)),
        ("a malformed request", frame(kind::HEADERS, 5, 3, &[0x83])),
    ];
    for (what, bytes) in cases {
        assert_eq!(glitches_of(&mut server(), bytes), 1, "{what}");
    }
}

#[test]
fn what_a_legal_client_sends_is_none() {
    let mut server = server();
    let lasts = [data(1, &[1; 300]), update(0, 1), update(1, 1)].concat();
    assert_eq!(glitches_of(&mut server, &lasts), 0);
    for _ in 0..100 {
        let measured = [frame(kind::PING, 0, 0, &[0; 8]), data(1, b"more")].concat();
        assert_eq!(glitches_of(&mut server, &measured), 0);
    }
    let stream = server.seen.streams[&1];
    server.sender().headers(stream, &mut HeaderBlock::new(&TRAILERS), true);
    let end = frame(kind::DATA, flag::END_STREAM, 1, b"");
    assert_eq!(glitches_of(&mut server, &end), 0);
    let late = update(1, 100);
    assert_eq!(glitches_of(&mut server, &late), 0, "credit that crossed the end");
}

#[test]
fn pings_between_which_nothing_happens_are_glitches_but_for_the_first() {
    let ping = frame(kind::PING, 0, 0, &[0; 8]);
    let mut server = server();
    assert_eq!(glitches_of(&mut server, &ping.repeat(10)), 9);
    let between = [request(3), ping.clone()].concat();
    assert_eq!(glitches_of(&mut server, &between), 0);
    let priority = frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 0, 9]);
    for (others, are_pings) in [(2, true), (3, false)] {
        let mixed = [ping.repeat(3), priority.repeat(others)].concat();
        server.arrive(&mixed);
        assert_eq!(server.sender().glitches_are_pings(), are_pings);
        assert_eq!(server.sender().take_glitches(), 3 + others as u32);
    }
}

#[test]
fn each_stream_that_we_reset_is_one_and_so_is_each_frame_that_comes_for_it() {
    let mut config = ConnectionConfig::internet();
    config.settings.max_concurrent_streams = Some(1);
    let mut server = server_with(&config);
    assert_eq!(glitches_of(&mut server, &request(3)), 1, "refused");
    assert_eq!(glitches_of(&mut server, &data(3, b"late")), 1);
    let reset = frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]);
    assert_eq!(glitches_of(&mut server, &reset), 1);
    let stream = server.seen.streams[&1];
    server.sender().reset(stream, ErrorCode::CANCEL);
    assert_eq!(server.sender().take_glitches(), 1, "for whatever reason");
}

#[test]
fn frames_on_streams_that_our_goaway_left_out_are_ignored() {
    let mut server = server();
    server.sender().goaway(ErrorCode::NO_ERROR, b"");
    let late =
        [request(3), data(3, b"x"), update(3, 1), frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8])];
    for bytes in late {
        server.arrive(&bytes);
    }
    assert_eq!(server.error, None);
    assert!(!server.seen.streams.contains_key(&3));
    server.arrive(&data(1, b"goes on"));
    assert_eq!(server.error, None);
}

/// A server whose stream 1 holds back a body of that many bytes, all windows being closed.
fn server_that_holds(config: &ConnectionConfig, bytes: usize) -> End {
    let mut server = End::new(Side::Server, config);
    server.arrive(PREFACE);
    // SETTINGS_INITIAL_WINDOW_SIZE is 0.
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    server.arrive(&request(1));
    let stream = server.seen.streams[&1];
    server.sender().data(stream, &vec![7; bytes], false);
    server.take_output();
    server
}

#[test]
fn windows_opened_by_a_crack_are_glitches_while_something_waits() {
    let mut server = server_that_holds(&ConnectionConfig::internet(), 1_000);
    assert_eq!(glitches_of(&mut server, &update(1, 255).repeat(3)), 3);
    assert_eq!(glitches_of(&mut server, &update(1, 256)), 0, "a usual one");
    assert_eq!(server.sender().all_blocked_bytes(), 0);
    assert_eq!(glitches_of(&mut server, &update(1, 1)), 0, "nothing waits");
}

#[test]
fn what_is_held_back_is_counted_until_it_goes_or_its_stream_does() {
    let mut server = server_that_holds(&ConnectionConfig::internet(), 10_000);
    server.arrive(&update(1, 4_000));
    let sender = server.sender();
    assert_eq!((sender.all_blocked_bytes(), sender.unblocked_bytes()), (6_000, 4_000));
    server.arrive(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    let sender = server.sender();
    assert_eq!((sender.all_blocked_bytes(), sender.unblocked_bytes()), (0, 4_000));
}

#[test]
fn streams_are_refused_while_too_much_is_held_back_and_taken_again_afterwards() {
    let mut config = ConnectionConfig::internet();
    config.max_blocked_bytes = 1_000;
    let refused = |server: &mut End, id| {
        server.take_output();
        server.arrive(&request(id));
        let is_reset =
            |heard: &Frame| heard.kind == kind::RST_STREAM && heard.payload == [0, 0, 0, 7];
        frames(&server.take_output()).iter().any(is_reset)
    };
    let mut at_the_limit = server_that_holds(&config, 1_000);
    assert!(!refused(&mut at_the_limit, 3));
    let mut beyond = server_that_holds(&config, 1_001);
    assert!(refused(&mut beyond, 3));
    beyond.arrive(&update(1, 500));
    assert!(!refused(&mut beyond, 5), "the rest may wait");
    let stream = beyond.seen.streams[&1];
    beyond.sender().data(stream, &[7; 1_000], false);
    assert!(refused(&mut beyond, 7));
    beyond.arrive(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    assert!(!refused(&mut beyond, 9), "its stream is gone");
    assert_eq!(beyond.error, None);
}

#[test]
fn each_stream_may_come_with_a_small_update_of_its_window_and_one_of_the_connections() {
    const CALLS: u32 = 5_000;
    let mut server = server();
    server.seen.answer = Some(Answer::new(b"!"));
    let stream_and_updates = |id| {
        let end = frame(kind::DATA, flag::END_STREAM, id, b"");
        [request(id), update(id, 5), end, update(0, 5)].concat()
    };
    for call in 1..=CALLS {
        assert_eq!(glitches_of(&mut server, &stream_and_updates(1 + 2 * call)), 0, "{call}");
    }
    let many = update(1, 1).repeat(2 * CALLS as usize);
    assert!(glitches_of(&mut server, &many) > 0, "far more than there are streams");
}
