//! Rules that a peer can break, and the code that RFC 9113 names for each.

mod pair;

use bookend_testing::{Frame, frame, frames};
use bookend_wire::frame::{PREFACE, flag, kind};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, Initiator, Side};
use pair::{End, Event, REQUEST};

/// A server that has been greeted, with a request on stream 1 whose body is still open.
fn server() -> End {
    let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
    server.arrive(PREFACE);
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    server.arrive(&request(1, false));
    server.take_output();
    server.events();
    server
}

fn request(id: u32, end_stream: bool) -> Vec<u8> {
    // Static table: POST, http, /, and a literal authority.
    let block = [0x83, 0x86, 0x84, 0x01, 0x01, b'a'];
    let end = if end_stream { flag::END_STREAM } else { 0 };
    frame(kind::HEADERS, flag::END_HEADERS | end, id, &block)
}

/// The connection's end: the code of its GOAWAY.
fn ended_by(bytes: &[u8]) -> Option<ErrorCode> {
    let mut server = server();
    server.arrive(bytes);
    let error = server.error?;
    let written = frames(&server.take_output());
    let goaway = written.last().expect("a GOAWAY");
    assert_eq!((goaway.kind, goaway.number_at(4)), (kind::GOAWAY, error.code.0));
    Some(error.code)
}

/// The stream's end: the code of its RST_STREAM, while the connection lives.
fn reset_by(id: u32, bytes: &[u8]) -> Option<ErrorCode> {
    let mut server = server();
    server.arrive(bytes);
    assert_eq!(server.error, None);
    let written = frames(&server.take_output());
    let reset = |heard: &Frame| {
        let is_reset = heard.kind == kind::RST_STREAM && heard.stream_id == id;
        is_reset.then(|| ErrorCode(heard.number_at(0)))
    };
    // Another stream goes on.
    server.arrive(&request(99, true));
    assert!(server.seen.streams.contains_key(&99));
    written.iter().find_map(reset)
}

#[test]
fn trailers_of_a_stream_that_was_reset_are_ignored_however_many_ids_were_passed_over() {
    let mut server = server();
    server.arrive(&request(5, false));
    // By nothing: the server resets the stream.
    server.arrive(&frame(kind::WINDOW_UPDATE, 0, 5, &[0; 4]));
    // Every other id is left out, more often than they are kept apart.
    for id in (9..).step_by(4).take(2_000) {
        server.arrive(&request(id, true));
    }
    let trailers = frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        5,
        &[0x00, 0x01, b'x', 0x01, b'1'],
    );
    server.arrive(&trailers);
    assert_eq!(server.error, None);
    server.arrive(&request(3, true));
    let error = server.error.expect("that id was passed over");
    assert_eq!(error.code, PROTOCOL);
}

/// What breaks a rule, the bytes, the code that the RFC names.
type Case = (&'static str, Vec<u8>, ErrorCode);

const PROTOCOL: ErrorCode = ErrorCode::PROTOCOL_ERROR;
const SIZE: ErrorCode = ErrorCode::FRAME_SIZE_ERROR;

fn assert_ended_by(cases: &[Case]) {
    for (what, bytes, code) in cases {
        assert_eq!(ended_by(bytes), Some(*code), "{what}");
    }
}

#[test]
fn broken_rules_of_bodies_end_the_connection_with_the_code_of_the_rfc() {
    let data = |flags, id, payload: &[u8]| frame(kind::DATA, flags, id, payload);
    let huge = vec![0, 0x40, 1, kind::DATA, 0, 0, 0, 0, 1];
    assert_ended_by(&[
        ("DATA on stream 0", data(0, 0, b"x"), PROTOCOL),
        ("DATA on an idle stream", data(0, 5, b"x"), PROTOCOL),
        ("more padding than frame", data(flag::PADDED, 1, &[9, 0]), PROTOCOL),
        ("padding of nothing", data(flag::PADDED, 1, &[]), SIZE),
        ("a huge frame", huge, SIZE),
    ]);
}

#[test]
fn broken_rules_of_heads_end_the_connection_with_the_code_of_the_rfc() {
    let heads = |flags, id, block: &[u8]| frame(kind::HEADERS, flags, id, block);
    let more = |flags, block: &[u8]| frame(kind::CONTINUATION, flags, 3, block);
    let broken_off = [heads(0, 3, &[0x83]), frame(kind::PING, 0, 0, &[0; 8])].concat();
    let endless: Vec<u8> = (0..20).flat_map(|_| more(0, &[])).collect();
    let flood = [heads(0, 3, &[0x83]), endless].concat();
    let push = frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]);
    assert_ended_by(&[
        ("HEADERS on stream 0", heads(4, 0, &[0x83]), PROTOCOL),
        ("an even id", request(2, true), PROTOCOL),
        ("CONTINUATION alone", more(4, &[]), PROTOCOL),
        ("a block that is broken off", broken_off, PROTOCOL),
        ("a push", push, PROTOCOL),
        ("a broken block", heads(4, 3, &[0xff; 9]), ErrorCode::COMPRESSION_ERROR),
        ("an endless block", flood, ErrorCode::ENHANCE_YOUR_CALM),
    ]);
}

#[test]
fn broken_rules_of_control_frames_end_the_connection_with_the_code_of_the_rfc() {
    let settings = |flags, id, length| frame(kind::SETTINGS, flags, id, &vec![0; length]);
    let ping = |id, length| frame(kind::PING, 0, id, &vec![0; length]);
    let goaway = |id, length| frame(kind::GOAWAY, 0, id, &vec![0; length]);
    let update = |id, bytes: &[u8]| frame(kind::WINDOW_UPDATE, 0, id, bytes);
    let reset = |id, length| frame(kind::RST_STREAM, 0, id, &vec![0; length]);
    let priority = frame(kind::PRIORITY, 0, 0, &[0; 5]);
    let overflow = update(0, &[0x7f, 255, 255, 255]);
    assert_ended_by(&[
        ("SETTINGS on a stream", settings(0, 1, 0), PROTOCOL),
        ("SETTINGS cut", settings(0, 0, 5), SIZE),
        ("an ACK with settings", settings(flag::ACK, 0, 6), SIZE),
        ("PING on a stream", ping(1, 8), PROTOCOL),
        ("PING of seven bytes", ping(0, 7), SIZE),
        ("GOAWAY on a stream", goaway(1, 8), PROTOCOL),
        ("GOAWAY cut", goaway(0, 7), SIZE),
        ("WINDOW_UPDATE cut", update(0, &[0; 3]), SIZE),
        ("WINDOW_UPDATE by nothing", update(0, &[0; 4]), PROTOCOL),
        ("a window past 2^31-1", overflow, ErrorCode::FLOW_CONTROL_ERROR),
        ("WINDOW_UPDATE on an idle stream", update(7, &[0, 0, 0, 1]), PROTOCOL),
        ("RST_STREAM on stream 0", reset(0, 4), PROTOCOL),
        ("RST_STREAM on an idle stream", reset(7, 4), PROTOCOL),
        ("RST_STREAM cut", reset(1, 3), SIZE),
        ("PRIORITY on stream 0", priority, PROTOCOL),
    ]);
}

#[test]
fn broken_rules_of_a_stream_end_it_alone() {
    let protocol = ErrorCode::PROTOCOL_ERROR;
    let update = |bytes: [u8; 4]| frame(kind::WINDOW_UPDATE, 0, 1, &bytes);
    let malformed = |block: &[u8]| frame(kind::HEADERS, 5, 3, block);
    let cases: &[(&str, u32, Vec<u8>, ErrorCode)] = &[
        ("WINDOW_UPDATE by nothing", 1, update([0; 4]), protocol),
        ("a window past 2^31-1", 1, update([0x7f, 255, 255, 255]), ErrorCode::FLOW_CONTROL_ERROR),
        ("a second head without END_STREAM", 1, request(1, false), protocol),
        (
            "a stream that depends on itself",
            1,
            frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 1, 9]),
            protocol,
        ),
        (
            "PRIORITY of four bytes",
            1,
            frame(kind::PRIORITY, 0, 1, &[0; 4]),
            ErrorCode::FRAME_SIZE_ERROR,
        ),
        ("a request without a path", 3, malformed(&[0x83, 0x86]), protocol),
        ("an upper-case name", 3, malformed(&[0x83, 0x86, 0x84, 0, 1, b'A', 1, b'b']), protocol),
        ("a response as a request", 3, malformed(&[0x88]), protocol),
        ("pseudo-headers in trailers", 1, request(1, true), protocol),
    ];
    for (what, id, bytes, code) in cases {
        assert_eq!(reset_by(*id, bytes), Some(*code), "{what}");
    }
}

#[test]
fn what_comes_behind_the_end_of_a_stream_is_told_as_closed() {
    let ended = frame(kind::DATA, flag::END_STREAM, 1, b"x");
    let again = [ended.clone(), frame(kind::DATA, 0, 1, b"y")].concat();
    assert_eq!(reset_by(1, &again), Some(ErrorCode::STREAM_CLOSED));
    let mut server = server();
    server.arrive(&ended);
    let stream = server.seen.streams[&1];
    server.sender().headers(stream, &mut HeaderBlock::new(&pair::TRAILERS), true);
    server.arrive(&frame(kind::DATA, 0, 1, b"y"));
    assert_eq!(server.error.unwrap().code, ErrorCode::STREAM_CLOSED);
}

#[test]
fn more_than_the_windows_allow_is_a_fault_of_the_peer() {
    let mut config = ConnectionConfig::trusted();
    config.settings.initial_window_bytes = 70_000;
    config.connection_window_bytes = 80_000;
    let mut server = End::new(Side::Server, &config);
    server.seen.keeps_bodies = true;
    server.arrive(PREFACE);
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    for id in [1, 3] {
        server.arrive(&request(id, false));
    }
    for _ in 0..5 {
        server.arrive(&frame(kind::DATA, 0, 1, &[0; 15_000]));
    }
    let overrun = |event: &Event| {
        matches!(event, Event::Reset { id: 1, code, by }
        if *code == ErrorCode::FLOW_CONTROL_ERROR && *by == Initiator::Library)
    };
    assert!(server.events().iter().any(overrun), "the stream's window");
    let mut server = End::new(Side::Server, &config);
    server.seen.keeps_bodies = true;
    server.arrive(PREFACE);
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    for id in [1, 3] {
        server.arrive(&request(id, false));
        for _ in 0..3 {
            server.arrive(&frame(kind::DATA, 0, id, &[0; 15_000]));
        }
    }
    assert_eq!(server.error.unwrap().code, ErrorCode::FLOW_CONTROL_ERROR);
}

#[test]
fn content_length_is_kept_to_the_byte() {
    let with_length = |length: u8| {
        // content-length is entry 28 of the static table.
        let block = [0x83, 0x86, 0x84, 0x0f, 13, 1, b'0' + length];
        frame(kind::HEADERS, flag::END_HEADERS, 3, &block)
    };
    let body = |bytes: &[u8]| frame(kind::DATA, flag::END_STREAM, 3, bytes);
    let sent = |length, bytes: &[u8]| [with_length(length), body(bytes)].concat();
    assert_eq!(reset_by(3, &sent(3, b"abc")), None);
    for wrong in [&b"ab"[..], b"abcd", b""] {
        assert_eq!(reset_by(3, &sent(3, wrong)), Some(ErrorCode::PROTOCOL_ERROR), "{wrong:?}");
    }
}

#[test]
fn a_wrong_preface_is_told_at_its_first_wrong_byte() {
    for at in 0..PREFACE.len() {
        let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
        let mut wrong = PREFACE[..=at].to_vec();
        wrong[at] ^= 0x20;
        server.arrive(&wrong);
        assert_eq!(server.error.unwrap().code, ErrorCode::PROTOCOL_ERROR, "byte {at}");
    }
    let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
    server.arrive(PREFACE);
    server.arrive(&frame(kind::PING, 0, 0, &[0; 8]));
    assert_eq!(server.error.unwrap().code, ErrorCode::PROTOCOL_ERROR, "SETTINGS come first");
}

#[test]
fn an_oversized_header_list_costs_its_stream_and_no_memory() {
    let mut config = ConnectionConfig::trusted();
    config.settings.max_header_list_bytes = Some(200);
    let mut pair = pair::Pair::greeted(&ConnectionConfig::trusted(), &config);
    let mut head = HeaderBlock::new(&REQUEST);
    head.push(b"long", &[b'x'; 150]);
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    let code = ErrorCode::ENHANCE_YOUR_CALM;
    let events = pair.client.events();
    assert!(events.contains(&Event::Reset { id: 1, code, by: Initiator::Peer }), "{events:?}");
    assert_eq!(pair.server.error, None);
}
