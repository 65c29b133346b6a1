//! However the bytes are cut, the same events are reported: the strongest single property of a
//! decoder.

mod pair;

use bookend_testing::{Frame, frame, frames};
use bookend_wire::frame::{flag, kind};
use bookend_wire::{
    ConnectionConfig, ErrorCode, ExtraField, HeaderBlock, Indexing, Initiator, Side,
};
use pair::{Answer, End, Event, Pair, REQUEST, RESPONSE, TRAILERS};

/// What a client writes in an eventful life: all kinds of frames, padding, CONTINUATION, a reset.
fn client_bytes() -> Vec<u8> {
    let mut client = End::new(Side::Client, &ConnectionConfig::trusted());
    let mut bytes = client.take_output();
    client.arrive(&frame(kind::SETTINGS, 0, 0, &[]));
    let mut head = HeaderBlock::new(&REQUEST);
    let extra = [ExtraField { name: b"trace-bin", value: b"AAEC", indexing: Indexing::Never }];
    client.sender().request(&mut head, &[], b"first").unwrap();
    client.sender().request(&mut head, &extra, b"second").unwrap();
    let stream = client.sender().open().unwrap();
    client.sender().headers(stream, &mut head, false);
    client.sender().data(stream, &[7; 20_000], false);
    client.sender().ping(*b"12345678");
    client.sender().reset(stream, ErrorCode::CANCEL);
    let mut long = HeaderBlock::new(&REQUEST);
    long.push(b"long", &[b'~'; 20_000]);
    let stream = client.sender().open().unwrap();
    client.sender().headers(stream, &mut long, true);
    bytes.extend(client.take_output());
    bytes.extend(frame(kind::PRIORITY, 0, 9, &[0, 0, 0, 1, 5]));
    bytes.extend(frame(0xfa, 0xff, 77, b"a frame of the future"));
    bytes.extend(frame(kind::WINDOW_UPDATE, 0, 0, &9_u32.to_be_bytes()));
    bytes.extend(frame(kind::GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\0so long"));
    bytes
}

/// What a server writes: answers, trailers only, a large body, padding.
fn server_bytes() -> Vec<u8> {
    let mut server = End::new(Side::Server, &ConnectionConfig::trusted());
    server.arrive(&client_bytes());
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    for id in [1, 3] {
        let stream = server.seen.streams[&id];
        let encode = |output: &mut Vec<u8>| output.extend_from_slice(&[id as u8; 17_000]);
        server.sender().reply(stream, &mut head, &mut trailers, encode);
    }
    server.sender().goaway(ErrorCode::ENHANCE_YOUR_CALM, b"enough");
    server.take_output()
}

/// Bodies are reported in pieces that follow frames, so pieces count as they come.
fn told(side: Side, pieces: &[&[u8]]) -> Vec<Event> {
    let mut end = End::new(side, &ConnectionConfig::trusted());
    if side == Side::Client {
        let mut head = HeaderBlock::new(&REQUEST);
        for _ in 0..4 {
            end.sender().request(&mut head, &[], b"").unwrap();
        }
    }
    pieces.iter().for_each(|piece| end.arrive(piece));
    assert_eq!(end.error, None);
    end.events()
}

fn assert_split_changes_nothing(side: Side, bytes: &[u8]) {
    let whole = told(side, &[bytes]);
    assert!(whole.len() > 5, "{whole:?}");
    let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(told(side, &one_by_one), whole);
    // Each place near a border of frames, and a sample of those in the middle of large bodies.
    let places = (0..bytes.len()).filter(|at| *at < 2_000 || at % 97 == 0);
    for at in places {
        let (front, back) = bytes.split_at(at);
        assert_eq!(told(side, &[front, back]), whole, "cut at {at}");
    }
}

#[test]
fn a_server_hears_the_same_however_the_bytes_are_cut() {
    assert_split_changes_nothing(Side::Server, &client_bytes());
}

#[test]
fn a_client_hears_the_same_however_the_bytes_are_cut() {
    assert_split_changes_nothing(Side::Client, &server_bytes());
}

#[test]
fn bytes_behind_the_last_whole_frame_are_left_alone() {
    let bytes = client_bytes();
    let whole = told(Side::Server, &[&bytes]);
    let mut end = End::new(Side::Server, &ConnectionConfig::trusted());
    let mut longer = bytes.clone();
    longer.extend_from_slice(&[0, 0, 4, kind::PING, 0]);
    let consumed = end.connection.receive(&longer, &mut end.seen).unwrap();
    assert_eq!(consumed, bytes.len());
    assert_eq!(end.events(), whole);
}

#[test]
fn padding_is_taken_off_and_its_bytes_are_given_back() {
    let mut pair = pair::Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::trusted());
    let mut head = HeaderBlock::new(&REQUEST);
    let stream = pair.client.sender().open().unwrap();
    pair.client.sender().headers(stream, &mut head, false);
    pair.drive();
    pair.server.events();
    let payload = [&[3][..], b"data", &[0; 3]].concat();
    pair.server.arrive(&frame(kind::DATA, flag::PADDED | flag::END_STREAM, 1, &payload));
    let data = Event::Data { id: 1, bytes: b"data".to_vec(), end_stream: true };
    assert_eq!(pair.server.events(), [data]);
}

/// Responses to `calls` calls, with messages of a byte, each another.
fn small_responses(calls: u32) -> (End, Vec<u8>) {
    responses(calls, |call| call as u8)
}

/// Responses to `calls` calls, each with the byte that `message` gives it.
fn responses(calls: u32, message: fn(u32) -> u8) -> (End, Vec<u8>) {
    let config = ConnectionConfig::trusted();
    let Pair { mut client, mut server, .. } = Pair::greeted(&config, &config);
    let mut request = HeaderBlock::new(&REQUEST);
    for _ in 0..calls {
        client.sender().request(&mut request, &[], b"ask").unwrap();
    }
    server.arrive(&client.take_output());
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    for call in 0..calls {
        let stream = server.seen.streams[&(2 * call + 1)];
        server.sender().reply(stream, &mut head, &mut trailers, |bytes| bytes.push(message(call)));
    }
    (client, server.take_output())
}

#[test]
fn a_response_that_lies_whole_in_what_was_read_is_told_as_its_frames_are() {
    const CALLS: u32 = 20;
    let (mut whole, bytes) = small_responses(CALLS);
    whole.arrive(&bytes);
    assert!(whole.seen.whole_responses >= CALLS as usize - 2, "{}", whole.seen.whole_responses);
    let (mut cut, bytes) = small_responses(CALLS);
    bytes.chunks(1).for_each(|byte| cut.arrive(byte));
    assert_eq!(cut.seen.whole_responses, 0);
    assert_eq!((&whole.error, &cut.error), (&None, &None));
    assert_eq!(whole.events(), cut.events());
    assert_eq!((whole.sender().live_streams(), cut.sender().live_streams()), (0, 0));
}

#[test]
fn a_response_that_differs_from_the_last_one_in_a_bit_is_told_as_its_frames_are() {
    const CALLS: u32 = 4;
    let [all, all_but_one] = [CALLS, CALLS - 1].map(|calls| responses(calls, |_| b'x').1.len());

    // The last one: those before it are equal but for the first, whose head fills the table.
    for at in all_but_one..all {
        for bit in 0..8 {
            let (mut whole, mut bytes) = responses(CALLS, |_| b'x');
            bytes[at] ^= 1 << bit;
            // What follows is compared as well, so that the response does not end the input.
            bytes.extend(frame(kind::PING, 0, 0, b"12345678").repeat(8));
            whole.arrive(&bytes);
            let (mut cut, _) = responses(CALLS, |_| b'x');
            bytes.chunks(1).for_each(|byte| cut.arrive(byte));
            assert_eq!(whole.error, cut.error, "bit {bit} of byte {at}");
            assert_eq!(whole.events(), cut.events(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_whole_response_that_breaks_a_rule_is_left_to_its_frames() {
    let (mut client, bytes) = small_responses(3);
    client.arrive(&bytes);
    // Once more: the streams have ended.
    client.arrive(&bytes);
    assert!(client.error.is_some());
    let (mut client, bytes) = small_responses(3);
    let mut early = frame(kind::HEADERS, flag::END_HEADERS, 7, b"\x88");
    early.extend(&bytes);
    client.arrive(&early);
    assert!(client.error.is_some(), "a head on a stream that nobody opened");
}

const LENGTH: (&[u8], &[u8]) = (b"content-length", b"8");

/// A server that answers each request with `bytes` bytes, and requests to it.
fn small_requests(
    calls: u32,
    extra: &[(&[u8], &[u8])],
    reply_bytes: usize,
    client: &ConnectionConfig,
) -> (End, Vec<u8>) {
    let Pair { mut client, mut server, .. } = Pair::greeted(client, &ConnectionConfig::trusted());
    let mut request = HeaderBlock::new(&[&REQUEST[..], extra].concat());
    for _ in 0..calls {
        client.sender().request(&mut request, &[], b"ask").unwrap();
    }
    server.seen.answer = Some(Answer::new(&vec![b'!'; reply_bytes]));
    (server, client.take_output())
}

/// What a server reports and what it writes, with its input in these pieces.
fn heard_and_written(mut server: End, pieces: &[&[u8]]) -> (Vec<Event>, Vec<u8>, usize) {
    pieces.iter().for_each(|piece| server.arrive(piece));
    assert_eq!(server.error, None);
    let whole = server.seen.whole_requests;
    (server.events(), server.take_output(), whole)
}

#[test]
fn a_request_that_lies_whole_in_what_was_read_is_told_and_answered_as_its_frames_are() {
    const CALLS: u32 = 20;
    let (wide, mut narrow) = (ConnectionConfig::trusted(), ConnectionConfig::trusted());
    narrow.settings.initial_window_bytes = 10;
    narrow.connection_window_bytes = 0;
    for (config, reply_bytes) in [(&wide, 3), (&wide, 20_000), (&narrow, 3), (&narrow, 30)] {
        for extra in [&[][..], &[LENGTH]] {
            let make = || small_requests(CALLS, extra, reply_bytes, config);
            let (server, bytes) = make();
            let (events, written, whole) = heard_and_written(server, &[&bytes]);
            assert!(whole >= CALLS as usize - 3, "{whole}");
            let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
            let cut = heard_and_written(make().0, &one_by_one);
            assert_eq!(cut, (events.clone(), written.clone(), 0), "{reply_bytes}");
            for at in 0..bytes.len() {
                let (front, back) = bytes.split_at(at);
                let (told, output, _) = heard_and_written(make().0, &[front, back]);
                assert_eq!((&told, &output), (&events, &written), "cut at {at}");
            }
        }
    }
}

/// Requests whose frames are in another order, as some clients write them.
fn in_another_order(bytes: &[u8], order: Order) -> Vec<u8> {
    let raw = |id, kind, flags, payload: &[u8]| frame(kind, flags, id, payload);
    let (heads, bodies): (Vec<_>, Vec<_>) =
        frames(bytes).into_iter().partition(|heard| heard.kind == kind::HEADERS);
    let head = |heard: &Frame| raw(heard.stream_id, kind::HEADERS, heard.flags, &heard.payload);
    let body = |heard: &Frame| raw(heard.stream_id, kind::DATA, heard.flags, &heard.payload);
    let apart = |heard: &Frame| {
        let id = heard.stream_id;
        let end = raw(id, kind::DATA, flag::END_STREAM, b"");
        [raw(id, kind::DATA, 0, &heard.payload), end].concat()
    };
    let update = |id: u32| raw(id, kind::WINDOW_UPDATE, 0, &300_u32.to_be_bytes());
    let pairs = heads.iter().zip(&bodies);
    match order {
        Order::HeadsFirst => heads.iter().map(head).chain(bodies.iter().map(body)).collect(),
        Order::BodiesBackwards => {
            heads.iter().map(head).chain(bodies.iter().rev().map(body)).collect()
        }
        Order::EndedApart => pairs.map(|(one, other)| [head(one), apart(other)].concat()).collect(),
        Order::HeadsFirstEndedApart => {
            heads.iter().map(head).chain(bodies.iter().map(apart)).collect()
        }
        Order::EndsLast => {
            let part = |heard: &Frame| raw(heard.stream_id, kind::DATA, 0, &heard.payload);
            let end = |heard: &Frame| raw(heard.stream_id, kind::DATA, flag::END_STREAM, b"");
            let all: Vec<Vec<u8>> = heads
                .iter()
                .map(head)
                .chain(bodies.iter().map(part))
                .chain(bodies.iter().map(end))
                .collect();
            all
        }
        Order::UpdateBetween => pairs
            .map(|(one, other)| [head(one), update(one.stream_id), body(other)].concat())
            .collect(),
        Order::UpdatesOfWaiting => {
            let updates = heads.iter().map(|heard| update(heard.stream_id));
            let all: Vec<Vec<u8>> =
                heads.iter().map(head).chain(updates).chain(bodies.iter().map(body)).collect();
            all
        }
    }
    .concat()
}

#[derive(Clone, Copy, Debug)]
enum Order {
    HeadsFirst,
    BodiesBackwards,
    EndedApart,
    HeadsFirstEndedApart,
    EndsLast,
    UpdateBetween,
    UpdatesOfWaiting,
}

/// The events of each stream in their order, with an empty end told with the body before it.
fn stream_by_stream(mut events: Vec<Event>) -> Vec<Event> {
    let id = |event: &Event| match event {
        Event::Headers { id, .. } | Event::Data { id, .. } => *id,
        _ => 0,
    };
    events.sort_by_key(id);
    let is_end = |event: &Event| matches!(event, Event::Data { bytes, .. } if bytes.is_empty());
    let has_empty_ends = events.iter().any(is_end);
    events.retain(|event| !is_end(event));
    for event in &mut events {
        if let Event::Data { end_stream, .. } = event
            && has_empty_ends
        {
            *end_stream = true;
        }
    }
    events
}

#[test]
fn requests_whose_frames_are_mixed_are_told_and_answered_as_their_frames_are() {
    const CALLS: u32 = 8;
    let (wide, mut narrow) = (ConnectionConfig::trusted(), ConnectionConfig::trusted());
    narrow.settings.initial_window_bytes = 10;
    let orders = [
        Order::HeadsFirst,
        Order::BodiesBackwards,
        Order::EndedApart,
        Order::HeadsFirstEndedApart,
        Order::EndsLast,
        Order::UpdateBetween,
        Order::UpdatesOfWaiting,
    ];
    // An answer of 200 bytes passes the narrow window only with the update.
    for (config, reply_bytes) in [(&wide, 3), (&narrow, 3), (&narrow, 200)] {
        for order in orders {
            let make = || {
                let (server, bytes) = small_requests(CALLS, &[LENGTH], reply_bytes, config);
                (server, in_another_order(&bytes, order))
            };
            let (server, bytes) = make();
            let (events, written, whole) = heard_and_written(server, &[&bytes]);
            // The first two or three fill the table of HPACK and the cache.
            assert!(whole >= CALLS as usize - 3, "{order:?}: {whole}");
            let told = stream_by_stream(events);
            let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
            let (events, output, none) = heard_and_written(make().0, &one_by_one);
            assert_eq!(
                (stream_by_stream(events), output, none),
                (told.clone(), written.clone(), 0)
            );
            for at in 0..bytes.len() {
                let (front, back) = bytes.split_at(at);
                let (events, output, _) = heard_and_written(make().0, &[front, back]);
                assert_eq!(stream_by_stream(events), told, "{order:?} cut at {at}");
                assert_eq!(output, written, "{order:?} cut at {at}");
            }
        }
    }
}

/// A server that has heard three whole requests, so that it knows their head, and that head.
fn acquainted(config: &ConnectionConfig) -> (End, Vec<u8>) {
    let Pair { mut client, mut server, .. } = Pair::greeted(&ConnectionConfig::trusted(), config);
    server.seen.answer = Some(Answer::new(b"!"));
    let mut request = HeaderBlock::new(&REQUEST);
    let mut block = Vec::new();
    for _ in 0..3 {
        client.sender().request(&mut request, &[], b"ask").unwrap();
        let bytes = client.take_output();
        block = request_block(&bytes);
        server.arrive(&bytes);
        client.arrive(&server.take_output());
    }
    server.seen.events.clear();
    (server, block)
}

/// What may stand between a body and the end of its stream, in requests whose head is known.
#[test]
fn whatever_comes_between_a_body_and_its_end_the_same_is_told() {
    let (_, block) = acquainted(&ConnectionConfig::trusted());
    let head = |id| frame(kind::HEADERS, flag::END_HEADERS, id, &block);
    let part = |id, bytes: &[u8]| frame(kind::DATA, 0, id, bytes);
    let end = |id| frame(kind::DATA, flag::END_STREAM, id, &[]);
    let reset = frame(kind::RST_STREAM, 0, 7, &ErrorCode::CANCEL.0.to_be_bytes());
    let padded = frame(kind::DATA, flag::PADDED | flag::END_STREAM, 7, &[2, b'b', 0, 0]);
    let heads = [head(7), head(9)].concat();
    let bodies = [part(7, b"seven"), part(9, b"nine")].concat();
    let between: [&[Vec<u8>]; 8] = [
        &[end(7), end(9)],
        &[end(9), end(7)],
        &[part(7, b"more"), end(7), end(9)],
        &[reset, end(9)],
        &[padded, end(9)],
        &[frame(kind::PING, 0, 0, b"12345678"), end(7), end(9)],
        &[frame(kind::WINDOW_UPDATE, 0, 7, &0_u32.to_be_bytes()), end(9)],
        &[head(11), part(11, b"eleven"), end(7), end(9), end(11), end(11)],
    ];
    for frames in between {
        let bytes = [&heads, &bodies, &frames.concat()].map(|part| part.as_slice()).concat();
        let told = |pieces: &[&[u8]]| {
            let (mut server, _) = acquainted(&ConnectionConfig::trusted());
            pieces.iter().for_each(|piece| server.arrive(piece));
            let is_open = server.sender().live_streams();
            (stream_by_stream(server.events()), server.error, is_open)
        };
        let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
        let expected = told(&one_by_one);
        for at in 0..bytes.len() {
            let (front, back) = bytes.split_at(at);
            assert_eq!(told(&[front, back]), expected, "cut at {at}");
        }
    }
}

#[test]
fn streams_that_wait_outside_the_table_count_against_the_limit() {
    let mut config = ConnectionConfig::trusted();
    config.settings.max_concurrent_streams = Some(2);
    let (mut server, block) = acquainted(&config);
    let head = |id| frame(kind::HEADERS, flag::END_HEADERS, id, &block);
    let body = |id| frame(kind::DATA, flag::END_STREAM, id, &[0, 0, 0, 0, 0]);
    let bytes = [head(7), head(9), head(11), body(7), head(13), body(9), body(13)].concat();
    server.arrive(&bytes);
    let output = frames(&server.take_output());
    let resets: Vec<_> = output
        .iter()
        .filter(|heard| heard.kind == kind::RST_STREAM)
        .map(|heard| (heard.stream_id, heard.payload[3]))
        .collect();
    assert_eq!(resets, [(11, ErrorCode::REFUSED_STREAM.0 as u8)]);
    assert_eq!((server.error, server.sender().live_streams()), (None, 0));
    // Two whose bodies come with the next read are open until then.
    server.arrive(&[head(15), head(17), frame(kind::PING, 0, 0, b"12345678")].concat());
    assert_eq!(server.sender().live_streams(), 2);
    server.arrive(&[body(15), body(17)].concat());
    assert_eq!(server.sender().live_streams(), 0);
}

#[test]
fn what_comes_for_a_stream_that_waits_outside_the_table_meets_it_there() {
    let (mut server, block) = acquainted(&ConnectionConfig::trusted());
    let head = |id| frame(kind::HEADERS, flag::END_HEADERS, id, &block);
    let body = |id| frame(kind::DATA, flag::END_STREAM, id, &[0, 0, 0, 0, 0]);
    let update = |id, increment: u32| frame(kind::WINDOW_UPDATE, 0, id, &increment.to_be_bytes());
    let reset = frame(kind::RST_STREAM, 0, 7, &ErrorCode::CANCEL.0.to_be_bytes());
    // One is cancelled, one gets a window by zero, one a window beyond the largest.
    let cases = [
        [head(7), reset, head(9), body(9)].concat(),
        [head(11), head(13), update(11, 0), body(13)].concat(),
        [head(15), head(17), update(15, (1 << 31) - 1), body(17)].concat(),
        [head(19), update(19, 0), body(19)].concat(),
    ];
    cases.iter().for_each(|bytes| server.arrive(bytes));
    let ended: Vec<_> = server
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Reset { id, code, by } => Some((id, code, by)),
            _ => None,
        })
        .collect();
    let library = Initiator::Library;
    let expected = [
        (7, ErrorCode::CANCEL, Initiator::Peer),
        (11, ErrorCode::PROTOCOL_ERROR, library),
        (15, ErrorCode::FLOW_CONTROL_ERROR, library),
        (19, ErrorCode::PROTOCOL_ERROR, library),
    ];
    assert_eq!(ended, expected);
    assert_eq!((server.error, server.sender().live_streams()), (None, 0));
    let answered = frames(&server.take_output());
    let answered = answered.iter().filter(|heard| heard.kind == kind::DATA);
    assert_eq!(answered.map(|heard| heard.stream_id).collect::<Vec<_>>(), [9, 13, 17]);
}

#[test]
fn windows_that_settings_move_reach_streams_that_wait_outside_the_table() {
    let (mut server, block) = acquainted(&ConnectionConfig::trusted());
    server.seen.answer = Some(Answer::new(&[b'!'; 100]));
    let head = |id| frame(kind::HEADERS, flag::END_HEADERS, id, &block);
    let body = |id| frame(kind::DATA, flag::END_STREAM, id, &[0, 0, 0, 0, 0]);
    // SETTINGS_INITIAL_WINDOW_SIZE is 10.
    let settings = frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 10]);
    server.arrive(&[head(7), head(9), settings, body(7), body(9)].concat());
    assert_eq!(server.sender().live_streams(), 2, "both answers wait");
    let update = |id| frame(kind::WINDOW_UPDATE, 0, id, &1_000_u32.to_be_bytes());
    server.arrive(&[update(7), update(9)].concat());
    assert_eq!((server.error, server.sender().live_streams()), (None, 0));
}

#[test]
fn a_whole_request_leaves_nothing_behind_and_its_bytes_are_given_back() {
    let (mut server, bytes) = small_requests(1_000, &[], 3, &ConnectionConfig::trusted());
    server.arrive(&bytes);
    assert_eq!((server.sender().live_streams(), server.sender().last_peer_id()), (0, 1_999));
    let mut internet = Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::internet());
    internet.server.seen.answer = Some(Answer::new(b"!"));
    let mut request = HeaderBlock::new(&REQUEST);
    for _ in 0..200 {
        for _ in 0..50 {
            // Together far more than any window.
            internet.client.sender().request(&mut request, &[], &[7; 1_000]).unwrap();
        }
        internet.drive();
        assert_eq!(internet.client.sender().all_blocked_bytes(), 0);
    }
    assert!(internet.server.seen.whole_requests > 9_000);
    assert_eq!((&internet.client.error, &internet.server.error), (&None, &None));
}

#[test]
fn a_whole_request_that_breaks_a_rule_is_left_to_its_frames() {
    let config = ConnectionConfig::trusted();
    let heard = |change: &dyn Fn(&mut Vec<u8>)| {
        let (mut server, bytes) = small_requests(4, &[LENGTH], 3, &config);
        let second_last = frames(&bytes)[..6].iter().map(|heard| 9 + heard.payload.len()).sum();
        let (front, back) = bytes.split_at(second_last);
        server.arrive(front);
        let mut back = back.to_vec();
        change(&mut back);
        server.arrive(&back);
        let output = frames(&server.take_output());
        let resets = output.into_iter().filter(|heard| heard.kind == kind::RST_STREAM);
        (server.error, resets.map(|heard| heard.payload[3]).collect::<Vec<_>>())
    };
    assert_eq!(heard(&|_| {}), (None, vec![]));
    // One byte more than content-length says.
    let longer = |bytes: &mut Vec<u8>| {
        let data_at = 9 + usize::from(bytes[2]);
        bytes[data_at + 2] += 1;
        bytes.push(b'?');
    };
    let protocol_error = ErrorCode::PROTOCOL_ERROR.0 as u8;
    assert_eq!(heard(&longer), (None, vec![protocol_error]));
    // A stream that was opened before.
    let older = |bytes: &mut Vec<u8>| {
        let data_at = 9 + usize::from(bytes[2]);
        (bytes[8], bytes[data_at + 8]) = (1, 1);
    };
    assert!(heard(&older).0.is_some());
    // An even one.
    let even = |bytes: &mut Vec<u8>| {
        let data_at = 9 + usize::from(bytes[2]);
        (bytes[8], bytes[data_at + 8]) = (8, 8);
    };
    assert!(heard(&even).0.is_some());
}

#[test]
fn a_whole_request_is_refused_where_a_stream_would_be() {
    let client = ConnectionConfig::trusted();
    let mut server = ConnectionConfig::trusted();
    server.settings.max_concurrent_streams = Some(1);
    let Pair { mut client, mut server, .. } = Pair::greeted(&client, &server);
    let mut request = HeaderBlock::new(&REQUEST);
    server.seen.answer = Some(Answer::new(b"!"));
    for _ in 0..3 {
        client.sender().request(&mut request, &[], b"ask").unwrap();
        server.arrive(&client.take_output());
        client.arrive(&server.take_output());
    }
    // A call that goes on.
    let open = client.sender().open().unwrap();
    client.sender().headers(open, &mut request, false);
    let mut bytes = client.take_output();
    bytes.extend(frame(kind::HEADERS, flag::END_HEADERS, 9, &request_block(&bytes)));
    bytes.extend(frame(kind::DATA, flag::END_STREAM, 9, &[0, 0, 0, 0, 0]));
    server.arrive(&bytes);
    let output = frames(&server.take_output());
    let reset = output.last().expect("an answer");
    assert_eq!((reset.kind, reset.stream_id), (kind::RST_STREAM, 9));
    assert_eq!(reset.payload[3], ErrorCode::REFUSED_STREAM.0 as u8);
    // Once we are going away, the next one is ignored.
    server.sender().goaway(ErrorCode::NO_ERROR, b"");
    server.take_output();
    let mut late = frame(kind::HEADERS, flag::END_HEADERS, 11, &request_block(&bytes));
    late.extend(frame(kind::DATA, flag::END_STREAM, 11, &[0, 0, 0, 0, 0]));
    server.arrive(&late);
    assert_eq!((server.take_output(), server.error), (vec![], None));
}

/// The header block of the first frame.
fn request_block(bytes: &[u8]) -> Vec<u8> {
    frames(bytes)[0].payload.clone()
}
