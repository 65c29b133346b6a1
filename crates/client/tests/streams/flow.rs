//! A slow reader keeps its peer waiting, and nobody else.

use crate::peer::{Peer, Request, body_of, connected};
use crate::{PATH, careful, talking};
use bookend_client::{ChannelOptions, Requests, StreamCall, UnaryCall};
use bookend_wire::frame::kind;
use bookend_wire::{ConnectionConfig, StreamKey};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// HTTP/2's own window, which both ends have here.
const WINDOW_BYTES: usize = 65_535;

fn window_updates(peer: &mut Peer, stream: StreamKey) -> usize {
    let is_update = |frame: &&bookend_wire::frame::FrameHeader| {
        frame.kind == kind::WINDOW_UPDATE && frame.stream_id == stream.id
    };
    peer.settle().frames.iter().filter(is_update).count()
}

#[test]
fn messages_that_are_not_read_keep_their_window_shut() {
    let (_requests, mut responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    for _ in 0..200 {
        peer.message(stream, &[7; 1_019]);
    }
    peer.settle();
    assert_eq!(peer.blocked_bytes(stream), 200 * 1_024 - WINDOW_BYTES);
    assert_eq!(window_updates(&mut peer, stream), 0);
    // The first message is read, and its bytes are too few for a WINDOW_UPDATE.
    responses.next();
    assert_eq!(window_updates(&mut peer, stream), 0);
    for _ in 1..200 {
        assert_eq!(responses.next().unwrap().unwrap().bytes, [7; 1_019]);
        peer.settle();
    }
    assert_eq!(peer.blocked_bytes(stream), 0);
    assert!((3..=6).contains(&window_updates(&mut peer, stream)));
}

#[test]
fn streams_that_are_not_read_delay_no_other_stream() {
    // Together their windows are four times that of the connection.
    const UNREAD: usize = 64;
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let mut calls = Vec::new();
    for number in 1..=UNREAD {
        calls.push(channel.open(StreamCall::new(PATH)));
        let stream = peer.stream(number);
        peer.head(stream, &[]);
        peer.data(stream, &body_of(&[&[0; WINDOW_BYTES - 5]]), false);
        peer.settle();
        assert_eq!(peer.blocked_bytes(stream), 0);
    }
    let (tell, hear) = std::sync::mpsc::channel();
    channel.call(UnaryCall::new(PATH, vec![]), move |answer| {
        tell.send(answer).unwrap();
    });
    let stream = peer.stream(UNREAD + 1);
    peer.answer(stream, &[1; 60_000]);
    let answer = hear.recv().unwrap();
    assert_eq!(answer.single_message(), Ok(&[1; 60_000][..]));
}

#[test]
fn a_message_larger_than_any_window_reaches_a_waiting_reader() {
    let (_requests, mut responses, mut peer, _listener) = talking(careful());
    let message: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
    let stream = peer.stream(1);
    peer.head(stream, &[]);
    peer.message(stream, b"first");
    peer.message(stream, &message);
    peer.settle();
    // Somebody must come for it: until then it waits at the server's.
    assert!(peer.blocked_bytes(stream) >= message.len() - WINDOW_BYTES);
    assert_eq!(responses.next().unwrap().unwrap().bytes, b"first");
    let reading = thread::spawn(move || responses.next().unwrap().unwrap().bytes);
    while peer.blocked_bytes(stream) > 0 {
        peer.settle();
    }
    assert!(reading.join().unwrap() == message);
}

/// Sends messages of 1,024 bytes with their prefixes, and counts them.
fn send_many(
    mut requests: Requests,
    messages: usize,
) -> (Arc<AtomicUsize>, thread::JoinHandle<()>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let thread = thread::spawn(move || {
        for _ in 0..messages {
            requests.send(&[3; 1_019]).unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
        }
        requests.finish();
    });
    (sent, thread)
}

#[test]
fn a_server_that_does_not_read_makes_the_sender_wait() {
    const MESSAGES: usize = 1_000;
    let (requests, _responses, mut peer, _listener) = talking(careful());
    let stream = peer.stream(1);
    let (sent, sending) = send_many(requests, MESSAGES);
    peer.hear(|heard| heard.has_body(WINDOW_BYTES));
    // In the server's window, held back because of it, and in the buffer of the call.
    let most = 3 * WINDOW_BYTES / 1_024;
    for _ in 0..200 {
        peer.settle();
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent <= most, "{sent} messages");
    }
    let mut read = 0;
    while read < MESSAGES * 1_024 {
        let request = peer.hear(|heard| heard.request(stream).body.len() > read);
        let fresh = request.request(stream).body.len() - read;
        assert!(fresh <= WINDOW_BYTES);
        read += fresh;
        peer.allow(stream, fresh);
    }
    sending.join().unwrap();
    assert_eq!(peer.whole(stream).body.len(), MESSAGES * 1_024);
}

#[test]
fn a_message_larger_than_the_buffer_waits_alone() {
    let (mut requests, _responses, mut peer, _listener) = talking(careful());
    let message: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    let large = message.clone();
    let sending = thread::spawn(move || {
        requests.send(b"before").unwrap();
        requests.send(&large).unwrap();
        requests.send(b"after").unwrap();
        requests.finish();
    });
    let stream = peer.stream(1);
    let expected = body_of(&[b"before", &message, b"after"]);
    let mut read = 0;
    while read < expected.len() {
        let request = peer.hear(|heard| heard.request(stream).body.len() > read);
        let fresh = request.request(stream).body.len() - read;
        read += fresh;
        peer.allow(stream, fresh);
    }
    sending.join().unwrap();
    assert!(peer.whole(stream).body == expected);
}

#[test]
fn small_windows_of_either_side_are_kept() {
    const SMALL_BYTES: usize = 1_000;
    let (mut options, mut config) = (careful(), ConnectionConfig::internet());
    options.http2.settings.initial_window_bytes = SMALL_BYTES as u32;
    config.settings.initial_window_bytes = SMALL_BYTES as u32;
    let (channel, mut peer, _listener) = connected(options, &config);
    let message: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    let call = UnaryCall::new(PATH, message.clone());
    let (tell, hear) = std::sync::mpsc::channel();
    channel.call(call, move |answer| tell.send(answer).unwrap());
    let stream = peer.stream(1);
    let mut read = 0;
    while read < message.len() + 5 {
        let request = peer.hear(|heard| heard.request(stream).body.len() > read);
        let fresh = request.request(stream).body.len() - read;
        assert!(fresh <= SMALL_BYTES);
        read += fresh;
        peer.allow(stream, fresh);
    }
    peer.answer(stream, &message);
    while peer.blocked_bytes(stream) > 0 {
        peer.settle();
    }
    let answer = hear.recv().unwrap();
    assert!(answer.single_message() == Ok(&message[..]));
}

#[test]
fn streams_share_an_output_that_the_network_is_slow_to_take() {
    const STREAMS: usize = 8;
    const MESSAGES: usize = 3_000;
    let (channel, mut peer, _listener) =
        connected(ChannelOptions::default(), &ConnectionConfig::trusted());
    let calls: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (requests, responses) = channel.open(StreamCall::new(PATH));
            (send_many(requests, MESSAGES).1, responses)
        })
        .collect();
    // No window is in the way: three megabytes of each go out as the socket takes them.
    let is_whole = |request: &Request| request.ended && request.body.len() == MESSAGES * 1_024;
    peer.hear(|heard| heard.requests.len() == STREAMS && heard.requests.values().all(is_whole));
    for (sending, _) in calls {
        sending.join().unwrap();
    }
}
