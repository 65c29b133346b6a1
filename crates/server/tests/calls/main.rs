//! Calls of a small service, from a client's connection to a server's shard without a socket.

mod borrowed;
mod compression;
mod cuts;
mod details;
mod endings;
mod every;
mod examples;
mod features;
mod health;
mod intercepting;
mod large;
mod loopback;
mod metadata;
mod pair;
mod pool;
mod raw;
mod reflection;
mod shop;
mod streams;
mod waking;
mod zstd;

use bookend_server::io::{Closed, Shard};
use bookend_server::prost::Message;
use bookend_server::{Code, Counts, Limits, Rate, Status};
use bookend_wire::{ConnectionConfig, ErrorCode};

use pair::{Pair, fields, framed, without_timeout_checks};
use shop::{Item, Money};

const PRICE: &str = "/shop.v1.Orders/Price";
const PLACE: &str = "/shop.v1.Orders/Place";
const FOLLOW: &str = "/shop.v1.Orders/Follow";

#[test]
fn a_unary_call_is_answered() {
    let mut pair = Pair::new();
    let heard = pair.call(PRICE, "seven c");
    assert_eq!(heard.cents(), [7]);
    assert_eq!(heard.field(":status"), Some("200"));
    assert_eq!(heard.field("content-type"), Some("application/grpc"));
    assert_eq!(pair.shard.counts(), Counts { answered_ok: 1, ..Counts::default() });
}

#[test]
fn many_calls_with_one_head_are_answered_each() {
    let mut pair = Pair::new();
    for length in 0..200 {
        assert_eq!(pair.call(PRICE, &"x".repeat(length)).cents(), [length as i64]);
    }
}

#[test]
fn several_requests_in_one_read_are_answered_by_one_write() {
    let mut pair = Pair::new();
    let streams: Vec<_> = (0..100).map(|length| pair.start(PRICE, &"x".repeat(length))).collect();
    pair.pump();
    assert_eq!((pair.reads, pair.writes), (1, 1));
    for (length, stream) in streams.into_iter().enumerate() {
        assert_eq!(pair.heard(stream).cents(), [length as i64]);
    }
}

#[test]
fn a_request_that_comes_byte_by_byte_is_answered() {
    let mut pair = Pair::new();
    let stream = pair.start(PRICE, "slow");
    pair.pump_in_pieces(1);
    assert_eq!(pair.heard(stream).cents(), [4]);
}

#[test]
fn a_message_may_span_frames_and_end_without_data() {
    let mut pair = Pair::new();
    let body = framed(&Item { name: "x".repeat(40_000) }.encode_to_vec());
    for piece in [1, 3, 7_000, 16_384] {
        let stream = pair.open(&fields(PRICE), false);
        for piece in body.chunks(piece).take(100) {
            pair.client.sender.data(stream, piece, false);
        }
        let rest = body.get(100 * piece..).unwrap_or(&[]);
        pair.client.sender.data(stream, rest, false);
        pair.pump();
        assert!(pair.heard_nothing(stream), "the client has not ended its side");
        pair.client.sender.data(stream, b"", true);
        pair.pump();
        assert_eq!(pair.heard(stream).cents(), [40_000]);
    }
}

#[test]
fn an_unknown_method_is_unimplemented_and_the_connection_goes_on() {
    let mut pair = Pair::new();
    for (path, message) in [
        ("/shop.v1.Orders/Steal", "unknown method \"Steal\" of service \"shop.v1.Orders\""),
        ("/shop.v2.Orders/Price", "unknown service \"shop.v2.Orders\""),
        ("/shop.v1.Orders/Price/", "unknown service \"shop.v1.Orders/Price\""),
        ("/Price", "malformed path \"/Price\""),
    ] {
        let heard = pair.call(path, "");
        assert_eq!((heard.code(), heard.header_blocks), (Code::Unimplemented, 1));
        assert_eq!(heard.status_message(), message);
        assert_eq!(heard.reset, None);
    }
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
    assert_eq!(pair.shard.counts().served(), 5);
}

#[test]
fn a_handlers_error_arrives_with_its_message() {
    let mut pair = Pair::new();
    let heard = pair.call(PRICE, "unknown");
    assert_eq!(heard.code(), Code::NotFound);
    assert_eq!(heard.field("grpc-message"), Some("100 %25 unknown: %C3%BC%0A"));
    assert_eq!(heard.status_message(), "100 % unknown: \u{fc}\n");
    assert_eq!(heard.header_blocks, 1, "trailers only");
    assert_eq!(pair.call(PRICE, "fine").code(), Code::Internal);
}

#[test]
fn a_panic_costs_one_call() {
    let mut pair = Pair::new();
    let before = pair.start(PRICE, "before");
    let panics = pair.start(PRICE, "panic");
    let deferred = pair.start(PLACE, "panic");
    let after = pair.start(PRICE, "after");
    pair.pump();
    assert_eq!(pair.heard(before).cents(), [6]);
    assert_eq!(pair.heard(panics).code(), Code::Internal);
    assert_eq!(pair.heard(deferred).code(), Code::Internal);
    assert_eq!(pair.heard(after).cents(), [5]);
    pair.wake();
    let counts = pair.shard.counts();
    assert_eq!((counts.answered_ok, counts.answered_error, counts.panics), (2, 2, 2));
}

#[test]
fn what_is_not_grpc_is_refused_in_http() {
    let mut pair = Pair::new();
    let mut json = fields(PRICE);
    json[5].1 = "application/json";
    let stream = pair.open(&json, true);
    pair.pump();
    assert_eq!(pair.heard(stream).field(":status"), Some("415"));
    let mut get = fields(PRICE);
    get[0].1 = "GET";
    let stream = pair.open(&get, true);
    pair.pump();
    assert_eq!(pair.heard(stream).field(":status"), Some("405"));
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
}

#[test]
fn a_codec_that_the_service_does_not_speak_is_unimplemented() {
    let mut pair = Pair::new();
    for (content_type, code) in [
        ("application/grpc+proto", Code::Ok),
        ("application/grpc+Proto", Code::Ok),
        ("application/grpc+json", Code::Unimplemented),
        ("application/grpc+", Code::Unimplemented),
    ] {
        let mut fields = fields(PRICE);
        fields[5].1 = content_type;
        let stream = pair.open(&fields, false);
        // What no JSON is, and every protobuf message can be.
        pair.client.sender.data(stream, &framed(b""), true);
        pair.pump();
        let heard = pair.heard(stream);
        assert_eq!(heard.field(":status"), Some("200"), "{content_type}");
        assert_eq!(heard.code(), code, "{content_type}");
    }
}

#[test]
fn requests_that_are_not_grpc_get_the_fallback_page() {
    let mut pair = Pair::with_page(Limits::internet(), "a gRPC server");
    let mut get = fields("/");
    get[0].1 = "GET";
    let stream = pair.open(&get, true);
    pair.pump();
    let heard = pair.heard(stream);
    assert_eq!(heard.field(":status"), Some("200"));
    assert_eq!((heard.body.as_slice(), heard.ended), (&b"a gRPC server"[..], true));
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
    assert_eq!(pair.call("/", "").code(), Code::Unimplemented, "gRPC stays gRPC");
}

#[test]
fn the_wrong_number_of_messages_is_unimplemented() {
    let mut pair = Pair::new();
    let none = pair.open(&fields(PRICE), true);
    pair.pump();
    assert_eq!(pair.heard(none).code(), Code::Unimplemented);
    let two = pair.open(&fields(PRICE), false);
    pair.client.sender.data(two, &[framed(b""), framed(b"")].concat(), true);
    pair.pump();
    assert_eq!(pair.heard(two).code(), Code::Unimplemented);
}

#[test]
fn bodies_that_are_no_message_are_internal_errors() {
    let mut pair = Pair::new();
    let cut_off = &framed(b"abc")[..6];
    for body in [&b"\0\0"[..], cut_off, b"\x01\0\0\0\0", &framed(b"\xff\xff")] {
        let stream = pair.open(&fields(PRICE), false);
        pair.client.sender.data(stream, body, true);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), Code::Internal, "{body:?}");
    }
}

#[test]
fn a_message_over_the_limit_is_refused_by_its_prefix() {
    let mut pair = Pair::new();
    let stream = pair.open(&fields(PRICE), false);
    let too_long = (4 << 20) + 1_u32;
    pair.client.sender.data(stream, &[&[0][..], &too_long.to_be_bytes()].concat(), false);
    pair.pump();
    assert_eq!(pair.heard(stream).code(), Code::ResourceExhausted);
    pair.client.sender.data(stream, &[0; 60_000], false);
    pair.pump();
    assert_eq!(pair.heard(stream).reset, None, "what was on its way is thrown away");
    pair.client.sender.data(stream, &[0; 60_000], false);
    pair.pump();
    assert_eq!(pair.heard(stream).reset, Some(ErrorCode::NO_ERROR));
}

#[test]
fn unfinished_requests_of_a_connection_are_bounded_together() {
    for path in [PRICE, FOLLOW] {
        let limits = Limits { max_unfinished_bytes: 10_000, ..Limits::internet() };
        let mut pair = Pair::with(limits, &ConnectionConfig::trusted());
        let body = framed(&[0; 20_000]);
        let begin = |pair: &mut Pair, bytes: usize| {
            let stream = pair.open(&fields(path), false);
            pair.client.sender.data(stream, &body[..bytes], false);
            pair.pump();
            stream
        };
        let first = begin(&mut pair, 6_000);
        let second = begin(&mut pair, 6_000);
        assert!(pair.heard_nothing(first));
        assert_eq!(pair.heard(second).code(), Code::ResourceExhausted);
        pair.client.sender.reset(first, ErrorCode::CANCEL);
        let third = begin(&mut pair, 9_000);
        assert!(pair.heard_nothing(third), "the room of the others is free again");
    }
}

#[test]
fn metadata_goes_both_ways() {
    let mut pair = Pair::new();
    for value in ["one", "two", "two", "two"] {
        let heard = pair.call_with(PRICE, &[("x-echo", value)], "echo");
        assert_eq!(heard.cents(), [1]);
        assert_eq!(heard.field("x-echo"), Some(value));
        assert_eq!(heard.field("x-after"), Some("bye"));
    }
    assert_eq!(pair.call(PRICE, "echo").field("x-echo"), Some("none"));
    assert_eq!(pair.call(PRICE, "plain").field("x-after"), None);
}

#[test]
fn the_deadline_is_known_to_the_handler() {
    let mut pair = Pair::new();
    for _ in 0..3 {
        let heard = pair.call_with(PRICE, &[("grpc-timeout", "1H")], "deadline");
        let [remaining_ms] = heard.cents()[..] else { panic!("one reply") };
        assert!((1..=3_600_000).contains(&remaining_ms), "{remaining_ms}");
    }
    assert_eq!(pair.call(PRICE, "deadline").cents(), [-1]);
    let heard = pair.call_with(PRICE, &[("grpc-timeout", "1 hour")], "deadline");
    assert_eq!(heard.code(), Code::Internal);
}

#[test]
fn deferred_calls_are_answered_from_other_threads_in_any_order() {
    let mut pair = Pair::with(Limits::trusted(), &ConnectionConfig::trusted());
    let streams: Vec<_> = (0..1_000).map(|length| pair.start(PLACE, &"x".repeat(length))).collect();
    pair.pump();
    assert!(streams.iter().all(|stream| pair.heard_nothing(*stream)));
    let waiting = std::mem::take(&mut *pair.waiting.lock().unwrap());
    let answering = std::thread::spawn(move || {
        for (item, responder) in waiting.into_iter().rev() {
            responder.send(Ok(Money { cents: item.name.len() as i64 }));
        }
    });
    answering.join().unwrap();
    pair.wake();
    for (length, stream) in streams.into_iter().enumerate() {
        assert_eq!(pair.heard(stream).cents(), [length as i64]);
    }
    assert_eq!(pair.shard.counts().answered_ok, 1_000);
}

#[test]
fn a_deferred_call_may_fail_and_carry_metadata() {
    let mut pair = Pair::new();
    let fails = pair.start(PLACE, "fails");
    let echo = pair.start(PLACE, "echo");
    pair.pump();
    for (item, responder) in std::mem::take(&mut *pair.waiting.lock().unwrap()) {
        let result = match item.name.as_str() {
            "echo" => Ok(Money { cents: 5 }),
            _ => Err(Status::new(Code::Aborted, "later")),
        };
        responder.send(result);
    }
    pair.wake();
    assert_eq!(pair.heard(fails).code(), Code::Aborted);
    assert_eq!(pair.heard(fails).field("x-after"), None);
    assert_eq!(pair.heard(echo).cents(), [5]);
    assert_eq!(pair.heard(echo).field("x-after"), Some("later"));
}

#[test]
fn a_dropped_responder_ends_its_call() {
    let mut pair = Pair::new();
    let stream = pair.start(PLACE, "");
    pair.pump();
    pair.waiting.lock().unwrap().clear();
    pair.wake();
    assert_eq!(pair.heard(stream).code(), Code::Internal);
    assert_eq!(pair.heard(stream).status_message(), "the handler dropped the call");
}

#[test]
fn a_late_answer_is_dropped_and_counted() {
    let mut pair = Pair::new();
    let stream = pair.start(PLACE, "");
    pair.pump();
    pair.client.sender.reset(stream, ErrorCode::CANCEL);
    let other = pair.start(PRICE, "takes the key over");
    pair.pump();
    assert_eq!(pair.heard(other).cents(), [18]);
    pair.waiting.lock().unwrap().clear();
    pair.wake();
    assert!(pair.heard_nothing(stream));
    let counts = pair.shard.counts();
    assert_eq!((counts.late, counts.answered_ok, counts.answered_error), (1, 1, 0));
}

#[test]
fn a_stream_answers_message_by_message() {
    let mut pair = Pair::new();
    let stream = pair.open(&fields(FOLLOW), false);
    let item = |name: &str| framed(&Item { name: name.into() }.encode_to_vec());
    pair.client.sender.data(stream, &item("a"), false);
    pair.pump();
    assert_eq!(pair.heard(stream).messages.len(), 1);
    let more = [item("bc"), item("def")].concat();
    pair.client.sender.data(stream, &more[..4], false);
    pair.client.sender.data(stream, &more[4..], true);
    pair.pump();
    assert_eq!(pair.heard(stream).cents(), [1, 2, 3, 3]);
}

#[test]
fn a_stream_may_end_early_and_may_panic() {
    let mut pair = Pair::new();
    let item = |name: &str| framed(&Item { name: name.into() }.encode_to_vec());
    for (name, code) in [("stop", Code::Aborted), ("panic", Code::Internal)] {
        let stream = pair.open(&fields(FOLLOW), false);
        let body = [item("a"), item(name), item("never")].concat();
        pair.client.sender.data(stream, &body, false);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), code);
        assert_eq!(pair.heard(stream).messages.len(), 1);
    }
    let cut_off = pair.open(&fields(FOLLOW), false);
    pair.client.sender.data(cut_off, &item("abc")[..6], true);
    pair.pump();
    assert_eq!(pair.heard(cut_off).code(), Code::Internal);
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
}

#[test]
fn a_server_that_stops_says_so_and_finishes_what_it_has() {
    let mut pair = Pair::new();
    let waits = pair.start(PLACE, "");
    pair.pump();
    pair.io.stop();
    pair.wake();
    assert_eq!(pair.goaway(), Some(waits.id));
    assert!(pair.shard.has_outstanding());
    let (_, responder) = pair.waiting.lock().unwrap().pop().unwrap();
    responder.send(Ok(Money { cents: 3 }));
    pair.wake();
    assert_eq!(pair.heard(waits).cents(), [3]);
    assert!(pair.shard.has_outstanding(), "the connection is to be closed");
    pair.shard.closed(pair.connection, Closed::Us, &mut pair.io);
    assert!(!pair.shard.has_outstanding());
}

#[test]
fn a_server_that_stops_does_not_wait_for_calls_whose_client_has_gone() {
    let mut pair = Pair::new();
    pair.start(PLACE, "");
    pair.pump();
    pair.io.stop();
    pair.wake();
    pair.shard.closed(pair.connection, Closed::Peer, &mut pair.io);
    assert!(!pair.shard.has_outstanding());
    // Its answer is late, whenever it comes.
    pair.waiting.lock().unwrap().clear();
    pair.shard.woken(&mut pair.io);
    assert_eq!(pair.shard.counts().late, 1);
}

#[test]
fn a_client_that_breaks_http2_loses_its_connection() {
    let mut pair = Pair::new();
    pair.client.sender.output.extend_from_slice(b"\0\0\0\x04\0\0\0\0\x05");
    pair.pump();
    assert!(pair.closed);
    assert_eq!(pair.shard.counts().broken_connections, 1);
}

#[test]
fn calls_that_were_given_up_count_until_their_handlers_are_done() {
    let mut limits = Limits::internet();
    limits.http2.settings.max_concurrent_streams = Some(5);
    let mut pair = Pair::with(limits, &ConnectionConfig::trusted());
    for _ in 0..5 {
        let stream = pair.start(PLACE, "");
        pair.pump();
        pair.client.sender.reset(stream, ErrorCode::CANCEL);
    }
    assert_eq!(pair.call(PLACE, "").code(), Code::ResourceExhausted);
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
    pair.waiting.lock().unwrap().clear();
    pair.wake();
    let stream = pair.start(PLACE, "");
    pair.pump();
    assert!(pair.heard_nothing(stream), "it waits for its handler again");
}

#[test]
fn a_client_that_resets_too_much_is_told_to_calm_down() {
    let resets = Some(Rate { burst: 10, per_second: 1 });
    let mut pair =
        Pair::with(Limits { resets, ..Limits::internet() }, &ConnectionConfig::trusted());
    for _ in 0..10 {
        let stream = pair.start(PLACE, "");
        pair.pump();
        pair.client.sender.reset(stream, ErrorCode::CANCEL);
        pair.pump();
    }
    assert!(!pair.closed, "a heavy user just under the limit");
    let streams: Vec<_> = (0..3).map(|_| pair.start(PLACE, "")).collect();
    for stream in streams {
        pair.client.sender.reset(stream, ErrorCode::CANCEL);
    }
    pair.pump();
    assert!(pair.closed && pair.goaway().is_some());
}

#[test]
fn a_connection_that_says_nothing_is_closed_in_time() {
    let limits = Limits { preface_timeout_ns: Some(0), ..without_timeout_checks() };
    let mut pair = Pair::silent(limits);
    assert!(pair.shard.next_deadline().is_some());
    pair.shard.woken(&mut pair.io);
    assert_eq!(pair.shard.counts().broken_connections, 1);
    assert_eq!(pair.shard.next_deadline(), None);

    let pair = Pair::new();
    assert_eq!(pair.shard.next_deadline(), None, "this one has spoken");
}
