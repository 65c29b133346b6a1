//! What a peer breaks, and the code that RFC 9113 names for it: one row for each case in which
//! h2spec is content with any end of the connection, and for what it does not look at.
//!
//! Numbers in front are h2spec's (RFC 7540's, which RFC 9113 kept but for section 8.1); "9113"
//! marks rules that it does not test.

mod pair;

use bookend_testing::{frame, frames};
use bookend_wire::frame::{PREFACE, flag, kind};
use bookend_wire::hpack::{Encoder, Indexing};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, Side};
use pair::{End, RESPONSE, TRAILERS};

const PROTOCOL: Ends = Ends::Connection(ErrorCode::PROTOCOL_ERROR);
const SIZE: Ends = Ends::Connection(ErrorCode::FRAME_SIZE_ERROR);
const FLOW: Ends = Ends::Connection(ErrorCode::FLOW_CONTROL_ERROR);
const CLOSED: Ends = Ends::Connection(ErrorCode::STREAM_CLOSED);
const COMPRESSION: Ends = Ends::Connection(ErrorCode::COMPRESSION_ERROR);
const CALM: Ends = Ends::Connection(ErrorCode::ENHANCE_YOUR_CALM);
const STREAM_PROTOCOL: Ends = Ends::StreamKey(ErrorCode::PROTOCOL_ERROR);
const STREAM_SIZE: Ends = Ends::StreamKey(ErrorCode::FRAME_SIZE_ERROR);
const STREAM_FLOW: Ends = Ends::StreamKey(ErrorCode::FLOW_CONTROL_ERROR);
const STREAM_CLOSED: Ends = Ends::StreamKey(ErrorCode::STREAM_CLOSED);

/// What ends, and with what code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Nothing,
    Connection(ErrorCode),
    StreamKey(ErrorCode),
}

/// What breaks the rule, the bytes, what ends. Stream 1 is open, 3 half-closed by the client, 5
/// over, 7 reset by the client; 9 and above are idle, but 11 which was passed over.
type Case = (&'static str, Vec<u8>, Ends);

fn server() -> End {
    let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
    server.arrive(PREFACE);
    server.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    for (id, end_stream) in [(1, false), (3, true), (5, true), (7, false), (9, false), (13, false)]
    {
        server.arrive(&request(id, end_stream));
    }
    let stream = server.seen.streams[&5];
    server.sender().headers(stream, &mut HeaderBlock::new(&TRAILERS), true);
    server.arrive(&frame(kind::RST_STREAM, 0, 7, &[0, 0, 0, 8]));
    assert_eq!(server.error, None);
    server.take_output();
    server
}

fn request(id: u32, end_stream: bool) -> Vec<u8> {
    heads(id, &[0x83, 0x86, 0x84], end_stream)
}

fn heads(id: u32, block: &[u8], end_stream: bool) -> Vec<u8> {
    let end = if end_stream { flag::END_STREAM } else { 0 };
    frame(kind::HEADERS, flag::END_HEADERS | end, id, block)
}

/// What `bytes` end on a connection as described at [`Case`].
fn ended_by(bytes: &[u8]) -> Ends {
    ended_on(&mut server(), bytes)
}

fn ended_on(end: &mut End, bytes: &[u8]) -> Ends {
    end.arrive(bytes);
    let written = frames(&end.take_output());
    if let Some(error) = end.error {
        let goaway = written.last().expect("a GOAWAY");
        assert_eq!((goaway.kind, goaway.number_at(4)), (kind::GOAWAY, error.code.0));
        return Ends::Connection(error.code);
    }
    let reset = written.iter().find(|heard| heard.kind == kind::RST_STREAM);
    reset.map_or(Ends::Nothing, |reset| Ends::StreamKey(ErrorCode(reset.number_at(0))))
}

fn check(cases: &[Case]) {
    for (what, bytes, ends) in cases {
        assert_eq!(ended_by(bytes), *ends, "{what}");
    }
}

fn any(kind: u8, flags: u8, id: u32, bytes: &[u8]) -> Vec<u8> {
    frame(kind, flags, id, bytes)
}

fn setting(id: u16, value: u32) -> Vec<u8> {
    let [a, b] = id.to_be_bytes();
    let [c, d, e, f] = value.to_be_bytes();
    any(kind::SETTINGS, 0, 0, &[a, b, c, d, e, f])
}

fn update(id: u32, increment: u32) -> Vec<u8> {
    any(kind::WINDOW_UPDATE, 0, id, &increment.to_be_bytes())
}

fn oversized(kind: u8, id: u32) -> Vec<u8> {
    any(kind, flag::END_HEADERS, id, &[0; 16_385])
}

#[test]
fn control_of_a_control_that_nothing_ends() {
    check(&[
        ("a request", request(15, true), Ends::Nothing),
        ("9113: PRIORITY on a closed stream", any(kind::PRIORITY, 0, 5, &[0; 5]), Ends::Nothing),
        ("4.1/1: an unknown type", any(0x16, 0, 0, &[0; 8]), Ends::Nothing),
        ("9113: WINDOW_UPDATE that crossed the end", update(5, 1), Ends::Nothing),
        ("9113: an unknown setting", setting(0xff, 1), Ends::Nothing),
    ]);
}

#[test]
fn lengths() {
    let of = |kind, id, length: usize| any(kind, 0, id, &vec![0; length]);
    check(&[
        ("4.2/2: DATA above the limit", oversized(kind::DATA, 1), SIZE),
        ("4.2/3: HEADERS above the limit", oversized(kind::HEADERS, 15), SIZE),
        ("9113: SETTINGS above the limit", oversized(kind::SETTINGS, 0), SIZE),
        ("9113: an unknown type above the limit", oversized(0x77, 0), SIZE),
        ("6.3/2: PRIORITY of four", of(kind::PRIORITY, 1, 4), STREAM_SIZE),
        ("6.3/2: PRIORITY of four on a closed stream", of(kind::PRIORITY, 5, 4), STREAM_SIZE),
        ("9113: PRIORITY of six", of(kind::PRIORITY, 1, 6), STREAM_SIZE),
        ("6.4/3: RST_STREAM of three", of(kind::RST_STREAM, 1, 3), SIZE),
        ("9113: RST_STREAM of five", of(kind::RST_STREAM, 1, 5), SIZE),
        ("6.5/1: an ACK with settings", any(kind::SETTINGS, flag::ACK, 0, &[0; 6]), SIZE),
        ("6.5/3: SETTINGS of three", of(kind::SETTINGS, 0, 3), SIZE),
        ("6.7/4: PING of six", of(kind::PING, 0, 6), SIZE),
        ("9113: PING of nine", of(kind::PING, 0, 9), SIZE),
        ("9113: GOAWAY of seven", of(kind::GOAWAY, 0, 7), SIZE),
        ("6.9/3: WINDOW_UPDATE of three", of(kind::WINDOW_UPDATE, 0, 3), SIZE),
        ("9113: WINDOW_UPDATE of five", of(kind::WINDOW_UPDATE, 1, 5), SIZE),
    ]);
}

#[test]
fn padding_and_priority_within_a_frame() {
    check(&[
        ("9113: padding of nothing", any(kind::DATA, flag::PADDED, 1, &[]), SIZE),
        ("9113: HEADERS without its priority", any(kind::HEADERS, 0x24, 15, &[0; 4]), SIZE),
        (
            "6.1/3: padding as long as the frame",
            any(kind::DATA, flag::PADDED, 1, &[2, 0]),
            PROTOCOL,
        ),
        ("6.2/4: the same of HEADERS", any(kind::HEADERS, 0xc, 15, &[2, 0x83]), PROTOCOL),
    ]);
}

#[test]
fn streams_that_a_frame_may_not_name() {
    let first = |kind, id| any(kind, 0, id, &[0; 8]);
    check(&[
        ("6.1/1: DATA on 0", first(kind::DATA, 0), PROTOCOL),
        ("6.2/3: HEADERS on 0", heads(0, &[0x83], true), PROTOCOL),
        ("6.3/1: PRIORITY on 0", any(kind::PRIORITY, 0, 0, &[0; 5]), PROTOCOL),
        ("6.4/1: RST_STREAM on 0", any(kind::RST_STREAM, 0, 0, &[0; 4]), PROTOCOL),
        ("6.5/2: SETTINGS on 1", any(kind::SETTINGS, 0, 1, &[]), PROTOCOL),
        ("6.7/3: PING on 1", first(kind::PING, 1), PROTOCOL),
        ("6.8/1: GOAWAY on 1", first(kind::GOAWAY, 1), PROTOCOL),
        ("6.10/3: CONTINUATION on 0", first(kind::CONTINUATION, 0), PROTOCOL),
        ("8.2/1: PUSH_PROMISE", any(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]), PROTOCOL),
    ]);
}

#[test]
fn streams_that_were_not_opened() {
    let first = |kind, id| any(kind, 0, id, &[0; 8]);
    check(&[
        ("5.1.1/1: an even stream", request(16, true), PROTOCOL),
        ("5.1.1/2: a stream that was passed over", request(11, true), PROTOCOL),
        ("5.1/1: DATA on an idle stream", first(kind::DATA, 15), PROTOCOL),
        (
            "5.1/2, 6.4/2: RST_STREAM on an idle stream",
            any(kind::RST_STREAM, 0, 15, &[0; 4]),
            PROTOCOL,
        ),
        ("5.1/3: WINDOW_UPDATE on an idle stream", update(15, 1), PROTOCOL),
        ("5.1/4: CONTINUATION on an idle stream", first(kind::CONTINUATION, 15), PROTOCOL),
    ]);
}

#[test]
fn streams_that_have_ended() {
    let first = |kind, id| any(kind, 0, id, &[0; 8]);
    check(&[
        ("5.1/5, 6.1/2: DATA behind END_STREAM", first(kind::DATA, 3), STREAM_CLOSED),
        ("5.1/6: HEADERS behind END_STREAM", request(3, true), STREAM_CLOSED),
        ("5.1/7: CONTINUATION behind END_STREAM", first(kind::CONTINUATION, 3), PROTOCOL),
        ("5.1/8: DATA behind RST_STREAM", first(kind::DATA, 7), CLOSED),
        ("5.1/9: HEADERS behind RST_STREAM", request(7, true), CLOSED),
        ("5.1/10: CONTINUATION behind RST_STREAM", first(kind::CONTINUATION, 7), PROTOCOL),
        ("5.1/11: DATA on a closed stream", first(kind::DATA, 5), CLOSED),
        ("5.1/12: HEADERS on a closed stream", request(5, true), CLOSED),
        ("5.1/13: CONTINUATION on a closed stream", first(kind::CONTINUATION, 5), PROTOCOL),
    ]);
}

#[test]
fn header_blocks_that_are_broken_off_or_go_on_for_ever() {
    let begun = || any(kind::HEADERS, 0, 15, &[0x83]);
    let more = |flags, id| any(kind::CONTINUATION, flags, id, &[0x86]);
    let then = |next: Vec<u8>| [begun(), next].concat();
    let whole = request(15, false);
    let endless = [begun(), more(0, 15).repeat(9)].concat();
    let of_nothing = [begun(), any(kind::CONTINUATION, 0, 15, &[]).repeat(9)].concat();
    let large = any(kind::CONTINUATION, 0, 15, &[0; 16_384]);
    check(&[
        ("4.3/2, 6.2/1: PRIORITY within", then(any(kind::PRIORITY, 0, 15, &[0; 5])), PROTOCOL),
        ("4.3/3, 6.2/2: another stream within", then(request(17, true)), PROTOCOL),
        ("5.5/2: an unknown type within", then(any(0x16, 0, 0, &[0; 8])), PROTOCOL),
        ("6.10/2: DATA within", then(any(kind::DATA, 0, 15, &[0])), PROTOCOL),
        ("9113: CONTINUATION of another stream", then(more(4, 1)), PROTOCOL),
        ("6.10/4-5: CONTINUATION behind the end", [whole.clone(), more(4, 15)].concat(), PROTOCOL),
        (
            "6.10/6: CONTINUATION behind DATA",
            [whole, any(kind::DATA, 0, 15, &[0]), more(4, 15)].concat(),
            PROTOCOL,
        ),
        ("10.5.1: CONTINUATION without end", endless, CALM),
        ("10.5.1: CONTINUATION of nothing without end", of_nothing, CALM),
        ("10.5.1: a block above four lists", then(large.repeat(4)), CALM),
    ]);
}

#[test]
fn settings() {
    check(&[
        ("6.5.2/1: a push that is neither", setting(2, 2), PROTOCOL),
        ("6.5.2/2, 6.9.2/3: a window above 2^31-1", setting(4, 1 << 31), FLOW),
        ("6.5.2/3: a frame below 2^14", setting(5, 16_383), PROTOCOL),
        ("6.5.2/4: a frame above 2^24-1", setting(5, 1 << 24), PROTOCOL),
        (
            "9113: a window that SETTINGS move past 2^31-1",
            [update(1, 0x7fff_0000), setting(4, 0x7fff_ffff)].concat(),
            FLOW,
        ),
    ]);
}

#[test]
fn settings_that_a_server_may_not_send() {
    let client = || {
        let mut client = End::new(Side::Client, &ConnectionConfig::trusted());
        client.take_output();
        client
    };
    let cases = [
        ("9113, 6.5.2: push is allowed", setting(2, 1), PROTOCOL),
        ("frames of nothing", setting(5, 0), PROTOCOL),
        ("a window above 2^31-1", setting(4, u32::MAX), FLOW),
        ("no push", setting(2, 0), Ends::Nothing),
        ("no streams", setting(3, 0), Ends::Nothing),
    ];
    for (what, bytes, ends) in cases {
        assert_eq!(ended_on(&mut client(), &bytes), ends, "{what}");
    }
    let promise = any(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]);
    let greeted = [any(kind::SETTINGS, 0, 0, &[]), promise].concat();
    assert_eq!(ended_on(&mut client(), &greeted), PROTOCOL);
}

#[test]
fn windows() {
    let mut narrow = ConnectionConfig::trusted();
    narrow.settings.initial_window_bytes = 65_535;
    narrow.connection_window_bytes = 65_535;
    check(&[
        ("6.9/1: by nothing", update(0, 0), PROTOCOL),
        ("6.9/2: by nothing, of a stream", update(1, 0), STREAM_PROTOCOL),
        ("6.9.1/2: past 2^31-1", update(0, 0x7fff_ffff), FLOW),
        ("6.9.1/3: past 2^31-1, of a stream", update(1, 0x7fff_ffff), STREAM_FLOW),
    ]);
    let overrun = |config: &ConnectionConfig, ids: [u32; 2]| {
        let mut server = End::new(Side::Server, config);
        server.seen.keeps_bodies = true;
        server.arrive(&[PREFACE.to_vec(), any(kind::SETTINGS, 0, 0, &[])].concat());
        server.arrive(&[request(1, false), request(3, false)].concat());
        server.take_output();
        let body = |id: u32| any(kind::DATA, 0, id, &[0; 16_384]).repeat(2);
        let bodies = [body(ids[0]), body(ids[1]), any(kind::DATA, 0, 1, &[0])].concat();
        ended_on(&mut server, &bodies)
    };
    assert_eq!(overrun(&narrow, [1, 3]), FLOW, "9113, 6.9.1: the connection's");
    narrow.connection_window_bytes = 1 << 20;
    assert_eq!(overrun(&narrow, [1, 1]), STREAM_FLOW, "9113, 6.9.1: the stream's");
    assert_eq!(overrun(&narrow, [1, 3]), Ends::Nothing);
}

const GOOD: [(&str, &str); 3] = [(":method", "POST"), (":scheme", "http"), (":path", "/a/b")];

/// A request with that head and no body.
fn with(fields: &[(&str, &str)]) -> Vec<u8> {
    heads(15, &encoded(fields), true)
}

/// A good request, with that at the end of its head.
fn but(fields: &[(&'static str, &'static str)]) -> Vec<u8> {
    with(&[&GOOD[..], fields].concat())
}

fn connect(fields: &[(&'static str, &'static str)]) -> Vec<u8> {
    with(&[&[(":method", "CONNECT")], fields].concat())
}

fn each_ends_its_stream_alone(cases: &[(&str, Vec<u8>)]) {
    for (what, bytes) in cases {
        assert_eq!(ended_by(bytes), STREAM_PROTOCOL, "{what}");
    }
}

#[test]
fn heads_without_what_a_request_needs_end_their_stream_alone() {
    each_ends_its_stream_alone(&[
        ("8.1/1: a second head", request(1, false)),
        ("8.1.2.1/1: an unknown pseudo-header", but(&[(":test", "ok")])),
        ("8.1.2.1/2: a response's pseudo-header", but(&[(":status", "200")])),
        (
            "8.1.2.1/3: a pseudo-header in trailers",
            heads(1, &encoded(&[(":method", "POST")]), true),
        ),
        ("8.1.2.1/4: a pseudo-header behind a field", but(&[("a", "b"), (":authority", "c")])),
        (
            "8.1.2.3/1: an empty :path",
            with(&[(":method", "POST"), (":scheme", "http"), (":path", "")]),
        ),
        ("8.1.2.3/2: no :method", with(&GOOD[1..])),
        ("8.1.2.3/3: no :scheme", with(&[GOOD[0], GOOD[2]])),
        ("8.1.2.3/4: no :path", with(&GOOD[..2])),
        ("8.1.2.3/5: :method twice", but(&[(":method", "POST")])),
        ("8.1.2.3/6: :scheme twice", but(&[(":scheme", "http")])),
        ("8.1.2.3/7: :path twice", but(&[(":path", "/")])),
        ("9113, 8.3.1: host that disagrees", but(&[(":authority", "a"), ("host", "b")])),
        ("9113, 8.5: CONNECT without authority", connect(&[])),
        ("9113, 8.5: CONNECT with :path", connect(&[(":authority", "a:1"), (":path", "/")])),
    ]);
    assert_eq!(ended_by(&but(&[(":authority", "a"), ("host", "A")])), Ends::Nothing);
    assert_eq!(ended_by(&connect(&[(":authority", "a:1")])), Ends::Nothing);
}

#[test]
fn fields_that_are_malformed_end_their_stream_alone() {
    let one = [&GOOD[..], &[("content-length", "1")]].concat();
    let short =
        [heads(15, &encoded(&one), false), any(kind::DATA, flag::END_STREAM, 15, b"ab")].concat();
    each_ends_its_stream_alone(&[
        ("8.1.2/1: an upper-case name", but(&[("X-Test", "a")])),
        ("8.1.2.2/1: connection", but(&[("connection", "keep-alive")])),
        ("8.1.2.2/2: te that is not trailers", but(&[("te", "trailers, deflate")])),
        ("9113: transfer-encoding", but(&[("transfer-encoding", "chunked")])),
        ("8.1.2.6/1: less than content-length", but(&[("content-length", "1")])),
        ("8.1.2.6/2: more than content-length", short),
        ("9113: two content-lengths", but(&[("content-length", "0"), ("content-length", "1")])),
        ("9113: content-length with a sign", but(&[("content-length", "+0")])),
        ("9113, 8.2.1: a blank before a value", but(&[("a", " b")])),
        ("9113, 8.2.1: a tab behind a value", but(&[("a", "b\t")])),
        ("9113, 8.2.1: a line within a value", but(&[("a", "b\r\nc: d")])),
        ("9113, 8.2.1: a blank in a name", but(&[("a b", "c")])),
        ("9113, 8.2.1: an empty name", but(&[("", "c")])),
    ]);
}

#[test]
fn responses_that_are_malformed_end_their_stream_alone() {
    let answered = |blocks: &[(&[(&str, &str)], bool)]| {
        let mut client = End::new(Side::Client, &ConnectionConfig::trusted());
        client.arrive(&any(kind::SETTINGS, 0, 0, &[]));
        let mut head = HeaderBlock::new(&pair::REQUEST);
        client.sender().request(&mut head, &[], b"").expect("a stream");
        client.take_output();
        let bytes: Vec<u8> = blocks
            .iter()
            .flat_map(|(fields, end_stream)| heads(1, &encoded(fields), *end_stream))
            .collect();
        ended_on(&mut client, &bytes)
    };
    let text = |bytes: &'static [u8]| std::str::from_utf8(bytes).expect("ASCII");
    let head: Vec<_> = RESPONSE.iter().map(|(name, value)| (text(name), text(value))).collect();
    assert_eq!(answered(&[(&head, false), (&[("grpc-status", "0")], true)]), Ends::Nothing);
    assert_eq!(answered(&[(&[("grpc-status", "0")], true)]), STREAM_PROTOCOL, "no :status");
    assert_eq!(answered(&[(&[(":status", "20")], true)]), STREAM_PROTOCOL, "two digits");
    assert_eq!(answered(&[(&[(":status", "100")], true)]), STREAM_PROTOCOL, "1xx ends nothing");
    let again = [(":status", "200")];
    assert_eq!(answered(&[(&head, false), (&again, true)]), STREAM_PROTOCOL, "trailers");
}

#[test]
fn hpack() {
    let block = |bytes: &[u8]| heads(15, bytes, true);
    let literal = |bytes: &[u8]| block(&[&[0x83, 0x86, 0x84, 0x00, 0x01, b'a'], bytes].concat());
    check(&[
        ("4.3/1, hpack 2.3.3/1: an index beyond the tables", block(&[0xff, 0x20]), COMPRESSION),
        ("hpack 2.3.3/2: a name beyond the tables", block(&[0x7f, 0x20, 1, b'a']), COMPRESSION),
        ("hpack 4.2/1: a size update at the end", block(&[0x83, 0x86, 0x84, 0x20]), COMPRESSION),
        ("hpack 5.2/1: padding above seven bits", literal(&[0x82, 0x1f, 0xff]), COMPRESSION),
        ("hpack 5.2/2: padding of zeros", literal(&[0x81, 0x18]), COMPRESSION),
        ("hpack 5.2/3: EOS", literal(&[0x84, 0xff, 0xff, 0xff, 0xff]), COMPRESSION),
        ("hpack 6.1/1: index 0", block(&[0x80]), COMPRESSION),
        ("hpack 6.3/1: a table above the limit", block(&[0x3f, 0xe2, 0x1f, 0x83]), COMPRESSION),
        ("a string beyond the block", literal(&[0x7f, 0x80, 0x80, 0x80, 0x08]), COMPRESSION),
        (
            "an integer of more than five bytes",
            literal(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
            COMPRESSION,
        ),
    ]);
}

#[test]
fn prefaces() {
    let greeted_by = |bytes: &[u8]| {
        let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
        server.take_output();
        ended_on(&mut server, bytes)
    };
    let with = |bytes: Vec<u8>| [PREFACE.to_vec(), bytes].concat();
    assert_eq!(greeted_by(b"INVALID CONNECTION PREFACE\r\n\r\n"), PROTOCOL, "3.5/2");
    assert_eq!(greeted_by(b"GET / HTTP/1.1\r\n\r\n"), PROTOCOL);
    assert_eq!(greeted_by(&with(request(1, true))), PROTOCOL, "SETTINGS come first");
    let ack = any(kind::SETTINGS, flag::ACK, 0, &[]);
    assert_eq!(greeted_by(&with(ack)), PROTOCOL, "their acknowledgement does not");
    assert_eq!(greeted_by(&with(any(kind::SETTINGS, 0, 0, &[]))), Ends::Nothing);
}

/// Literals that enter no table.
fn encoded(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut encoder = Encoder::new(0);
    let mut block = Vec::new();
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Never, &mut block);
    }
    block
}
