//! However the bytes are cut, the same is told: the strongest single property of a decoder.

mod pair;

use bookend_wire::frame::{flag, kind};
use bookend_wire::{ConnectionConfig, ErrorCode, ExtraField, HeaderBlock, Indexing, Side};
use pair::{End, Event, REQUEST, RESPONSE, TRAILERS, frame};

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

/// Bodies are told in pieces that follow frames, so pieces count as they come.
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
