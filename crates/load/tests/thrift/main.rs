//! Runs by Thrift against servers of every kind: those that answer as they should, those that say
//! no, and those that do not.

mod server;

use bookend_io::Driver;
use bookend_load::flags::LoadFlags;
use bookend_load::plan::{Call, LoadPlan, ThriftRun};
use bookend_load::run::{LoadOutcome, run};
use bookend_wire::grpc::Code;
use server::{Answer, PART_BYTES, ThriftServer};
use std::sync::atomic::AtomicBool;

const IDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../payload/tests/thrift/everything.thrift");
const DRIVERS: [Driver; 3] = [Driver::Blocking, Driver::Epoll, Driver::Uring];

/// The plan of a command line, against that server.
fn plan(server: &ThriftServer, line: &str) -> LoadPlan {
    let address = server.address.to_string();
    let words = ["--insecure", "--thrift", IDL, &address];
    let flags = LoadFlags::of_words(line.split_whitespace().chain(words)).unwrap();
    LoadPlan::from_flags(&flags, &mut std::io::empty(), 2).unwrap()
}

fn refused(line: &str) -> String {
    let words = line.split_whitespace().chain(["--insecure", "127.0.0.1:1"]);
    let flags = LoadFlags::of_words(words).unwrap();
    LoadPlan::from_flags(&flags, &mut std::io::empty(), 2).unwrap_err().to_string()
}

fn measure(plan: LoadPlan) -> LoadOutcome {
    run(plan, &AtomicBool::new(false), |_| {}).unwrap()
}

/// The one text that all failures have.
fn failure(outcome: &LoadOutcome) -> (Code, String) {
    assert_eq!(outcome.errors.by_text.len(), 1, "{:?}", outcome.errors);
    let code = *outcome.errors.by_code.keys().next().unwrap();
    (code, outcome.errors.by_text.keys().next().unwrap().clone())
}

#[test]
fn every_driver_makes_every_call_once() {
    for mut driver in DRIVERS {
        let server = ThriftServer::start(Answer::Echo);
        let mut plan = plan(&server, "--call Everywhere.ping -n 1000 -c 8");
        (plan.driver, plan.threads) = (driver, if driver == Driver::Blocking { 8 } else { 2 });
        if plan.fall_back().is_some() {
            driver = plan.driver;
        }
        let outcome = measure(plan);
        assert_eq!((outcome.ok, outcome.errors.total()), (1_000, 0), "{driver:?} {outcome:?}");
        assert_eq!((server.calls(), outcome.connections_opened), (1_000, 8), "{driver:?}");
        assert_eq!(server.most_behind_each_other(), 1, "{driver:?}");
    }
}

#[test]
fn every_call_can_have_a_connection_of_its_own() {
    for driver in DRIVERS {
        for words in ["", "--thrift-transport buffered --thrift-protocol compact"] {
            let server = ThriftServer::start(Answer::Echo);
            let line = format!("--call Everywhere.ping -n 500 -c 8 --one-shot {words}");
            let mut plan = plan(&server, &line);
            (plan.driver, plan.threads) = (driver, if driver == Driver::Blocking { 8 } else { 2 });
            plan.fall_back();
            let outcome = measure(plan);
            assert_eq!((outcome.ok, outcome.errors.total()), (500, 0), "{driver:?} {outcome:?}");
            assert_eq!((server.calls(), outcome.connections_opened), (500, 500), "{driver:?}");
            let setup = outcome.setup.unwrap();
            assert_eq!(setup.first_byte.histogram.len(), 500);
            assert!(setup.connect.sum_ns + setup.first_byte.sum_ns < outcome.latencies.sum_ns);
        }
    }
}

#[test]
fn every_transport_and_protocol_is_spoken() {
    for line in [
        "--thrift-transport buffered",
        "--thrift-protocol compact",
        "--thrift-transport buffered --thrift-protocol compact",
    ] {
        let server = ThriftServer::start(Answer::Echo);
        let line = format!("--call Everywhere.ping -n 100 -c 2 {line}");
        let plan = plan(&server, &line);
        assert_eq!(measure(plan).ok, 100, "{line}");
    }
}

#[test]
fn calls_go_behind_each_other_where_that_is_asked_for() {
    let server = ThriftServer::start(Answer::Echo);
    let line = "--call Everywhere.ping -n 2000 -c 40 --connections 2 --thrift-pipelining";
    let outcome = measure(plan(&server, line));
    assert_eq!((outcome.ok, outcome.connections_opened), (2_000, 2));
    assert!(server.most_behind_each_other() > 1);
}

#[test]
fn by_a_rate_calls_are_made_when_they_are_due() {
    let server = ThriftServer::start(Answer::Echo);
    let line = "--call Everywhere.ping -r 5000 -n 500 -c 20 --arrivals poisson --seed 7";
    let outcome = measure(plan(&server, line));
    let open_loop = outcome.open_loop.unwrap();
    assert_eq!((outcome.ok, open_loop.made, open_loop.due()), (500, 500, 500));
}

#[test]
fn a_reply_in_single_bytes_is_a_reply() {
    for transport in ["framed", "buffered"] {
        let server = ThriftServer::start(Answer::ByteByByte);
        let line = format!("--call Everywhere.ping -n 5 -c 1 --thrift-transport {transport}");
        assert_eq!(measure(plan(&server, &line)).ok, 5, "{transport}");
    }
}

#[test]
fn calls_without_a_reply_end_when_they_are_written() {
    let server = ThriftServer::start(Answer::Nothing);
    for kept in ["", "--one-shot"] {
        let line = format!("--call Everywhere.note -d {{\"text\":\"x\"}} -n 500 -c 2 {kept}");
        let mut plan = plan(&server, &line);
        for driver in DRIVERS {
            plan.driver = driver;
            plan.fall_back();
            assert_eq!(measure(plan.clone()).ok, 500, "{driver:?} {kept}");
        }
    }
    assert_eq!(server.wait_for_calls(3_000), 3_000);
}

#[test]
fn a_call_past_its_deadline_takes_its_connection_with_it() {
    let server = ThriftServer::start(Answer::Nothing);
    let outcome = measure(plan(&server, "--call Everywhere.ping -n 2 -c 1 -t 50ms"));
    let (code, text) = failure(&outcome);
    assert_eq!((code, outcome.errors.total(), outcome.ok), (Code::DeadlineExceeded, 2, 0));
    assert!(text.contains("context deadline exceeded"), "{text}");
    assert_eq!(outcome.connections_opened, 2);
}

#[test]
fn failures_say_what_the_server_did() {
    for (answer, code, said) in [
        (Answer::WrongSequence, Code::Internal, "the server answered call 1 where call 16384"),
        (Answer::WrongMethod, Code::Internal, "the reply of other to a call of ping"),
        (Answer::Exception, Code::Unimplemented, "TApplicationException UNKNOWN_METHOD: no ping"),
        (Answer::Close, Code::Unavailable, "does it speak the framed transport and the binary"),
        (Answer::Huge, Code::Unavailable, "a reply of 2130706432 bytes, and 104857600 are allowed"),
    ] {
        let server = ThriftServer::start(answer);
        for kept in ["", "--one-shot"] {
            let line = format!("--call Everywhere.ping -n 1 -c 1 {kept}");
            let outcome = measure(plan(&server, &line));
            let (found, text) = failure(&outcome);
            assert_eq!((found, outcome.ok), (code, 0), "{answer:?} {kept}: {text}");
            assert!(text.contains(said), "{answer:?} {kept}: {text}");
        }
    }
}

#[test]
fn parts_of_replies_are_kept_up_to_a_limit_over_all_connections() {
    let server = ThriftServer::start(Answer::Part);
    for kept in ["", "--one-shot"] {
        let line = format!("--call Everywhere.ping -n 8 -c 8 -t 1s {kept}");
        let mut plan = plan(&server, &line);
        plan.threads = 1;
        let Call::Thrift(run) = &mut plan.call else { panic!("{line}") };
        run.replies_max_bytes = 4 * PART_BYTES as u64;
        let unlimited = ThriftRun { replies_max_bytes: u64::MAX, ..run.clone() };
        let outcome = measure(plan.clone());
        let texts = outcome.errors.by_text.keys();
        let of_limit = texts.filter(|text| text.contains("in part take more than 16777216 bytes"));
        assert_eq!(of_limit.count(), 1, "{kept} {:?}", outcome.errors);
        plan.call = Call::Thrift(unlimited);
        let (code, text) = failure(&measure(plan));
        assert_eq!(code, Code::DeadlineExceeded, "{kept} {text}");
    }
}

#[test]
fn a_message_that_nobody_asked_for_ends_the_connection() {
    let server = ThriftServer::start(Answer::Twice);
    let outcome = measure(plan(&server, "--call Everywhere.ping -n 20 -c 1"));
    assert!(outcome.ok > 0 && outcome.ok + outcome.errors.total() == 20, "{outcome:?}");
    let texts = outcome.errors.by_text.keys();
    let known = ["where call", "no call had asked for"];
    assert!(texts.into_iter().all(|text| known.iter().any(|said| text.contains(said))));
}

#[test]
fn flags_that_mean_nothing_to_thrift_are_named() {
    let thrift = format!("--thrift {IDL} --call Everywhere.ping");
    for (line, said) in [
        ("--proto x.proto", "--proto means nothing to Thrift"),
        ("-m {}", "--metadata means nothing to Thrift: leave it out; it has no metadata"),
        ("--enable-compression", "--enable-compression means nothing to Thrift"),
        ("--keepalive 20s", "--keepalive means nothing to Thrift: leave it out; it has no PING"),
        ("--stream-call-count 5", "--stream-call-count means nothing to Thrift"),
        ("-B x.bin", "--binary-file means nothing to Thrift: leave it out; its data is JSON"),
        ("--authority x", "--authority means nothing to Thrift"),
        ("--async -r 5", "--async means no limit of calls in flight"),
        ("--one-shot --thrift-pipelining", "--one-shot and --thrift-pipelining"),
        ("--one-shot --keepalive 20s", "--keepalive means nothing to Thrift"),
        ("--connections 2 -c 8", "--connections 2 with --concurrency 8: a Thrift connection"),
        ("--find-capacity p99<5ms", "--find-capacity means nothing to Thrift"),
        ("--max-send-message-size 5b", "a request message has"),
        ("--thrift-protocol json", ""),
    ] {
        if said.is_empty() {
            let words = format!("{thrift} {line}");
            assert!(LoadFlags::of_words(words.split_whitespace()).is_err(), "{line}");
            continue;
        }
        let error = refused(&format!("{thrift} {line}"));
        assert!(error.contains(said) && error.lines().count() == 1, "{line}: {error}");
    }
    for flag in ["--thrift-transport framed", "--thrift-protocol compact", "--thrift-pipelining"] {
        let error = refused(&format!("--call a.B/C {flag}"));
        assert!(error.contains("is for calls by Thrift: add --thrift FILE"), "{error}");
    }
}
