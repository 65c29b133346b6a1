//! The interop cases of gRPC: grpc-go's client against our server, our client against grpc-go's
//! server, and both of ours where grpc-go has no such case.
#![forbid(unsafe_code)]

#[path = "../../crates/io/tests/support/certificates.rs"]
mod certificates;

use std::path::Path;

use bookend_conformance::{ClosedPort, Ended, Serving, outside, run};
use certificates::Authority;

/// What needs neither credentials nor a load balancer, and no compression: that grpc-go lacks.
const BASIC: [&str; 14] = [
    "empty_unary",
    "large_unary",
    "client_streaming",
    "server_streaming",
    "ping_pong",
    "empty_stream",
    "timeout_on_sleeping_server",
    "cancel_after_begin",
    "cancel_after_first_response",
    "status_code_and_message",
    "special_status_message",
    "custom_metadata",
    "unimplemented_method",
    "unimplemented_service",
];

/// Ten large calls each.
const SOAK: [&str; 2] = ["rpc_soak", "channel_soak"];

const COMPRESSED: [&str; 4] = [
    "client_compressed_unary",
    "server_compressed_unary",
    "client_compressed_streaming",
    "server_compressed_streaming",
];

/// Calls of the cases above that a server surely hears of and answers: all but those that the
/// client ends before. Two cases make two calls.
const ANSWERED_CALLS: u64 = 11 + 2 + 2 * 10;

fn theirs(port: u16, case: &str) -> Ended {
    theirs_with(port, case, &[])
}

fn theirs_with(port: u16, case: &str, flags: &[&str]) -> Ended {
    // How fast a call is, is not what is tested here.
    let (port, case) = (format!("-server_port={port}"), format!("-test_case={case}"));
    let words = [
        "-server_host=127.0.0.1",
        &port,
        &case,
        "-soak_per_iteration_max_acceptable_latency_ms=60000",
        "-soak_overall_timeout_seconds=200",
    ];
    run(&outside("grpc-go-client"), words.iter().chain(flags))
}

fn ours(port: u16, case: &str) -> Ended {
    let client = Path::new(env!("CARGO_BIN_EXE_interop-client"));
    run(client, [&format!("127.0.0.1:{port}"), case])
}

type Client = fn(u16, &str) -> Ended;

/// The cases that did not pass, with what was said of each.
fn failures(client: Client, port: u16, cases: &[&str]) -> Vec<String> {
    let ended = cases.iter().map(|case| (case, client(port, case)));
    let failed = ended.filter(|(_, ended)| !ended.succeeded);
    failed.map(|(case, ended)| format!("{case}: {}", ended.text)).collect()
}

fn assert_server_passes(client: Client, io: &str) {
    let server = Serving::bookend(io);
    let cases = [&BASIC[..], &SOAK].concat();
    assert_eq!(failures(client, server.port, &cases), [""; 0]);
    let served = server.stop();
    assert!(served >= ANSWERED_CALLS, "the server served {served} calls");
}

#[test]
fn their_client_passes_every_case_with_the_blocking_driver() {
    assert_server_passes(theirs, "blocking");
}

#[test]
fn their_client_passes_every_case_with_io_uring() {
    assert_server_passes(theirs, "uring");
}

#[test]
fn their_client_passes_every_case_with_the_epoll_driver() {
    assert_server_passes(theirs, "epoll");
}

#[test]
fn their_client_passes_every_case_where_the_driver_is_chosen() {
    assert_server_passes(theirs, "auto");
}

#[test]
fn their_client_passes_every_case_inside_of_tls() {
    let authority = Authority::new();
    let flags = authority.issue(&["127.0.0.1"]).flags();
    let ca = format!("-ca_file={}", authority.file().display());
    for io in ["blocking", "epoll", "uring"] {
        let server = Serving::bookend_with(io, &flags.each_ref().map(String::as_str));
        for case in [&BASIC[..], &SOAK].concat() {
            let ended = theirs_with(server.port, case, &["-use_tls", "-use_test_ca", &ca]);
            assert!(ended.succeeded, "{io}, {case}: {}", ended.text);
        }
        assert!(!theirs(server.port, BASIC[0]).succeeded, "it takes nobody without TLS");
        assert!(server.stop() >= ANSWERED_CALLS);
    }
}

#[test]
fn our_client_passes_every_case_against_their_server() {
    let server = Serving::grpc_go();
    let cases = [&BASIC[..], &SOAK].concat();
    assert_eq!(failures(ours, server.port, &cases), [""; 0]);
}

#[test]
fn our_client_passes_every_case_against_our_server_also_under_gzip() {
    assert_server_passes(ours, "auto");
    let server = Serving::bookend("auto");
    assert_eq!(failures(ours, server.port, &COMPRESSED), [""; 0]);
}

/// It decompresses what comes and does not tell its handlers, so it cannot answer the probe; and it
/// compresses nothing of its own accord.
#[test]
fn a_server_that_does_not_know_how_requests_came_fails_the_cases_under_gzip() {
    let server = Serving::grpc_go();
    let failed = failures(ours, server.port, &COMPRESSED);
    assert_eq!(failed.len(), COMPRESSED.len(), "{failed:#?}");
}

/// Clients have passed cases that are meant to end badly with no server up (grpc/grpc#31647). The
/// one whose deadline passes after a millisecond cannot tell: connecting may take longer.
#[test]
fn no_case_passes_without_a_server() {
    let mut cases = [&BASIC[..], &SOAK].concat();
    cases.retain(|case| *case != "timeout_on_sleeping_server");
    let closed = ClosedPort::take();
    let port = closed.port;
    let failed = failures(theirs, port, &cases);
    assert_eq!(failed.len(), cases.len(), "{failed:#?}");
    let cases = [&cases[..], &COMPRESSED].concat();
    let failed = failures(ours, port, &cases);
    assert_eq!(failed.len(), cases.len(), "{failed:#?}");
}

#[test]
fn no_case_passes_that_there_is_not() {
    let server = Serving::bookend("auto");
    for client in [theirs, ours] {
        assert_eq!(failures(client, server.port, &["no_such_case"]).len(), 1);
    }
}
