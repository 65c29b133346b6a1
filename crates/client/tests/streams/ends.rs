//! How a call ends when it is not the server that ends it well.

use crate::peer::{Heard, Peer, Request, body_of, connected, listen};
use crate::{PATH, careful, code_of, talking};
use bookend_client::{Channel, Code, SendError, StreamCall, UnaryCall};
use bookend_wire::{ConnectionConfig, ErrorCode, StreamKey};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Waits for a reset of that stream, which must be the only one.
fn cancelled(peer: &mut Peer, stream: StreamKey) {
    let resets = &peer.hear(|heard| !heard.resets.is_empty()).resets;
    assert_eq!(resets, &[(stream.id, ErrorCode::CANCEL)]);
}

#[test]
fn dropping_what_sends_cancels_unless_it_has_finished() {
    let (requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    drop(requests);
    assert_eq!(responses.end().status.code, Code::Cancelled);
    cancelled(&mut peer, stream);

    let (requests, responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    requests.finish();
    peer.whole(stream);
    peer.trailers_only_ok(stream);
    assert_eq!(code_of(responses), Code::Ok);
    assert_eq!(peer.hear_all().resets, []);
}

#[test]
fn dropping_what_receives_cancels_unless_the_end_was_seen() {
    let (mut requests, responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    drop(responses);
    cancelled(&mut peer, stream);
    assert_eq!(requests.send(b"x"), Err(SendError::Ended));
}

#[test]
fn either_half_and_any_thread_may_cancel_and_both_halves_stop_waiting() {
    for by in 0..3 {
        let (requests, mut responses, mut peer, _listener) = talking(careful());
        let stream = peer.stream(1);
        peer.head(stream, &[]);
        peer.data(stream, &body_of(&[b"first", b"unread"]), false);
        assert_eq!(responses.next().unwrap().unwrap().bytes, b"first");
        let elsewhere = responses.canceller();
        // A third one keeps the channel, and with it the connection, to the end.
        let _last = responses.canceller();
        match by {
            0 => requests.cancel(),
            1 => responses.cancel(),
            _ => thread::scope(|scope| drop(scope.spawn(|| elsewhere.cancel()))),
        }
        let status = responses.next().unwrap().unwrap_err();
        assert_eq!(status.code, Code::Cancelled, "what was not read is not wanted");
        cancelled(&mut peer, stream);
        requests.cancel();
        drop((requests, responses));
        assert_eq!(peer.settle().resets.len(), 1, "once is enough");
        // Until here it has kept the channel alive.
        drop(elsewhere);
    }
}

#[test]
fn cancelling_wakes_a_waiting_reader_and_a_waiting_writer() {
    let (mut requests, mut responses, mut peer, _listener) = talking(careful());
    let canceller = requests.canceller();
    let sending = thread::spawn(move || while requests.send(&[0; 1_000]).is_ok() {});
    let reading = thread::spawn(move || responses.next().unwrap().unwrap_err().code);
    peer.hear(|heard| heard.has_body(65_535));
    canceller.cancel();
    sending.join().unwrap();
    assert_eq!(reading.join().unwrap(), Code::Cancelled);
}

#[test]
fn the_server_learns_the_deadline_and_it_is_kept_without_the_server() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let mut call = StreamCall::new(PATH);
    call.timeout = Some(Duration::from_millis(300));
    let (mut requests, mut responses) = channel.open(call);
    assert_eq!(responses.end().status.code, Code::DeadlineExceeded);
    assert_eq!(requests.send(b"late"), Err(SendError::Ended));
    // On a busy machine the deadline may pass before the call is sent. The next one is behind it.
    let _next = channel.open(StreamCall::new(PATH));
    let told = |heard: &Heard| {
        let timeout = |request: &Request| request.field("grpc-timeout").map(str::to_owned);
        let timeouts = heard.requests.iter().map(move |(id, request)| (*id, timeout(request)));
        timeouts.collect::<Vec<_>>()
    };
    peer.hear(|heard| told(heard).iter().any(|(_, timeout)| timeout.is_none()));
    let heard = peer.settle();
    let mut cancelled = Vec::new();
    for (id, timeout) in told(heard) {
        let Some(timeout) = timeout else { continue };
        let told_ns = bookend_wire::grpc::timeout::parse(timeout.as_bytes()).unwrap();
        assert!((1..=300_000_000).contains(&told_ns));
        cancelled.push((id, ErrorCode::CANCEL));
    }
    assert_eq!(heard.resets, cancelled);
}

#[test]
fn a_deadline_ends_a_wait_for_room() {
    let (channel, _peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let mut call = StreamCall::new(PATH);
    call.timeout = Some(Duration::from_millis(20));
    let (mut requests, responses) = channel.open(call);
    while requests.send(&[0; 10_000]).is_ok() {}
    assert_eq!(code_of(responses), Code::DeadlineExceeded);
}

#[test]
fn a_server_may_answer_before_it_was_asked_everything() {
    let (mut requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    requests.send(b"the first of many").unwrap();
    peer.hear(|heard| heard.has_body(22));
    peer.answer(stream, b"enough");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"enough");
    assert_eq!(responses.end().status.code, Code::Ok);
    while requests.send(b"more").is_ok() {}
    // Servers count resets, and an end will do.
    peer.whole(stream);
    assert_eq!(peer.settle().resets, []);
}

#[test]
fn a_server_that_answers_in_the_middle_of_a_message_is_not_sent_the_rest() {
    let (mut requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    requests.send(&[0; 100_000]).unwrap();
    peer.hear(|heard| heard.has_body(65_535));
    peer.answer(stream, b"enough");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"enough");
    assert_eq!(responses.end().status.code, Code::Ok);
    cancelled(&mut peer, stream);
}

#[test]
fn an_early_refusal_ends_the_call_and_the_connection_goes_on() {
    let mut small = ConnectionConfig::internet();
    small.settings.initial_window_bytes = 10;
    let (listener, address) = listen();
    let channel = Channel::connect(&address, careful()).unwrap();
    let call = |message: &'static [u8]| {
        let (tell, hear) = mpsc::channel();
        let call = UnaryCall::new(PATH, message.to_vec());
        channel.call(call, move |answer| tell.send(answer).unwrap());
        hear
    };
    let refused = call(&[0; 100]);
    let mut peer = Peer::accept(&listener, &small);
    let stream = peer.stream(1);
    let refusal = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "12")];
    peer.headers(stream, &refusal, true);
    assert_eq!(refused.recv().unwrap().status.code, Code::Unimplemented);
    cancelled(&mut peer, stream);
    let answered = call(b"after");
    let stream = peer.stream(2);
    assert_eq!(peer.whole(stream).body, body_of(&[b"after"]));
    peer.answer(stream, b"after");
    assert_eq!(answered.recv().unwrap().single_message(), Ok(&b"after"[..]));
}

#[test]
fn a_reset_without_error_after_a_whole_answer_leaves_it_good() {
    let (requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    peer.answer(stream, b"whole");
    peer.reset(stream, ErrorCode::NO_ERROR);
    peer.settle();
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"whole");
    assert_eq!(responses.end().status.code, Code::Ok);
    drop(requests);
}

#[test]
fn what_a_reset_means_is_what_the_specification_says() {
    let meanings = [
        (ErrorCode::NO_ERROR, Code::Internal),
        (ErrorCode::PROTOCOL_ERROR, Code::Internal),
        (ErrorCode::INTERNAL_ERROR, Code::Internal),
        (ErrorCode::FLOW_CONTROL_ERROR, Code::Internal),
        (ErrorCode::FRAME_SIZE_ERROR, Code::Internal),
        (ErrorCode::CANCEL, Code::Cancelled),
        (ErrorCode::COMPRESSION_ERROR, Code::Internal),
        (ErrorCode::CONNECT_ERROR, Code::Internal),
        (ErrorCode::ENHANCE_YOUR_CALM, Code::ResourceExhausted),
        (ErrorCode::INADEQUATE_SECURITY, Code::PermissionDenied),
    ];
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    for (number, (reset, meant)) in meanings.into_iter().enumerate() {
        let (_requests, mut responses) = channel.open(StreamCall::new(PATH));
        let stream = peer.stream(number + 1);
        peer.head(stream, &[]);
        peer.reset(stream, reset);
        let status = &responses.end().status;
        assert_eq!(status.code, meant, "{reset}");
        assert!(status.message.contains(reset.name()), "{status}");
    }
    let heard: &Heard = peer.settle();
    assert_eq!(heard.resets, [], "a reset is not answered by one");
}

#[test]
fn paths_that_cannot_be_sent_and_calls_beyond_the_limit_end_at_once() {
    let mut options = careful();
    options.max_pending_calls = 1;
    let (channel, mut peer, _listener) = connected(options, &ConnectionConfig::internet());
    let (_requests, responses) = channel.open(StreamCall::new("no slash"));
    assert_eq!(code_of(responses), Code::InvalidArgument);
    let first = channel.open(StreamCall::new(PATH));
    let (_requests, responses) = channel.open(StreamCall::new(PATH));
    assert_eq!(code_of(responses), Code::ResourceExhausted);
    peer.stream(1);
    drop(first);
    // Room is made where the end is known to the channel, which tells the server of it.
    peer.hear(|heard| !heard.resets.is_empty());
    let (_requests, _responses) = channel.open(StreamCall::new(PATH));
    peer.stream(2);
}

#[test]
fn the_halves_keep_the_channel_alive() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let (requests, mut responses) = channel.open(StreamCall::new(PATH));
    drop(channel);
    requests.finish();
    let stream = peer.stream(1);
    peer.answer(stream, b"still there");
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"still there");
    drop(responses);
    peer.hear_all();
}
