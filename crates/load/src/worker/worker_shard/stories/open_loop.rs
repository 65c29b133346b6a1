//! An open loop before servers that freeze, refuse and fall silent.

use super::{SECOND_NS, Story, plan};
use crate::pace::{ArrivalProcess, RateSchedule};
use crate::plan::LoadPlan;
use crate::plan::pacing::{ConcurrencyStep, Loop, OpenLoop};
use crate::record::{Obstacle, OpenLoopCalls};
use bookend_io::ConnectionId;
use bookend_wire::frame::kind;

const STEP_NS: u64 = 10_000_000;

/// A call every ten milliseconds over one connection.
fn open_loop(concurrency: u32, calls: u64) -> LoadPlan {
    let schedule = RateSchedule::constant(100.0);
    let open_loop = OpenLoop { schedule, arrivals: ArrivalProcess::Even, seed: 1 };
    LoadPlan { pacing: Loop::Open(open_loop), concurrency, ..plan(None, 1, calls) }
}

impl Story {
    /// Answers every call, and those that are made because of that.
    fn answer_all(&mut self, id: ConnectionId) {
        loop {
            let streams = self.calls(id);
            if streams.is_empty() {
                return;
            }
            streams.into_iter().for_each(|stream| self.answer(id, stream));
        }
    }

    /// Lets `seconds` seconds pass before a server that answers at once.
    fn serve(&mut self, id: ConnectionId, seconds: u64) {
        for _ in 0..seconds * SECOND_NS / STEP_NS {
            self.answer_all(id);
            self.0.pass_ns(STEP_NS);
        }
        self.answer_all(id);
    }

    fn open_loop(&self) -> OpenLoopCalls {
        let window = &self.0.shard().state.measured.window;
        window.open_loop.as_deref().expect("the window is over").clone()
    }

    /// The 99th percentile from the start of each call, nanoseconds.
    fn p99_from_start_ns(&self) -> u64 {
        self.0.shard().state.measured.window.clone().finish().at(99.0)
    }
}

/// A server that answers at once, but for two seconds.
fn freeze(concurrency: u32) -> Story {
    let (mut story, connections) = Story::begin(open_loop(concurrency, 1_000));
    story.serve(connections[0], 1);
    story.0.pass_ns(2 * SECOND_NS);
    story.serve(connections[0], 8);
    assert_eq!(story.counted(), (1_000, Vec::new()));
    story
}

#[test]
fn calls_are_made_when_they_are_due_whether_or_not_others_have_ended() {
    let story = freeze(1_000);
    let calls = story.open_loop();
    assert_eq!((calls.due(), calls.made, calls.waited), (1_000, 1_000, 0));
    assert_eq!(calls.lag.max_ns, 0, "in virtual time no timer is late");
    assert!(calls.from_intended.at(99.0) > SECOND_NS);
}

#[test]
fn a_freeze_that_a_closed_loop_would_hide_is_in_the_latencies_from_when_calls_were_due() {
    let story = freeze(1);
    let calls = story.open_loop();
    assert_eq!(calls.made, 1_000);
    assert!((195..=205).contains(&calls.waited), "{}", calls.waited);
    assert!(calls.from_intended.at(99.0) > SECOND_NS);
    assert!(story.p99_from_start_ns() <= STEP_NS, "one call of a thousand was frozen");
}

#[test]
fn a_call_that_finds_no_room_within_its_deadline_is_dropped_and_counted() {
    let plan = LoadPlan { timeout_ns: Some(SECOND_NS), ..open_loop(2, 300) };
    let (mut story, _) = Story::begin(plan);
    story.0.pass_ns(10 * SECOND_NS);
    let calls = story.open_loop();
    let dropped: Vec<_> = calls.not_made().collect();
    let [(Obstacle::InFlightLimit, dropped)] = dropped[..] else {
        panic!("{dropped:?}");
    };
    assert_eq!(calls.due(), 300);
    assert_eq!(calls.made + dropped, 300);
    assert!((2..=10).contains(&calls.made), "two a second: {}", calls.made);
}

#[test]
fn calls_beyond_the_servers_limit_of_streams_wait_for_it() {
    let (mut story, connections) = Story::begin(open_loop(1_000, 100));
    let id = connections[0];
    story.send(id, kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]);
    assert_eq!(story.calls(id), [1]);
    story.0.pass_ns(SECOND_NS / 2);
    assert!(story.calls(id).is_empty(), "one at a time");
    story.answer(id, 1);
    assert_eq!(story.calls(id), [3]);
    story.answer(id, 3);
    story.serve(id, 1);
    let calls = story.open_loop();
    assert_eq!(story.counted().0, 100);
    assert!((45..=55).contains(&calls.waited), "{}", calls.waited);
}

#[test]
fn by_time_what_is_due_and_not_made_at_the_end_is_counted() {
    let by_time = LoadPlan { calls: None, window_ns: Some(SECOND_NS), ..open_loop(1, 1) };
    let (mut story, connections) = Story::begin(by_time);
    assert_eq!(story.calls(connections[0]), [1]);
    story.0.pass_ns(3 * SECOND_NS);
    let calls = story.open_loop();
    assert_eq!((calls.due(), calls.made), (100, 1));
    assert_eq!(calls.not_made().collect::<Vec<_>>(), [(Obstacle::InFlightLimit, 99)]);
}

#[test]
fn the_most_that_an_open_loop_has_in_flight_follows_its_steps_and_its_schedule_waits_for_nothing() {
    let step = |seconds, calls| ConcurrencyStep { at_ns: seconds * SECOND_NS, calls };
    let steps = vec![step(0, 1), step(1, 3), step(2, 2)];
    let by_time = LoadPlan {
        concurrency_steps: steps,
        calls: None,
        window_ns: Some(4 * SECOND_NS),
        ..open_loop(3, 1)
    };
    let (mut story, connections) = Story::begin(by_time);
    let id = connections[0];
    assert_eq!(story.calls(id), [1], "a hundred a second are due, and one may be in flight");
    story.0.pass_ns(SECOND_NS / 2);
    assert!(story.calls(id).is_empty());
    story.0.pass_ns(SECOND_NS / 2);
    assert_eq!(story.calls(id), [3, 5], "two more, which have waited for a second");
    story.0.pass_ns(SECOND_NS);
    story.answer(id, 1);
    assert!(story.calls(id).is_empty(), "two are left, and as many as there may be");
    story.answer(id, 3);
    assert_eq!(story.calls(id), [7]);
    story.0.pass_ns(3 * SECOND_NS);
    let calls = story.open_loop();
    assert_eq!((calls.due(), calls.made, calls.waited), (400, 4, 3));
    assert_eq!(calls.not_made().collect::<Vec<_>>(), [(Obstacle::InFlightLimit, 396)]);
    assert!(calls.from_intended.at(100.0) >= 2 * SECOND_NS, "from when it was due");
}

#[test]
fn the_number_of_calls_in_flight_follows_its_steps() {
    let step = |seconds, calls| ConcurrencyStep { at_ns: seconds * SECOND_NS, calls };
    let steps = vec![step(0, 1), step(1, 3), step(2, 2)];
    let closed = LoadPlan {
        concurrency: 3,
        concurrency_steps: steps,
        calls: None,
        window_ns: Some(10 * SECOND_NS),
        ..plan(None, 1, 1)
    };
    let (mut story, connections) = Story::begin(closed);
    let id = connections[0];
    assert_eq!(story.calls(id), [1]);
    story.0.pass_ns(SECOND_NS);
    assert_eq!(story.calls(id), [3, 5]);
    story.0.pass_ns(SECOND_NS);
    story.answer(id, 1);
    assert!(story.calls(id).is_empty(), "two are left, and as many as there may be");
    story.answer(id, 3);
    assert_eq!(story.calls(id), [7]);
}
