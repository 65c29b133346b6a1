//! A connection for each call: against our own server, and against servers with each kind of
//! answer.

#[path = "../../../io/tests/support/certificates.rs"]
mod certificates;
#[path = "../../../server/tests/support/echo.rs"]
mod echo;
mod peer;
#[path = "../support/plans.rs"]
mod plans;

use bookend_io::Driver;
use bookend_io::tls::{ClientConfig, Connectors, Identity, ServerConfig, Trust};
use bookend_load::plan::{Connecting, DurationStop, LoadPlan};
use bookend_load::run::{LoadError, WindowEdge, run};
use bookend_server::{Limits, Server, ServerHandle};
use bookend_wire::grpc::Code;
use certificates::Authority;
use echo::{ECHO, Echo};
use peer::{Answer, Peer};
use plans::{SECOND_NS, measure, until_long_enough};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn serve() -> (ServerHandle, Arc<AtomicU64>) {
    let echo = Echo::default();
    let calls = Arc::clone(&echo.calls);
    let server = Server::builder()
        .add_service(echo)
        .limits(Limits::trusted())
        .bind("127.0.0.1:0")
        .unwrap()
        .spawn()
        .unwrap();
    (server, calls)
}

fn plan(target: SocketAddr, calls: u64, concurrency: u32) -> LoadPlan {
    LoadPlan {
        connecting: Connecting::PerCall,
        connections: concurrency,
        concurrency,
        driver: Driver::Epoll,
        ..plans::plan(ECHO, target, calls)
    }
}

#[test]
fn every_call_makes_a_connection_of_its_own_and_is_counted_once() {
    for (driver, concurrency, threads) in [
        (Driver::Epoll, 1, 1),
        (Driver::Epoll, 64, 1),
        (Driver::Epoll, 9, 3),
        (Driver::Blocking, 1, 1),
        (Driver::Blocking, 2, 2),
    ] {
        let (server, calls) = serve();
        let outcome = measure(LoadPlan {
            driver,
            threads,
            ..plan(server.local_address().tcp().unwrap(), 503, concurrency)
        });
        assert_eq!((outcome.ok, outcome.errors.total()), (503, 0), "{driver:?} {concurrency}");
        assert_eq!(calls.load(Ordering::Relaxed), 503);
        assert_eq!(outcome.connections_opened, 503);
        assert_eq!(outcome.latencies.histogram.len(), 503);
        assert_eq!((outcome.unfinished, outcome.sources_used), (0, 0));
    }
}

#[test]
fn a_call_is_split_into_parts_that_fit_into_it() {
    let (server, _) = serve();
    let outcome = measure(plan(server.local_address().tcp().unwrap(), 100, 4));
    let setup = outcome.setup.unwrap();
    for part in [&setup.connect, &setup.first_byte] {
        assert_eq!(part.histogram.len(), 100);
        assert!(part.min_ns > 0);
    }
    assert!(setup.tls.histogram.is_empty(), "there was no TLS");
    let parts_ns = setup.connect.sum_ns + setup.first_byte.sum_ns;
    assert!(parts_ns < outcome.latencies.sum_ns);
}

#[test]
fn over_tls_the_handshake_is_a_part_of_its_own() {
    let authority = Authority::new();
    let files = authority.issue(&["localhost"]);
    let identity = Identity::read(&files.certificate, &files.key).unwrap();
    let echo = Echo::default();
    let calls = Arc::clone(&echo.calls);
    let server = Server::builder()
        .add_service(echo)
        .bind("127.0.0.1:0")
        .unwrap()
        .tls(ServerConfig::new(identity, None).unwrap())
        .spawn()
        .unwrap();
    let client = ClientConfig::new(Trust::Anyone, None).unwrap();
    let outcome = measure(LoadPlan {
        tls: Some(Connectors::for_all(client.connector("localhost").unwrap())),
        ..plan(server.local_address().tcp().unwrap(), 40, 4)
    });
    assert_eq!((outcome.ok, outcome.errors.total()), (40, 0), "{:?}", outcome.errors);
    assert_eq!(calls.load(Ordering::Relaxed), 40);
    let setup = outcome.setup.unwrap();
    assert_eq!(setup.tls.histogram.len(), 40);
    let parts_ns = setup.connect.sum_ns + setup.tls.sum_ns + setup.first_byte.sum_ns;
    assert!(setup.tls.min_ns > 0 && parts_ns < outcome.latencies.sum_ns);
}

#[test]
fn by_time_the_counts_of_both_ends_agree() {
    for duration_stop in [DurationStop::Ignore, DurationStop::Wait] {
        until_long_enough(|times| {
            let (server, calls) = serve();
            let outcome = measure(LoadPlan {
                calls: None,
                warmup_ns: times * SECOND_NS / 20,
                window_ns: Some(times * SECOND_NS / 5),
                duration_stop,
                ..plan(server.local_address().tcp().unwrap(), 0, 7)
            });
            assert_eq!((outcome.unfinished, outcome.errors.total()), (0, 0));
            let all = outcome.warmup + outcome.ok + outcome.drained;
            assert_eq!(calls.load(Ordering::Relaxed), all);
            assert_eq!(outcome.connections_opened, all);
            let split = outcome.setup.map_or(0, |setup| setup.connect.histogram.len());
            assert_eq!(split, outcome.ok, "the parts are those of the window's calls");
            outcome.ok > 0 && outcome.warmup > 0
        });
    }
}

#[test]
fn at_the_end_calls_in_flight_can_be_made_to_fail() {
    let peer = Peer::serve(Answer::Never);
    let outcome = measure(LoadPlan {
        calls: None,
        window_ns: Some(SECOND_NS / 5),
        duration_stop: DurationStop::Close,
        ..plan(peer.address, 0, 5)
    });
    assert_eq!(outcome.errors.by_code[&Code::Unavailable], 5);
    assert_eq!((outcome.ok, outcome.unfinished), (0, 0));
}

#[test]
fn everything_goes_out_at_once_and_the_client_closes_first_with_a_goaway() {
    let peer = Peer::serve(Answer::Good);
    let outcome = measure(plan(peer.address, 3, 1));
    assert_eq!((outcome.ok, outcome.errors.total()), (3, 0));
    // The trial connection says nothing.
    let heard = peer.heard();
    let calls: Vec<_> = heard.iter().filter(|heard| !heard.before_answer.is_empty()).collect();
    assert_eq!((heard.len(), calls.len()), (4, 3));
    for heard in calls {
        let frames = heard.before_answer.as_slice();
        assert_eq!(frames, ["SETTINGS", "WINDOW_UPDATE", "HEADERS", "DATA END_STREAM"]);
        assert_eq!(heard.after_answer, ["SETTINGS ACK", "GOAWAY"]);
        assert!(heard.ended_by_client, "and not by a reset");
    }
}

#[test]
fn no_more_calls_are_in_progress_than_were_asked_for() {
    let peer = Peer::serve(Answer::WhenThereAre(10));
    let outcome = measure(plan(peer.address, 50, 10));
    assert_eq!(outcome.ok, 50);
    assert_eq!(peer.most_at_once(), 10, "ten wait for each other, and none is beyond");
}

#[test]
fn messages_and_metadata_that_vary_do_so_over_connections() {
    let peer = Peer::serve(Answer::GoodAfterGreeting);
    let large = vec![7; 100_000];
    let outcome = measure(plans::calling(plan(peer.address, 9, 2), |call| {
        call.messages = vec![b"a".to_vec(), b"bb".to_vec(), large];
        call.varying_metadata = Some(b"trace".to_vec());
    }));
    assert_eq!((outcome.ok, outcome.errors.total()), (9, 0), "{:?}", outcome.errors);
    let mut bytes: Vec<_> = peer.heard().iter().map(|heard| heard.data_bytes).collect();
    bytes.sort_unstable();
    bytes.retain(|bytes| *bytes > 0);
    let three = |bytes: usize| [bytes + 5; 3];
    assert_eq!(bytes, [three(1), three(2), three(100_000)].concat());
}

#[test]
fn each_way_to_fail_is_counted_as_what_it_is_one_error_a_call() {
    for (answer, code, text) in [
        (Answer::Close, Code::Unavailable, "the server closed the connection"),
        (Answer::Garbage, Code::Unavailable, "broke HTTP/2"),
        (Answer::Reset, Code::Internal, "RST_STREAM with error code: INTERNAL_ERROR"),
        (Answer::Goaway, Code::Unavailable, "had not looked at the call"),
        (Answer::Status(5), Code::NotFound, "NotFound"),
    ] {
        let peer = Peer::serve(answer);
        let outcome = measure(plan(peer.address, 6, 3));
        assert_eq!((outcome.ok, outcome.errors.by_code[&code]), (0, 6), "{answer:?}");
        let texts: Vec<_> = outcome.errors.by_text.keys().collect();
        assert!(texts.len() == 1 && texts[0].contains(text), "{answer:?}: {texts:?}");
        assert!(outcome.setup.is_none(), "only calls that went well are split");
    }
}

#[test]
fn a_call_whose_deadline_passes_is_given_up_with_its_connection() {
    let peer = Peer::serve(Answer::Never);
    let outcome =
        measure(LoadPlan { timeout_ns: Some(SECOND_NS / 20), ..plan(peer.address, 4, 2) });
    assert_eq!(outcome.errors.by_code[&Code::DeadlineExceeded], 4);
    assert_eq!((outcome.ok, outcome.errors.total()), (0, 4));
    // A busy machine decides whether the server's SETTINGS, or even the connection, came before the
    // deadline: the worker's own tests show each of these in virtual time.
    for heard in peer.heard() {
        let was_asked = heard.before_answer.last().is_some_and(|last| last == "DATA END_STREAM");
        let told = heard.after_answer.iter().filter(|frame| *frame != "SETTINGS ACK");
        let expected: &[_] = if was_asked { &["RST_STREAM", "GOAWAY"] } else { &[] };
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_port_on_which_no_process_listens_is_an_error_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    match run(plan(address, 1_000_000, 10), &AtomicBool::new(false), |_| {}) {
        Err(LoadError::NoConnection(why)) => {
            let told =
                format!("nobody listens at {address}: start the server, or correct the target");
            assert_eq!(why, told);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_dies_costs_one_error_an_attempt_and_the_run_goes_on() {
    until_long_enough(|times| {
        let (server, calls) = serve();
        let target = server.local_address().tcp().unwrap();
        let mut server = Some(server);
        let window_ns = Some(times * SECOND_NS / 2);
        let plan = LoadPlan { calls: None, window_ns, ..plan(target, 0, 4) };
        let outcome = run(plan, &AtomicBool::new(false), |progress| {
            if progress == WindowEdge::Start
                && let Some(server) = server.take()
            {
                server.stop();
                server.join().unwrap();
            }
        });
        let outcome = outcome.unwrap();
        let answered = outcome.ok + outcome.warmup + outcome.drained;
        let unheard = calls.load(Ordering::Relaxed) - answered;
        assert!(unheard <= 4, "those that were in flight");
        let failed = outcome.errors.total();
        // Each of the four rests 100, 200, 400 ms between attempts.
        assert!(failed <= 40 * times, "{:?}", outcome.errors);
        assert_eq!(outcome.first_failure.is_some(), failed > 0);
        failed >= 4
    });
}

#[test]
fn an_interrupted_run_keeps_what_it_has_measured() {
    let (server, _) = serve();
    let interrupt = AtomicBool::new(false);
    let plan = LoadPlan { calls: None, ..plan(server.local_address().tcp().unwrap(), 0, 10) };
    let outcome = run(plan, &interrupt, |progress| {
        if progress == WindowEdge::Start {
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    assert!(outcome.unwrap().cancelled);
}
