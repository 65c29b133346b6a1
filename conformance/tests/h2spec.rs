//! h2spec: HTTP/2 and HPACK, frame by frame, against `bookend serve`.
#![forbid(unsafe_code)]

#[path = "../../crates/io/tests/support/certificates.rs"]
mod certificates;

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use bookend_conformance::{ClosedPort, Ended, Serving, outside, run};
use certificates::Authority;

/// Strict mode of v2.2.1.
const CASES: usize = 146;

/// How long a case waits for an answer. A server that is right never makes it wait.
const WAITS_SECONDS: &str = "10";

fn h2spec(port: u16) -> Ended {
    h2spec_with(port, &[])
}

fn h2spec_with(port: u16, flags: &[&str]) -> Ended {
    let port = port.to_string();
    // A path whose answer has a body: some cases wait for one.
    let words = [
        "--strict",
        "--host",
        "127.0.0.1",
        "--port",
        &port,
        "--timeout",
        WAITS_SECONDS,
        "--path",
        "/",
    ];
    run(&outside("h2spec"), words.iter().chain(flags))
}

/// What is wrong with a run; nothing only where every case was run and passed.
fn complaint(ended: &Ended) -> Option<String> {
    let all = format!("{CASES} tests, {CASES} passed, 0 skipped, 0 failed");
    let is_good = ended.succeeded && ended.text.lines().any(|line| line == all);
    (!is_good).then(|| format!("not {all:?}, but:\n{}", ended.text))
}

fn assert_all_pass(io: &str) {
    let server = Serving::bookend(io);
    assert_eq!(complaint(&h2spec(server.port)), None);
}

#[test]
fn every_case_passes_with_the_blocking_driver() {
    assert_all_pass("blocking");
}

#[test]
fn every_case_passes_with_the_epoll_driver() {
    assert_all_pass("epoll");
}

#[test]
fn every_case_passes_with_io_uring() {
    assert_all_pass("uring");
}

#[test]
fn every_case_passes_where_the_driver_is_chosen() {
    assert_all_pass("auto");
}

#[test]
fn every_case_passes_inside_of_tls() {
    let authority = Authority::new();
    let flags = authority.issue(&["127.0.0.1"]).flags();
    for io in ["blocking", "epoll", "uring"] {
        let server = Serving::bookend_with(io, &flags.each_ref().map(String::as_str));
        let ended = h2spec_with(server.port, &["--tls", "--insecure"]);
        assert_eq!(complaint(&ended), None, "{io}");
        let plain = h2spec(server.port);
        assert!(complaint(&plain).is_some(), "it takes nobody without TLS");
    }
}

#[test]
fn a_server_that_speaks_no_http2_is_a_complaint() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let _ =
                connection.and_then(|mut peer| peer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    let ended = h2spec(port);
    assert!(complaint(&ended).is_some(), "{}", ended.text);
    assert!(!ended.succeeded);
}

#[test]
fn a_server_that_is_not_there_is_a_complaint() {
    assert!(complaint(&h2spec(ClosedPort::take().port)).is_some());
}

#[test]
fn a_case_that_was_not_run_is_a_complaint() {
    let ended =
        |text: &str| Ended { succeeded: true, text: format!("Finished in 0.2 seconds\n{text}\n") };
    let all = "146 tests, 146 passed, 0 skipped, 0 failed";
    assert_eq!(complaint(&ended(all)), None);
    for fewer in [
        "145 tests, 145 passed, 0 skipped, 0 failed",
        "146 tests, 145 passed, 1 skipped, 0 failed",
        "0 tests, 0 passed, 0 skipped, 0 failed",
        "",
    ] {
        assert!(complaint(&ended(fewer)).is_some(), "{fewer}");
    }
}
