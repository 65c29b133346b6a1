//! Header blocks that a connection may know again, of servers that use the same bytes in two ways.

use super::streams::{BOTH, streaming};
use super::{Story, plan};
use crate::plan::{LoadPlan, Streaming};
use bookend_io::ConnectionId;
use bookend_testing::{OK_TRAILERS, RESPONSE_HEAD};
use bookend_wire::frame::{flag, kind};

const END: u8 = flag::END_HEADERS | flag::END_STREAM;

const NO_MESSAGE: &str = "rpc error: code = Internal desc = the server said OK and sent no message";
const ABORTED: &str = "rpc error: code = Aborted desc = ";

impl Story {
    /// A head that states a status, a message, and trailers that state it again.
    fn state_status_early(&mut self, id: ConnectionId, stream: u32, trailers: &[u8]) {
        self.send(
            id,
            kind::HEADERS,
            flag::END_HEADERS,
            stream,
            &[RESPONSE_HEAD, trailers].concat(),
        );
        self.send(id, kind::DATA, 0, stream, &[0; 5]);
        self.send(id, kind::HEADERS, END, stream, trailers);
    }

    /// The bytes of that head, which end the response.
    fn send_trailers_only(&mut self, id: ConnectionId, stream: u32, trailers: &[u8]) {
        self.send(id, kind::HEADERS, END, stream, &[RESPONSE_HEAD, trailers].concat());
    }
}

/// What four calls come to, of which every other one is answered with trailers only.
fn counted(plan: LoadPlan, trailers: &[u8], early_first: bool) -> (u64, Vec<(String, u64)>) {
    let (mut story, connections) = Story::begin(plan);
    let id = connections[0];
    for number in 0..4 {
        let stream = 2 * number + 1;
        assert_eq!(story.calls(id), [stream]);
        if (number % 2 == 0) == early_first {
            story.state_status_early(id, stream, trailers);
        } else {
            story.send_trailers_only(id, stream, trailers);
        }
    }
    story.counted()
}

#[test]
fn a_head_that_states_a_status_may_end_the_next_response() {
    let failed = |text: &str, calls: u64| vec![(text.to_owned(), calls)];
    let aborted = &b"\0\x0bgrpc-status\x0210"[..];
    let server_stream = || streaming(Streaming { client: false, ..BOTH }, 1, 4);
    for early_first in [true, false] {
        let unary = |trailers| counted(plan(None, 1, 4), trailers, early_first);
        assert_eq!(unary(OK_TRAILERS), (2, failed(NO_MESSAGE, 2)), "early first: {early_first}");
        assert_eq!(unary(aborted), (0, failed(ABORTED, 4)), "early first: {early_first}");
        let many = |trailers| counted(server_stream(), trailers, early_first);
        assert_eq!(many(OK_TRAILERS), (4, Vec::new()), "early first: {early_first}");
        assert_eq!(many(aborted), (0, failed(ABORTED, 4)), "early first: {early_first}");
    }
}

#[test]
fn two_statuses_that_are_none_are_two_lines() {
    let (mut story, connections) = Story::begin(plan(None, 1, 4));
    let values = [&b"\0\x0bgrpc-status\x02OK"[..], b"\0\x0bgrpc-status\x02-1"];
    for (number, trailers) in (0..).zip([values[0], values[1], values[0], values[1]]) {
        story.send_trailers_only(connections[0], 2 * number + 1, trailers);
    }
    let line = |value: &str, calls: u64| {
        (format!("rpc error: code = Unknown desc = malformed grpc-status \"{value}\""), calls)
    };
    assert_eq!(story.counted(), (0, vec![line("-1", 2), line("OK", 2)]));
}

#[test]
fn a_message_compressed_by_what_nobody_offered_fails_and_others_on_that_head_do_not() {
    let zstd = [RESPONSE_HEAD, &b"\0\x0dgrpc-encoding\x04zstd"[..]].concat();
    let failed = "rpc error: code = Internal desc = the server compressed a message by \"zstd\", \
                  which was not offered";
    let server_stream = streaming(Streaming { client: false, ..BOTH }, 1, 4);
    for plan in [plan(None, 1, 4), server_stream] {
        let (mut story, connections) = Story::begin(plan);
        let id = connections[0];
        for (stream, compressed) in [(1, 0), (3, 1), (5, 1), (7, 0)] {
            story.send(id, kind::HEADERS, flag::END_HEADERS, stream, &zstd);
            story.send(id, kind::DATA, 0, stream, &[compressed, 0, 0, 0, 1, 7]);
            story.send(id, kind::HEADERS, END, stream, OK_TRAILERS);
        }
        assert_eq!(story.counted(), (2, vec![(failed.to_owned(), 2)]));
    }
}

#[test]
fn a_head_that_came_before_and_ends_the_response_states_no_status() {
    let (mut story, connections) = Story::begin(plan(None, 1, 2));
    let id = connections[0];
    story.answer(id, 1);
    story.send(id, kind::HEADERS, END, 3, RESPONSE_HEAD);
    let unknown = "rpc error: code = Unknown desc = the server sent no grpc-status".to_owned();
    assert_eq!(story.counted(), (1, vec![(unknown, 1)]));
}
