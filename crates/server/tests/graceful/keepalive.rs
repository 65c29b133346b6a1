//! Clients that are gone without a word, and clients that ask too often, in virtual time.

use bookend_server::io::simulated::End;
use bookend_server::{Code, Keepalive, Limits};
use bookend_wire::ErrorCode;
use bookend_wire::frame::kind;

use crate::client::{SECOND_NS, World};
use crate::service::{DEFERRED, INLINE};

/// How much later than its time silence may be noticed: the interval of timeout checks.
const PATROLS: u64 = 10;

fn asking(seconds: u64) -> Limits {
    Limits {
        keepalive: Some(Keepalive { time_ns: seconds * SECOND_NS, timeout_ns: 20 * SECOND_NS }),
        idle_timeout_ns: None,
        ..Limits::internet()
    }
}

#[test]
fn who_answers_is_kept_however_long_its_call_takes() {
    let mut world = World::with_clients(asking(60), 1);
    world.call(0, DEFERRED);
    let hours = 4 * 3_600;
    world.pass_seconds(hours);
    let pings = world.pings(0);
    assert!((hours / (60 + PATROLS + 5)..=hours / 60).contains(&pings), "{pings}");
    assert!(world.is_open(0));
    world.settle();
    assert_eq!(world.ended_with(Code::Ok), 1);
    assert_eq!(world.counts().vanished_connections, 0);
}

#[test]
fn only_clients_that_vanished_are_given_up() {
    let mut world = World::with_clients(asking(60), 2);
    world.call(0, DEFERRED);
    world.call(1, DEFERRED);
    world.exchange_all();
    for second in 0..60 + 20 + 2 * PATROLS {
        assert!(second >= 60 + 20 || world.is_open(0), "it had 80 s");
        world.server.pass_ns(SECOND_NS);
        world.exchange(1);
    }
    let id = world.clients[0].id;
    assert_eq!(world.server.end(id), Some(End::Reset));
    assert!(world.is_open(1));
    let counts = world.counts();
    assert_eq!((counts.vanished_connections, counts.broken_connections), (1, 0));
}

#[test]
fn who_says_something_is_not_asked() {
    let mut world = World::with_clients(asking(60), 1);
    for _ in 0..100 {
        world.call(0, INLINE);
        world.pass_seconds(40);
    }
    assert_eq!(world.pings(0), 0);
}

#[test]
fn control_without_a_limit_no_ping_is_sent() {
    let limits = Limits { keepalive: None, ..asking(60) };
    let mut world = World::with_clients(limits, 1);
    world.call(0, DEFERRED);
    world.exchange(0);
    world.server.pass_ns(24 * 3_600 * SECOND_NS);
    assert_eq!(world.pings(0), 0);
    assert!(world.is_open(0));
}

#[test]
fn signs_of_life_are_no_calls() {
    let limits = Limits { idle_timeout_ns: Some(600 * SECOND_NS), ..asking(60) };
    let mut world = World::with_clients(limits, 1);
    world.pass_seconds(620);
    assert!(world.pings(0) > 5);
    assert!(!world.is_open(0), "it is idle although it answers");
}

#[test]
fn a_client_that_asks_too_often_is_told_in_words_that_it_knows() {
    let mut world = World::with_clients(Limits::internet(), 1);
    let ping = [&[0, 0, 8, kind::PING, 0, 0, 0, 0, 0][..], &[7; 8]].concat();
    let id = world.clients[0].id;
    for _ in 0..10_100 {
        world.server.give(id, &ping);
        world.server.take(id, 4 << 10);
        if !world.is_open(0) {
            break;
        }
    }
    assert!(!world.is_open(0));
    let mut world = World::with_clients(Limits::internet(), 1);
    let id = world.clients[0].id;
    world.server.give(id, &ping.repeat(10_100));
    world.read(0, usize::MAX);
    let told = world.clients[0].heard.goaways.last().expect("a goodbye");
    let (code, text) = (told.1, told.2.as_str());
    assert_eq!((code, text), (ErrorCode::ENHANCE_YOUR_CALM, "too_many_pings"));
}
