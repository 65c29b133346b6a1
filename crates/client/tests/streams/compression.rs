//! gzip and identity, both ways, and what servers may get wrong about them.

use crate::peer::{Peer, body_of, connected};
use crate::{PATH, careful, talking};
use bookend_client::{Code, Encoding, ReceivedMessage, Responses, StreamCall, UnaryCall};
use bookend_wire::grpc::gzip;
use bookend_wire::{ConnectionConfig, StreamKey};
use std::sync::mpsc;

const TEXT: &[u8] = &[b'a'; 1_000];

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    gzip::compress(bytes, &mut compressed);
    compressed
}

/// A message as it stands in a body, with its flag set.
fn flagged(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_be_bytes();
    [&[1][..], &length, bytes].concat()
}

#[test]
fn requests_are_compressed_where_the_call_says_so_and_the_message_does_not_object() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let mut call = StreamCall::new(PATH);
    call.encoding = Encoding::Gzip;
    let (mut requests, _responses) = channel.open(call);
    requests.send(TEXT).unwrap();
    requests.send_uncompressed(b"as it is").unwrap();
    requests.send(b"").unwrap();
    requests.finish();
    let stream = peer.stream(1);
    let request = peer.whole(stream);
    assert_eq!(request.field("grpc-encoding"), Some("gzip"));
    let expected = [flagged(&gzipped(TEXT)), body_of(&[b"as it is"]), flagged(&gzipped(b""))];
    assert_eq!(request.body, expected.concat());
}

#[test]
fn a_unary_request_is_compressed_too_and_its_answer_says_whether_it_was() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    for (number, encoding) in [Encoding::Gzip, Encoding::Identity].into_iter().enumerate() {
        let mut call = UnaryCall::new(PATH, TEXT.to_vec());
        call.encoding = encoding;
        let (tell, hear) = mpsc::channel();
        channel.call(call, move |answer| tell.send(answer).unwrap());
        let stream = peer.stream(number + 1);
        let request = peer.whole(stream);
        let is_gzip = encoding == Encoding::Gzip;
        let (name, body) = match is_gzip {
            true => (Some("gzip"), flagged(&gzipped(TEXT))),
            false => (None, body_of(&[TEXT])),
        };
        assert_eq!(request.field("grpc-encoding"), name);
        assert_eq!(request.body, body);
        peer.head(stream, &[("grpc-encoding", "gzip")]);
        peer.data(stream, &body, false);
        peer.trailers(stream, "0", &[]);
        let answer = hear.recv().unwrap();
        assert_eq!(answer.single_message(), Ok(TEXT));
        assert_eq!(answer.was_compressed, is_gzip);
    }
}

/// A call whose answer has that encoding and that body, and ends well.
fn answered(encoding: &str, body: &[u8], max_message_bytes: usize) -> (Responses, Peer, StreamKey) {
    let mut options = careful();
    options.max_message_bytes = max_message_bytes;
    let (requests, responses, mut peer, _listener) = talking(options);
    requests.finish();
    let stream = peer.stream(1);
    peer.head(stream, &[("grpc-encoding", encoding)]);
    peer.data(stream, body, false);
    (responses, peer, stream)
}

fn message(bytes: &[u8], was_compressed: bool) -> ReceivedMessage {
    ReceivedMessage { bytes: bytes.to_vec(), was_compressed }
}

#[test]
fn responses_may_mix_both_and_each_message_says_which() {
    let body = [flagged(&gzipped(TEXT)), body_of(&[b"plain"]), flagged(&gzipped(b""))];
    let (mut responses, mut peer, stream) = answered("gzip", &body.concat(), 1_000);
    peer.trailers(stream, "0", &[]);
    let messages: Vec<_> = responses.by_ref().map(Result::unwrap).collect();
    let expected = [message(TEXT, true), message(b"plain", false), message(b"", true)];
    assert_eq!(messages, expected);
    assert_eq!(responses.end().status.code, Code::Ok);
}

/// What the first message of an answer is refused with. The server is told to stop.
fn refusal(encoding: &str, body: &[u8]) -> Code {
    let (mut responses, mut peer, stream) = answered(encoding, body, 500);
    let refused = responses.next().unwrap().unwrap_err();
    assert_eq!(responses.next(), None);
    assert_eq!(responses.end().status, refused);
    let resets = &peer.hear(|heard| !heard.resets.is_empty()).resets;
    assert_eq!(resets[0].0, stream.id);
    refused.code
}

#[test]
fn what_cannot_be_inflated_is_refused_as_the_specification_says() {
    let bomb = flagged(&gzipped(&[0; 1_000_000]));
    assert_eq!(refusal("gzip", &bomb), Code::ResourceExhausted);
    let declared = [&[1][..], &501_u32.to_be_bytes()].concat();
    assert_eq!(refusal("gzip", &declared), Code::ResourceExhausted);
    assert_eq!(refusal("gzip", &flagged(b"no gzip")), Code::Internal);
    assert_eq!(refusal("identity", &flagged(&gzipped(TEXT))), Code::Internal);
    assert_eq!(refusal("zstd", &flagged(b"?")), Code::Internal);
    assert_eq!(refusal("gzip", &[7, 0, 0, 0, 0]), Code::Internal);
}

#[test]
fn an_unknown_encoding_that_no_message_uses_does_no_harm() {
    let (mut responses, mut peer, stream) = answered("zstd", &body_of(&[b"plain"]), 500);
    assert_eq!(responses.next(), Some(Ok(message(b"plain", false))));
    peer.trailers(stream, "0", &[]);
    assert_eq!(responses.end().status.code, Code::Ok);
}
