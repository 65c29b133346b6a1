//! The channel of the client library: streaming calls. What has come before the misbehaviour is
//! read first, then comes the status.

use super::behaviour::{AfterGoAway, Behaviour, LARGE_MESSAGE_BYTES, Part};
use super::channel::channel_to;
use super::server::{bind, unused_address};
use super::server_connection::Observed;
use bookend_client::{Channel, Code, StreamCall};
use bookend_testing::error;
use std::time::Duration;

/// What one call got: the lengths of its messages, and its end.
#[derive(Debug, PartialEq, Eq)]
struct Got {
    messages: Vec<usize>,
    code: Code,
    text: String,
}

fn call(channel: &Channel) -> Got {
    let mut call = StreamCall::new("/test.Any/Talk");
    call.timeout = Some(Duration::from_secs(20));
    let (mut requests, mut responses) = channel.open(call);
    // A call may end before all of it was sent.
    let _ = requests.send(b"ping");
    let _ = requests.send(b"ping");
    requests.finish();
    let read = responses.by_ref().map_while(Result::ok);
    let messages = read.map(|message| message.bytes.len()).collect();
    let status = responses.end().status.clone();
    Got { messages, code: status.code, text: status.message.clone() }
}

/// Makes calls one after another.
fn calls(behaviour: Behaviour, count: usize) -> (Vec<Got>, Vec<Observed>) {
    let server = bind().serve(behaviour);
    let channel = channel_to(server.address);
    let got = (0..count).map(|_| call(&channel)).collect();
    drop(channel);
    (got, server.finish())
}

fn good(message_bytes: usize) -> Got {
    Got { messages: vec![message_bytes], code: Code::Ok, text: String::new() }
}

#[test]
fn a_good_server_is_read_to_the_end() {
    let (got, observed) = calls(Behaviour::Good, 3);
    assert_eq!(got, [good(40), good(40), good(40)]);
    assert_eq!(observed.len(), 1);
}

#[test]
fn without_a_server_every_call_fails_and_says_so() {
    let got = call(&channel_to(unused_address()));
    assert_eq!((got.messages, got.code), (vec![], Code::Unavailable));
    assert!(got.text.contains("nobody listens"), "{}", got.text);
}

#[test]
fn a_reset_ends_the_call_after_the_messages_that_were_whole() {
    for (after, messages) in [
        (Part::Nothing, vec![]),
        (Part::Head, vec![]),
        (Part::HalfOfTheMessage, vec![]),
        (Part::WholeMessage, vec![40]),
    ] {
        let behaviour = Behaviour::Resets { every: 2, after, code: error::NO_ERROR };
        let (got, observed) = calls(behaviour, 3);
        let broken = Got {
            messages,
            code: Code::Internal,
            text: "the server reset the call: NO_ERROR".to_owned(),
        };
        assert_eq!(got, [good(40), broken, good(40)], "{after:?}");
        assert_eq!(observed.len(), 1, "the connection is as good as before");
    }
}

#[test]
fn a_call_after_a_goaway_comes_on_a_new_connection() {
    let behaviour = Behaviour::GoesAway {
        at_call: 1,
        code: error::NO_ERROR,
        debug: "max_age",
        then: AfterGoAway::Answers,
    };
    let (got, observed) = calls(behaviour, 3);
    assert_eq!(got, [good(40), good(40), good(40)]);
    let calls = observed.iter().map(|observed| observed.calls);
    assert_eq!(calls.filter(|calls| *calls > 0).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn a_call_that_a_goaway_fails_has_its_text() {
    let behaviour = Behaviour::GoesAway {
        at_call: 1,
        code: error::ENHANCE_YOUR_CALM,
        debug: "too_many_pings",
        then: AfterGoAway::Closes,
    };
    let (got, _) = calls(behaviour, 1);
    assert_eq!((&got[0].messages, got[0].code), (&vec![], Code::Unavailable));
    let text = &got[0].text;
    assert!(text.ends_with("ENHANCE_YOUR_CALM (too_many_pings)"), "{text}");
}

#[test]
fn every_ping_is_acknowledged() {
    let (got, observed) = calls(Behaviour::Pings, 5);
    assert!(got.iter().all(|got| *got == good(40)));
    assert_eq!(observed[0].pings, 15);
    assert_eq!(observed[0].pongs(), (0..15).collect::<Vec<_>>());
}

#[test]
fn no_more_streams_are_open_than_the_server_allows() {
    let bound = bind();
    let channel = channel_to(bound.address());
    let open: Vec<_> = (0..10)
        .map(|_| {
            let (requests, responses) = channel.open(StreamCall::new("/test.Any/Talk"));
            requests.finish();
            responses
        })
        .collect();
    let server = bound.serve(Behaviour::Allows { streams: 3 });
    for mut responses in open {
        assert_eq!(responses.end().status.code, Code::Ok);
    }
    drop(channel);
    let observed = server.finish();
    assert_eq!((observed.len(), observed[0].open_max, observed[0].calls), (1, 3, 10));
}

#[test]
fn padding_and_tiny_frames_are_given_back_to_the_server() {
    for (padding_bytes, sent_bytes) in [(None, 314_164), (Some(255), 314_164 + 62_833 * 256)] {
        let (got, observed) = calls(Behaviour::Dribbles { padding_bytes }, 2);
        let large = || good(LARGE_MESSAGE_BYTES);
        assert_eq!(got, [large(), large()]);
        assert_eq!(observed[0].sent_bytes, 2 * sent_bytes);
    }
}
