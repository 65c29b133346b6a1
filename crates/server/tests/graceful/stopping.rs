//! A server that stops, in virtual time.

use bookend_server::io::simulated::End;
use bookend_server::{Code, Limits};
use bookend_wire::ErrorCode;

use crate::client::{NO_LAST_STREAM, Random, SECOND_NS, World};
use crate::service::{DEFERRED, INLINE, STREAM};

/// Kinds of calls that do not need another thread.
const VIRTUAL: [&str; 3] = [INLINE, DEFERRED, STREAM];

/// What a seed stands for: clients that call and read in pieces, answers that come in any order,
/// and a stop somewhere among them.
struct Story {
    world: World,
    random: Random,
    stops_at: usize,
    /// Calls that were made after the server had stopped, and before the client knew.
    crossing: u64,
}

const STEPS: usize = 400;

impl Story {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed + 1);
        let clients = 1 + random.below(8);
        Story {
            world: World::with_clients(Limits::internet(), clients),
            stops_at: random.below(STEPS),
            random,
            crossing: 0,
        }
    }

    fn play(&mut self) {
        for step in 0..STEPS {
            if step == self.stops_at {
                self.world.server.stop();
            }
            self.step(step > self.stops_at);
        }
    }

    fn step(&mut self, has_stopped: bool) {
        let Story { world, random, .. } = self;
        let client = random.below(world.clients.len());
        match random.below(9) {
            0..3 => {
                let before = world.made();
                world.call(client, VIRTUAL[random.below(VIRTUAL.len())]);
                self.crossing += u64::from(has_stopped) * (world.made() - before);
            }
            3..5 => world.arrive(client, 1 + random.below(200)),
            5..7 => world.read(client, 1 + random.below(200)),
            7 if world.testing.waiting() > 0 => {
                let number = random.below(world.testing.waiting());
                world.testing.answer_one(number);
                world.server.wake();
            }
            _ if random.below(20) == 0 => {
                world.connect();
            }
            _ => world.server.pass_ns(1 + random.below(1_000_000) as u64),
        }
    }
}

#[test]
fn whatever_the_moment_of_the_stop_every_call_that_was_sent_is_answered() {
    let mut crossing = 0;
    for seed in 0..300 {
        let mut story = Story::new(seed);
        story.play();
        let Story { mut world, .. } = story;
        world.settle();
        let (made, counts) = (world.made(), world.counts());
        assert_eq!(world.ended_with(Code::Ok), made, "seed {seed}");
        assert_eq!((counts.answered_ok, counts.answered_error), (made, 0));
        assert_eq!(world.testing.begun(), made, "seed {seed}");
        assert!(world.server.may_leave(), "seed {seed}");
        for client in &world.clients {
            assert_eq!(world.server.end(client.id), Some(End::Closed));
            assert_eq!(client.heard.goaways.len(), 2, "seed {seed}");
        }
        crossing += story.crossing;
    }
    assert!(crossing > 1_000, "only {crossing} calls crossed a GOAWAY");
}

#[test]
fn when_the_time_is_over_every_call_is_told_and_both_ends_count_the_same() {
    let (mut cut_off, mut left_out) = (0, 0);
    for seed in 0..300 {
        let mut story = Story::new(seed);
        story.stops_at = STEPS / 2;
        story.play();
        let Story { mut world, .. } = story;
        world.server.end_drain();
        world.exchange_all();
        let counts = world.counts();
        assert_eq!(world.ended_with(Code::Ok), counts.answered_ok, "seed {seed}");
        assert_eq!(world.ended_with(Code::Unavailable), counts.cut_off);
        assert_eq!(counts.answered_error, counts.cut_off, "seed {seed}");
        let told = counts.served() + world.left_out();
        assert_eq!(told, world.made(), "seed {seed}");
        assert!(world.testing.begun() <= counts.served(), "seed {seed}");
        assert!(world.server.may_leave(), "seed {seed}");
        cut_off += counts.cut_off;
        left_out += world.left_out();
    }
    assert!(cut_off > 100 && left_out > 20, "{cut_off} and {left_out}");
}

#[test]
fn the_first_goodbye_names_no_stream_and_the_second_the_last_one() {
    let mut world = World::with_clients(Limits::internet(), 1);
    world.call(0, DEFERRED);
    world.exchange(0);
    world.server.stop();
    world.call(0, INLINE);
    world.read(0, usize::MAX);
    let told = "the server is stopping".to_owned();
    let notice = (NO_LAST_STREAM, ErrorCode::NO_ERROR, told.clone());
    let so_far = std::slice::from_ref(&notice);
    assert_eq!(world.clients[0].heard.goaways, so_far);
    world.call(0, INLINE);
    assert_eq!(world.made(), 2, "it knows better than to call again");
    world.exchange(0);
    let last = (3, ErrorCode::NO_ERROR, told);
    assert_eq!(world.clients[0].heard.goaways, [notice, last]);
    assert!(world.is_open(0), "a call is going on");
    assert!(!world.server.may_leave());
    world.settle();
    assert_eq!(world.ended_with(Code::Ok), 2);
    assert!(!world.is_open(0) && world.server.may_leave());
}

#[test]
fn who_does_not_answer_the_ping_is_waited_for_five_seconds() {
    let mut world = World::with_clients(Limits::internet(), 2);
    let silent = world.connect();
    world.server.stop();
    world.exchange(1);
    assert!(!world.is_open(1), "it has answered");
    world.server.pass_ns(5 * SECOND_NS - 1_000_000);
    assert!(world.is_open(0) && world.is_open(silent));
    world.server.pass_ns(2_000_000);
    assert!(!world.is_open(0) && !world.is_open(silent));
    assert!(world.server.may_leave());
}

#[test]
fn control_a_call_that_comes_after_that_is_left_out_and_told_so() {
    let mut world = World::with_clients(Limits::internet(), 1);
    world.call(0, DEFERRED);
    world.exchange(0);
    world.server.stop();
    world.call(0, INLINE);
    world.server.pass_ns(6 * SECOND_NS);
    world.settle();
    let heard = &world.clients[0].heard;
    assert_eq!((heard.ended_with(Code::Ok), heard.left_out), (1, 1));
    assert_eq!((world.testing.begun(), world.counts().answered_ok), (1, 1));
}

#[test]
fn who_connects_while_the_server_stops_is_answered_too() {
    let mut world = World::with_clients(Limits::internet(), 1);
    world.call(0, DEFERRED);
    world.exchange(0);
    world.server.stop();
    let late = world.connect();
    world.call(late, INLINE);
    world.settle();
    assert_eq!(world.ended_with(Code::Ok), 2);
    assert!(!world.is_open(late) && world.server.may_leave());
}

#[test]
fn calls_that_outlast_the_drain_end_with_unavailable() {
    // The request is there and its answer is not; or the head is there and the message is not.
    for (path, missing_bytes) in [(DEFERRED, 0), (INLINE, 1), (STREAM, 1)] {
        let mut world = World::with_clients(Limits::internet(), 3);
        for client in 0..3 {
            world.call(client, path);
            world.arrive_but(client, missing_bytes);
        }
        world.server.stop();
        world.server.end_drain();
        (0..3).for_each(|client| world.read(client, usize::MAX));
        assert_eq!(world.ended_with(Code::Unavailable), 3, "{path}");
        let counts = world.counts();
        assert_eq!((counts.cut_off, counts.answered_error), (3, 3), "{path}");
        assert!(world.server.may_leave() && !world.is_open(0), "{path}");
    }
}
