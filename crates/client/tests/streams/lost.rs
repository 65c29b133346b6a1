//! Connections that are lost, servers that go away, and calls that are made again.

use crate::peer::{Peer, body_of, listen};
use crate::{PATH, careful, channel_to, code_of};
use bookend_client::{Channel, Code, StreamCall, UnaryCall};
use bookend_wire::{ConnectionConfig, ErrorCode};
use std::io::ErrorKind;
use std::time::Duration;

fn accept(listener: &std::net::TcpListener) -> Peer {
    Peer::accept(listener, &ConnectionConfig::internet())
}

#[test]
fn a_call_whose_connection_is_lost_fails_after_the_messages_that_came() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (mut requests, mut responses) = channel.open(StreamCall::new(PATH));
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    peer.message(stream, b"the last word");
    peer.settle();
    drop(peer);
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"the last word");
    let lost = responses.next().unwrap().unwrap_err();
    assert_eq!(lost.code, Code::Unavailable);
    assert!(lost.message.contains("closed the connection"), "{lost}");
    while requests.send(&[0; 10_000]).is_ok() {}

    let (requests, responses) = channel.open(StreamCall::new(PATH));
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    requests.finish();
    peer.trailers_only_ok(stream);
    assert_eq!(code_of(responses), Code::Ok, "the channel has a new connection");
}

#[test]
fn only_calls_that_wait_for_ready_wait_for_a_server_that_cannot_be_reached() {
    let (listener, address) = listen();
    drop(listener);
    let channel = channel_to(&address);
    let (_requests, responses) = channel.open(StreamCall::new(PATH));
    assert_eq!(code_of(responses), Code::Unavailable);
    let mut patient = StreamCall::new(PATH);
    patient.waits_for_ready = true;
    let (mut requests, mut responses) = channel.open(patient);
    requests.send(b"patience").unwrap();
    let listener = std::net::TcpListener::bind(&address).unwrap();
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    peer.hear(|heard| heard.has_body(13));
    peer.answer(stream, b"is rewarded");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"is rewarded");
}

#[test]
fn a_lost_connection_is_made_again_when_its_time_has_come_and_not_before() {
    let (listener, address) = listen();
    let mut options = careful();
    options.backoff_min = Duration::from_secs(3_600);
    options.backoff_max = options.backoff_min;
    let channel = Channel::connect(&address, options).unwrap();
    let mut peer = accept(&listener);
    peer.settle();
    drop(peer);
    for _ in 0..3 {
        let mut call = StreamCall::new(PATH);
        call.timeout = Some(Duration::from_millis(2));
        let (_requests, responses) = channel.open(call);
        assert!(matches!(code_of(responses), Code::DeadlineExceeded | Code::Unavailable));
    }
    listener.set_nonblocking(true).unwrap();
    let refused = listener.accept().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::WouldBlock, "three calls, and no connection");
}

#[test]
fn a_call_that_a_goaway_leaves_out_is_made_again_with_all_that_was_sent() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (_first, mut kept) = channel.open(StreamCall::new(PATH));
    let (mut requests, mut responses) = channel.open(StreamCall::new(PATH));
    requests.send(b"before").unwrap();
    let mut old = accept(&listener);
    let kept_stream = old.stream(1);
    old.stream(2);
    old.hear(|heard| heard.has_body(11));
    old.go_away(kept_stream.id);
    old.settle();
    requests.send(b"after").unwrap();
    requests.finish();
    let mut new = accept(&listener);
    let stream = new.stream(1);
    assert_eq!(new.whole(stream).body, body_of(&[b"before", b"after"]));
    new.answer(stream, b"new");
    old.answer(kept_stream, b"old");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"new");
    assert_eq!(kept.next().unwrap().unwrap().bytes, b"old", "what was begun is ended");
}

#[test]
fn a_call_is_made_again_once() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (mut requests, mut responses) = channel.open(StreamCall::new(PATH));
    requests.send(b"again").unwrap();
    requests.finish();
    let mut peer = accept(&listener);
    for time in 1..=2 {
        let stream = peer.stream(time);
        assert_eq!(peer.whole(stream).body, body_of(&[b"again"]));
        peer.reset(stream, ErrorCode::REFUSED_STREAM);
    }
    assert_eq!(responses.end().status.code, Code::Unavailable);
    assert_eq!(peer.settle().streams.len(), 2);
}

#[test]
fn a_call_of_which_too_much_was_sent_is_not_made_again() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (mut requests, mut responses) = channel.open(StreamCall::new(PATH));
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    for _ in 0..70 {
        let sent = peer.settle().request(stream).body.len();
        requests.send(&[0; 1_019]).unwrap();
        peer.hear(|heard| heard.request(stream).body.len() > sent);
        peer.allow(stream, 1_024);
    }
    peer.reset(stream, ErrorCode::REFUSED_STREAM);
    assert_eq!(responses.end().status.code, Code::Unavailable);
    assert_eq!(peer.settle().streams.len(), 1);
}

#[test]
fn a_call_that_was_answered_in_part_is_not_made_again() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (_requests, mut responses) = channel.open(StreamCall::new(PATH));
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    peer.reset(stream, ErrorCode::REFUSED_STREAM);
    assert_eq!(responses.end().status.code, Code::Unavailable);
    assert_eq!(peer.settle().streams.len(), 1);
}

#[test]
fn nor_is_a_unary_call_which_the_server_must_have_looked_at_whatever_it_says() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let (tell, hear) = std::sync::mpsc::channel();
    let call = || {
        let tell = tell.clone();
        channel.call(UnaryCall::new(PATH, vec![]), move |answer| {
            tell.send(answer.status.code).unwrap();
        });
    };
    call();
    let mut peer = accept(&listener);
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    peer.reset(stream, ErrorCode::REFUSED_STREAM);
    peer.settle();
    assert_eq!(peer.settle().streams.len(), 1);
    assert_eq!(hear.recv().unwrap(), Code::Unavailable);
    call();
    let stream = peer.stream(2);
    peer.head(stream, &[]);
    peer.message(stream, b"half of an answer");
    peer.go_away(0);
    assert_eq!(hear.recv().unwrap(), Code::Unavailable);
    call();
    let stream = accept(&listener).stream(1);
    assert_eq!(stream.id, 1, "the next call is the first of its connection");
}
