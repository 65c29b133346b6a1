//! A service written by hand, which does what generated code does not.

use bookend_server::{
    Code, Context, HandlerKind, InlineStream, Limits, MethodDescriptor, Reply, Service, Status,
    StreamReply,
};
use bookend_wire::{ConnectionConfig, ErrorCode};

use crate::pair::{Pair, fields, framed};

/// The last message of a stream: more than the usual window.
const PARTING_BYTES: usize = 100_000;

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Echo", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Forget", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Break", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Follow", kind: HandlerKind::Stream },
];

pub struct Raw;

impl Service for Raw {
    fn name(&self) -> &'static str {
        "test.Raw"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn codec(&self) -> &'static str {
        "raw"
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        match METHODS[method].name {
            "Echo" => reply.message(|output| output.extend_from_slice(request)),
            "Break" => {
                if !request.is_empty() {
                    context.add_header("x-header", b"1");
                }
                reply.message(broken_encoder);
            }
            _ => {}
        }
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(Box::new(Raw))
    }
}

/// Echoes until it is asked to break, or to end.
impl InlineStream for Raw {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        match message {
            b"break" => replies.message(broken_encoder),
            b"fail well" => replies.end(Err(Status::new(Code::Ok, "a mistake"))),
            b"part" => {
                replies.message(|output| output.resize(output.len() + PARTING_BYTES, 7));
                replies.end(Ok(()));
            }
            _ => replies.message(|output| output.extend_from_slice(message)),
        }
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }
}

fn broken_encoder(output: &mut Vec<u8>) {
    output.extend_from_slice(b"the beginning of ");
    panic!("an encoder that breaks off");
}

fn call(pair: &mut Pair, method: &str, body: &[u8]) -> bookend_wire::StreamKey {
    let stream = pair.open(&fields(&format!("/test.Raw/{method}")), false);
    pair.client.sender.data(stream, body, true);
    pair.pump();
    stream
}

#[test]
fn any_encoding_of_messages_will_do() {
    let mut pair = Pair::new();
    let stream = call(&mut pair, "Echo", &framed(b"\xff\0not protobuf"));
    assert_eq!(pair.heard(stream).messages, [b"\xff\0not protobuf"]);
}

#[test]
fn a_service_says_which_codec_it_speaks() {
    let mut pair = Pair::new();
    for (content_type, code) in [
        ("application/grpc", Code::Ok),
        ("application/grpc+raw", Code::Ok),
        ("application/grpc+proto", Code::Unimplemented),
    ] {
        let mut fields = fields("/test.Raw/Echo");
        fields[5].1 = content_type;
        let stream = pair.open(&fields, false);
        pair.client.sender.data(stream, &framed(b"\xff"), true);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), code, "{content_type}");
    }
}

#[test]
fn a_service_that_gives_no_answer_costs_one_call() {
    let mut pair = Pair::new();
    let stream = call(&mut pair, "Forget", &framed(b""));
    assert_eq!(pair.heard(stream).code(), Code::Internal);
    let stream = call(&mut pair, "Echo", &framed(b"on"));
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn an_encoder_that_panics_leaves_the_connection_whole() {
    let mut pair = Pair::new();
    for body in [framed(b""), framed(b"with metadata"), framed(b"")] {
        let broken = call(&mut pair, "Break", &body);
        assert_eq!(pair.heard(broken).code(), Code::Internal);
        assert!(pair.heard(broken).messages.is_empty());
        let stream = call(&mut pair, "Echo", &framed(b"on"));
        assert_eq!(pair.heard(stream).code(), Code::Ok);
    }
    let body = [framed(b"one"), framed(b"break"), framed(b"two")].concat();
    let stream = call(&mut pair, "Follow", &body);
    assert_eq!(pair.heard(stream).code(), Code::Internal);
    assert_eq!(pair.heard(stream).messages, [b"one"]);
    let stream = call(&mut pair, "Follow", &framed(b"three"));
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn what_flow_control_holds_back_arrives_when_the_window_opens() {
    let mut settings = bookend_wire::ConnectionConfig::internet();
    settings.settings.initial_window_bytes = 10;
    let mut pair = Pair::with(bookend_server::Limits::internet(), &settings);
    for method in ["Echo", "Follow"] {
        let message = vec![b'x'; 1_000];
        let stream = call(&mut pair, method, &framed(&message));
        assert_eq!(pair.heard(stream).code(), Code::Ok);
        assert_eq!(pair.heard(stream).messages, [message]);
    }
}

#[test]
fn a_stream_that_fails_with_the_status_ok_ends_with_internal() {
    let mut pair = Pair::new();
    let at_once = call(&mut pair, "Follow", &framed(b"fail well"));
    assert_eq!(pair.heard(at_once).code(), Code::Internal);
    let body = [framed(b"one"), framed(b"fail well")].concat();
    let later = call(&mut pair, "Follow", &body);
    assert_eq!(pair.heard(later).code(), Code::Internal);
    assert_eq!(pair.heard(later).messages, [b"one"]);
}

#[test]
fn an_answer_that_waits_for_its_client_is_not_lost_to_what_the_client_still_sends() {
    const WINDOW_BYTES: usize = 65_535;
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    pair.listener.idles = true;
    let stream = pair.open(&fields("/test.Raw/Follow"), false);
    pair.client.sender.data(stream, &framed(b"part"), false);
    pair.pump();
    for _ in 0..3 {
        pair.client.sender.data(stream, &[0; WINDOW_BYTES], false);
        pair.pump();
    }
    assert_eq!(pair.heard(stream).reset, None);
    pair.read_on();
    assert_eq!(pair.heard(stream).code(), Code::Ok);
    assert_eq!(pair.heard(stream).messages[0].len(), PARTING_BYTES);
    // Now there is nothing to lose.
    pair.client.sender.data(stream, b"more", false);
    pair.pump();
    assert_eq!(pair.heard(stream).reset, Some(ErrorCode::NO_ERROR));
}
