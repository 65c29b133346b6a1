//! Two connections in memory: stories of calls, windows, limits and ends.

mod pair;

use bookend_testing::{frame, frames};
use bookend_wire::frame::{flag, kind};
use bookend_wire::{
    CannotOpen, ConnectionConfig, ErrorCode, ExtraField, HeaderBlock, Indexing, Initiator,
    PreparedRequest,
};
use pair::{Event, Pair, REQUEST, RESPONSE, TRAILERS};

fn trusted_pair() -> Pair {
    Pair::greeted(&ConnectionConfig::trusted(), &ConnectionConfig::trusted())
}

fn config_with(change: impl FnOnce(&mut ConnectionConfig)) -> ConnectionConfig {
    let mut config = ConnectionConfig::trusted();
    change(&mut config);
    config
}

#[test]
fn greetings_are_exchanged_and_acknowledged() {
    let mut pair = Pair::new(&ConnectionConfig::trusted(), &ConnectionConfig::internet());
    pair.drive();
    for end in [&mut pair.client, &mut pair.server] {
        let events = end.events();
        assert!(events.contains(&Event::Settings));
        assert!(events.contains(&Event::SettingsAcknowledged));
        assert_eq!(end.error, None);
    }
}

#[test]
fn a_unary_call_goes_there_and_back_and_leaves_nothing_behind() {
    let mut pair = trusted_pair();
    let stream =
        pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"ping").unwrap();
    pair.drive();
    let heard = pair.server.events();
    assert!(matches!(&heard[0], Event::Headers { id: 1, fields, end_stream: false }
        if fields.len() == REQUEST.len() && fields[2].1 == "/helloworld.Greeter/SayHello"));
    let body = b"\0\0\0\0\x04ping".to_vec();
    assert_eq!(heard[1], Event::Data { id: 1, bytes: body, end_stream: true });

    let there = pair.server.seen.streams[&1];
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    let encode = |output: &mut Vec<u8>| output.extend_from_slice(b"pong");
    pair.server.sender().reply(there, &mut head, &mut trailers, encode);
    assert!(!pair.server.sender().is_open(there));
    pair.drive();
    let answered = pair.client.events();
    assert!(matches!(&answered[0], Event::Headers { end_stream: false, .. }));
    assert!(matches!(&answered[1], Event::Data { bytes, .. } if bytes == b"\0\0\0\0\x04pong"));
    assert!(matches!(&answered[2], Event::Headers { fields, end_stream: true, .. }
        if fields == &[("grpc-status".into(), "0".into())]));
    assert!(!pair.client.sender().is_open(stream));
    assert_eq!(pair.client.sender().live_streams() + pair.server.sender().live_streams(), 0);
}

#[test]
fn a_block_that_comes_again_is_not_decoded_again() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    for _ in 0..10 {
        pair.client.sender().request(&mut head, &[], b"").unwrap();
        pair.drive();
    }
    // The first fills the table, the second shows that nothing changes any more.
    assert_eq!(pair.server.seen.blocks_recalled, 8);
    let heads = pair.server.events();
    let fields_of = |event: &Event| match event {
        Event::Headers { fields, .. } => Some(fields.clone()),
        _ => None,
    };
    let heads: Vec<_> = heads.iter().filter_map(fields_of).collect();
    assert_eq!(heads.len(), 10);
    assert!(heads.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_long_block_that_enters_nothing_into_the_table_is_not_decoded_again_either() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    let value = [b'x'; 400];
    let extra = [ExtraField { name: b"user-agent", value: &value, indexing: Indexing::Never }];
    let held_bytes = pair.server.connection.receiver.held_bytes();
    for _ in 0..10 {
        pair.client.sender().request(&mut head, &extra, b"").unwrap();
        pair.drive();
    }
    assert_eq!(pair.server.seen.blocks_recalled, 8);
    assert!(pair.server.connection.receiver.held_bytes() >= held_bytes + 400);
}

#[test]
fn a_request_made_again_is_the_same_but_for_its_stream() {
    let server = config_with(|config| config.settings.max_concurrent_streams = Some(20));
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
    let mut request = PreparedRequest::new(HeaderBlock::new(&REQUEST), b"ping".to_vec());
    let mut lengths = Vec::new();
    for _ in 0..20 {
        pair.client.sender().prepared_request(&mut request).unwrap();
        lengths.push(pair.client.sender().output.len());
        pair.drive();
    }
    assert_eq!(pair.client.sender().prepared_request(&mut request), Err(CannotOpen::Concurrency));
    assert!(lengths[1..].windows(2).all(|pair| pair[0] == pair[1]), "{lengths:?}");
    let events = pair.server.events();
    for (call, told) in events.chunks(2).enumerate() {
        let id = 2 * call as u32 + 1;
        let body = b"\0\0\0\0\x04ping".to_vec();
        assert!(matches!(&told[0], Event::Headers { id: of, fields, end_stream: false }
            if *of == id && fields.len() == REQUEST.len()));
        assert_eq!(told[1], Event::Data { id, bytes: body, end_stream: true });
    }
    assert_eq!(events.len(), 40);
}

#[test]
fn fields_that_vary_are_never_indexed_and_leave_the_table_alone() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    for call in 0..5_u8 {
        let value = [b'a' + call];
        let extra = [ExtraField { name: b"trace", value: &value, indexing: Indexing::Never }];
        pair.client.sender().request(&mut head, &extra, b"").unwrap();
        let last = pair.client.sender().output.len();
        assert!(call < 2 || last < 60, "the constant part stays short");
        pair.drive();
    }
    let events = pair.server.events();
    let traces = events.iter().filter_map(|event| match event {
        Event::Headers { fields, .. } => fields.iter().find(|(name, _)| name == "trace"),
        _ => None,
    });
    let values: String = traces.map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, "abcde");
    assert_eq!(pair.server.seen.blocks_recalled, 0);
}

#[test]
fn a_stream_that_is_read_slowly_keeps_its_own_window_shut_and_not_that_of_all() {
    let client = config_with(|config| config.settings.initial_window_bytes = 65_535);
    let mut pair = Pair::greeted(&client, &ConnectionConfig::trusted());
    pair.client.seen.keeps_bodies = true;
    let mut head = HeaderBlock::new(&REQUEST);
    let stream = pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    let there = pair.server.seen.streams[&stream.id];
    let answer = |output: &mut Vec<u8>| output.resize(output.len() + 200_000, 7);
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    pair.server.sender().reply(there, &mut head, &mut trailers, answer);
    pair.drive();
    assert_eq!(pair.client.body_of(stream.id).len(), 65_535);

    let updated = |pair: &mut Pair| -> Vec<u32> {
        let output = pair.client.sender().output.clone();
        pair.drive();
        let updates = frames(&output).into_iter().filter(|heard| heard.kind == kind::WINDOW_UPDATE);
        updates.map(|heard| heard.stream_id).collect()
    };
    // More than what has come is not given back: it is counted once, whoever asks.
    pair.client.sender().release_connection_of(stream, 65_535);
    pair.client.sender().release_connection_of(stream, 1 << 30);
    assert_eq!(updated(&mut pair), [], "65,535 bytes are little of a gigabyte");
    assert_eq!(pair.client.body_of(stream.id).len(), 65_535);
    pair.client.sender().release_stream(stream, 65_535);
    assert_eq!(updated(&mut pair), [stream.id]);
    assert_eq!(pair.client.body_of(stream.id).len(), 2 * 65_535);
}

#[test]
fn a_large_body_passes_through_tiny_windows() {
    for window_bytes in [1, 7, 100, 65_535] {
        let server = config_with(|config| config.settings.initial_window_bytes = window_bytes);
        let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
        pair.piece_bytes = 1_000;
        let message: Vec<u8> = (0..40_000_u32).map(|at| at as u8).collect();
        pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], &message).unwrap();
        pair.drive();
        let body = pair.server.body_of(1);
        assert_eq!(body.len(), message.len() + 5, "window of {window_bytes}");
        assert_eq!(body[5..], message);
        assert!(pair.client.events().contains(&Event::Drained { id: 1 }) || window_bytes > 40_005);
        let ended = |event: &Event| matches!(event, Event::Data { end_stream: true, .. });
        assert_eq!(pair.server.events().iter().filter(|event| ended(event)).count(), 1);
    }
}

#[test]
fn a_small_message_waits_for_the_connections_window_rather_than_being_torn() {
    let mut server = ConnectionConfig::trusted();
    server.connection_window_bytes = 65_535;
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
    pair.server.seen.keeps_bodies = true;
    let mut head = HeaderBlock::new(&REQUEST);
    for _ in 0..7 {
        pair.client.sender().request(&mut head, &[], &[1; 9_995]).unwrap();
    }
    pair.drive();
    let pieces = |pair: &Pair| {
        let is_data = |event: &&Event| matches!(event, Event::Data { .. });
        pair.server.seen.events.iter().filter(is_data).count()
    };
    assert_eq!(pieces(&pair), 6);
    assert!(pair.server.body_of(13).is_empty());
    for id in [1, 3, 5, 7] {
        let there = pair.server.seen.streams[&id];
        pair.server.sender().reset(there, ErrorCode::CANCEL);
    }
    pair.drive();
    assert_eq!(pieces(&pair), 7);
    assert_eq!(pair.server.body_of(13).len(), 10_000);
}

#[test]
fn a_body_that_is_not_consumed_stops_its_sender_and_goes_on_when_it_is() {
    let server = config_with(|config| config.settings.initial_window_bytes = 1_000);
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
    pair.server.seen.keeps_bodies = true;
    let stream =
        pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], &[7; 2_995]).unwrap();
    pair.drive();
    assert_eq!(pair.server.body_of(1).len(), 1_000);
    assert_eq!(pair.client.sender().blocked_bytes(stream), 2_000);
    let there = pair.server.seen.streams[&1];
    for expected_bytes in [2_000, 3_000] {
        pair.server.sender().release(there, 1_000);
        pair.drive();
        assert_eq!(pair.server.body_of(1).len(), expected_bytes);
    }
    assert_eq!(pair.client.sender().blocked_bytes(stream), 0);
}

#[test]
fn trailers_wait_behind_a_body_that_is_held_back() {
    let client = config_with(|config| config.settings.initial_window_bytes = 10);
    let mut pair = Pair::greeted(&client, &ConnectionConfig::trusted());
    pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"").unwrap();
    pair.drive();
    let there = pair.server.seen.streams[&1];
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    let encode = |output: &mut Vec<u8>| output.extend_from_slice(&[1; 95]);
    pair.server.sender().reply(there, &mut head, &mut trailers, encode);
    pair.drive();
    assert_eq!(pair.client.body_of(1).len(), 100);
    let events = pair.client.events();
    assert!(matches!(events.last(), Some(Event::Headers { fields, end_stream: true, .. })
        if fields[0].0 == "grpc-status"));
    assert_eq!(pair.server.sender().live_streams(), 0);
}

#[test]
fn no_frame_is_larger_than_the_peer_allows_and_long_headers_are_continued() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    let long = vec![b'~'; 9_000];
    head.push(b"long", &long);
    head.push(b"longer", &[b'^'; 9_000]);
    pair.client.sender().request(&mut head, &[], &[0; 50_000]).unwrap();
    let written = pair.client.take_output();
    let sent = frames(&written);
    assert!(sent.iter().all(|heard| heard.payload.len() <= 16_384));
    let kinds: Vec<u8> = sent.iter().map(|heard| heard.kind).collect();
    assert_eq!(kinds[..2], [kind::HEADERS, kind::CONTINUATION]);
    assert!(!sent[0].has(flag::END_HEADERS));
    assert_eq!(kinds.iter().filter(|kind| **kind == kind::DATA).count(), 4);
}

#[test]
fn a_client_keeps_to_the_servers_limit_of_streams() {
    let server = config_with(|config| config.settings.max_concurrent_streams = Some(3));
    let mut pair = Pair::greeted(&ConnectionConfig::trusted(), &server);
    let mut head = HeaderBlock::new(&REQUEST);
    for _ in 0..3 {
        pair.client.sender().request(&mut head, &[], b"").unwrap();
    }
    let refused = pair.client.sender().request(&mut head, &[], b"");
    assert_eq!(refused, Err(CannotOpen::Concurrency));
    pair.drive();
    let there = pair.server.seen.streams[&3];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&TRAILERS_ONLY), true);
    pair.drive();
    assert!(pair.client.sender().request(&mut head, &[], b"").is_ok());
}

const TRAILERS_ONLY: [(&[u8], &[u8]); 3] =
    [(b":status", b"200"), (b"content-type", b"application/grpc"), (b"grpc-status", b"12")];

#[test]
fn a_server_refuses_what_is_above_its_limit_even_before_the_client_knows_it() {
    let server = config_with(|config| config.settings.max_concurrent_streams = Some(2));
    let mut pair = Pair::new(&ConnectionConfig::trusted(), &server);
    let mut head = HeaderBlock::new(&REQUEST);
    for _ in 0..5 {
        pair.client.sender().request(&mut head, &[], b"").unwrap();
    }
    pair.drive();
    let refused: Vec<_> = pair
        .client
        .events()
        .into_iter()
        .filter(|event| matches!(event, Event::Reset { .. }))
        .collect();
    let code = ErrorCode::REFUSED_STREAM;
    let expected: Vec<_> =
        [5, 7, 9].map(|id| Event::Reset { id, code, by: Initiator::Peer }).into();
    assert_eq!(refused, expected);
    // The table is right for those that follow.
    let there = pair.server.seen.streams[&1];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&TRAILERS_ONLY), true);
    pair.drive();
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    assert!(pair.server.seen.streams.contains_key(&11));
    assert_eq!(pair.server.error, None);
}

#[test]
fn before_the_settings_come_a_client_opens_a_hundred_streams_at_most() {
    let mut pair = Pair::new(&ConnectionConfig::trusted(), &ConnectionConfig::trusted());
    assert_eq!(pair.client.sender().may_open(), 100);
    pair.drive();
    assert_eq!(pair.client.sender().may_open(), 1 << 20);
}

#[test]
fn when_the_ids_are_used_up_a_new_connection_is_asked_for() {
    let client = config_with(|config| config.first_stream_id = (1 << 31) - 3);
    let mut pair = Pair::greeted(&client, &ConnectionConfig::trusted());
    let mut head = HeaderBlock::new(&REQUEST);
    assert_eq!(pair.client.sender().request(&mut head, &[], b"").unwrap().id, (1 << 31) - 3);
    assert_eq!(pair.client.sender().request(&mut head, &[], b"").unwrap().id, (1 << 31) - 1);
    assert_eq!(pair.client.sender().request(&mut head, &[], b""), Err(CannotOpen::IdsUsedUp));
    pair.drive();
    assert_eq!(pair.server.sender().live_streams(), 2);
    assert_eq!(pair.server.error, None);
}

#[test]
fn goaway_spares_the_streams_it_names_and_gives_back_the_others() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    pair.server.sender().goaway(ErrorCode::NO_ERROR, b"bye");
    pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    let events = pair.client.events();
    let refused =
        Event::Reset { id: 3, code: ErrorCode::REFUSED_STREAM, by: Initiator::PeerGoAway };
    let goaway =
        Event::Goaway { last_stream_id: 1, code: ErrorCode::NO_ERROR, debug: "bye".into() };
    assert_eq!(events, [refused, goaway]);
    assert_eq!(pair.client.sender().request(&mut head, &[], b""), Err(CannotOpen::GoingAway));
    let there = pair.server.seen.streams[&1];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&TRAILERS_ONLY), true);
    pair.drive();
    assert!(matches!(pair.client.events()[..], [Event::Headers { id: 1, end_stream: true, .. }]));
}

#[test]
fn a_notice_stops_the_client_and_spares_what_was_on_its_way() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    pair.server.sender().goaway_notice(b"bye");
    pair.server.sender().ping(*b"farewell");
    let crossing = pair.client.sender().request(&mut head, &[], b"").unwrap();
    pair.drive();
    let notice = Event::Goaway {
        last_stream_id: (1 << 31) - 1,
        code: ErrorCode::NO_ERROR,
        debug: "bye".into(),
    };
    assert_eq!(pair.client.events(), [notice]);
    assert_eq!(pair.client.sender().request(&mut head, &[], b""), Err(CannotOpen::GoingAway));
    assert!(pair.server.events().contains(&Event::Pong(*b"farewell")));
    pair.server.sender().goaway(ErrorCode::NO_ERROR, b"bye");
    let there = pair.server.seen.streams[&crossing.id];
    pair.server.sender().headers(there, &mut HeaderBlock::new(&TRAILERS_ONLY), true);
    pair.drive();
    let [Event::Goaway { last_stream_id, .. }, Event::Headers { id, .. }] =
        &pair.client.events()[..]
    else {
        panic!("the second goodbye, and then the answer");
    };
    assert_eq!((*last_stream_id, *id), (crossing.id, crossing.id));
    pair.server.sender().goaway_notice(b"bye");
    pair.drive();
    assert_eq!(pair.client.events(), [], "it is not taken back");
}

#[test]
fn a_reset_ends_a_stream_on_both_sides_and_late_frames_do_no_harm() {
    let mut pair = trusted_pair();
    let stream = pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"").unwrap();
    pair.drive();
    let there = pair.server.seen.streams[&1];
    let (mut head, mut trailers) = (HeaderBlock::new(&RESPONSE), HeaderBlock::new(&TRAILERS));
    pair.server.sender().reply(there, &mut head, &mut trailers, |_| {});
    pair.client.sender().reset(stream, ErrorCode::CANCEL);
    pair.drive();
    assert_eq!(pair.client.events(), []);
    assert_eq!(pair.client.error, None);
    assert_eq!(pair.server.error, None);
    // The block that was ignored still counted for the table.
    pair.client.sender().request(&mut HeaderBlock::new(&REQUEST), &[], b"").unwrap();
    pair.drive();
    let there = pair.server.seen.streams[&3];
    pair.server.sender().reply(there, &mut head, &mut trailers, |_| {});
    pair.drive();
    let answered = pair.client.events();
    assert!(matches!(&answered[0], Event::Headers { fields, .. } if fields[0].1 == "200"));
}

#[test]
fn a_ping_is_answered() {
    let mut pair = trusted_pair();
    pair.client.sender().ping(*b"midnight");
    pair.drive();
    assert_eq!(pair.client.events(), [Event::Pong(*b"midnight")]);
}

#[test]
fn a_window_that_shrinks_while_calls_are_open_goes_below_zero_and_recovers() {
    let mut pair = trusted_pair();
    let mut head = HeaderBlock::new(&REQUEST);
    let stream = pair.client.sender().open().unwrap();
    pair.client.sender().headers(stream, &mut head, false);
    pair.client.sender().data(stream, &[1; 50_000], false);
    // SETTINGS_INITIAL_WINDOW_SIZE = 10, while 50,000 bytes are on their way.
    let shrink = frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 10]);
    pair.client.arrive(&shrink);
    pair.client.sender().data(stream, &[2; 20], true);
    assert_eq!(pair.client.sender().blocked_bytes(stream), 20);
    pair.server.seen.keeps_bodies = false;
    pair.drive();
    let update = frame(kind::WINDOW_UPDATE, 0, 1, &60_000_u32.to_be_bytes());
    pair.client.arrive(&update);
    pair.drive();
    assert_eq!(pair.server.body_of(1).len(), 50_020);
}
