//! Streaming calls in virtual time.

use super::{SECOND_NS, Story, plan};
use crate::plan::tests::calling;
use crate::plan::{LoadPlan, Streaming};
use crate::record::StreamMessages;
use bookend_io::ConnectionId;
use bookend_testing::{OK_TRAILERS, RESPONSE_HEAD};
use bookend_wire::frame::{flag, kind};

pub(super) const BOTH: Streaming = Streaming {
    client: true,
    server: true,
    interval_ns: 0,
    duration_ns: None,
    messages: None,
    is_dynamic: false,
};
/// An empty message.
const MESSAGE: [u8; 5] = [0; 5];

pub(super) fn streaming(streaming: Streaming, messages: usize, calls: u64) -> LoadPlan {
    calling(plan(None, 1, calls), |call| {
        call.streaming = Some(streaming);
        call.messages = vec![Vec::new(); messages];
    })
}

impl Story {
    /// How many DATA frames have come.
    fn sent(&mut self, id: ConnectionId) -> usize {
        self.received(id).iter().filter(|(kind, _)| *kind == kind::DATA).count()
    }

    fn give_message(&mut self, id: ConnectionId, stream: u32) {
        self.send(id, kind::DATA, 0, stream, &MESSAGE);
    }

    fn give_head(&mut self, id: ConnectionId, stream: u32) {
        self.send(id, kind::HEADERS, flag::END_HEADERS, stream, RESPONSE_HEAD);
    }

    fn give_trailers(&mut self, id: ConnectionId, stream: u32) {
        let flags = flag::END_HEADERS | flag::END_STREAM;
        self.send(id, kind::HEADERS, flags, stream, OK_TRAILERS);
    }

    fn messages(&self) -> StreamMessages {
        let window = &self.0.shard().state.measured.window;
        window.streams.as_deref().expect("the window is over").clone()
    }
}

#[test]
fn a_request_without_a_message_ends_at_once_whatever_number_is_asked_for() {
    for messages in [None, Some(5)] {
        let (mut story, connections) =
            Story::begin(streaming(Streaming { messages, ..BOTH }, 0, 1));
        let id = connections[0];
        assert_eq!(story.sent(id), 1, "the empty frame that ends it");
        story.give_head(id, 1);
        story.give_trailers(id, 1);
        assert_eq!(story.messages().sent, 0);
    }
}

#[test]
fn messages_go_out_at_their_interval_and_each_answer_is_timed_from_its_message() {
    let timed = Streaming { interval_ns: SECOND_NS, ..BOTH };
    let (mut story, connections) = Story::begin(streaming(timed, 3, 1));
    let id = connections[0];
    assert_eq!(story.sent(id), 1, "the first goes at once");
    story.0.pass_ns(SECOND_NS / 2);
    story.give_head(id, 1);
    story.give_message(id, 1);
    assert_eq!(story.sent(id), 0);
    for _ in 0..2 {
        story.0.pass_ns(SECOND_NS);
        assert_eq!(story.sent(id), 1);
        story.give_message(id, 1);
    }
    story.give_trailers(id, 1);
    assert_eq!(story.counted(), (1, Vec::new()));
    let messages = story.messages();
    assert_eq!((messages.sent, messages.received), (3, 3));
    assert_eq!(messages.first_message.max_ns, SECOND_NS / 2);
    assert_eq!((messages.gaps.histogram.len(), messages.gaps.min_ns), (2, SECOND_NS));
    assert_eq!(messages.answers.histogram.len(), 3);
    assert_eq!((messages.answers.min_ns, messages.answers.max_ns), (SECOND_NS / 2, SECOND_NS / 2));
}

#[test]
fn a_request_ends_by_its_time_and_says_its_messages_again_until_then() {
    let timed = Streaming {
        interval_ns: SECOND_NS,
        duration_ns: Some(5 * SECOND_NS / 2),
        server: false,
        ..BOTH
    };
    let (mut story, connections) = Story::begin(streaming(timed, 1, 1));
    let id = connections[0];
    let mut sent = story.sent(id);
    story.0.pass_ns(2 * SECOND_NS);
    sent += story.sent(id);
    assert_eq!(sent, 3);
    story.0.pass_ns(SECOND_NS);
    assert_eq!(story.sent(id), 1, "the end of the request");
    story.0.pass_ns(10 * SECOND_NS);
    assert_eq!(story.sent(id), 0);
    story.answer(id, 1);
    assert_eq!(story.counted(), (1, Vec::new()));
    assert_eq!(story.messages().sent, 3);
}

#[test]
fn a_response_that_is_a_stream_ends_after_as_many_messages_as_were_asked_for() {
    let counted = Streaming { client: false, messages: Some(2), ..BOTH };
    let (mut story, connections) = Story::begin(streaming(counted, 1, 2));
    let id = connections[0];
    assert_eq!(story.calls(id), [1]);
    story.give_head(id, 1);
    story.give_message(id, 1);
    story.give_message(id, 1);
    assert_eq!(story.calls(id), [3], "the next call is made");
    story.give_head(id, 3);
    story.send(id, kind::DATA, 0, 3, &[MESSAGE, MESSAGE].concat());
    assert_eq!(story.counted(), (2, Vec::new()));
    assert_eq!(story.messages().received, 4);
}

#[test]
fn a_response_that_ends_in_the_middle_of_a_message_has_failed() {
    let (mut story, connections) =
        Story::begin(streaming(Streaming { client: false, ..BOTH }, 1, 1));
    story.give_head(connections[0], 1);
    story.send(connections[0], kind::DATA, 0, 1, &[0, 0, 0, 0, 9, 1]);
    story.give_trailers(connections[0], 1);
    let (ok, errors) = story.counted();
    assert_eq!((ok, errors.len()), (0, 1));
    assert!(errors[0].0.contains("in the middle of a message"), "{errors:?}");
}

#[test]
fn a_server_may_end_a_call_before_its_request_has_ended() {
    let timed = Streaming { interval_ns: SECOND_NS, ..BOTH };
    let (mut story, connections) = Story::begin(streaming(timed, 100, 2));
    let id = connections[0];
    assert_eq!(story.calls(id), [1]);
    story.give_head(id, 1);
    story.give_trailers(id, 1);
    assert_eq!(story.calls(id), [3]);
    story.0.pass_ns(3 * SECOND_NS);
    assert_eq!(story.sent(id), 3, "of the second call alone");
    story.give_head(id, 3);
    story.give_trailers(id, 3);
    assert_eq!(story.counted(), (2, Vec::new()));
}

#[test]
fn flow_control_holds_messages_back_and_the_stall_is_timed() {
    let large = calling(streaming(Streaming { server: false, ..BOTH }, 2, 1), |call| {
        call.messages = vec![vec![0; 40_000]; 2];
    });
    let (mut story, connections) = Story::begin(large);
    let id = connections[0];
    story.received(id);
    story.0.pass_ns(3 * SECOND_NS);
    for stream in [0, 1] {
        story.send(id, kind::WINDOW_UPDATE, 0, stream, &[0, 1, 0, 0]);
    }
    story.received(id);
    story.answer(id, 1);
    assert_eq!(story.counted(), (1, Vec::new()));
    let messages = story.messages();
    assert_eq!((messages.sent, messages.stalls.histogram.len()), (2, 1));
    assert_eq!(messages.stalls.max_ns, 3 * SECOND_NS);
}
