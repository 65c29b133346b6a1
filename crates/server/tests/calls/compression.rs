//! Messages under gzip, in both directions.

use std::sync::{Arc, Mutex};

use bookend_server::{
    Code, Context, HandlerKind, InlineStream, Limits, MethodDescriptor, RawResponder, Reply,
    Service, StreamReply,
};
use bookend_wire::{ConnectionConfig, StreamKey};

use crate::pair::{Pair, deflated, fields, framed};
use crate::{FOLLOW, PRICE};

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Echo", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Later", kind: HandlerKind::Deferred },
    MethodDescriptor { name: "Chat", kind: HandlerKind::Stream },
];

/// Sends back what came, compressed if it came so; in streams, every other message.
#[derive(Clone, Default)]
pub struct Echo {
    later: Arc<Mutex<Option<RawResponder>>>,
}

impl Service for Echo {
    fn name(&self) -> &'static str {
        "test.Echo"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        if context.request_was_compressed() {
            context.compress_replies();
        }
        match METHODS[method].kind {
            HandlerKind::Inline if request == b"break" => {
                reply.message(|_| panic!("an encoder breaks"))
            }
            HandlerKind::Inline => reply.message(|output| output.extend_from_slice(request)),
            _ => *self.later.lock().unwrap() = Some(reply.defer()),
        }
    }

    fn open(&self, _: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        context.compress_replies();
        Some(Box::new(Alternately(true)))
    }
}

struct Alternately(bool);

impl InlineStream for Alternately {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        replies.compress(self.0);
        let text = match replies.request_was_compressed() {
            true => "compressed ",
            false => "plain ",
        };
        replies.message(|output| output.extend([text.as_bytes(), message].concat()));
        self.0 = !self.0;
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }
}

const SENDS: (&str, &str) = ("grpc-encoding", "gzip");
const ACCEPTS: (&str, &str) = ("grpc-accept-encoding", "identity, gzip");

fn open(pair: &mut Pair, method: &str, more: &[(&str, &str)]) -> StreamKey {
    let path = format!("/test.Echo/{method}");
    pair.open(&[&fields(&path)[..], more].concat(), false)
}

pub fn call(pair: &mut Pair, method: &str, more: &[(&str, &str)], body: &[u8]) -> StreamKey {
    let stream = open(pair, method, more);
    pair.client.sender.data(stream, body, true);
    pair.pump();
    stream
}

#[test]
fn a_compressed_request_is_answered_compressed_where_that_is_accepted() {
    let mut pair = Pair::over(Echo::default());
    for _ in 0..3 {
        let stream = call(&mut pair, "Echo", &[SENDS, ACCEPTS], &deflated(b"hello"));
        let heard = pair.heard(stream);
        assert_eq!(heard.code(), Code::Ok);
        assert_eq!(heard.messages, [b"hello"]);
        assert_eq!(heard.compressed, [true]);
        assert_eq!(heard.field("grpc-encoding"), Some("gzip"));
    }
    let stream = call(&mut pair, "Echo", &[SENDS], &deflated(b"hello"));
    let heard = pair.heard(stream);
    assert_eq!((&heard.messages[0][..], heard.compressed[0]), (&b"hello"[..], false));
    assert_eq!(heard.field("grpc-encoding"), None);
}

#[test]
fn a_message_without_the_flag_is_plain_whatever_the_head_says() {
    let mut pair = Pair::over(Echo::default());
    let stream = call(&mut pair, "Echo", &[SENDS, ACCEPTS], &framed(b"hello"));
    assert_eq!(pair.heard(stream).messages, [b"hello"]);
    assert_eq!(pair.heard(stream).compressed, [false]);
}

#[test]
fn a_compressed_request_may_come_byte_by_byte() {
    let mut pair = Pair::over(Echo::default());
    let stream = open(&mut pair, "Echo", &[SENDS]);
    let message = vec![7; 100_000];
    pair.client.sender.data(stream, &deflated(&message), true);
    pair.pump_in_pieces(1);
    assert_eq!(pair.heard(stream).messages, [message]);
}

#[test]
fn a_deferred_answer_is_compressed_as_well() {
    let echo = Echo::default();
    let mut pair = Pair::over(echo.clone());
    let stream = call(&mut pair, "Later", &[SENDS, ACCEPTS], &deflated(b""));
    echo.later.lock().unwrap().take().unwrap().message(b"later".to_vec());
    pair.wake();
    assert_eq!(pair.heard(stream).messages, [b"later"]);
    assert_eq!(pair.heard(stream).compressed, [true]);
}

#[test]
fn a_stream_compresses_what_it_likes() {
    let mut pair = Pair::over(Echo::default());
    let body = [deflated(b"a"), framed(b"b"), deflated(b"c")].concat();
    for cut in [0, 3, body.len() - 1] {
        let stream = open(&mut pair, "Chat", &[SENDS, ACCEPTS]);
        pair.client.sender.data(stream, &body[..cut], false);
        pair.client.sender.data(stream, &body[cut..], true);
        pair.pump();
        let heard = pair.heard(stream);
        let texts = [&b"compressed a"[..], b"plain b", b"compressed c"];
        assert_eq!(heard.messages, texts);
        assert_eq!(heard.compressed, [true, false, true]);
        assert_eq!(heard.field("grpc-encoding"), Some("gzip"));
    }
    let stream = call(&mut pair, "Chat", &[SENDS], &body);
    assert_eq!(pair.heard(stream).compressed, [false; 3], "not accepted");
}

#[test]
fn a_message_is_bounded_while_it_inflates() {
    let mut pair = Pair::over(Echo::default());
    let bomb = deflated(&vec![0; (4 << 20) + 1]);
    assert!(bomb.len() < 10_000);
    for method in ["Echo", "Chat"] {
        let stream = call(&mut pair, method, &[SENDS], &bomb);
        pair.pump_with_threads();
        assert_eq!(pair.heard(stream).code(), Code::ResourceExhausted, "{method}");
    }
    let largest = deflated(&vec![0; 4 << 20]);
    let stream = call(&mut pair, "Echo", &[SENDS], &largest);
    pair.pump_with_threads();
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn what_is_no_gzip_is_an_error_of_its_call() {
    let mut pair = Pair::over(Echo::default());
    let mut corrupt = framed(b"this is no gzip");
    corrupt[0] = 1;
    for method in ["Echo", "Chat"] {
        let stream = call(&mut pair, method, &[SENDS], &corrupt);
        assert_eq!(pair.heard(stream).code(), Code::Internal);
        let stream = call(&mut pair, method, &[], &deflated(b"not announced"));
        assert_eq!(pair.heard(stream).code(), Code::Internal);
    }
}

#[test]
fn an_encoder_that_panics_while_its_message_is_to_be_compressed_costs_one_call() {
    let mut pair = Pair::over(Echo::default());
    let broken = call(&mut pair, "Echo", &[SENDS, ACCEPTS], &deflated(b"break"));
    assert_eq!(pair.heard(broken).code(), Code::Internal);
    let next = call(&mut pair, "Echo", &[SENDS, ACCEPTS], &deflated(b"on"));
    assert_eq!(pair.heard(next).messages, [b"on"]);
}

#[test]
fn an_unknown_encoding_is_unimplemented_and_the_known_ones_are_told() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::trusted());
    for path in [PRICE, FOLLOW] {
        let head = [&fields(path)[..], &[("grpc-encoding", "snappy")]].concat();
        let stream = pair.open(&head, true);
        pair.pump();
        let heard = pair.heard(stream);
        assert_eq!(heard.code(), Code::Unimplemented);
        let known = match cfg!(feature = "zstd") {
            true => "identity,gzip,zstd",
            false => "identity,gzip",
        };
        assert_eq!(heard.field("grpc-accept-encoding"), Some(known));
    }
    let head = [&fields(PRICE)[..], &[("grpc-encoding", "identity")]].concat();
    let stream = pair.open(&head, false);
    pair.client.sender.data(stream, &framed(b""), true);
    pair.pump();
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}
