//! Failures that come in rows, or that end more than a connection.

use crate::judge::Loss;
use crate::lines::{LineServer, is_answering, peer, talk};
use crate::session::{Setting, Side, leaked_since, open_descriptors};
use crate::{SERVER_ON_EPOLL, alone, clean, judge, play};
use bookend_client::Code;
use bookend_io::faults::{Armed, FailPoint, InjectedFault, SystemCall};
use bookend_io::{Driver, Io, ServeOptions, ShutdownHandle};
use rustix::io::Errno;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroUsize;

const DRIVERS: [Io; 3] = [Io::Epoll, Io::Uring, Io::Blocking];
const IN_A_ROW: u64 = 3;

fn server_point(call: SystemCall, first: u64, times: u64, error: Errno) -> FailPoint {
    FailPoint { times, ..SERVER_ON_EPOLL.point(call, first, InjectedFault::Error(error)) }
}

#[test]
fn a_listener_that_goes_on_failing_is_left_alone_and_then_goes_on() {
    let _alone = alone();
    for io in DRIVERS {
        let setting = Setting { io, ..SERVER_ON_EPOLL };
        let clean = clean(setting);
        for error in [Errno::MFILE, Errno::NOMEM, Errno::PERM, Errno::INVAL] {
            let point = server_point(SystemCall::Accept, 2, IN_A_ROW, error);
            let played = play(setting, point).unwrap();
            judge(setting, &clean, Loss::Nothing, &played).unwrap();
            assert_eq!(played.hits, IN_A_ROW);
            let accept_errors = played.server.unwrap().io.accept_errors;
            assert_eq!(accept_errors, IN_A_ROW, "each made it back off: {io:?} {error}");
        }
    }
}

#[test]
fn a_server_without_io_uring_serves_on_epoll() {
    let _alone = alone();
    for error in [Errno::NOSYS, Errno::PERM, Errno::INVAL] {
        let armed = Armed::new(&[server_point(SystemCall::RingSetup, 1, u64::MAX, error)]);
        let server = LineServer::start(Io::Uring);
        assert!(is_answering(server.address));
        assert_eq!(server.stop().unwrap().accepted, 1);
        assert!(armed.hits() >= 1);
        assert!(armed.calls(SystemCall::EpollWait) >= 1);
        assert_eq!(armed.calls(SystemCall::RingEnter), 0);
    }
}

#[test]
fn a_refusal_is_said_with_its_reason() {
    let _alone = alone();
    let here = FailPoint {
        threads: &[""],
        ..server_point(SystemCall::RingSetup, 1, u64::MAX, Errno::PERM)
    };
    let armed = Armed::new(&[here]);
    let mut options = ServeOptions::new(ShutdownHandle::new());
    (options.io, options.threads) = (Io::Uring, NonZeroUsize::MIN);
    let chosen = options.chosen();
    drop(armed);
    assert!(chosen.starts_with("epoll on 1 thread(s): io_uring"), "{chosen}");
    assert!(chosen.contains("kernel.io_uring_disabled"), "{chosen}");
}

#[test]
fn a_listener_that_cannot_be_watched_again_at_once_is_watched_later() {
    let _alone = alone();
    let exhausted = server_point(SystemCall::Accept, 1, 1, Errno::MFILE);
    // The first change has it left alone, the next ones are to bring it back.
    for (first, times) in [(1, 1), (2, 1), (2, IN_A_ROW)] {
        let unchanged = server_point(SystemCall::EpollModify, first, times, Errno::NOMEM);
        let armed = Armed::new(&[exhausted, unchanged]);
        let server = LineServer::start(Io::Epoll);
        assert!(is_answering(server.address));
        assert_eq!(server.stop().unwrap().accepted, 1);
        assert_eq!(armed.hits(), 1 + times);
    }
}

#[test]
fn while_no_thread_can_be_had_connections_wait_and_nothing_is_lost() {
    // Each is waited for a while.
    const REFUSED: u64 = 5;
    let _alone = alone();
    let before = open_descriptors();
    let armed = Armed::new(&[server_point(SystemCall::Spawn, 1, REFUSED, Errno::AGAIN)]);
    let server = LineServer::start(Io::Blocking);
    assert!(is_answering(server.address));
    assert_eq!(armed.hits(), REFUSED);
    let statistics = server.stop().unwrap();
    assert_eq!((statistics.accepted, statistics.accept_errors), (1, REFUSED));
    assert_eq!(leaked_since(before), 0);
}

#[test]
fn a_server_that_may_not_wait_ends_with_the_reason() {
    let _alone = alone();
    for (io, call) in [(Io::Epoll, SystemCall::EpollWait), (Io::Uring, SystemCall::RingEnter)] {
        let armed = Armed::new(&[server_point(call, 3, u64::MAX, Errno::INVAL)]);
        let before = open_descriptors();
        let server = LineServer::start(io);
        let mut client = peer(server.address);
        // Where the third wait is the one after that which brings this.
        let _ = client.write_all(b"on\n");
        let end = client.read_to_end(&mut Vec::new());
        assert!(!end.is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
        drop(client);
        let error = server.join().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::INVAL.raw_os_error()));
        assert_eq!((armed.hits(), leaked_since(before)), (1, 0), "{io:?}");
    }
}

#[test]
fn the_calls_of_a_channel_that_may_not_wait_are_each_answered() {
    let _alone = alone();
    let setting = Setting { side: Side::Channel, ..SERVER_ON_EPOLL };
    let mut ended_channels = 0;
    for number in 1.. {
        let point =
            setting.point(SystemCall::EpollWait, number, InjectedFault::Error(Errno::INVAL));
        let played = play(setting, point).unwrap();
        if played.hits == 0 {
            break;
        }
        let is_whole = |codes: &Vec<Code>| codes.iter().all(|code| *code == Code::Ok);
        let whole = played.channels.iter().filter(|codes| is_whole(codes)).count();
        assert!(whole >= 1, "the other channel has a thread of its own");
        ended_channels += 2 - whole;
        let known = |code: &Code| [Code::Ok, Code::Unavailable].contains(code);
        assert!(played.channels.iter().flatten().all(known));
        assert_eq!(played.load.unwrap().errors.total(), 0);
        assert_eq!(played.leaked_descriptors, 0);
    }
    assert!(ended_channels > 0);
}

#[test]
fn a_load_generator_that_may_not_wait_says_so_and_leaves_nothing_behind() {
    let _alone = alone();
    for (load, call) in [
        (Driver::Epoll, SystemCall::EpollWait),
        (Driver::Uring, SystemCall::RingEnter),
        (Driver::Blocking, SystemCall::Poll),
    ] {
        let setting = Setting { side: Side::Load, load, ..SERVER_ON_EPOLL };
        // The session runs the load generator again when it says that this machine lacks something.
        let point = setting.point(call, 2, InjectedFault::Error(Errno::INVAL));
        let played = play(setting, point).unwrap();
        assert_eq!((played.hits, played.leaked_descriptors), (1, 0));
        assert_eq!(played.load.unwrap().errors.total(), 0);
    }
}

#[test]
fn what_is_kept_of_a_line_and_a_long_goodbye_cost_their_connection_at_most() {
    let _alone = alone();
    for io in DRIVERS {
        let whole = talk(io, server_point(SystemCall::Reserve, 0, 0, Errno::NOMEM));
        assert_eq!(whole.answered, [true; 3]);
        for (call, error, least) in [
            (SystemCall::Reserve, Errno::NOMEM, 4),
            (SystemCall::Shutdown, Errno::NOTCONN, 1),
            (SystemCall::Receive, Errno::CONNRESET, 5),
            (SystemCall::Send, Errno::CONNRESET, 5),
            (SystemCall::Receive, Errno::INTR, 5),
            (SystemCall::Send, Errno::INTR, 5),
        ] {
            let points = talk_until_none_fails(io, call, error);
            assert!(points >= least, "{io:?} {call:?}: {points} points");
        }
    }
}

/// How many sessions had a call that failed.
fn talk_until_none_fails(io: Io, call: SystemCall, error: Errno) -> u64 {
    for number in 1.. {
        let talk = talk(io, server_point(call, number, 1, error));
        if talk.hits == 0 {
            return number - 1;
        }
        let answered = talk.answered.iter().filter(|answered| **answered).count();
        let due = if error == Errno::INTR { 3 } else { 2 };
        assert!(answered >= due, "{io:?} {call:?} {number}: {:?}", talk.answered);
        assert!(talk.statistics.accepted + talk.statistics.accept_errors >= 3);
    }
    unreachable!("a session ends")
}
