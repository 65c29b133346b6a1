//! Calls with a connection each, in virtual time: what a deadline cuts off.

use super::OneShotShard;
use crate::plan::tests::plan as a_plan;
use crate::plan::{Connecting, LoadPlan};
use crate::worker::start_barrier::StartBarrier;
use bookend_io::simulated::{End, Simulated};
use bookend_io::{ConnectionId, Waker};
use bookend_testing::{PREFACE, frames, kind, settings};
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;

const DEADLINE_NS: u64 = SECOND_NS;

/// How much later than its deadline a call may be given up.
const LATENESS_NS: u64 = DEADLINE_NS / 16;

struct Story(Simulated<OneShotShard>);

impl Story {
    /// A call to a server that is there.
    fn begin() -> Self {
        let plan = LoadPlan {
            connecting: Connecting::PerCall,
            timeout_ns: Some(DEADLINE_NS),
            ..a_plan(1, 1, 1, Some(1))
        };
        let barrier = Arc::new(StartBarrier::new(vec![Waker::new().expect("a descriptor")]));
        let shard = OneShotShard::new(Arc::new(plan), barrier, 0);
        let mut story = Self(Simulated::new(shard, SECOND_NS));
        let trial = story.0.connect().expect("the worker looks whether there is a server");
        assert_eq!(story.0.end(trial), Some(End::Closed));
        story
    }

    /// The connection of the call is there, and its request has come.
    fn call(&mut self) -> ConnectionId {
        let id = self.0.connect().expect("a call has a connection of its own");
        assert!(self.0.take(id, PREFACE.len()) == PREFACE);
        let request = [kind::SETTINGS, kind::WINDOW_UPDATE, kind::HEADERS, kind::DATA];
        assert_eq!(self.heard(id), request);
        id
    }

    fn greet(&mut self, id: ConnectionId) {
        self.0.give(id, &settings(&[]));
    }

    /// The types of the frames that have come.
    fn heard(&mut self, id: ConnectionId) -> Vec<u8> {
        frames(&self.0.take(id, usize::MAX)).iter().map(|frame| frame.kind).collect()
    }

    /// The calls of the window that have failed, by text, once it is over. None has gone well.
    fn counted(&self) -> Vec<(&str, u64)> {
        let window = &self.0.shard().state.measured.window;
        assert_eq!(window.ok, 0);
        let errors = window.errors.by_text.iter();
        errors.map(|(text, count)| (text.as_str(), *count)).collect()
    }
}

const ONE_EXCEEDED: [(&str, u64); 1] =
    [("rpc error: code = DeadlineExceeded desc = context deadline exceeded", 1)];

#[test]
fn a_call_whose_deadline_passes_is_reset_and_its_connection_closed() {
    let mut story = Story::begin();
    let id = story.call();
    story.greet(id);
    assert_eq!(story.heard(id), [kind::SETTINGS], "an acknowledgement");
    story.0.pass_ns(DEADLINE_NS - 1);
    assert_eq!((story.heard(id), story.0.end(id)), (Vec::new(), None));
    story.0.pass_ns(LATENESS_NS);
    assert_eq!(story.heard(id), [kind::RST_STREAM, kind::GOAWAY]);
    assert_eq!(story.0.end(id), Some(End::Closed));
    assert_eq!(story.counted(), ONE_EXCEEDED);
}

#[test]
fn a_server_that_has_not_greeted_by_the_deadline_hears_of_it_all_the_same() {
    let mut story = Story::begin();
    let id = story.call();
    story.0.pass_ns(DEADLINE_NS + LATENESS_NS);
    assert_eq!(story.heard(id), [kind::RST_STREAM, kind::GOAWAY]);
    assert_eq!(story.0.end(id), Some(End::Closed));
    assert_eq!(story.counted(), ONE_EXCEEDED);
}

#[test]
fn a_connection_that_is_not_there_by_the_deadline_is_not_made() {
    let mut story = Story::begin();
    story.0.pass_ns(DEADLINE_NS + LATENESS_NS);
    assert_eq!(story.0.connect(), None);
    assert_eq!(story.counted(), ONE_EXCEEDED);
}
