//! A worker in virtual time, before servers that are made by hand.

mod header_blocks;
mod open_loop;
mod streams;

use super::WorkerShard;
use crate::plan::tests::{calling, plan as a_plan};
use crate::plan::{Call, LoadPlan};
use crate::worker::http2_session::{Http2Common, Http2Session};
use crate::worker::start_barrier::StartBarrier;
use bookend_io::simulated::{End, Simulated};
use bookend_io::{ConnectionId, Shard, Waker};
use bookend_testing::{PREFACE, answer_ok, flag, frame, frames, kind};
use bookend_wire::Keepalive;
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;

const MINUTE: Option<Keepalive> =
    Some(Keepalive { time_ns: 60 * SECOND_NS, timeout_ns: 20 * SECOND_NS });

const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 11];

/// One call in flight a connection, and no deadlines: nothing but keepalive ends a wait.
fn plan(keepalive: Option<Keepalive>, connections: u32, calls: u64) -> LoadPlan {
    let plan = a_plan(connections, connections, 1, Some(calls));
    let plan = calling(plan, |call| call.keepalive = keepalive);
    LoadPlan { connect_timeout_ns: 10 * SECOND_NS, ..plan }
}

fn barrier(workers: usize) -> StartBarrier {
    StartBarrier::new((0..workers).map(|_| Waker::new().expect("a descriptor")).collect())
}

struct Story(Simulated<WorkerShard<Http2Session>>);

/// The first worker of a run.
fn shard(plan: LoadPlan, barrier: Arc<StartBarrier>) -> WorkerShard<Http2Session> {
    let Call::Grpc(call) = &plan.call else { panic!("these plans are of gRPC") };
    let common = Http2Common::new(call, plan.threads);
    WorkerShard::new(Arc::new(plan), common, barrier, 0)
}

impl Story {
    /// A run whose servers have sent SETTINGS, each on a connection of its own.
    fn begin(plan: LoadPlan) -> (Self, Vec<ConnectionId>) {
        Self::begin_at(plan, Arc::new(barrier(1)))
    }

    /// The same for the first of several workers.
    fn begin_at(plan: LoadPlan, barrier: Arc<StartBarrier>) -> (Self, Vec<ConnectionId>) {
        let mut story = Self(Simulated::new(shard(plan, barrier), SECOND_NS));
        let connections = story.establish_all();
        (story, connections)
    }

    /// Every connection that the worker has requested is established, and gets SETTINGS.
    fn establish_all(&mut self) -> Vec<ConnectionId> {
        let connections = self.0.connect_all();
        for &id in &connections {
            assert!(self.0.take(id, PREFACE.len()) == PREFACE);
            self.send(id, kind::SETTINGS, 0, 0, &[]);
        }
        connections
    }

    fn send(&mut self, id: ConnectionId, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.0.give(id, &frame(kind, flags, stream, payload));
    }

    fn answer(&mut self, id: ConnectionId, stream: u32) {
        self.0.give(id, &answer_ok(stream, b""));
    }

    fn go_away(&mut self, id: ConnectionId, code: [u8; 4], debug: &str) {
        let payload = [&[0x7f, 0xff, 0xff, 0xff][..], &code, debug.as_bytes()].concat();
        self.send(id, kind::GOAWAY, 0, 0, &payload);
    }

    /// Type and stream of the frames that have come, without SETTINGS and acknowledgements.
    fn received(&mut self, id: ConnectionId) -> Vec<(u8, u32)> {
        let mut received = frames(&self.0.take(id, usize::MAX));
        received.retain(|frame| matches!(frame.kind, kind::HEADERS | kind::DATA | kind::PING));
        received.iter().map(|frame| (frame.kind, frame.stream_id)).collect()
    }

    /// The streams of calls that have come.
    fn calls(&mut self, id: ConnectionId) -> Vec<u32> {
        self.received(id)
            .into_iter()
            .filter(|(kind, _)| *kind == kind::HEADERS)
            .map(|(_, stream)| stream)
            .collect()
    }

    /// Answers the PINGs that have come; how many there were.
    fn answer_pings(&mut self, id: ConnectionId) -> usize {
        let pings = self.received(id).into_iter().filter(|(kind, _)| *kind == kind::PING).count();
        for _ in 0..pings {
            self.send(id, kind::PING, flag::ACK, 0, &[0; 8]);
        }
        pings
    }

    /// PINGs that come while `seconds` seconds pass, each of which is answered: one number for each
    /// of the connections.
    fn pings_in(&mut self, connections: &[ConnectionId], seconds: u64) -> Vec<usize> {
        let mut pings = vec![0; connections.len()];
        for _ in 0..seconds {
            self.0.pass_ns(SECOND_NS);
            for (id, pings) in connections.iter().zip(&mut pings) {
                *pings += self.answer_pings(*id);
            }
        }
        pings
    }

    /// What the window has counted, once it is over: OK, and failed by text.
    fn counted(&self) -> (u64, Vec<(String, u64)>) {
        let window = &self.0.shard().state.measured.window;
        let errors =
            window.errors.by_text.iter().map(|(text, count)| (text.clone(), *count)).collect();
        (window.ok, errors)
    }
}

const VANISHED: &str = "rpc error: code = Unavailable desc = nothing came for 20s after a keepalive \
     PING: the server is gone, or the network to it";

#[test]
fn a_worker_whose_clock_stood_before_the_start_makes_no_call_too_many() {
    let both = LoadPlan { threads: 2, ..plan(None, 2, 4) };
    let wakers = [(); 2].map(|()| Waker::new().expect("a descriptor"));
    let barrier = Arc::new(StartBarrier::new(wakers.into()));
    let shard = shard(both, Arc::clone(&barrier));
    let mut story = Story(Simulated::new(shard, SECOND_NS));
    let id = story.establish_all()[0];
    assert!(story.calls(id).is_empty(), "the other is not there");
    barrier.arrive(1, SECOND_NS + 1_000);
    story.0.wake();
    for stream in [1, 3] {
        assert_eq!(story.calls(id), [stream]);
        story.0.pass_ns(SECOND_NS);
        story.answer(id, stream);
    }
    assert!(story.calls(id).is_empty(), "its half of the calls is made");
    assert_eq!(story.counted().0, 2);
}

#[test]
fn a_server_that_vanishes_with_calls_in_flight_gets_a_ping_and_a_new_connection() {
    let (mut story, connections) = Story::begin(plan(MINUTE, 2, 3));
    let [silent, good] = connections[..] else { panic!("two connections") };
    assert_eq!(story.calls(silent), [1]);
    assert_eq!(story.calls(good), [1]);
    story.0.pass_ns(60 * SECOND_NS);
    assert_eq!(story.received(silent), []);
    story.answer(good, 1);
    assert_eq!(story.calls(good), [3]);
    story.0.pass_ns(30 * SECOND_NS);
    assert_eq!(story.received(silent), [(kind::PING, 0)]);
    story.0.pass_ns(20 * SECOND_NS);
    assert_eq!(story.0.end(silent), Some(End::Reset));
    assert_eq!(story.0.end(good), None);
    story.answer(good, 3);
    assert_eq!(story.counted(), (2, vec![(VANISHED.to_owned(), 1)]));
}

#[test]
fn the_calls_that_are_left_are_made_on_a_new_connection() {
    let (mut story, connections) = Story::begin(plan(MINUTE, 1, 2));
    assert_eq!(story.calls(connections[0]), [1]);
    story.0.pass_ns(110 * SECOND_NS);
    assert_eq!(story.0.end(connections[0]), Some(End::Reset));
    let again = story.establish_all();
    assert_eq!(again.len(), 1);
    assert_eq!(story.calls(again[0]), [1]);
    story.answer(again[0], 1);
    assert_eq!(story.counted(), (1, vec![(VANISHED.to_owned(), 1)]));
}

#[test]
fn without_keepalive_the_worker_waits_for_a_silent_server() {
    let (mut story, connections) = Story::begin(plan(None, 1, 1));
    assert_eq!(story.calls(connections[0]), [1]);
    assert_eq!(story.pings_in(&connections, 3_600), [0]);
    assert_eq!(story.0.end(connections[0]), None);
    story.answer(connections[0], 1);
    assert_eq!(story.counted(), (1, Vec::new()));
}

#[test]
fn a_server_that_answers_pings_is_kept_and_gets_more() {
    let (mut story, connections) = Story::begin(plan(MINUTE, 1, 1));
    assert_eq!(story.calls(connections[0]), [1]);
    let pings = story.pings_in(&connections, 3_600)[0];
    assert!((40..=60).contains(&pings), "{pings}");
    story.answer(connections[0], 1);
    assert_eq!(story.counted(), (1, Vec::new()));
}

#[test]
fn a_server_that_answers_calls_gets_no_ping() {
    let (mut story, connections) = Story::begin(plan(MINUTE, 1, 1_000));
    assert_eq!(story.calls(connections[0]), [1]);
    for number in 0..100 {
        story.0.pass_ns(50 * SECOND_NS);
        story.answer(connections[0], 2 * number + 1);
        let received = story.received(connections[0]);
        assert!(received.iter().all(|(kind, _)| *kind != kind::PING));
        assert_eq!(received[0], (kind::HEADERS, 2 * number + 3));
    }
}

#[test]
fn a_server_that_reads_a_large_request_slowly_is_kept_until_it_stops_reading() {
    let (mut story, connections) =
        Story::begin(calling(plan(MINUTE, 1, 1), |call| call.messages = vec![vec![0; 60_000]]));
    for _ in 0..120 {
        story.0.pass_ns(30 * SECOND_NS);
        assert_eq!(story.0.take(connections[0], 300).len(), 300);
    }
    assert!(story.0.unwritten_bytes(connections[0]) > 0);
    assert_eq!(story.0.end(connections[0]), None);
    story.0.pass_ns(110 * SECOND_NS);
    assert_eq!(story.0.end(connections[0]), Some(End::Reset));
    assert_eq!(story.counted(), (0, vec![(VANISHED.to_owned(), 1)]));
}

#[test]
fn a_connection_without_a_call_is_left_alone() {
    // One call for two connections.
    let (mut story, connections) = Story::begin(plan(MINUTE, 2, 1));
    let calls = [story.calls(connections[0]), story.calls(connections[1])];
    assert_eq!(calls, [vec![1], vec![]]);
    let pings = story.pings_in(&connections, 3_600);
    assert!(pings[0] >= 40, "{pings:?}");
    assert_eq!(pings[1], 0);
    assert_eq!(story.0.end(connections[1]), None);
}

#[test]
fn a_server_that_got_too_many_pings_gets_half_as_many_however_many_connections_say_so() {
    for (debug, most) in [("too_many_pings", 30), ("calm down", 60)] {
        let (mut story, connections) = Story::begin(plan(MINUTE, 3, 1_000));
        for id in connections {
            story.go_away(id, ENHANCE_YOUR_CALM, debug);
            story.0.hang_up(id);
        }
        story.0.pass_ns(SECOND_NS);
        let again = story.establish_all();
        assert_eq!(again.len(), 3);
        let pings = story.pings_in(&again, 3_600)[0];
        assert!((most * 2 / 3..=most).contains(&pings), "{debug}: {pings}");
    }
}

#[test]
fn a_server_that_sends_goaway_and_then_vanishes_is_reported_as_vanished() {
    let (mut story, connections) = Story::begin(plan(MINUTE, 1, 1));
    story.go_away(connections[0], [0; 4], "max_age");
    story.0.pass_ns(110 * SECOND_NS);
    assert_eq!(story.counted(), (0, vec![(VANISHED.to_owned(), 1)]));
    let goaways = &story.0.shard().state.measured.goaways;
    assert_eq!(goaways.len(), 1);
}

#[test]
fn a_server_that_goes_away_and_never_answers_costs_the_deadlines_of_its_calls() {
    const NO_ERROR: [u8; 4] = [0; 4];
    let deadline = LoadPlan { timeout_ns: Some(SECOND_NS), ..plan(None, 1, 9) };
    let (mut story, mut connections) = Story::begin(deadline);
    for made in [3, 6, 9] {
        let old = connections[0];
        for stream in [1, 3] {
            assert_eq!(story.calls(old), [stream]);
            story.answer(old, stream);
        }
        assert_eq!(story.calls(old), [5]);
        story.go_away(old, NO_ERROR, "");
        story.0.pass_ns(2 * SECOND_NS);
        assert_eq!(story.0.end(old), Some(End::Closed));
        connections = story.establish_all();
        assert_eq!(connections.is_empty(), made == 9);
    }
    let text = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
    assert_eq!(story.counted(), (6, vec![(text.to_owned(), 3)]));
}

/// A driver that reads plainly hears of the start a tick later, unless it is told to listen for it.
#[test]
fn a_worker_that_is_ready_before_others_listens_for_the_start() {
    let barrier = Arc::new(barrier(2));
    let (mut story, connections) = Story::begin_at(plan(None, 1, 1), Arc::clone(&barrier));
    assert!(story.0.shard().has_outstanding());
    barrier.arrive(1, story.0.now_ns());
    story.0.wake();
    assert!(!story.0.shard().has_outstanding());
    assert!(story.received(connections[0]).iter().any(|frame| frame.0 == kind::HEADERS));
}
