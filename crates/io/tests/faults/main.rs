//! The n-th system call fails, for n = 1, 2, 3, ... until a session has no n-th one any more: what is
//! lost is that connection, and often nothing.

mod desk;
mod judge;
mod mistake;
mod points;
mod session;

use bookend_io::Io;
use bookend_io::faults::{Call, Fault};
use bookend_load::plan::Driver;
use judge::{Clean, Loss, judge};
use mistake::Mistake;
use points::{Failure, failures};
use rustix::io::Errno;
use session::{Setting, Side, play};

const SERVER_ON_EPOLL: Setting = Setting {
    side: Side::Server,
    io: Io::Epoll,
    threads: 1,
    load: Driver::Epoll,
    mistake: Mistake::None,
};

#[test]
fn a_server_on_epoll_loses_the_connection_at_most() {
    check(SERVER_ON_EPOLL);
}

#[test]
fn a_server_on_two_epolls_loses_the_connection_at_most() {
    check(Setting {
        threads: 2,
        ..SERVER_ON_EPOLL
    });
}

#[test]
fn a_blocking_server_loses_the_connection_at_most() {
    check(Setting {
        io: Io::Blocking,
        ..SERVER_ON_EPOLL
    });
}

#[test]
fn a_channel_loses_the_connection_at_most() {
    check(Setting {
        side: Side::Channel,
        ..SERVER_ON_EPOLL
    });
}

#[test]
fn a_load_generator_on_epoll_loses_the_connection_at_most() {
    check(Setting {
        side: Side::Load,
        ..SERVER_ON_EPOLL
    });
}

#[test]
fn a_blocking_load_generator_loses_the_connection_at_most() {
    check(Setting {
        side: Side::Load,
        load: Driver::Blocking,
        ..SERVER_ON_EPOLL
    });
}

/// Every call that a session makes fails once in every way that it may.
fn check(setting: Setting) {
    let clean = clean(setting);
    let mut points = 0;
    let mut wrong = Vec::new();
    for &call in clean.calls.keys() {
        for failure in failures(call) {
            let found = run_out(setting, &clean, failure);
            eprintln!(
                "{failure:?} {} points of {:?}",
                found.points, clean.calls[&call]
            );
            points += found.points;
            wrong.extend(found.wrong);
        }
    }
    eprintln!("{points} points");
    assert!(
        wrong.is_empty(),
        "{} of {points}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What a session calls in which nothing fails.
fn clean(setting: Setting) -> Clean {
    let nothing = setting.point(Call::Accept, 0, Fault::Short);
    let played = play(setting, nothing).unwrap();
    let clean = Clean {
        calls: played.calls.clone(),
    };
    judge(setting, &clean, Loss::Nothing, &played).unwrap();
    clean
}

/// What a series of sessions has shown.
#[derive(Default)]
struct Found {
    /// Sessions in which a call failed.
    points: u64,
    wrong: Vec<String>,
}

/// The first call of a kind fails, then the second, until there is none any more.
fn run_out(setting: Setting, clean: &Clean, failure: Failure) -> Found {
    let mut found = Found::default();
    loop {
        let number = found.points + 1;
        let point = setting.point(failure.call, number, failure.fault);
        let played = play(setting, point);
        let verdict = match &played {
            Ok(played) if played.hits == 0 => return found,
            Ok(played) => judge(setting, clean, failure.loss, played),
            Err(text) => Err(text.clone()),
        };
        found.points += 1;
        if let Err(text) = verdict {
            found.wrong.push(format!("{failure:?} {number}: {text}"));
            if found.wrong.len() > 5 {
                return found;
            }
        }
    }
}
