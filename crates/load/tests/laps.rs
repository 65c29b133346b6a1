//! Runs in laps: connections are kept, calls are made when asked, and none is in flight between.

#[path = "../../server/tests/support/echo.rs"]
mod echo;
#[path = "support/plans.rs"]
mod plans;

use bookend_io::Driver;
use bookend_load::pace::{ArrivalProcess, RateSchedule};
use bookend_load::plan::LoadPlan;
use bookend_load::plan::pacing::{Loop, OpenLoop};
use bookend_load::run::{LapCalls, LoadSession, clock_ns};
use bookend_server::{Server, ServerHandle};
use echo::{ECHO, Echo};
use plans::plan;
use std::time::Duration;

const LAP: Duration = Duration::from_millis(20);

fn server() -> ServerHandle {
    let builder = Server::builder().add_service(Echo::default());
    builder.bind("127.0.0.1:0").unwrap().threads(1).spawn().unwrap()
}

/// Laps until `count` of them have made calls: a busy machine may wake a worker when one is over.
fn laps_with_calls(count: usize, mut lap: impl FnMut() -> LapCalls) -> Vec<LapCalls> {
    let (mut laps, mut with_calls) = (Vec::new(), 0);
    while with_calls < count {
        assert!(laps.len() < 1_000, "no lap makes a call");
        let lap = lap();
        with_calls += usize::from(lap.ok > 0);
        laps.push(lap);
    }
    laps
}

#[test]
fn laps_share_their_connections_and_count_every_call_once() {
    let shapes = [(Driver::Blocking, 1, 1), (Driver::Epoll, 3, 1), (Driver::Epoll, 4, 2)];
    for (driver, connections, threads) in shapes {
        let server = server();
        let plan = LoadPlan {
            driver,
            connections,
            threads,
            ..plan(ECHO, server.local_address().clone(), 0)
        };
        let mut session = LoadSession::start(plan).unwrap();
        let laps = laps_with_calls(3, || session.lap(LAP, || false).unwrap().unwrap());
        for lap in &laps {
            assert_eq!(lap.failed, 0, "{driver:?}: {lap:?}");
        }
        let outcome = session.end().unwrap();
        assert_eq!(outcome.ok, laps.iter().map(|lap| lap.ok).sum::<u64>(), "{driver:?}");
        assert_eq!((outcome.unfinished, outcome.drained), (0, 0), "{driver:?}");
        assert_eq!(outcome.connections_opened, u64::from(connections), "{driver:?}");
    }
}

#[test]
fn a_lap_that_lies_ahead_begins_when_its_time_has_come() {
    for driver in [Driver::Blocking, Driver::Epoll] {
        let server = server();
        let plan = LoadPlan { driver, ..plan(ECHO, server.local_address().clone(), 0) };
        let mut session = LoadSession::start(plan).unwrap();
        let ahead_ns = 150_000_000;
        let mut lap = || {
            let begin_ns = clock_ns() + ahead_ns;
            let calls = session.lap_at(begin_ns, LAP, || false).unwrap().unwrap();
            assert!(clock_ns() >= begin_ns, "{driver:?}: it ended before it began");
            calls
        };
        // Its length is from its beginning on, and so are its calls.
        let laps = laps_with_calls(2, &mut lap);
        assert!(laps.iter().all(|lap| lap.failed == 0));
        let outcome = session.end().unwrap();
        assert_eq!(outcome.ok, laps.iter().map(|lap| lap.ok).sum::<u64>());
        assert_eq!(outcome.window_ns, laps.iter().map(|lap| lap.length_ns).sum::<u64>());
    }
}

#[test]
fn a_warm_up_before_the_first_lap_counts_apart() {
    for (driver, connections, threads) in [(Driver::Blocking, 1, 1), (Driver::Epoll, 4, 2)] {
        let server = server();
        let plan = LoadPlan {
            driver,
            connections,
            threads,
            ..plan(ECHO, server.local_address().clone(), 0)
        };
        let mut session = LoadSession::start(plan).unwrap();
        let warmup = laps_with_calls(2, || session.warm_up(LAP, || false).unwrap().unwrap());
        let warmup = warmup.iter().map(|lap| lap.ok).sum::<u64>();
        let laps = laps_with_calls(2, || session.lap(LAP, || false).unwrap().unwrap());
        let outcome = session.end().unwrap();
        assert_eq!(outcome.warmup, warmup, "{driver:?}");
        assert_eq!(outcome.ok, laps.iter().map(|lap| lap.ok).sum::<u64>(), "{driver:?}");
        assert_eq!(outcome.latencies.histogram.len(), outcome.ok, "{driver:?}");
        assert_eq!(outcome.window_ns, laps.iter().map(|lap| lap.length_ns).sum::<u64>());
        assert!(outcome.driver.writes > 0 && !outcome.cancelled, "{driver:?}");
        assert_eq!((outcome.unfinished, outcome.intervals), (0, None), "{driver:?}");
    }
}

fn by_rate(rate: f64, plan: LoadPlan) -> LoadPlan {
    let schedule = RateSchedule::constant(rate);
    let open_loop = OpenLoop { schedule, arrivals: ArrivalProcess::Even, seed: 1 };
    LoadPlan { pacing: Loop::Open(open_loop), ..plan }
}

#[test]
fn each_lap_makes_the_calls_that_its_rate_has_due_however_late() {
    for (driver, connections, threads) in [(Driver::Blocking, 1, 1), (Driver::Epoll, 4, 2)] {
        let server = server();
        let plan = LoadPlan {
            driver,
            connections,
            threads,
            concurrency: 64,
            ..plan(ECHO, server.local_address().clone(), 0)
        };
        let mut session = LoadSession::start(by_rate(1_000.0, plan)).unwrap();
        for _ in 0..3 {
            let lap = session.lap(LAP, || false).unwrap().unwrap();
            let open_loop = lap.open_loop.expect("it was an open loop");
            assert_eq!((lap.ok, lap.failed, open_loop.due()), (20, 0, 20), "{driver:?}");
            assert_eq!(open_loop.from_intended.histogram.len(), 20, "{driver:?}");
        }
        assert_eq!(session.end().unwrap().ok, 60, "{driver:?}");
    }
}

#[test]
fn a_lap_ends_although_its_rate_is_far_too_high() {
    let server = server();
    let plan = by_rate(5e6, plan(ECHO, server.local_address().clone(), 0));
    let mut session = LoadSession::start(plan).unwrap();
    let lap = session.lap(LAP, || false).unwrap().unwrap();
    let open_loop = lap.open_loop.expect("it was an open loop");
    assert_eq!(open_loop.due(), 100_000);
    assert_eq!((lap.ok, lap.failed), (open_loop.made, 0));
    assert!(open_loop.not_made().count() > 0, "{} were made", open_loop.made);
}

#[test]
fn calls_that_are_due_while_the_server_is_away_are_not_made() {
    let server = server();
    // Room for all calls of a lap at once: a thread that was not run for a while makes them late.
    let plan = LoadPlan { concurrency: 64, ..plan(ECHO, server.local_address().clone(), 0) };
    let mut session = LoadSession::start(by_rate(1_000.0, plan)).unwrap();
    assert_eq!(session.lap(LAP, || false).unwrap().unwrap().ok, 20);
    server.stop_now();
    server.join().unwrap();
    let lap = session.lap(LAP, || false).unwrap().unwrap();
    assert_eq!(lap.ok, 0, "{lap:?}");
    assert_eq!(lap.open_loop.expect("it was an open loop").due(), 20);
}

#[test]
fn without_a_server_there_is_no_session() {
    let server = server();
    let address = server.local_address().clone();
    server.stop();
    server.join().unwrap();
    let error = LoadSession::start(plan(ECHO, address, 0)).unwrap_err();
    assert!(error.to_string().starts_with("nobody listens at "), "{error}");
}

#[test]
fn calls_of_a_server_that_goes_away_fail_and_the_lap_ends() {
    let server = server();
    let mut session = LoadSession::start(plan(ECHO, server.local_address().clone(), 0)).unwrap();
    assert_eq!(session.lap(LAP, || false).unwrap().unwrap().failed, 0);
    server.stop_now();
    server.join().unwrap();
    let lap = session.lap(LAP, || false).unwrap().unwrap();
    assert_eq!(lap.ok, 0, "{lap:?}");
}
