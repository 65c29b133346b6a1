//! A client that gives up many calls at once is not taken for an attacker.

use crate::peer::{Peer, connected, listen};
use crate::{PATH, careful, channel_to};
use bookend_client::{Code, StreamCall, UnaryCall};
use bookend_wire::ConnectionConfig;
use bookend_wire::frame::{FrameHeader, kind};
use std::time::Duration;

/// What goes out at once at most: h2 cuts off who resets 20 streams that it has not handed on.
const RESETS_AT_ONCE: usize = 16;

#[test]
fn no_call_is_sent_before_the_server_has_said_how_many_it_takes() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let _calls: Vec<_> = (0..200).map(|_| channel.open(StreamCall::new(PATH))).collect();
    // Once this has ended, all others have been looked at, and not been sent.
    let mut impatient = UnaryCall::new(PATH, vec![]);
    impatient.timeout = Some(Duration::from_millis(1));
    let status = channel.unary(impatient).status;
    assert_eq!(status.code, Code::DeadlineExceeded);
    let mut config = ConnectionConfig::internet();
    config.settings.max_concurrent_streams = Some(2);
    let mut peer = Peer::accept(&listener, &config);
    peer.stream(2);
    let is_head = |frame: &&FrameHeader| frame.kind == kind::HEADERS;
    assert_eq!(peer.settle().frames.iter().filter(is_head).count(), 2);
}

#[test]
fn few_resets_go_out_at_once_and_what_is_owed_keeps_its_window_shut() {
    const CALLS: usize = 48;
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let calls: Vec<_> = (0..CALLS).map(|_| channel.open(StreamCall::new(PATH))).collect();
    peer.stream(CALLS);
    drop(calls);
    // Whatever was due by now is there, and the paced rest comes five a second.
    peer.hear(|heard| heard.resets.len() >= RESETS_AT_ONCE);
    let resets = peer.settle().resets.clone();
    assert!(resets.len() < CALLS, "{} resets at once", resets.len());
    let streams = peer.settle().streams.clone();
    let owed = streams[CALLS - 1];
    assert!(!resets.iter().any(|(id, _)| *id == owed.id));
    peer.head(owed, &[]);
    peer.data(owed, &[0; 100_000], false);
    let updates = peer
        .settle()
        .frames
        .iter()
        .filter(|frame| frame.kind == kind::WINDOW_UPDATE && frame.stream_id == owed.id);
    assert_eq!(updates.count(), 0);
}

#[test]
fn a_call_that_the_server_ends_by_itself_needs_no_reset() {
    const CALLS: usize = 30;
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let (requests, responses) = channel.open(StreamCall::new(PATH));
            requests.finish();
            responses
        })
        .collect();
    let last = peer.stream(CALLS);
    peer.whole(last);
    drop(calls);
    peer.hear(|heard| heard.resets.len() >= RESETS_AT_ONCE);
    let heard = peer.settle();
    let is_reset = |id: u32| heard.resets.iter().any(|(reset, _)| *reset == id);
    let open: Vec<_> =
        heard.streams.iter().filter(|stream| !is_reset(stream.id)).copied().collect();
    for stream in open {
        peer.trailers_only_ok(stream);
    }
    let resets = peer.settle().resets.len();
    // A call that comes and goes is the next to be reset: nothing is owed before it.
    let (requests, responses) = channel.open(StreamCall::new(PATH));
    let stream = peer.stream(CALLS + 1);
    drop((requests, responses));
    let heard = peer.hear(|heard| heard.resets.len() > resets);
    assert_eq!(heard.resets[resets].0, stream.id);
}

#[test]
fn where_many_are_given_up_the_connection_is_replaced_and_closed_when_its_last_call_ends() {
    const CALLS: usize = 100;
    let (channel, mut old, listener) = connected(careful(), &ConnectionConfig::internet());
    let calls: Vec<_> = (0..CALLS).map(|_| channel.open(StreamCall::new(PATH))).collect();
    let (kept_requests, mut kept) = channel.open(StreamCall::new(PATH));
    let kept_stream = old.stream(CALLS + 1);
    drop(calls);
    let mut new = Peer::accept(&listener, &ConnectionConfig::internet());
    let (tell, hear) = std::sync::mpsc::channel();
    channel.call(UnaryCall::new(PATH, vec![]), move |answer| {
        tell.send(answer).unwrap();
    });
    let stream = new.stream(1);
    new.answer(stream, b"on the new one");
    assert_eq!(hear.recv().unwrap().status.code, Code::Ok);
    kept_requests.finish();
    old.whole(kept_stream);
    old.answer(kept_stream, b"to its end");
    assert_eq!(kept.next().unwrap().unwrap().bytes, b"to its end");
    assert_eq!(kept.end().status.code, Code::Ok);
    let heard = old.hear_all();
    assert!(heard.resets.len() < CALLS / 2, "{} resets", heard.resets.len());
}
