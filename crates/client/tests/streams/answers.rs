//! What answers mean that are not what gRPC prescribes: unary ones, gathered and streamed.

use crate::peer::{Peer, body_of, connected};
use crate::{PATH, careful};
use bookend_client::{Code, Response, StreamCall, UnaryCall};
use bookend_wire::frame::kind;
use bookend_wire::{ConnectionConfig, StreamKey};
use std::sync::mpsc;

const GRPC: (&str, &str) = ("content-type", "application/grpc");

/// The status of a unary call that is answered like that; the same however it is made.
fn code_of(answer: impl Fn(&mut Peer, StreamKey)) -> Code {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let (tell, hear) = mpsc::channel();
    channel.call(UnaryCall::new(PATH, vec![]), move |answer| {
        tell.send(answer).unwrap();
    });
    let stream = peer.stream(1);
    peer.whole(stream);
    answer(&mut peer, stream);
    let gathered: Response = hear.recv().unwrap();

    let (mut requests, responses) = channel.open(StreamCall::new(PATH));
    requests.send(b"").unwrap();
    requests.finish();
    let stream = peer.stream(2);
    peer.whole(stream);
    answer(&mut peer, stream);
    let streamed = responses.into_response();
    assert_eq!(gathered.status, streamed.status);
    assert_eq!(gathered.trailers, streamed.trailers);
    gathered.status.code
}

/// A head and a body, and behind them trailers with that status.
fn code_of_body(body: Vec<u8>, status: &'static str) -> Code {
    code_of(move |peer, stream| {
        peer.head(stream, &[]);
        peer.data(stream, &body, false);
        peer.trailers(stream, status, &[]);
    })
}

#[test]
fn a_unary_method_gives_one_message() {
    assert_eq!(code_of_body(body_of(&[b"one"]), "0"), Code::Ok);
    assert_eq!(code_of_body(body_of(&[b""]), "0"), Code::Ok);
    assert_eq!(code_of_body(body_of(&[b"one", b"two"]), "0"), Code::Unimplemented);
    assert_eq!(code_of_body(vec![], "0"), Code::Unimplemented);
    assert_eq!(code_of_body(vec![], "7"), Code::PermissionDenied);
    let only_ok = [(":status", "200"), GRPC, ("grpc-status", "0")];
    let code = code_of(|peer, stream| peer.headers(stream, &only_ok, true));
    assert_eq!(code, Code::Unimplemented);
}

#[test]
fn bodies_that_are_not_messages() {
    let mut cut = body_of(&[b"whole"]);
    cut.extend_from_slice(b"\0\0\0\0\x09cut");
    assert_eq!(code_of_body(cut, "0"), Code::Internal);
    assert_eq!(code_of_body(b"\0\0".to_vec(), "0"), Code::Internal);
    assert_eq!(code_of_body(b"\x02\0\0\0\0".to_vec(), "0"), Code::Internal);
    assert_eq!(code_of_body(b"\0\xff\xff\xff\xff".to_vec(), "0"), Code::ResourceExhausted);
}

#[test]
fn a_status_that_is_missing_is_unknown() {
    let no_status = code_of(|peer, stream| {
        peer.head(stream, &[]);
        peer.message(stream, b"one");
        peer.headers(stream, &[("grpc-message", "error")], true);
    });
    let no_trailers = code_of(|peer, stream| {
        peer.head(stream, &[]);
        peer.data(stream, &body_of(&[b"one"]), true);
    });
    let nothing = code_of(|peer, stream| peer.headers(stream, &[(":status", "200"), GRPC], true));
    assert_eq!([no_status, no_trailers, nothing], [Code::Unknown; 3]);
    assert_eq!(code_of_body(body_of(&[b"one"]), "99"), Code::Unknown);
}

#[test]
fn a_status_in_the_head_counts_only_where_nothing_follows() {
    let with_body = code_of(|peer, stream| {
        peer.head(stream, &[("grpc-status", "9")]);
        peer.data(stream, &body_of(&[b"one"]), true);
    });
    assert_eq!(with_body, Code::Unknown);
    let with_trailers = code_of(|peer, stream| {
        peer.head(stream, &[("grpc-status", "8")]);
        peer.trailers(stream, "9", &[]);
    });
    assert_eq!(with_trailers, Code::FailedPrecondition);
}

#[test]
fn an_http_status_stands_for_a_grpc_one_where_there_is_none() {
    let statuses = [
        ("400", Code::Internal),
        ("401", Code::Unauthenticated),
        ("403", Code::PermissionDenied),
        ("404", Code::Unimplemented),
        ("409", Code::Unknown),
        ("412", Code::Unknown),
        ("413", Code::Unknown),
        ("415", Code::Unknown),
        ("418", Code::Unknown),
        ("429", Code::Unavailable),
        ("431", Code::Unknown),
        ("500", Code::Unknown),
        ("502", Code::Unavailable),
        ("503", Code::Unavailable),
        ("504", Code::Unavailable),
        ("505", Code::Unknown),
        ("800", Code::Unknown),
    ];
    for (http, code) in statuses {
        let bare = code_of(|peer, stream| peer.headers(stream, &[(":status", http)], true));
        assert_eq!(bare, code, "{http}");
    }
    // The page behind it is for people, whatever its first bytes would mean in gRPC.
    let page = code_of(|peer, stream| {
        let head = [(":status", "503"), ("content-type", "text/html")];
        peer.headers(stream, &head, false);
        peer.data(stream, b"<html>busy</html>", true);
    });
    assert_eq!(page, Code::Unavailable);
    let says_more = code_of(|peer, stream| {
        let head = [(":status", "503"), GRPC, ("grpc-status", "8")];
        peer.headers(stream, &head, true);
    });
    assert_eq!(says_more, Code::ResourceExhausted);
}

#[test]
fn a_page_for_people_may_be_longer_than_any_window() {
    const PAGE_BYTES: usize = 300_000;
    let page = code_of(|peer, stream| {
        let head = [(":status", "502"), ("content-type", "text/html")];
        peer.headers(stream, &head, false);
        peer.data(stream, &[b' '; PAGE_BYTES], true);
        // The rest goes out as the client gives credit, and this test finds out whether it does.
        for _ in 0..PAGE_BYTES / 1_000 {
            peer.settle();
        }
        assert_eq!(peer.blocked_bytes(stream), 0);
    });
    assert_eq!(page, Code::Unavailable);
}

#[test]
fn another_content_type_is_no_answer_to_what_was_asked() {
    let of_type = |content_type: &'static str| {
        code_of(|peer, stream| {
            let head = [(":status", "200"), ("content-type", content_type)];
            peer.headers(stream, &head, false);
            peer.message(stream, b"one");
            peer.trailers(stream, "0", &[]);
        })
    };
    assert_eq!(of_type("application/grpc+proto"), Code::Ok);
    assert_eq!(of_type("application/grpc;x=y"), Code::Ok);
    assert_eq!(of_type("application/grpc+json"), Code::Internal);
    assert_eq!(of_type("application/grpc-web"), Code::Unknown);
    assert_eq!(of_type("image/jpeg"), Code::Unknown);
    let untyped = code_of(|peer, stream| {
        peer.headers(stream, &[(":status", "200")], false);
        peer.trailers(stream, "0", &[]);
    });
    assert_eq!(untyped, Code::Unknown);
}

#[test]
fn messages_behind_the_trailers_change_nothing() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let (_requests, mut responses) = channel.open(StreamCall::new(PATH));
    let stream = peer.stream(1);
    peer.answer(stream, b"one");
    peer.frame(kind::DATA, 0, stream.id, &body_of(&[b"two"]));
    let messages: Vec<_> = responses.by_ref().map(Result::unwrap).collect();
    assert_eq!(messages.len(), 1);
    assert_eq!(responses.end().status.code, Code::Ok);
}
