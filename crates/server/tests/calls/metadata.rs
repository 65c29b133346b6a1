//! Metadata in both directions, text and bytes, with answers and with errors.

use bookend_server::{
    Code, Context, HandlerKind, InlineStream, MethodDescriptor, Reply, Service, Status, StreamReply,
};
use bookend_wire::StreamKey;

use crate::pair::{Pair, fields, framed};

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Unary", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Chat", kind: HandlerKind::Stream },
];

/// Sends the bytes of `x-bytes-bin` back, reversed, before its answer; after it, how many values
/// of `x-text` came. Then does what the request says.
struct Notes;

impl Notes {
    fn note(context: &Context<'_>) -> Result<(), Status> {
        for bytes in context.metadata().find_all_binary("x-bytes-bin") {
            let mut bytes = bytes?;
            bytes.reverse();
            context.add_binary_header("x-reversed-bin", &bytes);
        }
        let count = context.metadata().find_all("x-text").count();
        context.add_trailer("x-count", count.to_string().as_bytes());
        if let Some(value) = context.metadata().find("x-mistake") {
            context.add_trailer("X-Mistake", value);
        }
        Ok(())
    }
}

impl Service for Notes {
    fn name(&self) -> &'static str {
        "test.Notes"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        if request == b"afterthought" {
            reply.message(|_| {});
            return context.add_trailer("x-afterthought", b"1");
        }
        match Notes::note(context) {
            Err(status) => reply.fail(status),
            Ok(()) if request == b"fail" => reply.fail(Status::new(Code::Aborted, "as asked")),
            Ok(()) => reply.message(|output| output.extend_from_slice(request)),
        }
    }

    fn open(&self, _: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        if context.metadata().find("x-refuse").is_some() {
            context.add_header("x-afterthought", b"1");
            return None;
        }
        Some(Box::new(Chat(Notes::note(context))))
    }
}

struct Chat(Result<(), Status>);

impl InlineStream for Chat {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        if let Err(status) = self.0.clone() {
            return replies.end(Err(status));
        }
        match message {
            b"head" => replies.head(),
            b"fail" => replies.end(Err(Status::new(Code::Aborted, "as asked"))),
            b"mistake" => replies.add_trailer("x-line", b"one\r\ntwo"),
            _ => replies.message(|output| output.extend_from_slice(message)),
        }
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.add_binary_trailer("x-last-bin", b"\xff\0");
        replies.end(Ok(()));
    }
}

fn open(pair: &mut Pair, method: &str, metadata: &[(&str, &str)]) -> StreamKey {
    let path = format!("/test.Notes/{method}");
    pair.open(&[&fields(&path)[..], metadata].concat(), false)
}

fn call(pair: &mut Pair, method: &str, metadata: &[(&str, &str)], message: &[u8]) -> StreamKey {
    let stream = open(pair, method, metadata);
    pair.client.sender.data(stream, &framed(message), true);
    pair.pump();
    stream
}

#[test]
fn bytes_go_both_ways_padded_or_not() {
    let mut pair = Pair::over(Notes);
    for method in ["Unary", "Chat"] {
        for value in ["/wAB", "/wABAg==", "/wABAg"] {
            let stream = call(&mut pair, method, &[("x-bytes-bin", value)], b"");
            let heard = pair.heard(stream);
            assert_eq!(heard.code(), Code::Ok);
            let reversed = if value == "/wAB" { "AQD/" } else { "AgEA/w" };
            assert_eq!(heard.field("x-reversed-bin"), Some(reversed));
        }
    }
}

#[test]
fn a_name_may_have_several_values() {
    let mut pair = Pair::over(Notes);
    let metadata = [
        ("x-text", "one"),
        ("x-bytes-bin", "AQI,Ag"),
        ("x-text", "two"),
        ("x-bytes-bin", "AA=="),
        ("x-text", "two"),
    ];
    let stream = call(&mut pair, "Unary", &metadata, b"");
    let heard = pair.heard(stream);
    assert_eq!(heard.field("x-count"), Some("3"));
    let reversed: Vec<_> = heard
        .fields
        .iter()
        .filter(|(name, _)| name == "x-reversed-bin")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(reversed, ["AgE", "Ag", "AA"]);
}

#[test]
fn bad_base64_is_an_error_of_its_call_only() {
    let mut pair = Pair::over(Notes);
    let going_on = open(&mut pair, "Chat", &[]);
    for method in ["Unary", "Chat"] {
        let stream = call(&mut pair, method, &[("x-bytes-bin", "no base64!")], b"");
        assert_eq!(pair.heard(stream).code(), Code::Internal);
        let message = pair.heard(stream).status_message();
        assert_eq!(message, "the value of x-bytes-bin is no base64");
    }
    pair.client.sender.data(going_on, &framed(b"on"), true);
    pair.pump();
    assert_eq!(pair.heard(going_on).messages, [b"on"]);
    assert_eq!(pair.heard(going_on).field("x-last-bin"), Some("/wA"));
}

#[test]
fn an_error_brings_its_metadata_before_a_head_and_behind_one() {
    let mut pair = Pair::over(Notes);
    for method in ["Unary", "Chat"] {
        let stream = call(&mut pair, method, &[("x-bytes-bin", "AQ")], b"fail");
        let heard = pair.heard(stream);
        assert_eq!((heard.code(), heard.header_blocks), (Code::Aborted, 1));
        assert_eq!(heard.field("x-count"), Some("0"));
        assert_eq!(heard.field("x-reversed-bin"), Some("AQ"));
    }
    let stream = open(&mut pair, "Chat", &[]);
    let body = [framed(b"first"), framed(b"fail")].concat();
    pair.client.sender.data(stream, &body, false);
    pair.pump();
    let heard = pair.heard(stream);
    assert_eq!((heard.code(), heard.header_blocks), (Code::Aborted, 2));
    assert_eq!(heard.field("x-count"), Some("0"));
}

#[test]
fn a_stream_may_send_its_head_before_its_first_message() {
    let mut pair = Pair::over(Notes);
    let stream = open(&mut pair, "Chat", &[("x-bytes-bin", "AQ")]);
    pair.client.sender.data(stream, &framed(b"head"), false);
    pair.pump();
    let heard = pair.heard(stream);
    assert_eq!(heard.field("x-reversed-bin"), Some("AQ"));
    assert!(heard.messages.is_empty() && !heard.ended);
    pair.client.sender.data(stream, &framed(b"more"), true);
    pair.pump();
    assert_eq!(pair.heard(stream).header_blocks, 2);
}

#[test]
fn metadata_that_is_none_is_a_mistake_of_the_handlers() {
    let mut pair = Pair::over(Notes);
    for method in ["Unary", "Chat"] {
        let stream = call(&mut pair, method, &[("x-mistake", "1")], b"");
        assert_eq!(pair.heard(stream).code(), Code::Internal);
        let message = pair.heard(stream).status_message();
        assert_eq!(
            message,
            "metadata name \"X-Mistake\": names are made of lower-case letters, digits, '-', '_' and '.'"
        );
    }
    let stream = call(&mut pair, "Chat", &[], b"mistake");
    assert_eq!(pair.heard(stream).code(), Code::Internal);
    let stream = call(&mut pair, "Unary", &[], b"on");
    assert_eq!(pair.heard(stream).messages, [b"on"], "the mistake is forgotten");
}

#[test]
fn what_one_handler_adds_goes_with_no_other_answer() {
    let mut pair = Pair::over(Notes);
    call(&mut pair, "Unary", &[], b"afterthought");
    call(&mut pair, "Chat", &[("x-refuse", "1")], b"");
    for method in ["Unary", "Chat"] {
        let stream = call(&mut pair, method, &[], b"on");
        let heard = pair.heard(stream);
        assert_eq!(heard.code(), Code::Ok);
        assert_eq!(heard.field("x-afterthought"), None);
    }
}
