//! The load generator: each misbehaviour is an error class of its own, and no call is lost.

use super::behaviour::{AfterGoAway, Behaviour, Part};
use super::cases::{BAD, Case, GOOD, Tally};
use super::plans::{self, SECOND_NS};
use super::server::{bind, unused_address};
use super::server_connection::Observed;
use bookend_io::Driver;
use bookend_load::plan::LoadPlan;
use bookend_load::run::{LoadError, LoadOutcome, run};
use bookend_testing::{error, flag, kind};
use bookend_wire::{ConnectionConfig, Keepalive};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

pub fn plan(target: SocketAddr, calls: u64, concurrency: u32) -> LoadPlan {
    // Small windows: what is not given back is missed soon.
    let plan = plans::calling(plans::plan("/test.Any/Call", target, calls), |call| {
        call.config = ConnectionConfig::internet();
    });
    LoadPlan { concurrency, ..plan }
}

pub fn measure(plan: LoadPlan) -> Result<LoadOutcome, LoadError> {
    run(plan, &AtomicBool::new(false), |_| {})
}

fn tally(outcome: Result<LoadOutcome, LoadError>) -> Tally {
    match outcome {
        Ok(outcome) => Tally { ok: outcome.ok, errors: outcome.errors.by_text },
        Err(error) => Tally { ok: 0, errors: BTreeMap::from([(error.to_string(), 1)]) },
    }
}

fn tally_at(address: SocketAddr, case: &Case, driver: Driver) -> Tally {
    tally(measure(LoadPlan { driver, ..plan(address, case.calls, case.at_once) }))
}

fn meet(case: &Case, behaviour: Behaviour, driver: Driver) -> Result<(), String> {
    let server = bind().serve(behaviour);
    let tally = tally_at(server.address, case, driver);
    case.judge(case.load, &tally, &server.finish())
}

#[test]
fn every_misbehaviour_is_counted_as_what_it_is() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        assert_eq!(meet(&GOOD, GOOD.behaviour, driver), Ok(()));
        for case in &BAD {
            assert_eq!(meet(case, case.behaviour, driver), Ok(()), "{driver:?}");
        }
    }
}

#[test]
fn no_two_misbehaviours_are_the_same_error() {
    let failing = BAD.iter().filter(|case| case.load.ok < case.calls);
    let texts: Vec<_> = failing.map(|case| case.load.error).collect();
    let different: BTreeSet<_> = texts.iter().collect();
    assert_eq!((different.len(), texts.len()), (6, 6));
}

#[test]
fn with_no_server_no_case_passes() {
    for case in BAD.iter().chain([&GOOD]) {
        let tally = tally_at(unused_address(), case, Driver::Blocking);
        assert!(case.judge(case.load, &tally, &[]).is_err(), "{}", case.name);
    }
}

#[test]
fn a_server_that_behaves_well_passes_for_no_other() {
    for case in &BAD {
        let taken_in = meet(case, Behaviour::Good, Driver::Blocking).is_ok();
        assert!(!taken_in, "{}", case.name);
    }
}

/// Makes calls one after another; gives the outcome and what the server has observed.
fn run_against(
    behaviour: Behaviour,
    plan: impl Fn(LoadPlan) -> LoadPlan,
) -> (LoadOutcome, Vec<Observed>) {
    let server = bind().serve(behaviour);
    let address = server.address;
    let outcome = measure(plan(self::plan(address, 1, 1))).unwrap();
    (outcome, server.finish())
}

#[test]
fn a_reset_is_reported_with_its_code() {
    for (code, text) in [
        (
            error::REFUSED_STREAM,
            "Unavailable desc = stream terminated by RST_STREAM with error code: REFUSED_STREAM",
        ),
        (error::CANCEL, "Canceled desc = stream terminated by RST_STREAM with error code: CANCEL"),
        (
            error::ENHANCE_YOUR_CALM,
            "ResourceExhausted desc = stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM",
        ),
        (
            0x1234,
            "Internal desc = stream terminated by RST_STREAM with error code: UNKNOWN(0x1234)",
        ),
    ] {
        let behaviour = Behaviour::Resets { every: 2, after: Part::Nothing, code };
        let calls = Some(4);
        let (outcome, _) = run_against(behaviour, |plan| LoadPlan { calls, ..plan });
        let text = format!("rpc error: code = {text}");
        assert_eq!(outcome.errors.by_text, BTreeMap::from([(text, 2)]));
        assert_eq!(outcome.ok, 2);
    }
}

#[test]
fn a_goaway_that_costs_no_call_is_reported_all_the_same() {
    let behaviour = Behaviour::GoesAway {
        at_call: 5,
        code: error::NO_ERROR,
        debug: "max_age",
        then: AfterGoAway::Answers,
    };
    let calls = Some(15);
    let (outcome, observed) = run_against(behaviour, |plan| LoadPlan { calls, ..plan });
    assert_eq!((outcome.ok, outcome.errors.total()), (15, 0));
    assert_eq!(outcome.connections_opened, 3);
    let text = "GOAWAY NO_ERROR, debug data: \"max_age\"".to_owned();
    assert_eq!(outcome.goaways, BTreeMap::from([(text, 3)]));
    assert_eq!(observed.len(), 3);
}

#[test]
fn a_server_that_goes_away_and_never_answers_costs_the_deadlines_of_its_calls() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        let behaviour = Behaviour::GoesAway {
            at_call: 3,
            code: error::NO_ERROR,
            debug: "",
            then: AfterGoAway::Hangs,
        };
        let (outcome, observed) = run_against(behaviour, |plan| LoadPlan {
            calls: Some(9),
            timeout_ns: Some(SECOND_NS / 20),
            driver,
            ..plan
        });
        // On a busy machine an answer may come too late as well: the worker's own tests show in
        // virtual time that exactly the third calls fail.
        let text = "rpc error: code = DeadlineExceeded desc = context deadline exceeded".to_owned();
        let exceeded = outcome.errors.total();
        assert_eq!(outcome.errors.by_text, BTreeMap::from([(text, exceeded)]));
        assert_eq!(outcome.ok + exceeded, 9);
        let left = observed.iter().filter(|observed| observed.calls == 3).count();
        assert!(exceeded >= left as u64);
        let calls: Vec<_> = observed.iter().map(|observed| observed.calls).collect();
        assert!(calls.iter().all(|calls| *calls <= 3), "{calls:?}");
    }
}

#[test]
fn a_silent_server_is_asked_once_and_given_up_whatever_drives_the_run() {
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        let often = Keepalive { time_ns: SECOND_NS / 20, timeout_ns: SECOND_NS / 20 };
        // Nothing else ends a call here.
        let (outcome, observed) = run_against(Behaviour::Silent, |plan| LoadPlan {
            calls: Some(2),
            timeout_ns: None,
            driver,
            ..plans::calling(plan, |call| call.keepalive = Some(often))
        });
        let text = "rpc error: code = Unavailable desc = nothing came for 50ms after a keepalive \
             PING: the server is gone, or the network to it";
        let counted = BTreeMap::from([(text.to_owned(), 2)]);
        assert_eq!(outcome.errors.by_text, counted, "{driver:?}");
        let asked = |observed: &Observed| {
            observed.of_kind(kind::PING).filter(|ping| !ping.has(flag::ACK)).count()
        };
        assert_eq!(observed.iter().map(asked).collect::<Vec<_>>(), [1, 1]);
    }
}

#[test]
fn a_server_that_leaves_out_every_call_is_not_stormed() {
    let behaviour = Behaviour::GoesAway {
        at_call: 0,
        code: error::NO_ERROR,
        debug: "full",
        then: AfterGoAway::Closes,
    };
    let (outcome, _) = run_against(behaviour, |plan| LoadPlan {
        calls: None,
        window_ns: Some(SECOND_NS / 2),
        ..plan
    });
    // Back-off from 100 ms, doubled, leaves room for two attempts after the first.
    assert!((1..=3).contains(&outcome.connections_opened));
}

#[test]
fn a_server_that_allows_few_streams_is_reported() {
    let (outcome, observed) = run_against(Behaviour::Allows { streams: 2 }, |plan| LoadPlan {
        concurrency: 10,
        calls: Some(20),
        ..plan
    });
    assert_eq!((outcome.ok, outcome.streams_allowed), (20, Some(2)));
    assert_eq!(observed[0].open_max, 2);
    let (outcome, _) =
        run_against(Behaviour::Good, |plan| LoadPlan { concurrency: 10, calls: Some(20), ..plan });
    assert_eq!((outcome.ok, outcome.streams_allowed), (20, None));
}
