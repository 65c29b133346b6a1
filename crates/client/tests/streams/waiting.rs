//! Calls whose thread waits for the answer.

use crate::peer::{Peer, connected, listen};
use crate::{PATH, careful, channel_to};
use bookend_client::{Code, SendError, StreamCall, UnaryCall};
use bookend_wire::ConnectionConfig;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn any_number_of_threads_may_wait_on_one_channel() {
    const THREADS: usize = 50;
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let channel = channel.clone();
            let message = number.to_be_bytes().to_vec();
            thread::spawn(move || {
                let answer = channel.unary(UnaryCall::new(PATH, message.clone()));
                assert_eq!(answer.into_single_message(), Ok(message));
            })
        })
        .collect();
    // The last that came is answered first.
    peer.stream(THREADS);
    let streams = peer.settle().streams.clone();
    for &stream in streams.iter().rev() {
        let request = peer.whole(stream);
        peer.answer(stream, &request.body[5..]);
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn every_waiting_call_ends_whatever_happens() {
    let (listener, address) = listen();
    let channel = channel_to(&address);
    let mut call = UnaryCall::new(PATH, vec![]);
    call.timeout = Some(Duration::from_millis(1));
    assert_eq!(channel.unary(call).status.code, Code::DeadlineExceeded);
    assert_eq!(channel.unary(UnaryCall::new("none", vec![])).status.code, Code::InvalidArgument);
    let own = channel.clone();
    let waiting = thread::spawn(move || own.unary(UnaryCall::new(PATH, vec![])).status.code);
    let mut peer = Peer::accept(&listener, &ConnectionConfig::internet());
    peer.stream(1);
    drop((peer, listener));
    assert_eq!(waiting.join().unwrap(), Code::Unavailable);
}

#[test]
fn a_callback_that_would_wait_for_itself_fails_instead() {
    let (channel, mut peer, _listener) = connected(careful(), &ConnectionConfig::internet());
    let (tell, hear) = mpsc::channel();
    let own = channel.clone();
    channel.call(UnaryCall::new(PATH, vec![]), move |_| {
        let unary = own.unary(UnaryCall::new(PATH, vec![])).status.code;
        let (mut requests, mut responses) = own.open(StreamCall::new(PATH));
        let mut sent = requests.send(&[0; 60_000]);
        while sent.is_ok() {
            sent = requests.send(&[0; 60_000]);
        }
        let read = responses.next().unwrap().unwrap_err().code;
        tell.send((unary, sent, read)).unwrap();
    });
    let stream = peer.stream(1);
    peer.answer(stream, b"");
    let expected =
        (Code::FailedPrecondition, Err(SendError::InsideCallback), Code::FailedPrecondition);
    assert_eq!(hear.recv().unwrap(), expected);
}
