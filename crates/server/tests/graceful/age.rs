//! Connections that become old or idle, in virtual time.

use std::time::Duration;

use bookend_server::io::Shard;
use bookend_server::{Code, ConnectionAge, Limits};
use bookend_wire::ErrorCode;

use crate::client::{NO_LAST_STREAM, SECOND_NS, World};
use crate::service::{DEFERRED, INLINE};

const AGE: u64 = 100;

fn aging(grace_seconds: Option<u64>, seed: u64) -> Limits {
    Limits {
        connection_age: Some(ConnectionAge {
            grace_ns: grace_seconds.map(|seconds| seconds * SECOND_NS),
            seed,
            ..ConnectionAge::new(Duration::from_secs(AGE))
        }),
        ..Limits::internet()
    }
}

/// The second in which each of the clients was asked to leave, while all of them call and none
/// loses a call.
fn goaway_seconds(limits: Limits, clients: usize) -> Vec<u64> {
    let mut world = World::with_clients(limits, clients);
    let mut seconds = vec![0; clients];
    for second in 1..=AGE * 12 / 10 {
        (0..clients).for_each(|client| world.call(client, INLINE));
        world.pass_seconds(1);
        for (client, asked) in seconds.iter_mut().enumerate() {
            if *asked == 0 && !world.clients[client].heard.goaways.is_empty() {
                *asked = second;
            }
        }
    }
    assert_eq!(world.ended_with(Code::Ok), world.made());
    assert_eq!(world.counts().retired_connections, clients as u64);
    assert!((0..clients).all(|client| !world.is_open(client)));
    seconds
}

#[test]
fn old_connections_are_left_at_different_times_and_without_a_lost_call() {
    let seconds = goaway_seconds(aging(None, 7), 60);
    assert!(seconds.iter().all(|second| (90..=111).contains(second)));
    let (first, last) = (seconds.iter().min(), seconds.iter().max());
    assert!(first < Some(&95) && last > Some(&105), "{seconds:?}");
    assert_eq!(goaway_seconds(aging(None, 7), 60), seconds, "the same seed");
    assert_ne!(goaway_seconds(aging(None, 8), 60), seconds);
}

#[test]
fn a_call_outlasts_the_age_of_its_connection() {
    let mut world = World::with_clients(aging(None, 7), 1);
    world.call(0, DEFERRED);
    world.pass_seconds(1_000);
    let heard = &world.clients[0].heard;
    let told = "the connection has reached its age".to_owned();
    let notice = (NO_LAST_STREAM, ErrorCode::NO_ERROR, told.clone());
    assert_eq!(heard.goaways, [notice, (1, ErrorCode::NO_ERROR, told)]);
    assert!(world.is_open(0));
    world.settle();
    assert_eq!(world.ended_with(Code::Ok), 1);
    assert!(!world.is_open(0));
}

#[test]
fn a_grace_bounds_how_long_it_may() {
    let mut world = World::with_clients(aging(Some(10), 7), 1);
    world.call(0, DEFERRED);
    world.pass_seconds(AGE * 9 / 10 + 9);
    assert_eq!(world.ended_with(Code::Unavailable), 0);
    world.pass_seconds(AGE * 2 / 10 + 3);
    assert_eq!(world.ended_with(Code::Unavailable), 1);
    assert_eq!(world.counts().cut_off, 1);
    assert!(!world.is_open(0));
}

#[test]
fn ages_cost_a_look_for_each_connection_and_nothing_in_between() {
    const CONNECTIONS: usize = 1_000;
    let limits = Limits { connection_age: aging(None, 7).connection_age, ..Limits::trusted() };
    let mut world = World::with_clients(limits, CONNECTIONS);
    let until_ns = world.server.now_ns() + 2 * AGE * SECOND_NS;
    let mut wakes = 0;
    while let Some(due_ns) = world.server.shard().next_deadline()
        && due_ns <= until_ns
    {
        world.server.pass_ns(due_ns - world.server.now_ns());
        wakes += 1;
    }
    assert_eq!(world.counts().retired_connections, CONNECTIONS as u64);
    // One when it is too old, one when it has not answered the PING.
    assert!(wakes <= 2 * CONNECTIONS, "{wakes}");
}

#[test]
fn appointments_with_connections_that_are_gone_are_forgotten() {
    let mut world =
        World::new(Limits { connection_age: aging(None, 7).connection_age, ..Limits::trusted() });
    for _ in 0..4_000 {
        let client = world.connect();
        world.exchange(client);
        world.break_http2(client);
        world.clients.clear();
    }
    let first_ns = world.server.shard().next_deadline();
    assert!(first_ns.is_some());
    let mut wakes = 0;
    while let Some(due_ns) = world.server.shard().next_deadline() {
        world.server.pass_ns(due_ns - world.server.now_ns());
        wakes += 1;
    }
    assert!(wakes < 1_100, "{wakes} of 4,000 were kept");
}

#[test]
fn an_idle_client_is_asked_to_leave_and_its_last_call_answered() {
    let limits = Limits { idle_timeout_ns: Some(60 * SECOND_NS), ..Limits::internet() };
    let mut world = World::with_clients(limits, 2);
    world.call(1, DEFERRED);
    world.exchange(1);
    world.server.pass_ns(59 * SECOND_NS);
    world.exchange(0);
    assert!(world.clients[0].heard.goaways.is_empty());
    world.server.pass_ns(7 * SECOND_NS);
    world.call(0, INLINE);
    world.exchange(0);
    let heard = &world.clients[0].heard;
    assert_eq!((heard.ended_with(Code::Ok), heard.goaways.len()), (1, 2));
    assert_eq!(heard.goaways[0].2, "there was no call for too long");
    assert!(!world.is_open(0));
    assert!(world.is_open(1), "this one has a call");
    assert_eq!(world.counts().retired_connections, 1);
    assert_eq!(world.counts().broken_connections, 0);
}
