//! connectconformance: gRPC semantics, case by case, of our server and of our client.
#![forbid(unsafe_code)]

use bookend_conformance::{Ended, outside, run};

/// What `grpc.yaml` asks for.
const SERVER_CASES: usize = 570;
/// The same for clients.
const CLIENT_CASES: usize = 646;

/// Those of either in which the server demands a certificate of the client.
const MUTUAL_TLS: &str = "TLS Client Certs/**";
const MUTUAL_TLS_CASES: usize = 2;

const SERVER: &str = env!("CARGO_BIN_EXE_connect-server");
const CLIENT: &str = env!("CARGO_BIN_EXE_connect-client");

fn connectconformance(mode: &str, command: &[&str]) -> Ended {
    connectconformance_of("**", mode, command)
}

/// The same, of the cases with such names only.
fn connectconformance_of(names: &str, mode: &str, command: &[&str]) -> Ended {
    let flags = ["--conf", "grpc.yaml", "--mode", mode, "--run", names, "--"];
    run(&outside("connectconformance"), [&flags[..], command].concat())
}

/// What is wrong with a run; nothing only where every case was run and passed. The status alone
/// does not say so: the runner forgives cases that it could not run.
fn complaint(ended: &Ended, cases: usize) -> Option<String> {
    let summary = [format!("Total cases: {cases}"), format!("{cases} passed, 0 failed")];
    let last: Vec<&str> = ended.text.trim_end().lines().rev().take(2).collect();
    let is_good = ended.succeeded && last.into_iter().rev().eq(summary.iter());
    (!is_good).then(|| format!("not {summary:?}, but:\n{}", ended.text))
}

fn assert_server_passes(io: &str) {
    let ended = connectconformance("server", &[SERVER, "--io", io]);
    assert_eq!(complaint(&ended, SERVER_CASES), None);
}

/// Every case that expects an error sees another one.
fn assert_notices_wrong_codes(mode: &str, program: &str, cases: usize) {
    let ended = connectconformance(mode, &[program, "--wrong-code"]);
    assert!(complaint(&ended, cases).is_some(), "{}", ended.text);
    assert!(!ended.succeeded);
    let failed = ended.text.lines().filter(|line| line.starts_with("FAILED: "));
    let failed = failed.count();
    assert!(0 < failed && failed < cases, "{failed} of {cases} failed");
}

#[test]
fn the_server_passes_every_case_with_the_blocking_driver() {
    assert_server_passes("blocking");
}

#[test]
fn the_server_passes_every_case_with_the_epoll_driver() {
    assert_server_passes("epoll");
}

#[test]
fn the_server_passes_every_case_with_io_uring() {
    assert_server_passes("uring");
}

#[test]
fn the_client_passes_every_case() {
    let ended = connectconformance("client", &[CLIENT]);
    assert_eq!(complaint(&ended, CLIENT_CASES), None);
}

#[test]
fn a_server_that_ends_calls_with_another_code_is_a_complaint() {
    assert_notices_wrong_codes("server", SERVER, SERVER_CASES);
}

#[test]
fn a_client_that_reports_another_code_is_a_complaint() {
    assert_notices_wrong_codes("client", CLIENT, CLIENT_CASES);
}

/// The suite has no case in which a client is to be refused, so a server that demands nothing would
/// pass them all. Here both ends are ours, and with a certificate they agree.
#[test]
fn a_client_without_a_certificate_is_refused_where_one_is_demanded() {
    let theirs = connectconformance_of(MUTUAL_TLS, "client", &[CLIENT, "--no-certificate"]);
    assert_all_refused(&theirs);
    for io in ["blocking", "epoll", "uring"] {
        let server = ["----", SERVER, "--io", io];
        let both = |client: &[&str]| {
            connectconformance_of(MUTUAL_TLS, "both", &[client, &server[..]].concat())
        };
        assert_eq!(complaint(&both(&[CLIENT]), MUTUAL_TLS_CASES), None, "{io}");
        assert_all_refused(&both(&[CLIENT, "--no-certificate"]));
    }
}

fn assert_all_refused(ended: &Ended) {
    let text = &ended.text;
    assert!(!ended.succeeded, "{text}");
    let refused =
        text.lines().filter(|line| line.contains("the server demands a client certificate"));
    assert_eq!(refused.count(), MUTUAL_TLS_CASES, "{text}");
}

#[test]
fn a_program_that_says_nothing_is_a_complaint() {
    for (mode, cases) in [("server", SERVER_CASES), ("client", CLIENT_CASES)] {
        let ended = connectconformance(mode, &["true"]);
        assert!(complaint(&ended, cases).is_some(), "{mode}: {}", ended.text);
    }
}

#[test]
fn a_case_that_was_not_run_is_a_complaint() {
    let complains = |text: &str| {
        let ended = Ended { succeeded: true, text: format!("some words\n{text}\n") };
        complaint(&ended, 2).is_some()
    };
    assert!(!complains("Total cases: 2\n2 passed, 0 failed"));
    for less in [
        "",
        "Total cases: 1\n1 passed, 0 failed",
        "Total cases: 2\n1 passed, 0 failed",
        "Total cases: 2\n2 passed, 0 failed\nAnother 1 could not be run",
        "Total cases: 2\n1 passed, 0 failed\n(Another 1 failed as expected)",
    ] {
        assert!(complains(less), "{less}");
    }
}
