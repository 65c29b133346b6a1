//! Calls that end before their handlers do: by their deadline, by their client, by the network.

use bookend_server::io::{Closed, Shard};
use bookend_server::{Code, Limits};
use bookend_wire::{ConnectionConfig, ErrorCode, StreamKey};

use crate::pair::{Pair, fields, framed, without_timeout_checks};
use crate::shop::Money;
use crate::streams::ask;
use crate::{PLACE, PRICE};

/// Shorter than anything takes: over as soon as time passes at all.
const INSTANT: (&str, &str) = ("grpc-timeout", "1n");

/// Lets the deadlines of all calls so far pass, and the shard notice.
fn pass_deadlines(pair: &mut Pair) {
    assert!(pair.shard.next_deadline().is_some());
    pair.later();
    pair.wake();
}

/// Begins a streaming call with a deadline.
fn open(pair: &mut Pair, method: &str) -> StreamKey {
    let path = format!("/test.Streams/{method}");
    let head = [&fields(&path)[..], &[INSTANT]].concat();
    pair.open(&head, false)
}

fn no_preface_timeout() -> Limits {
    Limits { preface_timeout_ns: None, ..without_timeout_checks() }
}

#[test]
fn a_deferred_call_ends_at_its_deadline_and_its_answer_comes_too_late() {
    let mut pair = Pair::with(no_preface_timeout(), &ConnectionConfig::trusted());
    let patient = pair.start(PLACE, "cancel");
    let hasty = pair.start_with(PLACE, &[INSTANT], "cancel");
    pair.pump();
    pass_deadlines(&mut pair);
    assert_eq!(pair.heard(hasty).code(), Code::DeadlineExceeded);
    assert!(pair.heard_nothing(patient));
    let cancelled = |pair: &Pair| -> Vec<bool> {
        let cancellations = pair.cancellations.lock().unwrap();
        cancellations.iter().map(|call| call.is_cancelled()).collect()
    };
    assert_eq!(cancelled(&pair), [false, true]);
    for (_, responder) in std::mem::take(&mut *pair.waiting.lock().unwrap()) {
        responder.send(Ok(Money { cents: 1 }));
    }
    pair.wake();
    assert_eq!(cancelled(&pair), [true, true]);
    assert_eq!(pair.heard(patient).cents(), [1]);
    assert_eq!(pair.heard(hasty).header_blocks, 1);
    let counts = pair.shard.counts();
    assert_eq!((counts.answered_ok, counts.answered_error, counts.late), (1, 1, 1));
    assert_eq!(pair.shard.next_deadline(), None);
}

#[test]
fn metadata_goes_with_the_end_by_deadline() {
    let mut pair = Pair::new();
    let echo = pair.start_with(PLACE, &[INSTANT], "echo");
    pair.pump();
    pass_deadlines(&mut pair);
    assert_eq!(pair.heard(echo).code(), Code::DeadlineExceeded);
    assert_eq!(pair.heard(echo).field("x-after"), Some("later"));
}

#[test]
fn a_stream_ends_at_its_deadline_and_its_handler_is_dropped() {
    let mut pair = Pair::new();
    let silent = open(&mut pair, "Chat");
    let talking = open(&mut pair, "Chat");
    pair.client.sender.data(talking, &ask(3, 1), false);
    pair.pump();
    assert_eq!(pair.heard(talking).messages.len(), 3);
    pass_deadlines(&mut pair);
    for stream in [silent, talking] {
        assert_eq!(pair.heard(stream).code(), Code::DeadlineExceeded);
    }
    assert_eq!(pair.streams.dropped(), 2);
    assert_eq!(pair.shard.counts().answered_error, 2);
}

#[test]
fn a_stream_whose_client_does_not_read_is_reset_at_its_deadline() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    pair.listener.idles = true;
    let stream = open(&mut pair, "Chat");
    pair.client.sender.data(stream, &ask(1_000, 1_000), false);
    pair.pump();
    pass_deadlines(&mut pair);
    assert_eq!(pair.heard(stream).reset, Some(ErrorCode::CANCEL));
    assert_eq!(pair.streams.dropped(), 1);
    pair.read_on();
    assert_eq!(pair.call(PRICE, "on").cents(), [2]);
}

#[test]
fn a_request_that_does_not_come_whole_in_time_is_not_waited_for() {
    let mut pair = Pair::new();
    let head = [&fields(PRICE)[..], &[INSTANT]].concat();
    let stream = pair.open(&head, false);
    pair.client.sender.data(stream, &framed(b"half")[..3], false);
    pair.pump();
    pass_deadlines(&mut pair);
    assert_eq!(pair.heard(stream).code(), Code::DeadlineExceeded);
}

#[test]
fn a_handler_is_not_run_for_a_call_that_comes_too_late() {
    let mut pair = Pair::new();
    let none = [("grpc-timeout", "0n")];
    let heard = pair.call_with(PRICE, &none, "panic");
    assert_eq!(heard.code(), Code::DeadlineExceeded);
    let heard = pair.call_with(PLACE, &none, "panic");
    assert_eq!(heard.code(), Code::DeadlineExceeded);
    let chat = [&fields("/test.Streams/Chat")[..], &none].concat();
    let stream = pair.open(&chat, false);
    pair.pump();
    assert_eq!(pair.heard(stream).code(), Code::DeadlineExceeded);
    assert_eq!(pair.streams.dropped(), 0);
    assert_eq!(pair.shard.counts().panics, 0);
}

#[test]
fn a_deferred_handler_can_see_that_its_client_is_gone() {
    let mut pair = Pair::new();
    let streams: Vec<_> = (0..3).map(|_| pair.start(PLACE, "cancel")).collect();
    pair.pump();
    let cancellations = pair.cancellations.lock().unwrap().clone();
    let cancelled = || -> Vec<bool> {
        let calls = cancellations.iter();
        calls.map(|call| call.is_cancelled()).collect()
    };
    assert_eq!(cancelled(), [false, false, false]);
    pair.client.sender.reset(streams[1], ErrorCode::CANCEL);
    pair.pump();
    assert_eq!(cancelled(), [false, true, false]);
    pair.shard.closed(pair.connection, Closed::Peer, &mut pair.io);
    assert_eq!(cancelled(), [true, true, true]);
}
