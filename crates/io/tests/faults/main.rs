//! The n-th system call fails, for n = 1, 2, 3, ... until a session has no n-th one any more: what
//! is lost is that connection, and often nothing.
//!
//! A session is two channels, a load generator and a last caller with one server, inline calls and
//! deferred ones. After it, every call has had one end, the counts of both ends agree, no
//! descriptor is left over, and nobody has asked the kernel again and again.

mod desk;
mod judge;
mod lines;
mod mistake;
#[path = "../../../load/tests/support/plans.rs"]
mod plans;
mod points;
mod session;
mod stories;

use bookend_io::faults::{InjectedFault, SystemCall};
use bookend_io::{Driver, Io};

use judge::{Clean, Loss, judge};
use mistake::Mistake;
use points::{Failure, failures};
use rustix::io::Errno;
use session::{CHANNEL_CALLS, CONNECTIONS, GUARD, LOAD_CONNECTIONS, Setting, Side, play};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SERVER_ON_EPOLL: Setting = Setting {
    side: Side::Server,
    io: Io::Epoll,
    threads: 1,
    load: Driver::Epoll,
    mistake: Mistake::None,
    patience: GUARD,
};

const SERVER_ON_URING: Setting = Setting { io: Io::Uring, ..SERVER_ON_EPOLL };

#[test]
fn a_server_on_epoll_loses_the_connection_at_most() {
    check(SERVER_ON_EPOLL);
}

#[test]
fn a_server_on_two_epolls_loses_the_connection_that_it_hands_out_at_most() {
    // Once a connection has a thread, it is served as with one thread.
    let setting = Setting { threads: 2, ..SERVER_ON_EPOLL };
    check_calls(setting, |call| ![SystemCall::Receive, SystemCall::Send].contains(&call));
}

#[test]
fn a_server_on_io_uring_loses_the_connection_at_most() {
    check(SERVER_ON_URING);
}

#[test]
fn a_server_on_two_io_urings_loses_the_connection_that_it_hands_out_at_most() {
    let setting = Setting { threads: 2, ..SERVER_ON_URING };
    check_calls(setting, |call| ![SystemCall::Receive, SystemCall::Send].contains(&call));
}

#[test]
fn a_load_generator_on_io_uring_loses_the_connection_at_most() {
    check(Setting { side: Side::Load, load: Driver::Uring, ..SERVER_ON_EPOLL });
}

#[test]
fn a_blocking_server_loses_the_connection_at_most() {
    check(Setting { io: Io::Blocking, ..SERVER_ON_EPOLL });
}

#[test]
fn a_channel_loses_the_connection_at_most() {
    check(Setting { side: Side::Channel, ..SERVER_ON_EPOLL });
}

#[test]
fn a_load_generator_on_epoll_loses_the_connection_at_most() {
    check(Setting { side: Side::Load, ..SERVER_ON_EPOLL });
}

#[test]
fn a_blocking_load_generator_loses_the_connection_at_most() {
    check(Setting { side: Side::Load, load: Driver::Blocking, ..SERVER_ON_EPOLL });
}

#[test]
fn what_is_handled_wrongly_is_found() {
    let _alone = alone();
    let clean = clean(SERVER_ON_EPOLL);
    let reset = Failure {
        call: SystemCall::Receive,
        fault: InjectedFault::Error(Errno::CONNRESET),
        loss: Loss::Connection,
    };
    for mistake in [
        Mistake::StopsTheServer,
        Mistake::LosesAnotherConnection,
        Mistake::LeaksADescriptor,
        Mistake::Spins,
        Mistake::Panics,
    ] {
        let setting = Setting { mistake, patience: Duration::from_millis(500), ..SERVER_ON_EPOLL };
        let found = run_out(setting, &clean, reset);
        assert!(found.wrong.is_some(), "{mistake:?}: {} sessions", found.points);
    }
    let nothing_may_be_lost = Failure { loss: Loss::Nothing, ..reset };
    let found = run_out(SERVER_ON_EPOLL, &clean, nothing_may_be_lost);
    assert!(found.wrong.is_some(), "a reset costs something");
}

/// Every call that a session makes fails once in every way that it may.
fn check(setting: Setting) {
    check_calls(setting, |_| true);
}

fn check_calls(setting: Setting, is_meant: impl Fn(SystemCall) -> bool) {
    let _alone = alone();
    let clean = clean(setting);
    let mut points = 0;
    for &call in clean.calls.keys().filter(|call| is_meant(**call)) {
        for failure in failures(call) {
            let found = run_out(setting, &clean, failure);
            let least = least_calls(setting, call);
            assert!(found.wrong.is_none(), "{setting:?} {failure:?} {found:?}");
            assert!(found.points >= least, "{failure:?}: only {} points", found.points);
            points += found.points;
        }
    }
    println!("{points} system calls failed, each in a session of its own");
}

/// How many calls of a kind a session cannot do without.
fn least_calls(setting: Setting, call: SystemCall) -> u64 {
    let channel_calls = CHANNEL_CALLS as u64;
    let load_connections = u64::from(LOAD_CONNECTIONS);
    let own = match (setting.side, call) {
        (Side::Server, SystemCall::Accept) => CONNECTIONS,
        (Side::Server, SystemCall::Receive | SystemCall::Send) => CONNECTIONS + channel_calls,
        (Side::Channel, SystemCall::Socket | SystemCall::Connect | SystemCall::EpollCreate) => 2,
        (Side::Channel, SystemCall::Receive | SystemCall::Send) => 2 * channel_calls,
        (Side::Load, SystemCall::Socket | SystemCall::Connect) => load_connections,
        (Side::Load, SystemCall::Receive | SystemCall::Send) => load_connections,
        _ => 0,
    };
    own.max(setting.start_up_calls(call))
}

/// What a session calls in which nothing fails.
fn clean(setting: Setting) -> Clean {
    let nothing = setting.point(SystemCall::Accept, 0, InjectedFault::Short);
    let played = play(setting, nothing).unwrap();
    let clean = Clean { calls: played.calls.clone() };
    judge(setting, &clean, Loss::Nothing, &played).unwrap();
    clean
}

/// What a series of sessions has shown.
#[derive(Debug, Default)]
struct Found {
    /// Sessions in which a call failed.
    points: u64,
    /// What was wrong with the last one.
    wrong: Option<String>,
}

/// The first call of a kind fails, then the second, until no such call is left or one has cost more
/// than it may.
fn run_out(setting: Setting, clean: &Clean, failure: Failure) -> Found {
    let mut found = Found::default();
    while found.wrong.is_none() {
        let number = found.points + 1;
        let point = setting.point(failure.call, number, failure.fault);
        let verdict = match play(setting, point) {
            Ok(played) if played.hits == 0 => {
                let made = played.calls.get(&failure.call).copied().unwrap_or(0);
                assert!(made < number, "the call of that number was made and did not fail");
                break;
            }
            Ok(played) => judge(setting, clean, failure.loss, &played),
            Err(text) => Err(text),
        };
        found.points += 1;
        found.wrong = verdict.err();
    }
    found
}

/// The process has one point and one set of descriptors: sessions are played one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
