//! Demands of RFC 9113 and RFC 7541 that no other story here shows. docs/internals/rfc lists them
//! all.

mod pair;

use bookend_testing::{Frame, frame, frames};
use bookend_wire::frame::{FrameHeader, HEADER_BYTES, PREFACE, flag, kind};
use bookend_wire::grpc::{Metadata, MetadataError, request};
use bookend_wire::hpack::{Decoder, Encoder, HeaderList, Indexing};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, Initiator, Side, StreamKey};
use pair::{End, Event, Pair, REQUEST, RESPONSE, TRAILERS};

const ENABLE_PUSH: u16 = 2;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;

fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let entry = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &entries.iter().flat_map(entry).collect::<Vec<u8>>())
}

fn announced(payload: &[u8], id: u16) -> Option<u32> {
    let mut entries = payload.as_chunks::<6>().0.iter();
    let entry = entries.find(|entry| entry[..2] == id.to_be_bytes())?;
    Some(u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]))
}

fn greeted(side: Side, config: &ConnectionConfig) -> End {
    let mut end = End::new(side, config);
    if side == Side::Server {
        end.arrive(PREFACE);
    }
    end.arrive(&settings(&[]));
    end.take_output();
    end.events();
    end
}

fn server() -> End {
    greeted(Side::Server, &ConnectionConfig::trusted())
}

/// A client that waits for the answer to its call on stream 1.
fn waiting_client() -> (End, StreamKey) {
    let mut client = greeted(Side::Client, &ConnectionConfig::trusted());
    let stream = client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"").unwrap();
    client.take_output();
    (client, stream)
}

fn request_on(id: u32, end_stream: bool) -> Vec<u8> {
    let end = if end_stream { flag::END_STREAM } else { 0 };
    frame(kind::HEADERS, flag::END_HEADERS | end, id, &[0x83, 0x86, 0x84])
}

/// Literals that enter no table.
fn encoded(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    let mut encoder = Encoder::new(0);
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Never, &mut block);
    }
    block
}

fn error_of(end: &End) -> Option<ErrorCode> {
    end.error.map(|error| error.code)
}

fn greetings(config: &ConnectionConfig) -> [Vec<Frame>; 2] {
    let written = End::new(Side::Client, config).take_output();
    let behind = written.strip_prefix(PREFACE).expect("the preface comes first of all");
    [frames(behind), frames(&End::new(Side::Server, config).take_output())]
}

#[test]
fn the_first_frame_of_either_end_is_settings() {
    for written in greetings(&ConnectionConfig::internet()) {
        let first = &written[0];
        assert_eq!((first.kind, first.flags, first.stream_id), (kind::SETTINGS, 0, 0));
    }
}

#[test]
fn of_pushes_a_client_says_no_and_a_server_says_nothing() {
    for enable_push in [true, false] {
        let mut config = ConnectionConfig::internet();
        config.settings.enable_push = enable_push;
        let [_, server] = greetings(&config);
        assert_eq!(announced(&server[0].payload, ENABLE_PUSH), None);
    }
    let [client, _] = greetings(&ConnectionConfig::internet());
    assert_eq!(announced(&client[0].payload, ENABLE_PUSH), Some(0));
}

#[test]
fn a_frame_of_16384_bytes_is_taken_whatever_is_configured() {
    for (configured, expected) in [(0, None), (100, None), (u32::MAX, Some((1 << 24) - 1))] {
        let mut config = ConnectionConfig::trusted();
        config.settings.max_frame_bytes = configured;
        config.settings.initial_window_bytes = u32::MAX;
        config.connection_window_bytes = u32::MAX;
        let [_, greeting] = greetings(&config);
        assert_eq!(announced(&greeting[0].payload, MAX_FRAME_SIZE), expected);
        assert_eq!(announced(&greeting[0].payload, INITIAL_WINDOW_SIZE), Some((1 << 31) - 1));
        assert_eq!(greeting[1].payload, ((1_u32 << 31) - 1 - 65_535).to_be_bytes());
        let mut server = greeted(Side::Server, &config);
        server.arrive(&request_on(1, false));
        server.arrive(&frame(kind::DATA, 0, 1, &[7; 16_384]));
        assert_eq!(server.error, None);
        assert_eq!(server.body_of(1).len(), 16_384);
    }
}

/// The flags that have a meaning for each type.
fn meaningful_flags(of: u8) -> u8 {
    match of {
        kind::DATA => flag::END_STREAM | flag::PADDED,
        kind::HEADERS => flag::END_STREAM | flag::END_HEADERS | flag::PADDED | flag::PRIORITY,
        kind::SETTINGS | kind::PING => flag::ACK,
        kind::CONTINUATION => flag::END_HEADERS,
        _ => 0,
    }
}

/// With all flags set that mean nothing, and with all reserved bits.
fn overdressed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[4] |= !meaningful_flags(bytes[3]);
    bytes[5] |= 0x80;
    if matches!(bytes[3], kind::WINDOW_UPDATE | kind::GOAWAY) {
        bytes[HEADER_BYTES] |= 0x80;
    }
    bytes
}

#[test]
fn flags_without_a_meaning_and_reserved_bits_are_ignored() {
    let block = [0x83, 0x86, 0x84];
    let shut = settings(&[(INITIAL_WINDOW_SIZE, 0)]);
    let conversation = [
        shut,
        frame(kind::SETTINGS, flag::ACK, 0, &[]),
        frame(kind::HEADERS, 0, 1, &block[..2]),
        frame(kind::CONTINUATION, flag::END_HEADERS, 1, &block[2..]),
        frame(kind::DATA, 0, 1, b"body"),
        frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 0, 9]),
        frame(kind::PING, 0, 0, b"midnight"),
        frame(kind::WINDOW_UPDATE, 0, 1, &5_u32.to_be_bytes()),
        request_on(3, true),
        frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]),
        frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let heard = |dress: fn(Vec<u8>) -> Vec<u8>| {
        let mut server = server();
        for bytes in conversation.clone() {
            server.arrive(&dress(bytes));
        }
        assert_eq!(server.error, None);
        let stream = server.seen.streams[&1];
        server.sender().data(stream, &[7; 100], false);
        (server.events(), server.take_output())
    };
    let plain = heard(|bytes| bytes);
    assert_eq!(heard(overdressed), plain);
    assert_eq!(frames(&plain.1).last().unwrap().payload.len(), 5, "the window is five bytes wide");
}

#[test]
fn nothing_is_sent_with_a_flag_without_a_meaning_or_a_reserved_bit() {
    let mut pair = Pair::new(&ConnectionConfig::internet(), &ConnectionConfig::internet());
    let mut head = HeaderBlock::new(&REQUEST);
    head.push(b"long", &[b'~'; 40_000]);
    pair.client.sender().request(&mut head, &[], &[1; 100_000]).unwrap();
    pair.client.sender().ping(*b"midnight");
    let greeting = pair.client.take_output();
    pair.server.arrive(&greeting);
    let mut written = greeting[PREFACE.len()..].to_vec();
    loop {
        let back = pair.server.take_output();
        pair.client.arrive(&back);
        let there = pair.client.take_output();
        pair.server.arrive(&there);
        written.extend_from_slice(&[&back[..], &there].concat());
        if back.is_empty() && there.is_empty() {
            break;
        }
    }
    pair.server.sender().goaway_notice(b"bye");
    pair.server.sender().goaway(ErrorCode::NO_ERROR, b"bye");
    written.extend(pair.server.take_output());
    let mut kinds: Vec<u8> = frames(&written).iter().map(|heard| heard.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, [0, 1, 3, 4, 6, 7, 8, 9], "every type that we write at all");
    let mut rest = &written[..];
    while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let of = header[3];
        let used = meaningful_flags(of) & !(flag::PADDED | flag::PRIORITY);
        assert_eq!(header[4] & !used, 0, "flags of type {of}");
        assert_eq!(header[5] & 0x80, 0, "the reserved bit of type {of}");
        if matches!(of, kind::WINDOW_UPDATE | kind::GOAWAY) {
            assert_eq!(behind[0] & 0x80, 0, "the reserved bit within type {of}");
        }
        rest = &behind[FrameHeader::parse(header).length..];
    }
}

#[test]
fn each_settings_are_acknowledged_at_once_by_an_empty_frame() {
    let mut server = server();
    server.arrive(&settings(&[(INITIAL_WINDOW_SIZE, 7)]));
    server.arrive(&[settings(&[]), settings(&[(MAX_FRAME_SIZE, 20_000)])].concat());
    let written = server.take_output();
    assert_eq!(written, frame(kind::SETTINGS, flag::ACK, 0, &[]).repeat(3));
}

#[test]
fn of_a_setting_that_stands_twice_the_last_one_counts() {
    let mut server = server();
    server.arrive(&settings(&[(INITIAL_WINDOW_SIZE, 70_000), (INITIAL_WINDOW_SIZE, 5)]));
    server.arrive(&request_on(1, true));
    server.take_output();
    let stream = server.seen.streams[&1];
    server.sender().data(stream, &[7; 100], true);
    assert_eq!(server.sender().blocked_bytes(stream), 95);
}

#[test]
fn a_client_takes_no_stream_that_the_server_opens() {
    let response = [0x88];
    for flags in [flag::END_HEADERS, flag::END_HEADERS | flag::END_STREAM] {
        let (mut client, _) = waiting_client();
        client.arrive(&frame(kind::HEADERS, flags, 2, &response));
        assert_eq!(error_of(&client), Some(ErrorCode::PROTOCOL_ERROR));
    }
}

#[test]
fn nothing_is_sent_on_a_stream_that_is_closed() {
    let ends: [fn(&mut End, StreamKey); 3] = [
        |server, stream| {
            server.sender().headers(stream, &mut HeaderBlock::new(&TRAILERS), true);
        },
        |server, stream| server.sender().reset(stream, ErrorCode::CANCEL),
        |server, stream| server.arrive(&frame(kind::RST_STREAM, 0, stream.id, &[0, 0, 0, 8])),
    ];
    for end in ends {
        let mut server = server();
        server.arrive(&request_on(1, true));
        let stream = server.seen.streams[&1];
        end(&mut server, stream);
        server.take_output();
        let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
        server.sender().headers(stream, &mut head, false);
        server.sender().data(stream, b"late", true);
        server.sender().message(stream, true, |output| output.extend_from_slice(b"late"));
        server.sender().reply(stream, &mut head, &mut trailers, |_| {});
        server.sender().reset(stream, ErrorCode::CANCEL);
        server.sender().release(stream, 100);
        assert_eq!(frames(&server.take_output()), []);
    }
}

#[test]
fn a_reset_is_not_answered_with_a_reset() {
    let mut server = server();
    server.arrive(&request_on(1, false));
    server.take_output();
    server.arrive(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]).repeat(3));
    assert_eq!((server.error, server.take_output()), (None, vec![]));
}

#[test]
fn a_ping_comes_back_as_it_is_and_its_answer_is_not_answered() {
    let mut server = server();
    server.arrive(&frame(kind::PING, 0, 0, b"midnight"));
    assert_eq!(server.take_output(), frame(kind::PING, flag::ACK, 0, b"midnight"));
    server.arrive(&frame(kind::PING, flag::ACK, 0, b"midnight"));
    assert_eq!((server.error, server.take_output()), (None, vec![]));
}

#[test]
fn a_block_that_is_given_up_ends_the_connection() {
    let mut config = ConnectionConfig::trusted();
    config.settings.max_header_list_bytes = Some(1_000);
    let mut server = greeted(Side::Server, &config);
    let value = "v".repeat(900);
    let mut block = b"\x40\x01n\x7f\x85\x06".to_vec();
    block.extend_from_slice(value.as_bytes());
    block.extend([0x80 | 62; 10]);
    server.arrive(&frame(kind::HEADERS, flag::END_HEADERS, 1, &block));
    assert_eq!(error_of(&server), Some(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn what_a_goaway_leaves_out_counts_for_table_and_window_and_is_never_taken_back() {
    let mut config = ConnectionConfig::trusted();
    config.connection_window_bytes = 65_535;
    let mut server = greeted(Side::Server, &config);
    server.seen.keeps_bodies = true;
    server.arrive(&request_on(1, false));
    server.sender().goaway(ErrorCode::NO_ERROR, b"");
    server.take_output();
    // The block of a request that is left out inserts `a: 1`, which the trailers refer to.
    let inserts = [&[0x83, 0x86, 0x84][..], b"\x40\x01a\x011"].concat();
    server.arrive(&frame(kind::HEADERS, flag::END_HEADERS, 3, &inserts));
    server.arrive(&frame(kind::DATA, 0, 3, &[7; 16_384]).repeat(3));
    let given_back = frames(&server.take_output());
    assert!(
        given_back.iter().all(|heard| heard.kind == kind::WINDOW_UPDATE)
            && given_back.iter().any(|heard| heard.stream_id == 0),
        "{given_back:?}"
    );
    server.arrive(&frame(kind::HEADERS, 5, 1, &[0x80 | 62]));
    let fields = vec![("a".to_owned(), "1".to_owned())];
    let last = server.events().pop();
    assert_eq!(last, Some(Event::Headers { id: 1, fields, end_stream: true }));
    server.sender().goaway(ErrorCode::ENHANCE_YOUR_CALM, b"");
    let [goaway] = &frames(&server.take_output())[..] else {
        panic!("one GOAWAY");
    };
    assert_eq!((goaway.kind, &goaway.payload[..4]), (kind::GOAWAY, &[0, 0, 0, 1][..]));
}

#[test]
fn with_every_window_shut_all_but_bodies_goes_on() {
    let mut server = greeted(Side::Server, &ConnectionConfig::internet());
    server.seen.keeps_bodies = true;
    // No credit is given back, so all but sixteen bytes of the connection's window are used up.
    for id in (1..=31).step_by(2) {
        server.arrive(&request_on(id, false));
        server.arrive(&frame(kind::DATA, 0, id, &[7; 16_384]).repeat(3));
        server.arrive(&frame(kind::DATA, 0, id, &[7; 16_383]));
    }
    server.arrive(&frame(kind::DATA, 0, 1, &[]));
    assert_eq!(server.error, None);
    server.take_output();
    server.arrive(&[request_on(33, true), frame(kind::PING, 0, 0, b"midnight")].concat());
    server.arrive(&settings(&[(INITIAL_WINDOW_SIZE, 0)]));
    let stream = server.seen.streams[&33];
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    server.sender().headers(stream, &mut head, false);
    server.sender().headers(stream, &mut trailers, true);
    let kinds: Vec<u8> = frames(&server.take_output()).iter().map(|heard| heard.kind).collect();
    assert_eq!(kinds, [kind::PING, kind::SETTINGS, kind::HEADERS, kind::HEADERS]);
    assert_eq!(server.error, None);
}

#[test]
fn data_in_error_counts_and_is_given_back() {
    let mut config = ConnectionConfig::trusted();
    config.connection_window_bytes = 65_535;
    let mut server = greeted(Side::Server, &config);
    // Each stream has ended before its DATA comes, which is an error of that stream.
    let mut sent_bytes = 0;
    let mut given_bytes = 0;
    for id in (1..40).step_by(2) {
        server.arrive(&request_on(id, true));
        server.arrive(&frame(kind::DATA, 0, id, &[7; 16_384]));
        sent_bytes += 16_384;
        for heard in frames(&server.take_output()) {
            if heard.kind == kind::WINDOW_UPDATE {
                given_bytes += heard.number_at(0);
            }
        }
    }
    assert_eq!(server.error, None, "the window is kept open");
    assert!(sent_bytes - given_bytes < 65_535 / 2, "{given_bytes} of {sent_bytes} given back");
    // What was not given back does count: more than is open is more than is allowed.
    let mut greedy = greeted(Side::Server, &config);
    greedy.seen.keeps_bodies = true;
    greedy.arrive(&request_on(1, false));
    greedy.arrive(&frame(kind::DATA, 0, 1, &[7; 16_384]).repeat(4));
    assert_eq!(error_of(&greedy), Some(ErrorCode::FLOW_CONTROL_ERROR));
}

#[test]
fn codes_that_nobody_knows_are_passed_on_as_they_came() {
    let (mut client, _) = waiting_client();
    let code = ErrorCode(0xdead_beef);
    client.arrive(&frame(kind::RST_STREAM, 0, 1, &code.0.to_be_bytes()));
    client.arrive(&frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0xde, 0xad, 0xbe, 0xef]));
    let goaway = Event::Goaway { last_stream_id: 1, code, debug: String::new() };
    assert_eq!(client.events(), [Event::Reset { id: 1, code, by: Initiator::Peer }, goaway]);
    assert_eq!((client.error, client.take_output()), (None, vec![]));
}

#[test]
fn pseudo_header_fields_of_the_other_side_are_malformed() {
    for field in [(":path", "/"), (":method", "POST"), (":test", "ok")] {
        let (mut client, _) = waiting_client();
        let block = encoded(&[(":status", "200"), field]);
        client.arrive(&frame(kind::HEADERS, flag::END_HEADERS, 1, &block));
        let code = ErrorCode::PROTOCOL_ERROR;
        assert_eq!(client.events(), [Event::Reset { id: 1, code, by: Initiator::Library }]);
    }
}

#[test]
fn a_request_has_each_pseudo_header_field_once_and_first_of_all() {
    let names = request::head("http", "/a/B", "host:1").map(|(name, _)| name);
    let pseudo: [&[u8]; 4] = [b":method", b":scheme", b":path", b":authority"];
    assert_eq!(names[..4], pseudo);
    assert!(names[4..].iter().all(|name| !name.starts_with(b":")));
}

#[test]
fn fields_of_a_connection_and_host_are_no_metadata() {
    let fields = [
        "connection",
        "host",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
        "te",
    ];
    for name in fields {
        let refused = Err(MetadataError::Reserved(name.to_owned()));
        assert_eq!(Metadata::new().push(name, b"x"), refused);
        if name != "host" {
            assert_eq!(Metadata::new().push_to_response(name, b"x"), refused);
        }
    }
}

#[test]
fn a_stream_that_is_refused_was_shown_to_nobody() {
    let mut config = ConnectionConfig::trusted();
    config.settings.max_concurrent_streams = Some(1);
    let mut server = greeted(Side::Server, &config);
    server.arrive(&[request_on(1, false), request_on(3, false)].concat());
    server.arrive(&frame(kind::DATA, flag::END_STREAM, 3, b"body"));
    let [reset] = &frames(&server.take_output())[..] else {
        panic!("one RST_STREAM");
    };
    assert_eq!((reset.kind, reset.stream_id), (kind::RST_STREAM, 3));
    assert_eq!(reset.payload, ErrorCode::REFUSED_STREAM.0.to_be_bytes());
    let [Event::Headers { id: 1, .. }] = server.events()[..] else {
        panic!("nothing of stream 3");
    };
}

#[test]
fn a_field_may_stand_in_the_dynamic_table_twice() {
    let mut decoder = Decoder::new(4_096);
    let mut list = HeaderList::new(1 << 16, 100);
    decoder.decode(&b"\x40\x01a\x011".repeat(2), &mut list).unwrap();
    assert_eq!((list.len(), decoder.table_fields().count()), (2, 2));
    decoder.decode(&[0x80 | 62, 0x80 | 63], &mut list).unwrap();
    assert!(list.iter().all(|field| (field.name, field.value) == (b"a", b"1")));
}
