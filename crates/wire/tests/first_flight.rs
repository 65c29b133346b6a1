//! A connection that is begun again in its own memory is as a new one.

mod pair;

use bookend_wire::{Connection, ConnectionConfig, ErrorCode, FirstFlight, HeaderBlock, Side};
use pair::Recorder;

fn head() -> HeaderBlock {
    HeaderBlock::new(&[
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", b"/a.B/C"),
        (b":authority", b"a"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
    ])
}

fn response() -> (HeaderBlock, HeaderBlock) {
    let head: [(&[u8], &[u8]); 2] = [(b":status", b"200"), (b"content-type", b"application/grpc")];
    (HeaderBlock::new(&head), HeaderBlock::new(&[(b"grpc-status", b"0")]))
}

/// What a new server makes of what the client says first, and its answer.
fn answer(bytes: &[u8], config: &ConnectionConfig) -> (Recorder, Vec<u8>) {
    let mut server = Connection::new(Side::Server, config);
    let mut seen = Recorder::default();
    let used = server.receive(bytes, &mut seen).unwrap();
    assert_eq!(used, bytes.len(), "the request is whole");
    let (mut head, mut trailers) = response();
    let stream = seen.streams[&1];
    server.sender.reply(stream, &mut head, &mut trailers, |body| body.extend(b"pong"));
    (seen, server.sender.output)
}

#[test]
fn every_call_after_the_first_is_as_the_first_to_server_and_client() {
    let config = ConnectionConfig::trusted();
    let first_flight = FirstFlight::new(&config, &head(), b"ping").unwrap();
    let mut client = Connection::new(Side::Client, &config);
    let first = client.sender.request(&mut head(), &[], b"ping").unwrap();
    let written = std::mem::take(&mut client.sender.output);
    let (server_saw, bytes) = answer(&written, &config);
    let mut seen = Recorder::default();
    client.receive(&bytes, &mut seen).unwrap();
    for round in 0..50 {
        let stream = client.renew_with(&config, &first_flight).unwrap();
        assert_eq!(stream, first, "round {round}");
        let again = std::mem::take(&mut client.sender.output);
        assert_eq!(again, written);
        let (server_saw_again, bytes) = answer(&again, &config);
        assert_eq!(server_saw_again.events, server_saw.events);
        let mut seen_again = Recorder::default();
        // Now and then a connection is left in the middle of an answer.
        let come = if round % 3 == 0 { bytes.len() - 7 } else { bytes.len() };
        client.receive(&bytes[..come], &mut seen_again).unwrap();
        assert_eq!(seen_again.events, seen.events[..seen_again.events.len()]);
        assert_eq!(seen_again.events.len() == seen.events.len(), round % 3 != 0);
        client.sender.goaway(ErrorCode::NO_ERROR, b"");
    }
}

#[test]
fn a_second_request_behind_an_opening_is_understood() {
    let config = ConnectionConfig::trusted();
    let first_flight = FirstFlight::new(&config, &head(), b"ping").unwrap();
    let mut client = Connection::new(Side::Client, &config);
    client.renew_with(&config, &first_flight).unwrap();
    client.sender.request(&mut head(), &[], b"again").unwrap();
    let mut server = Connection::new(Side::Server, &config);
    let mut seen = Recorder::default();
    let bytes = std::mem::take(&mut client.sender.output);
    assert_eq!(server.receive(&bytes, &mut seen), Ok(bytes.len()));
    let heads: Vec<_> = seen
        .events
        .iter()
        .filter_map(|event| match event {
            pair::Event::Headers { fields, .. } => Some(fields),
            _ => None,
        })
        .collect();
    assert_eq!((heads.len(), heads[0]), (2, heads[1]));
}

#[test]
fn a_server_is_begun_again_too() {
    let config = ConnectionConfig::internet();
    let request = {
        let mut client = Connection::new(Side::Client, &config);
        client.sender.request(&mut head(), &[], b"ping").unwrap();
        client.sender.output
    };
    let mut server = Connection::new(Side::Server, &config);
    let mut outputs = Vec::new();
    for _ in 0..3 {
        let mut seen = Recorder::default();
        assert_eq!(server.receive(&request, &mut seen), Ok(request.len()));
        let (mut head, mut trailers) = response();
        server.sender.reply(seen.streams[&1], &mut head, &mut trailers, |_| {});
        outputs.push(std::mem::take(&mut server.sender.output));
        server.renew(&config);
    }
    assert_eq!(outputs[1], outputs[0]);
    assert_eq!(outputs[2], outputs[0]);
}

#[test]
fn a_message_that_waits_for_the_servers_windows_has_no_opening() {
    let config = ConnectionConfig::trusted();
    assert!(FirstFlight::new(&config, &head(), &[0; 65_530]).is_some());
    assert!(FirstFlight::new(&config, &head(), &[0; 65_531]).is_none());
}
