//! Messages, one by one, both ways.

use crate::peer::{Peer, body_of, connected, listen};
use crate::{PATH, careful, channel_to, talking};
use bookend_client::{Code, Metadata, StreamCall};
use bookend_wire::ConnectionConfig;
use bookend_wire::frame::{FrameHeader, kind};
use std::thread;

#[test]
fn either_side_may_speak_first_and_go_on_when_it_likes() {
    let (mut requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    peer.message(stream, b"welcome");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"welcome");
    requests.send(b"thanks").unwrap();
    peer.hear(|heard| heard.has_body(11));
    peer.message(stream, b"");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"");
    requests.send(b"").unwrap();
    requests.finish();
    let request = peer.whole(stream);
    assert_eq!(request.body, body_of(&[b"thanks", b""]));
    peer.trailers(stream, "0", &[]);
    assert_eq!(responses.next(), None);
    assert_eq!(responses.end().status.code, Code::Ok);
    assert_eq!(responses.next(), None, "an end stays an end");
}

#[test]
fn two_threads_may_use_the_two_halves() {
    const MESSAGES: usize = 10_000;
    let (mut requests, responses, mut peer, _listener) = talking(careful());
    let sending = thread::spawn(move || {
        for number in 0..MESSAGES {
            requests.send(&number.to_be_bytes()).unwrap();
        }
        requests.finish();
    });
    let receiving = thread::spawn(move || {
        for (number, message) in responses.enumerate() {
            assert_eq!(message.unwrap().bytes, number.to_be_bytes());
        }
    });
    // Sends back whatever comes, as it comes.
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    let mut echoed = 0;
    while echoed < MESSAGES * 13 {
        let request = peer.hear(|heard| heard.request(stream).body.len() > echoed);
        let fresh = request.request(stream).body[echoed..].to_vec();
        echoed += fresh.len();
        peer.allow(stream, fresh.len());
        peer.data(stream, &fresh, false);
    }
    peer.whole(stream);
    peer.trailers(stream, "0", &[]);
    sending.join().unwrap();
    peer.settle();
    while peer.blocked_bytes(stream) > 0 {
        peer.settle();
    }
    receiving.join().unwrap();
}

#[test]
fn small_messages_that_wait_go_out_together() {
    let (listener, address) = listen();
    let (mut requests, _responses) = channel_to(&address).open(StreamCall::new(PATH));
    for _ in 0..5_000 {
        requests.send(b"x").unwrap();
    }
    requests.finish();
    let mut peer = Peer::accept(&listener, &ConnectionConfig::internet());
    let stream = peer.stream(1);
    assert_eq!(peer.whole(stream).body.len(), 30_000);
    let is_data = |frame: &&FrameHeader| frame.kind == kind::DATA;
    let frames = peer.settle().frames.iter().filter(is_data).count();
    // A server that counts small frames would count one for each message.
    assert_eq!(frames, 2);
}

#[test]
fn metadata_goes_both_ways_with_its_order_and_its_bytes() {
    let (channel, mut peer, listener) = connected(careful(), &ConnectionConfig::internet());
    let mut call = StreamCall::new(PATH);
    for value in [&b"one"[..], b"two, three"] {
        call.metadata.push("x-text", value).unwrap();
    }
    for value in [&[0, 0xff, b'\n'][..], b""] {
        call.metadata.push_binary("x-any-bin", value).unwrap();
    }
    let (_requests, mut responses) = channel.open(call);
    let stream = peer.stream(1);
    let request = peer.settle().request(stream).clone();
    assert_eq!(request.fields("x-text"), ["one", "two, three"]);
    assert_eq!(request.fields("x-any-bin"), ["AP8K", ""]);
    assert_eq!(request.field(":path"), Some(PATH));
    let authority = listener.local_addr().unwrap().to_string();
    assert_eq!(request.field(":authority"), Some(authority.as_str()));
    assert_eq!(request.field("te"), Some("trailers"));
    assert_eq!(request.field("grpc-accept-encoding"), Some("identity,gzip"));
    assert_eq!(request.field("grpc-encoding"), None);
    assert_eq!(request.field("grpc-timeout"), None);

    peer.head(stream, &[("x-head", "a"), ("x-head", "b"), ("x-bin", "AP8K")]);
    let head: Vec<_> = responses.head().find_all("x-head").collect();
    assert_eq!(head, [b"a", b"b"]);
    peer.trailers(stream, "5", &[("x-tail-bin", "AQ,Ag=="), ("grpc-message", "%E2%82%AC")]);
    let end = responses.end();
    assert_eq!((end.status.code, end.status.message.as_str()), (Code::NotFound, "€"));
    let tail: Result<Vec<_>, _> = end.trailers.find_all_binary("x-tail-bin").collect();
    assert_eq!(tail, Ok(vec![vec![1], vec![2]]));
    let bytes = responses.head().find_binary("x-bin");
    assert_eq!(bytes, Ok(Some(vec![0, 0xff, b'\n'])));
}

#[test]
fn an_answer_may_consist_of_its_trailers_only() {
    let (requests, mut responses, mut peer, _listener) = talking(careful());
    requests.finish();
    let stream = peer.stream(1);
    let only = [
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-status", "9"),
        ("grpc-message", "not now"),
        ("x-why", "because"),
    ];
    peer.headers(stream, &only, true);
    assert_eq!(responses.head(), &Metadata::new());
    let refused = responses.next().unwrap().unwrap_err();
    assert_eq!((refused.code, refused.message.as_str()), (Code::FailedPrecondition, "not now"));
    assert_eq!(responses.end().trailers.text("x-why"), Some("because"));
}

#[test]
fn a_method_of_one_message_is_answered_whole() {
    let (mut requests, responses, mut peer, _listener) = talking(careful());
    requests.send(b"sum").unwrap();
    requests.finish();
    let stream = peer.stream(1);
    peer.head(stream, &[("x-head", "there")]);
    peer.message(stream, b"42");
    peer.trailers(stream, "0", &[("x-tail", "too")]);
    let answer = responses.into_response();
    assert_eq!(answer.single_message(), Ok(&b"42"[..]));
    assert_eq!(answer.head.text("x-head"), Some("there"));
    assert_eq!(answer.trailers.text("x-tail"), Some("too"));
}
